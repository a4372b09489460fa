"""Records → `Batch`: what there is much of as columns, the rest one decoded record at a time.

    Found ─► open_envelopes ─► history ─► HistoryReader ─► columns
                               ├─► summary ─► SummaryReader ─► last change of each path
                               └─► other   ─► protobuf      ─► stats ─► columns
                                                           ├─► console text
                                                           └─► entries

A record that protobuf refuses becomes a skipped range with the reason; nothing in a log raises an exception.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from leet.reading import records
from leet.reading.batch import Batch, ConsolePiece, Entry, Skipped, Stream, SummaryChanges, SystemBatch
from leet.reading.bulk_blocks import Found
from leet.reading.column_cache import Checkpoint
from leet.reading.columns import Names, Points
from leet.reading.envelopes import HISTORY, OTHER, SUMMARY, Envelopes, open_envelopes
from leet.reading.fast_history import FastHistory
from leet.reading.history import HistoryReader
from leet.reading.logged_values import number_of
from leet.reading.messages import Messages, Places
from leet.reading.summary import SummaryReader

_BULK = {"history": HISTORY, "summary": SUMMARY}
_STDOUT = 1


class Decoder:
    """Decodes the records of one log, batch after batch, from its first."""

    def __init__(self, fast: FastHistory | None = None) -> None:
        """`fast` may know the keys of the log from a part of it that has been read already."""
        fast = FastHistory() if fast is None else fast
        self._history = HistoryReader(fast)
        self._summary = SummaryReader(fast.paths)
        self._system_names = Names()
        self._ordinal = 0
        self._console_time = 0.0

    def checkpoint(self, position: int, origin: int) -> Checkpoint:
        """What another decoder must know to go on from here, but for changes of the summary that are held back."""
        return Checkpoint(position, origin, self._ordinal, self._history.step, self._console_time)

    def take_summary(self) -> SummaryChanges:
        """The changes of the summary that are held back."""
        return self._summary.take()

    @property
    def guessed_first_step(self) -> bool:
        """The first row had no step of its own, so that it depends on rows before it."""
        return self._history.guessed_first_step

    def resume(self, checkpoint: Checkpoint) -> None:
        """Go on where another decoder was."""
        self._ordinal, self._console_time = checkpoint.records, checkpoint.console_time
        self._history.step = checkpoint.step

    def decode(self, found: Found, *, end: int, size: int, modified: float) -> Batch:
        """One batch of what was found in a piece of the log; `end`, `size` and `modified` are passed through.

        Changes of the summary are handed on with the first batch, and then when `end` has caught up with `size`:
        of a hundred batches in between nobody could see them anyway.
        """
        first = self._ordinal == 0
        messages = found.messages
        envelopes = open_envelopes(messages)
        others = self._decode_others(found, envelopes)

        history_rows, bodies = others.bodies(HISTORY, messages, envelopes)
        history, bad_history = self._history.read(bodies, found.offsets[history_rows])
        summary_rows, bodies = others.bodies(SUMMARY, messages, envelopes)
        bad_summary = self._summary.read(bodies)

        bad = others.bad
        bad += [(int(history_rows[index]), reason) for index, reason in bad_history]
        bad += [(int(summary_rows[index]), reason) for index, reason in bad_summary]
        skipped = [*found.skipped, *(refused(found, index, reason) for index, reason in bad)]
        return Batch(
            end=end,
            size=size,
            modified=modified,
            records=len(messages) - len(bad),
            entries=tuple(others.entries),
            history=history if len(history) else None,
            system=_system_batch(others.samples, self._system_names),
            summary=self._summary.take() if end >= size or first else SummaryChanges(),
            console=tuple(others.console),
            skipped=tuple(sorted(skipped, key=lambda piece: piece.offset)),
        )

    def _decode_others(self, found: Found, envelopes: Envelopes) -> _Others:
        others = _Others()
        for index in np.flatnonzero(envelopes.kinds == OTHER).tolist():
            try:
                record = records.parse(found.messages[index])
            except DecodeError as error:
                others.bad.append((index, f"bad record: {error}"))
                continue
            kind = records.kind(record)
            if kind in _BULK:
                others.rewritten[index] = getattr(record, kind).SerializeToString()
                envelopes.kinds[index] = _BULK[kind]
            elif kind == "stats":
                others.samples.append(record.stats)
            elif kind in ("output_raw", "output", "output_logger"):
                others.console.append(self._console_piece(kind, getattr(record, kind)))
            else:
                message = getattr(record, kind, record)
                others.entries.append(Entry(self._ordinal + index + 1, int(found.offsets[index]), kind, message))
        self._ordinal += len(found.messages)
        return others

    def _console_piece(self, kind: str, output: Any) -> ConsolePiece:
        if kind == "output_logger":
            # It has neither a time nor a type: it came after what was printed before it.
            return ConsolePiece("logger", self._console_time, output.line)
        if output.HasField("timestamp"):
            self._console_time = _seconds(output.timestamp)
        stream: Stream = "stdout" if output.output_type == _STDOUT else "stderr"
        return ConsolePiece(stream, self._console_time, output.line)


@dataclass(slots=True)
class _Others:
    """What the records outside the common layout hold; the numbers are places among the records of the batch."""

    entries: list[Entry] = field(default_factory=list)
    samples: list[Any] = field(default_factory=list)
    console: list[ConsolePiece] = field(default_factory=list)
    rewritten: dict[int, bytes] = field(default_factory=dict)
    """History and summary in an unusual envelope, encoded anew without it."""
    bad: list[tuple[int, str]] = field(default_factory=list)

    def bodies(self, kind: int, messages: Messages, envelopes: Envelopes) -> tuple[Places, Messages]:
        """The places of the records of one kind, and the messages inside them."""
        which = np.flatnonzero(envelopes.kinds == kind)
        inside = messages.cut(which, envelopes.starts, envelopes.ends)
        if not self.rewritten:
            return which, inside
        pieces = [self.rewritten.get(index) for index in which.tolist()]
        return which, Messages.joined([inside[i] if p is None else p for i, p in enumerate(pieces)])


def _system_batch(samples: Iterable[Any], names: Names) -> SystemBatch | None:
    times, ids, rows, values = [], [], [], []
    for row, sample in enumerate(samples):
        times.append(_seconds(sample.timestamp))
        numbers = {item.key: number_of(item.value_json) for item in sample.item}
        for key, value in numbers.items():
            if value is not None:
                ids.append(names.id_of(key))
                rows.append(row)
                values.append(value)
    if not times:
        return None
    return SystemBatch(np.array(times), Points.listed(ids, rows, values).columns(names))


def _seconds(timestamp: Any) -> float:
    return float(timestamp.seconds + timestamp.nanos / 1e9)


def refused(found: Found, index: int, reason: str) -> Skipped:
    """A record that cannot be read, by its place in `found`."""
    return Skipped(int(found.offsets[index]), len(found.messages[index]), reason)
