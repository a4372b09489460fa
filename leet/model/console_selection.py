"""Which lines of the console pass filters: found from the newest back, in slices, and kept up as lines change."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from time import perf_counter

import numpy as np

from leet.model.console_lines import SIZE, Chunk, ConsoleLines
from leet.model.console_pieces import STREAMS
from leet.model.console_style import plain
from leet.model.filter import TextFilter
from leet.model.log_level import levels_of

LOOK_BACK = 2
"""Chunks in which the level is looked for that lines without one of their own have from above."""
_STDERR = STREAMS.index("stderr")


class ConsoleSelection:
    """Numbers of lines that pass, in ascending order; without filters all lines, at no cost."""

    def __init__(self, lines: ConsoleLines, *filters: TextFilter, errors_only: bool = False, least: int = 0) -> None:
        """`errors_only`: only what was written to stderr; `least`: the number of a level that lines must have."""
        self._lines = lines
        self._filters = tuple(wanted for wanted in filters if wanted)
        self._errors_only = errors_only
        self._least = least
        self._levels: dict[int, tuple[int, dict[int, int]]] = {}
        """Chunk → its version when it was looked at, and of each stream the last level in it."""
        self._passing: dict[int, tuple[int, list[int]]] = {}
        """Chunk → its version when it was looked at, and the numbers of the lines that passed."""
        self._order: tuple[list[int], list[int]] = ([], [0])
        """Chunks with lines that pass, ascending, and how many such lines there are before each of them."""
        self.complete = self.all
        """All lines have been looked at."""

    @property
    def all(self) -> bool:
        """Nothing is filtered."""
        return not self._filters and not self._errors_only and not self._least

    def scan(self, seconds: float | None = None) -> bool:
        """Look at lines that are new or have changed, for about so long; whether all have been looked at."""
        if self.all:
            return True
        end = None if seconds is None else perf_counter() + seconds
        chunks, first = self._lines.chunks, self._lines.first // SIZE
        changed = False
        self.complete = True
        for place in range(len(chunks) - 1, -1, -1):
            chunk = chunks[place]
            known = self._passing.get(first + place)
            if known is not None and known[0] == chunk.version:
                continue
            if end is not None and changed and perf_counter() >= end:
                self.complete = False
                break
            self._passing[first + place] = (chunk.version, self._of(chunk, (first + place) * SIZE))
            changed = True
        gone = [key for key in self._passing if key < first]
        for key in gone:
            del self._passing[key]
        if changed or gone:
            keys = sorted(key for key, (_, numbers) in self._passing.items() if numbers)
            self._order = keys, [0, *accumulate(len(self._passing[key][1]) for key in keys)]
        return self.complete

    def _of(self, chunk: Chunk, first: int) -> list[int]:
        if self._errors_only:
            places = np.flatnonzero(np.frombuffer(bytes(chunk.streams), np.uint8) == _STDERR).tolist()
            if not places or not (self._filters or self._least):
                return [first + place for place in places]
        else:
            places = list(range(len(chunk)))
        texts = plain("\n".join(chunk.texts)).split("\n")
        if self._least:
            levels = levels_of(texts, chunk.streams, self._above(first // SIZE))
            places = [place for place in places if levels[place] >= self._least]
        for wanted in self._filters:
            places = [place for place in places if wanted.matches(texts[place])]
        return [first + place for place in places]

    def _above(self, chunk: int) -> dict[int, int]:
        """Of each stream the last level before this chunk."""
        above: dict[int, int] = {}
        for before in range(max(chunk - LOOK_BACK, self._lines.first // SIZE), chunk):
            held = self._lines.chunks[before - self._lines.first // SIZE]
            version, last = self._levels.get(before, (-1, {}))
            if version != held.version:
                last = {}
                levels_of(plain("\n".join(held.texts)).split("\n"), held.streams, last)
                self._levels[before] = held.version, last
            above |= last
        return above

    def __len__(self) -> int:
        return len(self._lines) if self.all else self._order[1][-1]

    def number(self, position: int) -> int:
        """The line at a position, 0 to `len - 1`."""
        if self.all:
            return self._lines.first + position
        keys, before = self._order
        at = bisect_right(before, position) - 1
        return self._passing[keys[at]][1][position - before[at]]

    def blocks(self) -> Iterator[Sequence[int]]:
        """The lines that pass, some at a time; more may come while one goes through them, and the oldest go."""
        number = self._lines.first
        while number < self._lines.end:
            number = max(number, self._lines.first)
            stop = min(number - number % SIZE + SIZE, self._lines.end)
            yield range(number, stop) if self.all else self._passing.get(number // SIZE, (0, []))[1]
            number = stop

    def position(self, number: int) -> int:
        """How many lines pass before line `number`: its own position, or that of the next one that passes."""
        if self.all:
            return max(0, min(number, self._lines.end) - self._lines.first)
        keys, before = self._order
        at = bisect_left(keys, number // SIZE)
        if at < len(keys) and keys[at] == number // SIZE:
            return before[at] + bisect_left(self._passing[keys[at]][1], number)
        return before[at]
