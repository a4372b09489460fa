"""The terminal that a command runs in: ours, lent to it for a while, and the pseudo-terminal that it gets."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import termios
import tty
from typing import Any

from recorder import notices


class ForegroundTerminal:
    """The terminal of the person, when we are what runs in it."""

    def __init__(self) -> None:
        self.fd = 0 if os.isatty(0) else None
        self._settings: Any = None
        self.raw = False
        """Whether keys reach us one by one, to be passed to the pseudo-terminal."""
        self.lent = False
        """Whether the command's process group has the terminal, and gets ctrl+c and ctrl+z from it."""

    def _is_ours(self) -> bool:
        try:
            return self.fd is not None and os.tcgetpgrp(self.fd) == os.getpgrp()
        except OSError:
            return False

    def enter_raw_mode(self, wanted: bool) -> None:
        if wanted and not self.raw and self.fd is not None and self._is_ours():
            with contextlib.suppress(termios.error):
                self._settings = termios.tcgetattr(self.fd)
                tty.setraw(self.fd)
                self.raw = True
                notices.end_lines_with("\r\n")

    def lend_to(self, group: int) -> None:
        if self.fd is not None and self._is_ours():
            with contextlib.suppress(OSError):
                os.tcsetpgrp(self.fd, group)
                self.lent = True

    def take_back(self) -> None:
        if self.lent and self.fd is not None:
            # In the background, setting this would stop us.
            before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
            with contextlib.suppress(OSError):
                os.tcsetpgrp(self.fd, os.getpgrp())
            signal.signal(signal.SIGTTOU, before)
            self.lent = False

    def restore(self) -> None:
        self.take_back()
        if self.raw and self.fd is not None:
            with contextlib.suppress(termios.error):
                termios.tcsetattr(self.fd, termios.TCSADRAIN, self._settings)
            self.raw = False
            notices.end_lines_with("\n")


def take_terminal() -> None:
    """In the child, before the command: the pseudo-terminal on its stdout becomes its controlling terminal."""
    fcntl.ioctl(1, termios.TIOCSCTTY, 0)


def copy_window_size(source: int, target: int) -> None:
    with contextlib.suppress(OSError):
        size = fcntl.ioctl(source, termios.TIOCGWINSZ, bytes(8))
        fcntl.ioctl(target, termios.TIOCSWINSZ, size)
