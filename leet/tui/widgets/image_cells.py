"""Pixels as cells: two to a cell, one above the other, as half blocks; one to a cell where there are no colours.

true colours    ▀ in the colour of the upper pixel, on the colour of the lower one; channels in steps of 8, and a
                colour is kept while the next ones differ little from it: runs of one colour cost few bytes
256, 16         the same with the colours of the terminal's table, the sixteen mixed by dithering; the 256 over ssh
                too, where a picture of true colours would take three times the bytes
none            ░▒▓█ by lightness; in 7-bit characters  .:-=+*#%@
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
import numpy.typing as npt
from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from leet.tui.terminal import Terminal

Pixels = npt.NDArray[np.uint8]
Codes = npt.NDArray[np.int64]
Means = Literal["true", "256", "16", "blocks", "ascii"]
"""By what a picture is drawn."""

_DENSITY = " .:-=+*#%@"
_BLOCKS = " ░▒▓█"
_SLACK = 9
"""By how much a channel may differ from the colour that is held."""
_UPPER, _LOWER = "▀", "▄"

# The sixteen as xterm has them: what a terminal makes of them is its own affair.
_SIXTEEN = np.array(
    [
        (0, 0, 0), (205, 0, 0), (0, 205, 0), (205, 205, 0), (0, 0, 238), (205, 0, 205), (0, 205, 205), (229, 229, 229),
        (127, 127, 127), (255, 0, 0), (0, 255, 0), (255, 255, 0), (92, 92, 255), (255, 0, 255), (0, 255, 255),
        (255, 255, 255),
    ],
    np.int64,
)  # fmt: skip
_CUBE = np.array([0, 95, 135, 175, 215, 255], np.int64)
_BAYER = (np.array([[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]]) / 16 - 0.47) * 96


@dataclass(frozen=True, slots=True)
class Grain:
    """How many pixels a cell has, (across, down), and the height of one over its width."""

    across: int
    down: int
    shape: float


def means_of(terminal: Terminal) -> Means:
    """The best that a terminal can do with characters."""
    if terminal.ascii:
        return "ascii"
    if terminal.depth == "none":
        return "blocks"
    if terminal.depth == "truecolor":
        return "256" if terminal.remote else "true"
    return terminal.depth


def grain_of(means: Means) -> Grain:
    """Pixels of a cell; a cell is taken to be twice as high as wide."""
    return Grain(1, 1, 2.0) if means in ("blocks", "ascii") else Grain(1, 2, 1.0)


def image_strips(pixels: Pixels, means: Means, ground: Style, *, dark: bool = True) -> list[Strip]:
    """The picture, as wide as its pixels; `ground` fills the lower half of the last row where it has none.

    `dark`: the screen is dark, so that what is light in the picture takes much ink where there are no colours.
    """
    if not pixels.size:
        return []
    if means in ("blocks", "ascii"):
        return _by_density(pixels, _DENSITY if means == "ascii" else _BLOCKS, ground, dark)
    codes = _codes(pixels, means)
    if len(codes) % 2:
        codes = np.concatenate((codes, np.full((1, codes.shape[1]), -1)))
    return [
        _row(upper, lower, means, ground)
        for upper, lower in zip(codes[::2].tolist(), codes[1::2].tolist(), strict=True)
    ]


def _codes(pixels: Pixels, means: Means) -> Codes:
    """One number per pixel that says its colour: packed RGB, or a place in the terminal's table."""
    if means == "16":
        height, width = pixels.shape[:2]
        noise = np.tile(_BAYER, (-(-height // 4), -(-width // 4)))[:height, :width, np.newaxis]
        mixed = pixels.astype(np.int64) + noise.astype(np.int64)
        distances = ((mixed[:, :, np.newaxis, :] - _SIXTEEN) ** 2).sum(axis=3)
        nearest: Codes = distances.argmin(axis=2).astype(np.int64)
        return nearest
    wide = pixels.astype(np.int64)
    if means == "256":
        steps = np.searchsorted((_CUBE[:-1] + _CUBE[1:]) / 2, wide)
        cube = 16 + steps @ np.array([36, 6, 1])
        grey = np.clip((wide.mean(axis=2) - 3) // 10, 0, 23).astype(np.int64)
        greys = (8 + 10 * grey)[:, :, np.newaxis]
        nearer = ((wide - greys) ** 2).sum(axis=2) < ((wide - _CUBE[steps]) ** 2).sum(axis=2)
        table: Codes = np.where(nearer, 232 + grey, cube)
        return table
    kept = wide >> 3
    full = kept << 3 | kept >> 2
    packed: Codes = full @ np.array([65536, 256, 1])
    return packed


def _row(upper: list[int], lower: list[int], means: Means, ground: Style) -> Strip:
    """Cells of one colour are blanks, and of the two halves that is drawn which changes fewer colours."""
    segments: list[Segment] = []
    text, held = "", (-2, -2)
    for above, below in zip(upper, lower, strict=True):
        ink, paper = held
        if means == "true":
            above, below = _kept(above, ink, paper), _kept(below, paper, ink)
        if above == below and paper == above:
            text += " "
            continue
        if (above, below) == (ink, paper):
            text += _UPPER
            continue
        if (below, above) == (ink, paper) and below >= 0:
            text += _LOWER
            continue
        if text:
            segments.append(Segment(text, _style(*held, means, ground)))
        if above == below:
            text, held = " ", (ink, above)
        elif below >= 0 and (below == ink or above == paper):
            text, held = _LOWER, (below, above)
        else:
            text, held = _UPPER, (above, below)
    segments.append(Segment(text, _style(*held, means, ground)))
    return Strip(segments, len(upper))


def _kept(code: int, held: int, other: int) -> int:
    """The colour that is held, or the other one that is, where a packed colour hardly differs from it."""
    if code < 0 or code == held:
        return code
    red, green, blue = code >> 16, code >> 8 & 255, code & 255
    for near in (held, other):
        if (
            near >= 0
            and -_SLACK <= (near >> 16) - red <= _SLACK
            and -_SLACK <= (near >> 8 & 255) - green <= _SLACK
            and -_SLACK <= (near & 255) - blue <= _SLACK
        ):
            return near
    return code


@lru_cache(maxsize=16384)
def _style(ink: int, paper: int, means: Means, ground: Style) -> Style:
    return Style.from_color(
        _color(ink, means) if ink >= 0 else None,
        _color(paper, means) if paper >= 0 else ground.bgcolor,
    )


@lru_cache(maxsize=4096)
def _color(code: int, means: Means) -> Color:
    if means in ("16", "256"):
        return Color.from_ansi(code)
    return Color.from_rgb(code >> 16, code >> 8 & 255, code & 255)


def _by_density(pixels: Pixels, signs: str, ground: Style, dark: bool) -> list[Strip]:
    """By lightness (Rec. 601), over the range that the picture has."""
    light = pixels @ np.array([0.299, 0.587, 0.114])
    low, high = float(light.min()), float(light.max())
    shares = (light - low) / (high - low) if high - low > 8 else light / 255
    if not dark:
        shares = 1 - shares
    places = np.minimum((shares * len(signs)).astype(np.int64), len(signs) - 1)
    return [Strip([Segment("".join(signs[i] for i in row), ground)], pixels.shape[1]) for row in places.tolist()]
