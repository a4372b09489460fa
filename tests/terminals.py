"""A real terminal for whole-program tests: a pseudo-terminal with a screen behind it."""

from __future__ import annotations

import codecs
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
from pathlib import Path
from types import TracebackType

import pyte

ROOT = Path(__file__).parents[1]
ANSWERS = {
    b"\x1b[c": b"\x1b[?62;22c",
    b"\x1b[6n": b"\x1b[1;1R",
    b"\x1b[?2026$p": b"\x1b[?2026;2$y",
    b"\x1b[?u": b"\x1b[?0u",
}
"""What a terminal says when it is asked what it can."""
NOT_FOR_PYTE = re.compile(
    r"\x1b\[[<>=?][0-9;:]*[$]?[a-gi-km-zA-Z]|\x1b\[[0-9;]*[$ ][a-zA-Z]|\x1b[_P^\]][^\x1b\x07]*(?:\x1b\\|\x07)"
)


class PseudoTerminal:
    """`program` running under a pseudo-terminal of its own; `text` is what a person would see."""

    def __init__(self, *program: str, size: tuple[int, int] = (120, 40), **environ: str) -> None:
        self.columns, self.rows = size
        self.raw = bytearray()
        """Every byte that the program wrote."""
        self.screen = pyte.Screen(self.columns, self.rows)
        self._stream = pyte.Stream(self.screen)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""
        kept = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "LC_ALL", "LC_CTYPE", "COLORTERM")}
        self._environ = {
            **kept,
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(ROOT),
            **environ,
        }
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvpe(program[0], list(program), self._environ)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", self.rows, self.columns, 0, 0))
        self.status: int | None = None

    def __enter__(self) -> PseudoTerminal:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.status is None and not self._reap():
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)

    @property
    def text(self) -> str:
        return "\n".join(line.rstrip() for line in self.screen.display)

    def send(self, text: str) -> None:
        os.write(self.fd, text.encode())

    def pump(self, seconds: float) -> bool:
        """Take in what comes, for at most `seconds`; False once the program has closed the terminal."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.fd, 1 << 16)
        except OSError:
            return False
        self.raw += data
        for question, answer in ANSWERS.items():
            if question in data:
                os.write(self.fd, answer)
        text = self._held + self._decoder.decode(data)
        # A sequence may be cut in two by the end of a read.
        cut = text.rfind("\x1b")
        whole = cut < 0 or len(text) - cut > 200 or re.match(r"\x1b(\[[0-9;:<=>?$ ]*[@-~]|[^\[\]P_^])", text[cut:])
        self._held = "" if whole else text[cut:]
        self._stream.feed(NOT_FOR_PYTE.sub("", text if whole else text[:cut]))
        return True

    def until(self, pattern: str, seconds: float = 60.0) -> str:
        """Wait until the screen shows `pattern`; the screen."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if re.search(pattern, self.text):
                return self.text
            if not self.pump(0.1):
                break
        raise AssertionError(f"{pattern!r} did not appear on\n{self.text}")

    def until_written(self, wanted: bytes, since: int, seconds: float = 60.0) -> None:
        """Wait until the program has written `wanted`, which no screen shows, behind the first `since` bytes."""
        deadline = time.monotonic() + seconds
        while wanted not in self.raw[since:]:
            if time.monotonic() > deadline or not self.pump(0.1):
                raise AssertionError(f"{wanted!r} was not written; the screen is\n{self.text}")

    def type(self, text: str, pattern: str) -> str:
        """Type and wait for what it does."""
        self.send(text)
        return self.until(pattern)

    def end(self, seconds: float = 30.0) -> int:
        """Wait for the program to end; its exit status."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.pump(0.05)
            if self._reap():
                while self.pump(0.05) and select.select([self.fd], [], [], 0.05)[0]:
                    pass
                assert self.status is not None
                return self.status
        raise AssertionError(f"still running with\n{self.text}")

    def modes(self) -> set[str]:
        """Private modes (mouse, paste, alternate screen) that were switched on and not off again."""
        on: set[str] = set()
        for numbers, letter in re.findall(rb"\x1b\[\?([0-9;]+)([hl])", bytes(self.raw)):
            for number in numbers.decode().split(";"):
                (on.add if letter == b"h" else on.discard)(number)
        return on

    def _reap(self) -> bool:
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid:
            self.status = os.waitstatus_to_exitcode(status)
        return bool(pid)


def viewer(*arguments: str, size: tuple[int, int] = (120, 40), **environ: str) -> PseudoTerminal:
    """`leet ARGUMENTS` in a terminal."""
    return PseudoTerminal(sys.executable, "-m", "leet", *arguments, size=size, **environ)
