"""A filter applied to very many names, a moment at a time.

names (a tuple) ─► in lower case, remembered ─► slices that take a millisecond or two ─► found, in order
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from time import perf_counter, thread_time

from leet.model.filter import ONE_SUBJECT, TOO_LONG, TextFilter
from leet.model.time_limit import TimeLimitError, time_limit

PATIENCE = 4.0
"""Seconds of work after which a pattern is given up as too slow for so many names."""
_SHORT, _LONG = 0.001, 0.003
"""Seconds for which a slice is meant to take."""
_MOST = 4096
"""Names in a slice, at most."""


class NameSearch:
    """Which of these names pass a filter. `found` has those that are known so far, in the order of `names`.

    A pattern that proves too slow gets its `error` and finds nothing.
    """

    def __init__(self, wanted: TextFilter, names: Sequence[str]) -> None:
        self.wanted = wanted
        self.names = names
        self.found: Sequence[str] = []
        self.at = 0
        """So many of the names have been looked at."""
        self._size = 1
        self._spent = 0.0
        if not wanted:
            self.found, self.at = names, len(names)
        elif wanted.error is not None:
            self.at = len(names)
        self._low = [] if self.done else _lowered(names)

    @property
    def done(self) -> bool:
        return self.at >= len(self.names)

    def go_on(self, seconds: float = math.inf) -> bool:
        """Look at more names for about so long; whether all have been looked at."""
        began, now = thread_time(), perf_counter()
        end = now + seconds
        found = list(self.found) if not self.done else []
        while not self.done and now < end:
            part = slice(self.at, self.at + self._size)
            try:
                with time_limit(ONE_SUBJECT):
                    found += self.wanted.among(self.names[part], self._low[part])
            except TimeLimitError:
                if self._size > 1:  # it may be one of them that takes so long, or all of them together
                    self._size = 1
                    continue
                self._spent = math.inf
            before, now = now, perf_counter()
            self.at = min(part.stop, len(self.names))
            if now - before < _SHORT:
                self._size = min(2 * self._size, _MOST)
            elif now - before > _LONG:
                self._size = max(1, self._size // 2)
            if self._spent + thread_time() - began > PATIENCE:
                self.wanted.error = TOO_LONG
                found, self.at = [], len(self.names)
            self.found = found
        self._spent += thread_time() - began
        return self.done


_last: tuple[Sequence[str], list[str]] = ((), [])


def _lowered(names: Sequence[str]) -> list[str]:
    """The names in lower case; those of the last tuple are remembered."""
    global _last  # one entry, for the list that the user is filtering at this moment
    if _last[0] is names:
        return _last[1]
    low = "\n".join(names).lower().split("\n")
    if len(low) != len(names):  # a name has a line feed in it
        low = [name.lower() for name in names]
    if isinstance(names, tuple):
        _last = (names, low)
    return low
