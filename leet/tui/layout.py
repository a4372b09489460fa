"""How the screen is shared out: its width between sidebars and centre, the height of the centre between its panes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Side = Literal["left", "right"]

ALONE = 0.382
"""Share of the width for a sidebar that is the only one."""
TOGETHER = 0.236
"""Share of the width for each of two."""
SMALLEST_ALONE = 40
SMALLEST_TOGETHER = 30
SMALLEST_CHOSEN = 20
"""Columns that a sidebar keeps whose width a person has chosen."""
LARGEST = 120
CENTRE_COMFORT = 48
"""Sidebars that nobody asked for are left out where the centre would get fewer columns than this."""
CENTRE_LEAST = 24
"""A sidebar that was asked for takes the place of the centre where it would get fewer columns than this."""
LOWER = (0.382, 0.28, 0.21)
"""Share of the height for each lower pane, where there is one, two, or three of them."""
LOWER_LEAST = 5
"""Rows of a lower pane, its heading among them."""
MAIN_LEAST = 8
"""Rows of the main pane of the centre while others stand under it."""
SHARES = (0.05, 0.9)
"""Least and largest share of the screen that a person can give to a pane."""


@dataclass(frozen=True, slots=True)
class Widths:
    """Columns of the sidebars and of the centre; 0 is hidden."""

    left: int
    centre: int
    right: int


def share(
    width: int,
    left: bool | None,
    right: bool | None,
    *,
    yields: Side = "left",
    last: Side | None = None,
    chosen: Mapping[str, float] | None = None,
) -> Widths:
    """Share `width` columns out.

    A sidebar is wanted (True), unwanted (False), or left to us (None): then it shows where there is room, the
    one that `yields` giving way first. `last` is the sidebar that was asked for most recently; it wins where only
    one fits. `chosen` are shares of the width that a person has given to sidebars.
    """
    sizes = chosen or {}
    want = {"left": left is not False, "right": right is not False}
    asked = {"left": left is True, "right": right is True}

    def columns(side: str, usual: float, least: int) -> int:
        if side in sizes:
            return max(SMALLEST_CHOSEN, min(round(width * sizes[side]), width - CENTRE_LEAST))
        return max(least, min(round(width * usual), LARGEST))

    if want["left"] and want["right"]:
        each = {side: columns(side, TOGETHER, SMALLEST_TOGETHER) for side in want}
        for side, other in (("left", "right"), ("right", "left")):
            if side in sizes:
                each[side] = max(SMALLEST_CHOSEN, min(each[side], width - CENTRE_LEAST - each[other]))
        rest = width - sum(each.values())
        if rest >= (CENTRE_LEAST if (asked["left"] and asked["right"]) or sizes else CENTRE_COMFORT):
            return Widths(each["left"], rest, each["right"])
        loser: str = yields
        other = "right" if yields == "left" else "left"
        if asked[yields] and (not asked[other] or last == yields):
            loser = other
        want[loser] = False
    for side in ("left", "right"):
        if want[side]:
            column = columns(side, ALONE, SMALLEST_ALONE)
            if asked[side] and side not in sizes and width - column >= CENTRE_LEAST:
                # Where the centre would get little, it makes do with what each of two sidebars has.
                column = max(SMALLEST_TOGETHER, min(column, width - CENTRE_COMFORT))
            rest = width - column
            if rest < (CENTRE_LEAST if asked[side] or side in sizes else CENTRE_COMFORT):
                if not asked[side]:
                    break
                column, rest = width, 0
            return Widths(column, rest, 0) if side == "left" else Widths(0, rest, column)
    return Widths(0, width, 0)


def stack(height: int, main: bool, lower: Sequence[str], chosen: Mapping[str, float] | None = None) -> dict[str, int]:
    """Rows of the panes `lower`, which stand under the main pane (where `main` is shown), top to bottom.

    The main pane gets what they leave. Where the room is short they shrink to their least, and then those that come
    first in `lower` fold (0). `chosen` are shares of the height that a person has given to panes.
    """
    sizes = chosen or {}
    names = list(lower)
    for name in lower:
        least = LOWER_LEAST * len(names) + (MAIN_LEAST if main else 0)
        if least <= height or len(names) == 1:
            break
        names.remove(name)
    rows = dict.fromkeys(lower, 0)
    if not names:
        return rows
    usual = LOWER[min(len(names), len(LOWER)) - 1]
    room = max(LOWER_LEAST, height - MAIN_LEAST) if main else height
    wanted = [max(LOWER_LEAST, round(height * sizes.get(name, usual))) for name in names]
    if not main or sum(wanted) > room:
        wanted = _fitted(wanted, room)
    rows.update(zip(names, wanted, strict=True))
    return rows


def _fitted(wanted: list[int], room: int) -> list[int]:
    """`wanted` in proportion, `room` in all, each of at least `LOWER_LEAST` as far as there is room."""
    total = sum(wanted)
    fitted = [max(LOWER_LEAST, rows * room // total) for rows in wanted]
    while sum(fitted) > room and max(fitted) > LOWER_LEAST:
        fitted[fitted.index(max(fitted))] -= 1
    fitted[-1] += max(0, room - sum(fitted))
    if sum(fitted) > room:
        fitted[-1] = max(1, fitted[-1] - (sum(fitted) - room))
    return fitted


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
