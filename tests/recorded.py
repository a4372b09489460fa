"""Runs recorded by a test in a process of its own, and what is in their logs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from leet.reading import records
from leet.reading.blocks import BlockReader, RawRecord

ROOT = Path(__file__).resolve().parents[1]

QUIET = "{'x_disable_stats': True, 'x_save_requirements': False}"
"""Settings for scripts that are not about system metrics or packages."""


def run_script(
    script: str, directory: Path, *, status: int | None = 0, environ: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs Python code in the directory and checks its exit status."""
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=directory,
        env=environment(environ),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert status is None or done.returncode == status, done.stderr
    return done


def environment(more: dict[str, str] | None = None) -> dict[str, str]:
    """The variables of a process that can import what is tested, and knows no W&B."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("WANDB_")}
    return {**clean, "PYTHONPATH": str(ROOT), **(more or {})}


def log_of(directory: Path) -> Path:
    """The only log below a directory."""
    (found,) = directory.glob("**/offline-run-*/run-*.wandb")
    return found


def records_of(log: Path) -> list[Any]:
    """Every record of a log, decoded; the log has to be whole."""
    reader = BlockReader()
    found = [*reader.feed(log.read_bytes()), *reader.finish()]
    assert all(isinstance(record, RawRecord) for record in found), found
    return [records.parse(record.payload) for record in found if isinstance(record, RawRecord)]


def of_kind(log: Path, kind: str) -> list[Any]:
    """The records of one kind, without their envelope."""
    return [getattr(record, kind) for record in records_of(log) if records.kind(record) == kind]


def rows_of(log: Path) -> list[dict[str, str]]:
    """The rows of history: JSON text by dotted key, without the times."""
    return [
        {
            ".".join(item.nested_key): item.value_json
            for item in history.item
            if tuple(item.nested_key) not in (("_runtime",), ("_timestamp",))
        }
        for history in of_kind(log, "history")
    ]


def printed(log: Path, stream: int | None = None) -> str:
    """What was recorded of the console; `stream` 0 is stderr, 1 stdout."""
    return "".join(
        record.line for record in of_kind(log, "output_raw") if stream is None or record.output_type == stream
    )


def end(process: subprocess.Popen[Any], number: int = signal.SIGKILL) -> None:
    """Ends a process that a test has started."""
    if process.poll() is None:
        process.send_signal(number)
        process.wait(10)
