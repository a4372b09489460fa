"""A big log read by another process, so that the one that draws keeps its interpreter to itself.

    this process     │ start ─► loads the app ─► draws │ unpack ─► batches ─► reads on itself from the checkpoint on
    other process    │ which file │ newest part │ all of it from the beginning │ checkpoint        ─► frames ─► pipe

Python's threads take turns, and a reader holds the turn for as long as numpy has work: keys would wait for it. The
process can be started before this one has loaded what it draws with. If anything goes wrong, or the file has become
another one meanwhile, this process reads alone: that takes longer and is all that can happen.

This module is loaded before there is a picture; `packed_log` is what the other process runs.
"""

from __future__ import annotations

import contextlib
import os
import struct
import threading
from collections.abc import Iterator
from pathlib import Path

from leet.reading.cache_place import is_kept
from leet.reading.frame_process import FrameProcess, processors, understood

SMALLEST = 32 * 1024 * 1024
"""Bytes of a log from which on another process is worth its start."""
_MODULE = "leet.reading.packed_log"
_FILE = struct.Struct("<QQQd")

_turns = threading.BoundedSemaphore(2)
"""No more at a time: each takes a processor and as much memory as a small program."""


class ReaderProcess(FrameProcess):
    """Another process that reads a log as it is now, to its end."""

    def __init__(self, path: str | os.PathLike[str], *, newest: bool = False) -> None:
        """With `newest` it begins with the newest part. Raises OSError where no process is to be had."""
        if not _turns.acquire(blocking=False):
            raise BlockingIOError("as many are at work as may be")
        try:
            super().__init__(_MODULE, os.fspath(path), *(["newest"] if newest else []))
        except BaseException:
            _turns.release()
            raise
        self._at_work = True
        self._newest = newest
        self._told: tuple[int, int, int, float] | None = None

    @classmethod
    def ahead(cls, path: Path) -> ReaderProcess | None:
        """Begin before anybody asks for the log, if it is one that will be read so: not one whose columns are kept."""
        with contextlib.suppress(OSError):
            if processors() > 1 and path.stat().st_size >= SMALLEST and not is_kept(path):
                return cls(path, newest=True)
        return None

    def file(self) -> tuple[int, int, int, float]:
        """Device, inode, size in bytes and time of the last write (Unix s) of the file that it found. Raises Failed."""
        if self._told is None:
            with understood():
                self._told = _FILE.unpack(self.next())
        return self._told

    def newest(self) -> Iterator[list[bytes]]:
        """The packed batches of the newest part, and others in their place; none if not asked for. Raises Failed."""
        self.file()
        while self._newest:
            if batches := list(self.frames()):
                yield batches
            else:
                self._newest = False

    def close(self) -> None:
        super().close()
        if self._at_work:
            self._at_work = False
            _turns.release()


def pack_file(found: os.stat_result) -> bytes:
    """The frame that `ReaderProcess.file` takes."""
    return _FILE.pack(found.st_dev, found.st_ino, found.st_size, found.st_mtime)
