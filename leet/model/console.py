"""What the program printed, as a terminal would have ended up showing it.

    pieces of output ─► packed, as long as nobody looks ─► a terminal per stream ─► numbered lines, packed

Loading a run costs only the first step; the second is taken by `settle`, in slices, by whoever shows the lines.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from time import perf_counter

import numpy as np
import numpy.typing as npt

from leet.model.console_lines import ConsoleLines
from leet.model.console_pieces import STREAMS, Block, ConsolePieces
from leet.model.console_style import plain
from leet.model.terminal_text import TerminalText
from leet.reading.batch import ConsolePiece, Stream

_MOST_BYTES = 80_000_000
"""Packed bytes that lines, and pieces that nobody has looked at, may take."""


@dataclass(frozen=True, slots=True)
class ConsoleLine:
    """A line as it ended up: plain text, safe to print; `timestamp` is when it began, Unix seconds, 0 if unknown."""

    stream: Stream
    timestamp: float
    text: str


class ConsoleLog:
    """Lines of both streams in the order in which they were begun. The oldest are dropped when they get too many."""

    def __init__(self) -> None:
        self.version = 0
        """Changes with every piece."""
        self.generation = 0
        """Changes when all lines are others: numbers from before mean nothing any more."""
        self._begin()

    def _begin(self) -> None:
        self._pieces = ConsolePieces(_MOST_BYTES)
        self._taken = 0
        self._characters = 0
        self._streams = tuple(TerminalText() for _ in STREAMS)
        self.kept = ConsoleLines(_MOST_BYTES)
        """The lines as far as they are settled."""

    def clear(self) -> None:
        """Forget everything."""
        self.version += 1
        self.generation += 1
        self._begin()

    def take_over(self, other: ConsoleLog) -> None:
        """Become what `other` is, which must not be used any more."""
        later = {"version": self.version + other.version + 1, "generation": self.generation + other.generation + 1}
        vars(self).update(vars(other), **later)

    def __len__(self) -> int:
        """Pieces that have come."""
        return self._taken

    @property
    def dropped_characters(self) -> int:
        """Characters that were dropped before they became lines."""
        return self._pieces.dropped

    @property
    def settled(self) -> float:
        """Share of what came that has become lines, 0 to 1."""
        return 1 - self._pieces.waiting / self._characters if self._characters else 1.0

    def append(self, pieces: Iterable[ConsolePiece]) -> None:
        """Take in the next pieces."""
        waiting = self._pieces.waiting
        self._taken += self._pieces.append(pieces)
        self._characters += max(0, self._pieces.waiting - waiting)
        self.version += 1

    def settle(self, seconds: float | None = None) -> bool:
        """Make lines of the pieces that wait, for about so long; whether none is left."""
        end = None if seconds is None else perf_counter() + seconds
        while (block := self._pieces.take()) is not None:
            self._settle(block)
            if end is not None and perf_counter() >= end:
                break
        return not self._pieces.waiting

    def _settle(self, block: Block) -> None:
        """Each stream is drawn by itself; new lines come in the order of the pieces that they began with."""
        texts: list[str] = []
        begun: list[npt.NDArray[np.int64]] = []
        for stream, terminal in enumerate(self._streams):
            places = np.flatnonzero(block.streams == stream)
            if len(places):
                text, ends = _of_stream(block, places)
                terminal.feed(text, self.kept)
                texts += terminal.texts
                # The character with which a line began, and the piece in which that was.
                place = np.searchsorted(ends, np.array(terminal.begins, np.int64), side="right")
                begun.append(places[np.minimum(place, len(places) - 1)])
            else:
                begun.append(places)
        pieces = np.concatenate(begun)
        counts = [len(part) for part in begun]
        streams = np.repeat(np.arange(len(counts)), counts)
        numbers = np.arange(len(pieces)) + self.kept.end
        if np.count_nonzero(counts) > 1:
            order = np.argsort(pieces, kind="stable")
            texts = [texts[i] for i in order.tolist()]
            pieces, streams = pieces[order], streams[order]
            numbers[order] = numbers.copy()
        self.kept.append(texts, block.times[pieces].tolist(), streams.tolist())
        for terminal, called in zip(self._streams, np.split(numbers, np.cumsum(counts)[:-1]), strict=True):
            terminal.number(called.tolist())
        self.kept.pack(row for terminal in self._streams for row in terminal.rows)

    def line(self, number: int) -> ConsoleLine:
        """A settled line, `kept.first` to `kept.end - 1`."""
        kept = self.kept
        return ConsoleLine(kept.stream(number), kept.time(number), plain(kept.text(number)))

    def lines(self, limit: int) -> list[ConsoleLine]:
        """The last `limit` lines; all pieces are settled for it."""
        self.settle()
        end = self.kept.end
        return [self.line(number) for number in range(max(self.kept.first, end - max(0, limit)), end)]


def _of_stream(block: Block, places: npt.NDArray[np.int64]) -> tuple[str, npt.NDArray[np.int32]]:
    """The text of the pieces at `places`, and where each of them ends in it."""
    if len(places) == len(block.ends):
        return block.text, block.ends
    starts = np.concatenate(([0], block.ends[:-1]))[places]
    ends = block.ends[places]
    text = "".join([block.text[a:b] for a, b in zip(starts.tolist(), ends.tolist(), strict=True)])
    return text, np.cumsum(ends - starts, dtype=np.int32)
