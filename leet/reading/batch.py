"""What the reader hands on: immutable batches of records, the bulk of them as columns.

One batch covers one contiguous piece of the log:

    bytes of the log      ─►  Batch
    history records           history: HistoryBatch   columns, one slice per metric
    stats records             system:  SystemBatch    columns, one slice per key
    summary records           summary: the last change of each path, in order
    output_raw, output, …     console: pieces of text as the program wrote them
    run, config, exit, …      entries: one decoded record each, in order
    damage                    skipped: byte ranges that could not be read, and why
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from leet.reading.blocks import Skipped as Skipped
from leet.reading.unparsed import Json

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int32]
Offsets = npt.NDArray[np.int64]

Stream = Literal["stdout", "stderr", "logger"]
"""Where console text was written to; `logger`: lines that the program put into its log without printing them."""
KeyPath = tuple[str, ...]
"""Path of a config, summary or history value: `("opt", "lr")`. Shown joined with dots."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The numbers of many rows, grouped by key.

    The points of `names[i]` are `rows[starts[i]:starts[i + 1]]` and the same slice of `values`; rows ascend
    within a key and count from the first row of the batch. Booleans are 0 and 1; NaN and infinities are kept.

    Shapes: `starts` int64 [len(names) + 1], `rows` int32 [points], `values` float64 [points].
    """

    names: tuple[str, ...]
    starts: Offsets
    rows: Rows
    values: Floats

    def __len__(self) -> int:
        return len(self.names)

    @property
    def points(self) -> int:
        return len(self.values)

    def items(self) -> Iterator[tuple[str, Rows, Floats]]:
        """Each key with its rows and values (views, not copies)."""
        bounds = self.starts.tolist()
        for i, name in enumerate(self.names):
            a, b = bounds[i], bounds[i + 1]
            yield name, self.rows[a:b], self.values[a:b]


class TypedPlace(NamedTuple):
    """Where a picture, a table, a histogram, … is: the value itself is read when somebody looks at it."""

    row: int
    offset: int
    """Of its record in the log; -1 where that is not known."""
    kind: str
    """Its `_type`."""
    pieces: int
    """Pieces of a list, 1 for anything else."""


@dataclass(frozen=True, slots=True)
class HistoryBatch:
    """Rows of history: the three row columns once, everything numeric else in `columns`.

    Shapes: `steps`, `runtimes` (s since the start) and `timestamps` (Unix s) are float64 [rows]; a row without
    the value has NaN there, but `steps` is always filled (`_step`, else `HistoryStep.num`, else the row before + 1).
    """

    steps: Floats
    runtimes: Floats
    timestamps: Floats
    columns: Columns
    texts: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    """Dotted key → (row, JSON text) of its last value that is no number: strings, lists, media, null."""
    typed: Mapping[str, Sequence[TypedPlace]] = field(default_factory=dict)
    """Dotted key → where its values with a `_type` are, in order of rows."""

    def __len__(self) -> int:
        return len(self.steps)


@dataclass(frozen=True, slots=True)
class SystemBatch:
    """Samples of system metrics; `timestamps` is float64 [samples], Unix seconds."""

    timestamps: Floats
    columns: Columns

    def __len__(self) -> int:
        return len(self.timestamps)


class SummaryChange(NamedTuple):
    """The summary at `path` became the JSON value `json`, or was removed (None)."""

    path: KeyPath
    json: Json | None


@dataclass(slots=True)
class SummaryChanges(Sequence[SummaryChange]):
    """Changes of the summary in their order, as two lists: there may be a hundred thousand at a time."""

    paths: list[KeyPath] = field(default_factory=list)
    values: list[Json | None] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.paths)

    @overload
    def __getitem__(self, index: int) -> SummaryChange: ...
    @overload
    def __getitem__(self, index: slice) -> SummaryChanges: ...
    def __getitem__(self, index: int | slice) -> SummaryChange | SummaryChanges:
        if isinstance(index, slice):
            return SummaryChanges(self.paths[index], self.values[index])
        return SummaryChange(self.paths[index], self.values[index])

    def __iter__(self) -> Iterator[SummaryChange]:
        return map(SummaryChange, self.paths, self.values)

    def pairs(self) -> Iterator[tuple[KeyPath, Json | None]]:
        """The same as plain pairs, which are made in no time."""
        return zip(self.paths, self.values, strict=True)


class ConsolePiece(NamedTuple):
    """Text as the program wrote it: any number of lines or a part of one, escape sequences and all."""

    stream: Stream
    timestamp: float
    text: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A record that is kept whole. `kind` is its name in the oneof of `Record`, `message` that sub-message."""

    ordinal: int
    offset: int
    kind: str
    message: Any


@dataclass(frozen=True, slots=True)
class Batch:
    """One piece of a log, decoded. `end` is the offset up to which the log has been read."""

    end: int
    size: int
    """Size of the file when this piece was read, in bytes; `end < size` means there is more to come."""
    modified: float
    """When the file was last written, Unix seconds."""
    records: int = 0
    entries: tuple[Entry, ...] = ()
    history: HistoryBatch | None = None
    system: SystemBatch | None = None
    summary: SummaryChanges = field(default_factory=SummaryChanges)
    console: tuple[ConsolePiece, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    reset: bool = False
    """The file was replaced or cut short: forget all that came before this batch."""

    def portions(self, changes: int = 4096) -> Iterator[Batch]:
        """The same in batches of at most so many changes of the summary, each of which takes but a moment to apply."""
        yield replace(self, summary=self.summary[:changes]) if len(self.summary) > changes else self
        for start in range(changes, len(self.summary), changes):
            yield Batch(self.end, self.size, self.modified, summary=self.summary[start : start + changes])


@dataclass(frozen=True, slots=True)
class Newest:
    """Batches read ahead of the rest: to be shown until the rest has been read, and forgotten then."""

    batches: tuple[Batch, ...]
    further: bool = False
    """They come behind those before; otherwise they take their place."""


@dataclass(frozen=True, slots=True)
class Notice:
    """Something about the file that its reader must be told: one plain line."""

    kind: Literal["replaced", "truncated", "removed", "returned", "unreadable", "unsupported"]
    text: str
