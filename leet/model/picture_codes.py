"""Pixels as the escape sequences that terminals draw pictures by.

Kitty: https://sw.kovidgoyal.net/kitty/graphics-protocol/ — RGB, compressed, in pieces of 4096 characters.
Sixel: DEC STD 070; a palette of at most 256 colours, six rows of pixels to a line of characters:

    ESC P 0 ; 1 ; 0 q " 1;1;width;height  #0;2;r;g;b …  #0 ?!12~ $ #1 … -  ESC \\
                                          ╰ in percent   ╰ runs    ╰ same line again ╰ next line
"""

from __future__ import annotations

import base64
import zlib

import numpy as np

from leet.model.picture_file import Pixels

_CHUNK = 4096
_SIXEL_COLORS = 128


def kitty(pixels: Pixels, number: int, columns: int, rows: int) -> str:
    """Transmits and shows a picture at the cursor, over so many cells; it replaces the one with the same `number`."""
    height, width = pixels.shape[:2]
    data = base64.standard_b64encode(zlib.compress(pixels.tobytes(), 6)).decode()
    # q=2: no answer, which would come in as keys. C=1: the cursor stays.
    first = f"a=T,f=24,o=z,s={width},v={height},i={number},p=1,c={columns},r={rows},C=1,q=2"
    pieces = [data[i : i + _CHUNK] for i in range(0, len(data), _CHUNK)]
    parts = []
    for i, piece in enumerate(pieces):
        keys = f"{first}," if i == 0 else "q=2,"
        parts.append(f"\x1b_G{keys}m={int(i < len(pieces) - 1)};{piece}\x1b\\")
    return "".join(parts)


def kitty_removed(number: int) -> str:
    """Takes a picture away and lets the terminal forget it."""
    return f"\x1b_Ga=d,d=I,i={number},q=2\x1b\\"


def sixel(pixels: Pixels) -> str:
    """Shows a picture at the cursor."""
    from PIL import Image

    image = Image.fromarray(pixels).quantize(_SIXEL_COLORS, method=Image.Quantize.MEDIANCUT)
    places = np.asarray(image)
    height, width = places.shape
    palette = np.array((image.getpalette() or [])[: 3 * _SIXEL_COLORS], np.int64).reshape(-1, 3)
    used = np.unique(places).tolist()
    parts = [f'\x1bP0;1;0q"1;1;{width};{height}']
    parts += ["#{};2;{};{};{}".format(i, *(palette[i] * 100 // 255).tolist()) for i in used]
    weights = 1 << np.arange(6)
    for top in range(0, height, 6):
        band = places[top : top + 6]
        lines = []
        for color in np.unique(band).tolist():
            bits = (band == color).T @ weights[: len(band)]
            lines.append(f"#{color}{_runs(bits)}")
        parts.append("$".join(lines) + "-")
    parts.append("\x1b\\")
    return "".join(parts)


def _runs(bits: np.ndarray[tuple[int], np.dtype[np.int64]]) -> str:
    """Sixels of one colour along a line, runs written as counts; blanks at the end left out."""
    cuts = np.flatnonzero(np.diff(bits)) + 1
    starts = [0, *cuts.tolist()]
    ends = [*cuts.tolist(), len(bits)]
    if not bits[-1]:
        starts, ends = starts[:-1], ends[:-1]
    text = []
    for start, end in zip(starts, ends, strict=True):
        sign, count = chr(63 + int(bits[start])), end - start
        text.append(f"!{count}{sign}" if count > 3 else sign * count)
    return "".join(text)
