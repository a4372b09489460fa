"""What `log()` costs the training loop, and what a logged value costs the machine, beside the SDK.

Both packages run the same script, by turns, in processes of their own: offline, without system metrics and console.
The time of one call is taken alone, so the figure is what the training waits for; the CPU time is that of the whole
process tree (the SDK works in a second process), for the same number of rows.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

SCRIPT = """
import json, random, sys, time
import {package} as wandb
run = wandb.init(
    project="bench", mode="offline", dir={directory!r},
    settings=dict(console="off", x_disable_stats=True, x_disable_meta=True, x_save_requirements=False, silent=True),
)
row = {{f"train/metric_{{i:04}}": random.random() for i in range({values})}}
times = []
for i in range({rows}):
    for key in row: row[key] = random.random()
    started = time.perf_counter()
    run.log(row{how})
    times.append(time.perf_counter() - started)
    {pause}
run.finish()
print(json.dumps(sorted(times)))
"""

SIZES = {1: 3000, 10: 3000, 100: 1000, 1000: 200}
"""Values in a row → rows."""

ROUNDS = 3


def call_times(package: str, values: int, rows: int, how: str = "", pause: str = "") -> list[float]:
    """Seconds of each call, in order of size."""
    with tempfile.TemporaryDirectory() as directory:
        script = SCRIPT.format(package=package, directory=directory, values=values, rows=rows, how=how, pause=pause)
        done = subprocess.run([sys.executable, "-c", script], env=_environment(), capture_output=True, check=True)
    times: list[float] = json.loads(done.stdout.splitlines()[-1])
    return times


def cpu_time(package: str, values: int, rows: int) -> float:
    """CPU seconds of the process tree for so many rows, without what a run without rows costs."""
    return _tree_time(package, values, rows) - _tree_time(package, values, 0)


def _tree_time(package: str, values: int, rows: int) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    call_times(package, values, rows)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _environment() -> dict[str, str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("WANDB_")}
    return {**clean, "PYTHONPATH": str(Path(__file__).parents[1]), "WANDB_ERROR_REPORTING": "false"}


def main() -> None:
    print(f"{'values':>6} {'call':<10} {'ours µs':>8} {'SDK µs':>8} {'ratio':>6}   p99: ours, SDK")
    for values, rows in SIZES.items():
        for how in ("", ", step=i"):
            ours: list[float] = []
            theirs: list[float] = []
            for _ in range(ROUNDS):
                ours += call_times("recorder", values, rows, how)
                theirs += call_times("wandb", values, rows, how)
            ratio = median(ours) / median(theirs)
            late = (sorted(times)[len(times) * 99 // 100] * 1e6 for times in (ours, theirs))
            print(
                f"{values:>6} {how[2:] or 'plain':<10} {median(ours) * 1e6:>8.1f} {median(theirs) * 1e6:>8.1f} "
                f"{ratio:>6.3f}   {', '.join(f'{time:.0f}' for time in late)}"
            )
    rows = 5000
    spent = {package: median(cpu_time(package, 10, rows) for _ in range(ROUNDS)) for package in ("recorder", "wandb")}
    per_value = {package: seconds / rows / 10 * 1e6 for package, seconds in spent.items()}
    print(
        f"CPU of the process tree per value: ours {per_value['recorder']:.2f} µs, SDK {per_value['wandb']:.2f} µs, "
        f"ratio {per_value['recorder'] / per_value['wandb']:.3f}"
    )


if __name__ == "__main__":
    main()
