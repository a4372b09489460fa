"""How runs are told apart: the colour of each, its mark in the list, and the number of its series in the charts."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Literal

from leet.charts import palettes
from leet.model.run_colors import RunColors
from leet.tui.selection import Selection
from leet.tui.widgets.run_columns import Mark

MOST_SERIES = 900
"""Numbers of series there are (`charts.cells.Role`): curves beyond have the colours of the first again."""

Depth = Literal["full", "ansi", "none"]
"""What a screen can show: any colour, those of the terminal's own table, none."""


class RunMarks:
    """Follows a selection; `renew` after every change of it."""

    def __init__(self, selection: Selection) -> None:
        self._selection = selection
        self._colors = RunColors(palettes.PALETTES[palettes.DEFAULT].dark)
        self._dark = True
        self._depth: Depth = "full"
        self._numbers: dict[str, int] = {}

    def wear(self, palette: str, *, dark: bool, depth: Depth) -> None:
        """Take the colours from a palette, by name, for a dark or a light ground."""
        self._dark, self._depth = dark, depth
        chosen = palettes.PALETTES.get(palette, palettes.PALETTES[palettes.DEFAULT])
        self._colors.with_palette(chosen.dark if dark else chosen.light, dark=dark)

    def renew(self) -> Mapping[int, str]:
        """Number of each selected run's series → its colour, where the screen can show any."""
        keys = self._selection.keys
        self._colors.keep(reversed(self._selection.in_drawing_order()))
        if self._depth == "ansi":
            # The number says which of the few colours it is.
            self._numbers = {key: self._colors.index(key) % MOST_SERIES for key in keys}
            return {}
        kept = {key: self._numbers[key] for key in keys if key in self._numbers}
        taken = set(kept.values())
        free = (number for number in count() if number not in taken)
        self._numbers = {key: kept[key] if key in kept else next(free) % MOST_SERIES for key in keys}
        return {number: self._colors.color(key) for key, number in self._numbers.items()}

    def number(self, key: str) -> int:
        """The number of a selected run's series."""
        return self._numbers.get(key, 0)

    def of(self, key: str) -> Mark:
        """How a run is shown in the list: in the colour that its curves have, or would have."""
        selected = key in self._selection
        color = ""
        if self._depth == "full":
            color = self._colors.color(key)
        elif self._depth == "ansi" and selected:
            color = palettes.ansi(self._colors.index(key), self._dark)
        return Mark(selected, key == self._selection.pinned, color)

    def rename(self, old: str, new: str) -> None:
        """A run is called by another key now, and keeps colour and number."""
        self._colors.rename(old, new)
        if old in self._numbers:
            self._numbers[new] = self._numbers.pop(old)
