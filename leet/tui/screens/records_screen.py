"""The records of a log: what is done with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType

from leet.model.filter import TextFilter
from leet.model.record_sheet import FORMS
from leet.model.safe_text import clean
from leet.model.units import format_bytes
from leet.tui.commands import bindings, keys_in_words
from leet.tui.messages import FilterChanged, FilterClosed
from leet.tui.screens.records_panes import RecordsPanes

if TYPE_CHECKING:
    from leet.tui.widgets.number_line import NumberLine


class RecordsScreen(RecordsPanes):
    """Going to records, filtering, copying."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("records")

    # Moving

    def action_pane(self, action: str, *arguments: object) -> None:
        getattr(self.side, f"action_{action}")(*arguments)

    def on_record_list_moved(self) -> None:
        self._show_record()
        self._show_status()

    def on_record_list_opened(self) -> None:
        self._go(self.text)

    def on_record_text_scrolled(self) -> None:
        self._show_page()

    async def action_go_to(self) -> None:
        if self._number_line is None:
            from leet.tui.widgets.number_line import NumberLine

            self._number_line = NumberLine(id="number")
            await self.mount(self._number_line, before=self.status)
        self._number_line.open()

    def on_number_line_given(self, event: NumberLine.Given) -> None:
        event.stop()
        index = self.feed.index
        text = event.text.strip().replace(",", "").replace("_", "")
        if not text:
            self._go(self.list)
            return
        at_offset = text.startswith("@")
        digits = text.removeprefix("@").removeprefix("#")
        if not digits.isdecimal() or not len(index):
            self.status.say(f"{clean(event.text)!r} is no number; write 1200 for that record, @1200 for that offset")
            self._go(self.list)
            return
        wanted = int(digits[:18])
        row = index.row_at(wanted) if at_offset else index.row_of(wanted)
        self.list.go_to(row)
        if self.list.row != row:
            self.status.say(f"the filter hides it; {keys_in_words('records_clear')} shows all")
        elif not at_offset and index.records and wanted > index.records:
            self.status.say(f"the last record so far is {index.records:,}")
        self._go(self.list)

    # The filter

    async def action_filter(self) -> None:
        if self._filter_line is None:
            from leet.tui.widgets.filter_line import FilterLine

            self._filter_line = FilterLine(id="filter")
            await self.mount(self._filter_line, before=self.status)
        self._filter_line.open("records", self._filter.text, self._filter.mode)
        self._show_status()

    def action_clear_filter(self) -> None:
        if self._typing and self._filter_line is not None:
            self._filter_line.clear()
        self._apply(TextFilter(""))

    def on_filter_changed(self, event: FilterChanged) -> None:
        wanted = TextFilter(event.text, event.mode)
        self._error = wanted.error
        if wanted.error is None:
            self._apply(wanted)
        self._show_status()

    def on_filter_closed(self, event: FilterClosed) -> None:
        self._error = None
        self._go(self.list)

    def _apply(self, wanted: TextFilter) -> None:
        if (wanted.text, wanted.mode) == (self._filter.text, self._filter.mode):
            return
        self._filter = wanted
        self.list.follows = False
        self.feed.find(wanted)
        self.paint_now()

    # What is done with a record

    def action_form(self) -> None:
        self._form = FORMS[(FORMS.index(self._form) + 1) % len(FORMS)]
        self._view.set("records.form", self._form)
        self._show_record()

    def action_copy(self) -> None:
        row = self.list.row
        text = self.feed.json(row) if row is not None else ""
        if text:
            self.app.copy_to_clipboard(text)
            self.status.say(f"copied as JSON, {format_bytes(len(text.encode()))}")
        else:
            self.status.say("there is no record to copy here")

    def action_help(self) -> None:
        from leet.tui.screens.help_screen import HelpScreen

        self.app.push_screen(HelpScreen(self.PLACE))
