"""What one thread leaves for another, who is told once for any number of things until he looks."""

from __future__ import annotations

import math
import queue
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Generic, TypeVar

T = TypeVar("T")


class Mailbox(Generic[T]):
    """A queue with a bell: `put` on any thread, `take` on the one that `announce` calls for."""

    def __init__(self, capacity: int = 0) -> None:
        """`capacity`: so many things wait at most, and who puts more waits too; 0 is without bound."""
        self._queue: queue.Queue[T] = queue.Queue(capacity)
        self._announce: Callable[[], None] = lambda: None
        self._announced = False
        self._closed = False

    def listen(self, announce: Callable[[], None]) -> None:
        """`announce` is called from now on, on a thread that puts, when something came since the last `take`."""
        self._announce = announce
        self._announced = False
        if self.waiting:
            self.tell()

    def put(self, item: T) -> None:
        """Leave something; waits while the box is full, and drops it once it is closed."""
        while not self._closed:
            try:
                self._queue.put(item, timeout=0.25)
            except queue.Full:
                continue
            self.tell()
            return

    def take(self, seconds: float = math.inf, patience: float = 0.0) -> Iterator[T]:
        """What is waiting, for about `seconds` at most; the first may be `patience` seconds away."""
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
        """Drop what comes from now on, so that who puts can end."""
        self._closed = True

    def tell(self) -> None:
        """Have somebody look, even where nothing is waiting."""
        # A stale True here is harmless: `take` lowers the flag before it looks into the queue.
        if not self._announced and not self._closed:
            self._announced = True
            self._announce()
