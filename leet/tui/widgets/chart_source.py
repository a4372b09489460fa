"""What the charts of a run draw: its metrics and its system metrics, made into specs when they are shown."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable

import numpy as np

from leet.charts.spec import Floats, Spec, Trace
from leet.model.metrics import MetricStore
from leet.model.safe_text import clean
from leet.model.smoothing import Smoothed
from leet.model.system_store import SystemChart, SystemStore
from leet.model.units import format_value
from leet.tui.widgets.chart_view import ChartView, Extent, Span

ALL_POINTS = 1 << 40
"""Columns for which nothing is thinned away."""
DOTS = 2
"""Columns of dots in a cell, for which points are thinned."""
HEADROOM_STEPS = 20
"""While data arrives, the axis grows in about this many steps of its span: a scale that changes with every point
would change every dot of the picture with every point."""
TAIL_STEPS = 40
"""A tail window moves on in so many steps of its length, for the same reason."""


def with_headroom(low: float, high: float) -> Span:
    """`low` to the next round number at or after `high`, at most about 5 % further."""
    span = high - low
    if not (math.isfinite(span) and span > 0):
        return low, high
    raw = span / HEADROOM_STEPS
    power = 10.0 ** math.floor(math.log10(raw))
    step = max(m * power for m in (1, 2, 5) if m * power <= raw * (1 + 1e-9))
    return low, max(high, math.ceil(high / step) * step)


def _nearest(values: Floats, wanted: float) -> int | None:
    """Index of the finite value nearest to `wanted`; None where there is none."""
    away = np.abs(values - wanted)
    return int(np.nanargmin(away)) if np.isfinite(away).any() else None


def lost_on_x(store: MetricStore, name: str) -> int:
    """How many points of a metric have no place on its x axis, which is logarithmic."""
    return store.abscissa(name).below if store.log_x and name in store else 0


class SmoothLine:
    """The smoothed line of one metric, kept from one picture to the next."""

    def __init__(self) -> None:
        self._kept: Smoothed | None = None

    def line(
        self, store: MetricStore, name: str, weight: float, window: Span, columns: int
    ) -> tuple[Floats, Floats] | None:
        """x and y within `window`, thinned as the points are; None without smoothing, and without two points."""
        if not weight:
            self._kept = None
            return None
        series = store.series(name)
        if self._kept is None or self._kept.source is not series or self._kept.weight != weight:
            self._kept = Smoothed(series, weight)
        smooth = self._kept.renewed()
        if len(smooth) < 2:
            return None
        return smooth.window(store.abscissa_of(name, smooth.rows), *window, columns)


class MetricSource:
    """The chart of one metric over the x axis that its store has chosen. `live` says whether more may come."""

    heatmap_capable = False

    def __init__(self, store: MetricStore, name: str, live: Callable[[], bool]) -> None:
        self.key = name
        self.title = clean(name)
        self._store = store
        self._live = live
        self._x_at: tuple[object, float | None] = (None, None)
        self._smooth = SmoothLine()

    def version(self) -> Hashable:
        return self._store.version(self.key), self._store.axis, self._live()

    def extent(self) -> Extent | None:
        ends = self._store.x_range(self.key) if self.key in self._store else None
        if ends is None:
            return None
        return Extent.of(*(with_headroom(*ends) if self._live() else ends))

    def spec(self, columns: int, view: ChartView) -> Spec:
        note = "log" if view.log_y else ""
        if (extent := self.extent()) is None:
            return Spec(self.title, (), log_y=view.log_y, note=note, x_lost=lost_on_x(self._store, self.key))
        series, axis = self._store.series(self.key), self._store.abscissa(self.key)
        window = view.window(extent)
        x, y = series.window(axis, *window, columns * DOTS)
        smooth = self._smooth.line(self._store, self.key, view.smoothing, window, columns * DOTS)
        return Spec(
            title=self.title,
            traces=(Trace(self.title, x, y, nonfinite=series.nonfinite, smooth=smooth),),
            x_label=clean(axis.label),
            x_kind=axis.kind,
            x_range=window,
            log_y=view.log_y,
            value=format_value(series.last) if series.count else "",
            note=note,
            x_lost=lost_on_x(self._store, self.key),
        )

    def time_at(self, x: float) -> float | None:
        """Unix seconds of the point nearest to `x`; None without points."""
        if self.key not in self._store:
            return None
        place = _nearest(self._store.abscissa(self.key).array(), x)
        return None if place is None else float(self._times()[place])

    def lasts(self) -> list[float]:
        """The last value, if there is any."""
        return [self._store.series(self.key).last] if self._store.count(self.key) else []

    def x_at(self, time: float) -> float | None:
        """x of the point that was logged nearest to `time`, in Unix seconds; None without points."""
        asked = (self.version(), time)
        if self._x_at[0] != asked:
            place = _nearest(self._times(), time) if self.key in self._store else None
            x = None if place is None else float(self._store.abscissa(self.key).array()[place])
            self._x_at = asked, x
        return self._x_at[1]

    def _times(self) -> Floats:
        """When the points were logged."""
        return self._store.timestamps.view[self._store.series(self.key).rows]

    def points(self, window: Span) -> list[tuple[str, Floats, Floats]]:
        if self.key not in self._store:
            return []
        series = self._store.series(self.key)
        return [(self.title, *series.window(self._store.abscissa(self.key), *window, ALL_POINTS))]


class SystemSource:
    """A chart of system metrics over the time of day. `tail` gives the minutes shown at home, None: all of them."""

    def __init__(
        self, store: SystemStore, chart: SystemChart, tail: Callable[[], float | None], live: Callable[[], bool]
    ) -> None:
        self.chart = chart
        self.key = chart.key
        self.title = clean(chart.title)
        self.heatmap_capable = chart.percentage
        self._store = store
        self._tail = tail
        self._live = live

    def version(self) -> Hashable:
        return self._store.version(self.key), self._tail(), self._live()

    def extent(self) -> Extent | None:
        ends = self._store.span
        if ends is None:
            return None
        first, last = ends
        minutes = self._tail()
        if minutes is None or last - first <= minutes * 60:
            return Extent.of(*(with_headroom(first, last) if self._live() else ends))
        step = minutes * 60 / TAIL_STEPS
        last = math.ceil(last / step) * step if self._live() else last
        return Extent((first, last), (last - minutes * 60, last))

    def spec(self, columns: int, view: ChartView) -> Spec:
        extent, chart = self.extent(), self.chart
        window = view.window(extent) if extent else None
        low, high = window or (None, None)
        traces = self._store.traces(chart, low, high, columns * DOTS)
        tail = f"{self._tail():g} min" if extent and view.x_range is None and extent.home != extent.whole else ""
        # How it is drawn counts more than what it comes to, should there be no room for all.
        notes = ("log" if view.log_y and not view.heat else "", tail, clean(self._store.note(chart)))
        return Spec(
            title=self.title,
            traces=tuple(Trace(clean(label), x, y) for label, x, y in traces),
            unit=chart.unit,
            x_label="time",
            x_kind="clock",
            x_range=window,
            y_range=None if view.log_y else chart.y_range,
            log_y=view.log_y,
            legend=len(traces) > 1,
            note=", ".join(note for note in notes if note),
        )

    def lasts(self) -> list[float]:
        """The last value of every curve."""
        return [float(y[-1]) for _, _, y in self._store.traces(self.chart, None, None, 1) if len(y)]

    def points(self, window: Span) -> list[tuple[str, Floats, Floats]]:
        traces = self._store.traces(self.chart, *window, ALL_POINTS)
        return [(clean(label) or self.title, x, y) for label, x, y in traces]
