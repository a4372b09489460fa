"""What the chart grids draw: the metrics and system metrics of a run, as sources of charts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, overload

from leet.model.filter import TextFilter
from leet.model.metrics import AXES, Axis
from leet.model.run import RunModel
from leet.model.system_store import SystemChart, SystemStore
from leet.settings.store import settings
from leet.tui.widgets.chart_grid import ChartSource
from leet.tui.widgets.chart_source import MetricSource, SystemSource

AXIS_NAMES: dict[Axis, str] = {
    "auto": "step, or the metric's own step metric",
    "step": "step",
    "runtime": "time since start",
    "clock": "time of day",
}
TAIL_MINUTES = 10.0
"""What the key for the tail shows where the settings say that all is shown."""


class SourcePool(Protocol):
    """What makes the source of a metric."""

    def source(self, name: str) -> ChartSource: ...


class SelectedMetrics(Sequence[ChartSource]):
    """The sources of some metrics; each is made when it is first asked for."""

    def __init__(self, pool: SourcePool, names: Sequence[str]) -> None:
        self._pool = pool
        self._names = names

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
        try:
            return self._names.index(key)
        except ValueError:
            return None


class MetricSources:
    """The sources of all metrics of a run."""

    def __init__(self, model: RunModel, live: Callable[[], bool]) -> None:
        """`live` tells whether more points may come soon."""
        self._model = model
        self._live = live
        self._made: dict[str, MetricSource] = {}
        self.names: tuple[str, ...] = ()

    @property
    def axis(self) -> Axis:
        return self._model.metrics.axis

    def set_axis(self, axis: Axis) -> None:
        self._model.metrics.axis = axis

    def next_axis(self, names: Sequence[str]) -> str:
        """Choose the next x axis that moves a chart of these metrics; its name in words."""
        store = self._model.metrics
        before = self._places(names)
        at = AXES.index(self.axis)
        for axis in (*AXES[at + 1 :], *AXES[:at]):
            store.axis = axis
            if self._places(names) != before:
                break
        else:
            store.axis = AXES[at]
        return AXIS_NAMES[self.axis] if self.axis != "auto" or store.has_step_metrics else "step"

    @property
    def log_x(self) -> bool:
        return self._model.metrics.log_x

    def set_log_x(self, on: bool) -> None:
        self._model.metrics.log_x = on

    def _places(self, names: Sequence[str]) -> list[object]:
        """What tells two x axes apart."""
        store = self._model.metrics
        return [(store.abscissa(name).label, store.x_range(name)) for name in names if name in store]

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

    def source(self, name: str) -> MetricSource:
        source = self._made.get(name)
        if source is None:
            source = self._made[name] = MetricSource(self._model.metrics, name, self._live)
        return source


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
        minutes = float(settings().count("system.tail_minutes")) or TAIL_MINUTES * (self._chosen is True)
        return minutes if tail and minutes else None

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
        self.all = [made.get(chart) or self._source(chart) for chart in charts]
        return True

    def _source(self, chart: SystemChart) -> SystemSource:
        return SystemSource(self.store, chart, lambda: self.window, self._live)

    def forget(self) -> None:
        self.all = []
        self._charts = []

    def select(self, wanted: TextFilter) -> list[SystemSource]:
        """The sources whose titles pass."""
        return [source for source in self.all if wanted.matches(source.title)]
