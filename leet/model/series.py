"""The points of one metric."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from leet.model.abscissa import Abscissa
from leet.model.growing import Growing, room_for
from leet.model.thinning import Pyramid, ascending, ends_of, even_edges, extremes, first_of_each

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int32]
Indices = npt.NDArray[np.int64]

_DIRECT = 64
"""Points per column up to which their extremes are looked up one by one."""


class Series:
    """Values of one metric and the row of each: 12 bytes per point, float64 and int32, nothing else per point.

    `values` and `rows` are views of what is there; a view taken before an `append` does not grow.
    """

    __slots__ = ("_nonfinite", "_pyramid", "_rows", "_values", "count")

    def __init__(self) -> None:
        self._values: Floats = np.empty(0, np.float64)
        self._rows: Rows = np.empty(0, np.int32)
        self.count = 0
        self._nonfinite: Growing[np.int32] | None = None
        self._pyramid: Pyramid | None = None

    def __len__(self) -> int:
        return self.count

    def append(self, rows: Rows, values: Floats) -> None:
        """Add points; `rows` ascend and are not below those already here. Shapes [n], [n]."""
        start, end = self.count, self.count + len(values)
        if end > len(self._values):
            capacity = room_for(end, len(self._values))
            grown_values, grown_rows = np.empty(capacity), np.empty(capacity, np.int32)
            grown_values[:start] = self._values[:start]
            grown_rows[:start] = self._rows[:start]
            self._values, self._rows = grown_values, grown_rows
        self._values[start:end] = values
        self._rows[start:end] = rows
        self.count = end
        finite = np.isfinite(values)
        if not finite.all():
            if self._nonfinite is None:
                self._nonfinite = Growing(np.int32)
            self._nonfinite.append((np.flatnonzero(~finite) + start).astype(np.int32))

    @property
    def values(self) -> Floats:
        return self._values[: self.count]

    @property
    def rows(self) -> Rows:
        return self._rows[: self.count]

    @property
    def last(self) -> float:
        """The newest value; NaN when there is none."""
        return float(self._values[self.count - 1]) if self.count else math.nan

    @property
    def nonfinite(self) -> int:
        """How many values are NaN or infinite."""
        return len(self._nonfinite) if self._nonfinite is not None else 0

    def window(
        self, x: Floats | Abscissa, lo: float | None = None, hi: float | None = None, columns: int = 200
    ) -> tuple[Floats, Floats]:
        """The points with `lo <= x <= hi` (None: open), thinned for a chart of `columns` columns of dots.

        Every point that comes back is a point of the series, in its order. Of each column of the window there are the
        first, the last, a lowest, a highest and the first non-finite one (as a mark), hence at most five; one point
        beyond each end of the window lets the curve run off its edge. `x`: one value per point, float64 [count], or
        an `Abscissa`. An x that does not ascend is cut by a mask, and columns then are pieces of equally many points.
        """
        axis = x if isinstance(x, Abscissa) else Abscissa.plain(x)
        values = self.values
        columns = max(1, columns)
        chosen = (
            self._ascending_window(axis, lo, hi, columns)
            if axis.ascending
            else self._masked_window(axis.array(), lo, hi, columns)
        )
        if isinstance(chosen, slice):
            return axis.at(chosen).copy(), values[chosen].copy()
        return axis.at(chosen), values[chosen]

    def _ascending_window(self, axis: Abscissa, lo: float | None, hi: float | None, columns: int) -> Indices | slice:
        start, stop = axis.first, len(axis)
        first = start
        if lo is not None:
            start = max(first, int(axis.places(np.array([lo]), "left")[0]))
        if hi is not None:
            stop = max(start, int(axis.places(np.array([hi]), "right")[0]))
        outer = slice(max(first, start - 1), min(len(axis), stop + 1))
        if outer.stop - outer.start <= 4 * columns:
            return outer
        edges = self._edges(axis, start, stop, lo, hi, columns)
        beyond = np.array([i for i in (start - 1, stop) if first <= i < len(axis)], np.int64)
        return ascending([beyond, self._kept(edges)])

    def _edges(
        self, axis: Abscissa, start: int, stop: int, lo: float | None, hi: float | None, columns: int
    ) -> Indices:
        """Indices at which the columns begin, and the end: columns are equally wide in x where that can be."""
        ends: list[float] = axis.at(np.array([start, stop - 1])).tolist()
        left, right = ends[0] if lo is None else lo, ends[1] if hi is None else hi
        width = (right - left) / columns
        if not (math.isfinite(width) and width > 0):
            return even_edges(start, stop, columns)
        inner = axis.places(left + width * np.arange(1, columns, dtype=np.float64), "left")
        return np.concatenate([[start], np.clip(inner, start, stop), [stop]])

    def _kept(self, edges: Indices) -> Indices:
        """The indices that stay of each column."""
        kept = [ends_of(edges), extremes(self.values, self._pyramid_for(edges), edges)]
        if self._nonfinite is not None:
            marks = self._nonfinite.view
            marks = marks[np.searchsorted(marks, np.int32(edges[0])) : np.searchsorted(marks, np.int32(edges[-1]))]
            kept.append(first_of_each(marks.astype(np.int64), edges))
        return np.concatenate(kept)

    def _pyramid_for(self, edges: Indices) -> Pyramid | None:
        if edges[-1] - edges[0] <= _DIRECT * (len(edges) - 1):
            return None
        if self._pyramid is None:
            self._pyramid = Pyramid()
        self._pyramid.extend(self.values)
        return self._pyramid

    def _masked_window(self, x: Floats, lo: float | None, hi: float | None, columns: int) -> Indices:
        inside = np.isfinite(x)
        known = inside.copy()
        if lo is not None:
            inside &= x >= lo
        if hi is not None:
            inside &= x <= hi
        near = inside.copy()
        near[1:] |= inside[:-1]
        near[:-1] |= inside[1:]
        chosen = np.flatnonzero(near & known)
        if len(chosen) <= 4 * columns:
            return chosen
        edges = even_edges(0, len(chosen), columns)
        y, x = self.values[chosen], x[chosen]
        marks = np.flatnonzero(~np.isfinite(y))
        kept = [ends_of(edges), extremes(y, None, edges), extremes(x, None, edges), first_of_each(marks, edges)]
        return chosen[ascending(kept)]


def thinned(x: Floats, y: Floats, window: tuple[float, float], columns: int) -> tuple[Floats, Floats]:
    """The points with these x and y that `Series.window` would give of them."""
    series = Series()
    series.append(np.arange(len(y), dtype=np.int32), y)
    return series.window(x, *window, columns)
