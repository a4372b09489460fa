"""Where every record of a log lies, without keeping any of it, and single records read again from there.

file ─► pieces ─► BulkBlockReader ─► Places      offset, length, kind of each record, and what was skipped
file ◄─ offset ── read_records                   the records of some places, when somebody looks at them
"""

from __future__ import annotations

import copy
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from leet.reading.batch import Offsets
from leet.reading.blocks import UNFINISHED, BlockReader, RawRecord, UnsupportedLog
from leet.reading.bulk_blocks import BulkBlockReader, Found
from leet.reading.envelopes import field_numbers
from recorder.transaction_log import schema
from recorder.transaction_log.framing import BLOCK, CHUNK_HEADER

__all__ = ["DAMAGE", "KIND_NAMES", "UNFINISHED", "PlaceFinder", "Places", "kind_name", "read_records"]

PIECE = 4 * 1024 * 1024
FIRST_PIECE = 256 * 1024
"""Bytes of the first piece: a list that fills the screen comes of it at once."""
QUIET = 3.0
"""Seconds without a write after which an unfinished end counts as damage, until more is written."""
DAMAGE = 255
"""The kind of a range that could not be read."""
_BEGINNING = 64
_READ_AGAIN = 1024 * 1024

KIND_NAMES: dict[int, str] = {
    field.number: field.name for field in schema.messages()["Record"] if field.oneof == "record_type"
} | {DAMAGE: "damage"}
"""Field number in `Record` → what kind of record it is; a number that is not here is `unknown`."""


def kind_name(kind: int) -> str:
    """What records of this kind are called."""
    return KIND_NAMES.get(kind, "unknown")


@dataclass(frozen=True, slots=True)
class Places:
    """Places of records and damaged ranges, in the order of the log. Arrays have one element for each."""

    offsets: Offsets
    """Of the first byte, from the beginning of the file."""
    lengths: Offsets
    """Bytes of the record itself, without the headers of its chunks; all bytes of a damaged range."""
    kinds: npt.NDArray[np.uint8]
    reasons: tuple[str, ...] = ()
    """Why the ranges of kind `DAMAGE` could not be read, in their order."""
    read: int = 0
    """Bytes of the log that have been gone through."""
    size: int = 0
    """Bytes that it has."""
    origin: int = 0
    """Where its blocks are counted from."""
    reset: bool = False
    """Another log stands under this name now: what was known is void."""
    provisional: bool = False
    """What comes next takes the place of this: the end of a log that may go on."""
    may_go_on: bool = False
    """An unfinished end at the end of this is being written, for all that is known."""
    trouble: str = ""
    """Why the log cannot be read, in one line."""

    def __len__(self) -> int:
        return len(self.offsets)


class PlaceFinder:
    """Goes through a log that may grow; `look` gives what is new since the last time."""

    def __init__(self, path: Path, *, live: bool = True) -> None:
        """`live`: an unfinished end may yet be written on."""
        self._path = path
        self._live = live
        self._forget()
        self._trouble = ""

    def _forget(self) -> None:
        self._blocks = BulkBlockReader()
        self._identity: tuple[int, int, bytes] | None = None
        self._stamp = (-1, -1)
        self._ended = False
        self._refused = False

    def look(self) -> Iterator[Places]:
        """Costs one `stat` when nothing has changed."""
        try:
            yield from self._look()
            self._trouble = ""
        except (OSError, UnsupportedLog) as error:
            self._refused = isinstance(error, UnsupportedLog)
            reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
            if reason != self._trouble:
                self._trouble = reason
                yield _nothing(trouble=reason)

    def _look(self) -> Iterator[Places]:
        found = os.stat(self._path)
        stamp = found.st_size, found.st_mtime_ns
        if stamp != self._stamp or self._identity is None or (found.st_dev, found.st_ino) != self._identity[:2]:
            with open(self._path, "rb", buffering=0) as file:
                beginning = file.read(_BEGINNING)
                if self._is_other(found, beginning):
                    self._forget()
                    yield _nothing(reset=True)
                if self._refused:
                    return
                self._identity = (found.st_dev, found.st_ino, beginning)
                self._stamp = stamp
                self._ended = False
                yield from self._read_on(file.fileno(), found.st_size)
        if not self._ended and not self._refused and (not self._live or time.time() - found.st_mtime > QUIET):
            self._ended = True
            yield self._end(found.st_size)

    def _is_other(self, found: os.stat_result, beginning: bytes) -> bool:
        if self._identity is None:
            return False
        device, inode, before = self._identity
        same = (found.st_dev, found.st_ino) == (device, inode) and beginning.startswith(before)
        return not same or found.st_size < self._blocks.position

    def _read_on(self, file: int, size: int) -> Iterator[Places]:
        unfinished = self._blocks.next_offset - self._blocks.position
        # A network file system may have shown a write before its bytes; a long end is a huge record on its way.
        at = self._blocks.rewind() if unfinished <= _READ_AGAIN else self._blocks.next_offset
        length = FIRST_PIECE if at == 0 else PIECE
        while data := os.pread(file, length, at):
            at += len(data)
            length = PIECE
            yield self._placed(self._blocks.feed_bulk(data), at, max(size, at))

    def _end(self, size: int) -> Places:
        """What the end would be if nothing more came."""
        reader = copy.deepcopy(self._blocks)
        found = Found.listed(reader.finish())
        return self._placed(found, self._blocks.next_offset, size, provisional=True)

    def _placed(self, found: Found, read: int, size: int, provisional: bool = False) -> Places:
        numbers = field_numbers(found.messages)
        kinds = np.where((numbers > 0) & (numbers < DAMAGE), numbers, 0).astype(np.uint8)
        offsets, lengths = found.offsets, found.messages.ends - found.messages.starts
        damage = sorted(found.skipped, key=lambda piece: piece.offset)
        if damage:
            places = np.searchsorted(offsets, [piece.offset for piece in damage])
            offsets = np.insert(offsets, places, [piece.offset for piece in damage])
            lengths = np.insert(lengths, places, [piece.length for piece in damage])
            kinds = np.insert(kinds, places, DAMAGE)
        return Places(
            offsets,
            lengths,
            kinds,
            tuple(piece.reason for piece in damage),
            read=read,
            size=size,
            origin=self._blocks.origin,
            provisional=provisional,
            may_go_on=provisional and self._live,
        )


def read_records(path: Path, start: int, end: int, lengths: int, origin: int) -> dict[int, bytes]:
    """Offset → bytes of the records that begin at `start` and up to `end`, the last of them `lengths` bytes long.

    A record that is no longer where it was is missing. Raises OSError.
    """
    chunks = lengths // (BLOCK - 2 * CHUNK_HEADER.size) + 2
    with open(path, "rb", buffering=0) as file:
        data = os.pread(file.fileno(), end - start + lengths + 2 * CHUNK_HEADER.size * chunks, start)
    found: dict[int, bytes] = {}
    for wanted in dict.fromkeys((origin, 0)):
        reader = BlockReader()
        reader.resume(start, wanted)
        for outcome in reader.feed(data):
            if isinstance(outcome, RawRecord) and outcome.offset <= end:
                found.setdefault(outcome.offset, outcome.payload)
        if start in found:
            break
    return found


def _nothing(*, reset: bool = False, trouble: str = "") -> Places:
    empty = np.empty(0, np.int64)
    return Places(empty, empty, empty.astype(np.uint8), reset=reset, trouble=trouble)
