"""One moment under the crosshairs of two grids: metrics, over whatever axis, and system metrics, over time."""

from __future__ import annotations

from leet.tui.widgets.chart_grid_chart import TimedSource
from leet.tui.widgets.chart_grid_messages import CrosshairMoved
from leet.tui.widgets.chart_grid_wall import ChartWall


class SharedMoment:
    """When the crosshair of one grid moves, that of the other goes to the same moment."""

    def __init__(self, metrics: ChartWall, system: ChartWall) -> None:
        self._metrics, self._system = metrics, system
        self._sent: dict[ChartWall, tuple[float | None, str]] = {}
        """Where each grid was sent, and has not been moved from by a person since."""
        self.now: float | None = None
        """The moment, in Unix seconds; None while there is no crosshair."""

    def follow(self, event: CrosshairMoved) -> bool:
        """Bring the other grid, and the charts of this one with an axis of their own, to where `event` happened.

        False where the grid was sent there by us, or has been moved on since.
        """
        grid, at = event.grid, (event.x, event.x_label)
        if self._sent.get(grid) == at or grid.crosshair != (None if event.x is None else at):
            return False
        self._sent.pop(grid, None)
        self.now = event.x if grid is self._system else _moment_of(grid, event.x)
        grid.crosshair_time = self.now
        grid.paint_now()
        self._send(self._system if grid is self._metrics else self._metrics)
        return True

    def go_to(self, moment: float | None) -> None:
        """Bring both grids to `moment`, in Unix seconds; None takes the crosshairs away."""
        self.now = moment
        self._send(self._metrics)
        self._send(self._system)

    def _send(self, grid: ChartWall) -> None:
        chart, x = grid.active_chart, self.now
        if grid is self._metrics and chart is not None and x is not None:
            x = chart.source.x_at(x) if isinstance(chart.source, TimedSource) else None
        label = chart.spec.x_label if chart is not None and chart.spec is not None else "time"
        there = x, label if x is not None else ""
        self._sent[grid] = there
        grid.set_crosshair(*there)
        grid.crosshair_time = self.now
        grid.paint_now()


def _moment_of(grid: ChartWall, x: float | None) -> float | None:
    """When what lies at `x` of the chart in focus was logged, in Unix seconds."""
    chart = grid.active_chart
    if x is None or chart is None or not isinstance(chart.source, TimedSource):
        return None
    return chart.source.time_at(x)
