"""What this process and its children print, below Python: at the file descriptors 1 and 2.

`console="redirect"` hears what C extensions and child processes write, which the wrapped streams of Python do not.
Each descriptor is replaced by a pipe (by a pseudo-terminal where it was a terminal, so that colours and progress bars
stay), and a thread passes on what comes out of it, byte for byte.

    print, printf, children ─▶ 1 ─▶ pipe ─▶ thread ─▶ the old 1
                                              └─▶ listener
"""

from __future__ import annotations

import codecs
import contextlib
import os
import sys
import threading

from recorder import notices
from recorder.console import Listener

_CHUNK = 64 * 1024
_PATIENCE = 1.0
"""Seconds that the end waits for what was printed last. A child that goes on printing is passed on, and not heard."""


class Redirect:
    """Hands everything that reaches the descriptors to a listener, from `start` to `stop`."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._pumps: list[_Pump] = []

    def start(self) -> None:
        """Begins to listen."""
        for name, fd in (("stdout", 1), ("stderr", 2)):
            _flush(name)
            try:
                self._pumps.append(_Pump(name, fd, self._listener))
            except OSError as error:
                notices.warn_once(f"{name} is not recorded: {error.strerror}", f"redirect {name}")

    def stop(self) -> None:
        """Gives the descriptors back, and waits for what was printed before."""
        for pump in self._pumps:
            _flush(pump.name)
        if self._pumps:
            _flush_c()
        for pump in self._pumps:
            pump.end()
        self._pumps = []

    def disown(self) -> None:
        """In a forked child: what it prints goes on through the parent."""
        self._pumps = []


class _Pump:
    """One descriptor."""

    def __init__(self, name: str, fd: int, listener: Listener) -> None:
        self.name = name
        self._fd = fd
        self._listener: Listener | None = listener
        self._old = os.dup(fd)
        self._source, sink = _terminal_like(fd) if os.isatty(fd) else os.pipe()
        os.dup2(sink, fd)
        os.close(sink)
        self._thread = threading.Thread(target=self._work, name=f"recorder: {name}", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        with contextlib.suppress(OSError):  # the other end of a pseudo-terminal is gone
            while data := os.read(self._source, _CHUNK):
                with contextlib.suppress(OSError):  # nobody reads the old one any more
                    view = memoryview(data)
                    while view:
                        view = view[os.write(self._old, view) :]
                listener, text = self._listener, decoder.decode(data)
                if listener is not None and text:
                    listener(self.name, text)
        os.close(self._source)

    def end(self) -> None:
        os.dup2(self._old, self._fd)
        self._thread.join(_PATIENCE)
        self._listener = None
        if not self._thread.is_alive():
            os.close(self._old)


def _terminal_like(fd: int) -> tuple[int, int]:
    """A pseudo-terminal as wide as the terminal at `fd`, which changes no byte: its two ends."""
    import fcntl
    import termios
    import tty

    master, slave = os.openpty()
    tty.setraw(slave)
    with contextlib.suppress(OSError):
        fcntl.ioctl(slave, termios.TIOCSWINSZ, fcntl.ioctl(fd, termios.TIOCGWINSZ, bytes(8)))
    return master, slave


def _flush(name: str) -> None:
    with contextlib.suppress(OSError, ValueError, AttributeError):
        getattr(sys, name).flush()


def _flush_c() -> None:
    """What `printf` of C extensions still holds back."""
    with contextlib.suppress(Exception):  # a platform without this keeps it until the process ends
        import ctypes

        ctypes.CDLL(None).fflush(None)
