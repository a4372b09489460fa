"""Pieces of console output that nobody has asked for yet: as they came, packed, bounded."""

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt

from leet.reading.batch import ConsolePiece, Stream

STREAMS: tuple[Stream, ...] = ("stdout", "stderr", "logger")
"""What is drawn each by itself; a line in a log of the program's own (`logger`) is no part of what was printed."""
_NUMBERS = {name: number for number, name in enumerate(STREAMS)}
BLOCK = 1 << 16
"""Characters after which pieces are packed, and of the longest piece; a block has less than twice as many."""
_AT_ONCE = 512
"""Pieces that are taken in together."""
_PER_PIECE = 13
"""Bytes that a packed piece costs beside its text."""


@dataclass(frozen=True, slots=True)
class Block:
    """Pieces in a row. Shapes: `ends` int32, `times` float64, `streams` uint8, all [pieces].

    Piece i is `text[ends[i - 1]:ends[i]]`, written to `STREAMS[streams[i]]` at `times[i]` (Unix seconds).
    """

    text: str
    ends: npt.NDArray[np.int32]
    times: npt.NDArray[np.float64]
    streams: npt.NDArray[np.uint8]


class ConsolePieces:
    """A queue of pieces: in one by one, out in blocks; the oldest are dropped and counted when it gets too much."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._blocks: deque[tuple[bytes, Block]] = deque()
        self._bytes = 0
        self._texts: list[str] = []
        self._times: list[float] = []
        self._streams: list[int] = []
        self._characters = 0
        self.waiting = 0
        """Characters in the queue."""
        self.dropped = 0
        """Characters that have been dropped."""

    def append(self, pieces: Iterable[ConsolePiece]) -> int:
        """Take in what was printed next; how many pieces that were."""
        count, source = 0, iter(pieces)
        while some := list(islice(source, _AT_ONCE)):
            count += len(some)
            if sum(len(piece.text) for piece in some) <= BLOCK:
                self._take_in(some)
            else:
                for piece in some:
                    for part in _parts(piece):
                        self._take_in([part])
        return count

    def _take_in(self, pieces: list[ConsolePiece]) -> None:
        streams, times, texts = zip(*pieces, strict=True)
        self._texts += texts
        self._times += times
        self._streams += map(_NUMBERS.__getitem__, streams)
        characters = sum(map(len, texts))
        self._characters += characters
        self.waiting += characters
        if self._characters >= BLOCK:
            self._pack()

    def take(self) -> Block | None:
        """The next pieces; None when nothing waits."""
        if self._blocks:
            packed, block = self._blocks.popleft()
            self._bytes -= _bytes_of(packed, block)
            block = Block(zlib.decompress(packed).decode(), block.ends, block.times, block.streams)
        elif self._texts:
            block = self._loose()
        else:
            return None
        self.waiting -= len(block.text)
        return block

    def _loose(self) -> Block:
        ends = np.cumsum(np.fromiter(map(len, self._texts), np.int32, len(self._texts)), dtype=np.int32)
        block = Block("".join(self._texts), ends, np.array(self._times), np.array(self._streams, np.uint8))
        self._texts, self._times, self._streams, self._characters = [], [], [], 0
        return block

    def _pack(self) -> None:
        block = self._loose()
        packed = zlib.compress(block.text.encode("utf-8", "replace"), 1)
        self._blocks.append((packed, Block("", block.ends, block.times, block.streams)))
        self._bytes += _bytes_of(packed, block)
        while self._bytes > self._most and len(self._blocks) > 1:
            gone, old = self._blocks.popleft()
            self._bytes -= _bytes_of(gone, old)
            self.waiting -= int(old.ends[-1])
            self.dropped += int(old.ends[-1])


def _parts(piece: ConsolePiece) -> Iterator[ConsolePiece]:
    """A long piece in shorter ones."""
    for start in range(0, max(1, len(piece.text)), BLOCK):
        yield piece._replace(text=piece.text[start : start + BLOCK])


def _bytes_of(packed: bytes, block: Block) -> int:
    return len(packed) + _PER_PIECE * len(block.ends)
