"""A growing log, watched from a thread of its own.

    file ─► LogFile.look ─► deliver(Batch | Notice)        in the thread of the tail
              ▲
              └── every quarter of a second; less often where looks are costly, or nothing has come for a while

A look at a file that is as it was costs one `stat`. Events of the file system would come for every write, some twenty
a second, each of them dearer than all looks of a second together, and network file systems send none.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable, Iterator

from leet.reading.batch import Batch, Newest, Notice
from leet.reading.column_cache import ColumnCache
from leet.reading.log_file import LARGEST_PIECE, LogFile
from leet.reading.reader_process import ReaderProcess

POLL = 0.25
"""Time between two looks at a file that grows, in seconds: charts follow no faster."""
QUIET_POLL = 0.5
"""… and at one that has not changed for `QUIET` seconds."""
QUIET = 30.0
SHARE = 0.005
"""Share of a core that looks may take before they are made less often."""
LONGEST_POLL = 2.0
"""… which is no less often than so many seconds."""

PATIENCE = 0.5
"""Longest time that the rest of a big log waits for its newest part to be on the screen, in seconds."""

_BREATH = 0.0002
"""Pause after each piece, in seconds, in which threads that draw get their turn."""


def read(path: str | os.PathLike[str], cache: ColumnCache | None = None) -> Iterator[Batch | Notice]:
    """The log as it is now, to its end, in the calling thread. A missing file is a notice, no exception."""
    log = LogFile(path, cache=cache)
    if not log.path.exists():
        yield Notice("unreadable", f"{log.path.name} does not exist")
        return
    yield from log.look()
    yield from log.finish()


class Tail:
    """Reads a log in a thread and hands on what is new, until it is stopped.

    `deliver` is called in the thread of the tail, with one batch or notice at a time, in order. It may block, which
    is how a slow consumer holds the reader back, but then `stop` waits for it to come back; `Tail.into` delivers
    to a bounded queue without that flaw. With `follow=False` the thread ends at the end of the file.
    The file need not exist yet. `chunk_bytes` is the largest piece that is decoded at a time; `cache` keeps the
    columns of a big log, and `newest` is handed its newest part before anything else is read. Then `shown` is waited
    for, as long as `PATIENCE` at most: the rest takes all the time that it can get, and so would the first picture.
    `process` has begun with the log before there was a tail.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        deliver: Callable[[Batch | Notice], None],
        *,
        follow: bool = True,
        chunk_bytes: int = LARGEST_PIECE,
        cache: ColumnCache | None = None,
        newest: Callable[[Newest], None] | None = None,
        shown: threading.Event | None = None,
        process: ReaderProcess | None = None,
    ) -> None:
        self._log = LogFile(path, chunk_bytes, cache=cache, elsewhere=True, process=process)
        self._deliver = deliver
        self._newest = newest
        self._shown = shown
        self._follow = follow
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"tail {self._log.path.name}", daemon=True)

    @classmethod
    def into(
        cls,
        path: str | os.PathLike[str],
        inbox: queue.Queue[Batch | Notice],
        *,
        follow: bool = True,
        chunk_bytes: int = LARGEST_PIECE,
    ) -> Tail:
        """A tail that puts what it reads into a bounded queue and waits while it is full, yet can be stopped."""

        def put(item: Batch | Notice) -> None:
            while not tail._stopping.is_set():
                try:
                    inbox.put(item, timeout=0.05)
                except queue.Full:
                    continue
                return

        tail = cls(path, put, follow=follow, chunk_bytes=chunk_bytes)
        return tail

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ask the thread to end; it delivers nothing more once its present delivery is over."""
        self._stopping.set()

    def join(self, timeout: float | None = None) -> None:
        self._thread.join(timeout)

    @property
    def running(self) -> bool:
        return self._thread.is_alive()

    def _run(self) -> None:
        try:
            if self._newest is not None:
                self._deliver_newest(self._newest)
            self._look()
            if not self._follow:
                self._hand_on(self._log.finish())
                return
            for _ in self._wake_ups():
                self._look()
        except Exception as error:  # the thread must not die in silence: its reader would wait for ever
            self._deliver(Notice("unreadable", f"reading {self._log.path.name} has stopped: {error!r}"))

    def _deliver_newest(self, deliver: Callable[[Newest], None]) -> None:
        for batches in self._log.newest():
            if self._stopping.is_set():
                return
            deliver(Newest(batches))
            if self._shown is not None:
                self._shown.wait(PATIENCE)

    def _look(self) -> None:
        self._hand_on(self._log.look())

    def _hand_on(self, items: Iterator[Batch | Notice]) -> None:
        for item in items:
            if self._stopping.is_set():
                return
            self._deliver(item)
            time.sleep(_BREATH)

    def _wake_ups(self) -> Iterator[None]:
        """One item whenever it is time to look again, until the tail is stopped."""
        grown = time.monotonic()
        pause, position = POLL, self._log.position
        while not self._stopping.wait(pause):
            began = time.thread_time()
            yield
            cost = time.thread_time() - began
            if self._log.position != position:
                grown, position = time.monotonic(), self._log.position
            least = POLL if time.monotonic() - grown < QUIET else QUIET_POLL
            pause = min(max(least, cost / SHARE), LONGEST_POLL)
