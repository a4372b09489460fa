"""Many runs in one directory: how long until they are listed, until all are known, and what a query costs.

    python -m benchmarks.workspace --runs 10000 [--programs]

The runs are made first (small ones, framed by the recorder's own code), and looked at twice: with nothing kept of them
and with what the first look left in the cache. Wall-clock times of a busy machine say little; compare CPU seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks import terminal
from benchmarks.programs import OURS, THEIRS, environment
from benchmarks.startup import BARE, first_frame
from leet.model.run_query import RunQuery
from leet.model.workspace import Workspace
from recorder.transaction_log.framing import HEADER, frame
from recorder.transaction_log.wire import encode, history_record, summary_record, varint

START = 1_790_000_000
SPACING = 300
"""Seconds between the starts of two runs."""
QUERIES = (
    "warm",
    "adam",
    "config.optimizer.name:adam and not state:failed",
    "config.lr>0.01 or tag:baseline",
    "summary.loss<0.2 state:finished",
    "(host:node-1 | host:node-2) created>2020-01-01 duration>10s",
    "name:/run-.*7$/ sort:-summary.loss",
    "sort:summary.loss",
)


def make_runs(root: Path, count: int, *, rows: int = 20, seed: int = 0) -> None:
    """`count` finished runs in `root/wandb`, one in fifty failed and one in fifty killed."""
    luck = random.Random(seed)
    wandb = root / "wandb"
    for number in range(count):
        started = START + number * SPACING
        stamp = time.strftime("%Y%m%d_%H%M%S", time.localtime(started))
        run_id = f"{number:08x}"
        directory = wandb / f"offline-run-{stamp}-{run_id}"
        directory.mkdir(parents=True)
        (directory / f"run-{run_id}.wandb").write_bytes(log_of(run_id, number, started, rows, luck))


def log_of(run_id: str, number: int, started: int, rows: int, luck: random.Random) -> bytes:
    """The bytes of one log."""
    config = {
        "lr": 10 ** luck.uniform(-4, -1),
        "batch_size": luck.choice([32, 64, 128]),
        "optimizer": {"name": luck.choice(["adam", "sgd", "lion"]), "weight_decay": 0.01},
        "model": {"layers": [64] * luck.randint(1, 6), "dropout": luck.choice([0.0, 0.1])},
        "seed": number,
        **{f"option_{i}": luck.choice(["a", "b", "c"]) for i in range(12)},
    }
    records = [
        encode("Record", {"header": {"version_info": {"producer": "benchmark"}}}),
        encode(
            "Record",
            {
                "run": {
                    "run_id": run_id,
                    "project": "benchmark",
                    "display_name": f"{luck.choice(['warm', 'calm', 'bold'])}-run-{number}",
                    "tags": luck.sample(["baseline", "sweep", "ablation", "night"], 2),
                    "host": f"node-{number % 8}",
                    "start_time": {"seconds": started},
                    "config": {"update": [{"key": k, "value_json": json.dumps(v)} for k, v in config.items()]},
                }
            },
        ),
        encode("Record", {"environment": {"os": "Linux", "python": "3.11", "host": f"node-{number % 8}"}}),
    ]
    for step in range(rows):
        values = {f"train/metric_{i}": luck.random() for i in range(6)}
        row = {**values, "loss": luck.random(), "_step": step, "_runtime": step * 1.5, "_timestamp": started + step}
        items = [((key,), repr(value)) for key, value in row.items()]
        records += [summary_record(items), history_record(items, step)]
    if number % 50 != 1:
        code = 1 if number % 50 == 2 else 0
        records.append(encode("Record", {"exit": {"exit_code": code, "runtime": int(rows * 1.5)}}))
    pieces, offset = [HEADER], len(HEADER)
    for ordinal, record in enumerate(records, 1):
        pieces.append(frame(b"\x08" + varint(ordinal) + record, offset))
        offset += len(pieces[-1])
    return b"".join(pieces)


class Look:
    """A workspace opened as the viewer opens it: what is found is taken over on this thread as it is announced."""

    def __init__(self, root: Path) -> None:
        self._called = threading.Event()
        self.slowest = 0.0
        """Longest time that taking over what was found has kept this thread busy, in seconds."""
        self.latest = 0.0
        """Longest time that this thread, which wanted to go on, had to wait for others in this process."""
        self.cpu = -cpu()
        self.started = time.perf_counter()
        self.workspace = Workspace(root)
        self.workspace.listen(self._called.set)
        self.workspace.start()

    def wait(self, until: Callable[[Workspace], bool], timeout: float = 300) -> float:
        """Seconds from the start until the workspace is as asked for."""
        while not until(self.workspace):
            before = time.perf_counter()
            time.sleep(0.002)
            self.latest = max(self.latest, time.perf_counter() - before - 0.002)
            if self._called.is_set():
                self._called.clear()
                before = time.perf_counter()
                self.workspace.drain()
                self.slowest = max(self.slowest, time.perf_counter() - before)
            if time.perf_counter() - self.started > timeout:
                raise SystemExit("this takes too long")
        return time.perf_counter() - self.started

    def close(self) -> None:
        self.workspace.stop()
        self.workspace.join()
        self.cpu += cpu()


def cpu() -> float:
    """CPU seconds of this process and of those it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--root", type=Path, help="runs made by an earlier call with --keep")
    parser.add_argument("--keep", type=Path, help="make the runs here and leave them")
    parser.add_argument("--programs", action="store_true", help="measure the whole programs too, ours and `wandb leet`")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        os.environ["XDG_CACHE_HOME"] = str(Path(name) / "cache")
        root = args.root or args.keep or Path(name) / "runs"
        if args.root is None:
            before = time.perf_counter()
            make_runs(root, args.runs)
            print(f"{args.runs:,} runs made in {time.perf_counter() - before:.1f} s")
        measure(root)
        if args.programs:
            compare(root, Path(name))
            picture(root, Path(name))


def compare(root: Path, home: Path) -> None:
    """Print how long the programs take to show how many runs there are, and the name of the newest one in ours."""
    count = sum(1 for _ in (root / "wandb").glob("*run-*"))
    newest = rf"(warm|calm|bold)-run-{count - 1}\b"
    few, env = home / "few", environment(home)
    make_runs(few, 5)
    for _ in range(2):  # what a checkout is compiled to is no part of it
        terminal.measure([*OURS, str(few)], r"\b5 runs", env=env, timeout=60)
    bare = first_frame(*BARE, env, repeats=3)
    print(f"\na bare Textual app: first frame after {bare:.2f} s")
    for title, command, pattern in (
        ("leet, first", [*OURS, str(root)], rf"\b{count:,} runs"),
        ("leet, again", [*OURS, str(root)], rf"\b{count:,} runs"),
        ("leet, known", [*OURS, str(root)], rf"(?s){newest}.*\b{count:,} runs|\b{count:,} runs.*{newest}"),
        ("wandb leet", [*THEIRS, str(root / "wandb")], rf"of {count}\b"),
    ):
        found = terminal.measure(command, pattern, env=env, timeout=120)
        print(
            f"{title:14} first screen {found.first or -1:5.2f} s, listed {found.until or -1:5.2f} s, "
            f"CPU {found.cpu:5.2f} s, {found.peak_memory:4.0f} MiB"
        )


def picture(root: Path, home: Path) -> None:
    """Print what it takes to make a picture of the workspace, for which all runs have to be known."""
    for title in ("picture, first", "picture, again"):
        began, used = time.perf_counter(), cpu()
        env = {**environment(home), "XDG_CACHE_HOME": str(home / "pictures")}
        command = [*OURS, str(root), "--screenshot", str(home / "picture.svg"), "--size", "200x50"]
        subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL)
        print(f"{title:14} all known {time.perf_counter() - began:6.2f} s, CPU {cpu() - used:5.2f} s")


def measure(root: Path) -> None:
    """Print the table for the runs below `root`."""
    print(f"{'':14} first   all listed   all known   CPU      longest wait of the main thread   longest drain")
    for title in ("nothing kept", "again"):
        look = Look(root)
        first = look.wait(lambda workspace: len(workspace.entries) > 0)
        listed = look.wait(lambda workspace: not workspace.scanning)
        known = look.wait(lambda workspace: workspace.progress[0] == workspace.progress[1])
        entries = list(look.workspace.entries.values())
        waited, slowest = look.latest, look.slowest
        time.sleep(0.2)
        look.close()
        print(
            f"{title:14} {first:5.3f} s {listed:8.3f} s {known:9.2f} s {look.cpu:7.2f} s "
            f"{1000 * waited:20.0f} ms {1000 * slowest:25.0f} ms"
        )
    now = time.time()
    print(f"\n{len(entries):,} runs, of which a query chooses in milliseconds (first time, then median of 5)")
    for text in QUERIES:
        query = RunQuery.parse(text)
        if query.error is not None:
            raise SystemExit(f"{text}: {query.error}")
        times = []
        for _ in range(6):
            before = time.perf_counter()
            chosen = query.select(entries, now)
            times.append(1000 * (time.perf_counter() - before))
        print(f"  {times[0]:6.1f} {statistics.median(times[1:]):6.1f}   {len(chosen):6,}  {text}")


if __name__ == "__main__":
    main()
