"""What the chart grids draw: the metrics and system metrics of a run, as sources of charts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import overload

from leet.charts.spec import Spec, Trace
from leet.model.filter import TextFilter
from leet.model.metrics import AXES, Axis
from leet.model.run import RunModel
from leet.model.safe_text import clean
from leet.model.system_store import SystemChart, SystemStore
from leet.model.units import format_value
from leet.tui.widgets.chart_grid import ChartSource
from leet.tui.widgets.chart_view import ChartView, Span

AXIS_NAMES: dict[Axis, str] = {
    "auto": "step, or the metric's own step metric",
    "step": "step",
    "runtime": "time since the start",
    "clock": "time of day",
}
DOTS = 2
"""Columns of braille dots in a cell."""
TAIL_MINUTES = 10.0


class MetricSource:
    """A metric of the run over the x axis that is chosen for all."""

    heatmap_capable = False

    def __init__(self, model: RunModel, name: str) -> None:
        self.key = name
        self.title = clean(name)
        self._model = model

    def version(self) -> int:
        store = self._model.metrics
        return store.version(self.key) * len(AXES) + AXES.index(store.axis)

    def extent(self) -> Span | None:
        return self._model.metrics.x_range(self.key)

    def spec(self, columns: int, view: ChartView) -> Spec:
        store = self._model.metrics
        series, abscissa = store.series(self.key), store.abscissa(self.key)
        extent = abscissa.ends()
        window = view.window(extent) if extent is not None and view.x_range is not None else None
        low, high = window or (None, None)
        x, y = series.window(abscissa, low, high, columns * DOTS)
        return Spec(
            title=self.title,
            traces=(Trace(self.title, x, y),),
            x_label=clean(abscissa.label),
            x_kind=abscissa.kind,
            x_range=window,
            log_y=view.log_y,
            value=format_value(series.last) if series.count else "",
            note="log" if view.log_y else "",
        )


class SelectedMetrics(Sequence[ChartSource]):
    """The sources of some metrics; each is made when it is first asked for."""

    def __init__(self, pool: MetricSources, names: Sequence[str]) -> None:
        self._pool = pool
        self._names = names
        self._places: dict[str, int] | None = None

    def __len__(self) -> int:
        return len(self._names)

    @overload
    def __getitem__(self, index: int) -> ChartSource: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[ChartSource]: ...
    def __getitem__(self, index: int | slice) -> ChartSource | Sequence[ChartSource]:
        if isinstance(index, slice):
            return SelectedMetrics(self._pool, self._names[index])
        return self._pool.source(self._names[index])

    def index_of(self, key: str) -> int | None:
        """Where the metric with this name stands."""
        if self._places is None:
            self._places = {name: i for i, name in enumerate(self._names)}
        return self._places.get(key)


class MetricSources:
    """The sources of all metrics of a run."""

    def __init__(self, model: RunModel) -> None:
        self._model = model
        self._made: dict[str, MetricSource] = {}
        self.names: tuple[str, ...] = ()

    @property
    def axis(self) -> Axis:
        return self._model.metrics.axis

    def next_axis(self) -> str:
        """Choose the next x axis; its name in words."""
        axis = AXES[(AXES.index(self.axis) + 1) % len(AXES)]
        if axis == "step" and not self._has_step_metrics():
            axis = "runtime"
        self._model.metrics.axis = axis
        return AXIS_NAMES[axis] if axis != "auto" or self._has_step_metrics() else "step"

    def renew(self) -> bool:
        """Look for new metrics; True when there are any (or all were forgotten)."""
        names = self._model.metrics.names()
        if names is self.names:
            return False
        self.names = names
        return True

    def forget(self) -> None:
        self._made.clear()
        self.names = ("",)

    def select(self, wanted: TextFilter) -> SelectedMetrics:
        """The sources of the metrics whose names pass."""
        return SelectedMetrics(self, wanted.select(self.names) if wanted else self.names)

    def source(self, name: str) -> MetricSource:
        source = self._made.get(name)
        if source is None:
            source = self._made[name] = MetricSource(self._model, name)
        return source

    def _has_step_metrics(self) -> bool:
        store = self._model.metrics
        return any(store.definition(name).step_metric for name in self.names[:1000])


class SystemSource:
    """A chart of system metrics over the time of day, cut to the last minutes while the run goes on."""

    def __init__(self, sources: SystemSources, chart: SystemChart) -> None:
        self._sources = sources
        self.chart = chart
        self.key = chart.key
        self.title = clean(chart.title)
        self.heatmap_capable = chart.percentage

    def version(self) -> int:
        return self._sources.store.version(self.chart) * 2 + (self._sources.window is not None)

    def extent(self) -> Span | None:
        """All charts share it, so that what happened at one time stands at one column."""
        span, minutes = self._sources.store.span, self._sources.window
        if span is None or minutes is None:
            return span
        return max(span[0], span[1] - minutes * 60), span[1]

    def spec(self, columns: int, view: ChartView) -> Spec:
        chart, store, extent = self.chart, self._sources.store, self.extent()
        window = view.window(extent) if extent is not None else None
        low, high = window or (None, None)
        traces = store.traces(chart, low, high, columns * DOTS)
        notes = [note for note in (clean(store.note(chart)), "log" if view.log_y else "") if note]
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
            note=", ".join(notes),
        )


class SystemSources:
    """The sources of all system metrics of a run."""

    def __init__(self, model: RunModel, live: Callable[[], bool]) -> None:
        """`live` tells whether more samples may come soon: only then is the tail alone of interest."""
        self._model = model
        self._live = live
        self._chosen: bool | None = None
        self._charts: list[SystemChart] = []
        self.all: list[SystemSource] = []

    @property
    def store(self) -> SystemStore:
        return self._model.system

    @property
    def window(self) -> float | None:
        """Minutes that are shown; None: the whole run."""
        tail = self._live() if self._chosen is None else self._chosen
        return TAIL_MINUTES if tail else None

    def next_window(self) -> float | None:
        self._chosen = self.window is None
        return self.window

    def renew(self) -> bool:
        """Look for new charts; True when there are any (or all were forgotten)."""
        charts = self.store.charts()
        if charts is self._charts:
            return False
        self._charts = charts
        made = {source.chart: source for source in self.all}
        self.all = [made.get(chart) or SystemSource(self, chart) for chart in charts]
        return True

    def forget(self) -> None:
        self.all = []
        self._charts = []

    def select(self, wanted: TextFilter) -> list[SystemSource]:
        """The sources whose titles pass."""
        return [source for source in self.all if wanted.matches(source.title)]
