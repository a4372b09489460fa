"""The newest part of a big log, read ahead of the rest.

    log   │ head │                      …                      │ tail │
            ╰ who the run is: its records that are kept whole     ╰ curves, summary, console of the last moments

Whoever opens a run of hundreds of megabytes wants to see how it is doing now, and the rest takes a second or more.
A block boundary is a place where reading can begin: what is left there of a record that began earlier is passed over.
What comes of this is for showing until the log has been read from its beginning, and is then thrown away: steps that
were not logged, and names of x axes defined in between, may differ.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from leet.reading.batch import Batch
from leet.reading.blocks import UnsupportedLog
from leet.reading.bulk_blocks import BulkBlockReader, Found
from leet.reading.decoder import Decoder
from leet.reading.envelopes import HISTORY, open_envelopes
from leet.reading.fast_history import FastHistory
from leet.reading.first_names import cut_to_first_names
from leet.reading.history import HistoryReader
from recorder.transaction_log.framing import BLOCK

SMALLEST = 32 * 1024 * 1024
"""Bytes from which on a log takes long enough to be worth it."""
_HEAD = 128 * 1024
TAIL = 2 * 1024 * 1024
"""Bytes of the tail: many rows."""
_WIDEST = 32 * 1024 * 1024
"""Bytes up to which the tail grows while no whole row is in it: one of a hundred thousand metrics takes five million,
and the record of the summary behind it as many."""
_GROWTH = 4
_FEW = 8
"""Records in a tail without a row up to which it may be that none of its rows is whole."""


def read_newest(
    path: str | os.PathLike[str],
    smallest: int | None = None,
    length: int | None = None,
    fast: FastHistory | None = None,
) -> Iterator[tuple[Batch, ...]]:
    """Batches that show a log as it is at its end; none where that is not worth it or cannot be done.

    That is so with logs of less than `smallest` bytes and those without a whole row in their tail, which is `length`
    bytes, and more if there is none in these. `fast` learns the keys, so that whoever reads the whole log knows them.
    Of very wide rows there are batches with the first names alone, and then those of all in their place.
    """
    try:
        with open(Path(path), "rb", buffering=0) as file:
            found = os.fstat(file.fileno())
            if found.st_size < (SMALLEST if smallest is None else smallest):
                return
            ahead = Ahead(file.read(_HEAD), found.st_size, found.st_mtime, fast)
            length = TAIL if length is None else length
            while True:
                start = ahead.start(length)
                file.seek(start)
                data = file.read(found.st_size - start)
                ahead.find(start, data)
                if (first := ahead.first_names()) is not None:
                    yield ahead.head, first
                tail = ahead.decode()
                length *= _GROWTH
                if tail.history is not None or tail.records > _FEW or length > min(_WIDEST, found.st_size // 2):
                    break
    except (OSError, UnsupportedLog):  # whoever reads the whole log says so
        return
    if tail.history is not None:
        yield ahead.head, tail


class Ahead:
    """The reading of a log from a place near its end on, whose beginning is known too."""

    def __init__(self, head: bytes, size: int, modified: float, fast: FastHistory | None = None) -> None:
        """`head`: the first bytes; `size` and `modified` are those of the whole log. Raises UnsupportedLog."""
        reader = BulkBlockReader()
        head_batch = Decoder().decode(reader.feed_bulk(head), end=0, size=size, modified=modified)
        self.head = replace(head_batch, history=None, system=None, console=(), skipped=())
        """Who the run is."""
        self._size = size
        self._modified = modified
        self._origin = reader.origin
        self._reader = BulkBlockReader(reader.origin)
        self._fast = fast
        self._decoder = Decoder(fast)
        self._end = 0
        self._found = Found.listed(())

    def start(self, length: int) -> int:
        """Where to begin for the last `length` bytes: the offset of a block."""
        return max(BLOCK, self._size - length) // BLOCK * BLOCK + self._origin

    def begin(self, start: int, data: bytes) -> Batch:
        """What the bytes from `start` on hold."""
        self.find(start, data)
        return self.decode()

    def find(self, start: int, data: bytes) -> None:
        """Find the records in the bytes from `start` on."""
        self._reader = BulkBlockReader(self._origin)
        self._reader.resume(start, self._origin)
        self._decoder = Decoder(self._fast)
        self._end = start + len(data)
        self._found = self._reader.feed_bulk(data)

    def first_names(self) -> Batch | None:
        """The last row that was found with its first names alone; None where it is not very wide."""
        messages = self._found.messages
        envelopes = open_envelopes(messages)
        rows = np.flatnonzero(envelopes.kinds == HISTORY)
        if not len(rows) or (row := cut_to_first_names(messages.cut(rows, envelopes.starts, envelopes.ends))) is None:
            return None
        history, bad = HistoryReader().read(row)
        return None if bad else Batch(self._end, self._size, self._modified, history=history)

    def decode(self) -> Batch:
        """All that was found."""
        batch = self._decoder.decode(self._found, end=self._end, size=self._size, modified=self._modified)
        return replace(batch, skipped=())

    def further(self, data: bytes, size: int, modified: float) -> Batch:
        """What the bytes hold that follow."""
        self._end += len(data)
        records = self._reader.feed_bulk(data)
        return replace(self._decoder.decode(records, end=self._end, size=size, modified=modified), skipped=())
