"""The summary of a long log, from its columns: history and summary records are never taken apart one by one.

    pieces ─► BulkBlockReader ─► Decoder ─► columns of history, last changes of the summary ─► RunSummary
                             └─► every other record, parsed ─────────────────────────────────►

The outcome is that of `RunSummary.add` for each record, which is quicker where a log is short, for it needs no numpy.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from leet.output.run_summary import RunSummary
from leet.reading import blocks, records
from leet.reading.batch import HistoryBatch
from leet.reading.bulk_blocks import BulkBlockReader, Found
from leet.reading.decoder import Decoder
from leet.reading.envelopes import OTHER, open_envelopes
from leet.reading.log_file import PART

_PIECE = 4 * 1024 * 1024
_IN_COLUMNS = frozenset({"history", "summary"})


def summarise(path: Path, summary: RunSummary) -> None:
    """Puts all that a log holds into `summary`. Raises OSError, and UnsupportedLog for what is no log."""
    reader, decoder = BulkBlockReader(), Decoder()
    with open(path, "rb", buffering=0) as file:
        while data := file.read(_PIECE):
            for part in reader.feed_bulk(data).parts(PART):
                _take(part, decoder, summary, last=False)
    _take(Found.listed(reader.finish()), decoder, summary, last=True)


def _take(found: Found, decoder: Decoder, summary: RunSummary, last: bool) -> None:
    # The decoder keeps the changes of the summary to itself until the end is reached.
    batch = decoder.decode(found, end=int(last), size=1, modified=0.0)
    if batch.history is not None:
        _take_history(batch.history, summary)
    for change in batch.summary:
        summary.change_summary(change.path, change.json)
    summary.skipped += [blocks.Skipped(piece.offset, piece.length, piece.reason) for piece in batch.skipped]
    for index in np.flatnonzero(open_envelopes(found.messages).kinds == OTHER).tolist():
        try:
            record = records.parse(found.messages[index])
        except records.DecodeError:
            continue  # the decoder has reported it
        if records.kind(record) not in _IN_COLUMNS:
            summary.add(record)


def _take_history(history: HistoryBatch, summary: RunSummary) -> None:
    steps = history.steps[history.steps >= 0]
    if len(steps):
        summary.note_step(float(steps.max()))
    known = history.runtimes[np.isfinite(history.runtimes)]
    if len(known):
        summary.runtime = float(known[-1])
    sizes = np.diff(history.columns.starts).tolist()
    for name, size in zip(history.columns.names, sizes, strict=True):
        if not name.startswith("_"):
            summary.metrics.add(name)
            summary.points += size
