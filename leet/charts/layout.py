"""Where the parts of a chart go: frame, labels, legend and plot, for any size from one cell up."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from leet.charts.curve import Curve, prepare
from leet.charts.lettering import chart_unit
from leet.charts.scale import Scale, apart, rounded_antilog, snapped
from leet.charts.spec import Spec
from leet.charts.ticks import (
    Ticks,
    clock_ticks,
    duration_ticks,
    log_duration_ticks,
    log_ticks,
    number_ticks,
    round_step,
)
from leet.model.units import format_value

_WIDEST_CONSTANT = 9
"""Columns of the label that a constant has as its only one."""
_LEAST_PLOT = 12
"""Columns of plot that y labels must leave."""
THRESHOLD_ROOM = 3.0
"""Times its range that an axis grows to, at most, so that a threshold is seen."""
_LEGEND_FROM = 7
"""Rows that a chart must have before a legend takes one of them."""


@dataclass(frozen=True, slots=True)
class PlotArea:
    """The cells in which curves are drawn, and the x axis along them.

    Columns and rows count from the upper left corner of the chart.
    """

    left: int
    top: int
    width: int
    height: int
    x_range: tuple[float, float]
    across: int
    """Dots per cell."""

    def contains(self, column: int, row: int) -> bool:
        return self.left <= column < self.left + self.width and self.top <= row < self.top + self.height

    def x_at(self, column: float) -> float:
        """The x in the middle of a column of the chart, kept within the axis."""
        dots = self.width * self.across
        dot = (column - self.left) * self.across + (self.across - 1) / 2
        share = min(max(dot / (dots - 1), 0.0), 1.0) if dots > 1 else 0.5
        return Scale(*self.x_range).value_at(share)

    def column_of(self, x: float) -> int | None:
        """The column of the chart in which `x` lies; None outside of the axis."""
        share = Scale(*self.x_range).share(x)
        if not 0.0 <= share <= 1.0:
            return None
        return self.left + round(share * (self.width * self.across - 1)) // self.across


@dataclass(slots=True)
class Layout:
    """Everything that is decided before the first cell is written."""

    curves: list[Curve]
    area: PlotArea
    x: Scale
    y: Scale
    down: int
    """Dots per cell, one below the other."""
    framed: bool
    titled: bool
    y_ticks: Ticks
    x_ticks: Ticks
    legend_rows: int

    @property
    def empty(self) -> bool:
        """No point of any curve has a place in this chart."""
        return not any(len(c.x) and (c.drawn is None or c.drawn.any()) for c in self.curves)

    @property
    def listed(self) -> list[tuple[int, Curve]]:
        """Places and curves in the order in which they are named: those that stand out first."""
        return sorted(enumerate(self.curves), key=lambda placed: not placed[1].heavy)


def plot_area(spec: Spec, width: int, height: int) -> PlotArea:
    """Where `draw_chart` draws the curves of `spec` in a chart of that size."""
    return lay_out(spec, width, height).area


def lay_out(spec: Spec, width: int, height: int) -> Layout:
    """Decide about all parts; the smaller the chart, the fewer it has."""
    width, height = max(width, 1), max(height, 1)
    across, down = dots_per_cell(spec)
    framed = height >= 3 and width >= 8
    titled = framed or height >= 2
    top, bottom, side = (1, 1, 1) if framed else (int(titled), 0, 0)
    legend_rows = 0
    if spec.legend and len(spec.traces) > 1 and framed and height >= _LEGEND_FROM:
        legend_rows = 1 if height < 2 * _LEGEND_FROM else 2
        legend_rows = min(legend_rows, _legend_need(spec, width - 2))
    rows = height - top - bottom - legend_rows
    curves = prepare(spec)
    x = x_scale(spec, curves)
    y, y_ticks = _y_axis(spec, curves, x, rows)
    label = y_ticks.width + 1 if framed and y_ticks.labels else 0
    if width - 2 * side - label < _LEAST_PLOT or rows < 2:
        label, y_ticks = 0, Ticks()
    columns = width - 2 * side - label
    area = PlotArea(side + label, top + legend_rows, columns, rows, (x.lo, x.hi), across)
    x_ticks = (
        x_axis(spec, curves, x, columns) if framed and (any(len(c.x) for c in curves) or spec.x_range) else Ticks()
    )
    return Layout(curves, area, x, y, down, framed, titled, y_ticks, x_ticks, legend_rows)


def dots_per_cell(spec: Spec) -> tuple[int, int]:
    if not spec.ascii:
        return 2, 4
    return (1, 2) if len(spec.traces) <= 1 and not any(t.band for t in spec.traces) else (1, 1)


def _legend_need(spec: Spec, width: int) -> int:
    """Rows that the whole legend takes, about: a mark, the name, a value and the space between entries."""
    return max(1, -(-sum(min(len(t.label), 24) + 12 for t in spec.traces) // max(width, 1)))


def x_scale(spec: Spec, curves: list[Curve]) -> Scale:
    """The x axis: the window that was asked for, else all points."""
    if spec.x_range is not None and all(map(math.isfinite, spec.x_range)):
        lo, hi = sorted(spec.x_range)
        return Scale(*apart(float(lo), float(hi), 0.0))
    there = [c for c in curves if len(c.x)]
    if not there:
        return Scale(0.0, 1.0)
    lo = min(float(c.x[0] if c.ascending else c.x.min()) for c in there)
    hi = max(float(c.x[-1] if c.ascending else c.x.max()) for c in there)
    return Scale(*apart(lo, hi, 0.0))


def _y_axis(spec: Spec, curves: list[Curve], x: Scale, rows: int) -> tuple[Scale, Ticks]:
    lo, hi = _visible(curves, x)
    if spec.threshold is not None and lo <= hi:
        lo, hi = _with_threshold(lo, hi, spec.threshold.value, spec.log_y)
    count = max(2, min(rows // 2, 4 + rows // 6))
    if spec.y_limits != (None, None):
        return _chosen_y(spec, lo, hi, count)
    if spec.log_y:
        if spec.y_range is not None and 0 < spec.y_range[0] < spec.y_range[1] < math.inf:
            lo, hi = math.log10(spec.y_range[0]), math.log10(spec.y_range[1])
        elif lo > hi:
            return Scale(0.0, 1.0, True), Ticks()
        elif hi - lo < 1e-9:
            lo, hi = lo - 0.3, hi + 0.3
        else:
            lo, hi = snapped_log(lo, hi)
        return Scale(lo, hi, True), log_ticks(lo, hi, count, chart_unit(spec))
    fixed = spec.y_range
    if fixed is not None and all(map(math.isfinite, fixed)) and fixed[0] < fixed[1]:
        low, high = map(float, fixed)
        if (low, high) == (0.0, 100.0) and spec.unit.sign == "%" and hi > high:
            low, high = snapped(low, hi, _step(low, hi, count))
        return Scale(low, high), number_ticks(low, high, count, chart_unit(spec))
    if lo > hi:
        return Scale(0.0, 1.0), Ticks()
    if lo == hi:
        label = format_value(lo, chart_unit(spec)).replace("e+", "e")
        around = Scale(*apart(lo, hi))
        if len(label) <= _WIDEST_CONSTANT:
            return around, Ticks((lo,), (label,))
        return around, number_ticks(around.lo, around.hi, count, chart_unit(spec))
    lo, hi = snapped(lo, hi, _step(lo, hi, count))
    return Scale(lo, hi), number_ticks(lo, hi, count, chart_unit(spec))


def _with_threshold(lo: float, hi: float, value: float, log: bool) -> tuple[float, float]:
    """The range with a threshold in it, where that leaves the curves a good part of the chart."""
    if log and value <= 0:
        return lo, hi
    height = math.log10(value) if log else value
    low, high = min(lo, height), max(hi, height)
    return (low, high) if lo == hi or high - low <= THRESHOLD_ROOM * (hi - lo) else (lo, hi)


def _chosen_y(spec: Spec, lo: float, hi: float, count: int) -> tuple[Scale, Ticks]:
    """The axis with the ends that were chosen; others fit what is visible, from `lo` to `hi` (lo > hi: nothing)."""
    low, high = spec.y_limits
    if spec.log_y:
        low, high = (None if end is None or end <= 0 else math.log10(end) for end in (low, high))
    elif spec.y_range is not None and all(map(math.isfinite, spec.y_range)):
        lo, hi = min(lo, spec.y_range[0]), max(hi, spec.y_range[1])
    elif lo < hi:
        lo, hi = snapped(lo, hi, _step(lo, hi, count))
    if lo > hi:
        lo, hi = 0.0, 1.0
    start, end = lo if low is None else low, hi if high is None else high
    if not start < end:
        # All that is visible lies beyond the only end that was chosen.
        reach = 1.0 if spec.log_y else abs(start if high is None else end) * 0.1 or 1.0
        start, end = (start, start + reach) if high is None else (end - reach, end)
    start, end = apart(start, end)
    ticks = log_ticks if spec.log_y else number_ticks
    return Scale(start, end, spec.log_y), ticks(start, end, count, chart_unit(spec))


def _step(lo: float, hi: float, count: int) -> float:
    mantissa, exponent = round_step(hi * 0.5 - lo * 0.5, count * 0.5)
    return float(f"{mantissa}e{exponent}")


def snapped_log(lo: float, hi: float) -> tuple[float, float]:
    """Decades as bounds where that costs little of the axis."""
    room = (hi - lo) * 0.15
    low, high = math.floor(lo), math.ceil(hi)
    return (float(low) if lo - low <= room else lo), (float(high) if high - hi <= room else hi)


def _visible(curves: list[Curve], x: Scale) -> tuple[float, float]:
    """Smallest and largest height in the window, of points and where lines enter and leave it; lo > hi: none."""
    lo, hi = math.inf, -math.inf
    for curve in (*curves, *(end for banded in curves for end in banded.band or ())):
        part = curve.within(x.lo, x.hi)
        heights = curve.height[part]
        if curve.drawn is not None:
            heights = heights[curve.drawn[part]]
        if len(heights):
            lo, hi = min(lo, float(heights.min())), max(hi, float(heights.max()))
        for height in curve.crossings(x.lo, x.hi):
            lo, hi = min(lo, height), max(hi, height)
    return lo, hi


def _only_x(curves: list[Curve]) -> float | None:
    """The x of all points, if it is one."""
    there = [c.x for c in curves if len(c.x)]
    first = float(there[0][0]) if there else 0.0
    return first if there and all(x[0] == first and x[-1] == first and (x == first).all() for x in there) else None


def x_axis(spec: Spec, curves: list[Curve], x: Scale, columns: int) -> Ticks:
    """As many x ticks as fit without touching; none when not even two do."""
    make: Callable[[float, float, float], Ticks] = {
        "number": number_ticks,
        "duration": duration_ticks,
        "clock": clock_ticks,
        "decades": log_ticks,
        "duration decades": log_duration_ticks,
    }[spec.x_kind]
    count = max(1, columns // 8)
    if spec.x_range is None and (only := _only_x(curves)) is not None:
        label = f"{rounded_antilog(only) if spec.log_x else only:.6g}".replace("e+", "e")
        named = spec.x_kind in ("number", "decades") and len(label) <= columns // 2
        return Ticks((only,), (label,)) if named else Ticks()
    # A round value less than half a column outside is still in the first or last column.
    slack = (x.hi - x.lo) / columns * 0.5 if columns > 1 else 0.0
    slack = slack if math.isfinite(x.hi - x.lo + 2 * slack) else 0.0
    while count >= 1:
        ticks = make(x.lo - slack, x.hi + slack, count * (columns + 1) / columns)
        width = ticks.width + 2
        if len(ticks.values) < 2:
            return ticks if ticks.width <= columns // 2 else Ticks()
        places = np.diff([x.share(v) * columns for v in ticks.values])
        if float(places.min()) >= width:
            return ticks
        count = min(count - 1, max(1, columns // (width + 1))) if count > columns // (width + 1) else count - 1
    return Ticks()
