"""Histograms over steps as one picture: x is the step, y the value, the colour how much of it there was.

    edges, counts of each step ─► shares of its total in the rows of the chart ─► colour, 1 is the fullest row

A step is shown until the next one. Rows need not be bins: the share of a bin is spread evenly over the rows it covers.
A single histogram is drawn as bars, and x is the share in per cent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from leet.charts.cells import Cells, Role
from leet.charts.layout import Layout, PlotArea, lay_out
from leet.charts.lettering import glyphs, to_ascii
from leet.charts.readout import value_text, x_text
from leet.charts.spec import Spec, Trace
from leet.charts.surround import clear_labels, draw_frame, draw_y_labels

Floats = npt.NDArray[np.float64]

_DENSITY = " .:-=+*#%@"
_BLOCKS = " ░▒▓█"
_LEVELS = 255
_FAINTEST = 0.02
"""Share of the fullest row below which a row is left empty."""


@dataclass(frozen=True, slots=True)
class Histogram:
    """One histogram: `counts` float64 [n], not negative, and `edges` float64 [n + 1], ascending and finite."""

    counts: Floats
    edges: Floats

    @classmethod
    def of(cls, counts: Sequence[float], edges: Sequence[float]) -> Histogram | None:
        """From what was logged; bins with an infinite edge, or counts that are none, are left out. None where
        nothing is left."""
        heights, bounds = np.asarray(counts, np.float64), np.asarray(edges, np.float64)
        if len(bounds) != len(heights) + 1:
            return None
        finite = np.flatnonzero(np.isfinite(bounds))
        if len(finite) < 2:
            return None
        first, last = int(finite[0]), int(finite[-1])
        heights, bounds = heights[first:last], bounds[first : last + 1]
        heights = np.where(np.isfinite(heights) & (heights > 0), heights, 0.0)
        if not np.all(np.isfinite(bounds)) or np.any(np.diff(bounds) < 0):
            return None
        return cls(heights, bounds)

    @property
    def total(self) -> float:
        return float(self.counts.sum())

    @property
    def mean(self) -> float:
        """Of the middles of the bins; NaN without any count."""
        total = self.total
        middles = self.edges[:-1] / 2 + self.edges[1:] / 2
        return float((middles * (self.counts / total)).sum()) if total > 0 else math.nan

    def span(self) -> tuple[float, float] | None:
        """From the first to the last bin that holds anything."""
        filled = np.flatnonzero(self.counts)
        return (float(self.edges[filled[0]]), float(self.edges[filled[-1] + 1])) if len(filled) else None

    def shares(self, bounds: Floats) -> Floats:
        """Which part of all counts lies between each two of `bounds`, which ascend. Shape [len(bounds) - 1]."""
        total = self.total
        if not total > 0:
            return np.zeros(len(bounds) - 1)
        below = np.concatenate(([0.0], np.cumsum(self.counts / total)))
        flat = np.diff(self.edges) == 0
        found: Floats = np.diff(np.interp(bounds, self.edges, below))
        for i in np.flatnonzero(flat & (self.counts > 0)).tolist():  # a bin without width: all in one row
            row = int(np.clip(np.searchsorted(bounds, self.edges[i], "right") - 1, 0, len(found) - 1))
            found[row] = max(found[row], float(self.counts[i]) / total)
        return found


@dataclass(frozen=True, slots=True)
class Distribution:
    """Histograms in order of x, float64 [n]."""

    x: Floats
    histograms: tuple[Histogram, ...]
    drawn: dict[tuple[float, float, int], Floats] = field(default_factory=dict, compare=False)

    def span(self) -> tuple[float, float]:
        """Lowest and highest value of all of them, a little apart in any case."""
        spans = [span for span in (histogram.span() for histogram in self.histograms) if span is not None]
        low, high = (min(s[0] for s in spans), max(s[1] for s in spans)) if spans else (0.0, 1.0)
        if not high > low:
            reach = abs(low) * 0.1 or 1.0
            low, high = low - reach, high + reach
        return low, high

    def index_at(self, x: float) -> int | None:
        """The newest at or before `x`."""
        index = int(np.searchsorted(self.x, x, "right")) - 1
        return index if index >= 0 else None

    def levels(self, low: float, high: float, rows: int) -> Floats:
        """Shares of the fullest row, float64 [n, rows], the lowest value in the last row."""
        known = self.drawn.get((low, high, rows))
        if known is None:
            bounds = np.linspace(low, high, rows + 1)
            known = np.stack([histogram.shares(bounds)[::-1] for histogram in self.histograms])
            fullest = known.max(axis=1, keepdims=True)
            known = np.where(fullest > 0, known / np.where(fullest > 0, fullest, 1.0), 0.0)
            self.drawn.clear()
            self.drawn[low, high, rows] = known
        return known


def draw_distribution(spec: Spec, found: Distribution, width: int, height: int) -> Cells:
    """The histograms in a chart of `width` × `height` cells, with the frame and the axes of `spec`."""
    cells = Cells(max(width, 1), max(height, 1))
    signs = glyphs(spec)
    spec, layout = _lay_out(spec, found, width, height)
    area = layout.area
    at = found.index_at(spec.crosshair) if spec.crosshair is not None else len(found.x) - 1
    if at is not None and found.histograms:
        chosen = found.histograms[at]
        mean = value_text(chosen.mean, spec)
        spec = replace(spec, value=f"n {value_text(chosen.total, spec)}  mean {mean}")
    draw_frame(cells, spec, layout, signs)
    draw_y_labels(cells, spec, layout, signs)
    if found.histograms and area.width > 0 and area.height > 0:
        _paint(cells, spec, found, layout)
    elif len("no data") <= area.width:
        cells.put(area.left + (area.width - 7) // 2, area.top + area.height // 2, "no data", Role.NOTE)
    if spec.crosshair is not None and math.isfinite(spec.crosshair):
        column = area.column_of(spec.crosshair)
        if column is not None:
            rows = slice(area.top, area.top + area.height)
            free = cells.codes[rows, column] == 32
            cells.codes[rows, column][free] = ord(signs.hairline)
            cells.roles[rows, column][free] = Role.CROSSHAIR
            text = f" {x_text(spec.crosshair, spec, layout)} "
            if layout.framed and len(text) <= area.width:
                start = min(max(column - len(text) // 2, area.left), area.left + area.width - len(text))
                clear_labels(cells, start, start + len(text), signs)
                cells.put(start, cells.height - 1, text, Role.READOUT)
    if spec.ascii:
        to_ascii(cells)
    return cells


def distribution_area(spec: Spec, found: Distribution, width: int, height: int) -> PlotArea:
    """Where `draw_distribution` draws, with the x axis along it."""
    return _lay_out(spec, found, width, height)[1].area


def _lay_out(spec: Spec, found: Distribution, width: int, height: int) -> tuple[Spec, Layout]:
    low, high = found.span()
    x = found.x if len(found.x) else np.zeros(0)
    middle = np.full(len(x), low / 2 + high / 2)
    spec = replace(spec, traces=(Trace(spec.title, x, middle),), y_range=(low, high), log_y=False, legend=False)
    layout = lay_out(spec, width, height)
    if len(found.histograms) == 1:
        shares = found.histograms[0].shares(np.linspace(low, high, max(layout.area.height, 1) + 1))
        most = 100 * float(shares.max()) or 1.0
        spec = replace(spec, x_label="%", x_kind="number", x_range=(0.0, most), crosshair=None)
        layout = lay_out(spec, width, height)
    return spec, layout


def _paint(cells: Cells, spec: Spec, found: Distribution, layout: Layout) -> None:
    area = layout.area
    levels = found.levels(layout.y.lo, layout.y.hi, area.height)
    ends = np.array([area.x_at(area.left + column) for column in range(area.width)])
    # A cell shows the newest histogram that begins in it or before.
    half = (ends[1] - ends[0]) / 2 if len(ends) > 1 else math.inf
    places = np.searchsorted(found.x, ends + half, "right") - 1
    known = places >= 0
    shares = levels[np.maximum(places, 0)].T
    if len(found.histograms) == 1:
        lengths = np.rint(levels[0] * area.width)
        shares = np.where(np.arange(area.width) < lengths[:, np.newaxis], levels[0][:, np.newaxis], 0.0)
        known = np.ones(area.width, np.bool_)
    there = (shares >= _FAINTEST) & known[np.newaxis, :]
    rows, columns = slice(area.top, area.top + area.height), slice(area.left, area.left + area.width)
    if spec.ascii or spec.monochrome:
        signs = np.array([ord(char) for char in (_DENSITY if spec.ascii else _BLOCKS)[1:]], np.uint32)
        codes = signs[np.minimum((shares * len(signs)).astype(np.intp), len(signs) - 1)]
    else:
        codes = np.full(shares.shape, ord("█"), np.uint32)
    cells.codes[rows, columns][there] = codes[there]
    cells.roles[rows, columns][there] = (Role.HEAT + np.rint(shares * _LEVELS)).astype(np.int16)[there]
