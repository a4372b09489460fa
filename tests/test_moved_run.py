"""A run with an artifact that was moved: `wandb sync` finds the files through a link at the old place."""

from __future__ import annotations

from pathlib import Path

from fake_backend import FakeBackend
from recorded import QUIET, log_of, run_script
from test_sync_kinds import sync

SCRIPT = f"""
import recorder
run = recorder.init(project="p", entity="somebody", mode="offline", settings={QUIET})
open("model.bin", "wb").write(b"weights")
run.log_artifact("model.bin", type="model")
run.log({{"a": 1}})
run.finish()
"""


def test_a_link_at_the_old_place_leads_to_the_artifacts(wandb_command: list[str], tmp_path: Path) -> None:
    run_script(SCRIPT, tmp_path)
    old = log_of(tmp_path / "wandb").parent
    new = tmp_path / "elsewhere" / old.name
    new.parent.mkdir()
    old.rename(new)
    old.symlink_to(new)
    with FakeBackend() as backend:
        said = sync(next(new.glob("*.wandb")), wandb_command, tmp_path, backend)
        uploaded = [content for name, content in backend.uploads.items() if name.endswith("/model.bin")]
    assert uploaded == [b"weights"], said
