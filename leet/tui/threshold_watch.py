"""Which charts have crossed their thresholds, whether they are on the page or not, and the call that goes out then."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from leet.model.safe_text import clean
from leet.settings.store import settings
from leet.tui.widgets.chart_grid_chart import ChartSource, LastValues
from leet.tui.widgets.chart_view import ChartView

if TYPE_CHECKING:
    from textual.app import App


class SourcesByKey(Protocol):
    """What makes the source of a chart."""

    def source(self, name: str) -> ChartSource: ...


class ThresholdWatch:
    """Of the metrics of one screen."""

    def __init__(self) -> None:
        self._before: frozenset[str] | None = None

    def crossed(self, views: Mapping[str, ChartView], sources: SourcesByKey) -> list[str]:
        """Keys of the charts that are beyond their thresholds now."""
        return [
            key
            for key, view in views.items()
            if view.threshold is not None
            and isinstance(source := sources.source(key), LastValues)
            and view.threshold.crossed(source.lasts())
        ]

    def news(self, crossed: list[str], *, watched: bool) -> list[str]:
        """Those that were not crossed before. None of them is news while what was there already is being read, or a
        chart has its threshold from now on only: those are not `watched`."""
        before, self._before = self._before, frozenset(crossed)
        return [key for key in crossed if key not in before] if watched and before is not None else []


def call(app: App[object], keys: list[str]) -> None:
    """Ring, or let the terminal notify (OSC 9), as the settings say: nothing unless one of them was chosen."""
    how = settings().choice("charts.alarm")
    if how == "bell":
        app.bell()
    elif how == "notification" and app._driver is not None:
        # The same way in which Textual sends what goes to the clipboard.
        app._driver.write(f"\x1b]9;leet: {clean(', '.join(keys))} crossed\x07")
