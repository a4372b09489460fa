"""Run a terminal program under a pseudo-terminal and measure it the way a person meets it.

The screen is kept by pyte, a real terminal emulator, so "the program shows X" means that X can be read there.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import psutil
import pyte

ANSWERS = {
    b"\x1b[c": b"\x1b[?62;22c",
    b"\x1b[0c": b"\x1b[?62;22c",
    b"\x1b[6n": b"\x1b[1;1R",
    b"\x1b]10;?": b"\x1b]10;rgb:ffff/ffff/ffff\x1b\\",
    b"\x1b]11;?": b"\x1b]11;rgb:0000/0000/0000\x1b\\",
    b"\x1b[?2026$p": b"\x1b[?2026;2$y",
    b"\x1b[?u": b"\x1b[?0u",
}
"""What programs ask a terminal at start, and what a common one answers."""


@dataclass(slots=True)
class Measurement:
    """Times in seconds since the start, memory in MiB over the process tree; None where it never came to that."""

    first: float | None = None
    """Until the first screen with more than three words."""
    until: float | None = None
    """Until the screen matched the expression."""
    sent: int = 0
    """Bytes written to the terminal in all."""
    sent_after: int = 0
    """… and after the match."""
    cpu: float = 0.0
    cpu_after: float = 0.0
    peak_memory: float = 0.0
    code: int | None = None
    screen: str = ""
    key_times: list[float] = field(default_factory=list)
    """For every key typed: seconds until the program wrote something."""


class Terminal:
    """One program in one pseudo-terminal."""

    def __init__(
        self, command: Sequence[str], size: tuple[int, int] = (200, 50), env: Mapping[str, str] | None = None
    ) -> None:
        columns, rows = size
        self.started = time.monotonic()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            terminal = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
            os.execvpe(command[0], list(command), {**(os.environ if env is None else env), **terminal})
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.set_blocking(self.fd, False)
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self._root = psutil.Process(self.pid)
        self._spent: dict[int, float] = {}
        self._held = b""
        self.sent = 0
        self.peak_memory = 0.0
        self.ended = False

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self.started

    def text(self) -> str:
        return "\n".join(line.rstrip() for line in self._screen.display)

    def type(self, keys: str) -> None:
        os.write(self.fd, keys.encode())

    def pump(self, seconds: float) -> int:
        """Let the program run for at most `seconds`, or until it has written something; the bytes it wrote."""
        ready, _, _ = select.select([self.fd], [], [], seconds)
        if not ready:
            return 0
        try:
            data = os.read(self.fd, 1 << 17)
        except BlockingIOError:
            return 0
        except OSError:
            data = b""
        if not data:
            self.ended = True
            return 0
        self.sent += len(data)
        for question, answer in ANSWERS.items():
            if question in data:
                os.write(self.fd, answer)
        self._stream.feed(self._plain(data))
        return len(data)

    def until_bytes(self, text: bytes, timeout: float) -> float:
        """Seconds since the start until the program has written `text`; emulating the screen would cost time too."""
        seen = b""
        while text not in seen:
            if self.elapsed > timeout or self.ended:
                raise TimeoutError(f"{text!r} was not written within {timeout:g} s")
            if select.select([self.fd], [], [], 0.5)[0]:
                data = os.read(self.fd, 1 << 17)
                for question, answer in ANSWERS.items():
                    if question in data:
                        os.write(self.fd, answer)
                seen += data
        return self.elapsed

    def sample(self) -> float:
        """CPU seconds of the process tree so far; notes its memory on the way."""
        memory = 0
        try:
            for process in [self._root, *self._root.children(recursive=True)]:
                memory += process.memory_info().rss
                times = process.cpu_times()
                self._spent[process.pid] = times.user + times.system
        except psutil.Error:
            pass
        self.peak_memory = max(self.peak_memory, memory / 2**20)
        return sum(self._spent.values())

    def close(self, keys: str = "q") -> int | None:
        """Ask the program to quit by typing `keys`; its exit code, or None if it had to be killed."""
        with contextlib.suppress(OSError):
            self.type(keys)
        deadline = time.monotonic() + 5
        code: int | None = None
        while time.monotonic() < deadline:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                code = os.waitstatus_to_exitcode(status)
                break
            self.pump(0.05)
        else:
            for process in [*self._root.children(recursive=True), self._root]:
                process.send_signal(signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)
        return code

    def _plain(self, data: bytes) -> bytes:
        """Spell out or drop what pyte does not know: repeats, absolute columns, private modes and strings."""
        data = self._held + data
        cut = data.rfind(b"\x1b")
        self._held = b""
        if cut >= 0 and len(data) - cut < 24 and not re.match(rb"\x1b(\[[0-9;:<=>?$]*[@-~]|[^\[\]P_^])", data[cut:]):
            self._held, data = data[cut:], data[:cut]
        data = re.sub(rb"\x1b\[(\d*)I", lambda m: b"\t" * int(m[1] or 1), data)
        data = re.sub(rb"([ -~])((?:\x1b\[[0-9;:]*m)*)\x1b\[(\d+)b", lambda m: m[1] + m[2] + m[1] * int(m[3]), data)
        data = re.sub(rb"\x1b\[(\d*)`", lambda m: b"\x1b[" + m[1] + b"G", data)
        return re.sub(
            rb"\x1b\[[<>=?][0-9;:]*[$]?[a-zA-Z]|\x1b\[[0-9;]*[$ ][a-zA-Z]|\x1b[_P^\]][^\x1b\x07]*(?:\x1b\\|\x07)",
            lambda m: m[0] if re.fullmatch(rb"\x1b\[\?[0-9;]+[hl]", m[0]) else b"",
            data,
        )


def measure(
    command: Sequence[str],
    until: str,
    *,
    size: tuple[int, int] = (200, 50),
    timeout: float = 120.0,
    after: float = 0.0,
    keys: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
    quit_keys: str = "q",
) -> Measurement:
    """Run `command` until its screen matches `until`, type `keys`, watch it for `after` seconds, and quit it."""
    terminal = Terminal(command, size, env)
    found = Measurement()
    pattern = re.compile(until)
    sampled = 0.0
    while not terminal.ended and terminal.elapsed < timeout and found.until is None:
        terminal.pump(0.02)
        if terminal.elapsed - sampled > 0.05:
            terminal.sample()
            sampled = terminal.elapsed
            text = terminal.text()
            if found.first is None and len(text.split()) > 3:
                found.first = terminal.elapsed
            if pattern.search(text):
                found.until = terminal.elapsed
    cpu, sent = terminal.sample(), terminal.sent
    for key in keys:
        while terminal.pump(0.15):
            pass
        typed = time.monotonic()
        terminal.type(key)
        while not terminal.pump(0.5) and time.monotonic() - typed < 2:
            pass
        found.key_times.append(time.monotonic() - typed)
    end = terminal.elapsed + after
    while not terminal.ended and terminal.elapsed < end:
        terminal.pump(min(0.05, max(0.0, end - terminal.elapsed)))
        if terminal.elapsed - sampled > 0.25:
            terminal.sample()
            sampled = terminal.elapsed
    found.cpu = terminal.sample()
    found.cpu_after = found.cpu - cpu
    found.sent, found.sent_after = terminal.sent, terminal.sent - sent
    found.peak_memory, found.screen = terminal.peak_memory, terminal.text()
    found.code = terminal.close(quit_keys)
    return found
