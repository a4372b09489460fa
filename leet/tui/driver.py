"""The terminal as Textual drives it on POSIX systems, with what it leaves open closed."""

from __future__ import annotations

import os
import signal
import time
from typing import Any

from textual.drivers.linux_driver import LinuxDriver

LARGEST = 1000, 500
"""Columns and rows that are drawn at most. A terminal that claims more is mistaken, and memory is not endless."""
USUAL = 80, 24
STOPPING_SECONDS = 0.1
"""After which a signal to stop has stopped us, if it does."""


def terminal_size() -> tuple[int, int]:
    """Columns and rows that the terminal itself tells. COLUMNS and LINES may be left from another one."""
    for stream in (0, 1, 2):
        try:
            columns, rows = os.get_terminal_size(stream)
        except OSError:
            continue
        if columns > 0 and rows > 0:
            return min(columns, LARGEST[0]), min(rows, LARGEST[1])
    return USUAL


class PosixDriver(LinuxDriver):
    """Asks the terminal alone for its size, and survives being continued without having been stopped by itself."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self._size is None:
            # Otherwise the app asks its console, which believes COLUMNS.
            self._size = terminal_size()

    def _get_terminal_size(self) -> tuple[int, int]:
        return terminal_size()

    def _sigtstp_application(self, *_: object) -> None:
        """Stop as a shell's ctrl+z does: the whole job, and not at all where nobody could continue it.

        Textual sends SIGSTOP to this process alone. A shell does not notice that while what started us (`uv run`)
        goes on, and a terminal without a shell (a container, `tmux new leet`) would be stuck for good; the default
        action of SIGTSTP is ignored there.
        """
        if self._auto_restart:
            self.suspend_application_mode()
            self._must_signal_resume = True
        before = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.killpg(os.getpgrp(), signal.SIGTSTP)
        time.sleep(STOPPING_SECONDS)
        signal.signal(signal.SIGTSTP, before)
        if self._must_signal_resume:
            self.resume_application_mode()

    def _sigcont_application(self, *_: object) -> None:
        if self._auto_restart:
            if not self._must_signal_resume and self._writer_thread is not None:
                # Stopped by SIGSTOP, or not at all. Starting twice would leave a thread that reads keys for ever.
                self.suspend_application_mode()
                self._must_signal_resume = True
            self.resume_application_mode()
