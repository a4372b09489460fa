"""What is remembered of the charts of a screen: how the y axis of each was chosen. Windows on x are of the moment."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from leet.charts.threshold import Threshold
from leet.tui.widgets.chart_view import ChartView

MOST = 500
"""Charts whose choices are remembered."""


def kept_views(views: Mapping[str, ChartView]) -> list[list[Any]]:
    """[key, what was chosen] of every chart for which anything was, as JSON holds it."""
    kept = []
    for key, view in views.items():
        chosen: dict[str, Any] = {}
        if view.cut:
            chosen["cut"] = True
        if view.y_limits != (None, None):
            chosen["y"] = list(view.y_limits)
        if view.threshold is not None:
            chosen["over" if view.threshold.above else "under"] = view.threshold.value
        if chosen:
            kept.append([key, chosen])
    return kept[-MOST:]


def view_of(chosen: object) -> ChartView | None:
    """The view that was kept; None where something else, of whatever shape, stands there."""
    if not isinstance(chosen, dict):
        return None
    over, under = _number(chosen.get("over")), _number(chosen.get("under"))
    threshold = Threshold(True, over) if over is not None else Threshold(False, under) if under is not None else None
    view = ChartView(cut=chosen.get("cut") is True, y_limits=_limits(chosen.get("y")), threshold=threshold)
    return view if view != ChartView() else None


def _limits(held: object) -> tuple[float | None, float | None]:
    if not (isinstance(held, list) and len(held) == 2):
        return None, None
    low, high = (_number(end) for end in held)
    return (None, None) if low is not None and high is not None and not low < high else (low, high)


def _number(held: object) -> float | None:
    number = float(held) if isinstance(held, int | float) and not isinstance(held, bool) else math.nan
    return number if math.isfinite(number) else None
