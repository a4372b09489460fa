"""Looks for a run that started after the one on the screen, in the directory that this one was found in."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

from leet.discovery import logs_in, newest_log, run_directories

LOOK_SECONDS = 3.0
"""Between two looks. One costs a `stat` and a `readlink` as long as the directory is as it was."""


class NewerRun:
    """Tells of every newer log once, from a thread of its own."""

    def __init__(self, directory: Path, log: Path, announce: Callable[[Path], None]) -> None:
        """`announce` is called on that thread."""
        self._directory = directory
        self._log = log.resolve()
        self._announce = announce
        self._stopping = threading.Event()
        self._stamp: tuple[int, str] | None = None

    def start(self) -> None:
        threading.Thread(target=self._watch, name="newer runs", daemon=True).start()

    def stop(self) -> None:
        self._stopping.set()

    def look(self) -> Path | None:
        """A log that is newer than all told of before."""
        try:
            stamp = self._look_at_directory()
            if stamp == self._stamp:
                return None
            log = newest_log(self._directory)
            # A run's directory is there before its log is: then the next look is a thorough one too.
            settled = log is not None and bool(logs_in(run_directories(self._directory)[-1]))
        except (OSError, IndexError):
            return None
        self._stamp = stamp if settled else None
        if log is None or log.resolve() == self._log:
            return None
        self._log = log.resolve()
        return log

    def _look_at_directory(self) -> tuple[int, str]:
        latest = self._directory / "latest-run"
        return os.stat(self._directory).st_mtime_ns, os.readlink(latest) if latest.is_symlink() else ""

    def _watch(self) -> None:
        while not self._stopping.wait(LOOK_SECONDS):
            log = self.look()
            if log is not None and not self._stopping.is_set():
                self._announce(log)
