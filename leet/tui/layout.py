"""How the width of the screen is shared out between the sidebars and the charts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Side = Literal["overview", "system"]

ALONE = 0.382
"""Share of the width for a sidebar that is the only one."""
TOGETHER = 0.236
"""Share of the width for each of two."""
SMALLEST_ALONE = 40
SMALLEST_TOGETHER = 30
LARGEST = 120
CHARTS_COMFORT = 48
"""Sidebars that nobody asked for are left out where the charts would get fewer columns than this."""
CHARTS_LEAST = 24
"""A sidebar that was asked for takes the place of the charts where they would get fewer columns than this."""


@dataclass(frozen=True, slots=True)
class Widths:
    """Columns of the three panes; 0 is hidden."""

    overview: int
    charts: int
    system: int


def share(width: int, overview: bool | None, system: bool | None, last: Side | None = None) -> Widths:
    """Share `width` columns out.

    A sidebar is wanted (True), unwanted (False), or left to us (None): then it shows where there is room, the
    overview giving way first. `last` is the sidebar that was asked for most recently; it wins where only one fits.
    """
    want = {"overview": overview is not False, "system": system is not False}
    asked = {"overview": overview is True, "system": system is True}
    if want["overview"] and want["system"]:
        each = _between(round(width * TOGETHER), SMALLEST_TOGETHER)
        rest = width - 2 * each
        if rest >= (CHARTS_LEAST if asked["overview"] and asked["system"] else CHARTS_COMFORT):
            return Widths(each, rest, each)
        loser = "overview"
        if asked["overview"] and (not asked["system"] or last == "overview"):
            loser = "system"
        want[loser] = False
    for side in ("overview", "system"):
        if want[side]:
            column = _between(round(width * ALONE), SMALLEST_ALONE)
            rest = width - column
            if rest < (CHARTS_LEAST if asked[side] else CHARTS_COMFORT):
                if not asked[side]:
                    break
                column, rest = width, 0
            return Widths(column, rest, 0) if side == "overview" else Widths(0, rest, column)
    return Widths(0, width, 0)


def section_heights(needs: list[int], weights: list[float], height: int) -> list[int]:
    """Share `height` rows out between sections that need so many each.

    Nobody gets more than it needs; what is short is shared by weight, and nobody who needs a row gets none while
    another has more than one.
    """
    given = [0] * len(needs)
    left = height
    open_ = [i for i, need in enumerate(needs) if need > 0]
    while left > 0 and open_:
        total = sum(weights[i] for i in open_)
        modest = [i for i in open_ if needs[i] - given[i] <= left * weights[i] / total]
        if not modest:
            shares = {i: int(left * weights[i] / total) for i in open_}
            for i in open_:
                if shares[i] == 0:
                    shares[i] = 1
            for i in open_:
                take = min(shares[i], left)
                given[i] += take
                left -= take
            for i in sorted(open_, key=lambda i: -weights[i]):
                take = min(left, needs[i] - given[i])
                given[i] += take
                left -= take
            break
        for i in modest:
            left -= needs[i] - given[i]
            given[i] = needs[i]
        open_ = [i for i in open_ if i not in modest]
    return given


def _between(columns: int, least: int) -> int:
    return max(least, min(columns, LARGEST))
