"""A command run for somebody: its output passes through untouched and is heard on the way, signals reach it.

Where stdout is a terminal the command gets a pseudo-terminal, so that it behaves as it would without us: colours,
progress bars, line editing, window size. Everywhere else stdout and stderr are two pipes and stay apart.

           keys ─▶ stdin ─▶ pty ─▶ COMMAND          in raw mode, so that ctrl+c is the command's to handle
    screen ◀─ stdout ◀─ pty ◀─ COMMAND
                     └─▶ listener

ctrl+z: the kernel stops nobody who has no parent in his session, and COMMAND is alone in the one of its
pseudo-terminal. So we stop it ourselves, then us, and go on with it when the shell goes on with us.
"""

from __future__ import annotations

import codecs
import contextlib
import errno
import os
import selectors
import signal
import subprocess
import termios
import time
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

from recorder.child_terminal import ForegroundTerminal, copy_window_size, take_terminal

Listener = Callable[[str, str], None]
"""Takes the name of the stream (`stdout`, `stderr`) and the text that came from it."""

FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)

_CHUNK = 64 * 1024
_GRACE = 0.2
"""Seconds of silence after which the output of a command that has ended counts as complete: a process that it left
in the background may keep the pipe open for ever."""

_LONGEST_WAIT = 3600.0
"""Seconds that a selector waits at most; it cannot count for months."""

_TIDY_UP = 0.05
"""Seconds that a command has for what it does before it is stopped, such as to leave a full screen."""

_KILL_AFTER = 10.0
"""Seconds between asking a command to end (its time is up) and ending it."""


class CannotStart(Exception):  # noqa: N818  said in one line, with an exit status
    """The command cannot be started; `status` is what a shell would exit with."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class Child:
    """A started command. `wait` passes its output through until it ends.

    Raises CannotStart when there is no such command.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self._streams: dict[int, _Stream] = {}
        self._master: int | None = None
        self._terminal = ForegroundTerminal()
        self._deadline: float | None = None
        self._asked = False
        self._handlers: dict[int, Any] = {}
        try:
            self._selector = selectors.DefaultSelector()
            self._wake_reader, self._wake_writer = os.pipe()
        except OSError as error:
            raise CannotStart(_why_not(command, error), 126) from None
        self._keys: int | None = None
        """Where keys are read from, while they are."""
        for end in (self._wake_reader, self._wake_writer):
            os.set_blocking(end, False)
        # From here on a signal is the command's, and none gets lost between its start and its end.
        self._pending: list[int] = []
        self._process: subprocess.Popen[bytes] | None = None
        for number in FORWARDED:
            if signal.getsignal(number) is not signal.SIG_IGN:  # nohup
                self._handlers[number] = signal.signal(number, self._forward)
        self._wakeup_before = signal.set_wakeup_fd(self._wake_writer, warn_on_full_buffer=False)
        self._handlers[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, lambda number, frame: None)
        try:
            self._process = self._start(command)
        except OSError as error:
            self._give_back()
            raise CannotStart(_why_not(command, error), 127 if _is_missing(command, error) else 126) from None
        for early in self._pending:
            self._send(early)

    @property
    def pid(self) -> int:
        """Its process id."""
        assert self._process is not None
        return self._process.pid

    def wait(self, listener: Listener, limit: float | None = None) -> int:
        """Passes the output through, and to the listener, until the command ends.

        After `limit` seconds the command is asked to end, and ten seconds later it is killed.
        The answer is its exit code, 128 + n when signal n ended it.
        """
        assert self._process is not None
        if limit is not None:
            self._deadline = time.monotonic() + limit
        try:
            self._terminal.enter_raw_mode(self._master is not None)
            self._pump(listener)
            code = self._process.wait()
        finally:
            self._give_back()
        return 128 - code if code < 0 else code

    def _start(self, command: Sequence[str]) -> subprocess.Popen[bytes]:
        if not os.isatty(1):
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, process_group=0)
            assert process.stdout is not None
            assert process.stderr is not None
            self._listen(process.stdout.fileno(), 1, "stdout")
            self._listen(process.stderr.fileno(), 2, "stderr")
            self._terminal.lend_to(process.pid)
            return process
        self._master, slave = os.openpty()
        try:
            copy_window_size(1, slave)
            # Line settings as the person has them, not those of a fresh pseudo-terminal.
            with contextlib.suppress(termios.error):
                termios.tcsetattr(slave, termios.TCSANOW, termios.tcgetattr(1))
            process = subprocess.Popen(
                command,
                stdin=slave if os.isatty(0) else None,
                stdout=slave,
                stderr=slave if os.isatty(2) else subprocess.PIPE,
                start_new_session=True,
                preexec_fn=take_terminal,
            )
        finally:
            os.close(slave)
        self._listen(self._master, 1, "stdout")
        if process.stderr is not None:
            self._listen(process.stderr.fileno(), 2, "stderr")
        self._handlers[signal.SIGWINCH] = signal.signal(signal.SIGWINCH, self._resize)
        self._handlers[signal.SIGCONT] = signal.signal(signal.SIGCONT, lambda number, frame: None)
        return process

    def _listen(self, source: int, target: int, name: str) -> None:
        self._streams[source] = _Stream(source, target, name)

    def _pump(self, listener: Listener) -> None:
        """Moves bytes until the command has ended and has nothing more to say."""
        assert self._process is not None
        with self._selector as selector:
            for source in (self._wake_reader, *self._streams):
                selector.register(source, selectors.EVENT_READ)
            self._listen_to_keys()
            quiet_since: float | None = None
            while True:
                ended = self._process.poll() is not None
                if ended:
                    if not self._streams:
                        return
                    quiet_since = quiet_since or time.monotonic()
                    if time.monotonic() - quiet_since > _GRACE:
                        return
                elif self._terminal.lent:
                    self._follow_stop()
                for key, _ in selector.select(0.05 if ended else self._patience()):
                    if key.fd == self._wake_reader:
                        with contextlib.suppress(BlockingIOError):
                            os.read(self._wake_reader, _CHUNK)
                        self._listen_to_keys()
                    elif key.fd == self._keys:
                        self._pass_keys(key.fd)
                    else:
                        quiet_since = None
                        if not self._streams[key.fd].pass_on(listener):
                            selector.unregister(key.fd)
                            self._streams.pop(key.fd).close()
                            if key.fd == self._master:
                                self._master = None

    def _patience(self) -> float | None:
        """How long to wait for something to happen; asks a command to end whose time is up."""
        if self._deadline is None:
            return None
        left = self._deadline - time.monotonic()
        if left > 0:
            return min(left, _LONGEST_WAIT)
        self._send(signal.SIGKILL if self._asked else signal.SIGTERM)
        self._asked = True
        self._deadline = time.monotonic() + _KILL_AFTER
        return _KILL_AFTER

    def _listen_to_keys(self) -> None:
        """Takes the keys while we are in the foreground: to read them elsewhere would stop us."""
        if self._master is None:
            return
        self._terminal.enter_raw_mode(True)
        wanted = self._terminal.fd if self._terminal.raw else None
        if wanted != self._keys:
            if self._keys is not None:
                self._selector.unregister(self._keys)
            if wanted is not None:
                self._selector.register(wanted, selectors.EVENT_READ)
            self._keys = wanted

    def _pass_keys(self, keys: int) -> None:
        data = os.read(keys, _CHUNK)
        if not data:
            self._selector.unregister(keys)
            self._keys = None
        if data and self._master is not None:
            with contextlib.suppress(OSError):
                _write_all(self._master, data)
            if self._asks_to_stop(data):
                self._stop_and_go_on()

    def _asks_to_stop(self, data: bytes) -> bool:
        """Whether keys hold a ctrl+z that is meant for the command itself, and not for a job of a shell that it is."""
        assert self._process is not None
        assert self._master is not None
        try:
            settings = termios.tcgetattr(self._master)
            in_front = os.tcgetpgrp(self._master)
        except (OSError, termios.error):
            return False
        key: bytes = settings[6][termios.VSUSP]
        return bool(settings[3] & termios.ISIG) and key != b"\0" and key in data and in_front == self._process.pid

    def _stop_and_go_on(self) -> None:
        """Stops the command and then our whole job, for the shell to notice; goes on with it when the shell does.

        Where there is no shell that could, we are not stopped either, and nothing has happened.
        """
        time.sleep(_TIDY_UP)
        self._send(signal.SIGSTOP)
        self._terminal.restore()
        self._listen_to_nothing()
        os.killpg(0, signal.SIGTSTP)
        self._listen_to_keys()
        if self._master is not None:
            copy_window_size(1, self._master)
        self._send(signal.SIGCONT)

    def _listen_to_nothing(self) -> None:
        if self._keys is not None:
            self._selector.unregister(self._keys)
            self._keys = None

    def _forward(self, number: int, frame: FrameType | None) -> None:
        if self._process is None:
            self._pending.append(number)
        else:
            self._send(number)

    def _send(self, number: int) -> None:
        assert self._process is not None
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)

    def _resize(self, number: int, frame: FrameType | None) -> None:
        if self._master is not None:
            copy_window_size(1, self._master)

    def _follow_stop(self) -> None:
        """ctrl+z stops the command: so does our whole job (a pipeline), for the shell to notice; we go on with it."""
        assert self._process is not None
        with contextlib.suppress(ChildProcessError):
            answer = os.waitid(os.P_PID, self._process.pid, os.WSTOPPED | os.WNOHANG)
            if answer is not None:
                self._terminal.take_back()
                os.killpg(0, signal.SIGSTOP)
                self._terminal.lend_to(self._process.pid)
                self._send(signal.SIGCONT)

    def _give_back(self) -> None:
        """Terminal, signals and descriptors are as they were before."""
        self._terminal.restore()
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        self._handlers = {}
        signal.set_wakeup_fd(self._wakeup_before)
        for stream in self._streams.values():
            stream.close()
        self._streams = {}
        self._selector.close()
        os.close(self._wake_reader)
        os.close(self._wake_writer)


class _Stream:
    """One stream of the command, on its way to one of ours."""

    def __init__(self, source: int, target: int, name: str) -> None:
        self._source = source
        self._target = target
        self._name = name
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def pass_on(self, listener: Listener) -> bool:
        """Passes on what has come; False when nothing more will come, or nobody takes it any more."""
        try:
            data = os.read(self._source, _CHUNK)
        except OSError as error:
            if error.errno != errno.EIO:  # how Linux says that nobody holds the pseudo-terminal any more
                raise
            data = b""
        text = self._decoder.decode(data, final=not data)
        if text:
            listener(self._name, text)
        try:
            _write_all(self._target, data)
        except OSError:
            return False  # the command gets SIGPIPE, as it would without us
        return bool(data)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            os.close(self._source)


def open_standard_streams() -> None:
    """Opens what is closed of stdin, stdout and stderr as /dev/null: no file of ours may get their numbers."""
    while True:
        null = os.open(os.devnull, os.O_RDWR)
        if null > 2:
            os.close(null)
            return
        os.set_inheritable(null, True)


def _is_missing(command: Sequence[str], error: OSError) -> bool:
    return isinstance(error, FileNotFoundError) or not command[0]


def _why_not(command: Sequence[str], error: OSError) -> str:
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return f"{command[0]} cannot be started: {error.strerror}; `ulimit -n` says how many there may be"
    if _is_missing(command, error):
        return f"{command[0] or repr('')}: command not found"
    return f"{command[0]}: {error.strerror}"


def _write_all(target: int, data: bytes) -> None:
    """Writes everything, also to a descriptor that somebody has made non-blocking."""
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(target, view) :]
        except BlockingIOError:
            with selectors.DefaultSelector() as selector:
                selector.register(target, selectors.EVENT_WRITE)
                selector.select()
