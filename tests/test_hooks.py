"""The recorder under the name of the SDK, below the libraries that import that name."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from recorded import log_of, of_kind, rows_of, run_script

AS_WANDB = "import recorder; recorder.install_as_wandb()\n"
OFF = {"WANDB_X_DISABLE_STATS": "true", "WANDB_X_SAVE_REQUIREMENTS": "false"}


def test_the_module(tmp_path: Path) -> None:
    script = AS_WANDB + (
        "import importlib.util, importlib.metadata\n"
        "import wandb, wandb.env, wandb.sdk.lib.config_util\n"
        "assert recorder.install_as_wandb() is wandb\n"
        "assert importlib.util.find_spec('wandb') is not None\n"
        "assert importlib.metadata.version('wandb') == wandb.__version__ == '0.31.0'\n"
        "assert wandb.init is recorder.init and wandb.Image is recorder.Image and hasattr(wandb, 'run')\n"
        "assert not hasattr(wandb, 'no_such_thing') and not hasattr(wandb, '_attach')\n"
        "from wandb.sdk.lib.config_util import ConfigError\n"
        "from wandb.sdk.lib import RunDisabled\n"
        "from wandb.wandb_run import Run\n"
        "from wandb import Artifact, Settings\n"
        "from wandb.errors import CommError\n"
        "with wandb.init(project='p') as run: assert isinstance(run, Run) and wandb.run is run\n"
    )
    run_script(script, tmp_path, environ=OFF)


def test_not_over_an_sdk_that_is_in_use(tmp_path: Path) -> None:
    script = "import sys, types; sys.modules['wandb'] = types.ModuleType('wandb')\nimport recorder\n"
    script += "try: recorder.install_as_wandb()\nexcept recorder.UsageError as error: print(error)"
    assert "imported already" in run_script(script, tmp_path).stdout


def test_the_calls_of_hugging_face(tmp_path: Path) -> None:
    """In the order of transformers.integrations.WandbCallback."""
    script = AS_WANDB + (
        "import wandb\n"
        "from wandb.sdk.lib.config_util import ConfigError\n"
        "assert wandb.run is None\n"
        "wandb.init(project='huggingface', name='trained')\n"
        "wandb.config.update({'lr': 1e-4, 'nested': {'a': [1]}}, allow_val_change=True)\n"
        "wandb.define_metric('train/global_step')\n"
        "wandb.define_metric('*', step_metric='train/global_step', step_sync=True)\n"
        "wandb.run._label(code='transformers_trainer')\n"
        "wandb.config['model/num_parameters'] = 12\n"
        "for step in range(3): wandb.log({'train/loss': 1 / (step + 1), 'train/global_step': step * 10})\n"
        "wandb.run.summary['train_runtime'] = 1.5\n"
    )
    run_script(script, tmp_path, environ=OFF)
    rows = rows_of(log_of(tmp_path))
    assert [row["train/global_step"] for row in rows] == ["0", "10", "20"]
    assert len(of_kind(log_of(tmp_path), "metric")) == 2


def test_the_calls_of_lightning(tmp_path: Path) -> None:
    """In the order of lightning.pytorch.loggers.WandbLogger."""
    script = AS_WANDB + (
        "import wandb\n"
        "from wandb.sdk.lib import RunDisabled\n"
        "from wandb.wandb_run import Run\n"
        "wandb.require('service')\n"
        "assert wandb.run is None and not hasattr(wandb, '_attach')\n"
        "run = wandb.init(name=None, project='lightning_logs', dir='.', id=None, resume='allow', anonymous=None)\n"
        "assert isinstance(run, (Run, RunDisabled)) and getattr(run, 'define_metric', None)\n"
        "run.define_metric('trainer/global_step')\n"
        "run.define_metric('*', step_metric='trainer/global_step', step_sync=True)\n"
        "run.config.update({'hidden': 8}, allow_val_change=True)\n"
        "for step in range(3): run.log({'loss': step, 'trainer/global_step': step})\n"
        "print(run.name, run.id)\n"
    )
    done = run_script(script, tmp_path, environ=OFF)
    assert "not known here" not in done.stderr
    assert [row["loss"] for row in rows_of(log_of(tmp_path))] == ["0", "1", "2"]


LIGHTNING = """
import torch, lightning as L
from lightning.pytorch.loggers import WandbLogger
class Model(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.save_hyperparameters({"width": 4})
        self.layer = torch.nn.Linear(4, 1)
    def forward(self, x): return self.layer(x)
    def training_step(self, batch, i):
        loss = self(batch).square().mean()
        self.log("train/loss", loss)
        return loss
    def configure_optimizers(self): return torch.optim.SGD(self.parameters(), 0.01)
logger = WandbLogger(project="light", name="real", offline=True)
model = Model()
logger.watch(model, log="all", log_freq=4)
data = torch.utils.data.DataLoader(torch.randn(64, 4), batch_size=4)
trainer = L.Trainer(
    max_epochs=2, logger=logger, log_every_n_steps=1, enable_progress_bar=False, accelerator="cpu",
    enable_checkpointing=False, enable_model_summary=False,
)
trainer.fit(model, data)
"""

TRAINER = """
import torch
from transformers import Trainer, TrainingArguments
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)
    def forward(self, x=None, labels=None):
        y = self.layer(x)
        return {"loss": (y.squeeze(-1) - labels).square().mean(), "logits": y}
data = [{"x": torch.randn(4), "labels": torch.tensor(1.0)} for _ in range(64)]
args = TrainingArguments(
    "out", report_to="wandb", run_name="real", logging_steps=2, num_train_epochs=2, per_device_train_batch_size=8,
    use_cpu=True, save_strategy="no", disable_tqdm=True, remove_unused_columns=False,
)
Trainer(model=Model(), args=args, train_dataset=data).train()
"""


@pytest.mark.skipif(importlib.util.find_spec("lightning") is None, reason="lightning is not installed")
def test_the_real_lightning(tmp_path: Path) -> None:
    run_script(AS_WANDB + LIGHTNING, tmp_path, environ=OFF)
    log = log_of(tmp_path)
    rows = rows_of(log)
    assert sum("train/loss" in row for row in rows) == 32
    assert any("gradients/layer.weight.bins" in row for row in rows)
    assert any("parameters/layer.weight.bins" in row for row in rows)
    assert of_kind(log, "run")[0].display_name == "real"
    assert any(item.key == "width" for config in of_kind(log, "config") for item in config.update)


@pytest.mark.skipif(importlib.util.find_spec("transformers") is None, reason="transformers is not installed")
def test_the_real_trainer_of_hugging_face(tmp_path: Path) -> None:
    run_script(AS_WANDB + TRAINER, tmp_path, environ={**OFF, "HF_HUB_OFFLINE": "1"})
    log = log_of(tmp_path)
    rows = rows_of(log)
    assert [row["train/global_step"] for row in rows if "train/loss" in row] == [str(i) for i in range(2, 17, 2)]
    assert of_kind(log, "run")[0].display_name == "real"
    assert any(item.key == "num_train_epochs" for config in of_kind(log, "config") for item in config.update)
