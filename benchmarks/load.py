"""Opening big logs: time until the last step is shown, CPU and peak memory, ours and `wandb leet` on the same file.

    python -m benchmarks.load LOG … [--theirs]

Ours is opened three times: with nothing kept of the log, with its columns in the cache, and with a key typed while it
loads. On a busy machine compare CPU seconds; the ratios are of time.
"""

from __future__ import annotations

import argparse
import re
import resource
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

from benchmarks.programs import OURS, THEIRS, environment
from benchmarks.startup import BARE, first_frame, small_run
from benchmarks.terminal import Measurement, Terminal, measure
from leet.model.filter import Mode, TextFilter
from leet.model.name_search import NameSearch
from leet.model.run import RunModel
from leet.reading.tail import read
from leet.tui.screens.run_painting import FIND_AT_ONCE_SECONDS, FIND_SECONDS

CHART = "╭"
"""What the frame of a chart begins with, and nothing else on the screen."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("logs", nargs="+", type=Path, metavar="LOG")
    parser.add_argument("--theirs", action="store_true", help="measure `wandb leet` as well, which takes its time")
    parser.add_argument("--timeout", type=float, default=300)
    args = parser.parse_args()
    for log in args.logs:
        with tempfile.TemporaryDirectory() as home:
            env = environment(Path(home))
            # The first start of all compiles the code, which an installed package has behind it.
            measure([*OURS, str(small_run(Path(home)))], "train/loss", env=env)
            first_charts(log, env)
            compare(log, env, args.theirs, args.timeout)


def first_charts(log: Path, env: dict[str, str]) -> None:
    """Print when the first charts are there, and what a bare Textual app, the least that can be, takes meanwhile.

    By the bytes written: to emulate a screen takes time from the program that is measured.
    """
    bare: list[float] = []
    ours: list[float] = []
    for _ in range(3):  # by turns, for a machine may be faster in one minute than in the next
        bare.append(first_frame(*BARE, env, repeats=1))
        ours.append(first_frame([*OURS, str(log)], CHART, {**env, "LEET_CACHE": "off"}, repeats=1))
    least, found = median(bare), median(ours)
    print(f"{log.name}: first charts after {found:.2f} s, a bare Textual app's frame after {least:.2f} s")


def compare(log: Path, env: Mapping[str, str], theirs: bool, timeout: float) -> None:
    """Print what opening one log takes."""
    model = RunModel(log)
    began = time.process_time()
    for piece in read(log):
        model.apply(piece)
    print(f"read without a screen: {time.process_time() - began:.2f} s of CPU in this process")
    step = model.last_step or 0
    size, metrics = log.stat().st_size / 1e6, len(model.metrics.names())
    print(f"{log.name}: {size:.0f} MB, {model.points:,} points, {metrics:,} metrics")
    filtering(model.metrics.names())
    loaded = rf"(?s)\A(?!.*\d% of ).*step {step:,}"
    command = [*OURS, str(log)]
    cold = measure(command, loaded, env=env, timeout=timeout)
    say("leet", cold)
    say("leet, again", measure(command, loaded, env=env, timeout=timeout))
    times = sorted(typed_while_loading(command, loaded, {**env, "LEET_CACHE": "off"}, timeout)) or [0.0]
    most = times[int(0.95 * (len(times) - 1))]
    print(
        f"  answer to a key while loading: p95 {1000 * most:.0f} ms, slowest {1000 * times[-1]:.0f} ms of {len(times)}"
    )
    if theirs:
        # Its overview is the only place where it says how far the run is.
        other = measure([*THEIRS, str(log)], rf"_step +{step}\b", env=env, timeout=timeout)
        say("wandb leet", other)
        if cold.until:
            given_up = "" if other.until else f"less than these, for it was given up after {timeout:.0f} s: "
            print(
                f"  {given_up}time 1/{(other.until or timeout) / cold.until:.1f}, CPU 1/{other.cpu / cold.cpu:.1f}, "
                f"memory 1/{other.peak_memory / cold.peak_memory:.1f}"
            )
    # Twice each: the first of ours compiles code, and either has the log in memory the second time.
    mine = min(run([*OURS, "inspect", "--summary", str(log)], env) for _ in range(2))
    other_run = min(run([*THEIRS, "inspect", "--summary", str(log)], env) for _ in range(2))
    print(
        f"  inspect --summary {mine[0]:.2f} s ({mine[1]:.2f} s of CPU), wandb leet {other_run[0]:.2f} s "
        f"({other_run[1]:.2f} s of CPU): time 1/{other_run[0] / mine[0]:.1f}, CPU 1/{other_run[1] / mine[1]:.1f}"
    )


def filtering(names: Sequence[str]) -> None:
    """Print how long the filter keeps a key waiting as one is typed, letter by letter, and when all is found."""
    names = tuple(names)
    patterns: list[tuple[Mode, str]] = [("regex", "layer_.*[0-9]/w"), ("regex", "metric_1"), ("glob", "*me*1?9")]
    for mode, text in patterns:
        slices: list[float] = []
        whole: list[float] = []
        for end in range(1, len(text) + 1):
            began = before = time.process_time()
            search = NameSearch(TextFilter(text[:end], mode), names)
            done = search.go_on(FIND_AT_ONCE_SECONDS)
            slices.append(time.process_time() - before)
            while not done:
                before = time.process_time()
                done = search.go_on(FIND_SECONDS)
                slices.append(time.process_time() - before)
            whole.append(time.process_time() - began)
        print(
            f"  filter {mode} {text!r}: at most {1000 * max(slices):.1f} ms of CPU at a stretch, "
            f"all found after {1000 * max(whole):.0f} ms at most"
        )


def say(program: str, found: Measurement) -> None:
    print(
        f"  {program:12} first {found.first or -1:.2f} s  all {found.until or -1:.2f} s  "
        f"CPU {found.cpu:.2f} s  {found.peak_memory:.0f} MiB"
    )


def typed_while_loading(command: Sequence[str], loaded: str, env: Mapping[str, str], timeout: float) -> list[float]:
    """For each key typed until all is loaded: seconds until something was written."""

    terminal = Terminal(command, env=env)
    times: list[float] = []
    try:
        while len(terminal.text().split()) <= 3 and terminal.elapsed < timeout:
            terminal.pump(0.02)
        while not re.search(loaded, terminal.text()) and terminal.elapsed < timeout:
            while terminal.pump(0.0):
                pass
            typed = time.monotonic()
            terminal.type("]" if len(times) % 2 else "[")
            while not terminal.pump(0.5) and time.monotonic() - typed < 2:
                pass
            times.append(time.monotonic() - typed)
            terminal.pump(0.05)
    finally:
        terminal.close()
    return times


def run(command: Sequence[str], env: Mapping[str, str]) -> tuple[float, float]:
    """Seconds and seconds of CPU that a command takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True, env=dict(env))
    seconds = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
