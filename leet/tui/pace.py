"""How often each part of the screen follows the data."""

from __future__ import annotations

import math


def beat(moment: float, interval: float) -> float:
    """The first multiple of an interval at or after a moment: what is painted on beats is painted together."""
    return math.ceil(moment / interval - 1e-9) * interval


class Pace:
    """When each part of the screen may next be brought up to date, and which of them are behind."""

    def __init__(self, intervals: dict[str, float]) -> None:
        self._intervals = intervals
        self._next = dict.fromkeys(intervals, 0.0)
        self._behind: set[str] = set()

    def mark(self, *parts: str) -> None:
        self._behind.update(parts)

    def due(self, now: float) -> list[str]:
        """Parts that are behind and may be brought up to date now; the caller does so."""
        parts = [part for part in self._intervals if part in self._behind and self._next[part] <= now]
        for part in parts:
            self._behind.discard(part)
            interval = self._intervals[part]
            self._next[part] = beat(now + interval / 2, interval)
        return parts

    def wait(self, now: float) -> float | None:
        """Seconds until something is due; None when nothing is behind."""
        return max(0.0, min(self._next[part] for part in self._behind) - now) if self._behind else None
