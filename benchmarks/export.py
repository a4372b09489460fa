"""A long log as a table: `leet export`, and what `wandb leet inspect --json` takes to print the same values.

python -m benchmarks.export /tmp/big/wandb/offline-run-…-big/run-big.wandb
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path

from benchmarks.programs import OURS, THEIRS, environment


def measured(arguments: list[str], env: dict[str, str], *, may_fail: bool = False) -> tuple[float, float, float]:
    """Seconds, seconds of CPU and highest memory in MiB of a program whose output goes nowhere."""
    nowhere = [(os.POSIX_SPAWN_OPEN, descriptor, os.devnull, os.O_WRONLY, 0) for descriptor in (1, 2)]
    started = time.perf_counter()
    pid = os.posix_spawn(arguments[0], arguments, env, file_actions=nowhere)
    _, status, used = os.wait4(pid, 0)
    seconds = time.perf_counter() - started
    if status and not may_fail:
        raise SystemExit(f"{' '.join(arguments)}: exit status {os.waitstatus_to_exitcode(status)}")
    return seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("logs", nargs="+", type=Path, metavar="LOG")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        env = environment(Path(home))
        for log in args.logs:
            print(f"{log.name}: {log.stat().st_size / 1e6:.0f} MB")
            theirs = measured([*THEIRS, "inspect", "--json", str(log)], env)
            _say("wandb leet inspect --json", theirs)
            for words in (["export"], ["export", "--format", "jsonl"], ["doctor"]):
                # The doctor's status is 1 for a log that is over a ceiling, as a benchmark is.
                ours = measured([*OURS, *words, str(log)], env, may_fail=words == ["doctor"])
                ratios = f"  time 1/{theirs[0] / ours[0]:.1f}, CPU 1/{theirs[1] / ours[1]:.1f}"
                _say(f"leet {' '.join(words)}", ours, ratios)


def _say(name: str, figures: tuple[float, float, float], more: str = "") -> None:
    seconds, cpu, memory = figures
    print(f"  {name:<26} {seconds:6.2f} s, {cpu:6.2f} s of CPU, {memory:4.0f} MiB{more}")


if __name__ == "__main__":
    main()
