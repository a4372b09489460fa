"""One tile of media as lines of cells: title, what is shown, caption or legend, slider.

▸ val/sample[2]                 step 1200
  ▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀
  ▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀
a cat on a mat
━━━━━━━━━━━━━━━●────────────────── 12/31
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from leet.model.media_content import Facts, Sheet
from leet.model.picture_file import Mark
from leet.model.safe_text import clean
from leet.tui.widgets.painted import cut, pad, strip_of

CAPTION_FROM = 7
"""Rows that a tile must have before one of them is kept for a caption."""
SLIDER_FROM = 4
_WIDEST_COLUMN = 28
_FRACTION = re.compile(r"-?[0-9]+\.[0-9]+(?:e[+-]?[0-9]+)?")


@dataclass(frozen=True, slots=True)
class TileStyles:
    """The styles of a tile's parts, each with the ground of the pane."""

    ground: Style
    title: Style
    selected: Style
    quiet: Style
    text: Style
    strong: Style
    bad: Style
    line: Style
    knob: Style


@dataclass(frozen=True, slots=True)
class Face:
    """What a tile says around its picture. Texts are clean."""

    name: str
    step: str
    """`step 12`, or why there is none."""
    index: int | None
    count: int
    selected: bool
    caption: str = ""
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True)
class Room:
    """Rows of the parts of a tile, by its height."""

    top: int
    body: int
    caption: bool
    slider: bool

    @classmethod
    def of(cls, height: int) -> Room:
        caption, slider = height >= CAPTION_FROM, height >= SLIDER_FROM
        top = int(height >= 2)
        return cls(top, max(0, height - top - caption - slider), caption, slider)


def framed(
    face: Face, body: Sequence[Strip], width: int, height: int, styles: TileStyles, *, caption: bool = True
) -> list[Strip]:
    """A tile of that size around the lines of its picture, which are put into its middle."""
    room = Room.of(height)
    captioned = caption and room.caption
    lines = [_title(face, width, styles)] if room.top else []
    lines += centred(body, width, room.body + room.caption - captioned, styles.ground)
    if captioned:
        lines.append(_legend(face.marks, width, styles) if face.marks else _caption(face, width, styles))
    if room.slider:
        lines.append(_slider(face, width, styles))
    return lines


def centred(body: Sequence[Strip], width: int, height: int, ground: Style) -> list[Strip]:
    """Lines in the middle of so many cells."""
    kept = list(body[:height])
    above = (height - len(kept)) // 2
    blank = Strip.blank(width, ground)
    lines = [blank] * above
    for strip in kept:
        left = max(0, (width - strip.cell_length) // 2)
        right = max(0, width - left - strip.cell_length)
        lines.append(
            Strip([Segment(" " * left, ground), *strip, Segment(" " * right, ground)]) if left or right else strip
        )
    return lines + [blank] * (height - len(lines))


def slider_width(count: int, width: int) -> int:
    """Cells of the line of a slider, the knob among them."""
    return max(0, width - len(f" {count}/{count}"))


def index_on_slider(column: int, count: int, width: int) -> int | None:
    """Which of the values is at a column of the slider; None beside it."""
    line = slider_width(count, width)
    if not 0 <= column < line or count < 1:
        return None
    return round(column / max(line - 1, 1) * (count - 1))


def said(text: str, width: int, height: int, style: Style) -> list[Strip]:
    """A sentence, broken into lines."""
    lines = textwrap.wrap(text, max(width - 2, 8), max_lines=max(height, 1), placeholder=" …") or [""]
    return [strip_of((cut(line, width), style)) for line in lines]


def facts_strips(facts: Facts, width: int, styles: TileStyles) -> list[Strip]:
    """The facts of a file, one a line, names in a column; long texts are broken, not cut: a path is to be copied."""
    wide = max((len(name) for name, _ in facts.facts), default=0)
    lines = []
    for name, text in facts.facts:
        if not name:
            lines.append(strip_of((pad(clean(text), width), styles.strong)))
            continue
        pieces = _broken(clean(text), max(1, width - wide - 2))
        for i, piece in enumerate(pieces):
            head = f"{name:<{wide}}  " if i == 0 else " " * (wide + 2)
            lines.append(strip_of((head, styles.quiet), (pad(piece, width - wide - 2), styles.text)))
    return lines


def sheet_strips(sheet: Sheet, width: int, height: int, styles: TileStyles) -> list[Strip]:
    """The upper left corner of a table; what is not shown is counted in its last line."""
    if not sheet.columns:
        return said("the table has no columns", width, height, styles.quiet)
    rows = sheet.rows[: max(0, height - 1)]
    widths: list[int] = []
    for i, column in enumerate(sheet.columns):
        cells = [short(row[i]) if i < len(row) else "" for row in rows]
        widths.append(min(max(map(cell_len, [clean(column), *cells])), _WIDEST_COLUMN))
        if sum(widths) + 2 * len(widths) > width:
            break
    shown = len(widths)
    total = sheet.total if sheet.total is not None else len(sheet.rows)
    more = total - len(rows)
    if more > 0 and len(rows) > 1:
        rows = rows[:-1]
    lines = [_cells(sheet.columns[:shown], widths, width, styles.strong)]
    lines += [_cells(row[:shown], widths, width, styles.text) for row in rows]
    if more > 0 and len(lines) < height:
        columns = f", {len(sheet.columns)} columns" if shown < len(sheet.columns) else ""
        lines.append(strip_of((pad(f"… {total} rows{columns}", width), styles.quiet)))
    return lines


def short(cell: str) -> str:
    """A cell of a table, clean; long fractions have four digits, as the whole table tells the rest."""
    return f"{float(cell):.4g}" if len(cell) > 7 and _FRACTION.fullmatch(cell) else clean(cell)


def _cells(cells: Sequence[str], widths: Sequence[int], width: int, style: Style) -> Strip:
    texts = [pad(short(cells[i]) if i < len(cells) else "", wide) for i, wide in enumerate(widths)]
    return strip_of((pad("  ".join(texts), width), style))


def _title(face: Face, width: int, styles: TileStyles) -> Strip:
    step = cut(face.step, max(0, width - 4))
    room = width - cell_len(step) - (1 if step else 0)
    sign = "▸ " if face.selected else "  "
    style = styles.selected if face.selected else styles.title
    name = pad(sign + face.name, room)
    return strip_of((name, style), (" " if step else "", styles.ground), (step, styles.quiet))


def _caption(face: Face, width: int, styles: TileStyles) -> Strip:
    text = cut(face.caption, width - 2)
    return strip_of((pad(f"  {text}", width), styles.text))


def _legend(marks: Sequence[Mark], width: int, styles: TileStyles) -> Strip:
    """A square in its colour for each class of a mask, an empty one for boxes with how many there are."""
    parts: list[tuple[str, Style]] = [("  ", styles.ground)]
    used = 2
    for i, mark in enumerate(marks):
        count = f" ×{mark.boxes}" if mark.boxes is not None and mark.boxes > 1 else ""
        label = cut(clean(mark.label), 20) + count
        wide = 2 + cell_len(label) + 2
        if used + wide > width and i:
            parts.append((cut(f"+{len(marks) - i}", width - used), styles.quiet))
            break
        sign = "■" if mark.boxes is None else "□"
        parts += [(f"{sign} ", styles.ground + Style(color=Color.from_rgb(*mark.color))), (f"{label}  ", styles.text)]
        used += wide
    return strip_of(*parts).adjust_cell_length(width, styles.ground)


def _slider(face: Face, width: int, styles: TileStyles) -> Strip:
    at = "–" if face.index is None else str(face.index + 1)
    label = f" {at}/{face.count}".rjust(len(f" {face.count}/{face.count}"))
    line = slider_width(face.count, width)
    if line < 3:
        return strip_of((pad(label.strip(), width), styles.quiet))
    if face.index is None:
        return strip_of(("─" * line, styles.line), (label, styles.quiet))
    knob = round(face.index / max(face.count - 1, 1) * (line - 1)) if face.count > 1 else line - 1
    return strip_of(
        ("━" * knob, styles.knob if face.selected else styles.quiet),
        ("●", styles.knob if face.selected else styles.quiet),
        ("─" * (line - knob - 1), styles.line),
        (label, styles.quiet),
    )


def _broken(text: str, width: int) -> list[str]:
    """`text` in pieces of at most `width` cells."""
    pieces, piece, used = [], "", 0
    for char in text:
        wide = cell_len(char)
        if used + wide > width and piece:
            pieces.append(piece)
            piece, used = "", 0
        piece += char
        used += wide
    return [*pieces, piece]
