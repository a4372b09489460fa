"""One row of a terminal while it is drawn on: a character and a style per column."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import groupby

from leet.model.console_style import marked, parts, runs_of

PER_CELL = 8
"""Combining characters that one cell takes."""

NARROW = re.compile("[\x20-\x7e\xa1-\xac\xae-\u02ff\u2010-\u2027\u2190-\u21ff\u2500-\u259f\u2800-\u28ff]*")
"""Text of which every character is one cell and none needs cleaning."""


class TerminalRow:
    """A row that is being drawn on: a character (with what combines with it) and a style per column."""

    __slots__ = ("chars", "styles")

    def __init__(self, line: str) -> None:
        self.chars: list[str] = []
        self.styles: list[str] = []
        for text, style in runs_of(line):
            cells = list(text) if NARROW.fullmatch(text) else cells_of(text)
            self.chars += cells
            self.styles += [style] * len(cells)

    def write(self, x: int, cells: str | list[str], style: str) -> None:
        """`cells` from column `x` on."""
        end = x + len(cells)
        if x > len(self.chars):
            self._widen(x)
        self._part(x)
        self._part(end)
        self.chars[x:end] = cells
        self.styles[x:end] = [style] * len(cells)

    def _widen(self, to: int) -> None:
        missing = to - len(self.chars)
        self.chars += " " * missing
        self.styles += [""] * missing

    def _part(self, x: int) -> None:
        """A wide character of which only one half would be left becomes two blanks."""
        if 0 < x < len(self.chars) and self.chars[x] == "":
            self.chars[x - 1] = self.chars[x] = " "

    def combine(self, x: int, char: str) -> None:
        """Put a character without a width on what stands left of column `x`."""
        at = min(x, len(self.chars)) - 1
        if at > 0 and self.chars[at] == "":
            at -= 1
        if at >= 0 and len(self.chars[at]) <= PER_CELL:
            self.chars[at] += char

    def erase(self, start: int, end: int) -> None:
        """Blank columns `start` to `end` (exclusive)."""
        self._part(start)
        self._part(end)
        if end >= len(self.chars):
            del self.chars[start:], self.styles[start:]
        elif start < end:
            self.chars[start:end] = " " * (end - start)
            self.styles[start:end] = [""] * (end - start)

    def insert(self, x: int, count: int, width: int) -> None:
        """Blanks at column `x`; what is pushed beyond `width` columns is lost."""
        if x < len(self.chars):
            self._part(x)
            self.chars[x:x] = " " * count
            self.styles[x:x] = [""] * count
            self._part(width)
            del self.chars[width:], self.styles[width:]

    def delete(self, x: int, count: int) -> None:
        """Take columns out; what stands to the right moves up."""
        self._part(x)
        self._part(x + count)
        del self.chars[x : x + count], self.styles[x : x + count]

    def line(self) -> str:
        """The row as a marked line; blanks at its end are left out."""
        chars, styles = self.chars, self.styles
        if not styles or styles.count(styles[0]) == len(styles):
            text = "".join(chars)
            style = styles[0] if styles else ""
            if not style:
                return text.rstrip(" ")
            return marked([(text if shows_blanks(style) else text.rstrip(" "), style)]) if text.strip(" ") else ""
        runs, at = [], 0
        for style, group in groupby(styles):
            length = sum(1 for _ in group)
            runs.append(("".join(chars[at : at + length]), style))
            at += length
        return marked(trimmed(runs))


def trimmed(runs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The runs without the blanks at their end that nobody sees."""
    while runs and not shows_blanks(runs[-1][1]):
        text, style = runs.pop()
        if text := text.rstrip(" "):
            runs.append((text, style))
            break
    return runs


@lru_cache(4096)
def shows_blanks(style: str) -> bool:
    """Whether blanks in this style are seen: reversed, underlined, struck or on a colour."""
    attributes, _, background = parts(style)
    return bool(background or attributes & {4, 7, 9})


@lru_cache(4096)
def char_width(char: str) -> int:
    """Cells of a character: 0 for what combines with the one before, 2 for wide ones."""
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def cells_of(text: str) -> list[str]:
    """One string per column; the second column of a wide character is empty."""
    cells: list[str] = []
    for char in text:
        width = char_width(char)
        if width:
            cells += (char, "") if width == 2 else (char,)
        elif cells:
            at = -2 if cells[-1] == "" and len(cells) > 1 else -1
            if len(cells[at]) <= PER_CELL:
                cells[at] += char
    return cells
