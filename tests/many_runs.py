"""Run directories by the dozen, each with a small log."""

from __future__ import annotations

import json
import time
from pathlib import Path

from recorder.transaction_log.framing import HEADER, frame
from recorder.transaction_log.wire import encode, history_record, summary_record

START = 1_764_500_000
"""Unix seconds at which every one of them starts, but for their numbers."""


def small_log(run_id: str, *, rows: int = 3, number: int = 0, exit_code: int | None = 0) -> bytes:
    """The bytes of a log."""
    config = {"lr": 0.1 / (number + 1), "optimizer": {"name": "adam"}, "seed": number}
    records = [
        encode(
            "Record",
            {
                "run": {
                    "run_id": run_id,
                    "project": "demo",
                    "display_name": f"calm-run-{number}",
                    "tags": ["sweep"],
                    "start_time": {"seconds": START + number},
                    "config": {"update": [{"key": k, "value_json": json.dumps(v)} for k, v in config.items()]},
                }
            },
        )
    ]
    for step in range(rows):
        items = [(("loss",), str(1 / (step + 1))), (("_step",), str(step)), (("_runtime",), str(1.5 * step))]
        records += [history_record(items, step), summary_record(items)]
    if exit_code is not None:
        records.append(encode("Record", {"exit": {"exit_code": exit_code, "runtime": rows}}))
    pieces, offset = [HEADER], len(HEADER)
    for record in records:
        pieces.append(frame(record, offset))
        offset += len(pieces[-1])
    return b"".join(pieces)


def bare_run(wandb: Path, name: str, run_id: str) -> Path:
    """A run directory of this name; its log."""
    log = wandb / name / f"run-{run_id}.wandb"
    log.parent.mkdir(parents=True)
    log.write_bytes(small_log(run_id))
    return log


def make_runs(root: Path, count: int, *, rows: int = 3) -> None:
    """So many runs in `root/wandb`, every tenth of them failed and every tenth killed."""
    for number in range(count):
        stamp = time.strftime("%Y%m%d_%H%M%S", time.localtime(START + number))
        log = root / "wandb" / f"offline-run-{stamp}-{number:06x}" / f"run-{number:06x}.wandb"
        log.parent.mkdir(parents=True)
        code = None if number % 10 == 1 else int(number % 10 == 2)
        log.write_bytes(small_log(f"{number:06x}", rows=rows, number=number, exit_code=code))
