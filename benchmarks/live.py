"""Watching a run that is being written: CPU, bytes to the terminal, memory, ours and `wandb leet` side by side."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.programs import OURS, THEIRS, environment
from benchmarks.terminal import Measurement, Terminal

WRITER = """
import random, sys, time
import recorder as wandb
directory, rows_per_minute, values = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
run = wandb.init(dir=directory, id="live", project="bench", settings={"console": "off"})
started, row = time.monotonic(), 0
names = [f"group_{i // 12}/metric_{i}" for i in range(values)]
level = [random.uniform(0, 5) for _ in names]
while True:
    for i in range(values):
        level[i] += random.gauss(0, 0.05)
    run.log(dict(zip(names, level)))
    row += 1
    time.sleep(max(0.0, row * 60 / rows_per_minute - (time.monotonic() - started)))
"""


def watch(command: list[str], seconds: float, env: dict[str, str]) -> Measurement:
    """Let the program settle for 20 s (the SDK's viewer polls slowly), then measure it for `seconds`."""
    terminal = Terminal(command, (200, 50), env)
    end = terminal.elapsed + 20
    while terminal.elapsed < end:
        terminal.pump(0.05)
    cpu, sent, started = terminal.sample(), terminal.sent, terminal.elapsed
    while terminal.elapsed < started + seconds:
        terminal.pump(0.05)
    found = Measurement(cpu_after=terminal.sample() - cpu, sent_after=terminal.sent - sent)
    found.peak_memory, found.screen = terminal.peak_memory, terminal.text()
    found.code = terminal.close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows-per-minute", type=float, default=1000)
    parser.add_argument("--values", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--only", choices=["leet", "wandb leet"])
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, name, str(args.rows_per_minute), str(args.values)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            while not (logs := list(directory.glob("wandb/offline-run-*/run-live.wandb"))):
                time.sleep(0.1)
            print(f"{args.rows_per_minute:g} rows a minute × {args.values} values, one page of 200×50 shown")
            for program, command in {"leet": OURS, "wandb leet": THEIRS}.items():
                if args.only in (None, program):
                    found = watch([*command, str(logs[0])], args.seconds, environment(directory))
                    print(
                        f"{program:<12} {found.cpu_after / args.seconds:6.1%} of a core  "
                        f"{found.sent_after / args.seconds / 1000:6.1f} kB/s  {found.peak_memory:5.0f} MiB"
                    )
        finally:
            writer.terminate()
            writer.wait()


if __name__ == "__main__":
    main()
