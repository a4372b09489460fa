"""The mean of several curves, and a band that tells how far they lie apart.

Curves are brought onto one grid of x first, because runs log at steps of their own:

    few x         where all curves together have at most `columns` different x in the window, the grid is these x, and
                  a curve between two of its points is the straight line between them
    many x        else the window is cut into `columns` bins of one width; a curve is, in the middle of each bin, the
                  mean of its points there, and the straight line between its neighbours where it has none there

A curve has no value before its first finite point and behind its last one, so that a run that ended early leaves the
mean from there on. At each x of the grid, with values v[1] … v[n] of the n curves that have one,

    mean       m = Σ v[i] / n
    range      min v[i] … max v[i]
    deviation  m - s … m + s,   s = √(Σ (v[i] - m)² / (n - 1)), 0 for n = 1

Values that are not finite are skipped. The mean is that of the values, also on a logarithmic axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Line = tuple[Floats, Floats]
"""x and y of a curve, float64 of one length."""
Band = Literal["range", "deviation", "off"]
BANDS: tuple[Band, ...] = ("range", "deviation", "off")
BAND_NAMES: dict[Band, str] = {"range": "min–max", "deviation": "± standard deviation", "off": "none"}


@dataclass(frozen=True, slots=True)
class Grid:
    """Where curves are compared: `x` ascends; `edges` of the bins around them (one more), None for single x."""

    x: Floats
    edges: Floats | None = None

    def same_as(self, other: Grid) -> bool:
        return (
            np.array_equal(self.x, other.x)
            and (self.edges is None) == (other.edges is None)
            and (self.edges is None or other.edges is None or np.array_equal(self.edges, other.edges))
        )


@dataclass(frozen=True, slots=True)
class GroupCurve:
    """What some curves have in common: float64 arrays of the length of `x`, which hold no NaN."""

    x: Floats
    mean: Floats
    low: Floats
    high: Floats
    count: npt.NDArray[np.int64]
    """How many curves there are at each x."""


def bins(low: float, high: float, columns: int) -> Grid:
    """The grid of `columns` bins between `low` and `high`."""
    edges = np.linspace(low, high, max(1, columns) + 1)
    return Grid((edges[:-1] + edges[1:]) / 2, edges)


def grid_for(lines: Sequence[Floats], low: float, high: float, columns: int) -> Grid:
    """The grid for curves with these x (any order) in the window `low` … `high`: their own x where these are few.

    Where a curve goes on beyond the window, its end is of the grid too, so that the mean runs off the edge.
    """
    if not high > low:
        return Grid(np.array([low]))
    inside = [x[(x >= low) & (x <= high)] for x in lines]
    if max((len(x) for x in inside), default=0) > columns:
        return bins(low, high, columns)
    own = _distinct(inside)
    if len(own) > columns:
        return bins(low, high, columns)
    left = any(bool((x < low).any()) for x in lines)
    right = any(bool((x > high).any()) for x in lines)
    return Grid(_distinct([own, np.array([low] * left), np.array([high] * right)]))


def _distinct(parts: Sequence[Floats]) -> Floats:
    """All of these numbers in order, each once. `np.unique` would load masked arrays first."""
    values = np.sort(np.concatenate([np.empty(0), *parts]))
    kept = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=kept[1:])
    return values[kept]


def on_grid(line: Line, grid: Grid) -> Floats:
    """y of a curve at each x of the grid; NaN where it has none."""
    x, y = line
    known = np.isfinite(x) & np.isfinite(y)
    if not known.all():
        x, y = x[known], y[known]
    if len(x) > 1 and bool((x[1:] < x[:-1]).any()):
        order = np.argsort(x, kind="stable")
        x, y = x[order], y[order]
    if not len(x):
        return np.full(len(grid.x), np.nan)
    nodes, values = _in_bins(x, y, grid.edges, grid.x) if grid.edges is not None else _once(x, y)
    with np.errstate(over="ignore", invalid="ignore"):
        found: Floats = np.interp(grid.x, nodes, values)
    found[(grid.x < nodes[0]) | (grid.x > nodes[-1])] = np.nan
    return found


def _once(x: Floats, y: Floats) -> Line:
    """Points of one x are one point with their mean."""
    first = np.flatnonzero(np.concatenate([[True], x[1:] != x[:-1]]))
    return (x, y) if len(first) == len(x) else (x[first], _means(y, first))


def _in_bins(x: Floats, y: Floats, edges: Floats, middles: Floats) -> Line:
    """The middle of every bin that has points with their mean, and the nearest point beyond each end."""
    places = x.searchsorted(edges)
    places[-1] = x.searchsorted(edges[-1], "right")
    filled = places[1:] > places[:-1]
    start, stop = places[:-1][filled], places[-1]
    means = _means(y[:stop], start) if len(start) else np.empty(0)
    before, after = slice(max(0, int(places[0]) - 1), int(places[0])), slice(int(stop), int(stop) + 1)
    nodes = np.concatenate([x[before], middles[filled], x[after]])
    return nodes, np.concatenate([y[before], means, y[after]])


def _means(y: Floats, start: npt.NDArray[np.int64]) -> Floats:
    """The mean of each adjoining piece of `y` that begins at `start` (none is empty), the last up to its end."""
    y, start = y[start[0] :], start - start[0]
    sizes = np.diff(np.append(start, len(y)))
    with np.errstate(over="ignore", invalid="ignore"):
        means: Floats = np.add.reduceat(y, start) / sizes
    if not np.isfinite(means).all():
        # The sum of large numbers is none, but that of their shares is.
        means = np.add.reduceat(y / np.repeat(sizes, sizes), start)
    return means


def group_curve(rows: Sequence[Floats], grid: Grid, band: Band) -> GroupCurve:
    """The mean and the band of curves that were brought onto `grid`, where there is at least one of them."""
    values = np.stack(rows) if len(rows) else np.empty((0, len(grid.x)))
    there = np.isfinite(values)
    count = np.count_nonzero(there, axis=0)
    some = count > 0
    values, there, count = values[:, some], there[:, some], count[some]
    zeroed = np.where(there, values, 0.0)
    # Divided first: the sum of large numbers is none.
    mean = (zeroed / np.maximum(count, 1)).sum(0)
    low = high = mean
    if band == "range":
        low = np.where(there, values, np.inf).min(0, initial=np.inf)
        high = np.where(there, values, -np.inf).max(0, initial=-np.inf)
        mean = np.clip(mean, low, high)
    elif band == "deviation":
        with np.errstate(over="ignore"):
            away = np.where(there, values - mean, 0.0)
            scale = np.maximum(np.abs(away).max(0, initial=0.0), 1e-300)
            spread = np.sqrt(((away / scale) ** 2).sum(0) / np.maximum(count - 1, 1)) * scale
            low, high = mean - spread, mean + spread
    return GroupCurve(grid.x[some], mean, low, high, count)
