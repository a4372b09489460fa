"""The points of very many short series, in a few arrays for all of them.

A run with a hundred thousand metrics delivers one or two points of each at a time. Appending them one by one would
cost a second per row of history, so such a batch is kept as it came:

    segment    ids     [ 0, 1, 2, … ]        which series
               starts  [ 0, 1, 2, … ]        where its points begin in
               rows    [ 7, 7, 7, … ]
               values  [ .3, .1, .9, … ]

Eight segments of one size are merged into one of the next size, so that there are few to look through and every
point is moved a few times only. A series is taken out, into arrays of its own, when somebody wants to see it; its
points in the segments are then dead, and the next merge drops them. When series have grown long all are let go.
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
    """Segments of points of series that have no arrays of their own. Series are known by small numbers."""

    def __init__(self) -> None:
        self._segments: list[Segment] = []

    def append(self, ids: Ids, starts: Offsets, rows: Rows, values: Floats, alive: npt.NDArray[np.bool_]) -> None:
        """Add points, none of which may precede older ones of its series.

        `alive[id]`: the points of that series are still here. Shapes: ids [n], starts [n + 1], rows and values
        [starts[n]], alive [at least the largest id + 1].
        """
        self._segments.append(Segment(ids, starts, rows, values, 0))
        while len(self._segments) >= _FAN and self._segments[-_FAN].size == self._segments[-1].size:
            self._segments[-_FAN:] = [_merged(self._segments[-_FAN:], alive)]

    def take(self, series: int) -> tuple[Rows, Floats]:
        """The points of one series (copies), in order; they stay here, and the caller counts them as dead."""
        rows, values = [], []
        for segment in self._segments:
            for at in np.flatnonzero(segment.ids == series).tolist():
                part = slice(int(segment.starts[at]), int(segment.starts[at + 1]))
                rows.append(segment.rows[part])
                values.append(segment.values[part])
        if not rows:
            return np.empty(0, np.int32), np.empty(0)
        return np.concatenate(rows), np.concatenate(values)

    def let_go_of_long(self) -> Iterator[tuple[int, Rows, Floats]]:
        """All series with their points, and none are left here; nothing as long as they are short."""
        if len(self._segments) != 1:
            return
        [segment] = self._segments
        if len(segment.values) < _LONG * len(segment.ids):
            return
        self._segments.clear()
        bounds = segment.starts.tolist()
        for i, series in enumerate(segment.ids.tolist()):
            part = slice(bounds[i], bounds[i + 1])
            yield series, segment.rows[part], segment.values[part]


def _merged(segments: list[Segment], alive: npt.NDArray[np.bool_]) -> Segment:
    """One segment with the living points of several, in their order."""
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
