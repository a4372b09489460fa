"""What the program printed."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from leet.model.safe_text import plain_line
from leet.reading.batch import ConsolePiece

_MOST_PIECES = 200_000
_MOST_CHARACTERS = 64_000_000
_PER_PIECE = 100
"""Bytes that a piece costs beside its text, counted as characters."""
_LOOK_BACK = 4_000_000
"""Characters that are searched for the last lines."""
_LONGEST = 4096


@dataclass(frozen=True, slots=True)
class ConsoleLine:
    """A line as it ended up: plain text, safe to print, at most 4096 characters."""

    stream: Literal["stdout", "stderr"]
    timestamp: float
    text: str


class ConsoleLog:
    """The last pieces of output as they were written; old ones are dropped and counted when they get too many."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self._pieces: deque[ConsolePiece] = deque()
        self._characters = 0
        self.dropped_pieces = 0
        self.dropped_characters = 0
        self.version = 0
        self._lines: tuple[int, int, list[ConsoleLine]] | None = None

    def take_over(self, other: ConsoleLog) -> None:
        """Become what `other` is, which must not be used any more."""
        vars(self).update(vars(other), version=self.version + other.version + 1, _lines=None)

    def __len__(self) -> int:
        """Pieces kept."""
        return len(self._pieces)

    @property
    def pieces(self) -> Iterable[ConsolePiece]:
        """The pieces kept, oldest first."""
        return self._pieces

    def append(self, pieces: Iterable[ConsolePiece]) -> None:
        """Take in the next pieces."""
        for piece in pieces:
            if len(piece.text) > _MOST_CHARACTERS:
                self.dropped_characters += len(piece.text) - _MOST_CHARACTERS
                piece = ConsolePiece(piece.stream, piece.timestamp, piece.text[-_MOST_CHARACTERS:])
            self._pieces.append(piece)
            self._characters += len(piece.text) + _PER_PIECE
        while len(self._pieces) > _MOST_PIECES or (self._characters > _MOST_CHARACTERS and len(self._pieces) > 1):
            old = self._pieces.popleft()
            self._characters -= len(old.text) + _PER_PIECE
            self.dropped_pieces += 1
            self.dropped_characters += len(old.text)
        self.version += 1

    def lines(self, limit: int) -> list[ConsoleLine]:
        """The last `limit` lines in the order in which they were begun, each stream put together by itself.

        A rough terminal: a carriage return starts the line anew, escape sequences are dropped. A line that has not
        ended yet is shown as far as it is.
        """
        if self._lines is None or self._lines[:2] != (self.version, limit):
            self._lines = self.version, limit, self._last_lines(limit)
        return self._lines[2]

    def _last_lines(self, limit: int) -> list[ConsoleLine]:
        if limit <= 0:
            return []
        recent: list[ConsolePiece] = []
        ends = searched = 0
        for piece in reversed(self._pieces):
            recent.append(piece)
            ends += piece.text.count("\n")
            searched += len(piece.text) + 1
            # Two more than asked for: the oldest of each stream may be the rest of a line that began before.
            if ends > limit + 2 or searched > _LOOK_BACK:
                break
        begun: list[list[str]] = []
        facts: list[tuple[Literal["stdout", "stderr"], float]] = []
        open_line: dict[str, int] = {}
        for piece in reversed(recent):
            parts = piece.text.replace("\r\n", "\n").split("\n")
            for i, part in enumerate(parts):
                if i:
                    # The line before this part ended; an empty one counts as well.
                    if piece.stream not in open_line:
                        begun.append([])
                        facts.append((piece.stream, piece.timestamp))
                    open_line.pop(piece.stream, None)
                if not part:
                    continue
                at = open_line.get(piece.stream)
                if at is None:
                    at = open_line[piece.stream] = len(begun)
                    begun.append([])
                    facts.append((piece.stream, piece.timestamp))
                begun[at].append(part)
        lines = zip(facts[-limit:], begun[-limit:], strict=True)
        return [
            ConsoleLine(stream, timestamp, plain_line("".join(parts))[:_LONGEST])
            for (stream, timestamp), parts in lines
        ]
