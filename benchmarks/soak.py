"""A long run at the ceiling of what servers recommend: does the memory stay flat?

    python -m benchmarks.soak [MINUTES] [--faster N]

One process logs 1,000 rows of 100 metrics a minute (N times as many with `--faster N`) with system metrics and console,
and prints its resident memory every minute of that time. It fails when the memory grows in the second half by more
than a twentieth, or the log does not hold every row.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

import psutil

import recorder
from leet.reading.blocks import BlockReader, RawRecord

ROWS_A_MINUTE = 1000
METRICS = 100


def main() -> int:
    parser = argparse.ArgumentParser(description="Log for a long time and watch the memory.")
    parser.add_argument("minutes", type=float, nargs="?", default=120.0)
    parser.add_argument("--faster", type=float, default=1.0, help="how many times as fast as the ceiling")
    args = parser.parse_args()
    me = psutil.Process()
    names = [f"group_{i % 10}/metric_{i}" for i in range(METRICS)]
    sizes: list[float] = []
    with tempfile.TemporaryDirectory() as directory:
        run = recorder.init(project="soak", dir=directory, settings={"x_save_requirements": False})
        pause = 60 / ROWS_A_MINUTE / args.faster
        rows = int(args.minutes * ROWS_A_MINUTE)
        began, next_row = time.process_time(), time.monotonic()
        for row in range(rows):
            run.log({name: random.random() for name in names})
            if row % 10 == 0:
                print(f"\rrow {row}", end="", flush=True)
            if row % ROWS_A_MINUTE == ROWS_A_MINUTE - 1:
                sizes.append(me.memory_info().rss / 1e6)
                print(f"\nminute {len(sizes)}: {sizes[-1]:.1f} MB")
            next_row += pause
            time.sleep(max(0.0, next_row - time.monotonic()))
        spent = time.process_time() - began
        run.finish()
        written = _rows_in(next(Path(directory).glob("wandb/offline-run-*/run-*.wandb")))
    settled = sizes[len(sizes) // 2 :]
    growth = settled[-1] / settled[0] - 1
    print(f"{written:,} of {rows:,} rows; {spent / rows * 1e6:.0f} µs of CPU a row; memory grew by {growth:.1%}")
    return 1 if growth > 0.05 or written != rows else 0


def _rows_in(log: Path) -> int:
    """History records in a log: those whose field after the number is number 2 of `Record`."""
    reader, found = BlockReader(), 0
    with open(log, "rb") as file:
        while data := file.read(1 << 22):
            found += sum(_is_history(record) for record in reader.feed(data))
    return found + sum(_is_history(record) for record in reader.finish())


def _is_history(record: object) -> bool:
    if not isinstance(record, RawRecord):
        return False
    payload, at = record.payload, 1
    while payload[at] & 0x80:
        at += 1
    return payload[at + 1] == 2 << 3 | 2


if __name__ == "__main__":
    sys.exit(main())
