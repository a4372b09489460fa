"""Makes what tiles show on a thread of its own, and keeps what was made last.

    wall ── want([...]) ─►  thread: what is missing, in that order ─► made, the least used forgotten ─► announce()
         ◄─ content(w)  ──  what was made of it, or of an earlier wish for the same tile

What failed is tried again after a second, then after two, four, … while it is wanted.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from leet.model.media import Tile
from leet.model.media_content import Content, Fetch, Histograms, Labels, Trouble, Wanted, make
from leet.model.picture_file import Color, Picture

MOST_BYTES = 48 * 1024 * 1024
"""Of pictures and histograms that are kept."""
MOST_KEPT = 400
FIRST_RETRY, LAST_RETRY = 1.0, 30.0
"""Seconds until what failed is tried again, at first and at most."""


@dataclass(slots=True)
class _Made:
    content: Content
    size: int
    again: float = 0.0
    """When it is to be tried again (monotonic seconds); 0 for what is good."""
    wait: float = FIRST_RETRY


class MediaLoader:
    """The contents of one run's tiles. All methods are called on the main loop."""

    def __init__(self, announce: Callable[[], None], colors: Sequence[Color], fetch: Fetch | None = None) -> None:
        """`announce` is called on the thread when something has been made; `fetch` brings files that are not here."""
        self._fetch = fetch
        self._announce = announce
        self._colors = tuple(colors)
        self._lock = threading.Condition()
        self._made: OrderedDict[Wanted, _Made] = OrderedDict()
        self._bytes = 0
        self._wanted: tuple[Wanted, ...] = ()
        self._labels: dict[str, Labels] = {}
        self._last: dict[Tile, Wanted] = {}
        self._thread: threading.Thread | None = None
        self._closed = False

    def want(self, wanted: Sequence[Wanted], labels: dict[str, Labels]) -> None:
        """Make these next, the first first; `labels` by key of the series. What was wanted before is not any more."""
        with self._lock:
            self._wanted, self._labels = tuple(wanted), labels
            if self._next() is not None:
                if self._thread is None:
                    self._thread = threading.Thread(target=self._work, name="media", daemon=True)
                    self._thread.start()
                self._lock.notify()

    def content(self, wanted: Wanted) -> Content | None:
        """What was made of it; else what was made last for its tile in the same form; else None."""
        with self._lock:
            made = self._made.get(wanted)
            if made is not None:
                self._made.move_to_end(wanted)
                self._last[wanted.tile] = wanted
                return made.content
            last = self._last.get(wanted.tile)
            if last is None or last.generation != wanted.generation or last.box != wanted.box:
                return None
            made = self._made.get(last)
            return made.content if made is not None and not isinstance(made.content.shown, Trouble) else None

    def is_made(self, wanted: Wanted) -> bool:
        """Whether it has been made, or has failed and is not to be tried again yet."""
        with self._lock:
            return wanted in self._made

    def retry_in(self) -> float | None:
        """Seconds until something that is wanted, and has failed, is tried again."""
        with self._lock:
            made = [self._made[wanted] for wanted in self._wanted if wanted in self._made]
            times = [one.again for one in made if one.again]
            return max(0.0, min(times) - time.monotonic()) if times else None

    def settled(self) -> bool:
        """Nothing that is wanted is still to be made."""
        with self._lock:
            return self._next() is None

    def wait(self, seconds: float) -> bool:
        """Until all that is wanted has been made, for pictures of the screen; whether it has."""
        limit = time.monotonic() + seconds
        while not self.settled():
            if time.monotonic() > limit or self._thread is None:
                return False
            time.sleep(0.005)
        return True

    def close(self) -> None:
        """Make nothing any more."""
        with self._lock:
            self._closed = True
            self._wanted = ()
            self._made.clear()
            self._lock.notify()

    # The thread

    def _next(self) -> Wanted | None:
        """The first that is missing. With the lock held."""
        now = time.monotonic()
        for wanted in self._wanted:
            made = self._made.get(wanted)
            if made is None or (made.again and made.again <= now):
                return wanted
        return None

    def _work(self) -> None:
        while True:
            with self._lock:
                self._lock.wait_for(lambda: self._closed or self._next() is not None)
                wanted = self._next()
                if wanted is None:
                    return
                labels = self._labels.get(wanted.tile.key, {})
            try:
                content = make(wanted, labels, self._colors, self._fetch)
            except Exception as error:  # decoders of foreign files may raise anything; the tile says so
                content = Content(None, Trouble(f"cannot be shown: {error!r}"))
            with self._lock:
                if self._closed:
                    return
                self._keep(wanted, content)
            self._announce()

    def _keep(self, wanted: Wanted, content: Content) -> None:
        before = self._made.pop(wanted, None)
        made = _Made(content, _size(content))
        if isinstance(content.shown, Trouble) and content.shown.passing:
            made.wait = min(before.wait * 2, LAST_RETRY) if before is not None else FIRST_RETRY
            made.again = time.monotonic() + made.wait
        self._bytes += made.size - (before.size if before is not None else 0)
        self._made[wanted] = made
        self._last.setdefault(wanted.tile, wanted)
        while len(self._made) > 1 and (self._bytes > MOST_BYTES or len(self._made) > MOST_KEPT):
            oldest = next(iter(self._made))
            if oldest in self._wanted and len(self._made) <= len(self._wanted):
                break
            self._bytes -= self._made.pop(oldest).size


def _size(content: Content) -> int:
    shown = content.shown
    if isinstance(shown, Picture):
        return int(shown.pixels.nbytes) + len(content.sequence)
    if isinstance(shown, Histograms):
        return sum(16 * len(value[0]) + 200 for value in shown.values if value is not None)
    return 2000
