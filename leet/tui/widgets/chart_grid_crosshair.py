"""Where pointer and crosshair stand on charts: on all that share an x axis, or on one alone."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from leet.charts.spec import Spec
from leet.tui.widgets.chart_grid_chart import ChartSource, DrawnChart, TimedSource
from leet.tui.widgets.chart_grid_looks import ChartLooks


def read_exactly(spec: Spec, source: ChartSource) -> Spec:
    """Give each curve the points nearest to crosshair and anchor: of a thinned one they need not be among its own."""
    asked = [x for x in (spec.crosshair, spec.anchor) if x is not None and math.isfinite(x)]
    found: dict[str, list[tuple[float, float, float]]] = {}
    for x in asked:
        curves = source.points((x, x))
        labels = [label for label, _, _ in curves]
        for label, xs, ys in curves:
            away = np.abs(xs - x)
            if labels.count(label) == 1 and np.isfinite(away).any():
                at = len(xs) - 1 - int(np.nanargmin(away[::-1]))
                found.setdefault(label, []).append((x, float(xs[at]), float(ys[at])))
    if not found:
        return spec
    alone = next(iter(found.values())) if len(spec.traces) == len(found) == 1 else []
    return replace(spec, traces=tuple(replace(t, read=tuple(found.get(t.label, alone))) for t in spec.traces))


@dataclass(frozen=True, slots=True)
class Anchor:
    """A place that differences are counted from: x and the label of its axis, and its moment in Unix seconds."""

    x: float
    x_label: str
    moment: float | None

    def on(self, chart: DrawnChart) -> float | None:
        """Where it stands on a chart; None where that is not known."""
        if chart.spec is None or chart.spec.x_label == self.x_label:
            return self.x
        if self.moment is None or chart.spec.x_kind == "clock":
            return self.moment
        return chart.source.x_at(self.moment) if isinstance(chart.source, TimedSource) else None


class AnchorPlace:
    """Where the anchor is, for all grids that share it."""

    held: Anchor | None = None


class CrosshairCharts(ChartLooks):
    """Charts that are read at an x."""

    def __init__(self, *, name: str | None = None, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(name=name, id=id, classes=classes)
        self.crosshair: tuple[float, str] | None = None
        """x and label of the axis that it stands on; shown on every chart with that axis."""
        self.crosshair_time: float | None = None
        """The moment that the crosshair stands at, in Unix seconds, for charts with another axis."""
        self.anchor_place = AnchorPlace()
        """What the crosshair tells differences from."""
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

    def anchor_on(self, chart: DrawnChart) -> float | None:
        """Where the anchor stands on this chart."""
        return None if self.anchor_place.held is None else self.anchor_place.held.on(chart)

    def drop_anchor(self, chart: DrawnChart) -> None:
        """Let it be where the crosshair stands, which is that of `chart`; nowhere if it is there already."""
        x, source = self.crosshair_on(chart), chart.source
        if x is not None and chart.spec is not None:
            clock = chart.spec.x_kind == "clock"
            moment = x if clock else source.time_at(x) if isinstance(source, TimedSource) else None
            dropped = Anchor(x, chart.spec.x_label, moment)
            self.anchor_place.held = None if dropped == self.anchor_place.held else dropped
            self._paint()

    def set_hover(self, x: float | None, x_label: str = "", key: str | None = None) -> None:
        """The pointer reads at `x` of the chart with `key`, or of every chart with this axis."""
        hover = None if x is None else (x, x_label)
        if (hover, key) != (self._hover, self._hover_key):
            self._hover, self._hover_key = hover, key
            self._paint()
