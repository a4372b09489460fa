"""`leet inspect`: every record of a log, or what they come to, as text, JSON, or a list to look through."""

from __future__ import annotations

import argparse
import codecs
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from leet.discovery import Found, NoRun, locate
from leet.model.json_text import dump, escaped
from leet.model.record_object import record_line
from leet.model.record_text import record_text
from leet.output.run_summary import RunSummary
from leet.output.summary_text import summary_text
from leet.reading import records
from leet.reading.blocks import BlockReader, RawRecord, Skipped, UnsupportedLog, check_header
from leet.run_parts import told

_PIECE = 4 * 1024 * 1024
_LONG = 512 * 1024
"""Bytes of a log from which on it is read in bulk."""
_HEADER = 64
_POLL = 0.25
_IDLE = 600.0
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ms|[smhd])")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `leet inspect`."""
    parser.add_argument("path", nargs="?", metavar="PATH", help="a .wandb file, a run directory, or one with wandb/")
    parser.add_argument("--summary", action="store_true", help="state, last values, config and last output instead")
    parser.add_argument("--json", action="store_true", help="one object per record, or one with --summary")
    parser.add_argument("-f", "--follow", action="store_true", help="go on printing records until the run exits")
    parser.add_argument(
        "--idle-timeout",
        type=duration,
        default=_IDLE,
        metavar="D",
        help="with --follow: stop when nothing was written for so long, as in 30s, 10m, 1h; 0 waits for ever (10m)",
    )


Browse = Callable[[Path], int]
"""Shows the records of a log on the terminal; the exit status."""


def main(argv: Sequence[str], prog: str = "leet inspect", browse: Browse | None = None) -> int:
    """The command line of `leet inspect`; the exit status. `browse` takes over where a person looks at the output."""
    parser = argparse.ArgumentParser(prog=prog, description=__doc__, allow_abbrev=False)
    add_arguments(parser)
    return run(parser.parse_args(argv), browse)


def run(args: argparse.Namespace, browse: Browse | None = None) -> int:
    """Print what the arguments ask for; the exit status: 0 fine, 1 no log to read, 2 arguments that do not agree."""
    if args.summary and args.follow:
        return _fail("--summary and --follow exclude each other: leave out one of them", 2)
    try:
        on_screen = browse is not None and not (args.summary or args.json or args.follow) and _on_terminal()
        found = locate(args.path, follow=args.follow or on_screen)
        path = found.log
        if browse is not None and on_screen:
            with open(path, "rb", buffering=0) as file:
                check_header(file.read(_HEADER))
            return browse(path)
        if args.summary:
            _print_summary(found, args.json)
            for more in (told(found.log), found.choice):
                if more:
                    print(f"leet inspect: {more}", file=sys.stderr)
        else:
            _print_records(path, args.json, args.idle_timeout if args.follow else None)
    except (NoRun, UnsupportedLog) as error:
        shown = "" if isinstance(error, NoRun) else f"{found.name}: "
        return _fail(f"{shown}{error}")
    except BrokenPipeError:
        raise
    except OSError as error:
        return _fail(f"{error.filename or args.path}: {error.strerror or error}")
    return 0


def _on_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def duration(text: str) -> float:
    """Seconds of a duration such as `30s`, `1h30m`, `250ms`, or a plain number of seconds."""
    if re.fullmatch(r"\d+(\.\d*)?", text):
        return float(text)
    if not text or _DURATION.sub("", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no duration; write it like 30s, 10m or 1h30m")
    return sum(float(number) * _UNITS[unit] for number, unit in _DURATION.findall(text))


def _print_records(path: Path, as_json: bool, idle: float | None) -> None:
    write = _write_json if as_json else sys.stdout.write
    if as_json and idle is None and os.stat(path).st_size > _LONG:
        from leet.output import bulk_records  # numpy takes longer to load than a short log to print

        for lines, skipped in bulk_records.lines(path):
            for piece in skipped:
                _say_skipped(piece)
            write("".join(lines))
        return
    ordinal = 0
    pieces = _outcomes(path) if idle is None else _follow(path, idle)
    for outcomes in pieces:
        for outcome in outcomes:
            if isinstance(outcome, Skipped):
                _say_skipped(outcome)
                continue
            record = _parsed(outcome)
            if isinstance(record, Skipped):
                _say_skipped(record)
                continue
            ordinal += 1
            write((record_line if as_json else record_text)(ordinal, record) + "\n")
        if idle is not None:
            sys.stdout.flush()
    if not ordinal and not as_json:
        print("leet inspect: no record yet", file=sys.stderr)


def _print_summary(found: Found, as_json: bool) -> None:
    path = found.log
    summary = RunSummary(path)
    summary.path = found.origin or summary.path
    if os.stat(path).st_size > _LONG:
        from leet.output import bulk_summary  # numpy takes longer to load than a short log to read
        from leet.reading.heap import keep_freed

        keep_freed()
        bulk_summary.summarise(path, summary)
    else:
        summarise(path, summary)
    written = os.stat(path).st_mtime_ns
    if as_json:
        _write_json(dump(summary.to_json(written, time.time()), "  ") + "\n")
    else:
        print(summary_text(summary, written, time.time()), end="")


def _write_json(text: str) -> None:
    """Writes JSON in the encoding of standard output, whose own escapes for what it lacks are not those of JSON."""
    encoding = sys.stdout.encoding or "utf-8"
    if not text.isascii() and codecs.lookup(encoding).name != "utf-8":
        text = escaped(text)
    sys.stdout.write(text)


def summarise(path: Path, summary: RunSummary) -> None:
    """Puts all that a log holds into `summary`, record by record."""
    for outcomes in _outcomes(path):
        for outcome in outcomes:
            record = outcome if isinstance(outcome, Skipped) else _parsed(outcome)
            if isinstance(record, Skipped):
                summary.skipped.append(record)
            else:
                summary.add(record)


def _parsed(raw: RawRecord) -> Any:
    """The message of a record, or the range it takes up where protobuf refuses it."""
    try:
        return records.parse(raw.payload)
    except records.DecodeError as error:
        return Skipped(raw.offset, len(raw.payload), f"bad record: {error}")


def _outcomes(path: Path) -> Iterator[list[RawRecord | Skipped]]:
    """What the blocks of a log hold, piece by piece, to the end that it has now."""
    reader = BlockReader()
    with open(path, "rb", buffering=0) as file:
        while data := file.read(_PIECE):
            yield reader.feed(data)
    yield reader.finish()


def _follow(path: Path, idle: float) -> Iterator[list[RawRecord | Skipped]]:
    """The same of a log that grows, until its run exits or nothing has been written for `idle` seconds (0: ever)."""
    reader = BlockReader()
    seen: tuple[int, int, int] | None = None
    exited = False
    while True:
        found = os.stat(path)
        stamp = found.st_ino, found.st_size, found.st_mtime_ns
        if seen is not None and (found.st_ino != seen[0] or found.st_size < reader.position):
            print("leet inspect: the log was replaced or cut short; it is read from its start", file=sys.stderr)
            reader = BlockReader()
        if stamp != seen:
            seen = stamp
            with open(path, "rb", buffering=0) as file:
                file.seek(reader.rewind())
                while data := file.read(_PIECE):
                    outcomes = reader.feed(data)
                    exited = exited or any(_is_exit(outcome) for outcome in outcomes)
                    yield outcomes
        elif exited:
            return
        elif idle and time.time() - found.st_mtime > idle:
            yield reader.finish()
            return
        else:
            time.sleep(_POLL)


def _is_exit(outcome: RawRecord | Skipped) -> bool:
    """Whether a raw record is the last one of a run; looked at closely only where it is short enough."""
    if isinstance(outcome, Skipped) or len(outcome.payload) > 4096:
        return False
    record = _parsed(outcome)
    return not isinstance(record, Skipped) and records.kind(record) == "exit"


def _say_skipped(skipped: Skipped) -> None:
    line = f"skipped {skipped.length} bytes at {skipped.offset}: {skipped.reason}"
    print(f"leet inspect: {line}", file=sys.stderr)


def _fail(message: str, status: int = 1) -> int:
    print(f"leet inspect: {message}", file=sys.stderr)
    return status
