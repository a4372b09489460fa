"""A logged table as a sheet with a cursor: rows are read from its file as one comes near them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip

from leet.model.safe_text import clean
from leet.model.table_file import BadTable, TableFile
from leet.tui.widgets.painted import Painted, cut, pad, strip_of

AHEAD = 200
"""Rows that are read beyond the last visible one."""
WIDEST = 40
MEASURED = 200
"""Rows by which the widths of the columns are chosen."""


@dataclass
class CellChanged(Message):
    """The cursor stands on another cell, or more rows have been read."""

    row: int
    column: str
    value: str

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, CellChanged)


class TableView(Painted, can_focus=True):
    """See the module. Texts of the file are cleaned where they are drawn."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "table--heading",
        "table--number",
        "table--cell",
        "table--row",
        "table--cursor",
        "table--bad",
    }

    def __init__(self, table: TableFile, *, id: str | None = None) -> None:  # noqa: A002  Textual's name
        super().__init__(id=id)
        self.table = table
        self.error = ""
        self.row = 0
        self.column = 0
        self._top = 0
        self._left = 0
        self._widths: list[int] = []
        self._measured = 0

    def on_mount(self) -> None:
        self.read(AHEAD)
        self._tell()

    def on_unmount(self) -> None:
        self.table.close()

    def read(self, rows: int) -> None:
        """Have at least so many rows."""
        try:
            self.table.read(rows)
        except BadTable as error:
            self.error = str(error)
        except OSError as error:
            self.error = f"the table cannot be read: {error.strerror or error}"

    @property
    def value(self) -> str:
        """The cell under the cursor, as logged."""
        rows = self.table.rows
        return rows[self.row][self.column] if self.row < len(rows) and self.column < len(rows[self.row]) else ""

    # Moving

    def action_move(self, direction: str) -> None:
        down, right = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}[direction]
        self._go(self.row + down, self.column + right)

    def action_page(self, direction: int) -> None:
        self._go(self.row + direction * max(1, self.size.height - 1), self.column)

    def action_first(self) -> None:
        self._go(0, self.column)

    def action_last(self) -> None:
        self.read(1 << 30)
        self._go(len(self.table.rows) - 1, self.column)

    def _go(self, row: int, column: int) -> None:
        self.read(row + max(AHEAD, self.size.height))
        self.row = min(max(row, 0), max(len(self.table.rows) - 1, 0))
        self.column = min(max(column, 0), max(len(self.table.columns) - 1, 0))
        self.repaint()
        self._tell()

    def _tell(self) -> None:
        columns = self.table.columns
        name = columns[self.column] if self.column < len(columns) else ""
        self.post_message(CellChanged(self.row, name, self.value))

    # Painting

    def paint(self, width: int, height: int) -> list[Strip]:
        if self.error and not self.table.rows:
            return [strip_of((cut(f" {clean(self.error)}", width), self.part("table--bad")))]
        if not self.table.columns:
            return [strip_of((" the table has no columns", self.part("table--number")))]
        self._measure()
        self._scroll(width, height)
        numbers = len(str(max(len(self.table.rows), 1)))
        places = self._places(width, numbers)
        lines = [self._line(None, places, numbers, width)]
        for row in range(self._top, min(self._top + height - 1, len(self.table.rows))):
            lines.append(self._line(row, places, numbers, width))
        return lines

    def _measure(self) -> None:
        rows = self.table.rows[:MEASURED]
        if len(rows) == self._measured and self._widths:
            return
        self._measured = len(rows)
        self._widths = [
            min(
                max(cell_len(clean(name)), 1, *(cell_len(clean(row[i])) if i < len(row) else 0 for row in rows), 1),
                WIDEST,
            )
            for i, name in enumerate(self.table.columns)
        ]

    def _scroll(self, width: int, height: int) -> None:
        """Keep the cursor in sight."""
        room = max(1, height - 1)
        self._top = min(max(self._top, self.row - room + 1), self.row)
        self._left = min(self._left, self.column)
        numbers = len(str(max(len(self.table.rows), 1)))
        while self._left < self.column and self.column not in [
            i for i, _, whole in self._places(width, numbers) if whole
        ]:
            self._left += 1

    def _places(self, width: int, numbers: int) -> list[tuple[int, int, bool]]:
        """(column, cells, whether it is there in full) of the columns in sight."""
        at, found = numbers + 3, []
        for column in range(self._left, len(self._widths)):
            wide = self._widths[column]
            room = width - at
            if room < 2:
                break
            found.append((column, min(wide, room), wide <= room))
            at += wide + 2
        return found

    def _line(self, row: int | None, places: list[tuple[int, int, bool]], numbers: int, width: int) -> Strip:
        cells = self.table.columns if row is None else self.table.rows[row]
        usual = self.part("table--heading" if row is None else "table--row" if row == self.row else "table--cell")
        number = " " * numbers if row is None else str(row + 1).rjust(numbers)
        parts: list[tuple[str, Style]] = [(f" {number}  ", self.part("table--number"))]
        for column, wide, _ in places:
            text = clean(cells[column]) if column < len(cells) else ""
            here = row == self.row and column == self.column
            parts += [(pad(text, wide), self.part("table--cursor") if here else usual), ("  ", usual)]
        return strip_of(*parts).adjust_cell_length(width, usual)

    # Mouse

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self._go(self.row + 3, self.column)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self._go(self.row - 3, self.column)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        numbers = len(str(max(len(self.table.rows), 1)))
        at = numbers + 3
        for column, wide, _ in self._places(self.size.width, numbers):
            if at <= event.x < at + wide + 2 and event.y >= 1:
                event.stop()
                self._go(self._top + event.y - 1, column)
                return
            at += wide + 2
