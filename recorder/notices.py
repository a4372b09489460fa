"""What the recorder says to the person who trains: short lines on stderr, each warning once."""

from __future__ import annotations

import contextlib
import sys

PREFIX = "recorder: "

_silent = False
_quiet = False
_said: set[str] = set()


def configure(*, silent: bool, quiet: bool) -> None:
    """`silent`: nothing at all any more; `quiet`: warnings only."""
    global _silent, _quiet
    _silent, _quiet = silent, quiet


def say(line: str) -> None:
    """A line of information."""
    if not _quiet:
        _print(line)


def say_once(line: str, subject: str) -> None:
    """A line of information that is given once for each `subject`."""
    if subject not in _said:
        _said.add(subject)
        say(line)


def warn(line: str) -> None:
    """A warning, every time."""
    _print(f"WARNING {line}")


def warn_once(line: str, subject: str | None = None) -> None:
    """A warning that is given once for each `subject` (by default: for each text)."""
    subject = subject or line
    if subject not in _said:
        _said.add(subject)
        warn(line)


def _print(line: str) -> None:
    if _silent or sys.stderr is None:
        return
    # A closed or broken stderr is no reason for a training to end.
    with contextlib.suppress(OSError, ValueError):
        print(f"{PREFIX}{line}", file=sys.stderr, flush=True)
