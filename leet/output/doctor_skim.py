"""One log → what it weighs: how many names, rows and values, how fast they came, and which are the largest.

Values are not read, only where they begin and end; the one column that is, `_timestamp`, says how much was logged in
which minute.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from leet.output.export_items import HistoryRecord, ItemLocator, Located, sort_records
from leet.output.export_values import logged_leaves
from leet.reading import records
from leet.reading.batch import Floats
from leet.reading.bulk_blocks import BulkBlockReader, Found
from leet.reading.columns import Ids, Names
from leet.reading.logged_values import TYPE_KEY, number_of
from leet.reading.messages import Messages
from leet.reading.value_texts import read_values

_PIECE = 4 * 1024 * 1024
_MINUTE = 60.0
_LARGEST = 5
_ROW_COLUMNS = ("_step", "_runtime", "_timestamp")
_TIMESTAMP = 2


@dataclass(frozen=True, slots=True)
class Sized:
    """Something in the log and its bytes there."""

    name: str
    size: int


@dataclass(slots=True)
class RunFacts:
    """What one log weighs. Rates are counts per minute; sizes are bytes of JSON in the log."""

    log: Path
    run_id: str = ""
    display_name: str = ""
    metrics: frozenset[str] = frozenset()
    """Names that were logged, nested ones flat; a picture, a histogram or a table is one name."""
    numeric: int = 0
    """How many of these have had a number and are drawn as curves; the others are media, texts, lists."""
    rows: int = 0
    points: int = 0
    peak_rows: int = 0
    peak_points: int = 0
    mean_rows: float = 0.0
    mean_points: float = 0.0
    largest_values: list[Sized] = field(default_factory=list)
    """The largest value of each of the names with the largest ones, those first."""
    largest_row: Sized = field(default_factory=lambda: Sized("", 0))
    """Size of the largest row, and the name that takes most of it."""
    largest_row_step: int = 0
    config_size: int = 0
    config_largest: list[Sized] = field(default_factory=list)
    files: int = 0
    skipped: int = 0
    """Parts of the log that could not be read."""


def skim(log: Path) -> RunFacts:
    """What a log weighs. Raises OSError, and UnsupportedLog for what is no log."""
    skimmer = _Skimmer(log)
    reader = BulkBlockReader()
    with open(log, "rb", buffering=0) as file:
        while data := file.read(_PIECE):
            skimmer.take(reader.feed_bulk(data))
    if outcomes := reader.finish():
        skimmer.take(Found.listed(outcomes))
    return skimmer.facts()


class _Skimmer:
    def __init__(self, log: Path) -> None:
        self._facts = RunFacts(log, run_id=log.stem.removeprefix("run-"))
        self._names = Names(_ROW_COLUMNS)
        self._locator = ItemLocator(self._names)
        self._largest = np.zeros(0, np.int64)  # bytes of the largest value by id of its name
        self._numeric = np.zeros(0, bool)  # which names have had a number, by id
        self._times: list[Floats] = []
        self._counts: list[Ids] = []  # values by row
        self._config: dict[tuple[str, ...], int] = {}
        self._files: set[str] = set()

    def take(self, found: Found) -> None:
        parted = sort_records(found)
        self._facts.skipped += len(found.skipped) + len(parted.bad)
        for kind, message in parted.others:
            if kind == "run":
                self._take_run(message)
            elif kind == "config":
                self._take_config(message)
            elif kind == "files":
                self._files.update(item.path for item in message.files)
        if len(parted.history):
            self._take_history(parted.history)

    def _take_run(self, run: Any) -> None:
        self._facts.run_id = run.run_id or self._facts.run_id
        self._facts.display_name = run.display_name or self._facts.display_name
        self._take_config(run.config)

    def _take_config(self, config: Any) -> None:
        for item in config.update:
            self._config[tuple(item.nested_key) or (item.key,)] = len(item.value_json.encode())
        for item in config.remove:
            self._config.pop(tuple(item.nested_key) or (item.key,), None)

    def _take_history(self, history: Messages) -> None:
        located = self._locator.locate(history)
        sizes = located.ends - located.starts
        times = _timestamps(history, located)
        self._find_numeric(history, located)
        odd = self._read_odd(history, located, times)
        of, ids, sizes = (np.concatenate(pair) for pair in zip((located.of, located.names, sizes), odd, strict=True))
        self._weigh(ids, sizes)
        hidden = np.array([name.startswith("_") for name in self._names.of(range(len(self._names)))])
        counts = np.bincount(of[~hidden[ids]], minlength=len(history))
        self._facts.rows += len(history)
        self._facts.points += int(counts.sum())
        self._times.append(times)
        self._counts.append(counts)

        lengths = history.ends - history.starts
        row = int(lengths.argmax())
        if lengths[row] > self._facts.largest_row.size:
            mine = np.flatnonzero(of == row)
            name = self._names[int(ids[mine[sizes[mine].argmax()]])] if len(mine) else ""
            self._facts.largest_row = Sized(name, int(lengths[row]))
            step = located.steps[row]
            self._facts.largest_row_step = self._facts.rows - len(history) + row if math.isnan(step) else int(step)

    def _read_odd(self, history: Messages, located: Located, times: Floats) -> tuple[Ids, Ids, Ids]:
        """Row, name and size of the values that are read one by one; their times are put into `times`."""
        found: list[tuple[int, int, int]] = []
        numeric: list[int] = []
        for row in np.flatnonzero(located.odd).tolist():
            try:
                record: Any = HistoryRecord.FromString(history[row])
            except (records.DecodeError, UnicodeDecodeError):
                self._facts.skipped += 1
                continue
            for name, value, size in logged_leaves(record.item):
                name_id = self._names.id_of(name)
                found.append((row, name_id, size))
                if _is_number(value):
                    numeric.append(name_id)
                if name_id == _TIMESTAMP and isinstance(value, int | float):
                    times[row] = value
        self._note_numeric(np.array(numeric, np.int64))
        rows = np.array(found, np.int64).reshape(-1, 3)
        return rows[:, 0], rows[:, 1], rows[:, 2]

    def _find_numeric(self, history: Messages, located: Located) -> None:
        """Note which names have numbers; a name that is known to is not looked at again."""
        self._note_numeric(located.names[:0])
        unknown = located.only(~self._numeric[located.names])
        if len(unknown.of):
            values = read_values(history, unknown.starts, unknown.ends)
            self._note_numeric(unknown.names[values.is_number])

    def _note_numeric(self, ids: Ids) -> None:
        if len(self._numeric) < len(self._names):
            self._numeric = np.append(self._numeric, np.zeros(len(self._names) - len(self._numeric), bool))
        self._numeric[ids] = True

    def _weigh(self, ids: Ids, sizes: Ids) -> None:
        if len(self._largest) < len(self._names):
            self._largest = np.concatenate((self._largest, np.zeros(len(self._names) - len(self._largest), np.int64)))
        np.maximum.at(self._largest, ids, sizes)

    def facts(self) -> RunFacts:
        facts = self._facts
        logged = np.flatnonzero(self._largest)
        facts.metrics = metric_names(self._names.of(logged.tolist()))
        names = self._names.of(np.flatnonzero(self._numeric).tolist())
        facts.numeric = len(facts.metrics.intersection(names))
        by_size = logged[np.argsort(-self._largest[logged], kind="stable")].tolist()
        named = [Sized(self._names[i], int(self._largest[i])) for i in by_size[: _LARGEST + len(_ROW_COLUMNS)]]
        facts.largest_values = [value for value in named if value.name not in _ROW_COLUMNS][:_LARGEST]
        self._measure_rates()
        facts.config_size = sum(self._config.values()) + sum(len(".".join(path)) for path in self._config)
        by_size = sorted(self._config.items(), key=lambda item: -item[1])
        facts.config_largest = [Sized(".".join(path), size) for path, size in by_size[:_LARGEST]]
        facts.files = len(self._files)
        return facts

    def _measure_rates(self) -> None:
        if not self._times:
            return
        times, counts = np.concatenate(self._times), np.concatenate(self._counts)
        known = np.isfinite(times)
        order = np.argsort(times[known], kind="stable")
        times, counts = times[known][order], counts[known][order]
        if not len(times):
            return
        facts = self._facts
        firsts = np.arange(len(times))
        ends = np.searchsorted(times, times + _MINUTE)
        before = np.concatenate(([0], np.cumsum(counts)))
        facts.peak_rows = int((ends - firsts).max())
        facts.peak_points = int((before[ends] - before[firsts]).max())
        minutes = max(float(times[-1]) - float(times[0]), _MINUTE) / _MINUTE  # of a shorter run nobody knows more
        facts.mean_rows, facts.mean_points = len(times) / minutes, int(before[-1]) / minutes


def _timestamps(history: Messages, located: Located) -> Floats:
    times = np.full(len(history), np.nan)
    own = located.only(located.names == _TIMESTAMP)
    if len(own.of):
        times[own.of] = read_values(history, own.starts, own.ends).numbers
    return times


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) or (isinstance(value, str) and number_of(json.dumps(value)) is not None)


def metric_names(names: Iterable[str]) -> frozenset[str]:
    """The names that count as metrics: without internal ones, and with one name for all leaves of a media value."""
    shown = [name for name in names if not name.startswith("_")]
    ending = f".{TYPE_KEY}"
    media = {name.removesuffix(ending) for name in shown if name.endswith(ending)}
    return frozenset(_owner(name, media) for name in shown) if media else frozenset(shown)


def _owner(name: str, media: set[str]) -> str:
    at = name.find(".")
    while at >= 0:
        if name[:at] in media:
            return name[:at]
        at = name.find(".", at + 1)
    return name
