"""A painted list of rows with a cursor: paging, the wheel, and what is in sight."""

from __future__ import annotations

from textual import events

from leet.tui.widgets.painted import Painted

WHEEL = 3
"""Rows that one notch of the wheel moves."""


class PaintedList(Painted, can_focus=True):
    """Subclasses hold the rows and the cursor: they say how many (`length`) and where (`place`), and `_go` there."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's name
        super().__init__(id=id)
        self._top = 0
        """The first row in sight."""

    @property
    def length(self) -> int:
        """How many rows there are."""
        raise NotImplementedError

    @property
    def place(self) -> int:
        """The row under the cursor, from 0."""
        raise NotImplementedError

    def _go(self, place: int) -> None:
        """Put the cursor on a row, the nearest there is, and show that."""
        raise NotImplementedError

    def _titles(self) -> int:
        """Lines above the rows."""
        return 0

    def _room(self) -> int:
        """Rows in sight."""
        return max(1, self.size.height - self._titles())

    def _settle(self) -> None:
        """Bring the cursor into sight, scrolling no farther than that."""
        room, place = self._room(), self.place
        self._top = max(min(self._top, place), place - room + 1)
        self._top = max(0, min(self._top, self.length - room))

    def _row_at(self, y: int) -> int | None:
        """The row that stands on a line of the widget."""
        place = self._top + y - self._titles()
        return place if y >= self._titles() and place < self.length else None

    # Acts

    def action_next_page(self) -> None:
        self._page(1)

    def action_previous_page(self) -> None:
        self._page(-1)

    def _page(self, by: int) -> None:
        room = self._room()
        self._top = max(0, min(self._top + by * room, self.length - room))
        self._go(self.place + by * room)

    def action_first_page(self) -> None:
        self._go(0)

    def action_last_page(self) -> None:
        self._go(self.length - 1)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self._roll(WHEEL)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self._roll(-WHEEL)

    def _roll(self, by: int) -> None:
        """The wheel has been turned: the cursor goes along."""
        self._go(self.place + by)

    def on_focus(self) -> None:
        self.repaint()

    def on_blur(self) -> None:
        self.repaint()

    def on_resize(self) -> None:
        self._settle()
