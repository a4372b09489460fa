"""Where a screen's metric charts come from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from leet.model.filter import TextFilter
from leet.model.metrics import Axis
from leet.tui.widgets.chart_grid_chart import ChartSource


class MetricPool(Protocol):
    """Metrics of one run (`MetricSources`) or of several (`OverlaySources`)."""

    @property
    def names(self) -> Sequence[str]: ...
    @property
    def axis(self) -> Axis: ...
    def set_axis(self, axis: Axis) -> None: ...
    def next_axis(self, names: Sequence[str]) -> str: ...
    def renew(self) -> bool: ...
    def forget(self) -> None: ...
    def select(self, wanted: TextFilter) -> Sequence[ChartSource]: ...
