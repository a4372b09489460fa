"""The rows of a terminal that can still change: the cursor, what is drawn there and erased."""

from __future__ import annotations

from typing import Protocol

from leet.model.safe_text import clean
from leet.model.terminal_row import NARROW, PER_CELL, TerminalRow, cells_of, char_width

HEIGHT = 64
"""Rows that can be drawn over."""
WIDTH = 4096
"""Columns after which a line goes on in the next row."""


class Lines(Protocol):
    """Where the lines of the window are kept once they have a number."""

    def text(self, number: int) -> str:
        """The marked line."""

    def put(self, number: int, text: str) -> None:
        """Another text for a line."""


class TerminalRows:
    """Rows without an end to their right. What is said of them here in cells becomes lines in `_finish_rows`."""

    def __init__(self, height: int = HEIGHT, width: int = WIDTH) -> None:
        self._height, self._width = height, width
        self._rows: list[int] = []
        self._y = self._x = 0
        self._style = ""
        self._saved = (0, 0, "")
        self._cells: dict[int, TerminalRow] = {}
        self._lines: Lines
        self.texts: list[str] = []
        """The new lines of the last `feed`, marked."""
        self.begins: list[int] = []
        """Where in what was fed each of them began."""
        self._at = 0

    @property
    def rows(self) -> list[int]:
        """Numbers of the lines that can still change."""
        return self._rows

    def number(self, first: list[int]) -> None:
        """The lines of the last `feed` are called so, in their order."""
        self._rows = [row if row >= 0 else first[~row] for row in self._rows]
        self.texts, self.begins = [], []

    def _finish_rows(self) -> None:
        """Rows that were drawn on become lines again."""
        for row, cells in self._cells.items():
            if row < 0:
                self.texts[~row] = cells.line()
            else:
                self._lines.put(row, cells.line())
        self._cells.clear()

    def _row(self, y: int) -> TerminalRow:
        """The cells of a row; rows up to it come into being."""
        self._reach(y)
        number = self._rows[y]
        cells = self._cells.get(number)
        if cells is None:
            line = self.texts[~number] if number < 0 else self._lines.text(number)
            cells = self._cells[number] = TerminalRow(line)
        return cells

    def _existing(self, y: int) -> TerminalRow | None:
        return self._row(y) if y < len(self._rows) else None

    def _reach(self, y: int) -> None:
        while len(self._rows) <= y:
            self._rows.append(~len(self.texts))
            self.texts.append("")
            self.begins.append(self._at)

    def _draw(self, text: str) -> None:
        if NARROW.fullmatch(text):
            self._put(text)
            return
        cells = cells_of(clean(text))
        first = 0
        # What combines with a character that was drawn before.
        leading = clean(text[:PER_CELL])
        while first < len(leading) and char_width(leading[first]) == 0:
            if self._x and (row := self._existing(self._y)) is not None:
                row.combine(self._x, leading[first])
            first += 1
        if cells:
            self._put(cells)

    def _put(self, cells: str | list[str]) -> None:
        room = self._width - self._x
        while len(cells) > room:
            if room > 0 and cells[room] == "":
                room -= 1
            if room > 0:
                self._row(self._y).write(self._x, cells[:room], self._style)
            cells = cells[room:] if room > 0 else cells
            self._line_feed()
            room = self._width
        self._row(self._y).write(self._x, cells, self._style)
        self._x += len(cells)

    def _line_feed(self) -> None:
        self._reach(self._y)
        self._x = 0
        self._down()

    def _down(self) -> None:
        if self._y == self._height - 1:
            self._reach(self._y)
            del self._rows[0]
            if len(self._cells) > 2 * self._height:
                # A few bytes can make a row of thousands of cells; those that have scrolled out are wanted no more.
                self._finish_rows()
        else:
            self._y += 1

    def _up(self) -> None:
        """The row above; at the top nothing is scrolled back, for what scrolled out is no longer here."""
        self._y = max(0, self._y - 1)

    def _carriage_return(self) -> None:
        self._x = 0

    def _backspace(self) -> None:
        self._x = max(0, min(self._x, self._width - 1) - 1)

    def _tab(self) -> None:
        self._x = max(self._x, min((self._x // 8 + 1) * 8, self._width - 1))

    def _restore(self) -> None:
        self._y, self._x, self._style = self._saved

    def _move(self, by_y: int, by_x: int) -> None:
        self._y = max(0, min(self._y + by_y, self._height - 1))
        if by_x:
            x = min(self._x, self._width - 1) if by_x < 0 else self._x
            self._x = max(0, min(x + by_x, self._width - 1))

    def _move_to_start(self, by_y: int) -> None:
        self._move(by_y, 0)
        self._x = 0

    def _go(self, y: int | None, x: int | None) -> None:
        if y is not None:
            self._y = max(0, min(y - 1, self._height - 1))
        if x is not None:
            self._x = max(0, min(x - 1, self._width - 1))

    def _erase_in_line(self, numbers: list[int]) -> None:
        row = self._existing(self._y)
        if row is None:
            return
        how, x = numbers[0], self._x
        if how == 0:
            row.erase(x, self._width)
        elif how == 1:
            row.erase(0, x + 1)
        elif how == 2:
            row.erase(0, self._width)

    def _erase_in_display(self, numbers: list[int]) -> None:
        how = numbers[0]
        if how == 0:
            self._erase_in_line([0])
            self._erase_rows(self._y + 1, len(self._rows))
        elif how == 1:
            self._erase_rows(0, min(self._y, len(self._rows)))
            self._erase_in_line([1])
        elif how == 2:
            self._erase_rows(0, len(self._rows))

    def _erase_rows(self, start: int, end: int) -> None:
        for y in range(start, end):
            self._row(y).erase(0, self._width)

    def _insert_rows(self, count: int) -> None:
        """Rows from the cursor on go down; those that leave the window are lost, as on a screen."""
        self._x = 0
        for y in range(min(len(self._rows) - 1 + count, self._height - 1), self._y - 1, -1):
            self._copy_row(y - count if y - count >= self._y else None, y)

    def _delete_rows(self, count: int) -> None:
        self._x = 0
        for y in range(self._y, len(self._rows)):
            self._copy_row(y + count if y + count < len(self._rows) else None, y)

    def _copy_row(self, source: int | None, target: int) -> None:
        into = self._row(target)
        if source is None:
            into.chars, into.styles = [], []
        else:
            row = self._row(source)
            into.chars, into.styles = list(row.chars), list(row.styles)

    def _in_row(self, act: str, numbers: list[int]) -> None:
        row = self._existing(self._y)
        count = min(max(1, numbers[0]), self._width)
        x = self._x
        if row is None or x >= self._width:
            return
        if act == "erase":
            row.erase(x, x + count)
        elif act == "insert":
            row.insert(x, count, self._width)
        else:
            row.delete(x, count)
