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


CEILING = ((1000, 100), (100, 1000), (10, 10_000), (5, 20_000))
"""Rows a minute and values in each: a hundred thousand values a minute, which is what the service takes of a run."""


def compare(rows_per_minute: float, values: int, seconds: float, only: str | None) -> None:
    """Print what watching a run of this shape costs, and the ratio where both programs are measured."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, name, str(rows_per_minute), str(values)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            while not (logs := list(directory.glob("wandb/offline-run-*/run-live.wandb"))):
                time.sleep(0.1)
            print(f"{rows_per_minute:g} rows a minute × {values} values, one page of 200×50 shown")
            measured = []
            for program, command in {"leet": OURS, "wandb leet": THEIRS}.items():
                if only in (None, program):
                    found = watch([*command, str(logs[0])], seconds, environment(directory))
                    measured.append(found)
                    say(program, found, seconds)
            if len(measured) == 2:
                ours, theirs = measured
                cpu, sent = theirs.cpu_after / ours.cpu_after, theirs.sent_after / ours.sent_after
                print(f"  CPU 1/{cpu:.0f}, bytes 1/{sent:.0f}, memory 1/{theirs.peak_memory / ours.peak_memory:.1f}")
        finally:
            writer.terminate()
            writer.wait()


def idle(log: Path, seconds: float) -> None:
    """Print what a finished run costs while nothing happens."""
    with tempfile.TemporaryDirectory() as home:
        print("idle on a finished run")
        say("leet", watch([*OURS, str(log)], seconds, environment(Path(home))), seconds)


def say(program: str, found: Measurement, seconds: float) -> None:
    print(
        f"{program:<12} {found.cpu_after / seconds:7.2%} of a core  {found.sent_after / seconds / 1000:6.1f} kB/s  "
        f"{found.peak_memory:5.0f} MiB",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows-per-minute", type=float, default=1000)
    parser.add_argument("--values", type=int, default=100)
    parser.add_argument("--ceiling", action="store_true", help="all four shapes of a hundred thousand values a minute")
    parser.add_argument("--idle", type=Path, metavar="LOG", help="a finished run instead")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--only", choices=["leet", "wandb leet"])
    args = parser.parse_args()
    if args.idle is not None:
        idle(args.idle, args.seconds)
        return
    for rows_per_minute, values in CEILING if args.ceiling else [(args.rows_per_minute, args.values)]:
        compare(rows_per_minute, values, args.seconds, args.only)


if __name__ == "__main__":
    main()
