"""The summary of a long log, skimmed: history and summary records are never taken apart one by one.

    pieces ─► BulkBlockReader ─► Skim ─► counts of history, last changes of the summary ─► Stretch ─► RunSummary
                             └─► every other record, as it is ──────────────────────────►

The outcome is that of `RunSummary.add` for each record, which is quicker where a log is short, for it needs no numpy.
Of a very long one another process reads the second half, and sends what it comes to: a few numbers, and the records
that are kept. `leet.reading.second_half` says how the two meet.
"""

from __future__ import annotations

import contextlib
import os
import sys
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path

import numpy as np
import orjson

from leet.output.run_summary import RunSummary
from leet.reading import blocks, records, second_half
from leet.reading.bulk_blocks import BulkBlockReader, Found
from leet.reading.log_file import PART, processors
from leet.reading.second_half import SecondHalf, write_frame
from leet.reading.skim import Skim

_PIECE = 4 * 1024 * 1024
_FIRST_PIECE = 128 * 1024
_IN_COLUMNS = frozenset({"history", "summary"})


@dataclass(slots=True)
class Stretch:
    """What some records of a log that follow each other come to."""

    step: float | None = None
    """The greatest that is no less than 0."""
    runtime: float | None = None
    """That of the last row that has one."""
    metrics: set[str] = field(default_factory=set)
    points: int = 0
    changes: list[tuple[tuple[str, ...], str | None]] = field(default_factory=list)
    """Of the summary: path and JSON text, None where it was removed."""
    skipped: list[tuple[int, int, str]] = field(default_factory=list)
    others: list[bytes] = field(default_factory=list)
    """Encoded records that are neither history nor summary."""

    @classmethod
    def of(cls, found: Found, decoder: Skim, *, last: bool) -> Stretch:
        """What `found` comes to; the decoder keeps the changes of the summary to itself until the `last`."""
        found_there = decoder.skim(found)
        rows = found_there.rows
        steps = rows.steps[rows.steps >= 0]
        names = np.flatnonzero(rows.counts)
        shown = [
            (name, count)
            for name, count in zip(decoder.names(rows), rows.counts[names].tolist(), strict=True)
            if not name.startswith("_")
        ]
        changes = decoder.take_summary() if last else ()
        return cls(
            step=float(steps.max()) if len(steps) else None,
            runtime=rows.runtime,
            metrics={name for name, _ in shown},
            points=sum(count for _, count in shown),
            changes=[(change.path, change.json) for change in changes],
            skipped=[(piece.offset, piece.length, piece.reason) for piece in found_there.skipped],
            others=found_there.others,
        )

    def put_into(self, summary: RunSummary) -> None:
        """Add it to a summary of all that came before."""
        if self.step is not None:
            summary.note_step(self.step)
        summary.runtime = summary.runtime if self.runtime is None else self.runtime
        summary.metrics |= self.metrics
        summary.points += self.points
        for path, text in self.changes:
            summary.change_summary(path, text)
        summary.skipped += [blocks.Skipped(*piece) for piece in self.skipped]
        for encoded in self.others:
            with contextlib.suppress(records.DecodeError):  # the decoder has reported it
                record = records.parse(encoded)
                if records.kind(record) not in _IN_COLUMNS:
                    summary.add(record)

    def pack(self) -> bytes:
        """As bytes: the length of a JSON text, the text, and the other records."""
        text = orjson.dumps(
            (
                self.step,
                self.runtime,
                list(self.metrics),
                self.points,
                self.changes,
                self.skipped,
                [*map(len, self.others)],
            )
        )
        return b"".join((len(text).to_bytes(8, "little"), text, *self.others))

    @classmethod
    def unpack(cls, data: bytes) -> Stretch:
        at = 8 + int.from_bytes(data[:8], "little")
        step, runtime, metrics, points, changes, skipped, lengths = orjson.loads(data[8:at])
        stretch = cls(step, runtime, set(metrics), points, [(tuple(path), text) for path, text in changes], skipped)
        for length in lengths:
            stretch.others.append(data[at : at + length])
            at += length
        return stretch


def summarise(path: Path, summary: RunSummary) -> None:
    """Puts all that a log holds into `summary`. Raises OSError, and UnsupportedLog for what is no log."""
    with open(path, "rb", buffering=0) as file:
        reading = _Reading(file)
        stretches: list[Stretch] = []
        if os.fstat(file.fileno()).st_size >= second_half.SMALLEST and processors() > 1:
            stretches = reading.with_another_process(path)
        for stretch in [*stretches, *reading.to(None, last=True)]:
            stretch.put_into(summary)


class _Reading:
    """An open log, and how far it has been read."""

    def __init__(self, file: FileIO) -> None:
        self._file = file
        self._reader, self._decoder = BulkBlockReader(), Skim()
        self._position = 0

    def to(self, end: int | None, *, last: bool = False) -> list[Stretch]:
        """The records from where reading has come to up to the offset `end`, or all; `last`: none will follow."""
        found: list[Stretch] = []
        self._file.seek(self._position)
        while length := _PIECE if end is None else min(_PIECE, end - self._position):
            if not (data := self._file.read(length)):
                break
            self._position += len(data)
            for part in self._reader.feed_bulk(data).parts(PART):
                found.append(Stretch.of(part, self._decoder, last=False))
        if last:
            found.append(Stretch.of(Found.listed(self._reader.finish()), self._decoder, last=True))
        return found

    def with_another_process(self, path: Path) -> list[Stretch]:
        """The log up to the end that it has now, its second half by another process; less where that does not work."""
        found = self.to(_FIRST_PIECE)  # which tells where blocks begin
        size = os.fstat(self._file.fileno()).st_size
        start = second_half.boundary(self._position, size, self._reader.origin)
        if start <= self._position:
            return found
        try:
            second = SecondHalf(path, start, size, self._reader.origin, module=__name__)
        except OSError:
            return found
        try:
            found += self.to(start)
            begins = second.begins()
            found += self.to(begins)
            if self._reader.position != begins:
                return found
            theirs = [Stretch.unpack(frame) for frame in second.frames()]
            position, origin = orjson.loads(second.last())
        except second_half.Failed:
            return found
        finally:
            second.close()
        found += [Stretch(changes=[(change.path, change.json) for change in self._decoder.take_summary()]), *theirs]
        # What is left behind the last whole record is read by this process, as is all that has been written meanwhile.
        self._position = position
        self._reader.resume(position, origin)
        return found


def _read_second_half(path: str, start: int, end: int, origin: int) -> None:
    """What the other process does: see `second_half.decode`."""
    out = sys.stdout.buffer
    reader, decoder = BulkBlockReader(origin), Skim()
    for found, position in second_half.pieces(reader, path, start, end, out):
        stretch = Stretch.of(found, decoder, last=position >= end)
        if decoder.guessed_first_step:
            raise second_half.Failed
        write_frame(out, stretch.pack())
    write_frame(out, b"")
    write_frame(out, orjson.dumps((reader.position, reader.origin)))


if __name__ == "__main__":
    with contextlib.suppress(second_half.Failed, OSError):
        _read_second_half(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
