"""Where pointer and crosshair stand on charts: on all that share an x axis, or on one alone."""

from __future__ import annotations

from leet.tui.widgets.chart_grid_chart import DrawnChart, TimedSource
from leet.tui.widgets.chart_grid_looks import ChartLooks


class CrosshairCharts(ChartLooks):
    """Charts that are read at an x."""

    def __init__(self, *, name: str | None = None, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(name=name, id=id, classes=classes)
        self.crosshair: tuple[float, str] | None = None
        """x and label of the axis that it stands on; shown on every chart with that axis."""
        self.crosshair_time: float | None = None
        """The moment that the crosshair stands at, in Unix seconds, for charts with another axis."""
        self._hover: tuple[float, str] | None = None
        self._hover_key: str | None = None

    def crosshair_on(self, chart: DrawnChart) -> float | None:
        """Where the pointer or the crosshair stands on this chart."""
        for at in (self._hover, self.crosshair):
            if at is not None and (chart.spec is None or chart.spec.x_label == at[1]):
                if at is self._hover and self._hover_key not in (None, chart.source.key):
                    continue
                return at[0]
        if self._hover is None and self.crosshair is not None and self.crosshair_time is not None:
            return chart.source.x_at(self.crosshair_time) if isinstance(chart.source, TimedSource) else None
        return None

    def set_hover(self, x: float | None, x_label: str = "", key: str | None = None) -> None:
        """The pointer reads at `x` of the chart with `key`, or of every chart with this axis."""
        hover = None if x is None else (x, x_label)
        if (hover, key) != (self._hover, self._hover_key):
            self._hover, self._hover_key = hover, key
            self._paint()
