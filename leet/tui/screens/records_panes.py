"""The list of a log's records at the left, one of them in full at the right: what they show, and how wide they are."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from leet.discovery import RUN_DIRECTORY
from leet.model.filter import TextFilter
from leet.model.record_sheet import FORMS, Form
from leet.model.safe_text import clean
from leet.model.units import counted, format_bytes, ranged
from leet.settings.view_state import ViewState
from leet.tui.commands import Place, hints, keys_in_words
from leet.tui.messages import RecordsFound
from leet.tui.record_feed import RecordFeed
from leet.tui.screens.overlay import Overlay
from leet.tui.screens.side_border import SideBorder
from leet.tui.span_update import SpanScreen
from leet.tui.widgets.pane import PaneHeading
from leet.tui.widgets.record_list import RecordList
from leet.tui.widgets.record_text import RecordText
from leet.tui.widgets.status_line import Part, StatusLine

if TYPE_CHECKING:
    from leet.tui.widgets.filter_line import FilterLine
    from leet.tui.widgets.number_line import NumberLine

SHARE = 0.382
"""Of the width, for the list."""
NARROWEST, WIDEST = 36, 72
"""Columns of the list, unless a person has moved the border."""
LEAST = 16
"""Columns that either side keeps, however the border is moved."""
STEP = 4
"""Columns that the border moves by one key."""
BOTH = 64
"""Columns below which only the side in focus is shown."""
PAINT_SECONDS = 0.1
"""Seconds between two repaints for what has been found meanwhile."""
FORM_NAMES: dict[Form, str] = {"fields": "fields", "protobuf": "protobuf text", "json": "JSON"}


class SideHeading(PaneHeading):
    """A heading whose title changes."""

    def rename(self, title: str) -> None:
        if title != self._title:
            self._title = title
            self.repaint()


class RecordsPanes(SpanScreen[None], Overlay[None]):
    """Owns the feed of the records; list and text are told what to show."""

    PLACE: ClassVar[Place] = "records"
    AUTO_FOCUS = None
    DEFAULT_CSS = """
    RecordsPanes {
        & #records-body { height: 1fr; }
        & #records-side, & #record-side { height: 1fr; }
        & #record-side { width: 1fr; }
        & RecordList, & RecordText { height: 1fr; }
    }
    """

    def __init__(self, log: Path, *, live: bool = True) -> None:
        """`live`: go on looking whether there is more."""
        super().__init__()
        self.feed = RecordFeed(log, live=live)
        self.feed.start()
        self.list = RecordList(self.feed, id="records-list")
        self.text = RecordText(id="record-text")
        self.status = StatusLine(id="status")
        self.loaded = asyncio.Event()
        """The log has been gone through to its end."""
        self._headings = SideHeading("Records"), SideHeading("Record")
        self._form: Form = FORMS[0]
        self._filter = TextFilter("")
        self._error: str | None = None
        """Why what is being typed cannot be used."""
        self._filter_line: FilterLine | None = None
        self._number_line: NumberLine | None = None
        directory = log.parent.parent if RUN_DIRECTORY.match(log.parent.name) else log.parent
        self._view = ViewState.of(directory) if live else ViewState(directory, kept=False)
        width, form = self._view.get("records.width"), self._view.get("records.form")
        self._width: int | None = width if isinstance(width, int) else None
        """Columns of the list that a person has chosen."""
        if form in FORMS:
            self._form = form
        self._border = SideBorder()
        self._whole = False
        """The record has the whole width."""
        self._shown_row: tuple[int, int] | None = None
        """State of the index, and the row of it whose record is shown."""
        self._due = False

    def compose(self) -> ComposeResult:
        with Horizontal(id="records-body"):
            with Vertical(id="records-side"):
                yield self._headings[0]
                yield self.list
                yield Static(classes="empty-note", id="records-note")
            with Vertical(id="record-side"):
                yield self._headings[1]
                yield self.text
        yield self.status

    def on_mount(self) -> None:
        self._share_width()
        self.set_focus(self.list)
        self._mark_focus()
        self.feed.listen(self._announce)
        self.paint_now()

    def on_unmount(self) -> None:
        self.feed.stop()

    # Data

    def _announce(self) -> None:
        """Called from the threads of the feed."""
        self.post_message(RecordsFound())

    def on_records_found(self) -> None:
        if not self._due:
            self._due = True
            # The first rows are wanted at once; what comes later is painted at a pace that is pleasant to look at.
            self.set_timer(PAINT_SECONDS if len(self.feed.index) else 0.001, self._take_in)

    def _take_in(self) -> None:
        self._due = False
        if self.feed.drain():
            self.paint_now()

    def paint_now(self) -> None:
        """Bring everything visible up to date at once."""
        self.feed.drain()
        if self.feed.loaded:
            self.loaded.set()
        self.list.data_changed()
        self._show_note()
        self._show_record()
        self._show_status()

    # What is shown

    def _show_note(self) -> None:
        index, note = self.feed.index, ""
        if index.trouble:
            note = clean(f"{self.feed.log.name}: {index.trouble}")
        elif not len(index):
            note = "No record yet" if self.feed.loaded else "Reading the log"
        elif not self.list.count:
            note = f"No record matches {clean(self._filter.text)!r}"
            over = self.feed.searched >= len(index)
            note += f"\n\n{keys_in_words('records_clear')} shows all again" if over else "\n\nso far"
        here = self.query_one("#records-note", Static)
        if here.display != bool(note):
            here.display, self.list.display = bool(note), not note
        if note:
            here.update(Content(note))

    def _show_record(self) -> None:
        """The record under the cursor; while a long one is read in another form, the one before stays."""
        row, heading = self.list.row, self._headings[1]
        if row is None:
            heading.rename("Record")
            heading.show("")
            self.text.show(None, ())
            return
        index = self.feed.index
        if index.is_open_end(row):
            title = "The end"
        elif index.is_damage(row):
            title = f"Damage at {index.offset(row):,}"
        else:
            title = f"Record {index.number(row):,} · {index.kind(row)}"
        heading.rename(title)
        lines = self.feed.sheet(row, self._form)
        if lines is None:
            heading.show(f"reading {format_bytes(index.length(row))}")
            if self._shown_row != (index.generation, row):
                self.text.show(None, ())
        else:
            self._shown_row = index.generation, row
            self.text.show((*self._shown_row, self._form), lines)
            self._show_page()

    def _show_page(self) -> None:
        row = self.list.row
        if row is None:
            return
        index = self.feed.index
        first, last, count = self.text.page
        parts = [] if index.is_damage(row) else [FORM_NAMES[self._form]]
        parts += [f"lines {ranged(first, last, count)}"] if last - first + 1 < count else []
        parts += [f"{format_bytes(index.length(row))} at {index.offset(row):,}"]
        self._headings[1].show(" · ".join(parts))

    def _show_status(self) -> None:
        feed, index = self.feed, self.feed.index
        count, total = self.list.count, len(index)
        note = f"{self.list.place + 1 if count else 0:,} of {count:,}"
        if feed.wanted is not None:
            note += f" ({total:,})"
        self._headings[0].show(note, _shown(self._filter))
        parts = [
            Part(clean(feed.log.name), "status--strong", rank=2),
            Part(counted(index.records, "record"), rank=6),
            Part(format_bytes(index.size), "status--quiet", rank=3),
        ]
        if index.damaged:
            places = f"{index.damaged} place{'s' * (index.damaged > 1)}"
            parts.append(Part(f"damage in {places}", "status--bad", rank=8))
        if not feed.loaded:
            parts.append(Part(f"reading {index.progress:.0%}", "status--warn", rank=9))
        if feed.wanted is not None and feed.searched < total:
            parts.append(Part(f"searched {feed.search_progress:.0%}", "status--warn", rank=9))
        if total and self.list.follows and index.kind(total - 1) != "exit":
            parts.append(Part("● following", "status--live", rank=7))
        self.status.show(parts, hints("filter") if self._typing else hints("records"))
        line = self._filter_line
        if line is not None and line.display:
            line.show_count(count, total, self._error)

    @property
    def _typing(self) -> bool:
        return self._filter_line is not None and self._filter_line.display

    # Widths and focus

    def on_resize(self, event: events.Resize) -> None:
        self._share_width()

    def _share_width(self) -> None:
        width = self.size.width
        if not width:
            return
        usual = max(NARROWEST, min(round(width * SHARE), WIDEST))
        left = max(LEAST, min(usual if self._width is None else self._width, width - LEAST))
        only = width < BOTH or self._whole
        at_list = self.focused is not self.text
        records, record = self.query_one("#records-side"), self.query_one("#record-side")
        with self.app.batch_update():
            records.display = not only or (at_list and not self._whole)
            record.display = not only or not records.display
            records.styles.width = "1fr" if only else left

    def _mark_focus(self) -> None:
        for heading, widget in zip(self._headings, (self.list, self.text), strict=True):
            if heading.focused_pane != (self.focused is widget):
                heading.focused_pane = self.focused is widget
                heading.repaint()

    def on_descendant_focus(self) -> None:
        self._mark_focus()

    def _go(self, widget: Widget) -> None:
        """Give the focus to a side, and show it where there is room for one only."""
        if widget is self.list:
            self._whole = False
        self.set_focus(widget)
        self._share_width()
        self.paint_now()

    @property
    def side(self) -> RecordList | RecordText:
        """The side that keys act on."""
        return self.text if self.focused is self.text else self.list

    def action_next_pane(self) -> None:
        self._go(self.list if self.side is self.text else self.text)

    def action_open(self) -> None:
        """The record over the whole width; back to both."""
        self._whole = not (self.side is self.text and self._whole)
        self._go(self.text if self._whole else self.list)

    def action_back(self) -> None:
        """One thing less: the whole width, the record, the filter's place, the screen."""
        if self.side is self.text:
            self._go(self.list)
        elif len(self.app.screen_stack) > 1:
            self.dismiss()
        # Otherwise there is nothing to go back to; the hints say what quits.

    def action_resize(self, direction: str) -> None:
        now = self.query_one("#records-side").size.width
        self._make_wide(now + (STEP if direction == "right" else -STEP))

    def _make_wide(self, width: int) -> None:
        """Give the list so many columns, if there are as many."""
        self._width = max(LEAST, min(width, self.size.width - LEAST))
        self._view.set("records.width", self._width)
        self._share_width()

    def action_reset_sizes(self) -> None:
        self._width, self._whole = None, False
        self._view.set("records.width", None)
        self._share_width()

    def _forward_event(self, event: events.Event) -> None:
        """Drag the border; everything else goes where Textual sends it."""
        if self.is_mounted and self.query_one("#record-side").display:
            width = self._border.width(event, self.query_one("#records-side").region)
            if width is not None:
                self._make_wide(width)
                return
        super()._forward_event(event)


def _shown(held: TextFilter) -> str:
    """The filter as the heading shows it."""
    return clean(f"/{held.text}/" if held.mode == "regex" else held.text) if held else ""
