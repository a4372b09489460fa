"""The line at the bottom: how the run is, where one is, and which keys help."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from rich.style import Style
from textual.strip import Strip
from textual.widgets import Input

from leet.tui.widgets.painted import Painted, cut, pad, strip_of

MESSAGE_SECONDS = 6.0
READING_SECONDS = 15.0
"""How long a lasting message stands above the line where it has no room in it."""
MOST_ROWS = 3
"""Rows of such a message."""
GAP = " · "
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


class MessageRows(Painted):
    """A message that has no room in the status line, on rows of its own over the end of what stands above it."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"rows--message"}
    DEFAULT_CSS = """
    MessageRows {
        layer: messages; dock: bottom; margin-bottom: 1; height: 1; display: none; background: $panel;
        & > .rows--message { color: $accent; background: $panel; }
        &:ansi > .rows--message { color: ansi_default; background: ansi_default; text-style: bold; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._rows: list[str] = []

    def show(self, text: str, width: int) -> None:
        """In as many rows of `width` columns as it takes, at most `MOST_ROWS`; nothing where it is empty."""
        self._rows = wrapped(text, width - 2)[:MOST_ROWS] if text else []
        self.display = bool(self._rows)
        if self._rows:
            self.styles.height = len(self._rows)
        self.repaint()

    @property
    def text(self) -> str:
        """What stands there."""
        return " ".join(self._rows)

    def paint(self, width: int, height: int) -> list[Strip]:
        style = self.part("rows--message")
        return [strip_of((pad(f" {row}", width), style)) for row in self._rows]


def wrapped(text: str, width: int) -> list[str]:
    """`text` in lines of at most `width` cells, broken between words where there are any."""
    from textwrap import wrap

    if cell_len(text) != len(text):
        return [cut(text, width)]  # wide characters: columns cannot be counted by length
    return wrap(text, max(width, 8)) or [""]


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
        self._asking = False
        self._rows: MessageRows | None = None
        """Made when a message first needs more room."""
        self._told: tuple[str, ...] = ()
        """A lasting message that has had its time on rows of its own."""

    def show(self, parts: Sequence[Part], hints: Sequence[tuple[str, str]]) -> None:
        self._parts, self._hints = parts, hints
        self.repaint()

    def say(self, *message: str, lasting: bool = False, asking: bool = False) -> None:
        """Show a message: for some seconds, or until the next lasting one (none ends it).

        Where it is given in several wordings, the first that fits is shown. Where none does, the first stands above
        the line for some seconds, and as long as it stands there where it is `asking` something.
        """
        self._asking = asking
        if lasting and message:
            self._told = ()
            self.set_timer(READING_SECONDS, lambda: self._has_told(message))
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

    def _has_told(self, message: tuple[str, ...]) -> None:
        if self._lasting is message and not self._asking:
            self._told = message
            self.repaint()

    def repaint(self) -> None:
        self._give_room()
        super().repaint()

    def on_resize(self) -> None:
        self._give_room()

    def on_screen_resume(self) -> None:
        self._give_room()

    def _give_room(self) -> None:
        """Let a message stand above the line where it has no room in it."""
        wordings, width = self._message or self._lasting, self.size.width
        if not width or not self.is_attached:
            return
        _, left = self._laid_out(width)
        short = wordings and wordings is not self._told and all(cell_len(wording) > left for wording in wordings)
        # What is typed into stands there, and has its own remarks.
        short = short and (self._asking or not isinstance(self.screen.focused, Input))
        if short and self._rows is None:
            self._rows = MessageRows()
            self.screen.mount(self._rows)
        if self._rows is not None:
            self._rows.show(wordings[0] if short else "", width)

    def paint(self, width: int, height: int) -> list[Strip]:
        quiet, gap = self.part("status--quiet"), GAP
        wordings = self._message or self._lasting
        parts, left = self._laid_out(width)
        if wordings and not (self._rows is not None and self._rows.display):
            parts.append(Part(fitting(wordings, left), "status--message"))
        pieces = [(" ", quiet)]
        for i, part in enumerate(parts):
            text = cut(part.text, width - 2) if len(parts) == 1 else part.text
            pieces += [(gap, quiet)] * bool(i) + [(text, self.part(part.tone))]
        used = sum(cell_len(text) for text, _ in pieces)
        pieces += self._hint_pieces(width - used)
        return [strip_of(*pieces)]

    def _laid_out(self, width: int) -> tuple[list[Part], int]:
        """The parts that have room beside the message, and columns that are left for that."""
        gap = GAP
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
        return parts, left

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
