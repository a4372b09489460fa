"""A logged table over the whole screen."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from leet.model.safe_text import clean
from leet.model.table_file import TableFile
from leet.tui.commands import Place, bindings, hints
from leet.tui.screens.overlay import Overlay
from leet.tui.span_update import SpanScreen
from leet.tui.widgets.status_line import Part, StatusLine
from leet.tui.widgets.table_view import CellChanged, TableView


class TableScreen(SpanScreen[None], Overlay[None]):
    """The rows of a table file; a cell is shown in full on Enter."""

    PLACE: ClassVar[Place] = "table"
    BINDINGS: ClassVar[list[BindingType]] = bindings("table")

    def __init__(self, file: Path, title: str) -> None:
        """`title` is clean. Raises OSError where the file cannot be opened."""
        super().__init__()
        self._title = title
        self.table = TableView(TableFile(file), id="table")

    def compose(self) -> ComposeResult:
        yield self.table
        yield StatusLine(id="status")

    def on_mount(self) -> None:
        self.table.focus()

    def on_cell_changed(self, event: CellChanged) -> None:
        event.stop()
        table = self.table.table
        more = "+" if not table.finished or table.cut_short else ""
        parts = [Part(self._title, "status--strong"), Part(f"row {event.row + 1} of {len(table.rows)}{more}", rank=9)]
        if event.column:
            parts.append(Part(f"{clean(event.column)} = {clean(event.value)}", rank=8))
        if self.table.error and table.rows:
            parts.append(Part(clean(self.table.error), "status--message", rank=10))
        self.query_one(StatusLine).show(parts, [("Esc", "back"), *hints("table")])

    def action_open(self) -> None:
        """The cell under the cursor, in full."""
        from leet.tui.screens.text_screen import TextScreen

        columns = self.table.table.columns
        if self.table.column < len(columns):
            self.app.push_screen(TextScreen(columns[self.table.column], self.table.value))

    def action_table(self, action: str, *arguments: object) -> None:
        """An act of the table."""
        getattr(self.table, f"action_{action}")(*arguments)

    def action_back(self) -> None:
        self.dismiss()

    def action_help(self) -> None:
        from leet.tui.screens.help_screen import HelpScreen

        self.app.push_screen(HelpScreen(self.PLACE))
