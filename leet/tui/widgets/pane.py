"""A pane: one line that names what is in it, and the widget itself."""

from __future__ import annotations

from typing import ClassVar

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.strip import Strip
from textual.widget import Widget

from leet.tui.widgets.painted import Painted, cut, strip_of


class PaneHeading(Painted):
    """` Metrics ────────── /loss/  1–6 of 14 `"""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "heading--title",
        "heading--title-focused",
        "heading--rule",
        "heading--note",
        "heading--filter",
    }

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = title
        self._note = ""
        self._filter = ""
        self.focused_pane = False

    def show(self, note: str, filter_text: str = "") -> None:
        """The remark at the right (`1–6 of 14`) and the filter that holds."""
        if (note, filter_text) != (self._note, self._filter):
            self._note, self._filter = note, filter_text
            self.repaint()

    def paint(self, width: int, height: int) -> list[Strip]:
        title = cut(f" {self._title} ", width)
        note = cut(f" {self._note} " if self._note else "", width - cell_len(title))
        room = width - cell_len(title) - cell_len(note)
        kept = cut(f" {self._filter} ", room) if self._filter and room > 6 else ""
        style = self.part("heading--title-focused" if self.focused_pane else "heading--title")
        return [
            strip_of(
                (title, style),
                ("─" * (room - cell_len(kept)), self.part("heading--rule")),
                (kept, self.part("heading--filter")),
                (note, self.part("heading--note")),
            )
        ]


class Pane(Vertical):
    """A heading over one widget; the heading stands out while the focus is inside."""

    def __init__(self, title: str, *content: Widget, id: str) -> None:  # noqa: A002  Textual's name
        super().__init__(id=id)
        self.heading = PaneHeading(title)
        self._content = content

    def compose(self) -> ComposeResult:
        yield self.heading
        yield from self._content

    def on_descendant_focus(self) -> None:
        self._mark(True)

    def on_descendant_blur(self) -> None:
        self._mark(False)

    def _mark(self, focused: bool) -> None:
        if self.heading.focused_pane != focused:
            self.heading.focused_pane = focused
            self.heading.repaint()
