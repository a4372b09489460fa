"""How runs are told apart: the colour of each, its mark in the list, and the number of its series in the charts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import Literal

from leet.charts import palettes
from leet.model.run_colors import RunColors
from leet.tui.selection import Selection
from leet.tui.widgets.run_columns import Mark

MOST_SERIES = 900
"""Numbers of series there are (`charts.cells.Role`): curves beyond have the colours of the first again."""

_GROUP = "group: "
"""Before the names of groups, which else might be called like a run."""

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
        self._groups: Mapping[str, str] = {}
        self._gathered: Sequence[str] = ()

    def gather(self, groups: Mapping[str, str], names: Iterable[str] = ()) -> None:
        """Runs (keys) have the colour and the number of a group (a name) from the next `renew` on; {}: their own.

        `names`: of all groups, in the order in which they get colours.
        """
        self._groups = {key: _GROUP + name for key, name in groups.items()}
        self._gathered = [_GROUP + name for name in names]

    def _drawn(self, keys: Iterable[str]) -> list[str]:
        """What has a colour of its own: these runs, or the groups."""
        return list(self._gathered) if self._groups else list(keys)

    def wear(self, palette: str, *, dark: bool, depth: Depth) -> None:
        """Take the colours from a palette, by name, for a dark or a light ground."""
        self._dark, self._depth = dark, depth
        chosen = palettes.PALETTES.get(palette, palettes.PALETTES[palettes.DEFAULT])
        self._colors.with_palette(chosen.dark if dark else chosen.light, dark=dark)

    def renew(self) -> Mapping[int, str]:
        """Number of each selected run's series → its colour, where the screen can show any."""
        keys = self._drawn(self._selection.keys)
        self._colors.keep(self._drawn(reversed(self._selection.in_drawing_order())))
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
        """The number of a selected run's series, or of its group's."""
        return self._numbers.get(self._groups.get(key, key), 0)

    def number_of_group(self, name: str) -> int:
        """The number of a group's series."""
        return self._numbers.get(_GROUP + name, 0)

    def of(self, key: str) -> Mark:
        """How a run is shown in the list: in the colour that its curves have, or would have."""
        selected = key in self._selection
        color, drawn = "", self._groups.get(key, key)
        if self._depth == "full" and (selected or not self._groups):
            color = self._colors.color(drawn)
        elif self._depth == "ansi" and selected:
            color = palettes.ansi(self._colors.index(drawn), self._dark)
        return Mark(selected, key == self._selection.pinned, color)

    def rename(self, old: str, new: str) -> None:
        """A run is called by another key now, and keeps colour and number."""
        self._colors.rename(old, new)
        if old in self._numbers:
            self._numbers[new] = self._numbers.pop(old)
