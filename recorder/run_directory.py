"""Where a run lies on disk: its directory, its log, and the link to the latest run."""

from __future__ import annotations

import contextlib
import os
import secrets
import string
import tempfile
import time
from pathlib import Path
from typing import Any

from recorder.notices import warn

_ALPHABET = string.ascii_lowercase + string.digits


def new_id() -> str:
    """Eight random characters of a–z and 0–9, as the SDK makes them."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(8))


def of_machine() -> dict[str, Any]:
    """Settings of a run that records the machine alone, beside trainings: it shall not pass for the latest of them.

    Its directory is known by the id, and `latest-run` stays where it is.
    """
    return {"run_id": f"monitor-{new_id()}", "run_job_type": "monitor", "symlink": False}


def absolute(path: str) -> str:
    """The absolute path; the path as it is where the current directory is gone."""
    try:
        return os.path.abspath(path)
    except OSError:
        return path


def base_directory(root: str, use_dot: bool | None = None) -> Path:
    """`<root>/wandb`, or `.wandb` where that exists already; the system's temporary directory if it cannot be made."""
    name = "wandb"
    if use_dot or (use_dot is None and os.path.isdir(os.path.join(root, ".wandb"))):
        name = ".wandb"
    wanted = Path(absolute(root)) / name
    try:
        wanted.mkdir(parents=True, exist_ok=True)
        if os.access(wanted, os.W_OK | os.X_OK):
            return wanted
        reason = "it is not writable"
    except OSError as error:
        reason = error.strerror or str(error)
    elsewhere = Path(tempfile.gettempdir()) / "wandb"
    warn(f"cannot write to {wanted}: {reason}; recording to {elsewhere} instead")
    elsewhere.mkdir(parents=True, exist_ok=True)
    return elsewhere


def make_run_directory(base: Path, run_id: str | None, start: float) -> tuple[Path, str]:
    """Makes the directory of a new run and `files/` in it: the directory and the id of the run.

    Readers find the log by the id in the name of the directory, so a clash is never resolved with a suffix: a run
    without a given id gets another one, a run with a given id waits for the next second.

    Raises OSError when no directory can be made.
    """
    while True:
        chosen = run_id or new_id()
        stamp = time.strftime("%Y%m%d_%H%M%S", time.localtime(start))
        directory = base / f"offline-run-{stamp}-{chosen}"
        try:
            directory.mkdir()
        except FileExistsError:
            if run_id:
                time.sleep(max(0.0, int(start) + 1 - time.time()))
                start = max(time.time(), int(start) + 1)
            continue
        (directory / "files").mkdir()
        return directory, chosen


def point_latest_run(base: Path, directory: Path) -> None:
    """Makes `latest-run` a relative link to the directory, in one step: readers see the old run or the new one."""
    staged = base / f".latest-run-{os.getpid()}-{secrets.token_hex(4)}"
    try:
        staged.symlink_to(directory.name)
        os.replace(staged, base / "latest-run")
    except OSError as error:
        warn(f"cannot point {base / 'latest-run'} to this run: {error.strerror}")
        with contextlib.suppress(OSError):
            staged.unlink()
