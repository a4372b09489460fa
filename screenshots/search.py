"""A search over settings in the pictures: forty short runs, in which one setting matters more than the others."""

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

RUNS = 40
ROWS = 200
EVERY = 700.0
"""Seconds between the starts of two runs."""
OPTIMIZERS = {"adamw": 0.0, "lion": 0.06, "sgd": 0.25}
"""What each costs at the end."""


def search(directory: Path) -> Path:
    """Write the runs below `directory`; the directory that holds them."""
    for number in range(RUNS):
        rng = random.Random(number)
        started = START + STEPS * 0.9 - EVERY * (RUNS - number)
        run_id = f"q{number:02}x7b1mw"
        stamp = time.strftime("%Y%m%d_%H%M%S", time.gmtime(started))
        path = directory / "wandb" / f"offline-run-{stamp}-{run_id}"
        path.mkdir(parents=True)
        log = LogWriter(path / f"run-{run_id}.wandb", flush_interval=60)
        optimizer = list(OPTIMIZERS)[number % 3]
        config = {
            "optimizer": optimizer,
            "lr": float(f"{10 ** rng.uniform(-4.5, -2):.2g}"),
            "dropout": rng.choice((0.0, 0.1, 0.2, 0.3)),
            "width": rng.choice((256, 512, 1024)),
            "seed": number,
        }
        run: dict[str, Any] = {
            "run_id": run_id,
            "project": "digits",
            "display_name": f"search-{number:02}",
            "job_type": "search",
            "host": f"node-{1 + number % 2}",
            "start_time": timestamp(started),
            "config": {"update": [{"key": key, "value_json": dump(value)} for key, value in config.items()]},
        }
        log.append_record("run", run)
        last = _rows(log, rng, started, config)
        log.append(summary_record([((key,), dump(value)) for key, value in last.items()]))
        log.append_record("exit", {"exit_code": 0, "runtime": ROWS * 3})
        log.close()
        os.utime(log.path, times=(started + ROWS * 3, started + ROWS * 3))
    return directory / "wandb"


def _rows(log: LogWriter, rng: random.Random, started: float, config: dict[str, Any]) -> dict[str, float]:
    row: dict[str, float] = {}
    floor = 0.15 + 0.22 * (-2 - math.log10(config["lr"])) + OPTIMIZERS[config["optimizer"]]
    floor += 0.05 * math.log2(1024 / config["width"]) + 0.2 * config["dropout"] + abs(rng.gauss(0, 0.04))
    speed = 12 + 40 * OPTIMIZERS[config["optimizer"]] + 8 * (-2 - math.log10(config["lr"]))
    for step in range(ROWS):
        loss = floor + 2.1 * math.exp(-step / speed) + rng.gauss(0, 0.02)
        row = {
            "train/loss": loss,
            "train/accuracy": max(0.1, 1 - 0.3 * loss),
            "learning_rate": config["lr"] * min(1.0, step / 20),
        }
        if step % 20 == 19:
            row |= {"validation/loss": loss + 0.05 + 0.1 * (0.3 - config["dropout"])}
            row["validation/accuracy"] = max(0.1, 0.985 - 0.3 * row["validation/loss"])
        full = {"_step": step, "_runtime": step * 3.0, "_timestamp": started + step * 3.0, **row}
        log.append(history_record([((key,), dump(value)) for key, value in full.items()], step))
    return row
