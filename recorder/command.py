"""`leet record`: a run without a line of code, from the machine and from what a command prints."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shlex
import signal
import sys
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from recorder import notices

if TYPE_CHECKING:
    from recorder.run import Run
    from recorder.sampled import SampledRun

_FIRST = 3.0
"""Seconds that a command which ends at once is followed by, at most, until the machine was looked at."""

_LONGEST = 1e9
"""Seconds that a clock can wait for; 31 years are for ever."""

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def main(argv: Sequence[str] | None = None, prog: str = "leet record") -> int:
    """The command line; the exit status is that of COMMAND."""
    parser = argparse.ArgumentParser(
        prog=prog,
        usage=f"{prog} [OPTIONS] [-- COMMAND …]",
        description="Record system metrics of this machine as a run, and what COMMAND prints and how it ends.",
        epilog="Without COMMAND it records until ctrl+c, or for as long as --for says.",
        allow_abbrev=False,
    )
    add_arguments(parser)
    given = list(sys.argv[1:] if argv is None else argv)
    args = parser.parse_args(given)
    if given[-1:] == ["--"] and args.command in ([], ["--"]):
        parser.error("there is no COMMAND after --")
    return run(args)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options and COMMAND."""
    add = parser.add_argument
    add("--interval", type=_interval, metavar="S", help="seconds between two samples of the system metrics (15)")
    add("--name", metavar="N", help="the name under which the run is shown")
    add("--project", metavar="P", help="the project that it belongs to")
    add("--tags", type=_tags, metavar="a,b", help="its tags")
    add("--dir", metavar="D", help="the directory in which wandb/ is made (here)")
    add("--disk-path", action="append", metavar="P", help="a path whose disk is measured; may be repeated (/)")
    add("--for", dest="duration", type=_duration, metavar="DURATION", help="end after so long: 90, 30s, 5m, 1h30m")
    add("--list-sources", action="store_true", help="say what can be measured on this machine, and leave")
    add("command", nargs=argparse.REMAINDER, metavar="COMMAND", help="what to run, with its arguments")


def keep_samples(name: str, directory: str, interval: float) -> SampledRun:
    """A run for the samples of a monitor; see `SampledRun`. Raises OSError, with one line for people."""
    from recorder.errors import Error
    from recorder.sampled import SampledRun

    if not os.path.isdir(directory):
        raise OSError(f"{directory} is no directory")
    try:
        return SampledRun(name, directory, interval)
    except Error as error:
        raise OSError(str(error)) from error


def run(args: argparse.Namespace) -> int:
    """Does what was asked for; the exit status is that of COMMAND, 127 when it is not found."""
    command = list(args.command)
    if command[:1] == ["--"]:
        del command[0]
    if args.list_sources:
        return _list_sources()
    from recorder.child import open_standard_streams
    from recorder.errors import UsageError
    from recorder.settings import Settings, gather

    try:
        settings = gather(Settings(**_settings(args)))
        if not command:
            _mark(settings)
    except UsageError as error:
        _fail(str(error))
        return 2
    open_standard_streams()
    # What the person or a script reads on stderr is COMMAND's alone, unless it is a screen.
    told = os.isatty(2) or not command
    notices.configure(silent=settings.silent, quiet=settings.quiet or not told)
    if settings.mode == "disabled":
        notices.say("the mode is disabled (WANDB_MODE), so nothing is recorded")
        if not command:
            return 0
    else:
        settings.mode = "offline"
    return _run_command(command, settings, args.duration) if command else _record(settings, args.duration)


def _settings(args: argparse.Namespace) -> dict[str, Any]:
    return {
        "console": "off",  # ours says nothing; the command's is recorded on its way through
        "x_save_requirements": False,
        "x_stats_sampling_interval": args.interval,
        "run_name": args.name,
        "project": args.project,
        "run_tags": args.tags,
        "root_dir": args.dir,
        "x_stats_disk_paths": args.disk_path,
    }


def _mark(settings: Any) -> None:
    """Let a run of the machine alone be known as one, as far as nobody has said what it shall be called."""
    from recorder.run_directory import of_machine

    for name, value in of_machine().items():
        if name == "symlink" or not getattr(settings, name):
            setattr(settings, name, value)


def _run_command(command: list[str], settings: Any, duration: float | None) -> int:
    from recorder.child import CannotStart, Child
    from recorder.starting import AROUND

    os.environ[AROUND] = str(os.getpid())
    try:
        child = Child(command)
    except CannotStart as error:
        _fail(str(error))
        return error.status
    # The command runs, whatever becomes of its recording.
    try:
        recorded = _begin(command, settings, child.pid)
    except Exception as error:  # a broken installation, no more memory or files: said, and the command goes on
        notices.warn(f"nothing is recorded: {notices.reason(error)}")
        return child.wait(notices.saw, duration)
    code = child.wait(recorded._print, duration)
    recorded.finish(code)
    return code


def _begin(command: list[str], settings: Any, pid: int) -> Run:
    """The run of a started command."""
    from recorder.starting import start

    settings.x_stats_pid = pid
    settings.x_stats_track_process_tree = True
    if settings.run_name is None:
        settings.run_name = shlex.join(command)[:128]
    facts = {"program": command[0], "args": command[1:], "executable": None, "python": None, "code_path_local": None}
    return start(settings, {"command": command}, facts=facts, wait_for_first=_FIRST)


def _fail(reason: str) -> None:
    if sys.stderr is not None:
        print(f"leet record: {reason}", file=sys.stderr)


def _record(settings: Any, duration: float | None) -> int:
    """Records the machine alone. ctrl+c is how it usually ends, so that is no failure."""
    from recorder.starting import start

    over = threading.Event()
    ended_by: list[int] = []

    def end(number: int, frame: object) -> None:
        ended_by.append(number)
        over.set()
        signal.signal(number, signal.SIG_DFL)  # a second one ends it at once

    ends = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup
        ends.append(signal.SIGHUP)
    before = {number: signal.signal(number, end) for number in ends}
    recorded = start(settings, {}, wait_for_first=_FIRST)
    notices.say("ctrl+c ends it" if duration is None else f"it ends after {_spelled(duration)}, or with ctrl+c")
    over.wait(duration)
    code = 128 + ended_by[0] if ended_by and ended_by[0] != signal.SIGINT else 0
    recorded.finish(code)
    for number, handler in before.items():
        signal.signal(number, handler)
    return code


def _list_sources() -> int:
    from recorder.system.monitor import find_sources
    from recorder.system.source import NotHere, SystemSettings

    for name, source in find_sources(SystemSettings()):
        if isinstance(source, NotHere):
            print(f"{name:<12} not found: {source}")
        else:
            print(f"{name:<12} found: {source.describe()}")
            with contextlib.suppress(Exception):  # whatever a driver says at the end, the answer is given
                source.close()
    return 0


def _interval(text: str) -> float:
    seconds = _duration(text)
    if seconds < 0.1:
        raise argparse.ArgumentTypeError(f"{text!r} is too short; samples are at least 0.1 s apart")
    return seconds


def _duration(text: str) -> float:
    """Seconds in `90`, `30s`, `5m`, `1h30m`."""
    parts = re.findall(r"(\d+(?:\.\d*)?)([smhd]?)", text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise argparse.ArgumentTypeError(f"{text!r} is no duration; write it like 90, 30s, 5m or 1h30m")
    return min(sum(float(number) * _UNITS[unit] for number, unit in parts), _LONGEST)


def _spelled(seconds: float) -> str:
    """`1 h 30 min` for 5400."""
    words = []
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        count, seconds = divmod(seconds, size)
        if count:
            words.append(f"{count:.0f} {unit}")
    if seconds or not words:
        words.append(f"{seconds:g} s")
    return " ".join(words)


def _tags(text: str) -> tuple[str, ...]:
    tags = tuple(part.strip() for part in text.split(",") if part.strip())
    if not tags or any(len(tag) > 64 for tag in tags):
        raise argparse.ArgumentTypeError(f"{text!r}: give tags of 1 to 64 characters, with commas between them")
    return tags
