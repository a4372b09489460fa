"""How it stands with the line to another machine: numbers for whoever shows them."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from leet.remote.address import Address

WINDOW = 4.0
"""Seconds over which the rate is measured."""
LEAST = 256
"""Bytes at once that count: an answer that nothing is new is no traffic worth showing."""
ANNOUNCE_SECONDS = 1.0
"""Least time between two announcements of mere numbers."""


@dataclass(frozen=True, slots=True)
class LinkState:
    """The line at one moment."""

    kind: Literal["connecting", "up", "lost", "refused", "gone"]
    reason: str = ""
    """Why it is not up, one line from the far side or from ssh."""
    missing: int = 0
    """Bytes that are known to be there and have not come; some of the newest may have."""
    again: float = 0.0
    """When the next attempt to connect is made, in seconds of `time.monotonic`."""
    since: float = 0.0
    """When the newest bytes that there were had come last, in seconds of `time.monotonic`."""


class Link:
    """The state of the line, changed by the thread that fetches and read by the one that draws."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.state = LinkState("connecting", since=time.monotonic())
        self.total = 0
        """Bytes that have come."""
        self._pieces: deque[tuple[float, int]] = deque()
        self._lock = threading.Lock()
        self._announce: Callable[[], None] = lambda: None
        self._announced = 0.0

    def listen(self, announce: Callable[[], None]) -> None:
        """`announce` is called when the state has changed, in the thread that fetches."""
        self._announce = announce

    @property
    def rate(self) -> float:
        """Bytes a second that came of late."""
        now = time.monotonic()
        with self._lock:
            while self._pieces and self._pieces[0][0] < now - WINDOW:
                self._pieces.popleft()
            if not self._pieces:
                return 0.0
            return sum(size for _, size in self._pieces) / max(now - self._pieces[0][0], 1.0)

    @property
    def complete(self) -> bool:
        """All that there was at the last look is here."""
        return self.state.kind == "up" and not self.state.missing

    @property
    def lag(self) -> float:
        """Seconds since the newest bytes that there were had come."""
        return time.monotonic() - self.state.since

    def heard(self, size: int) -> None:
        """Bytes have come."""
        if size < LEAST:
            return
        with self._lock:
            self.total += size
            self._pieces.append((time.monotonic(), size))
        self._tell()

    def fetched(self, have: int, size: int, *, seen: int | None = None) -> None:
        """So much of so much is here, from the beginning; `seen`: and the newest part up to that offset."""
        now = time.monotonic()
        known = self.state
        missing = max(0, size - have)
        current = size <= (have if seen is None else seen)
        self.state = LinkState("up", missing=missing, since=now if current else known.since)
        self._tell(at_once=known.kind != "up" or bool(known.missing and not missing))

    def lost(self, reason: str, wait: float, *, refused: bool = False) -> None:
        """The connection is gone; a new one is tried in `wait` seconds."""
        again = time.monotonic() + wait
        self.state = LinkState("refused" if refused else "lost", reason, again=again, since=self.state.since)
        self._tell(at_once=True)

    def gone(self, reason: str) -> None:
        """The connection is there, the log is not."""
        self.state = LinkState("gone", reason, since=self.state.since)
        self._tell(at_once=True)

    def _tell(self, *, at_once: bool = False) -> None:
        now = time.monotonic()
        if at_once or now - self._announced >= ANNOUNCE_SECONDS:
            self._announced = now
            self._announce()
