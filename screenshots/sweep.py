"""A directory of runs in the pictures: the same small model with other learning rates and widths."""

from __future__ import annotations

import math
import os
import random
import time
from pathlib import Path
from typing import Any

from recorder.transaction_log.json_values import dump
from recorder.transaction_log.wire import history_record, summary_record, timestamp
from recorder.transaction_log.writer import LogWriter
from screenshots.runs import START, STEPS

ROWS = 400
EVERY = 2400.0
"""Seconds between the starts of two runs."""
RUNS: tuple[tuple[str, float, int, str, int | None], ...] = (
    ("warm-1e-2", 1e-2, 512, "diverged", 1),
    ("warm-3e-3", 3e-3, 512, "", 0),
    ("warm-1e-3", 1e-3, 512, "baseline", 0),
    ("warm-3e-4", 3e-4, 512, "", 0),
    ("wide-3e-3", 3e-3, 1024, "", 0),
    ("wide-1e-3", 1e-3, 1024, "best", 0),
    ("wide-3e-4", 3e-4, 1024, "", 0),
    ("wide-1e-3-cosine", 1e-3, 1024, "cosine", None),
)
"""Name, learning rate, width, tag and exit code of each; None: it still runs."""


def sweep(directory: Path) -> Path:
    """Write the runs below `directory`; the directory that holds them."""
    for number, (name, rate, width, tag, code) in enumerate(RUNS):
        started = START + STEPS * 0.9 - EVERY * (len(RUNS) - 1 - number) - 900
        run_id = f"s{number}k4p8zq"
        stamp = time.strftime("%Y%m%d_%H%M%S", time.gmtime(started))
        path = directory / "wandb" / f"offline-run-{stamp}-{run_id}"
        path.mkdir(parents=True)
        log = LogWriter(path / f"run-{run_id}.wandb", flush_interval=60)
        config = {"optimizer": {"lr": rate, "name": "adamw"}, "model": {"width": width, "layers": 6}, "seed": number}
        run: dict[str, Any] = {
            "run_id": run_id,
            "project": "digits",
            "display_name": name,
            "tags": ["sweep", tag] if tag else ["sweep"],
            "start_time": timestamp(started),
            "config": {"update": [{"key": key, "value_json": dump(value)} for key, value in config.items()]},
        }
        log.append_record("run", run)
        rows = ROWS * 3 // 4 if code is None else ROWS // 4 if code else ROWS
        last = _rows(log, random.Random(number), started, rows, rate * width / 512)
        log.append(summary_record([((key,), dump(value)) for key, value in last.items()]))
        if code is not None:
            log.append_record("exit", {"exit_code": code, "runtime": rows * 3})
        log.close()
        ended = started + rows * 3 if code is not None else START + STEPS * 0.9 + 115
        os.utime(log.path, times=(ended, ended))
    return directory / "wandb"


def _rows(log: LogWriter, rng: random.Random, started: float, rows: int, force: float) -> dict[str, float]:
    row: dict[str, float] = {}
    speed = 25 + 60 * abs(math.log10(force / 1.5e-3))
    for step in range(rows):
        loss = 0.12 + 2.2 * math.exp(-step / speed) + 0.05 * abs(math.log10(force / 1.5e-3)) + rng.gauss(0, 0.02)
        if force > 8e-3:
            loss += 1.5 * math.exp((step - 70) / 12)
        row = {
            "train/loss": loss,
            "train/accuracy": max(0.1, 1 - 0.32 * loss),
            "train/gradient_norm": 0.4 + loss + abs(rng.gauss(0, 0.15)),
            "learning_rate": force * min(1.0, step / 40),
        }
        if step % 20 == 0:
            row |= {"validation/loss": loss + 0.05, "validation/accuracy": max(0.1, 0.985 - 0.33 * loss)}
        full = {"_step": step, "_runtime": step * 3.0, "_timestamp": started + step * 3.0, **row}
        log.append(history_record([((key,), dump(value)) for key, value in full.items()], step))
    return row
