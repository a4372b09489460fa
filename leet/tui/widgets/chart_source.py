"""What the charts of a run draw: its metrics, and its system metrics, made into specs when they are shown.

Sources are made for the charts of a page, not for all metrics: 100,000 names cost nothing but the names.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import overload

from leet.charts.spec import Spec, Trace
from leet.model.metrics import MetricStore
from leet.model.units import NUMBER, format_value
from leet.tui.widgets.chart_view import ChartView, Span

HEADROOM_STEPS = 20
"""While data arrives, the axis grows in about this many steps of its span: a scale that changes with every point
would change every dot of the picture with every point."""


def with_headroom(low: float, high: float) -> Span:
    """`low` to the next round number at or after `high`, at most 5 % further."""
    span = high - low
    if not (math.isfinite(span) and span > 0):
        return low, high
    raw = span / HEADROOM_STEPS
    power = 10.0 ** math.floor(math.log10(raw))
    step = max(m * power for m in (1, 2, 5) if m * power <= raw * (1 + 1e-9))
    return low, max(high, math.ceil(high / step) * step)


class MetricSource:
    """The chart of one metric of a run. `running` says whether more data may come."""

    heatmap_capable = False

    def __init__(self, store: MetricStore, name: str, running: Callable[[], bool], color: int = 0) -> None:
        self._store = store
        self._running = running
        self._color = color
        self.key = name
        self.title = name

    def version(self) -> Hashable:
        return self._store.version(self.key), self._store.axis, self._running()

    def extent(self) -> Span | None:
        ends = self._store.x_range(self.key) if self.key in self._store else None
        return with_headroom(*ends) if ends and self._running() else ends

    def spec(self, columns: int, view: ChartView) -> Spec:
        extent = self.extent()
        if extent is None:
            return Spec(title=self.title, traces=(), log_y=view.log_y)
        low, high = view.window(extent)
        x, y = self._store.trace(self.key, low, high, 2 * columns)
        axis = self._store.abscissa(self.key)
        return Spec(
            title=self.title,
            traces=(Trace("", x, y, self._color),),
            x_label=axis.label,
            x_kind=axis.kind,
            x_range=(low, high),
            log_y=view.log_y,
            value=format_value(self._store.series(self.key).last, NUMBER),
            note="log" if view.log_y else "",
        )


class MetricSources(Sequence[MetricSource]):
    """The sources of metrics by name, each made when it is asked for."""

    def __init__(self, store: MetricStore, names: Sequence[str], running: Callable[[], bool]) -> None:
        self._store = store
        self._names = names
        self._running = running

    def __len__(self) -> int:
        return len(self._names)

    @overload
    def __getitem__(self, index: int) -> MetricSource: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[MetricSource]: ...
    def __getitem__(self, index: int | slice) -> MetricSource | Sequence[MetricSource]:
        if isinstance(index, slice):
            return [self._source(name) for name in self._names[index]]
        return self._source(self._names[index])

    def __iter__(self) -> Iterator[MetricSource]:
        return map(self._source, self._names)

    def index_of(self, key: str) -> int | None:
        """Where the metric with this name stands."""
        try:
            return self._names.index(key)
        except ValueError:
            return None

    def _source(self, name: str) -> MetricSource:
        return MetricSource(self._store, name, self._running)
