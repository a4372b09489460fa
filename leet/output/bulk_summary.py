"""The summary of a long log, skimmed: history and summary records are never taken apart one by one.

    pieces ─► BulkBlockReader ─► Skim ─► counts of history, last changes of the summary ─► Stretch ─► RunSummary
                             └─► every other record, as it is ──────────────────────────►

The outcome is that of `RunSummary.add` for each record, which is quicker where a log is short, for it needs no numpy.
Of a very long one a copy of this process reads the second half, and sends what it comes to: a few numbers, and the
records that are kept. `leet.reading.second_half` says how the two meet.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from dataclasses import dataclass, field
from functools import partial
from io import FileIO
from itertools import compress
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np
import orjson

from leet.reading import blocks, half_decoder, records, second_half
from leet.reading.batch import KeyPath
from leet.reading.bulk_blocks import BulkBlockReader, Found
from leet.reading.frame_process import Failed, processors, write_frame
from leet.reading.second_half import SecondHalf
from leet.reading.skim import Skim

if TYPE_CHECKING:
    from leet.output.run_summary import RunSummary

_PIECE = 8 * 1024 * 1024
_PART = 4 * 1024 * 1024
_FIRST_PIECE = 128 * 1024
_PIECES_A_STRETCH = 8
"""After which the other process tells what it has found, so that nobody takes it for dead."""
_IN_COLUMNS = frozenset({"history", "summary"})


@dataclass(slots=True)
class Stretch:
    """What some records of a log that follow each other come to."""

    step: float | None = None
    runtime: float | None = None
    metrics: list[str] = field(default_factory=list)
    points: int = 0
    changes: list[tuple[KeyPath, str | None]] = field(default_factory=list)
    """Of the summary: path and JSON text, None where it was removed."""
    skipped: list[tuple[int, int, str]] = field(default_factory=list)
    others: list[bytes] = field(default_factory=list)
    """Encoded records that are neither history nor summary."""

    @classmethod
    def of(cls, skim: Skim) -> Stretch:
        """What `skim` has found since it was last asked; of the summary only what has changed last counts."""
        found = skim.take()
        which = np.flatnonzero(found.counts)
        names = skim.names(which)
        shown = [not name.startswith("_") for name in names]
        return cls(
            step=found.step,
            runtime=found.runtime,
            metrics=[*compress(names, shown)],
            points=int(found.counts[which][np.array(shown, bool)].sum()),
            changes=list(skim.take_summary().pairs()),
            skipped=[(piece.offset, piece.length, piece.reason) for piece in found.skipped],
            others=found.others,
        )

    def put_into(self, summary: RunSummary) -> None:
        """Add it to a summary of all that came before."""
        if self.step is not None:
            summary.note_step(self.step)
        summary.runtime = summary.runtime if self.runtime is None else self.runtime
        summary.metrics.update(self.metrics)
        summary.points += self.points
        summary.change_summary(self.changes)
        summary.skipped += [blocks.Skipped(*piece) for piece in self.skipped]
        for encoded in self.others:
            with contextlib.suppress(records.DecodeError):  # the decoder has reported it
                record = records.parse(encoded)
                if records.kind(record) not in _IN_COLUMNS:
                    summary.add(record)

    def pack(self) -> bytes:
        """As bytes: the length of a JSON text, the text, and the other records."""
        lengths = [*map(len, self.others)]
        facts = (self.step, self.runtime, self.metrics, self.points, self.changes, self.skipped, lengths)
        text = orjson.dumps(facts)
        return b"".join((len(text).to_bytes(8, "little"), text, *self.others))

    @classmethod
    def unpack(cls, data: bytes) -> Stretch:
        at = 8 + int.from_bytes(data[:8], "little")
        step, runtime, metrics, points, changes, skipped, lengths = orjson.loads(data[8:at])
        stretch = cls(step, runtime, metrics, points, [(tuple(path), text) for path, text in changes], skipped)
        for length in lengths:
            stretch.others.append(data[at : at + length])
            at += length
        return stretch


def summarise(path: Path, summary: RunSummary) -> None:
    """Puts all that a log holds into `summary`. Raises OSError, and UnsupportedLog for what is no log."""
    with open(path, "rb", buffering=0) as file:
        reading = _Reading(file)
        for stretch in [*reading.with_another_process(path), reading.to_the_end()]:
            stretch.put_into(summary)


class _Reading:
    """An open log, and how far it has been read."""

    def __init__(self, file: FileIO) -> None:
        self._file = file
        self._reader, self._skim = BulkBlockReader(), Skim()
        self._position = 0

    def to_the_end(self) -> Stretch:
        """All that has not been told yet."""
        self._to(None)
        self._skim.skim(Found.listed(self._reader.finish()))
        return Stretch.of(self._skim)

    def _to(self, end: int | None) -> None:
        """Read from where reading has come to up to the offset `end`, or all."""
        self._file.seek(self._position)
        while length := _PIECE if end is None else min(_PIECE, end - self._position):
            if not (data := self._file.read(length)):
                break
            self._position += len(data)
            for part in self._reader.feed_bulk(data).parts(_PART):
                self._skim.skim(part)

    def with_another_process(self, path: Path) -> list[Stretch]:
        """The log up to the end that the other process knows; nothing where there is none, or where it fails."""
        self._to(_FIRST_PIECE)  # which tells where blocks begin
        size, origin = os.fstat(self._file.fileno()).st_size, self._reader.origin
        few = self._skim.checkpoint(0, 0).records < second_half.FEWEST
        if few or size - self._position < second_half.SMALLEST or processors() < 2:
            return []
        start = second_half.boundary(self._position, size, origin, copied=True)
        bounds = start, size, origin
        try:
            second = SecondHalf(path, *bounds, module=__name__, work=partial(_read_second_half, path, *bounds))
        except OSError:
            return []
        try:
            self._to(start)
            begins = second.begins()
            self._to(begins)
            if self._reader.position != begins:
                return []
            theirs = [Stretch.unpack(frame) for frame in second.frames()]
            position, origin, step = orjson.loads(second.next())
        except Failed:
            return []
        finally:
            second.close()
        ours = Stretch.of(self._skim)
        # What is left behind the last whole record is read by this process, as is all that has been written meanwhile.
        self._position = position
        self._reader.resume(position, origin)
        self._skim.step = step
        return [ours, *theirs]


def _read_second_half(path: str | os.PathLike[str], start: int, end: int, origin: int, out: IO[bytes]) -> None:
    """What the other process does: see `half_decoder.decode`."""
    gc.disable()  # nothing here is in cycles, and the process does not last
    reader, skim = BulkBlockReader(origin), Skim()
    pieces = half_decoder.pieces(reader, path, start, end, out, size=_PIECE)
    for ordinal, (found, _) in enumerate(pieces, 1):
        for part in found.parts(_PART):
            skim.skim(part)
        if skim.guessed_first_step:
            raise Failed
        if ordinal % _PIECES_A_STRETCH == 0:
            write_frame(out, Stretch.of(skim).pack())
    write_frame(out, Stretch.of(skim).pack())
    write_frame(out, b"")
    write_frame(out, orjson.dumps((reader.position, reader.origin, skim.step)))


if __name__ == "__main__":
    with contextlib.suppress(Failed, OSError):
        _read_second_half(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.stdout.buffer)
