"""Colours of runs: the same run keeps its colour whatever else is shown, and no two shown runs share one.

    run ─► hash ─► its place in the palette ─► taken? another free place ─► none? a variant of its own colour

A run keeps the place that it has for as long as it is shown, and gets it back when it is shown again and nobody else
has taken it. Its parts have the same hash: a run that is resumed keeps its colour.
"""

from __future__ import annotations

import colorsys
from collections.abc import Iterable, Sequence
from itertools import count

from leet.discovery import RUN_DIRECTORY

_TURN = 17 / 360
"""Steps in hue between variants of a colour."""
_LIGHTER, _PALER = 0.07, 0.12
"""Steps in lightness and saturation."""
_LIGHTNESS = {True: (0.5, 0.88), False: (0.22, 0.52)}
"""What can be read on dark and on light grounds."""
_APART = 36**2
"""Square of the distance in RGB from the colours before, below which a variant is passed over for better ones."""
_TRIES = 12
_COMPARED = 64
"""The first colours, which others are compared with: of more than that on a chart nobody tells one from another."""


class RunColors:
    """Gives each run a colour (`#rrggbb`) of a palette, or a variant of one when all of them are taken."""

    def __init__(self, palette: Sequence[str], *, dark: bool = True) -> None:
        """`palette` as in `leet.charts.palettes.PALETTES[name].dark` or `.light`; `dark`: on a dark ground."""
        self._palette = tuple(palette)
        self._dark = dark
        self._kept: dict[str, int] = {}
        self._taken: set[int] = set()
        self._before: dict[str, int] = {}
        """Places of runs that are not shown any more."""
        self._made: list[str] = []
        self._used: set[str] = set()
        self._begin()

    def keep(self, keys: Iterable[str]) -> None:
        """These runs are shown (in order of their precedence): each has a colour of its own until it is left out."""
        wanted = list(dict.fromkeys(keys))
        left_out = self._kept.keys() - set(wanted)
        self._before |= {key: self._kept[key] for key in left_out}
        self._kept = {key: self._kept[key] for key in wanted if key in self._kept}
        self._taken = set(self._kept.values())
        for key in wanted:
            if key not in self._kept:
                place = self._kept[key] = self._place_of(key)
                self._taken.add(place)
                self._before.pop(key, None)

    def color(self, key: str) -> str:
        """The colour of a run; of one that is not kept, the one it would get now."""
        return self._color(self.index(key))

    def index(self, key: str) -> int:
        """The number of its colour: below the size of the palette a colour of it, beyond a variant.

        On a screen of 16 colours, and to choose marks that tell series apart without colour, this is what counts.
        """
        place = self._kept.get(key)
        return self._place_of(key) if place is None else place

    def rename(self, old: str, new: str) -> None:
        """The run is called otherwise now: it has got another part."""
        for places in (self._kept, self._before):
            if old in places:
                places[new] = places.pop(old)

    def with_palette(self, palette: Sequence[str], *, dark: bool = True) -> None:
        """Another palette or ground from now on; of the same size, every run keeps its place in it."""
        if len(palette) != len(self._palette):
            kept = list(self._kept)
            self._kept, self._before, self._taken = {}, {}, set()
            self._palette = tuple(palette)
            self.keep(kept)
        self._palette, self._dark = tuple(palette), dark
        self._begin()

    def _begin(self) -> None:
        """Colours are made anew."""
        self._made = list(self._palette)
        self._used = set(self._made)

    def _place_of(self, key: str) -> int:
        """The place for a run: its former one, its own, any free one, a variant of its own."""
        size = len(self._palette)
        hashed = _hash(key)
        own = hashed % size
        before = self._before.get(key, own)
        for place in (before, own):
            if place not in self._taken:
                return place
        if len(self._taken) < size or not self._taken.issuperset(range(size)):
            return next(place for n in range(size) if (place := (own + 1 + n) % size) not in self._taken)
        return next(place for level in count(1) if (place := own + level * size) not in self._taken)

    def _color(self, index: int) -> str:
        while len(self._made) <= index:
            color = self._variant(len(self._made))
            self._made.append(color)
            self._used.add(color)
        return self._made[index]

    def _variant(self, index: int) -> str:
        """A colour that is like one of the palette and like none of those before."""
        level, place = divmod(index, len(self._palette))
        others = [_numbers(color) for color in self._made[:_COMPARED]]
        best, widest = "", -1
        for attempt in range(_TRIES):
            candidate = shifted(self._palette[place], level + attempt, self._dark)
            distance = 0 if candidate in self._used else min(_distance(_numbers(candidate), one) for one in others)
            if distance > widest:
                best, widest = candidate, distance
            if distance >= _APART or (distance and index >= _COMPARED):
                break
        return best if widest > 0 else next(color for n in count(1) if (color := _nudged(best, n)) not in self._used)


def shifted(color: str, step: int, dark: bool) -> str:
    """A colour (`#rrggbb`) turned in hue, to alternating sides, and moved in lightness and saturation."""
    hue, lightness, saturation = colorsys.rgb_to_hls(*(number / 255 for number in _numbers(color)))
    side = 1 if step % 2 else -1
    ring = (step + 1) // 2
    hue = (hue + side * ring * _TURN) % 1.0
    low, high = _LIGHTNESS[dark]
    room = high - low
    lightness = low + (lightness - low + ring * _LIGHTER * (1 if dark else -1)) % room if room else lightness
    saturation = min(1.0, max(0.35, saturation - (ring % 4) * _PALER))
    return _hex(colorsys.hls_to_rgb(hue, lightness, saturation))


def _nudged(color: str, step: int) -> str:
    """A colour that is hardly another one, for those who select thousands of runs."""
    number = (int(color[1:], 16) + step * 0x010203) % 0x1000000
    return f"#{number:06x}"


def _numbers(color: str) -> tuple[int, int, int]:
    number = int(color[1:], 16)
    return number >> 16, number >> 8 & 255, number & 255


def _hex(parts: Iterable[float]) -> str:
    return "#" + "".join(f"{round(255 * part):02x}" for part in parts)


def _distance(one: tuple[int, int, int], other: tuple[int, int, int]) -> int:
    """The square of it."""
    return (one[0] - other[0]) ** 2 + (one[1] - other[1]) ** 2 + (one[2] - other[2]) ** 2


def _hash(key: str) -> int:
    """FNV-1a of 32 bits over the key without the time in it, which differs between the parts of a run."""
    parent, _, name = key.rpartition("/")
    match = RUN_DIRECTORY.match(name)
    hashed = 0x811C9DC5
    for byte in f"{parent}/{match['id'] if match else name}".encode("utf-8", "replace"):
        hashed = (hashed ^ byte) * 0x01000193 & 0xFFFFFFFF
    return hashed
