"""Texts in a chart: the glyphs of either character set, letters of the legend, titles cut to a width."""

from __future__ import annotations

from dataclasses import dataclass, replace
from string import ascii_lowercase

from leet.charts.cells import Cells
from leet.charts.spec import Spec
from leet.model.units import Unit


@dataclass(frozen=True, slots=True)
class Glyphs:
    """The characters that a chart is made of."""

    horizontal: str
    vertical: str
    corners: str
    """Upper left, upper right, lower left, lower right."""
    tick: str
    foot: str
    """Where the y axis meets the bottom border."""
    hairline: str
    point: str
    anchor: str
    """The hairline of the place that differences are counted from."""
    anchored: str
    """A point of a curve there."""
    bullet: str
    nan: str
    above: str
    below: str
    over: str
    under: str
    """Values beyond the ends of the axis."""
    dot: str
    """A point that stands alone, and a dot of the guides."""
    guide: str
    ellipsis: str


UNICODE = Glyphs("─", "│", "╭╮╰╯", "┤", "┴", "│", "●", "┊", "○", "●", "×", "▲", "▼", "↑", "↓", "•", "╌", "…")
ASCII = Glyphs("-", "|", "..''", "+", "+", "|", "@", "!", "O", "", "x", "^", "v", "^", "v", "o", "-", "~")
_PLAIN = {"µ": "u", "μ": "u", "–": "-", "—": "-", "…": "~", "∞": "I", "×": "x", "·": ".", "≤": "<", "²": "2"}
_PLAIN |= {"Δ": "d", "★": "*"}
SERIES_GLYPHS = "*+o#%&=$"
"""What the curves of an ASCII chart with several of them are drawn with, in turn."""


def glyphs(spec: Spec) -> Glyphs:
    return ASCII if spec.ascii else UNICODE


def chart_unit(spec: Spec) -> Unit:
    """The unit of a chart, its sign in 7-bit characters where the chart is."""
    if not spec.ascii or spec.unit.sign.isascii():
        return spec.unit
    return replace(spec.unit, sign=spec.unit.sign.replace("µ", "u").replace("°", ""))


def to_ascii(cells: Cells) -> None:
    """Replace whatever is left beyond 7 bits: `µ` by `u`, names that the log chose by question marks."""
    beyond = cells.codes > 126
    if beyond.any():
        for char, plain in _PLAIN.items():
            cells.codes[cells.codes == ord(char)] = ord(plain)
        cells.codes[cells.codes > 126] = ord("?")


def mark_of(spec: Spec, place: int) -> str:
    """What tells the series at `place` from the others: a coloured bullet, or a glyph or letter without colours."""
    if spec.ascii:
        return SERIES_GLYPHS[place % len(SERIES_GLYPHS)]
    return ascii_lowercase[place % 26] if spec.monochrome else UNICODE.bullet


def shorten(text: str, width: int, ellipsis: str = "…") -> str:
    """`text` in at most `width` columns: its middle is left out, at a separator where there is one near.

    The last part of a metric's name says most, so it is kept as long as there is room for it.
    """
    if len(text) <= width:
        return text
    if width <= len(ellipsis) + 1:
        return text[: max(width, 0)]
    room = width - len(ellipsis)
    # The beginning tells train from validation.
    most = room - (2 if room >= 9 else 1)
    tails = [i for i, char in enumerate(text) if char in "/._- " and 2 <= len(text) - i <= most]
    tail = len(text) - tails[0] if tails and len(text) - tails[0] >= room // 2 else None
    if tail is None:
        best = next((len(text) - i for i in tails), 0)
        tail = best if best >= room // 3 else room - room // 2
    head = room - tail
    return text[:head] + ellipsis + text[len(text) - tail :]
