"""What slows a run or a project down: its logs against the published limits of the W&B service.

PATH is a log or a run directory; a directory with runs (wandb/, or one that holds it) is looked at as a whole.
Each figure is ok, warn (more than half of its ceiling; beyond it where none is published) or OVER; these two
come with what to do.
The exit status is 0 when nothing is over its ceiling, 1 when something is, or when no log could be read.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leet.discovery import DIRECTORY_NAMES, NoRun, expanded, find_run, logs_in, logs_there, run_directories

if TYPE_CHECKING:
    from leet.output.doctor_checks import Check, Project

_MARKS = {"ok": "ok", "warn": "warn", "over": "OVER"}
_UNREADABLE_SAID = 3
_PATIENCE = 1.0
"""Seconds after which a person at a terminal is told how far this is, and between two such lines."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `leet doctor`."""
    parser.add_argument("path", nargs="?", metavar="PATH", help="a log, a run directory, or a directory with runs")
    parser.add_argument("--json", action="store_true", help="all figures, and those of every run, as one JSON object")


def main(argv: Sequence[str], prog: str = "leet doctor") -> int:
    """The command line of `leet doctor`; the exit status."""
    parser = argparse.ArgumentParser(
        prog=prog, description=__doc__, allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_arguments(parser)
    return run(parser.parse_args(argv))


def run(args: argparse.Namespace) -> int:
    """Print the figures; the exit status: 0 nothing over its ceiling, 1 something is, or nothing could be read."""
    try:
        logs = find_logs(args.path)
    except NoRun as error:
        return _fail(str(error))
    except OSError as error:
        return _fail(f"{error.filename or args.path}: {error.strerror or error}")
    # Here on, not above: `--help` need not wait for numpy.
    from leet.output.doctor_checks import Project, checks_of
    from leet.output.doctor_skim import skim
    from leet.reading.blocks import UnsupportedLog

    project = Project()
    unreadable: list[tuple[Path, str]] = []
    for log in _with_progress(logs):
        try:
            project.add(skim(log))
        except OSError as error:
            unreadable.append((log, error.strerror or str(error)))
        except UnsupportedLog as error:
            unreadable.append((log, str(error)))
    checks = checks_of(project)
    for line in _unreadable_text(unreadable):
        print(line, file=sys.stderr)
    if args.json:
        from leet.model.json_text import dump

        print(dump(_to_json(project, checks, unreadable), "  "))
    else:
        for line in _text(project, checks):
            print(line)
    return 1 if not project.runs or any(check.state == "over" for check in checks) else 0


def find_logs(path: str | None) -> list[Path]:
    """The logs that a path means: one, or those of all runs in a directory, oldest first. Raises NoRun, OSError."""
    if path is not None and ":" in path and (copies := logs_there(path)) is not None:
        return copies
    directory = expanded(os.environ.get("WANDB_DIR") or "." if path is None else path)
    if directory.is_dir() and not logs_in(directory):
        for candidate in (directory, *(directory / name for name in DIRECTORY_NAMES)):
            runs = run_directories(candidate) if candidate.is_dir() else []
            if logs := [log for run_directory in runs for log in logs_in(run_directory)]:
                return logs
    return [find_run(path)]


def _with_progress(logs: Sequence[Path]) -> Iterator[Path]:
    """`logs`, one by one; on a terminal a line says how many of them are done, until all are."""
    if not sys.stderr.isatty():
        yield from logs
        return
    said_at, said = time.monotonic(), False
    try:
        for done, log in enumerate(logs):
            if (now := time.monotonic()) - said_at >= _PATIENCE:
                sys.stderr.write(f"\r\x1b[Kread {done:,} of {len(logs):,} logs")
                sys.stderr.flush()
                said_at, said = now, True
            yield log
    finally:
        if said:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def _text(project: Project, checks: Sequence[Check]) -> Iterator[str]:
    from leet.model.safe_text import clean
    from leet.model.units import counted
    from leet.output.doctor_checks import QUESTIONS, run_label

    runs = project.runs
    if not runs:
        return
    rows, points = sum(facts.rows for facts in runs), sum(facts.points for facts in runs)
    what = f"run {clean(run_label(runs[0]))}" if len(runs) == 1 else f"{len(runs):,} runs"
    curves = f" ({runs[0].numeric:,} numeric)" if len(runs) == 1 and runs[0].numeric < len(project.metrics) else ""
    metrics = counted(len(project.metrics), "metric")
    yield f"{what}: {metrics}{curves}, {counted(rows, 'row')}, {counted(points, 'value')}"
    width = max(len(check.title) for check in checks)
    for number, question in enumerate(QUESTIONS):
        yield ""
        yield f"{number + 1}. {question}"
        asked = [check for check in checks if check.question == number]
        for check, after in zip_longest(asked, asked[1:]):
            figure = f"{_figure(check, check.value):>9} of {_figure(check, check.ceiling):<8}"
            yield f"  {_MARKS[check.state]:<4}  {check.title:<{width}}  {figure} {clean(check.run)}".rstrip()
            for detail in check.detail:
                yield f"          {clean(detail)}"
            said_next = after is not None and after.state != "ok" and after.remedy == check.remedy
            if check.state != "ok" and not said_next:
                yield f"        → {check.remedy}"
    damaged = sum(facts.skipped > 0 for facts in runs)
    if damaged:
        yield ""
        yield f"{damaged:,} of the logs {'has' if damaged == 1 else 'have'} parts that could not be read."


def _unreadable_text(unreadable: Sequence[tuple[Path, str]]) -> Iterator[str]:
    from leet.model.safe_text import clean

    for log, reason in unreadable[:_UNREADABLE_SAID]:
        yield f"leet doctor: not read: {clean(str(log))}: {reason}"
    if len(unreadable) > _UNREADABLE_SAID:
        yield f"leet doctor: not read: {len(unreadable) - _UNREADABLE_SAID:,} more"


def _figure(check: Check, value: float) -> str:
    from leet.output.doctor_checks import spell_size

    return spell_size(value) if check.unit == "bytes" else f"{value:,.0f}"


def _to_json(project: Project, checks: Sequence[Check], unreadable: Sequence[tuple[Path, str]]) -> dict[str, Any]:
    from leet.output.doctor_checks import QUESTIONS

    states = {check.state for check in checks}
    return {
        "state": next((state for state in ("over", "warn") if state in states), "ok"),
        "checks": [
            {
                "name": check.name,
                "question": QUESTIONS[check.question],
                "title": check.title,
                "value": check.value,
                "ceiling": check.ceiling,
                "unit": check.unit or "count",
                "published": check.published,
                "state": check.state,
                "run": check.run or None,
                "detail": list(check.detail),
                "remedy": check.remedy if check.state != "ok" else None,
            }
            for check in checks
        ],
        "new_metrics": [{"run": label, "count": count, "some": list(some)} for label, count, some in project.new],
        "runs": [
            {
                "log": str(facts.log),
                "run_id": facts.run_id,
                "display_name": facts.display_name,
                "metrics": metrics,
                "numeric_metrics": facts.numeric,
                "rows": facts.rows,
                "values": facts.points,
                "peak_calls": facts.peak_rows,
                "peak_values": facts.peak_points,
                "mean_calls": facts.mean_rows,
                "mean_values": facts.mean_points,
                "largest_values": {value.name: value.size for value in facts.largest_values},
                "largest_call": facts.largest_row.size,
                "config": facts.config_size,
                "files": facts.files,
                "skipped": facts.skipped,
            }
            for facts, metrics in zip(project.runs, project.metric_counts, strict=True)
        ],
        "unreadable": [{"log": str(log), "reason": reason} for log, reason in unreadable],
    }


def _fail(message: str, status: int = 1) -> int:
    print(f"leet doctor: {message}", file=sys.stderr)
    return status
