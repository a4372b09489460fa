"""A chart of metrics that are being sampled at this moment."""

from __future__ import annotations

from leet.tui.widgets.chart_source import SystemSource
from leet.tui.widgets.chart_view import Extent

SPANS = (60.0, 120.0, 300.0, 600.0, 1200.0, 3600.0, 7200.0, 14400.0, 43200.0)
"""Seconds that the time axis covers: the shortest that holds all there is. An axis that grew with every sample would
move every dot of the picture each time."""


class LiveSource(SystemSource):
    """As the chart of a run, with a time axis that has room for what will come."""

    def extent(self) -> Extent | None:
        extent = super().extent()
        if extent is None or extent.home != extent.whole:
            return extent
        first, last = extent.whole
        span = next((span for span in SPANS if first + span >= last), last - first)
        return Extent.of(first, first + span)
