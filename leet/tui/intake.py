"""Batches on their way from the reader's thread to the main loop."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator
from time import monotonic, perf_counter, sleep

from leet.reading.batch import Batch, Newest, Notice

Piece = Batch | Newest | Notice

GIVE_WAY = 0.06
"""Longest time for which the reader lets a key be answered first, in seconds: it holds Python's lock half of the time,
so that with it at work all would take twice as long."""


class Intake:
    """A bounded queue: a reader that is faster than the screen waits, and memory stays flat."""

    def __init__(self, capacity: int = 8) -> None:
        self._queue: queue.Queue[Piece] = queue.Queue(capacity)
        self._announce: Callable[[], None] = lambda: None
        self._announced = False
        self._closed = False
        self._way_until = 0.0
        self.finished = False
        """The reader has delivered all that it will ever deliver."""

    def deliver(self, piece: Piece) -> None:
        """Hand a piece on, a large one in portions; waits while the queue is full (reader's thread)."""
        for portion in piece.portions() if isinstance(piece, Batch) else (piece,):
            self._put(portion)

    def give_way(self) -> None:
        """Somebody has pressed a key: let the reader rest a moment before its next piece (main loop)."""
        self._way_until = monotonic() + GIVE_WAY

    def _put(self, piece: Piece) -> None:
        if (rest := self._way_until - monotonic()) > 0:
            sleep(min(rest, GIVE_WAY))
        while not self._closed:
            try:
                self._queue.put(piece, timeout=0.25)
            except queue.Full:
                continue
            self.tell()
            return

    def finish(self) -> None:
        """Nothing more will come (reader's thread)."""
        self.finished = True
        self.tell()

    def listen(self, announce: Callable[[], None]) -> None:
        """`announce` is called from now on, on the reader's thread, when something came since the last `take`."""
        self._announce = announce
        self._announced = False
        if self.waiting or self.finished:
            self.tell()

    def take(self, seconds: float, patience: float = 0.0) -> Iterator[Piece]:
        """What is waiting, for about `seconds` at most; the first may be `patience` seconds away (main loop)."""
        self._announced = False
        end = perf_counter() + seconds
        while True:
            try:
                yield self._queue.get(timeout=patience) if patience else self._queue.get_nowait()
            except queue.Empty:
                return
            patience = 0.0
            if perf_counter() >= end:
                return

    @property
    def waiting(self) -> bool:
        return not self._queue.empty()

    def close(self) -> None:
        """Drop what comes from now on, so that the reader can end (main loop)."""
        self._closed = True

    def tell(self) -> None:
        """Let the main loop look, even where nothing is waiting (reader's thread)."""
        # A stale True here is harmless: `take` lowers the flag before it looks into the queue.
        if not self._announced and not self._closed:
            self._announced = True
            self._announce()
