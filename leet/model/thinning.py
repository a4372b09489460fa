"""Fewer points that draw the same picture: first, last, lowest and highest of every column of dots.

To find the extremes of a column that covers thousands of points, a pyramid remembers them for buckets of 16 points,
of 16 such buckets, and so on (as indices: what is drawn is always a real point):

    values    . . . . . . . . . . . . . . . . | . . . . . . . . . . . . . . . . | . . . .
    level 1   lowest, highest of 16             lowest, highest of 16
    level 2   lowest, highest of 16 buckets of level 1 …

A column [a, b) is then covered by a few loose points at its ends, a few buckets of level 1 beside them, and so on.
It costs half a byte per point, is built when a window first needs it and extended as points arrive.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from leet.model.growing import Growing

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

FAN = 16
"""Buckets of one level that make one of the next."""


class Pyramid:
    """Indices of the lowest and highest finite value in complete buckets of 16, 256, 4096, … values."""

    __slots__ = ("highest", "lowest")

    def __init__(self) -> None:
        self.lowest: list[Growing[np.int32]] = []
        self.highest: list[Growing[np.int32]] = []

    def extend(self, values: Floats) -> None:
        """Take in the values that were appended; `values` are all values, of which the old ones did not change."""
        below: tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]] | None = None
        count = len(values)
        level = 0
        while count >= FAN:
            if level == len(self.lowest):
                self.lowest.append(Growing(np.int32))
                self.highest.append(Growing(np.int32))
            low, high = self.lowest[level], self.highest[level]
            done, count = len(low), count // FAN
            if count > done:
                span = slice(done * FAN, count * FAN)
                if below is None:
                    fresh = values[span].reshape(-1, FAN)
                    finite = np.isfinite(fresh)
                    base = np.arange(done, count, dtype=np.int32) * FAN
                    low.append(base + np.where(finite, fresh, np.inf).argmin(1).astype(np.int32))
                    high.append(base + np.where(finite, fresh, -np.inf).argmax(1).astype(np.int32))
                else:
                    low.append(_pick(values, below[0][span].reshape(-1, FAN), 1.0))
                    high.append(_pick(values, below[1][span].reshape(-1, FAN), -1.0))
            below = low.view, high.view
            level += 1


def _pick(values: Floats, candidates: npt.NDArray[np.int32], sign: float) -> npt.NDArray[np.int32]:
    """In each row of candidates the index of the lowest finite value (sign 1) or the highest (sign -1)."""
    chosen = values[candidates]
    best = np.where(np.isfinite(chosen), sign * chosen, np.inf).argmin(1)
    picked: npt.NDArray[np.int32] = candidates[np.arange(len(candidates)), best]
    return picked


def extremes(values: Floats, pyramid: Pyramid | None, edges: Indices) -> Indices:
    """Indices of a lowest and a highest finite value of each column; `edges[i]:edges[i + 1]` is column i."""
    start, stop = edges[:-1], edges[1:]
    filled = stop > start
    start, stop = start[filled], stop[filled]
    if not len(start):
        return np.empty(0, np.int64)
    if pyramid is None:
        # The columns lie side by side: one pass over all of their values.
        window = values[start[0] : stop[-1]]
        finite = np.isfinite(window)
        columns = start - start[0]
        sizes = stop - start
        low = _first_least(np.where(finite, window, np.inf), columns, sizes)
        high = _first_least(np.where(finite, -window, np.inf), columns, sizes)
        found = np.concatenate([low, high]) + start[0]
    else:
        low_points, low_columns, high_points, high_columns = _cover(pyramid, start, stop)
        low = _least_by_column(values, low_points, low_columns, 1.0)
        high = _least_by_column(values, high_points, high_columns, -1.0)
        found = np.concatenate([low, high])
    finite_ones: Indices = found[np.isfinite(values[found])]
    return finite_ones


def _cover(pyramid: Pyramid, start: Indices, stop: Indices) -> tuple[Indices, Indices, Indices, Indices]:
    """Candidates for the lowest and the highest value of each column, as points and the columns they belong to."""
    lows, low_columns, highs, high_columns = [], [], [], []
    top = len(pyramid.lowest)
    columns = np.arange(len(start))
    for level in range(top + 1):
        climbs = (stop - start >= 2 * FAN) & (level < top)
        up_start, up_stop = -(-start // FAN), stop // FAN
        begin = np.concatenate([start, up_stop[climbs] * FAN])
        end = np.concatenate([np.where(climbs, up_start * FAN, stop), stop[climbs]])
        nodes, owner = _ranges(begin, end, np.concatenate([columns, columns[climbs]]))
        lows.append(nodes if level == 0 else pyramid.lowest[level - 1].view[nodes].astype(np.int64))
        highs.append(nodes if level == 0 else pyramid.highest[level - 1].view[nodes].astype(np.int64))
        low_columns.append(owner)
        high_columns.append(owner)
        start, stop, columns = up_start[climbs], up_stop[climbs], columns[climbs]
        if not len(columns):
            break
    return np.concatenate(lows), np.concatenate(low_columns), np.concatenate(highs), np.concatenate(high_columns)


def _ranges(start: Indices, stop: Indices, owner: Indices) -> tuple[Indices, Indices]:
    """All numbers of the ranges one after the other, and the owner of the range of each."""
    sizes = stop - start
    total = int(sizes.sum())
    ends = np.cumsum(sizes)
    numbers = np.arange(total) + np.repeat(start - (ends - sizes), sizes)
    return numbers, np.repeat(owner, sizes)


def _least_by_column(values: Floats, points: Indices, columns: Indices, sign: float) -> Indices:
    """The point with the lowest finite value (sign 1; highest: -1) of each column."""
    order = np.argsort(columns.astype(np.int32), kind="stable")
    points, columns = points[order], columns[order]
    candidates = values[points]
    candidates = np.where(np.isfinite(candidates), sign * candidates, np.inf)
    first = np.flatnonzero(np.concatenate([[True], columns[1:] != columns[:-1]]))
    sizes = np.diff(np.append(first, len(columns)))
    return points[_first_least(candidates, first, sizes)]


def _first_least(values: Floats, first: Indices, sizes: Indices) -> Indices:
    """Position of the first least value in each of the adjoining groups that begin at `first`."""
    least = np.minimum.reduceat(values, first)
    hits = np.flatnonzero(values == np.repeat(least, sizes))
    group = np.searchsorted(first, hits, side="right")
    firsts: Indices = hits[np.concatenate([[True], group[1:] != group[:-1]])]
    return firsts


def even_edges(start: int, stop: int, columns: int) -> Indices:
    """Edges of columns with equally many points."""
    return np.linspace(start, stop, columns + 1).astype(np.int64)


def ends_of(edges: Indices) -> Indices:
    """First and last index of each column that has any."""
    start, stop = edges[:-1], edges[1:]
    filled = stop > start
    return np.concatenate([start[filled], stop[filled] - 1])


def first_of_each(indices: Indices, edges: Indices) -> Indices:
    """Of ascending indices the first one in each column."""
    column = np.searchsorted(edges, indices, side="right")
    return indices[np.concatenate([[True], column[1:] != column[:-1]])] if len(indices) else indices


def ascending(parts: Sequence[Indices]) -> Indices:
    """All of these indices in order, each once. `np.unique` would load masked arrays first."""
    indices = np.sort(np.concatenate(parts))
    kept = np.ones(len(indices), bool)
    np.not_equal(indices[1:], indices[:-1], out=kept[1:])
    return indices[kept]
