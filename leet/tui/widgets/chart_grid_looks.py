"""How the charts of a wall look, whatever they show: what a person sets, and what each setting asks to be done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from textual.reactive import var
from textual.widget import Widget

from leet.tui.sure_timers import SureTimers
from leet.tui.unscrolled import Unscrolled

GUIDES: dict[str, Literal["off", "dots", "horizontal"]] = {"off": "off", "dots": "dots", "horizontal": "horizontal"}
"""What the guides of charts can be, in the order in which a key turns through them."""


class ChartLooks(Unscrolled, SureTimers, Widget):
    """What is chosen for all charts at once."""

    ascii: var[bool] = var(False, init=False)
    palette: var[str] = var("", init=False)
    """Name of the palette of series; the house's when empty."""
    heat_palette: var[str] = var("", init=False)
    """Name of the sequential palette of heat-maps; the house's when empty."""
    series_colors: var[Mapping[int, str]] = var({}, init=False)
    """Colours (`#rrggbb`) of series that have one of their own, by the index that they ask the palette for."""
    per_plot: var[bool] = var(False, init=False)
    """Every chart has a colour of its own, in place of every curve."""
    guides: var[str] = var("off", init=False)
    """Behind the curves: `off`, `dots` or `horizontal`."""
    smoothing: var[float] = var(0.0, init=False)
    """Weight of the mean that curves are smoothed with; 0 for none."""

    def _paint(self) -> bool:
        """Draw the charts that are not as they should be; whether some still are not."""
        raise NotImplementedError

    def _restyle(self) -> None:
        """Colour what is drawn anew."""
        raise NotImplementedError

    def watch_ascii(self) -> None:
        self._paint()

    def watch_palette(self) -> None:
        self._restyle()

    def watch_series_colors(self) -> None:
        self._restyle()

    def watch_heat_palette(self) -> None:
        self._restyle()

    def watch_per_plot(self) -> None:
        self._paint()

    def watch_guides(self) -> None:
        self._paint()

    def watch_smoothing(self) -> None:
        self._paint()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        # Also told when a pseudo-class comes or goes, as the focus does: mostly nothing looks different then.
        if self.is_mounted:
            self.call_later(self._restyle)

    def on_focus(self) -> None:
        self._paint()

    def on_blur(self) -> None:
        self._paint()
