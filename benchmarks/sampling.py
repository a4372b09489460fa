"""What system metrics cost: CPU and memory of a sample per family, time to say "not here", keys beside the SDK's.

python benchmarks/sampling.py              costs
python benchmarks/sampling.py --sdk        also records five seconds with `wandb` and compares keys and values
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS = 50

SDK_RUN = """
import time
import wandb
from recorder.system.monitor import Monitor
from recorder.system.source import SystemSettings
run = wandb.init(mode="offline", project="sampling", settings=wandb.Settings(x_stats_sampling_interval=0.5))
ours = []
monitor = Monitor(SystemSettings(sampling_interval=0.5), lambda moment, sample, name: ours.append(sample))
monitor.start()
end = time.monotonic() + 5
while time.monotonic() < end:
    sum(range(1000))
monitor.stop()
run.finish()
import json, pathlib
pathlib.Path("ours.json").write_text(json.dumps(ours))
"""


def cost(work: object) -> tuple[float, float]:
    """Median CPU milliseconds and wall milliseconds of one call."""
    cpu, wall = [], []
    for _ in range(ROUNDS):
        wall_start, cpu_start = time.perf_counter(), time.process_time()
        work()  # type: ignore[operator]
        cpu.append((time.process_time() - cpu_start) * 1000)
        wall.append((time.perf_counter() - wall_start) * 1000)
    return statistics.median(cpu), statistics.median(wall)


def report_costs() -> None:
    import psutil

    from recorder.system.families import openers
    from recorder.system.source import NotHere, SystemSettings

    own = psutil.Process()
    for name, opener in openers(SystemSettings()).items():
        before = own.memory_info().rss
        start = time.perf_counter()
        try:
            source = opener()
        except NotHere:
            first = (time.perf_counter() - start) * 1000
            start = time.perf_counter()
            try:
                opener()
            except NotHere as reason:
                again = (time.perf_counter() - start) * 1000
                print(f"{name:12} not here in {first:.2f} ms (again: {again:.2f} ms): {reason}")
            continue
        cpu, wall = cost(source.sample)
        grown = (own.memory_info().rss - before) / 1024**2
        print(f"{name:12} {cpu:.2f} ms CPU, {wall:.2f} ms wall a sample; {grown:.1f} MiB more resident")
        source.close()


def compare_with_sdk() -> None:
    program = [str(Path(sys.executable).parent / "wandb"), "leet", "inspect", "--json"]
    with tempfile.TemporaryDirectory() as folder:
        root = str(Path(__file__).parents[1])
        subprocess.run(
            [sys.executable, "-c", SDK_RUN],
            cwd=folder,
            check=True,
            capture_output=True,
            env={"PYTHONPATH": root, "HOME": folder},
        )
        log = next(Path(folder).glob("wandb/latest-run/run-*.wandb"))
        lines = subprocess.run([*program, str(log)], capture_output=True, text=True, check=True).stdout.splitlines()
        theirs = [record["stats"]["item"] for record in map(json.loads, lines) if record.get("type") == "stats"]
        ours = json.loads((Path(folder) / "ours.json").read_text())
    print(f"\n{'key':32}{'SDK':>16}{'recorder':>16}")
    for key in sorted({key for sample in [*theirs, *ours] for key in sample}):
        columns = []
        for samples in (theirs, ours):
            values = [sample[key] for sample in samples if key in sample]
            columns.append(f"{statistics.median(values):16.4f}" if values else f"{'–':>16}")
        print(f"{key:32}{''.join(columns)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sdk", action="store_true")
    options = parser.parse_args()
    report_costs()
    if options.sdk:
        compare_with_sdk()
