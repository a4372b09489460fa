"""Colours of series and of heat, by name, for dark and light screens and for screens with 16 colours.

The maps viridis, plasma, inferno and magma (van der Walt, Smith, CC0) and cividis (Nuñez, Anderton, Renslow) are
given by eleven stops; `okabe-ito` is the palette of Okabe and Ito, for dark screens
with white for black, for light ones in darker shades. The others are our own: `market` and `beacon` were found by
search for the largest distance in Oklab between any two colours, `beacon` also as protanopes and deuteranopes see
them; `strand`, `ember`, `orchard`, `delta` and `signal` are ways through Oklab.
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
    gradient: bool = False
    """Neighbours are alike, for the charts of a page or the epochs of a run; otherwise they differ most."""

    def series(self, index: int, dark: bool = True) -> str:
        """Colour of series `index`; they repeat when there are more."""
        colors = self.dark if dark else self.light
        return colors[index % len(colors)]


def _words(text: str) -> tuple[str, ...]:
    return tuple(f"#{word}" for word in text.split())


LEGIBLE = 3.0
"""Contrast that a line needs with its ground (WCAG 2.1, 1.4.11)."""


def luminance(color: str) -> float:
    """Relative luminance of `#rrggbb`, 0 to 1 (WCAG 2.1)."""
    parts = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Ratio of the luminances of two colours, 1 to 21 (WCAG 2.1)."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def mix(one: str, other: str, share: float) -> str:
    """`one` with `share` of `other` in it."""
    pairs = ((int(one[i : i + 2], 16), int(other[i : i + 2], 16)) for i in (1, 3, 5))
    red, green, blue = (round(a + (b - a) * share) for a, b in pairs)
    return f"#{red:02x}{green:02x}{blue:02x}"


@lru_cache(maxsize=1024)
def legible(color: str, ground: str) -> str:
    """The colour itself, or as little lightened or darkened as makes a line of it seen on `ground`."""
    if contrast(color, ground) >= LEGIBLE:
        return color
    end = max(("#ffffff", "#000000"), key=lambda pole: contrast(pole, ground))
    steps = (mix(color, end, share / 20) for share in range(1, 20))
    return next((step for step in steps if contrast(step, ground) >= LEGIBLE), end)


def _resampled(stops: tuple[str, ...], count: int, first: float = 0.0, last: float = 1.0) -> tuple[str, ...]:
    """`count` colours at even distances between two places of a map, 0 to 1."""
    colors = []
    for index in range(count):
        place = (first + (last - first) * index / max(count - 1, 1)) * (len(stops) - 1)
        at = min(int(place), len(stops) - 2)
        colors.append(mix(stops[at], stops[at + 1], place - at))
    return tuple(colors)


_LINES = 8
"""Colours that a sequential map has as lines."""
_SEEN = {
    "viridis": (0.34, 0.57),
    "plasma": (0.39, 0.61),
    "inferno": (0.48, 0.65),
    "magma": (0.48, 0.65),
    "cividis": (0.37, 0.6),
}
"""Where a map begins to be seen on dark ground, and where it ends to be on light."""


def _sequential(name: str, stops: str) -> Palette:
    first, last = _SEEN[name]
    return Palette(
        name,
        _resampled(_words(stops), _LINES, first, 1.0),
        _resampled(_words(stops), _LINES, 0.0, last),
        colorblind_safe=True,
        sequential=True,
        gradient=True,
    )


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
            "market",
            _words(
                "9fc4fe f31a2d 19b742 d650e8 fecfad 5258fe 1288ad ca2b7a a4be19 ffb1f4 "
                "9254b7 72feee d3796e 708dec 76a17e e1e7ff e4a9a4 15c7d2 ca8e0c c797ff"
            ),
            _words(
                "2079f9 ee0c28 04581b be3acf af6f3c 363e67 168db3 c30e72 5f6f02 50014b "
                "9270a9 003631 9f3d34 3951b0 109a48 20028a 6e0511 036c72 593f11 68557f"
            ),
        ),
        Palette(
            "beacon",
            _words(
                "5f70fa 919f09 fe8591 128185 b9a0fe b54e0e a4feb4 8d51b8 "
                "fec6cb 0295ba b9c61b 95a5c1 fcacfe 798058 7093fb e6f4ff"
            ),
            _words(
                "4c52f7 808a49 c30e42 4e9092 370070 2a0b00 1f6d34 1d072c "
                "57383b 06657f 464c05 0136a4 372038 242800 617cc8 04466c"
            ),
            colorblind_safe=True,
        ),
        Palette(
            "strand",
            _words("4d68e4 6973dd 827ed6 9a88cf b191c6 c59cbd d7a7b3 e7b2a8 f5bf9b ffce92 fedfa4 ffedbf"),
            _words("08024e 120d58 201d57 2f2956 3e3354 4d3d51 5c474d 6b5248 795d41 866837 937327 9f7f12"),
            colorblind_safe=True,
            gradient=True,
        ),
        Palette(
            "ember",
            _words("8f54dc ae45cd cb33b2 e3328f f34069 fc5948 ff7733 fd9633 ffba43 fedc56"),
            _words("5c11a0 71008b 7f066e 8c0a54 9b0136 a70703 9b3d05 965309 966704 947b04"),
            gradient=True,
        ),
        Palette(
            "orchard",
            _words("e23a81 e667a6 e88dc7 e8b5e5 d0cffe 89dee2 7dd0a5 61b97b 4da45d 3a8f42"),
            _words("91024b 9b1f65 98447c 936291 7875b1 20898d 2a8159 0b7339 006624 035814"),
            gradient=True,
        ),
        Palette(
            "delta",
            _words("fedc56 dad23f b1c842 79c360 38be84 13b8aa 07abc0 1799d3 2584dc 3f6bdc"),
            _words("947b04 7d780d 65740e 2f7707 08724a 026d64 006673 0a5c80 014f8f 1639a6"),
            gradient=True,
        ),
        Palette(
            "signal",
            _words("e6293f ef4a33 f5642b f98a17 faac1d f5c40d e9dd3c c2d933 94d53c 68c148 35ad4f"),
            _words("89041c 931706 943000 914e0a 936200 8f7107 89800a 707e02 517d04 2c720b 076423"),
            gradient=True,
        ),
        *(_sequential(name, stops) for name, stops in _STOPS.items()),
    )
}
DEFAULT = "meadow"
DEFAULT_HEAT = "viridis"


@lru_cache(maxsize=16)
def heat(name: str = DEFAULT_HEAT, levels: int = 256) -> tuple[str, ...]:
    """`levels` colours `#rrggbb` of a sequential palette, from low to high; viridis for a name that is none."""
    return _resampled(_words(_STOPS.get(name, _STOPS[DEFAULT_HEAT])), levels)


def ansi(index: int, dark: bool = True) -> str:
    """Name of the 16-colour table for series `index`."""
    names = ANSI_DARK if dark else ANSI_LIGHT
    return names[index % len(names)]


def ansi_heat(level: int) -> str:
    """Name of the 16-colour table for heat level 0 … 255."""
    return ANSI_HEAT[min(max(level, 0), 255) * len(ANSI_HEAT) // 256]
