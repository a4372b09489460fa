"""Which rows of the console are seen: the line and row at the top, the line under the cursor, whether it follows.

Lines are known by their numbers in the log. Of a million lines only those between top and bottom are ever looked at:
there is no count of rows over all of them.
"""

from __future__ import annotations

from leet.model.console_lines import ConsoleLines
from leet.model.console_selection import ConsoleSelection
from leet.model.console_style import plain
from leet.tui.widgets.console_rows import breaks


class ConsoleWindow:
    """A window on the lines that `chosen` lets pass, `height` rows of `width` columns of text."""

    def __init__(self, lines: ConsoleLines, chosen: ConsoleSelection, *, wrapped: bool) -> None:
        self.wrapped = wrapped
        self.width, self.height = 80, 24
        self.look_at(lines, chosen)
        self.rewind()

    def look_at(self, lines: ConsoleLines, chosen: ConsoleSelection) -> None:
        """Other lines, or others of them, from now on."""
        self._lines, self.chosen = lines, chosen

    def rewind(self) -> None:
        """To the end, and follow."""
        self.following = True
        """New lines scroll into sight."""
        self.cursor = 0
        """Number of the line under the cursor."""
        self.top = (0, 0)
        """Number of the line at the top, and which of its rows."""
        self.left = 0
        """First column that is seen of lines that are not wrapped."""

    def resize(self, width: int, height: int) -> None:
        """Another size; what is seen stays about the same."""
        width, height = max(1, width), max(1, height)
        if (width, height) != (self.width, self.height):
            self.width, self.height = width, height
            self.top = (self.top[0], 0)
            if not self.following:
                self.reveal()

    def __len__(self) -> int:
        return len(self.chosen)

    @property
    def position(self) -> int:
        """How many lines stand before the one under the cursor."""
        return self.chosen.position(self.cursor)

    def arrange(self) -> None:
        """Put top and cursor onto lines that are there; called before anything is drawn."""
        self.settle()
        last = self._last_top()
        # No blank rows at the end while there are lines above the top: others may be chosen than before.
        self.top = last if self.following else min(self._moved(self.top, 0), last)

    def settle(self) -> None:
        """Bring the cursor onto a line that is there."""
        if count := len(self.chosen):
            position = count - 1 if self.following else min(self.position, count - 1)
            self.cursor = self.chosen.number(position)

    def follow(self) -> None:
        """To the last line and those to come."""
        self.following = True
        self.settle()

    def go(self, position: int) -> None:
        """Cursor to the line at a position; past the last one it follows."""
        if position >= len(self.chosen):
            self.follow()
            return
        self.following = False
        self.cursor = self.chosen.number(max(0, position))
        self.reveal()

    def page(self, by: int) -> None:
        """So many screens down (up, negative); at the ends the cursor goes to the first or last line."""
        before = self.top
        self.scroll(by * self.height)
        if self.top == before:
            self.go(len(self.chosen) if by > 0 else 0)
        else:
            self.cursor = self.chosen.number(min(self.chosen.position(self.top[0]), len(self.chosen) - 1))

    def scroll(self, rows: int) -> None:
        """Move what is seen; at the end it follows again. The cursor stays where it can be seen."""
        last = self._last_top()
        self.top = min(self._moved(self.top, rows), last)
        self.following = rows > 0 and self.top == last
        self.settle()
        if not self.following and len(self.chosen):
            bottom = self._moved(self.top, self.height - 1)
            self.cursor = max(self.top[0], min(self.cursor, bottom[0]))

    def reveal(self) -> None:
        """Scroll as little as needed for the line under the cursor to be seen; far jumps put it in the middle."""
        if not len(self.chosen):
            return
        head = (self.cursor, 0)
        lowest = self._moved((self.cursor, min(self.rows_of(self.cursor), self.height) - 1), 1 - self.height)
        if head < self.top:
            near = self._moved(self.top, -self.height) <= head
            self.top = head if near else self._moved(head, -(self.height // 2))
        elif self.top < lowest:
            near = lowest <= self._moved(self.top, self.height)
            self.top = lowest if near else self._moved(head, -(self.height // 2))
        self.top = min(self.top, self._last_top())

    def rows_of(self, number: int) -> int:
        """Rows that a line takes."""
        return len(breaks(plain(self._lines.text(number)), self.width)) if self.wrapped else 1

    def _moved(self, top: tuple[int, int], rows: int) -> tuple[int, int]:
        """The row so many rows below (above, negative) another; at the ends the first or last row there is."""
        count = len(self.chosen)
        if not count:
            return (0, 0)
        number, row = top
        position = self.chosen.position(number)
        if position >= count or self.chosen.number(position) != number:
            position, row = min(position, count - 1), 0
        number = self.chosen.number(position)
        row += rows
        if not self.wrapped:
            return self.chosen.number(max(0, min(position + row, count - 1))), 0
        while row < 0 and position > 0:
            position -= 1
            number = self.chosen.number(position)
            row += self.rows_of(number)
        while (height := self.rows_of(number)) <= row and position < count - 1:
            row -= height
            position += 1
            number = self.chosen.number(position)
        return number, max(0, min(row, height - 1))

    def _last_top(self) -> tuple[int, int]:
        """The top with which the last row stands at the bottom."""
        count = len(self.chosen)
        if not count:
            return (0, 0)
        last = self.chosen.number(count - 1)
        return self._moved((last, self.rows_of(last) - 1), 1 - self.height)
