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
LEAST_MESSAGE = 24
"""Columns that a message gets before parts of `WORTHY` rank and more give way to it."""
WORTHY = 5
HINTS_KEPT = 2
"""So many of the hints, help and quit, are worth more than a long message and the name of the run."""
HINTS_WORTH = 4
"""So many of them are worth more than parts of rank `MINOR` and less."""
MINOR = 2


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
        self._message: tuple[str, ...] = ()
        self._lasting: tuple[str, ...] = ()

    def show(self, parts: Sequence[Part], hints: Sequence[tuple[str, str]]) -> None:
        self._parts, self._hints = parts, hints
        self.repaint()

    def say(self, *message: str, lasting: bool = False) -> None:
        """Show a message: for some seconds, or until the next lasting one (none ends it).

        Where it is given in several wordings, the first that fits is shown, or the end of the last is left out.
        """
        if lasting:
            # What is new, or asks for an answer, is not to wait until an older message has had its time.
            self._message, self._lasting = (() if message else self._message), message
        else:
            self._message = message
            if message:
                self.set_timer(MESSAGE_SECONDS, lambda: self._forget(message))
        self.repaint()

    @property
    def message(self) -> str:
        """The message that stands there, in full."""
        return next(iter(self._message or self._lasting), "")

    def _forget(self, message: tuple[str, ...]) -> None:
        if self._message is message:
            self._message = ()
            self.repaint()

    def paint(self, width: int, height: int) -> list[Strip]:
        gap, quiet = " · ", self.part("status--quiet")
        parts = [part for part in self._parts if part.text]
        kept, worth = (
            sum(cell_len(key) + cell_len(word) + 3 for key, word in self._hints[:n]) if width >= 60 else 0
            for n in (HINTS_KEPT, HINTS_WORTH)
        )
        room = width - 2 - kept
        wordings = self._message or self._lasting
        parts = [part for part in parts if part.text not in wordings]
        while True:
            left = room - _length(parts, gap) - (len(gap) if wordings else 0)
            least = min(reversed(parts), key=lambda part: part.rank, default=None)
            if least is None or (len(parts) == 1 and not wordings):
                break
            longest = cell_len(wordings[0]) if wordings else 0
            if least.rank <= MINOR and left < longest + worth - kept and width >= 60:
                parts.remove(least)
                continue
            if left >= (longest if least.rank < WORTHY else min(longest, LEAST_MESSAGE)):
                break
            parts.remove(least)
        if wordings:
            parts.append(Part(fitting(wordings, left), "status--message"))
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
                continue  # a shorter one may fit
            length += more
            shown.append((key, word))
        quiet, bold = self.part("status--quiet"), self.part("status--key")
        pieces: list[tuple[str, Style]] = [(" " * max(0, room - length + 1), quiet)]
        for i, (key, word) in enumerate(shown):
            pieces += [("  ", quiet)] * bool(i) + [(key, bold), (" " + word, quiet)]
        return [*pieces, (" ", quiet)]


def _length(parts: Sequence[Part], gap: str) -> int:
    return sum(cell_len(part.text) for part in parts) + len(gap) * (len(parts) - 1)


def fitting(wordings: Sequence[str], width: int) -> str:
    """The first wording that fits; else as many whole words of the last as do."""
    for wording in wordings:
        if cell_len(wording) <= width:
            return wording
    text = cut(wordings[-1], width)
    words = text[:-1].rstrip() if wordings[-1].startswith(text[:-1].rstrip() + " ") else text.rpartition(" ")[0]
    return words + "…" if len(words) > width // 2 else text
