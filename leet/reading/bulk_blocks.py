"""The records of whole blocks, found side by side and left where they are.

    block 0   │header│▒▒▒▒▒▒▒▒│header│▒▒▒▒▒│header│▒▒▒▒▒▒
    block 1   │header│▒▒▒▒│header│▒▒▒▒▒▒▒▒│header│▒▒▒▒▒▒▒
    block 2   │header│▒▒▒▒▒▒▒▒▒▒▒▒│header│▒▒▒│header│▒▒▒▒
               ▲ first chunks      ▲ second chunks …

All blocks are 32 KiB and a chunk never leaves its own, so one step passes the next chunk of every block. A record of
one chunk then stays a place in the bytes that were read; only records of several chunks are put together.

This is for good blocks alone: if anything about a piece is not as a writer leaves it, `BlockReader` reads that piece,
and it always reads what is left behind the last whole block. It is the judge of what a log means in every case.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leet.reading import blocks
from leet.reading.batch import Offsets, Skipped
from leet.reading.blocks import BlockReader, RawRecord
from leet.reading.messages import Messages
from recorder.transaction_log.framing import BLOCK, CHUNK_HEADER, FIRST, FULL, LAST, MIDDLE, TYPE_CRC

_OVERHEAD = CHUNK_HEADER.size
_FEWEST_BLOCKS = 4
"""Fewer blocks than this are read one chunk after the other."""


@dataclass(frozen=True, slots=True)
class Found:
    """Records and damage in a piece of a log. Shapes: `messages` [records], `offsets` int64 [records]."""

    messages: Messages
    offsets: Offsets
    skipped: tuple[Skipped, ...] = ()

    @classmethod
    def listed(cls, outcomes: Sequence[RawRecord | blocks.Skipped]) -> Found:
        """From the outcomes of a `BlockReader`."""
        return cls.joined(b"", np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64), outcomes)

    @classmethod
    def joined(
        cls,
        data: bytes,
        starts: Offsets,
        ends: Offsets,
        offsets: Offsets,
        outcomes: Sequence[RawRecord | blocks.Skipped],
    ) -> Found:
        """From records that lie in `data`, and outcomes of a `BlockReader`; in order of their offsets."""
        raw = [outcome for outcome in outcomes if isinstance(outcome, RawRecord)]
        more = Messages.joined([payload for _, payload in raw], before=data)
        offsets = np.concatenate((offsets, np.array([offset for offset, _ in raw], np.int64)))
        order = np.argsort(offsets)
        messages = Messages(
            more.data, np.concatenate((starts, more.starts))[order], np.concatenate((ends, more.ends))[order]
        )
        lost = [outcome for outcome in outcomes if isinstance(outcome, blocks.Skipped)]
        return cls(messages, offsets[order], tuple(Skipped(p.offset, p.length, p.reason) for p in lost))


class BulkBlockReader(BlockReader):
    """A `BlockReader` that makes short work of good blocks."""

    def feed_bulk(self, data: bytes) -> Found:
        """What `feed` does, with the same records and the same damage."""
        self._data = self._data + data if self._data else data
        if not self._header_seen and not self._pass_header():
            return Found.listed([])
        data, base = self._data, self._start
        chunks = self._good_chunks()
        if chunks is None:
            return Found.listed(self._walk(final=False))
        starts, ends, kinds = chunks
        assembled: list[RawRecord | blocks.Skipped] = []
        several = np.flatnonzero(kinds != FULL)
        for kind, start, end in zip(
            kinds[several].tolist(), starts[several].tolist(), ends[several].tolist(), strict=True
        ):
            self._assemble(kind, base + start, data[start + _OVERHEAD : end], assembled)
        done = len(data) - (base + len(data) - self.origin) % BLOCK
        self._data, self._start = data[done:], base + done
        rest = self._walk(final=False)
        single = kinds == FULL
        starts, ends = starts[single], ends[single]
        return Found.joined(data, starts + _OVERHEAD, ends, base + starts, assembled + rest)

    def _good_chunks(self) -> tuple[Offsets, Offsets, npt.NDArray[np.uint8]] | None:
        """Positions, ends and types of the chunks of all whole blocks, if all are as a writer leaves them."""
        data, size = self._data, len(self._data)
        first_limit = BLOCK - (self._start - self.origin) % BLOCK
        limits = np.arange(first_limit, size + 1, BLOCK)
        if len(limits) < _FEWEST_BLOCKS or self._zeros >= 0:
            return None
        octets = np.frombuffer(data, np.uint8)
        length_at = np.ndarray((size - 1,), "<u2", data, strides=(1,))
        at = np.maximum(limits - BLOCK, 0)
        steps, stops = [], []
        while len(at):
            room = limits - at >= _OVERHEAD
            if not room.all():
                stops.append((at[~room], limits[~room]))
                at, limits = at[room], limits[room]
            steps.append(at)
            at = at + _OVERHEAD + length_at[at + 4]
            if (at > limits).any():
                return None
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
        return (starts, ends, kinds) if self._checksums_fit(starts, ends, kinds) else None

    def _checksums_fit(self, starts: Offsets, ends: Offsets, kinds: npt.NDArray[np.uint8]) -> bool:
        noted: list[int] = np.ndarray((len(self._data) - 3,), "<u4", self._data, strides=(1,))[starts].tolist()
        bounds = zip((starts + _OVERHEAD).tolist(), ends.tolist(), kinds.tolist(), strict=True)
        crc32, type_crc, data = zlib.crc32, TYPE_CRC, self._data
        return [crc32(data[start:end], type_crc[kind]) for start, end, kind in bounds] == noted
