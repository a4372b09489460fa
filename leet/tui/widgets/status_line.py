"""The line at the bottom: how the run is, where one is, and which keys help."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from rich.style import Style
from textual.strip import Strip

from leet.tui.widgets.painted import Painted, cut, strip_of

MESSAGE_SECONDS = 6.0


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of the line. Where room is short the parts of lowest `rank` go first."""

    text: str
    tone: str = "status--text"
    rank: int = 5


class StatusLine(Painted):
    """Parts on the left, a message after them, hints on the right as far as there is room."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "status--text",
        "status--strong",
        "status--quiet",
        "status--good",
        "status--warn",
        "status--bad",
        "status--live",
        "status--key",
        "status--message",
        "status--mode",
    }

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's name
        super().__init__(id=id)
        self._parts: Sequence[Part] = ()
        self._hints: Sequence[tuple[str, str]] = ()
        self._message = ""
        self._lasting = ""

    def show(self, parts: Sequence[Part], hints: Sequence[tuple[str, str]]) -> None:
        self._parts, self._hints = parts, hints
        self.repaint()

    def say(self, message: str, *, lasting: bool = False) -> None:
        """Show a message: for some seconds, or until the next lasting one (an empty one ends it)."""
        if lasting:
            self._lasting = message
        else:
            self._message = message
            if message:
                self.set_timer(MESSAGE_SECONDS, lambda: self._forget(message))
        self.repaint()

    @property
    def message(self) -> str:
        return self._message or self._lasting

    def _forget(self, message: str) -> None:
        if self._message == message:
            self._message = ""
            self.repaint()

    def paint(self, width: int, height: int) -> list[Strip]:
        gap, quiet = " · ", self.part("status--quiet")
        message = cut(self.message, max(20, width // 2)) if self.message else ""
        parts = [part for part in self._parts if part.text]
        if message:
            parts.append(Part(message, "status--message", rank=9))
        # The first hint, which is the help, is worth more than the least of the parts.
        first = sum(cell_len(text) + 1 for text in self._hints[0]) + 2 if self._hints and width >= 40 else 0
        while len(parts) > 1 and _length(parts, gap) + 2 + first > width:
            parts.remove(min(reversed(parts), key=lambda part: part.rank))
        pieces = [(" ", quiet)]
        for i, part in enumerate(parts):
            text = cut(part.text, width - 2) if len(parts) == 1 else part.text
            pieces += [(gap, quiet)] * bool(i) + [(text, self.part(part.tone))]
        used = sum(cell_len(text) for text, _ in pieces)
        pieces += self._hint_pieces(width - used)
        return [strip_of(*pieces)]

    def _hint_pieces(self, room: int) -> list[tuple[str, Style]]:
        shown: list[tuple[str, str]] = []
        length = 2
        for key, word in self._hints:
            more = cell_len(key) + 1 + cell_len(word) + (2 if shown else 0)
            if length + more > room:
                break
            length += more
            shown.append((key, word))
        quiet, bold = self.part("status--quiet"), self.part("status--key")
        pieces: list[tuple[str, Style]] = [(" " * max(0, room - length + 1), quiet)]
        for i, (key, word) in enumerate(shown):
            pieces += [("  ", quiet)] * bool(i) + [(key, bold), (" " + word, quiet)]
        return [*pieces, (" ", quiet)]


def _length(parts: Sequence[Part], gap: str) -> int:
    return sum(cell_len(part.text) for part in parts) + len(gap) * (len(parts) - 1)
