"""One ssh, with a POSIX `sh` at its far end that is asked and answers.

    ask ─► the request: shell code, then the answer's frame around it        one line of stdin or several
    answer ◄─ … noise …  LF mark SP header LF  body  LF mark SP end LF

The mark of each request is random and is put together on the far side, so that neither what start-up files print nor
an echo of the request can be taken for an answer, and no byte of a body for its end. A body has any bytes; where its
length is told in the header, it is held against it.

The first connection is made while the terminal is still the user's: ssh asks there for passwords and unknown hosts,
by its own rules. Later ones have no terminal to ask on, and fail where they would have to.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import select
import shlex
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from leet.remote.address import Address
from leet.remote.far_side import FUNCTIONS

PROGRAM = "LEET_SSH"
"""The environment variable that names another ssh, with options if need be."""
SILENCE = 20.0
"""Seconds without a byte of an answer after which a connection counts as lost."""
# Compression takes as much of a processor again as the cipher, and leaves a fifth of a log of scalars and a third of
# any other that was measured: on lines below some hundred megabits a second it pays.
_OPTIONS = (
    *("-T", "-a", "-x", "-C"),
    *("-o", "ClearAllForwardings=yes"),
    *("-o", "RemoteCommand=none"),
)
_QUIET = ("-o", "BatchMode=yes", "-o", "ConnectTimeout=15")
_HOLD = 0.4
"""Seconds for which a line of ssh is held back while it connects: one that it dies of is told in our own words."""
_FAREWELL = 0.3
_READ = 1 << 16
_TOGETHER = 1 << 14
"""Bytes of requests that are sent before their answers are read: what fits into the pipe, or both sides would wait."""


class Lost(Exception):  # noqa: N818  named for what has happened
    """There is no connection, or no longer; one line says why."""

    def __init__(self, reason: str, *, refused: bool = False) -> None:
        """`refused`: the far side wants to know who one is, which cannot be told it now."""
        super().__init__(reason)
        self.refused = refused


class Garbled(Lost):
    """An answer is not what it says of itself."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: the words of its header, and its body."""

    words: tuple[str, ...]
    body: bytes


class Request:
    """Shell code that answers under a mark of its own."""

    def __init__(self, code: Callable[[str], str]) -> None:
        """`code(mark)`: the code, where `mark` is a shell word that stands for the mark of the answer."""
        self.mark = secrets.token_hex(12)
        # In two parts, or an echo would look like an answer.
        self.text = code(f"{self.mark[:12]}''{self.mark[12:]}") + "\n"


class Shell:
    """The far side of one machine. `ask` may be called from any thread; answers come one request after the other."""

    def __init__(self, address: Address, process: subprocess.Popen[bytes]) -> None:
        self.address = address
        self._process = process
        self._lock = threading.Lock()
        self._buffer = bytearray()
        self._said: deque[tuple[float, str]] = deque(maxlen=50)
        self._closed = False
        self._heard: Callable[[int], None] = lambda size: None
        self._listener = threading.Thread(target=self._listen, name=f"ssh {address.host}", daemon=True)
        self._listener.start()

    @classmethod
    def connect(cls, address: Address, *, quiet: bool = False, environ: Mapping[str, str] = os.environ) -> Shell:
        """A shell that has answered. Raises Lost.

        Unless `quiet`, ssh may ask the user, and what it says meanwhile is shown on standard error.
        """
        command = [*ssh_command(environ), *(_QUIET if quiet else ()), *_OPTIONS]
        if address.port is not None:
            command += ["-p", str(address.port)]
        command += ["--", address.login, "exec sh"]
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                # Without a terminal neither ssh nor one that it starts for a jump can ask on the user's.
                start_new_session=quiet,
                env={**environ, "SSH_ASKPASS_REQUIRE": "never"} if quiet else dict(environ),
            )
        except OSError as error:
            raise Lost(f"{command[0]} cannot be started ({error.strerror or error}); install OpenSSH") from error
        shell = cls(address, process)
        try:
            shell._greet(show=not quiet and sys.stderr.isatty(), patience=SILENCE * 2 if quiet else None)
        except BaseException:
            shell.close()
            raise
        return shell

    def ask(self, code: Callable[[str], str]) -> Answer:
        """The answer to one request. Raises Lost."""
        return self.ask_all([code])[0]

    def ask_all(
        self, codes: Sequence[Callable[[str], str]], heard: Callable[[int], None] = lambda size: None
    ) -> list[Answer]:
        """The answers to several requests, which travel together. Raises Lost.

        `heard` is told of every piece that comes, in bytes.
        """
        answers: list[Answer] = []
        requests = [Request(code) for code in codes]
        with self._lock:
            self._heard = heard
            for some in _portions(requests):
                self._send("".join(request.text for request in some))
                answers += [self._receive(request.mark, SILENCE) for request in some]
        return answers

    def close(self) -> None:
        """End the connection; whoever waits for an answer gets Lost."""
        self._closed = True
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        # Other sessions may go through this one: it is asked to end before it is made to.
        for end in (None, self._process.terminate, self._process.kill):
            if end is not None:
                end()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_FAREWELL)
                return

    @property
    def alive(self) -> bool:
        return not self._closed and self._process.poll() is None

    def _greet(self, *, show: bool, patience: float | None) -> None:
        hello = Request(lambda mark: f"{FUNCTIONS}printf '\\n%s hello\\n\\n%s end\\n' {mark} {mark}")
        shown = 0.0
        with self._lock:
            self._send(hello.text)

            def tell() -> None:
                nonlocal shown
                shown = self._show(shown, time.monotonic() - _HOLD)

            self._receive(hello.mark, patience, tell if show else None)
            if show:
                self._show(shown, time.monotonic())

    def _show(self, after: float, before: float) -> float:
        """Print what ssh has said between two moments; the later one."""
        for moment, line in list(self._said):
            if after < moment <= before:
                print(line, file=sys.stderr)
        return before

    def _send(self, text: str) -> None:
        data = memoryview(text.encode("utf-8", "surrogateescape"))
        assert self._process.stdin is not None
        try:
            while data:
                data = data[self._process.stdin.write(data) :]
        except (OSError, ValueError) as error:
            raise self._lost() from error

    def _receive(self, mark: str, patience: float | None, meanwhile: Callable[[], None] | None = None) -> Answer:
        """The answer under `mark`; `patience`: seconds without a byte, None: as long as it takes."""
        begin, end = f"\n{mark} ".encode(), f"\n{mark} end\n".encode()
        buffer = self._buffer
        while (at := buffer.find(begin)) < 0 or (header := buffer.find(b"\n", at + len(begin))) < 0:
            del buffer[: at if at >= 0 else max(0, len(buffer) - len(begin))]
            buffer += self._more(patience, meanwhile)
        words = tuple(buffer[at + len(begin) : header].decode("ascii", "replace").split())
        start = header
        while (stop := buffer.find(end, start)) < 0:
            start = max(header, len(buffer) - len(end))
            buffer += self._more(patience, meanwhile)
        body = bytes(buffer[header + 1 : stop])
        del buffer[: stop + len(end)]
        return Answer(words, body)

    def _more(self, patience: float | None, meanwhile: Callable[[], None] | None) -> bytes:
        assert self._process.stdout is not None
        deadline = None if patience is None else time.monotonic() + patience
        while not self._closed:
            try:
                ready, _, _ = select.select([self._process.stdout], [], [], 0.1)
                data = os.read(self._process.stdout.fileno(), _READ) if ready else b""
            except (OSError, ValueError):
                break
            if data:
                self._heard(len(data))
                return data
            if ready:
                break
            if meanwhile is not None:
                meanwhile()
            if deadline is not None and time.monotonic() > deadline:
                raise Lost(f"no answer for {patience:.0f} s")
        raise self._lost()

    def _lost(self) -> Lost:
        """Why ssh has ended, in its own last words."""
        if self._closed:
            return Lost("closed")
        try:
            status = self._process.wait(2.0)
        except subprocess.TimeoutExpired:
            status = None
        self._listener.join(0.5)
        lines = [line for _, line in self._said]
        return explain(lines, status)

    def _listen(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            if text := line.decode("utf-8", "replace").strip():
                self._said.append((time.monotonic(), text))


_REFUSED = re.compile(r"permission denied|host key verification failed|too many authentication|no supported auth", re.I)


def _portions(requests: Sequence[Request]) -> Iterator[list[Request]]:
    """The same in portions of at most about `_TOGETHER` bytes."""
    portion: list[Request] = []
    for request in requests:
        if portion and sum(len(other.text) for other in portion) + len(request.text) > _TOGETHER:
            yield portion
            portion = []
        portion.append(request)
    if portion:
        yield portion


def explain(lines: Sequence[str], status: int | None) -> Lost:
    """Why ssh ended, from what it wrote."""
    telling = [line for line in lines if not line.startswith(("Warning: Permanently added", "debug1:", "** WARNING"))]
    for line in reversed(telling):
        if _REFUSED.search(line):
            return Lost(line.removeprefix("ssh: "), refused=True)
    if telling:
        return Lost(telling[-1].removeprefix("ssh: "))
    if status == 127:
        return Lost("there is no POSIX shell (sh) on the far side")
    return Lost(
        "the connection was closed" if status is None else f"the connection was closed (ssh ended with {status})"
    )


def ssh_command(environ: Mapping[str, str] = os.environ) -> list[str]:
    """The ssh to use: what $LEET_SSH says, else `ssh`."""
    try:
        words = shlex.split(environ.get(PROGRAM, ""))
    except ValueError as error:
        raise Lost(f"${PROGRAM}: {error}") from error
    return words or ["ssh"]
