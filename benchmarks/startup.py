"""How soon a person sees something: first frame of a small run, and the commands without a screen."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from benchmarks.programs import OURS, THEIRS, environment
from benchmarks.terminal import measure


def small_run(directory: Path) -> Path:
    """Record a run of 200 rows × 6 metrics with our recorder, in a process of its own; its log."""
    script = (
        "import math, recorder as wandb\n"
        f"with wandb.init(dir={str(directory)!r}, id='small', project='bench', settings={{'console': 'off'}}) as run:\n"
        "    for i in range(200):\n"
        "        run.log({'train/loss': 1 / (i + 1), 'train/accuracy': 1 - 1 / (i + 2), 'lr': 1e-3, 'epoch': i // 20,\n"
        "                 'gradient/norm': 1 + math.sin(i / 9), 'validation/loss': 1.2 / (i + 1)})\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.DEVNULL)
    return next(directory.glob("wandb/offline-run-*/run-small.wandb"))


def command_time(arguments: list[str], repeats: int = 9) -> float:
    """Median seconds of a whole process."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        times.append(time.perf_counter() - started)
    return median(times)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        log = small_run(directory)
        env = environment(directory)
        frames = {
            "leet": [measure([*OURS, str(log)], "train/loss", env=env) for _ in range(5)],
            "wandb leet": [measure([*THEIRS, str(log)], "train/loss", env=env) for _ in range(5)],
        }
        for program, found in frames.items():
            first = median(m.until or float("nan") for m in found)
            print(f"{program:<12} small run drawn after {first:.2f} s, {median(m.peak_memory for m in found):.0f} MiB")
        for words in (["--version"], ["--help"], ["inspect", "--summary", str(log)], ["inspect", "--json", str(log)]):
            print(f"leet {words[0]:<10} {' '.join(words[1:-1]):<10} {command_time([*OURS, *words]):.3f} s")
        print(f"leet plot                  {command_time([*OURS, 'plot', str(log)]):.3f} s")
        imported = [sys.executable, "-c", "import recorder"], [sys.executable, "-c", "pass"]
        print(f"import recorder            {(command_time(imported[0]) - command_time(imported[1])) * 1000:.0f} ms")


if __name__ == "__main__":
    main()
