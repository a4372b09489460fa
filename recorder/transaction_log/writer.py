"""The log of a run being written: numbered, framed, and on its way to the disk within a second.

`append` puts a record into memory and returns; a thread of the writer's own hands what has gathered to the operating
system once per interval, or sooner when much has gathered. Trouble with the disk is the writer's, not the caller's:
what could not be written stays in memory and is tried again, always from the end of the last whole record, so the
file is readable at every moment and complete again as soon as the disk is.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from recorder.transaction_log.framing import HEADER, frame
from recorder.transaction_log.wire import encode, varint

FLUSH_INTERVAL = 1.0
"""Seconds between two hand-overs to the operating system."""

_EARLY = 256 * 1024
"""Bytes waiting that wake the thread before its time."""

_KEPT = 64 * 1024 * 1024
"""Bytes kept in memory while the disk refuses them; records beyond are dropped, and counted."""

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
        """`warn` is told in one line when the disk refuses data, and when data had to be given up."""
        self.path = Path(path)
        self.records = 0
        """Records appended so far; the number of the last one."""
        self.lost = 0
        """Records given up because the disk refused them for too long."""
        self._interval = max(flush_interval, 0.01)
        self._warn = warn or (lambda line: None)
        self._warned: set[str] = set()
        self._pid = os.getpid()
        self._fd = os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_CLOEXEC", 0), 0o666)

        self._waiting: list[bytes] = [HEADER]  # whole records, framed
        self._waiting_bytes = len(HEADER)
        self._end = len(HEADER)
        self._closed = False
        self._refused = False  # whether the disk took nothing when last asked
        self._lock = threading.Lock()  # guards the fields above

        self._written = 0
        self._disk = threading.Lock()  # guards the file and `_written`; taken before `_lock`, never after it

        self._wake = threading.Event()
        self.flush()
        self._thread = threading.Thread(target=self._flush_regularly, name="log-writer", daemon=True)
        self._thread.start()

    @property
    def offset(self) -> int:
        """Where the next record will begin: the length of the log with everything that was appended."""
        return self._end

    @property
    def flushed(self) -> int:
        """How much of the log the operating system has, in bytes."""
        return self._written

    def append(self, record: bytes) -> None:
        """Adds one encoded `Record` without its number, which the writer gives it."""
        self.append_all((record,))

    def append_all(self, records: Iterable[bytes]) -> None:
        """Adds encoded records; nobody else's come between them."""
        if self._pid != os.getpid():
            return  # a forked child shares the file with its parent, which goes on writing it
        with self._lock:
            if self._closed:
                return
            for record in records:
                if self._waiting_bytes > _KEPT:
                    self.lost += 1
                    continue
                self.records += 1
                framed = frame(_NUM + varint(self.records) + record, self._end)
                self._waiting.append(framed)
                self._end += len(framed)
                self._waiting_bytes += len(framed)
            early = self._waiting_bytes >= _EARLY and not self._refused
        if early:
            self._wake.set()

    def append_record(self, kind: str, value: Mapping[str, Any]) -> None:
        """Adds a record of the `kind` that `Record` names so (`run`, `config`, `exit`, …) with the fields `value`.

        Raises what `wire.encode` raises for a value that does not fit the table.
        """
        self.append(encode("Record", {kind: value}))

    def flush(self) -> None:
        """Hands everything appended so far to the operating system."""
        if self._pid != os.getpid():
            return
        with self._disk:
            if self._fd < 0:
                return
            with self._lock:
                records, self._waiting = self._waiting, []
            done, trouble = self._write(records)
            with self._lock:
                self._waiting[:0] = records[done:]
                self._waiting_bytes = sum(map(len, self._waiting))
                self._refused = bool(trouble)
            removed = bool(records) and self._is_removed()
        if trouble:
            self._warn_once(f"cannot write {self.path}: {trouble}; the run goes on and writing is tried again")
        if removed:
            self._warn_once(f"{self.path} was deleted while it was being written; what is recorded is lost")

    def close(self) -> None:
        """Writes what is waiting and closes the file. Afterwards `append` does nothing."""
        if self._pid != os.getpid():
            return
        with self._lock:
            if self._closed:
                return
            self._closed = True
        self._wake.set()
        if threading.current_thread() is not self._thread:
            self._thread.join()
        self.flush()
        with self._disk:
            with contextlib.suppress(OSError):
                os.close(self._fd)
            self._fd = -1
            self.lost += sum(1 for piece in self._waiting if piece is not HEADER)
            self._waiting = []
        if self.lost:
            self._warn_once(f"{self.lost} records are missing at the end of {self.path}: the disk refused them")

    def _write(self, records: list[bytes]) -> tuple[int, str]:
        """Writes as many whole records as the disk takes: their number, and what was in the way of the others."""
        data = memoryview(b"".join(records))
        put = 0
        try:
            while put < len(data):
                put += os.pwrite(self._fd, data[put:], self._written + put)
        except OSError as error:
            done = whole = 0
            while whole + len(records[done]) <= put:
                whole += len(records[done])
                done += 1
            self._written += whole
            # A half record at the end would be waited for by every reader. Where even this fails, the next
            # attempt writes over it.
            with contextlib.suppress(OSError):
                os.ftruncate(self._fd, self._written)
            return done, error.strerror or str(error)
        self._written += put
        return len(records), ""

    def _is_removed(self) -> bool:
        try:
            return os.fstat(self._fd).st_nlink == 0
        except OSError:
            return False  # the write just before has said what is wrong

    def _flush_regularly(self) -> None:
        while not self._closed:
            self._wake.wait(self._interval)
            self._wake.clear()
            if self._waiting:
                self.flush()

    def _warn_once(self, line: str) -> None:
        if line not in self._warned:
            self._warned.add(line)
            self._warn(line)
