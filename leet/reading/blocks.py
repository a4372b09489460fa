"""Bytes of a log → its records, however the bytes arrive and whatever happened to them.

    bytes ─► chunk at a time ─► records
              │                  FULL, or FIRST MIDDLE* LAST
              └─► what cannot be read ─► Skipped, and on from the next place that can be trusted

The layout is drawn in `recorder.transaction_log.framing`. The stages, each a method of `BlockReader`:

    feed             walks good chunks and puts records together; all the time goes here
    _judge           a chunk that is not good: padding, zeros, damage, shifted blocks, or just not all there yet
    _resume_after    where a damaged block can be trusted again

Every byte of a log ends up in a record, in padding, or in a range reported as skipped; an unfinished end is none of
these, it is waited for. The outcome does not depend on how the bytes are divided among the calls of `feed`.

Shifted blocks: the first writers in Go (0.17.0 to 0.17.5, where asked for) forgot the file header when they counted,
so their blocks begin at 7, 32775, 65543, … with nothing in the file to say so. A chunk that makes no sense is
therefore tried against shifted blocks as well, and its checksum decides.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from typing import NamedTuple

from recorder.transaction_log.framing import (
    BLOCK,
    CHUNK_HEADER,
    FIRST,
    FULL,
    HEADER,
    IDENT,
    LAST,
    TYPE_CRC,
    VERSION,
)

_OVERHEAD = CHUNK_HEADER.size
_BEGINS = re.compile(rb"[\x01\x02]")  # the type byte of FULL or FIRST
SHIFT = len(HEADER)
"""The origin of blocks in logs by the first writers in Go."""

WITHOUT_START = "a record without its start"
UNFINISHED = "an unfinished end"


class UnsupportedLog(Exception):  # noqa: N818 — named for what the file is
    """The file is no log of a version that can be read; the message is one line for people."""


class RawRecord(NamedTuple):
    """One record as it lies in the log: the offset of its first chunk and its bytes, put together."""

    offset: int
    payload: bytes


@dataclass(frozen=True, slots=True)
class Skipped:
    """A byte range of the log that could not be read, and why."""

    offset: int
    length: int
    reason: str


class BlockReader:
    """Reads a log that is handed to it piece by piece, from its first byte."""

    def __init__(self, origin: int = 0) -> None:
        """`origin` is where blocks are counted from; it changes to `SHIFT` when the log turns out to be shifted."""
        self.origin = origin
        self._data = b""  # bytes that no outcome covers yet; they begin at `_start`
        self._start = 0
        self._header_seen = False
        self._parts: list[bytes] = []  # chunks of the record being put together
        self._first = -1  # offset of that record, -1 when there is none
        self._zeros = -1  # offset from which there has been nothing but zeros, -1 when there is none

    @property
    def position(self) -> int:
        """Offset up to which every byte has had its outcome: where the first unfinished record begins."""
        return self._first if self._first >= 0 else self._zeros if self._zeros >= 0 else self._start

    @property
    def next_offset(self) -> int:
        """Offset of the bytes that the next call of `feed` must bring."""
        return self._start + len(self._data)

    def resume(self, position: int, origin: int) -> None:
        """Go on at `position`, where a record begins, in place of the first byte; `origin` as a reader left it."""
        self.origin, self._start, self._header_seen = origin, position, True

    def rewind(self) -> int:
        """Forgets the unfinished end, which may have been read before it was written; the offset to feed from."""
        self._start = self.position
        self._data, self._parts, self._first, self._zeros = b"", [], -1, -1
        return self._start

    def feed(self, data: bytes) -> list[RawRecord | Skipped]:
        """Takes the next bytes of the log; the records that are complete now and the ranges given up, in order.

        Raises UnsupportedLog when the log does not begin as one that can be read.
        """
        self._data = self._data + data if self._data else data
        if not self._header_seen and not self._pass_header():
            return []
        return self._walk(final=False)

    def finish(self) -> list[RawRecord | Skipped]:
        """Says that no more bytes will come: what can still be read behind damage, and the end that cannot."""
        outcomes = self._walk(final=True) if self._header_seen else []
        start, end = self.position, self.next_offset
        if self._first >= 0 or end - start > self._padding(start):
            zeros = self._first < 0 and self._is_zero(0, len(self._data))
            outcomes.append(Skipped(start, end - start, "zeros at the end" if zeros else UNFINISHED))
        self._start, self._data, self._parts, self._first, self._zeros = end, b"", [], -1, -1
        return outcomes

    def _pass_header(self) -> bool:
        check_header(self._data)
        if len(self._data) < len(HEADER):
            return False
        self._data = self._data[len(HEADER) :]
        self._start = len(HEADER)
        self._header_seen = True
        return True

    def _is_zero(self, start: int, end: int) -> bool:
        return self._data.count(0, start, end) == end - start

    def _padding(self, offset: int) -> int:
        """How many bytes of padding are at `offset`: those left in its block when they are too few for a chunk."""
        left = BLOCK - (offset - self.origin) % BLOCK
        return left if left < _OVERHEAD else 0

    def _walk(self, final: bool) -> list[RawRecord | Skipped]:
        data, base, size = self._data, self._start, len(self._data)
        unpack, crc32, type_crc, new = CHUNK_HEADER.unpack_from, zlib.crc32, TYPE_CRC, tuple.__new__
        outcomes: list[RawRecord | Skipped] = []
        add = outcomes.append
        at: int | None = 0
        done = 0
        while at is not None:
            if self._zeros >= 0 and size - at >= _OVERHEAD and not self._is_zero(at, at + _OVERHEAD):
                self._give_up(self._zeros, base + at, "zeros", outcomes)
            limit = at + BLOCK - (base + at - self.origin) % BLOCK
            reach = min(limit, size)
            while (start := at + _OVERHEAD) <= reach:
                crc, length, kind = unpack(data, at)
                end = start + length
                if end > reach:
                    break
                payload = data[start:end]
                if crc32(payload, type_crc[kind]) != crc or not FULL <= kind <= LAST:
                    break
                if kind == FULL and self._first < 0:
                    add(new(RawRecord, (base + at, payload)))
                else:
                    self._assemble(kind, base + at, payload, outcomes)
                at = end
            done = at
            if at != limit:
                at = self._judge(at, outcomes, final)
            if at is not None:
                done = at
        self._data = data[done:]
        self._start = base + done
        return outcomes

    def _assemble(self, kind: int, offset: int, payload: bytes, outcomes: list[RawRecord | Skipped]) -> None:
        """Puts a good chunk where it belongs in the record that it is a part of."""
        if kind in (FULL, FIRST):
            if self._first >= 0:
                self._give_up(offset, offset, "a record without its end", outcomes)
            if kind == FULL:
                outcomes.append(RawRecord(offset, payload))
            else:
                self._first, self._parts = offset, [payload]
        elif self._first < 0:
            self._give_up(offset, offset + _OVERHEAD + len(payload), WITHOUT_START, outcomes)
        else:
            self._parts.append(payload)
            if kind == LAST:
                outcomes.append(RawRecord(self._first, b"".join(self._parts)))
                self._first, self._parts = -1, []

    def _give_up(self, start: int, end: int, reason: str, outcomes: list[RawRecord | Skipped]) -> None:
        """Reports offsets `start` to `end`, with the zeros or the unfinished record before them."""
        if self._first >= 0 or self._zeros >= 0:
            start = self.position
            self._first, self._parts, self._zeros = -1, [], -1
        outcomes.append(Skipped(start, end - start, reason))

    def _judge(self, at: int, outcomes: list[RawRecord | Skipped], final: bool) -> int | None:
        """What is at index `at`, where no good chunk is? The index to go on from; None to wait for more bytes."""
        data, size, offset = self._data, len(self._data), self._start + at
        limit = at + BLOCK - (offset - self.origin) % BLOCK
        if limit - at < _OVERHEAD:
            shifted = self._is_shifted(at)
            if shifted:
                self.origin = SHIFT
                return at
            return limit if size >= limit and (shifted is False or final) else None
        if size - at < _OVERHEAD:
            return None
        reach = min(limit, size)
        empty = self._is_zero(at, at + _OVERHEAD)
        if empty and self._is_zero(at, reach):
            # Zeros at the end of a log may yet be written over, so nothing is said of them before bytes follow.
            if size < limit:
                return None
            if self._zeros < 0:
                self._zeros = offset
            return limit
        length: int
        _, length, kind = CHUNK_HEADER.unpack_from(data, at)
        end = at + _OVERHEAD + length
        if size < end <= limit and not final:
            return None
        if end <= reach and self._is_good(at, end):
            self._give_up(offset, self._start + end, f"a chunk of unknown type {kind}", outcomes)
            return end
        if self.origin != SHIFT:
            other = at + SHIFT if limit - at == BLOCK else at
            shifted = self._is_shifted(other)
            if shifted is None and (not final or other == at):
                return None
            if shifted:
                self.origin = SHIFT
                if other > at:
                    self._give_up(offset, offset + SHIFT, "the rest of a damaged block", outcomes)
                return other
        reason = "zeros" if empty else "a chunk too long" if end > limit else "a wrong checksum"
        resume = self._resume_after(at, reach)
        if resume is None and size >= limit:
            resume = limit
        if resume is not None:
            self._give_up(offset, self._start + resume, reason, outcomes)
        return resume

    def _is_good(self, at: int, end: int) -> bool:
        crc: int
        crc, _, kind = CHUNK_HEADER.unpack_from(self._data, at)
        return zlib.crc32(self._data[at + _OVERHEAD : end], TYPE_CRC[kind]) == crc

    def _is_shifted(self, at: int) -> bool | None:
        """Whether the chunk at index `at` is good where blocks are shifted; None while its bytes are not all here."""
        if self.origin == SHIFT:
            return False
        if at + _OVERHEAD > len(self._data):
            return None
        _, length, kind = CHUNK_HEADER.unpack_from(self._data, at)
        end = at + _OVERHEAD + length
        if end - at > BLOCK - (self._start + at - SHIFT) % BLOCK or not FULL <= kind <= LAST:
            return False
        return None if end > len(self._data) else self._is_good(at, end)

    def _resume_after(self, at: int, reach: int) -> int | None:
        """The next index below `reach` at which a record begins whose first chunk is good and all there."""
        for match in _BEGINS.finditer(self._data, at + _OVERHEAD, reach):
            index = match.start() + 1 - _OVERHEAD
            _, length, _ = CHUNK_HEADER.unpack_from(self._data, index)
            end = index + _OVERHEAD + length
            if end <= reach and self._is_good(index, end):
                return index
        return None


def check_header(start: bytes) -> None:
    """Raises UnsupportedLog when a file that begins with `start` (any number of bytes) is no log to be read here."""
    if start[: len(IDENT)] != IDENT[: len(start)] or start[4:6] != HEADER[4:6][: max(len(start) - 4, 0)]:
        raise UnsupportedLog("not a W&B log: the file does not begin with the bytes that mark one")
    if len(start) >= len(HEADER) and start[6] != VERSION:
        raise UnsupportedLog(f"a log of version {start[6]}, and only version {VERSION} is known here: update leet")
