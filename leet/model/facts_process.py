"""Many logs looked at by other processes, so that the one that draws keeps its interpreter to itself.

    this process     │ paths, NUL between ─► a file that is the standard input
    other processes  │ peek, flatten ─► frames ─► pipe
    this process     │ frames ─► facts, about in the order of the paths

    frame            logs        log   place u32, inode, size and time u64, length u32 │ facts as JSON

A process that dies or brings nothing leaves its logs out; whoever asked looks at them itself.
"""

from __future__ import annotations

import contextlib
import gc
import os
import queue
import struct
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from typing import IO, NamedTuple

import orjson

from leet.model.run_facts import facts_of
from leet.reading.frame_process import BROKEN, PATIENCE, FrameProcess, processors, write_frame
from leet.reading.peek import Peek, peek

FEWEST = 100
"""Logs from which on another process is worth its start."""
_EACH = 2000
"""Logs from which on it is worth another process."""
_FRAME = 64
"""Logs whose facts are handed on together: each time three threads of the other side are woken."""
_SOON = 0.05
"""Seconds after which facts are handed on in any case."""
_POLL = 0.2
_LOG = struct.Struct("<IQQqI")
"""Place, stamp, and length of the facts."""


Stamp = tuple[int, int, int]
"""What tells that a log is as it was: inode, size in bytes, time of the last write in Unix nanoseconds."""


def stamp_of(found: os.stat_result) -> Stamp:
    return found.st_ino, found.st_size, found.st_mtime_ns


def stamp_at(peek: Peek) -> Stamp:
    """The stamp of a log when it was looked at; its inode is 0 when there was none."""
    return peek.identity[1], peek.size, peek.modified_ns


class Looked(NamedTuple):
    """The facts of the log at one place of those asked for."""

    place: int
    stamp: Stamp
    facts: bytes
    """As JSON text, as the cache keeps them."""


def look_at(logs: Sequence[str], stopping: threading.Event) -> Iterator[list[Looked]]:
    """The facts of logs, a few at a time, until `stopping` is set or all have come. Raises nothing."""
    count = max(1, min(len(logs) // _EACH, processors(), 4))
    frames: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    processes = []
    try:
        for first in range(count):
            with contextlib.suppress(OSError), tempfile.TemporaryFile() as paths:
                paths.write(b"\0".join(map(os.fsencode, logs[first::count])))
                paths.seek(0)
                processes.append(FrameProcess(__name__, str(first), str(count), stdin=paths, frames=frames))
        running, heard = len(processes), time.monotonic()
        while running and not stopping.is_set():
            try:
                frame = frames.get(timeout=_POLL)
            except queue.Empty:
                if time.monotonic() - heard > PATIENCE:
                    return
                continue
            heard = time.monotonic()
            if frame is BROKEN:
                running -= 1
                continue
            yield list(_logs_in(frame))
    finally:
        for process in processes:
            process.close()


def _logs_in(frame: bytes) -> Iterator[Looked]:
    at, end = 0, len(frame)
    while at < end:
        place, inode, size, modified, length = _LOG.unpack_from(frame, at)
        at += _LOG.size + length
        yield Looked(place, (inode, size, modified), frame[at - length : at])


def write_facts(logs: Sequence[bytes], first: int, step: int, out: IO[bytes]) -> None:
    """What another process does: the facts of each log, whose place is counted from `first` by `step`."""
    pieces: list[bytes] = []
    last = time.monotonic()
    for number, log in enumerate(logs):
        seen = peek(os.fsdecode(log))
        facts = orjson.dumps(facts_of(seen))
        pieces += (_LOG.pack(first + number * step, *stamp_at(seen), len(facts)), facts)
        if len(pieces) >= 2 * _FRAME or time.monotonic() - last > _SOON or number == len(logs) - 1:
            write_frame(out, b"".join(pieces))
            pieces, last = [], time.monotonic()


if __name__ == "__main__":
    gc.disable()  # nothing here is in cycles, and the process does not last
    with contextlib.suppress(OSError):
        os.nice(5)  # who draws comes first
    with contextlib.suppress(BrokenPipeError):
        paths = sys.stdin.buffer.read()
        write_facts(paths.split(b"\0") if paths else [], int(sys.argv[1]), int(sys.argv[2]), sys.stdout.buffer)
