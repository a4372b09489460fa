"""A chart as the wall knows it: where it comes from, and where it was drawn."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from textual.geometry import Region

from leet.charts.layout import PlotArea, plot_area
from leet.charts.spec import Floats, Spec
from leet.tui.widgets.chart_view import ChartView, Extent, Span


class ChartSource(Protocol):
    """Something that can be drawn. It holds no picture and knows no screen."""

    @property
    def key(self) -> str:
        """Its identity: views and focus are remembered under it."""

    @property
    def title(self) -> str: ...

    @property
    def heatmap_capable(self) -> bool: ...

    def version(self) -> Hashable:
        """Differs whenever what `spec` gives may differ, for all sources of this key."""

    def extent(self) -> Extent | None:
        """The x axis of all data; None without data."""

    def spec(self, columns: int, view: ChartView) -> Spec:
        """What to draw in a chart `columns` cells wide."""

    def points(self, window: Span) -> Sequence[tuple[str, Floats, Floats]]:
        """(label, x, y) of every curve, with every point of the window and perhaps one beyond each end of it."""


@runtime_checkable
class TimedSource(Protocol):
    """A source that knows when its points were made."""

    def time_at(self, x: float) -> float | None:
        """Unix seconds of the point nearest to `x`."""

    def x_at(self, time: float) -> float | None:
        """x of the point nearest to `time`, in Unix seconds."""


@runtime_checkable
class LastValues(Protocol):
    """A source that knows the last value of each of its curves."""

    def lasts(self) -> list[float]: ...


@runtime_checkable
class KeyedSources(Protocol):
    """A sequence of sources that can tell where a key stands without making every source."""

    def index_of(self, key: str) -> int | None: ...


@dataclass(slots=True)
class DrawnChart:
    """A chart that stands on the page: its place on the wall, and what was drawn there from what."""

    source: ChartSource
    region: Region
    drawn_from: tuple[object, ...] | None = None
    drawn_as: int = 0
    """How many charts the wall had drawn when this one was last: the lowest has waited longest."""
    spec: Spec | None = None
    heat: bool = False

    def area(self) -> PlotArea | None:
        """Where its curves are, counted from its own corner; None before it was drawn."""
        if self.spec is None:
            return None
        if self.heat:
            from leet.charts.heatmap import heatmap_area

            return heatmap_area(self.spec, self.region.width, self.region.height)
        return plot_area(self.spec, self.region.width, self.region.height)
