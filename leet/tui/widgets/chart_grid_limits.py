"""The ends of y axes that were chosen: typed, or so that outliers are cut off."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from leet.charts.spec import Spec
from leet.tui.widgets.chart_grid_chart import ChartSource, LastValues
from leet.tui.widgets.chart_view import ChartView

KEPT = 64
"""Charts of which the range is kept: more than stand on a page."""

Range = tuple[float, float] | None


class ChartLimits:
    """Puts the limits of a view into what is drawn. What it finds out about a chart is kept while its data are the
    same."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[Hashable, Range]] = {}

    def applied(self, spec: Spec, source: ChartSource, view: ChartView) -> Spec:
        """`spec` with the ends of its y axis and a note of them; as it is where none were chosen."""
        if view.heat and source.heatmap_capable:
            return spec
        if view.threshold is not None:
            crossed = isinstance(source, LastValues) and view.threshold.crossed(source.lasts())
            spec = replace(spec, threshold=view.threshold, crossed=crossed)
        low, high = view.y_limits
        notes = []
        if view.cut:
            notes.append("y cut")
            found = self._robust(spec, source)
            if found is not None:
                low, high = found[0] if low is None else low, found[1] if high is None else high
        if view.y_limits != (None, None):
            notes.append(f"y {in_words(view.y_limits, spec)}")
        if not notes:
            return spec
        return replace(spec, y_limits=(low, high), note=", ".join(filter(None, (*notes, spec.note))))

    def _robust(self, spec: Spec, source: ChartSource) -> Range:
        from leet.charts.robust import robust_range

        made_of = source.version(), spec.x_range, spec.log_y
        known, found = self._found.get(source.key, (None, None))
        if known != made_of:
            points = source.points(spec.x_range) if spec.x_range is not None else ()
            low, high = spec.x_range or (0.0, 0.0)
            values = [y[(x >= low) & (x <= high)] for _, x, y in points]
            found = robust_range(values, log=spec.log_y)
            self._found.pop(source.key, None)
            self._found[source.key] = made_of, found
            if len(self._found) > KEPT:
                self._found.pop(next(iter(self._found)))
        return found


def in_words(limits: tuple[float | None, float | None], spec: Spec) -> str:
    """`0..2.5`, in the numbers that the axis shows; an end that fits what is visible is left out."""
    low, high = ("" if end is None else f"{end * (spec.unit.factor or 1.0):.6g}" for end in limits)
    return f"{low}..{high}"
