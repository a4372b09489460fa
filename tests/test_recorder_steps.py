"""The recorder beside the SDK: the same script under both writes the same history, summary, config and metrics.

Each case is one script. It runs once as `import wandb` and once as `import recorder as wandb`, in processes of their
own, and the two logs are compared through the SDK's own decoder, record by record, apart from times.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import WandbInspect
from recorded import environment

PROLOGUE = """
import {package} as wandb
run = wandb.init(
    project="parity", id="parity", mode="offline", dir={directory!r},
    config={{"lr": 0.1, "nested": {{"a": {{"b": 1}}}}}},
    settings=dict(console="off", x_disable_stats=True, x_disable_meta=True, x_save_requirements=False, silent=True),
)
nan, inf = float("nan"), float("inf")
"""

SCRIPTS = {
    "a record per call": """
for i in range(5):
    wandb.log({"loss": 1 / (i + 1), "epoch": i})
print(run.step)
""",
    "kinds of values": """
run.log({"f": 0.1, "i": 7, "neg": -3, "t": True, "no": False, "s": "é😀 \\"q\\"\\n", "none": None, "empty": ""})
run.log({"nan": nan, "inf": inf, "ninf": -inf, "list": [1, nan, -inf], "n": {"a": nan, "b": {"c": inf}}})
run.log({"i53": 2**53 + 1, "i63": 2**63 - 1, "min": -(2**63), "over": 2**63, "huge": 10**30, "beyond": 10**400})
run.log({"big": 1e22, "tiny": 1e-300, "integral": 1.0, "tuple": (1, "a", None), "set": {1}, "bytes": b"x"})
run.log({"surrogate": "\\ud800", "quote": "\\\\", "control": "\\x00\\x1b[31m"})
""",
    "nested and dotted keys": """
run.log({"n": {"b": {"c": 2.5, "d": "x"}}, "dot.ted": 3, "slash/ed": 4, "empty": {}, "deep": {"l": [{"a": 1}]}})
run.log({"n": 5})
run.log({"n": {"b": 6}})
run.log({"n": {3: 4}})
""",
    "numbers of numpy": """
import numpy as np
run.log({"f16": np.float16(0.1), "f32": np.float32(0.1), "f64": np.float64(0.1), "i8": np.int8(3), "b": np.bool_(True)})
run.log({"zero": np.array(3.5), "one": np.array([5]), "few": np.arange(5), "two": np.zeros((2, 2))})
run.log({"none": np.zeros(0)})
run.log({"many": np.arange(100.0), "square": np.arange(100.0).reshape(10, 10), "nan": np.float64("nan")})
run.log({"list": [np.float32(1), np.int64(2), np.array([1, 2])], "u64": np.uint64(2**63)})
run.summary["few"] = np.arange(3)
run.summary["many"] = np.arange(50)
run.config["few"] = np.arange(3)
run.config["f32"] = np.float32(0.5)
""",
    "step= holds the row": """
print(run.step)
run.log({"a": 1}, step=5)
print(run.step)
run.log({"b": 1}, step=5)
run.log({"a": 2}, step=3)
run.log({"c": 1})
print(run.step)
run.log({"c": 2})
run.log({}, step=10)
print(run.step)
run.log({"q": 1}, step=20, commit=True)
run.log({"last": 1}, step=30)
run.log({"over": 1}, step=31)
print(run.step)
""",
    "commit=False merges": """
run.log({"a": 1, "b": 1}, commit=False)
run.log({"b": 2}, commit=False)
print(run.step)
run.log({"c": 3})
run.log({"h": 1}, commit=False)
run.log({"h": {"i": 2}})
run.log({"h": {"i": 2}}, commit=False)
run.log({"h": 1}, commit=True)
run.log({"none": None}, commit=False)
run.log({"none": 4})
run.log({"pending": 1}, commit=False)
""",
    "an empty row uses up a step": """
run.log({})
run.log({"a": 1})
run.log({}, commit=False)
run.log({}, commit=True)
run.log({"": 1})
""",
    "negative and large steps": """
run.log({"a": 1}, step=-1)
run.log({"a": 1}, step=0)
run.log({"a": 1}, step=2**40)
""",
    "the row's own keys": """
run.log({"_step": 99, "_runtime": 3, "y": 1})
run.log({"_timestamp": 5, "y": 2})
run.log({"_hidden": 2})
""",
    "step metrics": """
run.define_metric("epoch", hidden=True)
run.define_metric("val/*", step_metric="epoch")
run.define_metric("loose", step_metric="epoch", step_sync=False)
run.log({"val/a": 1})
run.log({"epoch": 1})
run.log({"val/a": 3, "val/b": {"x": 1}})
run.log({"loose": 1})
run.log({"epoch": 2}, commit=False)
run.log({"val/a": 9})
run.log({"epoch": "text", "val/a": 9})
run.log({"val/a": 9})
""",
    "aggregates": """
run.define_metric("all", summary="min,max,mean,last,first")
run.define_metric("gone", summary="none")
run.define_metric("both", summary="none,max")
run.define_metric("plain")
run.define_metric("g/*", summary="max")
run.define_metric("deep.metric", summary="min")
for i, v in enumerate([3, 1.5, 2, 7]):
    run.log({"all": v, "gone": v, "both": v, "plain": v, "g/x": v, "g/sub.y": v, "deep": {"metric": v}})
run.log({"all": nan})
run.log({"all": 1})
run.log({"all": None})
run.log({"all": "text"})
""",
    "definitions merge or overwrite": """
run.define_metric("q", summary="mean")
run.log({"q": 1})
run.log({"q": 2})
run.define_metric("q", summary="min")
run.log({"q": 4})
run.define_metric("q", summary="first,last", overwrite=True)
run.log({"q": 8})
run.define_metric("q", summary="none", overwrite=True)
run.log({"q": 8})
run.define_metric("q", overwrite=True)
run.log({"q": 9})
run.define_metric("q", step_metric="e")
run.log({"q": 9})
""",
    "a definition after a prefix has matched": """
run.define_metric("val/*", step_metric="epoch", summary="max")
run.log({"val/a": 9})
run.define_metric("val/a", summary="min")
run.log({"val/a": 1})
""",
    "summary by hand": """
run.define_metric("a", summary="max")
run.log({"a": 1})
run.summary["a"] = 77
run.log({"a": 5})
run.define_metric("a", summary="min")
run.log({"a": 4})
run.summary["c"] = {"d": 9, "e": nan}
run.log({"c": {"e": 2}})
print(sorted(run.summary["c"].keys()))
run.summary.update({"z": {"y": 1}, "x": 3})
run.summary["z"]["w"] = 5
run.summary["one"] = nan
run.summary["two"] = inf
run.summary["three"] = None
run.summary["list"] = [nan, 1]
run.summary["tuple"] = (1, 2)
del run.summary["x"]
print(sorted(run.summary.keys()), run.summary.get("three", "absent"), run.summary["two"])
""",
    "config": """
run.config.attribute = 0.1
run.config["item"] = {"a": {"b": 1}, "f": nan, "i": inf, "t": (1, 2), "s": {3}, 4: 5}
run.config.update({"q": 1, "r": None})
run.config.setdefaults({"q": 5, "new": 1})
try:
    run.config.q = 9
except Exception as error:
    print(type(error).__name__)
run.config.update({"q": 9}, allow_val_change=True)
run.config["-dash-"] = 1
run.config["big"] = 2**70
run.config["function"] = print
run.config["slice"] = slice(1, 2)
import argparse
run.config.update(argparse.Namespace(from_args=1))
print(sorted(run.config.keys()), run.config.q, run.config["item"]["a"], "q" in run.config, run.config.get("zz", 5))
""",
    "the run changes its name": """
run.name = "renamed"
run.tags = ("a", "b")
run.tags += ("c",)
run.notes = "line 1\\nline 2"
print(run.name, run.tags, run.notes, run.id, run.project)
""",
    "other records": """
run.alert("title", "text", level="WARN", wait_duration=30)
run.alert(title="title", text="text", level=wandb.AlertLevel.ERROR)
run.mark_preempting()
run.write_logs("a line")
""",
    "exit code": """
run.log({"a": 1})
run.finish(exit_code=4)
""",
}

KINDS = ("config", "metric", "history", "summary", "exit", "alert", "output_logger", "preempting")


EACH = """
import json, os, sys
import {package}
for directory, code in json.loads(sys.stdin.read()):
    sys.stdout.flush()
    if not os.fork():
        os.chdir(directory)
        said = os.open("said.txt", os.O_CREAT | os.O_WRONLY)
        os.dup2(said, 1)
        exec(code, {{"__name__": "__main__"}})
        sys.exit()
    if status := os.waitstatus_to_exitcode(os.wait()[1]):
        sys.exit(f"{{directory}}: {{status}}")
"""
"""Scripts in processes of their own, for all of which the package is loaded once."""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Package → the directory in which each script has one, with its log and what it printed."""
    if not hasattr(os, "fork"):
        pytest.skip("this system has no fork")
    return {package: _run_all(package, tmp_path_factory.mktemp(package)) for package in ("recorder", "wandb")}


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_sdk_writes_the_same(name: str, written: dict[str, Path], wandb_inspect: WandbInspect) -> None:
    ours, ours_said = _recorded(written["recorder"] / name, wandb_inspect)
    theirs, theirs_said = _recorded(written["wandb"] / name, wandb_inspect)
    assert ours == theirs
    assert ours_said == theirs_said


def _run_all(package: str, directory: Path) -> Path:
    scripts = []
    for name, script in SCRIPTS.items():
        own = directory / name
        own.mkdir()
        prologue = PROLOGUE.format(package=package, directory=str(own))
        scripts.append((str(own), prologue + script + "\nrun.finish()\n"))
    done = subprocess.run(
        [sys.executable, "-c", EACH.format(package=package)],
        input=json.dumps(scripts),
        env=environment(),
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return directory


def _recorded(directory: Path, wandb_inspect: WandbInspect) -> tuple[list[Any], str]:
    """The comparable records of a script, and what it printed."""
    (log,) = directory.glob("wandb/offline-run-*-parity/run-parity.wandb")
    records = [_comparable(json.loads(line)) for line in wandb_inspect(log).stdout.splitlines()]
    return [record for record in records if record is not None], (directory / "said.txt").read_text()


def _comparable(record: dict[str, Any]) -> Any:
    """What of a record has to be the same: not its number, no times, and nothing of the SDK's own."""
    kind = record["type"]
    if kind == "run":
        return kind, {key: record["run"].get(key) for key in ("display_name", "notes", "project", "run_id", "tags")}
    if kind not in KINDS:
        return None
    content = record.get(kind, {})
    values = content.get("item") or content.get("update")
    if kind in ("history", "summary") and values:
        for clock in ("_runtime", "_timestamp"):
            if values.get(clock) != 5:  # the one that a script brings itself
                values.pop(clock, None)
        if set(values) == {"_wandb.runtime"}:
            return kind, "runtime"
    content.pop("runtime", None)  # of the exit record: whole seconds
    return kind, content
