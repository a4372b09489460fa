"""How one chart is looked at: its window on the x axis and its scale, apart from any data and any screen."""

from __future__ import annotations

from dataclasses import dataclass, replace

Span = tuple[float, float]
"""(lowest, highest) x."""

NOTCH = 0.9
"""A notch of zoom shows this share of what was shown before."""
LARGEST_ZOOM = 2**40
"""A window is never narrower than the whole divided by this: beyond it float64 steps show."""
FOLLOW_MARGIN = 0.05
"""Zooming with the pointer in the last 5 % of a window that shows the newest data keeps the newest data."""


@dataclass(frozen=True, slots=True)
class ChartView:
    """The choices made for one chart. Immutable: every act gives a new view, so that it can key a cache."""

    x_range: Span | None = None
    """The window; None shows everything."""
    follow: bool = False
    """The window touched the newest data, and moves with it."""
    log_y: bool = False
    heat: bool = False

    def window(self, extent: Span) -> Span:
        """What is visible of data that covers `extent`.

        A following window moves in sixteenths of its span: a picture that slides with every point would be
        sent again in full with every point.
        """
        if self.x_range is None:
            return extent
        low, high = self.x_range
        if self.follow and extent[1] > high:
            step = (high - low) / 16
            shift = -((high - extent[1]) // step) * step if step > 0 else 0.0
            return low + shift, high + shift
        return low, high

    def zoomed(self, extent: Span, at: float, notches: float = 1) -> ChartView:
        """Nearer by `notches` (away, when negative) around the point `at`, within `extent`."""
        low, high = self.window(extent)
        whole = extent[1] - extent[0]
        if whole <= 0 or high <= low:
            return self
        at = min(max(at, low), high)
        if self._touches(extent) and notches > 0 and at >= high - FOLLOW_MARGIN * (high - low):
            at = high
        share = NOTCH**notches
        span = max((high - low) * share, whole / LARGEST_ZOOM)
        if span >= whole:
            return self.reset()
        place = (at - low) / (high - low)
        low = at - place * span
        return self._placed(extent, low, span)

    def panned(self, extent: Span, by: float) -> ChartView:
        """Moved by `by` units of x, as far as there is data; what is shown in full cannot be moved."""
        if self.x_range is None:
            return self
        low, high = self.window(extent)
        return self._placed(extent, low + by, high - low)

    def reset(self) -> ChartView:
        return replace(self, x_range=None, follow=False)

    def next_scale(self, heatmap_capable: bool) -> ChartView:
        """Linear → logarithmic → heat-map, where there can be one → linear."""
        if self.heat:
            return replace(self, heat=False, log_y=False)
        if self.log_y:
            return replace(self, log_y=False, heat=heatmap_capable)
        return replace(self, log_y=True)

    def _touches(self, extent: Span) -> bool:
        low, high = self.window(extent)
        return high >= extent[1] - 1e-9 * (high - low)

    def _placed(self, extent: Span, low: float, span: float) -> ChartView:
        low = max(extent[0], min(low, extent[1] - span))
        high = min(low + span, extent[1])
        return replace(self, x_range=(low, high), follow=high >= extent[1] - 1e-9 * span)
