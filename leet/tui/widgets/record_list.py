"""The records of a log, a line for each: number, kind, digest. Only what is seen is ever looked at."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from rich.cells import cell_len
from textual import events
from textual.message import Message
from textual.strip import Strip

from leet.tui.record_feed import RecordFeed
from leet.tui.widgets.painted import cut, pad, strip_of
from leet.tui.widgets.painted_list import PaintedList

KIND_WIDTH = 12
SIGN = "⚠"


class RecordList(PaintedList, can_focus=True):
    """A window on the rows of a feed, with a cursor. It keeps the number of the row under the cursor, not its place:
    a filter moves places about."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "records--number",
        "records--kind",
        "records--text",
        "records--damage",
        "records--cursor",
        "records--cursor-blurred",
    }
    DEFAULT_CSS = """
    RecordList {
        & > .records--number { color: $foreground 50%; }
        & > .records--kind { color: $secondary; }
        & > .records--text { color: $foreground; }
        & > .records--damage { color: $error; text-style: bold; }
        & > .records--cursor { background: $block-cursor-background; color: $block-cursor-foreground; }
        & > .records--cursor-blurred { background: $panel; color: $foreground; }
    }
    RecordList:ansi {
        & > .records--number { color: ansi_default; }
        & > .records--cursor { color: ansi_default; background: ansi_default; text-style: reverse; }
        & > .records--cursor-blurred { color: ansi_default; background: ansi_default; text-style: bold; }
    }
    """

    class Moved(Message):
        """The cursor stands on another row, or the rows around it have changed."""

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, RecordList.Moved)

    class Opened(Message):
        """The row under the cursor is to be looked at."""

    def __init__(self, feed: RecordFeed, *, id: str | None = None) -> None:  # noqa: A002  Textual's name
        super().__init__(id=id)
        self._feed = feed
        self.cursor = 0
        """Row under the cursor, of all rows of the log."""
        self.follows = False
        """The cursor stays at the end while the log grows."""

    # Places among the rows that are shown

    @property
    def count(self) -> int:
        """Rows that pass the filter."""
        rows = self._feed.rows
        return len(self._feed.index) if rows is None else len(rows)

    @property
    def length(self) -> int:
        return self.count

    @property
    def place(self) -> int:
        """Where the cursor stands among these; where it would stand if its own row does not pass."""
        rows = self._feed.rows
        at = self.cursor if rows is None else int(np.searchsorted(rows, self.cursor))
        return max(0, min(at, self.count - 1))

    @property
    def row(self) -> int | None:
        """The row under the cursor; None where there is none."""
        return self._row(self.place) if self.count else None

    def _row(self, place: int) -> int:
        rows = self._feed.rows
        return place if rows is None else int(rows[place])

    def data_changed(self) -> None:
        """There may be other rows."""
        if self.follows and self.count:
            self.cursor = self._row(self.count - 1)
        self._settle()
        self.repaint()
        self.post_message(self.Moved())

    def go_to(self, row: int) -> None:
        """Put the cursor on a row, in the middle of the screen where it was not seen."""
        self.follows = False
        self.cursor = row
        place, height = self.place, max(1, self.size.height)
        if not self._top <= place < self._top + height:
            self._top = place - height // 2
        self._moved()

    def _go(self, place: int) -> None:
        self.follows = False
        if self.count:
            self.cursor = self._row(max(0, min(place, self.count - 1)))
        self._moved()

    def _moved(self) -> None:
        self._settle()
        self.repaint()
        self.post_message(self.Moved())

    # Acts

    def action_move(self, direction: str) -> None:
        self._go(self.place + (1 if direction == "down" else -1))

    def action_last_page(self) -> None:
        """To the end, and stay there while the log grows."""
        super().action_last_page()
        self.follows = True
        self.post_message(self.Moved())

    def on_click(self, event: events.Click) -> None:
        place = self._row_at(event.y)
        if place is not None:
            self._go(place)
            if event.chain == 2:
                self.post_message(self.Opened())

    # Painting

    def paint(self, width: int, height: int) -> list[Strip]:
        count, feed = self.count, self._feed
        places = range(self._top, min(self._top + height, count))
        rows = [self._row(place) for place in places]
        digests = feed.digests(rows)
        # While the log is being read, room for as many as there will be: the list shall not shift to and fro.
        expected = feed.index.records / max(feed.index.progress, 1e-3) if not feed.loaded else feed.index.records
        digits = len(str(round(expected)))
        here = self.place
        lines = []
        for place, row in zip(places, rows, strict=True):
            damage, open_end = feed.index.is_damage(row), feed.index.is_open_end(row)
            number = "…" if open_end else SIGN if damage else str(feed.index.number(row))
            kind = "" if damage else feed.index.kind(row)
            text = digests.get(row, "…")
            if damage:
                length = feed.index.length(row)
                text = f"{length} bytes of {text}" if open_end else f"{length} bytes skipped: {text}"
            start = " " * (digits - cell_len(number)) + number
            room = width - digits - 1
            shown_kind = pad(kind, KIND_WIDTH) if room > 2 * KIND_WIDTH else cut(kind, KIND_WIDTH)
            if damage:
                shown_kind = ""
            text = cut(text, room - cell_len(shown_kind) - 2)
            line = [
                (start + " ", "records--damage" if damage and not open_end else "records--number"),
                (shown_kind + " " * bool(shown_kind), "records--kind"),
                (text, "records--number" if open_end else "records--damage" if damage else "records--text"),
            ]
            if place == here:
                whole = pad("".join(part for part, _ in line), width)
                lines.append(strip_of((whole, self.part("records--cursor" + "-blurred" * (not self.has_focus)))))
            else:
                lines.append(strip_of(*((part, self.part(style)) for part, style in line)))
        return lines
