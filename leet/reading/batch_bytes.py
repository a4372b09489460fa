"""A batch ↔ bytes that hold all of it, for the column cache.

    length of the text │ JSON text: all but numbers and records │ padding │ arrays, one after the other │ records

The text lists the shapes of the arrays and the lengths of the records that are kept whole, so that both are found
behind it. Arrays begin at multiples of 8 and are taken as they lie there, without a copy. Names of columns are numbers
in an array: the text has only those that the batches before it had not, for a run may have a hundred thousand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from leet.reading import records
from leet.reading.batch import (
    Batch,
    Columns,
    ConsolePiece,
    Entry,
    Floats,
    HistoryBatch,
    Skipped,
    SummaryChanges,
    SystemBatch,
    TypedPlace,
)
from leet.reading.columns import Names
from leet.reading.unparsed import Json

_Array = npt.NDArray[Any]
_Text = dict[str, Any]


class Packer:
    """Packs batches that follow each other; an `Unpacker` takes them in the same order, from the first."""

    def __init__(self) -> None:
        self._names = Names()
        self._begun = False
        self._last: tuple[str, ...] | None = None
        self._last_ids = np.empty(0, np.int32)

    def pack(self, batch: Batch) -> bytes:
        """The bytes of a batch. Raises TypeError for a text that is no Unicode."""
        known = len(self._names)
        arrays: list[_Array] = []
        history, system = batch.history, batch.system
        texts: dict[str, Any] = {
            "anew": not self._begun,
            "end": batch.end,
            "records": batch.records,
            # There may be a hundred thousand, and lists of texts are read several times as fast as lists of lists.
            "paths": [path[0] if len(path) == 1 else path for path in batch.summary.paths],
            "values": batch.summary.values,
            "console": [(piece.stream, piece.timestamp, piece.text) for piece in batch.console],
            "skipped": [(piece.offset, piece.length, piece.reason) for piece in batch.skipped],
        }
        if history is not None:
            arrays += [history.steps, history.runtimes, history.timestamps]
            texts["history"] = {
                **self._columns(history.columns, arrays),
                "rows": len(history),
                "texts": history.texts,
                "typed": {name: [tuple(place) for place in places] for name, places in history.typed.items()},
            }
        if system is not None:
            arrays.append(system.timestamps)
            texts["system"] = {**self._columns(system.columns, arrays), "rows": len(system)}
        bodies = [entry.message.SerializeToString() for entry in batch.entries]
        texts["entries"] = [
            (entry.ordinal, entry.offset, entry.kind, len(body))
            for entry, body in zip(batch.entries, bodies, strict=True)
        ]
        texts["names"] = self._names.of(range(known, len(self._names)))
        text = orjson.dumps(texts)
        self._begun = True
        parts = [len(text).to_bytes(8, "little"), text, bytes(-len(text) % 8)]
        for array in arrays:
            parts += [array.tobytes(), bytes(-array.nbytes % 8)]
        return b"".join(parts + bodies)

    def _columns(self, columns: Columns, arrays: list[_Array]) -> _Text:
        if columns.names is not self._last:
            self._last = columns.names
            self._last_ids = np.array(self._names.ids_of(columns.names), np.int32)
        arrays += [self._last_ids, columns.starts, columns.values, columns.rows]
        return {"count": len(columns), "points": columns.points}


class Unpacker:
    """Unpacks what a `Packer` packed, and then what others packed after it."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._last: tuple[bytes, tuple[str, ...]] = b"", ()

    def unpack(self, data: bytes, *, size: int, modified: float) -> Batch:
        """The next batch, but for what the file is now: its size and when it was written."""
        length = int.from_bytes(data[:8], "little")
        texts: _Text = orjson.loads(data[8 : 8 + length])
        if texts["anew"]:
            self._names = []
            self._last = b"", ()
        self._names += texts["names"]
        reader = _Reader(data, 8 + length + -length % 8, self._names_of)
        history = system = None
        if found := texts.get("history"):
            steps, runtimes, timestamps = (reader.floats(found["rows"]) for _ in range(3))
            noted = {name: (row, text) for name, (row, text) in found["texts"].items()}
            typed = {name: [TypedPlace(*place) for place in places] for name, places in found["typed"].items()}
            history = HistoryBatch(steps, runtimes, timestamps, reader.columns(found), noted, typed)
        if found := texts.get("system"):
            system = SystemBatch(reader.floats(found["rows"]), reader.columns(found))
        return Batch(
            end=texts["end"],
            size=size,
            modified=modified,
            records=texts["records"],
            entries=tuple(reader.entries(texts["entries"])),
            history=history,
            system=system,
            summary=_changes(texts["paths"], texts["values"]),
            console=tuple(ConsolePiece(*piece) for piece in texts["console"]),
            skipped=tuple(Skipped(*piece) for piece in texts["skipped"]),
        )

    def _names_of(self, ids: npt.NDArray[np.int32]) -> tuple[str, ...]:
        """The names with these ids: the same object as before, if these are the same ids as before."""
        last, names = self._last
        if last != (now := ids.tobytes()):
            names = tuple(map(self._names.__getitem__, ids.tolist()))
            self._last = now, names
        return names


def _changes(paths: list[str | list[str]], values: list[str | None]) -> SummaryChanges:
    """Changes of the summary; a path of one part is that part."""
    whole = [(path,) if isinstance(path, str) else tuple(path) for path in paths]
    return SummaryChanges(whole, [None if value is None else Json(value) for value in values])


class _Reader:
    """Takes one thing after the other from behind the text; `names_of` gives the names with these ids."""

    def __init__(self, data: bytes, at: int, names_of: Callable[[npt.NDArray[np.int32]], tuple[str, ...]]) -> None:
        self._data = data
        self._at = at
        self._names_of = names_of

    def floats(self, count: int) -> Floats:
        return np.frombuffer(self._data, np.float64, count, self._pass(8 * count))

    def columns(self, found: _Text) -> Columns:
        count, points = found["count"], found["points"]
        ids = np.frombuffer(self._data, np.int32, count, self._pass(4 * count))
        starts = np.frombuffer(self._data, np.int64, count + 1, self._pass(8 * count + 8))
        values = self.floats(points)
        rows = np.frombuffer(self._data, np.int32, points, self._pass(4 * points))
        return Columns(self._names_of(ids), starts, rows, values)

    def entries(self, listed: list[tuple[int, int, str, int]]) -> Iterator[Entry]:
        for ordinal, offset, kind, length in listed:
            body = self._data[self._at : self._at + length]
            self._at += length
            try:
                message = records.message_of(kind).FromString(body)
            except records.DecodeError as error:
                raise ValueError(str(error)) from error
            yield Entry(ordinal, offset, kind, message)

    def _pass(self, length: int) -> int:
        """Where the next array begins, and on to behind it."""
        at = self._at
        self._at += length + -length % 8
        return at
