"""Disks that turn read-only, run over a quota, are full or lose their device while a run is written on them."""

from __future__ import annotations

import errno
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from recorded import QUIET, log_of, of_kind, rows_of, run_script

SOURCE = Path(__file__).with_name("failing_disk.c")

SCRIPT = f"""
import os, sys, time
from pathlib import Path
import recorder as wandb
trouble, number = Path(os.environ["DISK_ERROR"]), sys.argv[1] if len(sys.argv) > 1 else os.environ["NUMBER"]
at = os.environ["AT"]
if at == "start": trouble.write_text(number)
run = wandb.init(project="p", config={{"lr": 1}}, settings={QUIET})
for i in range(30):
    if i == 10 and at == "middle": trouble.write_text(number)
    if i == 20 and at == "middle": trouble.unlink()
    wandb.log({{"loss": i, "text": "x" * 100}})
    if i % 10 == 5: wandb.log({{"picture": wandb.Html("<p>picture</p>")}})
    print("row", i)
    time.sleep(0.1)
if at == "end": trouble.write_text(number)
wandb.summary["late"] = 1
run.finish()
print("the training has ended", flush=True)
"""


@pytest.fixture(scope="module")
def failing_disk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("needs Linux and a C compiler")
    library = tmp_path_factory.mktemp("disk") / "failing_disk.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-Wall", "-o", str(library), str(SOURCE), "-ldl"], check=True)
    return library


def train(failing_disk: Path, directory: Path, number: int, at: str) -> subprocess.CompletedProcess[str]:
    place = directory / "place"
    place.mkdir()
    return run_script(
        SCRIPT,
        place,
        environ={
            "LD_PRELOAD": str(failing_disk),
            "DISK_BELOW": str(place / "wandb"),
            "DISK_ERROR": str(directory / "error"),
            "NUMBER": str(number),
            "AT": at,
        },
    )


ERRORS = [errno.EIO, errno.EDQUOT, errno.EROFS, errno.ENOSPC]
BY_NAME = [errno.errorcode[number] for number in ERRORS]


@pytest.mark.parametrize("number", ERRORS, ids=BY_NAME)
def test_trouble_that_passes_costs_nothing(failing_disk: Path, tmp_path: Path, number: int) -> None:
    done = train(failing_disk, tmp_path, number, "middle")
    assert "the training has ended" in done.stdout
    assert "Traceback" not in done.stderr
    assert done.stderr.count("cannot write") == 1, done.stderr
    log = log_of(tmp_path)
    losses = [int(row["loss"]) for row in rows_of(log) if "loss" in row]
    assert losses == list(range(30))
    (end,) = of_kind(log, "exit")
    assert end.exit_code == 0


@pytest.mark.parametrize("number", ERRORS, ids=BY_NAME)
def test_what_was_written_before_stays_readable(failing_disk: Path, tmp_path: Path, number: int) -> None:
    done = train(failing_disk, tmp_path, number, "end")
    assert "the training has ended" in done.stdout
    assert "Traceback" not in done.stderr
    assert "missing" in done.stderr
    losses = [int(row["loss"]) for row in rows_of(log_of(tmp_path)) if "loss" in row]
    assert losses == list(range(len(losses)))
    assert len(losses) >= 20


@pytest.mark.parametrize("number", ERRORS, ids=BY_NAME)
def test_a_directory_that_cannot_be_made_keeps_nobody_from_training(
    failing_disk: Path, tmp_path: Path, number: int
) -> None:
    done = train(failing_disk, tmp_path, number, "start")
    assert "the training has ended" in done.stdout
    assert "Traceback" not in done.stderr
    assert done.stderr.strip(), "nothing was said"
