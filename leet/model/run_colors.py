"""Colours of runs: the same run keeps its colour whatever else is shown, and no two shown runs share one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class RunColors:
    """Gives each run a colour (`#rrggbb`) of a palette, or a variant of one when all of them are taken."""

    def __init__(self, palette: Sequence[str], *, dark: bool = True) -> None:
        """`palette` as in `leet.charts.palettes.PALETTES[name].dark` or `.light`; `dark`: on a dark ground."""
        self._palette = tuple(palette)
        self._dark = dark
        self._slots: dict[str, int] = {}

    def keep(self, keys: Iterable[str]) -> None:
        """These runs are shown (in order of their precedence): each has a colour of its own until it is left out."""
        kept = list(dict.fromkeys(keys))
        slots = {key: self._slots[key] for key in kept if key in self._slots}
        free = iter(sorted(set(range(len(kept))) - set(slots.values())))
        for key in kept:
            if key not in slots:
                slots[key] = next(free)
        self._slots = slots

    def color(self, key: str) -> str:
        """The colour of a run; of one that is not kept, the one it would get were it alone."""
        return self._palette[self.index(key) % len(self._palette)]

    def index(self, key: str) -> int:
        """The number of its colour: below the size of the palette a colour of it, beyond a variant.

        On a screen of 16 colours, and to choose marks that tell series apart without colour, this is what counts.
        """
        return self._slots.get(key, 0)

    def with_palette(self, palette: Sequence[str], *, dark: bool = True) -> None:
        """Another palette or ground from now on; indices stay where the new palette has as many colours."""
        self._palette, self._dark = tuple(palette), dark
