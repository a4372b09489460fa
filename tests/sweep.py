"""A directory of runs to look at: each with a config, curves and an end of its own."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path

from example_run import START, ExampleRun


def run_in(
    root: Path,
    number: int,
    *,
    rows: int = 20,
    metrics: dict[str, float] | None = None,
    code: int | None = 0,
    tags: tuple[str, ...] = (),
    name: str = "",
    run_id: str = "",
    samples: int = 0,
) -> ExampleRun:
    """The run `number` of a directory: it started `number` minutes after `START`, and is not closed."""
    run_id = run_id or f"run{number:04}"
    run = ExampleRun(root, run_id=run_id, name=name or f"trial-{number}")
    started = START + 60.0 * number
    stamp = time.strftime("%Y%m%d_%H%M%S", time.localtime(started))
    directory = run.directory.rename(run.directory.with_name(f"offline-run-{stamp}-{run_id}"))
    run.directory, run.log = directory, directory / run.log.name
    config = {"lr": 0.1 / (1 + number), "layers": 2 + number % 3, "seed": 7}
    run.record(
        "run",
        {
            "run_id": run_id,
            "project": "sweep",
            "display_name": name or f"trial-{number}",
            "tags": list(tags),
            "host": "node-3",
            "start_time": {"seconds": int(started), "nanos": 0},
            "config": {"update": [{"key": k, "value_json": json.dumps(v)} for k, v in config.items()]},
        },
    )
    for step in range(rows):
        values = {"loss": 2.0 * math.exp(-step / 8) + 0.1 * number, "acc": 1 - math.exp(-step / (5 + number))}
        run.row({**values, **(metrics or {})})
    if samples:
        run.sample(samples)
    if code is not None:
        run.finish(code)
    else:
        run.flush()
    return run


def sweep(root: Path, count: int = 5) -> Path:
    """`count` finished runs below `root`, the last of which is the newest; the `wandb/` directory."""
    for number in range(count):
        run_in(root, number, tags=("baseline",) if number == 0 else ())
    return root / "wandb"
