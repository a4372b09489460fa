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
from dataclasses import replace
from pathlib import Path

from leet.reading.batch import Batch
from leet.reading.blocks import UnsupportedLog
from leet.reading.bulk_blocks import BulkBlockReader
from leet.reading.decoder import Decoder
from recorder.transaction_log.framing import BLOCK

SMALLEST = 32 * 1024 * 1024
"""Bytes from which on a log takes long enough to be worth it."""
_HEAD = 128 * 1024
TAIL = 2 * 1024 * 1024
"""Bytes of the tail: many rows, unless a run has tens of thousands of metrics, whose first rows take no longer."""


def read_newest(
    path: str | os.PathLike[str], smallest: int | None = None, length: int | None = None
) -> tuple[Batch, ...]:
    """Batches that show a log as it is at its end; none where that is not worth it or cannot be done.

    That is so with logs of less than `smallest` bytes and those without a whole row in the last `length` bytes.
    """
    try:
        with open(Path(path), "rb", buffering=0) as file:
            found = os.fstat(file.fileno())
            if found.st_size < (SMALLEST if smallest is None else smallest):
                return ()
            reader = BulkBlockReader()
            head = Decoder().decode(
                reader.feed_bulk(file.read(_HEAD)), end=0, size=found.st_size, modified=found.st_mtime
            )
            start = max(BLOCK, found.st_size - (TAIL if length is None else length)) // BLOCK * BLOCK + reader.origin
            reader = BulkBlockReader(reader.origin)
            reader.resume(start, reader.origin)
            file.seek(start)
            records = reader.feed_bulk(file.read(found.st_size - start))
            tail = Decoder().decode(records, end=found.st_size, size=found.st_size, modified=found.st_mtime)
    except (OSError, UnsupportedLog):  # whoever reads the whole log says so
        return ()
    if tail.history is None:
        return ()
    return replace(head, history=None, system=None, console=(), skipped=()), replace(tail, skipped=())
