"""The points of many series that nobody looks at, in a few arrays for all of them.

A run with twenty thousand metrics delivers one or two points of each at a time. Appending them one by one would take
a tenth of a second per row of history, so such a batch is kept as it came:

    segment    ids     [ 0, 1, 2, … ]        which series
               starts  [ 0, 1, 2, … ]        where its points begin in
               rows    [ 7, 7, 7, … ]
               values  [ .3, .1, .9, … ]

Eight segments of one size are merged into one of the next size, so that there are few to look through and every
point is moved a few times only. A series is taken out, into arrays of its own, when somebody wants to see it; its
points in the segments are then dead, and the next merge drops them.

    batch ─► segments ─► one segment of series that have grown long ─► set aside ─► arrays of their own, some at a time

Then there are no dead points left, and new ones of every series, also of those that were looked at, come here again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int32]
Ids = npt.NDArray[np.int32]
Offsets = npt.NDArray[np.int64]

_FAN = 8
"""Segments of one size that become one of the next."""
_LONG = 64
"""Points per series from which on arrays of their own are cheaper than merging."""
_AT_A_TIME = 512
"""Series that leave with each batch, once they are long: all at once would take a tenth of a second."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Points grouped by series: those of `ids[i]` are `rows[starts[i]:starts[i + 1]]` and the same of `values`."""

    ids: Ids
    starts: Offsets
    rows: Rows
    values: Floats
    size: int
    """How many times eight segments were merged to make this one."""


class ShortSeries:
    """Segments of points of series, which are known by small numbers."""

    def __init__(self) -> None:
        self._segments: list[Segment] = []
        self._aside: Segment | None = None
        self._gone = np.zeros(0, np.bool_)
        """Which series of the segment that is set aside have been taken out of it, by their place."""
        self._next = 0

    def __bool__(self) -> bool:
        return bool(self._segments) or self._aside is not None

    def append(self, ids: Ids, starts: Offsets, rows: Rows, values: Floats, alive: npt.NDArray[np.bool_]) -> None:
        """Add points, none of which may precede older ones of its series.

        `alive[id]`: the points of that series are still here. Shapes: ids [n], starts [n + 1], rows and values
        [starts[n]], alive [at least the largest id + 1].
        """
        self._segments.append(Segment(ids, starts, rows, values, 0))
        while len(self._segments) >= _FAN and self._segments[-_FAN].size == self._segments[-1].size:
            self._segments[-_FAN:] = [_merged(self._segments[-_FAN:], alive)]

    def take(self, series: int) -> tuple[Rows, Floats]:
        """The points of one series (copies), in order; the caller counts those in the segments as dead."""
        rows: list[Rows] = []
        values: list[Floats] = []
        if self._aside is not None:
            for at in np.flatnonzero((self._aside.ids == series) & ~self._gone).tolist():
                self._gone[at] = True
                _add(self._aside, at, rows, values)
        for segment in self._segments:
            for at in np.flatnonzero(segment.ids == series).tolist():
                _add(segment, at, rows, values)
        if not rows:
            return np.empty(0, np.int32), np.empty(0)
        return np.concatenate(rows), np.concatenate(values)

    def set_aside(self, alive: npt.NDArray[np.bool_]) -> bool:
        """Set all points aside if series have grown long: from then on none here are dead, whatever `alive` says."""
        if len(self._segments) != 1 or self._aside is not None:
            return False
        [segment] = self._segments
        if len(segment.values) < _LONG * len(segment.ids):
            return False
        self._segments.clear()
        self._aside, self._gone, self._next = segment, ~alive[segment.ids], 0
        return True

    def leave(self) -> Iterator[tuple[int, Rows, Floats]]:
        """Some of the series that are set aside, with their points, which are here no more."""
        segment = self._aside
        if segment is None:
            return
        first, self._next = self._next, min(self._next + _AT_A_TIME, len(segment.ids))
        for at in range(first, self._next):
            if not self._gone[at]:
                self._gone[at] = True
                part = slice(int(segment.starts[at]), int(segment.starts[at + 1]))
                yield int(segment.ids[at]), segment.rows[part], segment.values[part]
        if self._next == len(segment.ids):
            self._aside = None


def _add(segment: Segment, at: int, rows: list[Rows], values: list[Floats]) -> None:
    part = slice(int(segment.starts[at]), int(segment.starts[at + 1]))
    rows.append(segment.rows[part])
    values.append(segment.values[part])


def _merged(segments: list[Segment], alive: npt.NDArray[np.bool_]) -> Segment:
    """One segment with the living points of several, in their order."""
    if (alike := _interleaved(segments, alive)) is not None:
        return alike
    owners = np.concatenate([np.repeat(s.ids, np.diff(s.starts)) for s in segments])
    order = np.argsort(owners, kind="stable")
    order = order[alive[owners[order]]]
    owners = owners[order]
    first = np.flatnonzero(np.concatenate([[True], owners[1:] != owners[:-1]])) if len(owners) else order[:0]
    return Segment(
        owners[first],
        np.append(first, len(owners)),
        np.concatenate([s.rows for s in segments])[order],
        np.concatenate([s.values for s in segments])[order],
        segments[-1].size + 1,
    )


def _interleaved(segments: list[Segment], alive: npt.NDArray[np.bool_]) -> Segment | None:
    """The same of segments of the same series, in each of which all series have as many points; None for others.

    That is how a run logs all of its metrics with every row: the points of a series are a row of a table, and tables
    are put side by side without sorting anything.

        [ a a ]   [ a ]     [ a a a ]
        [ b b ] + [ b ]  =  [ b b b ]
    """
    ids = segments[0].ids
    count = len(ids)
    for segment in segments:
        if not count or len(segment.ids) != count or len(segment.values) % count:
            return None
        each = len(segment.values) // count
        if not np.array_equal(segment.ids, ids) or (np.diff(segment.starts) != each).any():
            return None
    rows = np.concatenate([s.rows.reshape(count, -1) for s in segments], axis=1)
    values = np.concatenate([s.values.reshape(count, -1) for s in segments], axis=1)
    if not (living := alive[ids]).all():
        ids, rows, values = ids[living], rows[living], values[living]
    each = rows.shape[1]
    return Segment(ids, np.arange(len(ids) + 1) * each, rows.ravel(), values.ravel(), segments[-1].size + 1)
