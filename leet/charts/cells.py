"""A drawn chart: a grid of characters, each with a role that a screen or a printer turns into a colour."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from functools import lru_cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt

_PLACEHOLDER = "·"


class Role(IntEnum):
    """What a cell shows. Series *k* (0, 1, …) has role `Role.SERIES + k`, heat level *v* (0 … 255) `Role.HEAT + v`."""

    BLANK = 0
    FRAME = 1
    FRAME_FOCUSED = 2
    TITLE = 3
    TITLE_FOCUSED = 4
    VALUE = 5
    """The last value, at the right of the title row."""
    AXIS = 6
    TICK = 7
    """Tick labels."""
    GUIDE = 8
    CROSSHAIR = 9
    READOUT = 10
    """Values under the crosshair."""
    MARK = 11
    """Where a value is NaN or infinite."""
    NOTE = 12
    """A hint in an empty chart, a count of what is not drawn."""
    SERIES = 100
    """Up to 899 series."""
    HEAT = 1000
    FAINT = 2000
    """Points of a series behind its smoothed line: `Role.FAINT + k` for the colour of `Role.SERIES + k`."""


class Cells:
    """`height` rows of `width` cells: `codes` uint32 [height, width] code points, `roles` int16 [height, width].

    Every code point takes one terminal column; whoever writes into a grid cleans and measures text first (`put`).
    """

    __slots__ = ("codes", "height", "roles", "width")

    def __init__(self, width: int, height: int) -> None:
        self.width = width
        self.height = height
        self.codes: npt.NDArray[np.uint32] = np.full((height, width), 32, np.uint32)
        self.roles: npt.NDArray[np.int16] = np.zeros((height, width), np.int16)

    def put(self, x: int, y: int, text: str, role: int) -> int:
        """Write `text` from column `x` of row `y`, cut at the edges; the column after it.

        Characters that do not take exactly one column (control, combining, wide) are shown as `·`.
        """
        end = x + len(text)
        if not 0 <= y < self.height:
            return end
        a, b = max(x, 0), min(end, self.width)
        if a < b:
            self.codes[y, a:b] = _code_points(text)[a - x : b - x]
            self.roles[y, a:b] = role
        return end

    def row(self, y: int) -> str:
        return str(self.codes[y].tobytes(), "utf-32-le")

    def runs(self, y: int) -> Iterator[tuple[str, int]]:
        """Row `y` as (text, role) pieces, as few as possible."""
        roles = self.roles[y]
        cuts = [0, *(np.flatnonzero(np.diff(roles)) + 1).tolist(), self.width]
        text = self.row(y)
        for a, b in pairwise(cuts):
            if b > a:
                yield text[a:b], int(roles[a])

    def text(self) -> str:
        """The grid as plain text, one line per row, without trailing blanks: for goldens and pipes."""
        return "\n".join(self.row(y).rstrip() for y in range(self.height))


@lru_cache(maxsize=4096)
def _code_points(text: str) -> npt.NDArray[np.uint32]:
    """Code points of `text`, those that do not take exactly one column replaced."""
    if not (text.isascii() and text.isprintable()):
        text = "".join(char if _narrow(char) else _PLACEHOLDER for char in text)
    return np.frombuffer(text.encode("utf-32-le"), np.uint32)


@lru_cache(maxsize=4096)
def _narrow(char: str) -> bool:
    if " " <= char <= "~":
        return True
    from rich.cells import cell_len

    return char.isprintable() and cell_len(char) == 1
