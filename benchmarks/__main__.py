"""The quick set: `python -m benchmarks` measures for about five minutes and writes benchmarks/RESULTS.md.

Each part is a module that can be run by itself, with options: `python -m benchmarks.live --help`.
"""

from __future__ import annotations

import platform
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

import psutil

RESULTS = Path(__file__).with_name("RESULTS.md")

BIG = "A log of 50,000 steps × 10"


def parts(directory: Path) -> dict[str, list[str]]:
    """Title → module and arguments, in order."""
    log = directory / "wandb" / "offline-run-20260101_000000-bench" / "run-bench.wandb"
    return {
        "Start-up": ["benchmarks.startup"],
        "A page of charts": ["benchmarks.page", "--seconds", "15"],
        "Watching a live run": ["benchmarks.live", "--seconds", "40"],
        "Logging": ["benchmarks.logging"],
        "System metrics": ["benchmarks.sampling"],
        "Ten thousand runs": ["benchmarks.workspace"],
        BIG: ["benchmarks.load", str(log)],
    }


def heading() -> str:
    memory = psutil.virtual_memory().total / 2**30
    packages = ", ".join(f"{name} {version(name)}" for name in ("textual", "numpy", "protobuf", "wandb"))
    return (
        "# Benchmarks\n\n"
        f"Made by `python -m benchmarks` on {time.strftime('%d %B %Y')}: {psutil.cpu_count()} cores "
        f"({platform.machine()}), {memory:.0f} GiB, {platform.system()}, Python {platform.python_version()}, "
        f"{packages}.\n"
        f"Load average at the start: {psutil.getloadavg()[0]:.1f}. Times wander by a fifth from run to run; "
        "the ratios are taken in the same run.\n"
    )


def main() -> int:
    written = [heading()]
    print(written[0])
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        log = Path(parts(directory)[BIG][1])
        log.parent.mkdir(parents=True)
        subprocess.run(
            [sys.executable, "-m", "benchmarks.generate", "--steps", "50000", "--metrics", "10", str(log)], check=True
        )
        for title, command in parts(directory).items():
            print(f"## {title}", flush=True)
            done = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True)
            said = done.stdout.strip() or done.stderr.strip()
            print(said, flush=True)
            written.append(f"## {title}\n\n```\n{said}\n```\n")
            if done.returncode:
                print(done.stderr, file=sys.stderr)
                return 1
    RESULTS.write_text("\n".join(written), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
