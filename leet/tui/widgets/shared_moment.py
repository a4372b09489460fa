"""One moment under the crosshairs of two grids: metrics, over whatever axis, and system metrics, over time."""

from __future__ import annotations

from leet.tui.widgets.chart_grid_chart import TimedSource
from leet.tui.widgets.chart_grid_messages import CrosshairMoved
from leet.tui.widgets.chart_grid_wall import ChartWall


class SharedMoment:
    """When the crosshair of one grid moves, that of the other goes to the same moment."""

    def __init__(self, metrics: ChartWall, system: ChartWall) -> None:
        self._metrics, self._system = metrics, system
        self._followed: tuple[ChartWall, tuple[float | None, str]] | None = None
        """The grid that was moved last because the other one had moved, and where to."""

    def follow(self, event: CrosshairMoved) -> None:
        """Bring the other grid, and the charts of this one with an axis of their own, to where `event` happened."""
        grid, at = event.grid, (event.x, event.x_label)
        if self._followed == (grid, at) or grid.crosshair != (None if event.x is None else at):
            return
        other = self._system if grid is self._metrics else self._metrics
        moment = event.x if grid is self._system else _moment_of(grid, event.x)
        grid.crosshair_time = moment
        grid.paint_now()
        chart = other.active_chart
        x = moment
        if other is self._metrics and chart is not None and moment is not None:
            x = chart.source.x_at(moment) if isinstance(chart.source, TimedSource) else None
        label = chart.spec.x_label if chart is not None and chart.spec is not None else "time"
        there = x, label if x is not None else ""
        self._followed = other, there
        other.set_crosshair(*there)
        other.crosshair_time = moment
        other.paint_now()


def _moment_of(grid: ChartWall, x: float | None) -> float | None:
    """When what lies at `x` of the chart in focus was logged, in Unix seconds."""
    chart = grid.active_chart
    if x is None or chart is None or not isinstance(chart.source, TimedSource):
        return None
    return chart.source.time_at(x)
