"""What a wall of charts tells: handlers are named `on_chart_grid_…`, or select by `ChartGrid.PageChanged` and so on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

from leet.tui.widgets.chart_view import ChartView

if TYPE_CHECKING:
    from leet.tui.widgets.chart_grid_wall import ChartWall


class _Posted(Message, namespace="chart_grid"):
    """A message of a wall, which is its `control`: handlers may select by it."""

    grid: ChartWall

    @property
    def control(self) -> ChartWall:
        return self.grid


@dataclass
class PageChanged(_Posted, namespace="chart_grid"):
    """Another part of the sources is shown: numbers `first` to `last` of `count`, from 1."""

    grid: ChartWall
    first: int
    last: int
    count: int

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, PageChanged) and message.grid is self.grid


@dataclass
class Focused(_Posted, namespace="chart_grid"):
    """The chart with `key` has the focus, or none."""

    grid: ChartWall
    key: str | None


@dataclass
class ViewChanged(_Posted, namespace="chart_grid"):
    """The window or scale of the chart with `key` changed."""

    grid: ChartWall
    key: str
    view: ChartView


@dataclass
class CrosshairMoved(_Posted, namespace="chart_grid"):
    """The crosshair stands at `x` of the axis `x_label`, or is gone."""

    grid: ChartWall
    x: float | None
    x_label: str

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, CrosshairMoved) and message.grid is self.grid
