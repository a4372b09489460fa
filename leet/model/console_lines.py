"""Lines of console output, numbered, packed: a million of them take about a tenth of what they are as text.

number   0 … 2047 | 2048 … 4095 | …            chunks of 2048 lines
         packed     packed        open          the newest, and those with lines that may still change, are open
"""

from __future__ import annotations

import zlib
from array import array
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence

from leet.model.console_pieces import STREAMS
from leet.model.console_style import plain
from leet.reading.batch import Stream

SIZE = 2048
"""Lines of a chunk."""
_UNPACKED = 6
"""Packed chunks that are kept as text for a while."""
_PER_LINE = 16
"""Bytes that a line costs beside its text."""


class Chunk:
    """Up to 2048 lines. `version` changes whenever a line does."""

    __slots__ = ("_packed", "_texts", "latest", "streams", "times", "version")

    def __init__(self, latest: float) -> None:
        self._texts: list[str] | None = []
        self._packed = b""
        self.times = array("d")
        """When each line began, Unix seconds; 0 where that is unknown."""
        self.streams = bytearray()
        """Of each line its place in `STREAMS`."""
        self.latest = latest
        """The latest time of all lines up to the end of this chunk."""
        self.version = 0

    def __len__(self) -> int:
        return len(self.times)

    @property
    def bytes(self) -> int:
        """What is kept, about; text that has not been packed is not counted."""
        return len(self._packed) + _PER_LINE * len(self.times)

    @property
    def packed(self) -> bool:
        return self._texts is None

    @property
    def texts(self) -> list[str]:
        """The marked lines; of a packed chunk a copy."""
        if self._texts is not None:
            return self._texts
        return zlib.decompress(self._packed).decode().split("\n")

    def add(self, texts: Sequence[str], times: Sequence[float], streams: Sequence[int]) -> None:
        assert self._texts is not None
        self._texts += texts
        self.times.extend(times)
        self.streams += bytes(streams)
        self.latest = max(self.latest, max(times, default=self.latest))
        self.version += 1

    def put(self, at: int, text: str) -> None:
        if self._texts is not None and self._texts[at] != text:
            self._texts[at] = text
            self.version += 1

    def pack(self) -> None:
        if self._texts is not None:
            self._packed = zlib.compress("\n".join(self._texts).encode(), 1)
            self._texts = None


class ConsoleLines:
    """All lines that are kept: `first` is the oldest one's number, `end` the one after the newest."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._chunks: list[Chunk] = []
        self._base = 0
        """Number of the first line of the first chunk, a multiple of `SIZE`."""
        self._bytes = 0
        self._open: set[int] = set()
        self._recent: OrderedDict[int, list[str]] = OrderedDict()

    @property
    def first(self) -> int:
        return self._base

    @property
    def end(self) -> int:
        return self._base + max(0, len(self._chunks) - 1) * SIZE + (len(self._chunks[-1]) if self._chunks else 0)

    def __len__(self) -> int:
        return self.end - self.first

    @property
    def chunks(self) -> Sequence[Chunk]:
        """The chunks, the oldest first; that of line `n` is number `(n - first) // SIZE`."""
        return self._chunks

    def append(self, texts: Sequence[str], times: Sequence[float], streams: Sequence[int]) -> int:
        """Put lines below the others; the number of the first of them."""
        first = self.end
        at = 0
        while at < len(texts):
            if not self._chunks or len(self._chunks[-1]) == SIZE:
                self._open.add(self._base // SIZE + len(self._chunks))
                self._chunks.append(Chunk(self._chunks[-1].latest if self._chunks else 0.0))
            chunk = self._chunks[-1]
            room = SIZE - len(chunk)
            chunk.add(texts[at : at + room], times[at : at + room], streams[at : at + room])
            at += room
        return first

    def text(self, number: int) -> str:
        """The marked line; "" for one that is kept no more."""
        place, at = divmod(number - self._base, SIZE)
        if not 0 <= place < len(self._chunks):
            return ""
        chunk = self._chunks[place]
        return (self._unpacked(place, chunk) if chunk.packed else chunk.texts)[at]

    def put(self, number: int, text: str) -> None:
        """Another text for a line whose chunk is open."""
        place, at = divmod(number - self._base, SIZE)
        if 0 <= place < len(self._chunks):
            self._chunks[place].put(at, text)

    def time(self, number: int) -> float:
        """When a line began, Unix seconds; 0 where that is unknown."""
        place, at = divmod(number - self._base, SIZE)
        return self._chunks[place].times[at]

    def stream(self, number: int) -> Stream:
        """What a line was written to."""
        place, at = divmod(number - self._base, SIZE)
        return STREAMS[self._chunks[place].streams[at]]

    def at_time(self, time: float) -> int | None:
        """The last line that had begun at `time` (Unix seconds); None where all began later."""
        place = bisect_right(self._chunks, time, key=lambda chunk: chunk.latest)
        # Times ascend but for what two streams, or a clock that was set back, put in between.
        for before in (place, place - 1):
            if 0 <= before < len(self._chunks):
                times = self._chunks[before].times
                for at in range(len(times) - 1, -1, -1):
                    if times[at] <= time:
                        return self._base + before * SIZE + at
        return None

    def pack(self, changing: Iterable[int]) -> None:
        """Pack full chunks that have none of the lines that may still change; drop the oldest when it gets too much."""
        kept = {number // SIZE for number in changing}
        newest = self._base // SIZE + len(self._chunks) - 1
        for number in sorted(self._open):
            place = number - self._base // SIZE
            if number in kept or (number == newest and len(self._chunks[-1]) < SIZE):
                continue
            self._open.discard(number)
            if place >= 0:
                self._chunks[place].pack()
                self._bytes += self._chunks[place].bytes
        while self._bytes > self._most and len(self._chunks) > 1 and self._chunks[0].packed:
            self._bytes -= self._chunks.pop(0).bytes
            self._base += SIZE
            self._recent.clear()

    def plain_texts(self) -> Iterator[list[str]]:
        """Chunk after chunk of lines without their styles."""
        for chunk in list(self._chunks):
            yield plain("\n".join(chunk.texts)).split("\n")

    def _unpacked(self, place: int, chunk: Chunk) -> list[str]:
        key = self._base // SIZE + place
        texts = self._recent.get(key)
        if texts is None:
            texts = self._recent[key] = chunk.texts
            if len(self._recent) > _UNPACKED:
                self._recent.popitem(last=False)
        else:
            self._recent.move_to_end(key)
        return texts
