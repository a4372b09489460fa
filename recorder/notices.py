"""What the recorder says to the person who trains: short lines on stderr, each warning once."""

from __future__ import annotations

import contextlib
import re
import sys
import threading

PREFIX = "recorder: "

_silent = False
_quiet = False
_said: set[str] = set()
_line_end = "\n"
_last: tuple[str, str] = ("", "")
_speaking = threading.local()


def speaking() -> bool:
    """Whether what this thread writes just now is said by us, and no output of the program."""
    return getattr(_speaking, "now", False)


def configure(*, silent: bool, quiet: bool) -> None:
    """`silent`: nothing at all any more; `quiet`: warnings only."""
    global _silent, _quiet
    _silent, _quiet = silent, quiet


def end_lines_with(line_end: str) -> None:
    """A terminal in raw mode needs a carriage return too."""
    global _line_end
    _line_end = line_end


def saw(stream: str, text: str) -> None:
    """Tells what somebody else has just written to `stdout` or `stderr`, and maybe without ending the line."""
    global _last
    _last = stream, text[-80:]


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


def reason(error: BaseException) -> str:
    """What an error says, in one line: its kind where it says nothing."""
    if isinstance(error, RecursionError):
        return "it contains itself, or is too deep"
    try:
        said = " ".join(str(error).split())
    except Exception:  # any class may define it as it likes
        said = ""
    return said[:200] or type(error).__name__


def _print(line: str) -> None:
    global _last
    if _silent or sys.stderr is None:
        return
    # A closed or broken stderr is no reason for a training to end.
    with contextlib.suppress(OSError, ValueError):
        begin = _line_end if _is_in_a_line() else ""
        _last = ("", "")
        _speaking.now = True
        try:
            print(f"{begin}{PREFIX}{line}", file=sys.stderr, end=_line_end, flush=True)
        finally:
            _speaking.now = False


def _is_in_a_line() -> bool:
    """Whether a progress bar, say, stands where the next line would begin."""
    stream, text = _last
    rest = re.sub(r"(\x1b\[[0-9;?]*[A-Za-z])+$", "", text)
    written = getattr(sys, stream) if stream else None
    return bool(rest) and rest[-1] != "\n" and written is not None and written.isatty() and sys.stderr.isatty()
