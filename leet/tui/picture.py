"""A screen as an SVG picture that looks the same in every renderer, with whatever fonts it has, and loads nothing.

    strips ─► cells (character, ink, ground) ─┬─► grounds         rectangles, merged along and across rows
                                              ├─► braille         round dots
                                              ├─► lines, corners  strokes, merged along and across rows
                                              ├─► blocks          rectangles
                                              └─► anything else   text, every word at its own x, as wide as its cells

A font whose characters are wider or narrower than ours can therefore shift no more than the end of a word, and that
only where a renderer ignores `textLength`; one without braille or box drawing leaves no holes.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import groupby
from typing import NamedTuple

from rich.cells import cell_len
from rich.color import Color, blend_rgb
from rich.color_triplet import ColorTriplet
from rich.style import Style
from rich.terminal_theme import TerminalTheme
from textual.strip import Strip

WIDTH, HEIGHT = 10, 22
"""Of a cell, in units of the picture."""
FONT_SIZE = 16.6
"""At which characters of the usual fonts are one cell wide."""
BASELINE = 16
MARGIN = 14
FONTS = "'Fira Code','DejaVu Sans Mono',Menlo,Consolas,monospace"
DOT = 3.6
"""Diameter of a braille dot; the distance between two is 5 or 5.5."""
STROKE = 1.4
"""Thickness of a line."""

_ARMS = {
    "─": "lr", "│": "ud", "┤": "udl", "├": "udr", "┴": "lru", "┬": "lrd", "┼": "lrud",
    "┌": "dr", "┐": "dl", "└": "ur", "┘": "ul", "╴": "l", "╵": "u", "╶": "r", "╷": "d", "⎯": "lr",
}  # fmt: skip
"""The arms of a character of lines, from the middle of its cell: left, right, up, down."""
_CORNERS = {"╭": (1, 1), "╮": (-1, 1), "╰": (1, -1), "╯": (-1, -1)}
"""Where the arms of a round corner go: right or left, down or up."""
_BLOCKS = {
    "▀": (0, 0, 8, 4), "▄": (0, 4, 8, 4), "█": (0, 0, 8, 8), "▌": (0, 0, 4, 8), "▐": (4, 0, 4, 8), "▔": (0, 0, 8, 1),
    **{chr(0x2580 + n): (0, 8 - n, 8, n) for n in range(1, 8)},
    **{chr(0x2590 - n): (0, 0, n, 8) for n in range(1, 8)},
}  # fmt: skip
"""Left, top, width and height of a block, in eighths of a cell."""
_BRAILLE_DOTS = ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3))
"""(column, row) of the dots, from the lowest bit of the character up."""
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Cell(NamedTuple):
    """A character with its ink and ground as `#rrggbb`, and what else its style says in CSS."""

    x: int
    text: str
    ink: str
    ground: str
    css: str


def svg(lines: Sequence[Strip], size: tuple[int, int], theme: TerminalTheme, ground: str, title: str = "leet") -> str:
    """The picture of `lines` on a screen of `size` cells with the colour `ground` (`#rrggbb`) around it.

    `theme` says what the terminal's own sixteen colours look like.
    """
    columns, rows = size
    cells = [list(_cells(line, theme, ground)) for line in lines[:rows]]
    width, height = columns * WIDTH + 2 * MARGIN, rows * HEIGHT + 2 * MARGIN
    measures = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    text, styles = _text(cells)
    body = [*_grounds(cells, ground), *_blocks(cells), *_strokes(cells), *_dots(cells), *text]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {measures}>',
            f"<title>{escape(title)}</title>",
            f"<style>text{{font:{FONT_SIZE}px {FONTS};white-space:pre}}{styles}</style>",
            f'<rect width="{width}" height="{height}" rx="9" fill="{ground}"/>',
            f'<g transform="translate({MARGIN} {MARGIN})">',
            *body,
            "</g>",
            "</svg>\n",
        ]
    )


def _cells(line: Strip, theme: TerminalTheme, ground: str) -> Iterator[Cell]:
    x = 0
    for segment in line:
        if segment.control:
            continue
        ink, behind, css = _look(segment.style or Style.null(), theme, ground)
        if segment.text.isascii():
            for char in segment.text:
                yield Cell(x, char, ink, behind, css)
                x += 1
            continue
        for cluster in _clusters(segment.text):
            yield Cell(x, cluster, ink, behind, css)
            x += cell_len(cluster)


def _clusters(text: str) -> Iterator[str]:
    """Characters, each with those after it that take no room of their own."""
    cluster = ""
    for char in text:
        if cluster and cell_len(char):
            yield cluster
            cluster = ""
        cluster += char
    if cluster:
        yield cluster


def _look(style: Style, theme: TerminalTheme, ground: str) -> tuple[str, str, str]:
    """Ink, ground and CSS of a style."""
    base = Color.parse(ground).get_truecolor()
    behind = _rgb(style.bgcolor, theme, base, foreground=False)
    ink = _rgb(style.color, theme, theme.foreground_color, foreground=True)
    if style.reverse:
        ink, behind = behind, ink
    if style.dim:
        ink = blend_rgb(ink, behind, 0.5)
    marks = [name for name, on in (("underline", style.underline), ("line-through", style.strike)) if on]
    css = "font-weight:bold;" * bool(style.bold) + "font-style:italic;" * bool(style.italic)
    css += f"text-decoration:{' '.join(marks)};" if marks else ""
    return ink.hex, behind.hex, css


def _rgb(color: Color | None, theme: TerminalTheme, default: ColorTriplet, *, foreground: bool) -> ColorTriplet:
    return default if color is None or color.is_default else color.get_truecolor(theme, foreground=foreground)


def _grounds(rows: Sequence[Sequence[Cell]], ground: str) -> Iterator[str]:
    """Rectangles behind cells whose ground is another one, as high as neighbouring rows agree."""
    standing: dict[tuple[int, int, str], int] = {}
    for y, row in enumerate([*rows, []]):
        found = {run for run in _runs(row) if run[2] != ground}
        for run in [run for run in standing if run not in found]:
            start, end, color = run
            top = standing.pop(run)
            yield _rectangle(start * WIDTH, top * HEIGHT, (end - start) * WIDTH, (y - top) * HEIGHT, color)
        for run in sorted(found - standing.keys()):
            standing[run] = y


def _runs(row: Sequence[Cell]) -> Iterator[tuple[int, int, str]]:
    """(first cell, cell after the last, ground) of neighbouring cells on one ground."""
    start = 0
    for place, cell in enumerate(row):
        last = place == len(row) - 1
        if last or row[place + 1].ground != cell.ground:
            end = cell.x + cell_len(cell.text) if last else row[place + 1].x
            yield row[start].x, end, cell.ground
            start = place + 1


def _rectangle(x: float, y: float, width: float, height: float, color: str) -> str:
    place = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"'
    return f'<rect {place} fill="{color}" shape-rendering="crispEdges"/>'


def _blocks(rows: Sequence[Sequence[Cell]]) -> Iterator[str]:
    across, down = WIDTH / 8, HEIGHT / 8
    for y, row in enumerate(rows):
        for cell in row:
            if cell.text in _BLOCKS:
                left, top, width, height = _BLOCKS[cell.text]
                x, above = cell.x * WIDTH + left * across, y * HEIGHT + top * down
                yield _rectangle(x, above, width * across, height * down, cell.ink)


def _strokes(rows: Sequence[Sequence[Cell]]) -> Iterator[str]:
    """One path per colour: lines, joined where they touch, and round corners."""
    level: dict[tuple[str, float], list[tuple[float, float]]] = defaultdict(list)
    upright: dict[tuple[str, float], list[tuple[float, float]]] = defaultdict(list)
    paths: dict[str, list[str]] = defaultdict(list)
    for y, row in enumerate(rows):
        top, middle = y * HEIGHT, y * HEIGHT + HEIGHT / 2
        for cell in row:
            left, centre = cell.x * WIDTH, cell.x * WIDTH + WIDTH / 2
            for arm in _ARMS.get(cell.text, ""):
                if arm in "lr":
                    start = left if arm == "l" else centre
                    level[cell.ink, middle].append((start, start + WIDTH / 2))
                else:
                    start = top if arm == "u" else middle
                    upright[cell.ink, centre].append((start, start + HEIGHT / 2))
            if cell.text == "╌":
                paths[cell.ink].append(f"M{left + 1:g} {middle:g}h3m2 0h3")
            elif cell.text in _CORNERS:
                across, down = _CORNERS[cell.text]
                end, side = middle + down * HEIGHT / 2, centre + across * WIDTH / 2
                paths[cell.ink].append(
                    f"M{centre:g} {end:g}V{middle + down * 5:g}Q{centre:g} {middle:g} {side:g} {middle:g}"
                )
    for (ink, at), spans in level.items():
        paths[ink] += [f"M{start:g} {at:g}H{end:g}" for start, end in _joined(spans)]
    for (ink, at), spans in upright.items():
        paths[ink] += [f"M{at:g} {start:g}V{end:g}" for start, end in _joined(spans)]
    for ink, parts in paths.items():
        yield f'<path d="{"".join(parts)}" fill="none" stroke="{ink}" stroke-width="{STROKE}"/>'


def _joined(spans: Iterable[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """Spans in order, those that touch as one."""
    start = end = None
    for low, high in sorted(spans):
        if end is None or start is None or low > end:
            if start is not None and end is not None:
                yield start, end
            start, end = low, high
        else:
            end = max(end, high)
    if start is not None and end is not None:
        yield start, end


def _dots(rows: Sequence[Sequence[Cell]]) -> Iterator[str]:
    """One path per colour: the dots of braille, each a line of no length with a round end."""
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for y, row in enumerate(rows):
        for cell in row:
            if "\u2801" <= cell.text <= "\u28ff" and len(cell.text) == 1:
                bits = ord(cell.text) - 0x2800
                for bit, (column, line) in enumerate(_BRAILLE_DOTS):
                    if bits >> bit & 1:
                        x = cell.x * WIDTH + (column + 0.5) * WIDTH / 2
                        found[cell.ink].append((x, y * HEIGHT + (line + 0.5) * HEIGHT / 4))
    for ink, dots in found.items():
        parts, before = [], (0.0, 0.0)
        for dot in dots:
            parts.append(f"m{dot[0] - before[0]:g} {dot[1] - before[1]:g}h0")
            before = dot
        yield f'<path d="{"".join(parts)}" stroke="{ink}" stroke-width="{DOT}" stroke-linecap="round"/>'


def _text(rows: Sequence[Sequence[Cell]]) -> tuple[list[str], str]:
    """The text elements, one per word and look, and the CSS of the looks."""
    looks: dict[str, str] = {}
    elements = []
    for y, row in enumerate(rows):
        for (css, drawn), word in groupby(row, key=lambda cell: (f"fill:{cell.ink};{cell.css}", _drawn(cell))):
            if drawn:
                continue
            cells = list(word)
            name = looks.setdefault(css, f"t{len(looks)}")
            text = _NOT_XML.sub("\ufffd", "".join(cell.text for cell in cells))
            width = cells[-1].x + cell_len(cells[-1].text) - cells[0].x
            length = f' textLength="{width * WIDTH}" lengthAdjust="spacingAndGlyphs"' if width > 1 else ""
            place = f'x="{cells[0].x * WIDTH}" y="{y * HEIGHT + BASELINE}"'
            elements.append(f'<text class="{name}" {place}{length}>{escape(text, quote=False)}</text>')
    return elements, "".join(f".{name}{{{css}}}" for css, name in looks.items())


def _drawn(cell: Cell) -> bool:
    """Whether something else than text stands for it: a shape, or nothing."""
    text = cell.text
    if text.isspace() and "text-decoration" not in cell.css:
        return True
    return text in _ARMS or text in _CORNERS or text in _BLOCKS or text == "╌" or "\u2800" <= text <= "\u28ff"
