"""A log as the rows of a table, piece by piece, with memory for one piece at a time.

    names()    the log once through: which columns there are
    rows()     the log once more: blocks of rows, their values exact

The end of the log is where the first pass has met it: rows of a run that goes on are left to the next export, and no
name can turn up that the header lacks. The file stays open in between, so that a log which is replaced meanwhile is
still the one that was begun.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import compress
from typing import Any, BinaryIO, Protocol

import numpy as np
import numpy.typing as npt
import orjson

from leet.output.export_items import HistoryRecord, ItemLocator, Located, sort_records
from leet.output.export_values import Value, logged_leaves, value_of
from leet.reading import records
from leet.reading.batch import Skipped
from leet.reading.bulk_blocks import BulkBlockReader, Found
from leet.reading.columns import Ids, Names
from leet.reading.messages import Messages, Places

_PIECE = 4 * 1024 * 1024
_TOGETHER = 4096
"""Texts that are parsed in one call."""
_NUMERIC = np.isin(np.arange(256), list(b"0123456789-"))
_MINUS = ord("-")
_EXACT = 2.0**63
_STEP = 0
"""Column of the step, which every row of history has."""


class LogChanged(Exception):  # noqa: N818 - what happened to the file, not a fault
    """The log was written over between the two passes."""


@dataclass(frozen=True, slots=True)
class RowBlock:
    """Some rows of a table, cell by cell in no order; of two values of one cell the last counts.

    Shapes: `of` int64 [values], rows counted from the first of the block; `columns` int64 [values]; `values` [values].
    """

    rows: int
    of: Places
    columns: Ids
    values: list[Value]

    def only(self, wanted: npt.NDArray[np.bool_]) -> RowBlock:
        """The rows that `wanted`, of shape [rows], marks."""
        keep = wanted[self.of]
        values = list(compress(self.values, keep.tolist()))
        return RowBlock(int(wanted.sum()), (np.cumsum(wanted) - 1)[self.of[keep]], self.columns[keep], values)

    def logged(self, first: int) -> RowBlock:
        """The rows that have a value, be it null, in a column from `first` on."""
        has = np.zeros(self.rows, bool)
        has[self.of[self.columns >= first]] = True
        return self.only(has)


class Table(Protocol):
    """What can be exported from a log."""

    @property
    def row_columns(self) -> tuple[str, ...]:
        """The columns that come first and are always there."""

    skipped: list[Skipped]
    """What the last pass could not read."""

    def names(self) -> list[str]:
        """All other columns, in the order in which the log brings them. Raises OSError, UnsupportedLog."""

    def rows(self, columns: Mapping[str, int]) -> Iterator[RowBlock]:
        """The rows, with the values of the given columns. Raises OSError, LogChanged."""


class _Passes:
    """The log from its start to one end, as often as it takes."""

    row_columns: tuple[str, ...]

    def __init__(self, file: BinaryIO, *, every_row: bool = True) -> None:
        """Without `every_row`, rows with nothing but the columns that are always there are left out."""
        self._file = file
        self._every_row = every_row
        self._end: int | None = None
        self.skipped: list[Skipped] = []

    def _pieces(self) -> Iterator[Found]:
        self.skipped = []
        reader = BulkBlockReader()
        self._file.seek(0)
        at = 0
        while data := self._file.read(_PIECE if self._end is None else min(_PIECE, self._end - at)):
            at += len(data)
            yield self._said(reader.feed_bulk(data))
        if self._end is not None and at < self._end:
            raise LogChanged("the log has been cut short while it was read; try again")
        self._end = at
        yield self._said(Found.listed(reader.finish()))

    def _wanted(self, block: RowBlock) -> Iterator[RowBlock]:
        if not self._every_row:
            block = block.logged(len(self.row_columns))
        if block.rows:
            yield block

    def _said(self, found: Found) -> Found:
        self.skipped += found.skipped
        return found

    def _refuse(self, found: Found, places: list[int]) -> None:
        self.skipped += [Skipped(int(found.offsets[p]), len(found.messages[p]), "a bad record") for p in places]


class HistoryTable(_Passes):
    """What was logged, one row for each record of history."""

    row_columns: tuple[str, ...] = ("_step", "_runtime", "_timestamp")

    def __init__(self, file: BinaryIO, *, every_row: bool = True) -> None:
        super().__init__(file, every_row=every_row)
        self._names = Names(self.row_columns)
        self._locator = ItemLocator(self._names)

    def names(self) -> list[str]:
        seen = set(range(len(self.row_columns)))
        for found in self._pieces():
            history = sort_records(found).history
            located = self._locator.locate(history)
            seen.update(np.unique(located.names).tolist())
            for index in np.flatnonzero(located.odd).tolist():
                leaves = _leaves(history[index]) or ((), None)
                seen.update(self._names.id_of(name) for name, _ in leaves[0])
        return [self._names[i] for i in sorted(seen)[len(self.row_columns) :]]

    def rows(self, columns: Mapping[str, int]) -> Iterator[RowBlock]:
        column_of = np.array([columns.get(self._names[i], -1) for i in range(len(self._names))], np.int64)
        step = -1.0
        for found in self._pieces():
            parted = sort_records(found)
            located = self._locator.locate(parted.history)
            if len(self._names) > len(column_of):
                raise LogChanged("the log has been written over while it was read; try again")
            cells = _Cells(parted.history, located, column_of)
            bad = cells.add_odd(self._names)
            self._refuse(found, parted.bad + parted.places[bad].tolist())
            block, step = _fill_steps(cells.block(bad), np.delete(located.steps, bad).tolist(), step)
            yield from self._wanted(block)


class _Cells:
    """The values of the wanted columns of one piece of the log."""

    def __init__(self, history: Messages, located: Located, column_of: Ids) -> None:
        self._history = history
        self._column_of = column_of
        self._steps = located.steps
        located = located.only(column_of[located.names] >= 0)
        values, unreadable = _read_texts(history, located)
        self._odd = located.odd.copy()
        if unreadable:
            self._odd[located.of[unreadable]] = True
            keep = ~self._odd[located.of]
            located = located.only(keep)
            values = [values[i] for i in np.flatnonzero(keep).tolist()]
        self._of = located.of
        self._columns = column_of[located.names]
        self._values = values

    def add_odd(self, names: Names) -> list[int]:
        """Add the rows that are read one by one; those that protobuf refuses."""
        of: list[int] = []
        columns: list[int] = []
        bad: list[int] = []
        for index in np.flatnonzero(self._odd).tolist():
            read = _leaves(self._history[index])
            if read is None:
                bad.append(index)
                continue
            leaves, step = read
            self._steps[index] = step
            for name, value in leaves:
                name_id = names.id_of(name)
                if name_id >= len(self._column_of):
                    raise LogChanged("the log has been written over while it was read; try again")
                if (column := self._column_of[name_id]) >= 0:
                    of.append(index)
                    columns.append(column)
                    self._values.append(value)
        if of:
            self._of = np.concatenate((self._of, np.array(of, np.int64)))
            self._columns = np.concatenate((self._columns, np.array(columns, np.int64)))
        return bad

    def block(self, bad: list[int]) -> RowBlock:
        """The rows without those that are bad."""
        block = RowBlock(len(self._history), self._of, self._columns, self._values)
        if not bad:
            return block
        good = np.ones(block.rows, bool)
        good[bad] = False
        return block.only(good)


def _leaves(encoded: bytes) -> tuple[list[tuple[str, Value]], float] | None:
    """Names and values, and the step number or NaN, of one history record; None where it is none."""
    try:
        record: Any = HistoryRecord.FromString(encoded)
    except (records.DecodeError, UnicodeDecodeError):
        return None
    leaves = [(name, value) for name, value, _ in logged_leaves(record.item)]
    return leaves, float(record.step.num) if record.HasField("step") else math.nan


def _read_texts(history: Messages, located: Located) -> tuple[list[Value], list[int]]:
    """The value of each text, and the places of those that are no UTF-8."""
    data = bytes(history.data)
    bounds = zip(located.starts.tolist(), located.ends.tolist(), strict=True)
    texts = [data[start:end] for start, end in bounds]
    values: list[Value] = [None] * len(texts)
    unreadable: list[int] = []
    first = history.octets.take(located.starts)
    numeric = _NUMERIC.take(first)
    every = bool(numeric.all())
    places = np.flatnonzero(numeric)
    for start in range(0, len(places), _TOGETHER):
        part = places[start : start + _TOGETHER]
        chosen = texts[part[0] : part[-1] + 1] if every else [texts[i] for i in part.tolist()]
        numbers = _parse_numbers(chosen, first[part] == _MINUS)
        if every and numbers is not None:
            values[part[0] : part[-1] + 1] = numbers
        elif numbers is not None:
            for place, number in zip(part.tolist(), numbers, strict=True):
                values[place] = number
        else:
            numeric[part] = False
    for place in np.flatnonzero(~numeric).tolist():
        try:
            values[place] = value_of(texts[place])
        except UnicodeDecodeError:
            unreadable.append(place)
    return values, unreadable


def _parse_numbers(texts: list[bytes], negative: Any) -> list[Value] | None:
    """The numbers that many texts spell, exact; None where one of them is something else."""
    try:
        found: list[Value] = orjson.loads(b"[%b]" % b",".join(texts))
        rough = np.frombuffer(array("d", found))
    except (ValueError, TypeError):
        return None
    if len(found) != len(texts):
        return None
    # The parser rounds what exceeds 64 bits, and takes the sign off an integer zero.
    for place in np.flatnonzero((np.abs(rough) >= _EXACT) | ((rough == 0) & negative)).tolist():
        found[place] = value_of(texts[place])
    return found


def _fill_steps(block: RowBlock, numbers: list[float], before: float) -> tuple[RowBlock, float]:
    """Give every row a step: the one it logged, else `HistoryStep.num`, else one more than the row before.

    The rows, and the step of the last of them.
    """
    steps: list[Value] = [None] * block.rows
    own = np.flatnonzero(block.columns == _STEP)
    for row, place in zip(block.of[own].tolist(), own.tolist(), strict=True):
        steps[row] = block.values[place]
    filled: list[int] = []
    for row, step in enumerate(steps):
        # An integer is finite, however many digits it has.
        if not isinstance(step, int | float) or (isinstance(step, float) and not math.isfinite(step)):
            number = numbers[row]
            steps[row] = int(before + 1 if math.isnan(number) else number)
            filled.append(row)
        before = steps[row]
    if filled:
        block = RowBlock(
            block.rows,
            np.concatenate((block.of, np.array(filled, np.int64))),
            np.concatenate((block.columns, np.full(len(filled), _STEP, np.int64))),
            [*block.values, *(steps[row] for row in filled)],
        )
    return block, before


class SystemTable(_Passes):
    """What the machine did, one row for each sample."""

    row_columns: tuple[str, ...] = ("_timestamp", "_runtime")

    def __init__(self, file: BinaryIO, *, every_row: bool = True) -> None:
        super().__init__(file, every_row=every_row)
        self._start: float | None = None

    def names(self) -> list[str]:
        found: dict[str, None] = {}
        for piece in self._pieces():
            for kind, message in sort_records(piece).others:
                if kind == "stats":
                    found.update((item.key, None) for item in message.item)
                elif kind == "run" and self._start is None and message.HasField("start_time"):
                    self._start = _seconds(message.start_time)
        return [name for name in found if name not in self.row_columns]

    def rows(self, columns: Mapping[str, int]) -> Iterator[RowBlock]:
        for piece in self._pieces():
            parted = sort_records(piece)
            self._refuse(piece, parted.bad)
            samples = [message for kind, message in parted.others if kind == "stats"]
            cells = [
                (row, columns[name], value)
                for row, sample in enumerate(samples)
                for name, value in self._cells(sample)
                if name in columns
            ]
            if samples:
                of, indices, values = (list(part) for part in zip(*cells, strict=True))
                block = RowBlock(len(samples), np.array(of, np.int64), np.array(indices, np.int64), values)
                yield from self._wanted(block)

    def _cells(self, sample: Any) -> Iterator[tuple[str, Value]]:
        for item in sample.item:
            if item.key not in self.row_columns:
                yield item.key, value_of(item.value_json.encode())
        seconds = _seconds(sample.timestamp)
        yield "_timestamp", seconds
        if self._start is not None:
            # Both clocks count in microseconds at best; the difference of two floats would pretend to more.
            yield "_runtime", round(seconds - self._start, 6)


def _seconds(timestamp: Any) -> float:
    return float(timestamp.seconds + timestamp.nanos / 1e9)
