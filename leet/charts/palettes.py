"""Colours of series and of heat, by name, for dark and light screens and for screens with 16 colours.

The maps viridis, plasma, inferno and magma (van der Walt, Smith, CC0) and cividis (Nuñez, Anderton, Renslow) are
given by eleven stops; `okabe-ito` is the palette of Okabe and Ito, for dark screens
with white for black, for light ones in darker shades. The others are our own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

ANSI_DARK = (
    "bright_cyan",
    "bright_yellow",
    "bright_magenta",
    "bright_green",
    "bright_red",
    "bright_blue",
    "white",
    "cyan",
    "yellow",
    "magenta",
    "green",
    "red",
)
"""Names of the 16-colour table that stay apart on black, in the order in which they are used."""
ANSI_LIGHT = ("blue", "red", "green", "magenta", "cyan", "yellow", "black", "bright_blue", "bright_red", "bright_black")
"""The same on white."""
ANSI_HEAT = ("blue", "cyan", "green", "yellow", "bright_yellow", "bright_white")


@dataclass(frozen=True, slots=True)
class Palette:
    """Colours as `#rrggbb`, in the order in which series take them."""

    name: str
    dark: tuple[str, ...]
    light: tuple[str, ...]
    colorblind_safe: bool = False
    sequential: bool = False
    """Ordered from low to high: fit for heat-maps."""

    def series(self, index: int, dark: bool = True) -> str:
        """Colour of series `index`; they repeat when there are more."""
        colors = self.dark if dark else self.light
        return colors[index % len(colors)]


def _words(text: str) -> tuple[str, ...]:
    return tuple(f"#{word}" for word in text.split())


def _sequential(name: str, stops: str) -> Palette:
    colors = _words(stops)
    # As lines, the end nearest to the background cannot be seen.
    return Palette(name, colors[3:], colors[:-3], colorblind_safe=True, sequential=True)


_STOPS = {
    "viridis": "440154 482475 414487 355f8d 2a788e 21918c 22a884 44bf70 7ad151 bddf26 fde725",
    "plasma": "0d0887 41049d 6a00a8 8f0da4 b12a90 cc4778 e16462 f2844b fca636 fcce25 f0f921",
    "inferno": "000004 160b39 420a68 6a176e 932667 bc3754 dd513a f37819 fca50a f6d746 fcffa4",
    "magma": "000004 140e36 3b0f70 641a80 8c2981 b73779 de4968 f7705c fe9f6d fecf92 fcfdbf",
    "cividis": "00224e 123570 3b496c 575d6d 707173 8a8678 a59c74 c3b369 e1cc55 fee838",
}

PALETTES: dict[str, Palette] = {
    palette.name: palette
    for palette in (
        Palette(
            "meadow",
            _words("5ec8f2 f5b83d ef6f9a 7bd88f b48cf2 f28a5b 4fd6be d8e05a 8aa4ff e08ad8"),
            _words("0a6ea8 a86400 b8215a 1f7a3a 6b3fc0 b3430f 00776a 6b7000 3a50c8 94308c"),
        ),
        Palette(
            "harbour",
            _words("7fb2ff ffcf70 66d9c6 ff8f8f c3a6ff a3d977 f7a1d3 9fb3c8"),
            _words("1f5fbf 9a6700 007d6b b42318 6941c6 3f7a10 a8327a 4b6075"),
        ),
        Palette(
            "okabe-ito",
            _words("56b4e9 e69f00 009e73 f0e442 cc79a7 d55e00 0072b2 f2f2f2"),
            _words("0771bc c6800f 00795a 665600 a0567f b95400 2b85a1 000000"),
            colorblind_safe=True,
        ),
        Palette(
            "beacon",
            _words("ffb000 648fff dc267f 35d0ba fe6100 b39efa e8e8e8"),
            _words("835f09 2f5fd6 b3035e 006a7b d35c00 5a3fb5 3a3a3a"),
            colorblind_safe=True,
        ),
        *(_sequential(name, stops) for name, stops in _STOPS.items()),
    )
}
DEFAULT = "meadow"
DEFAULT_HEAT = "viridis"


@lru_cache(maxsize=16)
def heat(name: str = DEFAULT_HEAT, levels: int = 256) -> tuple[str, ...]:
    """`levels` colours `#rrggbb` of a sequential palette, from low to high; viridis for a name that is none."""
    stops = _words(_STOPS.get(name, _STOPS[DEFAULT_HEAT]))
    points = [tuple(int(stop[i : i + 2], 16) for i in (1, 3, 5)) for stop in stops]
    colors = []
    for level in range(levels):
        place = level / max(levels - 1, 1) * (len(points) - 1)
        i = min(int(place), len(points) - 2)
        share = place - i
        red, green, blue = (round(a + (b - a) * share) for a, b in zip(points[i], points[i + 1], strict=True))
        colors.append(f"#{red:02x}{green:02x}{blue:02x}")
    return tuple(colors)


def ansi(index: int, dark: bool = True) -> str:
    """Name of the 16-colour table for series `index`."""
    names = ANSI_DARK if dark else ANSI_LIGHT
    return names[index % len(names)]


def ansi_heat(level: int) -> str:
    """Name of the 16-colour table for heat level 0 … 255."""
    return ANSI_HEAT[min(max(level, 0), 255) * len(ANSI_HEAT) // 256]
