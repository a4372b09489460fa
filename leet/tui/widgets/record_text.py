"""One record in full: lines of text that are wrapped and scrolled."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import ClassVar

from rich.cells import cell_len, chop_cells
from textual import events
from textual.message import Message
from textual.strip import Strip

from leet.tui.widgets.painted import Painted, strip_of

WHEEL = 3
_KEY = re.compile(r'\s*("(?:[^"\\]|\\.)*": |[\w./\[\]%@-]+(?:  +|: | \{)|[^\s]+  +)')
"""What a line begins with that names what follows, in any of the forms."""


class RecordText(Painted, can_focus=True):
    """Shows lines; it is told which."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"record--key", "record--text"}
    DEFAULT_CSS = """
    RecordText {
        & > .record--key { color: $secondary; }
        & > .record--text { color: $foreground; }
    }
    """

    class Scrolled(Message):
        """Another part of the record is seen."""

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, RecordText.Scrolled)

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's name
        super().__init__(id=id)
        self._text: Sequence[str] = ()
        self._key: object = None
        self._wrapped: list[tuple[str, bool]] = []
        """Lines as wide as the widget at most, and whether each begins one of the text."""
        self._wrapped_to = 0
        self._top = 0

    def show(self, key: object, text: Sequence[str]) -> None:
        """Show these lines; from the top, unless `key` is that of what is there already."""
        if key != self._key:
            self._top = 0
        if text is not self._text or key != self._key:
            self._key, self._text = key, text
            self._wrapped_to = 0
            self.repaint()
            self.post_message(self.Scrolled())

    @property
    def page(self) -> tuple[int, int, int]:
        """Numbers of the first and last line that is seen, from 1, and how many there are."""
        count = len(self._wrapped)
        return min(self._top + 1, count), min(self._top + self.size.height, count), count

    def action_move(self, direction: str) -> None:
        self._scroll(1 if direction == "down" else -1)

    def action_next_page(self) -> None:
        self._scroll(max(1, self.size.height - 1))

    def action_previous_page(self) -> None:
        self._scroll(-max(1, self.size.height - 1))

    def action_first_page(self) -> None:
        self._scroll(-len(self._wrapped))

    def action_last_page(self) -> None:
        self._scroll(len(self._wrapped))

    def _scroll(self, by: int) -> None:
        top = max(0, min(self._top + by, len(self._wrapped) - self.size.height))
        if top != self._top:
            self._top = top
            self.repaint()
            self.post_message(self.Scrolled())

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self._scroll(WHEEL)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self._scroll(-WHEEL)

    def paint(self, width: int, height: int) -> list[Strip]:
        if self._wrapped_to != width:
            self._wrapped = list(_wrapped(self._text, max(1, width - 1)))
            self._wrapped_to = width
            self._top = max(0, min(self._top, len(self._wrapped) - height))
            self.post_message(self.Scrolled())
        lines = []
        for text, begins in self._wrapped[self._top : self._top + height]:
            match = _KEY.match(text) if begins else None
            at = match.end() if match else 0
            lines.append(
                strip_of(
                    (" ", self.part("record--text")),
                    (text[:at], self.part("record--key")),
                    (text[at:], self.part("record--text")),
                )
            )
        return lines


def _wrapped(lines: Sequence[str], width: int) -> Iterator[tuple[str, bool]]:
    """The lines in pieces of at most `width` cells, and whether each piece begins a line. Values go on under values."""
    for line in lines:
        if len(line) <= width and (line.isascii() or cell_len(line) <= width):
            yield line, True
            continue
        key = _KEY.match(line)
        hanging = min(key.end() if key else len(line) - len(line.lstrip()), width // 2)
        first = line[:hanging]
        room = max(1, width - cell_len(first))
        rest = line[hanging:]
        pieces = (
            (rest[at : at + room] for at in range(0, len(rest), room)) if line.isascii() else chop_cells(rest, room)
        )
        for at, piece in enumerate(pieces):
            yield (first if not at else " " * cell_len(first)) + piece, not at
