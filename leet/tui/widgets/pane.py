"""A pane: one line that names what is in it, and the widget itself."""

from __future__ import annotations

from typing import ClassVar

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.content import Content
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

from leet.tui.unscrolled import Stacked
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

    def mark(self, focused: bool) -> None:
        """Stand out, or not."""
        if self.focused_pane != focused:
            self.focused_pane = focused
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


class Pane(Stacked):
    """A heading over one widget; the heading stands out while the focus is inside."""

    def __init__(self, title: str, content: Widget, note: Static, *, id: str) -> None:  # noqa: A002  Textual's name
        """`note` is the sentence that stands there while there is nothing in `content`."""
        super().__init__(id=id)
        self.heading = PaneHeading(title)
        self.content = content
        self.note = note

    def compose(self) -> ComposeResult:
        yield self.heading
        yield self.content
        yield self.note

    def say(self, text: str) -> None:
        """Show `text` in place of the content; the content again when it is empty."""
        self.content.display, self.note.display = not text, bool(text)
        if text:
            self.note.update(Content(text))

    def on_descendant_focus(self) -> None:
        self.heading.mark(True)

    def on_descendant_blur(self) -> None:
        self.heading.mark(False)
