"""The records of whole blocks, found side by side and left where they are.

    block 0   │header│▒▒▒▒▒▒▒▒│header│▒▒▒▒▒│header│▒▒▒▒▒▒
    block 1   │header│▒▒▒▒│header│▒▒▒▒▒▒▒▒│header│▒▒▒▒▒▒▒
    block 2   │header│▒▒▒▒▒▒▒▒▒▒▒▒│header│▒▒▒│header│▒▒▒▒
               ▲ first chunks      ▲ second chunks …

All blocks are 32 KiB and a chunk never leaves its own, so one step passes the next chunk of every block. A record of
one chunk then stays a place in the bytes that were read. The parts of a record of several chunks are moved up to its
last one, over the headers between them:

    │header│FIRST ▒▒▒▒│header│LAST ░░░░      ─►      │         ▒▒▒▒░░░░

What there is of a record that began in an earlier piece stands before this one for that, and padding behind it, so
that the bytes of a log are copied once.

This is for good blocks alone: if anything about a piece is not as a writer leaves it, `BlockReader` reads that piece,
and it always reads what is left behind the last whole block. It is the judge of what a log means in every case.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from leet.reading import blocks
from leet.reading.batch import Offsets, Skipped
from leet.reading.blocks import BlockReader, RawRecord
from leet.reading.checksums import blank_headers, blocks_fit
from leet.reading.messages import PAD, Messages
from recorder.transaction_log.framing import BLOCK, CHUNK_HEADER, FIRST, FULL, LAST, MIDDLE

_OVERHEAD = CHUNK_HEADER.size
_FEWEST_BLOCKS = 4
"""Fewer blocks than this are read one chunk after the other."""


Chunks = tuple[Offsets, Offsets, npt.NDArray[np.uint8]]
"""Where chunks begin and end, and their types."""


@dataclass(frozen=True, slots=True)
class Found:
    """Records and damage in a piece of a log. Shapes: `messages` [records], `offsets` int64 [records]."""

    messages: Messages
    offsets: Offsets
    skipped: tuple[Skipped, ...] = ()

    def parts(self, size: int) -> list[Found]:
        """The same in parts whose records come to about `size` bytes; damage is with the records that it lies between.

        What little may be left behind the last of them goes with it: a summary of very many metrics is told with the
        last part, which should not be a few records that end the log.
        """
        if not len(self.offsets) or self.offsets[-1] - self.offsets[0] <= size + size // 2:
            return [self]
        cuts = np.searchsorted(self.offsets, np.arange(self.offsets[0] + size, self.offsets[-1], size)).tolist()
        bounds = sorted({0, *cuts, len(self.offsets)})
        if len(bounds) > 2 and self.offsets[-1] - self.offsets[bounds[-2]] < size // 4:
            del bounds[-2]
        ends = [*(int(self.offsets[bound]) for bound in bounds[1:-1]), sys.maxsize]
        parts, before = [], -1
        for (a, b), end in zip(pairwise(bounds), ends, strict=True):
            skipped = tuple(piece for piece in self.skipped if before <= piece.offset < end)
            parts.append(Found(self.messages.part(a, b), self.offsets[a:b], skipped))
            before = end
        return parts

    @classmethod
    def listed(cls, outcomes: Sequence[RawRecord | blocks.Skipped]) -> Found:
        """From the outcomes of a `BlockReader`."""
        return cls.joined(Messages.joined([]), np.empty(0, np.int64), outcomes)

    @classmethod
    def joined(cls, messages: Messages, offsets: Offsets, outcomes: Sequence[RawRecord | blocks.Skipped]) -> Found:
        """From records in any order and where they lie, and outcomes of a `BlockReader`; in order of their offsets."""
        raw = [outcome for outcome in outcomes if isinstance(outcome, RawRecord)]
        if raw:
            messages = messages.and_more([payload for _, payload in raw])
            offsets = np.concatenate((offsets, np.array([offset for offset, _ in raw], np.int64)))
        order = np.argsort(offsets, kind="stable")
        messages = Messages(messages.buffer, messages.starts[order], messages.ends[order])
        lost = [outcome for outcome in outcomes if isinstance(outcome, blocks.Skipped)]
        return cls(messages, offsets[order], tuple(Skipped(p.offset, p.length, p.reason) for p in lost))


class BulkBlockReader(BlockReader):
    """A `BlockReader` that makes short work of good blocks."""

    def feed_bulk(self, data: bytes) -> Found:
        """What `feed` does, with the same records and the same damage."""
        if not self._header_seen:
            self._data += data
            if not self._pass_header():
                return Found.listed([])
            data, self._data = self._data, b""
        size, begun = len(self._data) + len(data), sum(map(len, self._parts))
        chunks = None
        if begun <= size:  # or what there is of a very long record would be copied again and again
            buffer = bytearray().join((*self._parts, self._data, data, PAD))
            chunks = self._good_chunks(memoryview(buffer)[begun : begun + size])
        if chunks is None:
            self._data = self._data + data if self._data else data
            return Found.listed(self._walk(final=False))
        starts, ends, kinds = chunks[0] + begun, chunks[1] + begun, chunks[2]
        base = self._start - begun  # the offset of the first byte of the buffer, if it were all from one place
        done = size - (self._start + size - self.origin) % BLOCK
        self._data, self._start = bytes(buffer[begun + done : begun + size]), self._start + done
        outcomes: list[RawRecord | blocks.Skipped] = []
        single = np.flatnonzero(kinds == FULL)
        several = self._put_together(buffer, base, (starts, ends, kinds), outcomes)
        outcomes += self._walk(final=False)
        messages = Messages(
            buffer,
            np.concatenate((starts[single] + _OVERHEAD, several[0])),
            np.concatenate((ends[single], several[1])),
        )
        return Found.joined(messages, np.concatenate((base + starts[single], several[2])), outcomes)

    def _good_chunks(self, buffer: memoryview) -> Chunks | None:
        """Positions, ends and types of the chunks of all whole blocks, if all are as a writer leaves them.

        What no checksum covers is blank in `buffer` after that. The buffer begins where this reader does.
        """
        size = len(buffer)
        first_limit = BLOCK - (self._start - self.origin) % BLOCK
        limits = np.arange(first_limit, size + 1, BLOCK)
        if len(limits) < _FEWEST_BLOCKS or self._zeros >= 0:
            return None
        octets = np.frombuffer(buffer, np.uint8)
        length_at = np.ndarray((size - 1,), "<u2", buffer, strides=(1,))
        at = np.maximum(limits - BLOCK, 0)
        steps, stops = [], []
        while len(at):
            room = limits - at
            if room.min() < _OVERHEAD:
                full = room < _OVERHEAD
                if room.min() < 0:
                    return None
                stops.append((at[full], limits[full]))
                at, limits = at[~full], limits[~full]
            steps.append(at)
            at = at + length_at[at + 4] + _OVERHEAD
        for place in range(_OVERHEAD - 1):
            if any(octets[np.minimum(at + place, limit - 1)][at + place < limit].any() for at, limit in stops):
                return None
        starts = np.sort(np.concatenate(steps))
        ends = starts + _OVERHEAD + length_at[starts + 4]
        kinds = octets[starts + 6]
        goes_on = (kinds == MIDDLE) | (kinds == LAST)
        unfinished = np.empty(len(kinds), bool)
        unfinished[0] = self._first >= 0
        unfinished[1:] = ((kinds == FIRST) | (kinds == MIDDLE))[:-1]
        if (goes_on != unfinished).any() or (kinds < FULL).any() or (kinds > LAST).any():
            return None
        noted = np.ndarray((size - 3,), "<u4", buffer, strides=(1,))[starts]
        blank_headers(octets, starts)
        return (starts, ends, kinds) if blocks_fit(octets, starts, ends, noted, first_limit) else None

    def _put_together(
        self, buffer: bytearray, base: int, chunks: Chunks, outcomes: list[RawRecord | blocks.Skipped]
    ) -> tuple[Offsets, Offsets, Offsets]:
        """The records of several chunks that end here: their bounds, and the offsets of their first chunks.

        The buffer begins with what there is of one that began earlier. One that does not end here is kept.
        """
        which = np.flatnonzero(chunks[2] != FULL)
        starts, ends, kinds = (column[which].tolist() for column in chunks)
        lasts = [place for place, kind in enumerate(kinds) if kind == LAST]
        bounds = []
        view = memoryview(buffer)
        first = 0
        for last in lasts:
            at = starts[last] + _OVERHEAD
            parts = [(starts[place] + _OVERHEAD, ends[place]) for place in range(first, last)]
            offset = base + starts[first]
            if self._first >= 0:
                parts.insert(0, (0, sum(map(len, self._parts))))
                offset, self._first, self._parts = self._first, -1, []
            for start, end in reversed(parts):
                view[at - (end - start) : at] = view[start:end]
                at -= end - start
            bounds.append((at, ends[last], offset))
            first = last + 1
        for place in range(first, len(kinds)):
            payload = bytes(buffer[starts[place] + _OVERHEAD : ends[place]])
            self._assemble(kinds[place], base + starts[place], payload, outcomes)
        found = np.array(bounds, np.int64).reshape(-1, 3)
        return found[:, 0], found[:, 1], found[:, 2]
