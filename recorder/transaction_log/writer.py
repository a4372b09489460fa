"""The log of a run being written: numbered, framed, and with the operating system within a second.

    append ─► inbox ─► thread of the writer: encode, number, frame ─► waiting ─► pwrite at the end of what is written

`append` puts a record into the inbox, which is one atomic step, and returns: it takes no lock, so it may be called
from any thread and from a signal handler, and a KeyboardInterrupt in the middle of it leaves nothing half done. All
else is done by the one thread that owns the file, once per interval, or sooner when much has gathered.

Trouble with the disk is the writer's, not the caller's: what could not be written waits in memory and is tried again,
always from the end of the last whole record, so the file is readable at every moment and complete again as soon as
the disk is. A log that was deleted is made again, with all that was in it.

Nothing is ever `fsync`ed: what the operating system has survives the death of every process, `kill -9` included, and
only a machine that loses power loses the seconds that its page cache had not written yet. Waiting for the disk
itself would cost a training more than those rows are worth.
"""

from __future__ import annotations

import contextlib
import errno
import os
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from recorder.transaction_log.framing import HEADER, frame
from recorder.transaction_log.wire import encode, varint

FLUSH_INTERVAL = 0.5
"""Seconds between two hand-overs to the operating system."""

_EARLY = 256 * 1024
"""Bytes in the inbox that wake the thread before its time."""

_KEPT = 64 * 1024 * 1024
"""Bytes kept in memory while the disk refuses them; records beyond are dropped, and counted. A writer that gets on,
but more slowly than records are made, is waited for a moment from here on, and for as long as it takes from twice as
many on: data is worth more than time. Records that must not be missing are never dropped."""

_BACK_PRESSURE = 0.04
"""Seconds that one `append` waits for a writer that is behind."""

_STANDSTILL = 5.0
"""Seconds without any progress after which nobody waits any longer for room: the disk does not answer."""

_PATIENCE = 5.0
"""Seconds that `flush` waits."""

_LAST_PATIENCE = 60.0
"""Seconds that `close` waits for a disk that does not answer at all."""

_GONE = {errno.ESTALE, errno.EBADF, errno.EIO, errno.ENXIO, errno.ENODEV}
"""Errors that may be those of the open file and not of the file itself: it is opened again."""

_COPIED = 1 << 20
_PIECE = 1 << 20
"""Bytes that are framed before they are written."""

Late = Callable[[], Iterable[bytes]]
"""Makes records when they are written, on the writer's thread. What it makes them of must not change any more."""

_NUM = varint(1 << 3)
_FLAGS = os.O_RDWR | getattr(os, "O_CLOEXEC", 0)


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
        restored: Callable[[], None] | None = None,
    ) -> None:
        """`warn` is told in one line, once each, when the disk refuses data and when data had to be given up.

        `restored` is called when a deleted log has been made again.
        """
        self.path = Path(path)
        self.records = 0
        """Records framed so far; the number of the last one."""
        self.lost = 0
        """Records given up because the disk refused them, or did not answer, for too long."""
        self._interval = max(flush_interval, 0.01)
        self._warn = warn or (lambda line: None)
        self._restored = restored or (lambda: None)
        self.before_writing: list[Callable[[], None]] = []
        """Called on the writer's thread each time before it writes; may append."""
        self._warned: set[str] = set()
        self._pid = os.getpid()
        self._closed = False
        self._inbox: deque[bytes | Late] = deque()
        self._inbox_bytes = 0  # racy counts that decide only when to wake the thread, and when to wait for it
        self._called = False

        self._fd = os.open(self.path, os.O_CREAT | os.O_EXCL | _FLAGS, 0o666)
        self._waiting = [HEADER]  # whole records, framed
        self._backlog = len(HEADER)  # their bytes
        self._written = 0
        self._refused = False  # whether the disk took nothing when last asked
        self._stood_still: tuple[int, int] | None = None  # the progress at which waiting was given up
        self._unanswered = False  # whether a record was lost so

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

    def append(self, record: bytes, keep: bool = False) -> None:
        """Adds one encoded `Record` without its number, which the writer gives it.

        `keep`: a log without it is a broken one (how the run ended, its config), so it is kept whatever the disk does.
        """
        self._add((record,), len(record), keep)

    def append_all(self, records: Iterable[bytes]) -> None:
        """Adds encoded records; nobody else's come between them."""
        added = tuple(records)
        self._add(added, sum(map(len, added)))

    def append_late(self, make: Late, size: int) -> None:
        """Adds records that are made when they are written; `size` is about how many bytes they will have."""
        self._add((make,), size)

    def _add(self, added: tuple[bytes | Late, ...], size: int, keep: bool = False) -> None:
        if self._closed or self._pid != os.getpid():
            return  # a forked child shares the file with its parent, which goes on writing it
        if self._backlog + self._inbox_bytes > _KEPT and not self._has_room() and not keep:
            self.lost += len(added)
            return
        self._inbox.extend(added)
        self._inbox_bytes += size
        if self._inbox_bytes >= _EARLY and not self._refused and not self._called:
            self._called = True
            self._orders.put(None)

    def _has_room(self) -> bool:
        """Whether more may be kept in memory, where there is much already. Waits for that while there is hope."""
        if threading.current_thread() is self._thread:
            return not self._refused
        seen, since = (self.records, self._written), time.monotonic()
        if not self._refused and seen != self._stood_still:
            self._order(_BACK_PRESSURE)
        while not self._refused and self._backlog + self._inbox_bytes > 2 * _KEPT:
            now = (self.records, self._written)
            if now != seen:
                seen, since = now, time.monotonic()
            elif now == self._stood_still or time.monotonic() - since >= _STANDSTILL:
                self._stood_still, self._unanswered = now, True
                return False
            self._order(_BACK_PRESSURE)
        return not self._refused or self._backlog + self._inbox_bytes <= _KEPT

    def append_record(self, kind: str, value: Mapping[str, Any]) -> None:
        """Adds a record of the `kind` that `Record` names so (`run`, `config`, `exit`, …) with the fields `value`.

        Raises what `wire.encode` raises for a value that does not fit the table.
        """
        self.append(encode("Record", {kind: value}))

    def flush(self) -> None:
        """Hands everything appended so far to the operating system."""
        if self._closed or self._pid != os.getpid() or threading.current_thread() is self._thread:
            return
        self._order(_PATIENCE)

    def _order(self, patience: float) -> None:
        done: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._orders.put(done)
        with contextlib.suppress(queue.Empty):
            done.get(timeout=patience)

    def close(self, patience: float = _LAST_PATIENCE) -> None:
        """Writes what is waiting and closes the file. Afterwards `append` does nothing."""
        if self._pid != os.getpid():
            return
        self._closed = True
        self._orders.put(None)
        if threading.current_thread() is not self._thread:
            self._thread.join(patience)
            if self._thread.is_alive():
                self._warn_once(f"{self.path} may be incomplete: the disk does not answer")

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
            reason = "the disk did not answer in time" if self._unanswered else "the disk refused them"
            self._warn_once(f"{self.lost} records are missing from {self.path}: {reason}")

    def _hand_over(self) -> None:
        """Frame what is in the inbox and write what is waiting."""
        for call in self.before_writing:
            try:
                call()
            except Exception as error:  # whatever works beside the log must not end it
                self._warn_once(f"something is not recorded: {type(error).__name__}: {error}")
        self._called = False
        inbox, waiting = self._inbox, self._waiting
        end, piece = self._written + self._backlog, 0
        while inbox:
            entry = inbox.popleft()
            for record in (entry,) if isinstance(entry, bytes) else self._made(entry):
                self.records += 1
                framed = frame(_NUM + varint(self.records) + record, end)
                waiting.append(framed)
                end += len(framed)
                piece += len(framed)
            if piece >= _PIECE:
                self._backlog = end - self._written
                self._inbox_bytes, piece = len(inbox) and max(self._inbox_bytes - piece, 0), 0
                self._put_down()
                end = self._written + self._backlog
        self._backlog = end - self._written
        self._inbox_bytes = 0
        if waiting:
            self._put_down()
        self._look_for_file()

    def _made(self, make: Late) -> Iterable[bytes]:
        try:
            return tuple(make())
        except Exception as error:  # a value that no encoder can take loses its row, never the log
            self._warn_once(f"a row is not recorded: {type(error).__name__}: {error}")
            return ()

    def _put_down(self) -> None:
        trouble = self._write()
        if trouble is not None and trouble.errno in _GONE and self._opened_again():
            trouble = self._write()
        self._refused = trouble is not None
        if trouble is not None:
            reason = trouble.strerror or str(trouble)
            self._warn_once(f"cannot write {self.path}: {reason}; the run goes on and writing is tried again")

    def _write(self) -> OSError | None:
        """Write as many whole waiting records as the disk takes; what was in the way of the others."""
        while self._waiting:
            count = size = 0
            while count < len(self._waiting) and size < 4 * _PIECE:
                size += len(self._waiting[count])
                count += 1
            trouble = self._write_some(count)
            if trouble is not None:
                return trouble
        return None

    def _write_some(self, count: int) -> OSError | None:
        """The same for the first `count` of them."""
        data = memoryview(b"".join(self._waiting[:count]))
        put, trouble = 0, None
        try:
            while put < len(data):
                put += os.pwrite(self._fd, data[put:], self._written + put)
            del self._waiting[:count]
        except OSError as error:
            trouble = error
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

    def _opened_again(self) -> bool:
        """Whether the file could be opened anew, as the one that it was."""
        try:
            fd = os.open(self.path, _FLAGS)
        except OSError:
            return False
        if os.fstat(fd).st_size < self._written:
            os.close(fd)
            return False
        self._fd, old = fd, self._fd
        if fd != old:  # a number that somebody has closed may be this very one, or anybody's
            with contextlib.suppress(OSError):
                if os.path.sameopenfile(old, fd):
                    os.close(old)
        return True

    def _look_for_file(self) -> None:
        """Makes a deleted log again, with all that was in it: the open file still has it."""
        try:
            if os.fstat(self._fd).st_nlink:
                return
        except OSError:
            return  # the write just before has said what is wrong
        try:
            os.makedirs(self.path.parent, exist_ok=True)
            fd = os.open(self.path, os.O_CREAT | os.O_EXCL | _FLAGS, 0o666)
        except OSError as error:
            self._warn_once(f"{self.path} was deleted and cannot be made again: {error.strerror}; it is tried again")
            return
        try:
            at = 0
            while at < self._written:
                piece = os.pread(self._fd, min(_COPIED, self._written - at), at)
                if not piece:
                    raise OSError(errno.EIO, os.strerror(errno.EIO))
                at += os.pwrite(fd, piece, at)
        except OSError:
            with contextlib.suppress(OSError):
                os.close(fd)
                os.unlink(self.path)
            return
        os.close(self._fd)
        self._fd = fd
        self._warn_once(f"{self.path} was deleted while it was being written; it is there again")
        with contextlib.suppress(OSError):
            self._restored()

    def _warn_once(self, line: str) -> None:
        if line not in self._warned:
            self._warned.add(line)
            self._warn(line)
