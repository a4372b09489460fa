"""A line of the console as rows of the screen: its time, a sign for its stream, its text in its own colours.

12:04:31   step 17 loss 0.23
12:04:31 ▌ UserWarning: lr is high, and this is what a long line does when lines are
         ▌ wrapped
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from itertools import pairwise

from rich.cells import cell_len, get_character_cell_size
from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from leet.model.console_style import parts, runs_of
from leet.model.terminal_row import NARROW

SIGNS = {"stdout": " ", "stderr": "▌", "logger": "·"}
"""In front of a line, so that streams are told apart without colours."""
_HOURS_ROOM, _SECONDS_ROOM = 32, 50
"""Width from which on a line begins with `12:04`, and with `12:04:31`."""
Span = tuple[int, int]


def time_width(width: int, shown: bool = True) -> int:
    """Columns of the time in a pane `width` columns wide."""
    if not shown or width < _HOURS_ROOM:
        return 0
    return 5 if width < _SECONDS_ROOM else 8


def clock(time: float, width: int) -> str:
    """Local time in `width` columns (8, 5 or 0), blank where it is not known."""
    if not width or not 0 < time < 32503680000:  # the year 3000: what lies beyond is damage
        return " " * width
    return datetime.fromtimestamp(time).strftime("%H:%M:%S" if width == 8 else "%H:%M")


@lru_cache(1024)
def look(style: str) -> Style:
    """The style of `leet.model.console_style` for the screen."""
    if not style:
        return Style.null()
    attributes, foreground, background = parts(style)
    return Style(
        color=_colour(foreground),
        bgcolor=_colour(background),
        bold=1 in attributes or None,
        dim=2 in attributes or None,
        italic=3 in attributes or None,
        underline=4 in attributes or None,
        reverse=7 in attributes or None,
        strike=9 in attributes or None,
    )


def _colour(code: str) -> Color | None:
    if not code:
        return None
    kind, *numbers = (int(part) for part in code.split(";"))
    if not numbers:
        return Color.from_ansi(kind % 10 + (8 if kind >= 90 else 0))
    if numbers[0] == 5:
        return Color.from_ansi(numbers[1])
    return Color.from_rgb(*numbers[1:4])


def breaks(text: str, width: int) -> list[int]:
    """Where the rows of a wrapped text begin: places of characters, 0 first. No row is wider than `width` cells."""
    if len(text) <= width // 2 or NARROW.fullmatch(text):
        return list(range(0, max(1, len(text)), width))
    starts, used = [0], 0
    for at, char in enumerate(text):
        cells = get_character_cell_size(char)
        if used + cells > width and used:
            starts.append(at)
            used = 0
        used += cells
    return starts


def pieces_of(line: str, base: Style, spans: Sequence[Span], found: Style) -> list[tuple[str, Style]]:
    """The text of a marked line with its styles over `base`, and what was found in it in the style `found`."""
    pieces: list[tuple[str, Style]] = []
    at = 0
    for text, style in runs_of(line):
        plain_style = base + look(style)
        cuts = sorted({0, len(text), *(edge - at for span in spans for edge in span if 0 < edge - at < len(text))})
        for start, end in pairwise(cuts):
            inside = any(a <= at + start and at + end <= b for a, b in spans)
            pieces.append((text[start:end], plain_style + found if inside else plain_style))
        at += len(text)
    return pieces


def part_of(pieces: Sequence[tuple[str, Style]], start: int, end: int) -> list[tuple[str, Style]]:
    """Characters `start` to `end` of pieces."""
    cut, at = [], 0
    for text, style in pieces:
        if at + len(text) > start and at < end:
            cut.append((text[max(0, start - at) : end - at], style))
        at += len(text)
    return cut


def strip(pieces: Sequence[tuple[str, Style]], width: int, ground: Style) -> Strip:
    """Pieces as a strip of exactly `width` cells."""
    made = Strip([Segment(text, style) for text, style in pieces if text])
    return made.adjust_cell_length(width, ground)


def window(pieces: Sequence[tuple[str, Style]], left: int, width: int, ground: Style, mark: Style) -> Strip:
    """`width` cells of a line that is not wrapped, from cell `left` on; `‹` and `›` say that it goes on."""
    total = sum(cell_len(text) for text, _ in pieces)
    whole = Strip([Segment(text, style) for text, style in pieces if text], total)
    made = whole.crop(left, left + width) if left or total > width else whole
    made = made.adjust_cell_length(width, ground)
    if total > left + width:
        made = Strip([*made.crop(0, width - 1), Segment("›", mark)], width)
    if left and total:
        made = Strip([Segment("‹", mark), *made.crop(1, width)], width)
    return made
