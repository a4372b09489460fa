"""Standard output and standard error as every command may rely on: there, never too narrow, and honest when they fail.

Python opens them as the environment says: in ASCII they raise at the first `é`, where the shell closed them (`>&-`)
they are None, and a full disk raises an OSError that looks like one of the log. Here instead

    stdout  a sign that the encoding lacks is written as an escape; what cannot be written raises `OutputFailed`
    stderr  the same escapes; what a terminal would obey is made visible, for lines of errors quote paths and patterns
            as they were typed; what cannot be written is dropped, for there is nobody left to tell
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, TextIO

from leet.model.safe_text import clean

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_STDIN, _STDOUT, _STDERR = 0, 1, 2
_BUFFERED = 1 << 16


class OutputFailed(Exception):  # noqa: N818  an answer to the person, not a fault of the program
    """Standard output takes no more; the text is one line that says why."""


def prepare() -> None:
    """Put such streams in the place of those of this process; streams that somebody else has put there stay."""
    # A log that is opened must not get the number of a stream, to which the program writes later.
    if sys.stdin is None:
        sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(_null(_STDIN, os.O_RDONLY), closefd=False)), "utf-8")
    if sys.stdout is None:
        # Open for reading, so that whoever has something to print is told that it goes nowhere.
        sys.stdout = _output(_null(_STDOUT, os.O_RDONLY), "utf-8", by_lines=False)
    elif sys.__stdout__ is not None and sys.stdout is sys.__stdout__:
        sys.stdout.flush()
        sys.stdout = _output(sys.stdout.fileno(), sys.stdout.encoding, sys.stdout.isatty())
    if sys.stderr is None:
        sys.stderr = _errors(_null(_STDERR, os.O_WRONLY), "utf-8")
    elif sys.__stderr__ is not None and sys.stderr is sys.__stderr__:
        sys.stderr.flush()
        sys.stderr = _errors(sys.stderr.fileno(), sys.stderr.encoding)


def speaks_utf8(environ: Mapping[str, str]) -> bool:
    """Whether the locale is UTF-8. None set at all (a bare container) counts as yes: terminals are.

    Where the locale is not installed, Python itself puts `C.UTF-8` into LC_CTYPE (PEP 538): then LANG tells more,
    if it names a character set.
    """
    given = [environ.get(name, "") for name in ("LC_ALL", "LC_CTYPE", "LANG")]
    if not given[0] and given[1] in ("C.UTF-8", "C.utf8", "UTF-8") and "." in given[2]:
        given[1] = ""
    locale = next((name for name in given if name), "UTF-8")
    return "utf8" in locale.lower().replace("-", "")


def give_up_output() -> None:
    """What is still kept for standard output goes nowhere, so that it raises no second error at the end."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)


def _null(number: int, flags: int) -> int:
    """`os.devnull` under the number of a standard stream."""
    descriptor = os.open(os.devnull, flags)
    if descriptor != number:
        os.dup2(descriptor, number)
        os.close(descriptor)
    return number


def _output(descriptor: int, encoding: str, by_lines: bool) -> TextIO:
    buffered = io.BufferedWriter(_Output(descriptor, "w", closefd=False), _BUFFERED)
    return io.TextIOWrapper(buffered, encoding, "backslashreplace", line_buffering=by_lines)


def _errors(descriptor: int, encoding: str) -> TextIO:
    buffered = io.BufferedWriter(_Errors(descriptor, "w", closefd=False))
    return _Visible(buffered, encoding, "backslashreplace", line_buffering=True)


class _Output(io.FileIO):
    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:  # whoever read has seen enough: no failure
            raise
        except OSError as error:
            raise OutputFailed(f"standard output: {error.strerror or error}") from error


class _Errors(io.FileIO):
    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except OSError:
            return memoryview(data).nbytes


class _Visible(io.TextIOWrapper):
    def write(self, text: str, /) -> int:
        super().write(clean(text, keep_newlines=True))
        return len(text)
