"""Another process at work, and what it writes to its standard output: frames of a length and so many bytes.

    this process     │ start ─► does something else         │ frames, as they are asked for
    other process    │ python -m MODULE ARGUMENTS ─► frame, frame, …, an empty frame, a last one
                     │ or a function, in a copy of this process

A copy has all loaded already, but is only for a process that has no threads of its own. Elsewhere a module is run.

A thread takes the frames out of the pipe, so that the other process never waits for this one. It ends when nobody
reads from the pipe any more.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import os
import queue
import signal
import struct
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO

PATIENCE = 20.0
"""Longest time to wait for the next frame, in seconds."""
_LENGTH = struct.Struct("<Q")
BROKEN = bytes(bytearray(b"broken"))
"""What stands behind the last frame of a process; known by being this object."""


class Failed(Exception):  # noqa: N818 — named for what has happened
    """The other process did not bring what was expected of it."""


@contextmanager
def understood() -> Iterator[None]:
    """Raises Failed where a frame is none that this code knows: other code may have been installed meanwhile."""
    try:
        yield
    except (ValueError, LookupError, TypeError, struct.error) as error:
        raise Failed from error


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


Work = Callable[[IO[bytes]], object]
"""What another process does: it writes frames to what it is handed."""
CAN_COPY = hasattr(os, "fork") and sys.platform != "darwin"  # libraries of macOS do not survive it


class Copy:
    """A copy of this process at work; as much of a `subprocess.Popen` as is needed here."""

    def __init__(self, work: Work) -> None:
        """Raises OSError where no process can be started."""
        ours, its = os.pipe()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # of threads, which a numeric library may have
                self.pid = os.fork()
        except OSError:
            os.close(ours)
            os.close(its)
            raise
        if not self.pid:
            status = 1
            try:
                os.close(ours)
                with open(_alone(its), "wb") as out:
                    work(out)
                status = 0
            finally:
                os._exit(status)  # nothing that this process has begun is ended by its copy
        os.close(its)
        self.stdout: IO[bytes] = open(ours, "rb")  # noqa: SIM115 — closed by who reads it
        self._ended = False

    def poll(self) -> int | None:
        """0 if it has ended, None while it goes on."""
        return 0 if self._has_ended(os.WNOHANG) else None

    def kill(self) -> None:
        """End it, whatever it is doing."""
        if not self._has_ended(os.WNOHANG):  # else its number may be that of another process by now
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> None:
        """Wait for its end."""
        self._has_ended(0)

    def _has_ended(self, options: int) -> bool:
        if not self._ended:
            try:
                self._ended = os.waitpid(self.pid, options)[0] == self.pid
            except ChildProcessError:  # somebody wants to know nothing of the ends of processes
                self._ended = True
        return self._ended


def _alone(pipe: int) -> int:
    """Let go of what programs before and behind this one wait for: standard input, output, errors. The pipe, kept."""
    import fcntl

    pipe = fcntl.fcntl(pipe, fcntl.F_DUPFD_CLOEXEC, 3)
    null = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(null, stream)
    return pipe


class FrameProcess:
    """Another process that runs a module of this package, or a function."""

    def __init__(
        self,
        module: str,
        *arguments: str,
        stdin: int | IO[bytes] = subprocess.DEVNULL,
        frames: queue.SimpleQueue[bytes] | None = None,
        work: Work | None = None,
    ) -> None:
        """`stdin` is its standard input; `frames` is where its frames go, as do those of others.

        `work` is what the module does with these arguments, for a copy of this process to do.

        Raises OSError where no process can be started.
        """
        command = [sys.executable, "-P", "-m", module, *arguments]
        self._process: Copy | subprocess.Popen[bytes]
        if work is not None and CAN_COPY:
            self._process = Copy(work)
        else:
            self._process = subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self._frames: queue.SimpleQueue[bytes] = queue.SimpleQueue() if frames is None else frames
        atexit.register(self._process.kill)  # one that is stopped would never notice that nobody reads any more
        try:
            threading.Thread(target=self._drain, name=module, daemon=True).start()
        except RuntimeError as error:  # there may be no more threads
            FrameProcess.close(self)
            if self._process.stdout is not None:
                self._process.stdout.close()
            raise OSError(errno.EAGAIN, str(error)) from None

    def next(self) -> bytes:
        """The next frame. Raises Failed where none comes."""
        try:
            frame = self._frames.get(timeout=PATIENCE)
        except queue.Empty:
            raise Failed from None
        if frame is BROKEN:
            raise Failed
        return frame

    def frames(self) -> Iterator[bytes]:
        """The frames up to the next empty one. Raises Failed."""
        while frame := self.next():
            yield frame

    def close(self) -> None:
        """End it, whatever it is doing."""
        atexit.unregister(self._process.kill)
        self._process.kill()
        self._process.wait()

    def _drain(self) -> None:
        pipe = self._process.stdout
        assert pipe is not None
        with pipe:
            while len(header := pipe.read(_LENGTH.size)) == _LENGTH.size:
                (length,) = _LENGTH.unpack(header)
                frame = pipe.read(length)
                if len(frame) < length:
                    break
                self._frames.put(frame)
        self._frames.put(BROKEN)


def write_frame(out: IO[bytes], frame: bytes) -> None:
    """What the other process does."""
    out.write(_LENGTH.pack(len(frame)))
    out.write(frame)
    out.flush()
