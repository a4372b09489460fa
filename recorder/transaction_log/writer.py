"""The log of a run being written: numbered, framed, and on its way to the disk within a second.

    append ─► inbox ─► thread of the writer: number, frame ─► waiting ─► pwrite at the end of what is written

`append` puts a record into the inbox, which is one atomic step, and returns: it takes no lock, so it may be called
from any thread and from a signal handler, and a KeyboardInterrupt in the middle of it leaves nothing half done. All
else is done by the one thread that owns the file, once per interval, or sooner when much has gathered.

Trouble with the disk is the writer's, not the caller's: what could not be written waits in memory and is tried again,
always from the end of the last whole record, so the file is readable at every moment and complete again as soon as
the disk is.
"""

from __future__ import annotations

import contextlib
import os
import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from recorder.transaction_log.framing import HEADER, frame
from recorder.transaction_log.wire import encode, varint

FLUSH_INTERVAL = 1.0
"""Seconds between two hand-overs to the operating system."""

_EARLY = 256 * 1024
"""Bytes in the inbox that wake the thread before its time."""

_KEPT = 64 * 1024 * 1024
"""Bytes kept in memory while the disk refuses them; records beyond are dropped, and counted."""

_PATIENCE = 5.0
"""Seconds that `append` waits for a disk that takes data, but more slowly than it is made."""

_NUM = varint(1 << 3)


class LogWriter:
    """Writes one new log. Every method may be called from any thread; none but the constructor raises.

    Raises OSError from the constructor when the file cannot be made: FileExistsError where one is already, since a
    log is never overwritten or appended to.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        flush_interval: float = FLUSH_INTERVAL,
        warn: Callable[[str], None] | None = None,
    ) -> None:
        """`warn` is told in one line, once each, when the disk refuses data and when data had to be given up."""
        self.path = Path(path)
        self.records = 0
        """Records framed so far; the number of the last one."""
        self.lost = 0
        """Records given up because the disk refused them for too long."""
        self._interval = max(flush_interval, 0.01)
        self._warn = warn or (lambda line: None)
        self._warned: set[str] = set()
        self._pid = os.getpid()
        self._closed = False
        self._inbox: deque[bytes] = deque()
        self._inbox_bytes = 0  # a racy count that decides only when to wake the thread

        self._fd = os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_CLOEXEC", 0), 0o666)
        self._waiting = [HEADER]  # whole records, framed
        self._backlog = len(HEADER)  # their bytes
        self._written = 0
        self._refused = False  # whether the disk took nothing when last asked

        self._orders: queue.SimpleQueue[queue.SimpleQueue[None] | None] = queue.SimpleQueue()
        self._hand_over()
        self._thread = threading.Thread(target=self._work, name="log-writer", daemon=True)
        self._thread.start()

    @property
    def offset(self) -> int:
        """Where the next record will begin: the length of the log with every record that was framed."""
        return self._written + self._backlog

    @property
    def flushed(self) -> int:
        """How much of the log the operating system has, in bytes."""
        return self._written

    def append(self, record: bytes) -> None:
        """Adds one encoded `Record` without its number, which the writer gives it."""
        self.append_all((record,))

    def append_all(self, records: Iterable[bytes]) -> None:
        """Adds encoded records; nobody else's come between them."""
        if self._closed or self._pid != os.getpid():
            return  # a forked child shares the file with its parent, which goes on writing it
        added = tuple(records)
        if self._backlog + self._inbox_bytes > _KEPT:
            if not self._refused:
                self.flush()
            if self._backlog + self._inbox_bytes > _KEPT:
                self.lost += len(added)
                return
        self._inbox.extend(added)
        self._inbox_bytes += sum(map(len, added))
        if self._inbox_bytes >= _EARLY and not self._refused:
            self._inbox_bytes = 0
            self._orders.put(None)

    def append_record(self, kind: str, value: Mapping[str, Any]) -> None:
        """Adds a record of the `kind` that `Record` names so (`run`, `config`, `exit`, …) with the fields `value`.

        Raises what `wire.encode` raises for a value that does not fit the table.
        """
        self.append(encode("Record", {kind: value}))

    def flush(self) -> None:
        """Hands everything appended so far to the operating system."""
        if self._closed or self._pid != os.getpid() or threading.current_thread() is self._thread:
            return
        done: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._orders.put(done)
        with contextlib.suppress(queue.Empty):
            done.get(timeout=_PATIENCE)

    def close(self) -> None:
        """Writes what is waiting and closes the file. Afterwards `append` does nothing."""
        if self._closed or self._pid != os.getpid():
            return
        self._closed = True
        self._orders.put(None)
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _work(self) -> None:
        """The thread: hand over at each order and each interval, and the rest when the writer is closed."""
        while not self._closed:
            order = None
            with contextlib.suppress(queue.Empty):
                order = self._orders.get(timeout=self._interval)
            self._hand_over()
            if order is not None:
                order.put(None)
        self._hand_over()
        with contextlib.suppress(OSError):
            os.close(self._fd)
        self.lost += sum(1 for piece in self._waiting if piece is not HEADER)
        if self.lost:
            self._warn_once(f"{self.lost} records are missing from {self.path}: the disk refused them")

    def _hand_over(self) -> None:
        """Frame what is in the inbox and write what is waiting."""
        self._inbox_bytes = 0
        end = self._written + self._backlog
        while self._inbox:
            self.records += 1
            framed = frame(_NUM + varint(self.records) + self._inbox.popleft(), end)
            self._waiting.append(framed)
            end += len(framed)
        self._backlog = end - self._written
        if not self._waiting:
            return
        trouble = self._write()
        self._refused = bool(trouble)
        if trouble:
            self._warn_once(f"cannot write {self.path}: {trouble}; the run goes on and writing is tried again")
        if self._is_removed():
            self._warn_once(f"{self.path} was deleted while it was being written; what is recorded is lost")

    def _write(self) -> str:
        """Write as many whole waiting records as the disk takes; what was in the way of the others."""
        data = memoryview(b"".join(self._waiting))
        put, trouble = 0, ""
        try:
            while put < len(data):
                put += os.pwrite(self._fd, data[put:], self._written + put)
            self._waiting.clear()
        except OSError as error:
            trouble = error.strerror or str(error)
            whole = done = 0
            while whole + len(self._waiting[done]) <= put:
                whole += len(self._waiting[done])
                done += 1
            del self._waiting[:done]
            put = whole
            # A half record at the end would be waited for by every reader. Where even this fails, the next attempt
            # writes over it.
            with contextlib.suppress(OSError):
                os.ftruncate(self._fd, self._written + put)
        self._written += put
        self._backlog -= put
        return trouble

    def _is_removed(self) -> bool:
        try:
            return os.fstat(self._fd).st_nlink == 0
        except OSError:
            return False  # the write just before has said what is wrong

    def _warn_once(self, line: str) -> None:
        if line not in self._warned:
            self._warned.add(line)
            self._warn(line)
