"""Where the points of a series lie on the x axis.

The x values of a chart are never copied per metric. They are a column that all metrics share, and what belongs to a
point is found through its row:

    row axis (step, runtime, clock)    x of a point = grid[row of the point]
    custom step metric                 x of a point = the value that the step metric had last at that row
    plain                              x of point i = grid[i]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from leet.model.growing import is_ascending

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int32]
Indices = npt.NDArray[np.int64]
AxisKind = Literal["number", "duration", "clock", "decades", "duration decades"]
"""How x is labelled: plain numbers, seconds since a start, Unix seconds as time of day, or the first two by their
decades (log10), where a number without any lies at -inf."""
_LEAST = -1.7976931348623157e308


@dataclass(frozen=True, slots=True)
class Abscissa:
    """The x values of `len(self)` points. Valid until its store takes the next batch."""

    label: str
    kind: AxisKind
    grid: Floats
    """The x values there are, float64."""
    ascending: bool
    """No x is smaller than the one before and none is NaN, so that places can be found by bisection."""
    rows: Rows | None = None
    """Row of each point, ascending int32; None: point i lies at `grid[i]`."""
    grid_rows: Rows | None = None
    """Row of each x value, ascending int32; None: row r has `grid[r]`."""

    @classmethod
    def plain(cls, x: Floats, label: str = "", kind: AxisKind = "number", ascending: bool | None = None) -> Abscissa:
        """Points at given x values."""
        return cls(label, kind, x, is_ascending(x) if ascending is None else ascending)

    def __len__(self) -> int:
        return len(self.grid) if self.rows is None else len(self.rows)

    def at(self, points: Indices | slice) -> Floats:
        """x of the points with these indices; NaN before the first value of a step metric."""
        if self.rows is None:
            return self.grid[points]
        rows = self.rows[points]
        if self.grid_rows is None:
            return self.grid[rows]
        if not len(self.grid):
            return np.full(len(rows), np.nan)
        k = np.searchsorted(self.grid_rows, rows, side="right") - 1
        return np.where(k >= 0, self.grid[k], np.nan)

    def array(self) -> Floats:
        """x of all points."""
        return self.at(slice(None))

    @property
    def first(self) -> int:
        """Index of the first point that has an x."""
        if self.rows is None or self.grid_rows is None:
            return 0
        return int(np.searchsorted(self.rows, self.grid_rows[0])) if len(self.grid_rows) else len(self.rows)

    def places(self, x: Floats, side: Literal["left", "right"]) -> Indices:
        """Index of the first point at or after (`left`), or after (`right`), each x. For ascending ones only."""
        k: Indices = np.searchsorted(self.grid, x, side=side)
        if self.rows is None:
            return k
        if self.grid_rows is not None:
            # A point between two values of the step metric has the former: it lies at or after x as soon as its row
            # reaches that of the first such value.
            if not len(self.grid_rows):
                return np.full(len(k), len(self.rows))
            beyond = k == len(self.grid_rows)
            reached = self.grid_rows[np.minimum(k, len(self.grid_rows) - 1)]
            return np.where(beyond, len(self.rows), np.searchsorted(self.rows, reached))
        return np.searchsorted(self.rows, k.astype(np.int32))  # same type, or numpy would convert all rows

    @property
    def below(self) -> int:
        """How many points lie at -inf, and so nowhere."""
        if self.ascending:
            return max(0, int(self.places(np.array([_LEAST]), "left")[0]) - self.first)
        return int(np.count_nonzero(self.array() == -np.inf))

    def ends(self) -> tuple[float, float] | None:
        """Smallest and largest finite x of the points; None when no point has one."""
        first = self.first
        if first >= len(self):
            return None
        if self.ascending:
            low, high = self.at(np.array([first, len(self) - 1])).tolist()
            if low == -np.inf and high > low:
                first += self.below
                low = float(self.at(np.array([first]))[0])
            if np.isfinite(low) and np.isfinite(high):
                return low, high
        x = self.array()
        x = x[np.isfinite(x)]
        return (float(x.min()), float(x.max())) if len(x) else None
