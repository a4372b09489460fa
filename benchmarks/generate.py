"""Makes logs of any size, laid out as the SDK lays out its own: two summary records and one of history per step.

    python -m benchmarks.generate --steps 200000 --metrics 10 /tmp/big/wandb/offline-run-…-big/run-big.wandb

Values are random floats printed in full, and the order of items is shuffled in every record, as it is in real logs.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from pathlib import Path

from recorder.transaction_log.wire import history_record, summary_record
from recorder.transaction_log.writer import LogWriter

START = 1_796_000_000.0


def write_log(path: Path, steps: int, metrics: int, *, seed: int = 0, step_seconds: float = 0.1) -> None:
    """A finished run of `steps` rows with `metrics` values each; the directory is made, the file must not exist."""
    path.parent.mkdir(parents=True, exist_ok=True)
    (path.parent / "files").mkdir(exist_ok=True)
    luck = random.Random(seed)
    names = metric_names(metrics)
    writer = LogWriter(path)
    writer.append_record("header", {"version_info": {"producer": "benchmark", "min_consumer": "0.70.0"}})
    run_id = path.stem.removeprefix("run-")
    writer.append_record(
        "run",
        {
            "run_id": run_id,
            "project": "benchmark",
            "display_name": run_id,
            "config": {"update": [{"key": "seed", "value_json": str(seed)}]},
            "start_time": {"seconds": int(START)},
        },
    )
    for step in range(steps):
        runtime = step * step_seconds
        items = [(name, repr(luck.random())) for name in names]
        items += [
            (("_step",), str(step)),
            (("_runtime",), repr(runtime)),
            (("_timestamp",), go_float(START + runtime + luck.random() * 1e-3)),
        ]
        luck.shuffle(items)
        writer.append(summary_record([(("_wandb", "runtime"), str(int(runtime))), (("_runtime",), str(int(runtime)))]))
        writer.append(summary_record(items))
        luck.shuffle(items)
        writer.append(history_record(items, step))
        if step % (200_000 // (metrics + 3) + 1) == 0:
            writer.flush()
    writer.append_record("exit", {"exit_code": 0, "runtime": int(steps * step_seconds)})
    writer.close()


def metric_names(count: int) -> Sequence[tuple[str, ...]]:
    """Names as people choose them, mostly one level with a slash."""
    groups = ("train", "val", "optim", "layer")
    return [(f"{groups[i % len(groups)]}/metric_{i}",) for i in range(count)]


def go_float(value: float) -> str:
    """A float as Go's shortest form spells it: with an exponent from 2^21 on."""
    if abs(value) < 1 << 21:
        return repr(value)
    digits = repr(value).replace(".", "")
    exponent = len(str(int(value))) - 1
    return f"{digits[0]}.{digits[1:]}e+{exponent:02d}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("path", type=Path)
    parser.add_argument("--steps", type=int, default=200_000)
    parser.add_argument("--metrics", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    write_log(options.path, options.steps, options.metrics, seed=options.seed)


if __name__ == "__main__":
    main()
