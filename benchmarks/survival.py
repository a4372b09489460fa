"""Runs killed at random moments with everything that belongs to them: what is left, and what was lost.

    python -m benchmarks.survival [ROUNDS] [DIRECTORY]

Each round is a process that records rows, text and media as quickly as a real training would at its limits, in a
session of its own that gets SIGKILL after a random time. What it had logged by then it noted in shared memory, so the
loss is the time between the last row that it had logged and the last row that its log has. Every survivor is read
with the reader of this project; `--wandb N` reads N of them with `wandb leet inspect` as well.
"""

from __future__ import annotations

import argparse
import mmap
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.programs import THEIRS, environment
from leet.reading import records
from leet.reading.blocks import BlockReader, RawRecord

_NOTE = struct.Struct("<qd")
_LONGEST = 2.5


@dataclass(frozen=True, slots=True)
class Survivor:
    """One killed run."""

    directory: Path
    log: Path | None
    """None where it was killed before there was one."""
    logged: int
    """Rows that were logged before it was killed."""
    recorded: int
    """Rows in the log."""
    lost_seconds: float
    """Between the last row that was logged and the last one in the log."""
    trouble: str
    """What is wrong with the log; nothing, if all is well."""


def kill_runs(rounds: int, directory: Path, parallel: int = 8, seed: int = 0) -> list[Survivor]:
    """Starts and kills so many runs below a directory."""
    dice = random.Random(seed)
    found: list[Survivor] = []
    for first in range(0, rounds, parallel):
        batch = [_start(directory / f"{i:04}", dice) for i in range(first, min(first + parallel, rounds))]
        for place, pid, note, end in sorted(batch, key=lambda one: one[3]):
            time.sleep(max(0.0, end - time.monotonic()))
            os.killpg(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            logged, moment = _NOTE.unpack(note[: _NOTE.size])
            note.close()
            found.append(examine(place, logged, moment))
    return found


def _start(place: Path, dice: random.Random) -> tuple[Path, int, mmap.mmap, float]:
    place.mkdir(parents=True)
    note = mmap.mmap(-1, mmap.PAGESIZE)
    pause, seconds = dice.choice((0.0, 0.001, 0.01)), dice.uniform(0.0, _LONGEST)
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            os.chdir(place)
            _train(note, pause)
        finally:
            os._exit(1)
    while os.getpgid(pid) != pid:  # the group is killed, so it has to be one
        time.sleep(0.0005)
    return place, pid, note, time.monotonic() + seconds


def _train(note: mmap.mmap, pause: float) -> None:
    """Records until it is killed."""
    import recorder

    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    run = recorder.init(project="survival", mode="offline", settings={"x_save_requirements": False})
    row = 0
    while True:
        values = {"row": row, "loss": 1 / (row + 1), "text": "x" * (row % 997)}
        run.log({**values, "nested": {"a": [row]}} if row % 7 == 0 else values)
        note[: _NOTE.size] = _NOTE.pack(row + 1, time.monotonic())
        run.summary["moment"] = row
        run.log({"moment": time.monotonic()}, commit=False)
        if row % 50 == 0:
            print("\rrow", row, end="")
        row += 1
        if pause:
            time.sleep(pause)
        elif row % 200 == 0:
            time.sleep(0.05)


def examine(place: Path, logged: int, moment: float) -> Survivor:
    """Reads what a killed run has left."""
    log = next(place.glob("wandb/offline-run-*/run-*.wandb"), None)
    if log is None:
        return Survivor(place, None, logged, 0, 0.0, "" if logged == 0 else "there is no log")
    reader = BlockReader()
    outcomes = [*reader.feed(log.read_bytes()), *reader.finish()]
    rows: list[int] = []
    last = moment
    trouble = ""
    for i, outcome in enumerate(outcomes):
        if not isinstance(outcome, RawRecord):
            if i < len(outcomes) - 1:  # the end may be unfinished, and nothing else
                trouble = f"skipped bytes in the middle: {outcome}"
            continue
        record = records.parse(outcome.payload)
        if records.kind(record) == "history":
            values = {item.nested_key[0]: item.value_json for item in record.history.item}
            rows.append(int(values["row"]))
            last = float(values.get("moment", last))
    if rows != list(range(len(rows))):
        trouble = trouble or "rows are missing from the middle"
    lost = max(0.0, moment - last) if rows and len(rows) < logged else 0.0
    return Survivor(place, log, logged, len(rows), lost, trouble)


def main() -> int:
    parser = argparse.ArgumentParser(description="Kill runs at random moments and read what is left.")
    parser.add_argument("rounds", type=int, nargs="?", default=1000)
    parser.add_argument("directory", type=Path, nargs="?", help="where the runs are kept (default: nowhere)")
    parser.add_argument("--wandb", type=int, default=0, metavar="N", help="read N survivors with wandb leet inspect")
    args = parser.parse_args()
    directory = args.directory or Path(tempfile.mkdtemp())
    survivors = kill_runs(args.rounds, directory)
    logs = [survivor for survivor in survivors if survivor.log is not None]
    losses = sorted(survivor.lost_seconds for survivor in logs if survivor.recorded)
    bad = [survivor for survivor in survivors if survivor.trouble]
    print(f"{len(survivors)} runs killed, {len(logs)} had a log, {len(losses)} had rows in it")
    print(f"rows logged {sum(s.logged for s in logs):,}, in the logs {sum(s.recorded for s in logs):,}")
    if losses:
        late = losses[len(losses) * 99 // 100]
        print(f"lost at the end: median {median(losses):.2f} s, p99 {late:.2f} s, most {losses[-1]:.2f} s")
    for survivor in bad:
        print(f"{survivor.directory}: {survivor.trouble}")
    for survivor in random.Random(1).sample(logs, min(args.wandb, len(logs))):
        done = subprocess.run(
            [*THEIRS, "inspect", "--json", str(survivor.log)], capture_output=True, env=environment(directory)
        )
        rows = done.stdout.count(b'"type":"history"')
        if done.returncode or b"skipped" in done.stderr or rows != survivor.recorded:
            print(f"{survivor.log}: wandb leet inspect finds {rows} of {survivor.recorded} rows: {done.stderr!r}")
            bad.append(survivor)
    if args.directory is None:
        shutil.rmtree(directory)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
