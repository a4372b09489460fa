"""How one chart is looked at: its window on the x axis and its scale, apart from any data and any screen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from leet.charts.threshold import Threshold

Span = tuple[float, float]
"""(lowest, highest) x."""

NOTCH = 0.9
"""A notch of zoom shows this share of what was shown before."""
LARGEST_ZOOM = 2**40
"""A window is never narrower than the whole divided by this: beyond it float64 steps show."""
FOLLOW_MARGIN = 0.05
"""Zooming with the pointer in the last 5 % of a window that shows the newest data keeps the newest data."""
EDGE = 1e-9
"""Share of a window that is taken for nothing when two of its ends are compared."""


class Extent(NamedTuple):
    """The x axis of a chart: from the first to the last x there is, and the part shown when nothing was chosen."""

    whole: Span
    home: Span

    @classmethod
    def of(cls, low: float, high: float) -> Extent:
        return cls((low, high), (low, high))


@dataclass(frozen=True, slots=True)
class ChartView:
    """The choices made for one chart. Immutable: every act gives a new view, so that it can key a cache."""

    x_range: Span | None = None
    """The window; None shows what is shown at home."""
    follow: bool = False
    """The window touched the newest data, and moves with it."""
    log_y: bool = False
    heat: bool = False
    cut: bool = False
    """Outliers do not stretch y."""
    y_limits: tuple[float | None, float | None] = (None, None)
    """Ends of the y axis that were typed; None fits what is visible."""
    threshold: Threshold | None = None
    """A value that the curves are held against."""
    smoothing: float = 0.0
    """Weight of the mean that curves are smoothed with, 0 for none. All charts of a wall have the same."""

    def window(self, extent: Extent) -> Span:
        """What is visible of data that covers `extent`.

        A following window moves in sixteenths of its span: a picture that slides with every point would be
        sent again in full with every point.
        """
        if self.x_range is None:
            return extent.home
        low, high = self.x_range
        newest = extent.whole[1]
        if self.follow and newest > high + EDGE * (high - low):
            step = (high - low) / 16
            shift = -((high - newest) // step) * step if step > 0 else 0.0
            return low + shift, high + shift
        return low, high

    def zoomed(self, extent: Extent, at: float, notches: float = 1) -> ChartView:
        """Nearer by `notches` (away, when negative) around the point `at`, within `extent`."""
        low, high = self.window(extent)
        whole = extent.whole[1] - extent.whole[0]
        if not (whole > 0 and high > low):
            return self
        at = min(max(at, low), high)
        touches = high >= extent.whole[1] - EDGE * (high - low)
        if touches and notches > 0 and at >= high - FOLLOW_MARGIN * (high - low):
            at = high
        span = max((high - low) * NOTCH**notches, whole / LARGEST_ZOOM)
        return self._placed(extent, at - (at - low) / (high - low) * span, min(span, whole))

    def panned(self, extent: Extent, by: float) -> ChartView:
        """Moved by `by` units of x, as far as there is data; what is shown in full cannot be moved."""
        low, high = self.window(extent)
        return self._placed(extent, low + by, min(high - low, extent.whole[1] - extent.whole[0]))

    def reset(self) -> ChartView:
        """As at home; the scale stays."""
        return replace(self, x_range=None, follow=False)

    def next_scale(self, heatmap_capable: bool) -> ChartView:
        """Linear → logarithmic → heat-map, where there can be one → linear."""
        if self.heat:
            return replace(self, heat=False, log_y=False)
        if self.log_y:
            return replace(self, log_y=False, heat=heatmap_capable)
        return replace(self, log_y=True)

    def _placed(self, extent: Extent, low: float, span: float) -> ChartView:
        """The window of this span that begins at `low`, or as near to it as there is data."""
        first, last = extent.whole
        low = max(first, min(low, last - span))
        high = min(low + span, last)
        window, slack = (low, high), EDGE * span
        if all(abs(a - b) <= slack for a, b in zip(window, extent.home, strict=True)):
            return self.reset()
        return replace(self, x_range=window, follow=high >= last - slack)
