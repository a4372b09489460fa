"""Single points → columns: many (name, row, value) put in order by name, then by row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leet.reading.batch import Columns, Floats, Rows

Ids = npt.NDArray[np.int64]


ROW_COLUMNS = ("_step", "_runtime", "_timestamp")
"""What every row has at most one of, and no chart of its own."""


class Names:
    """Names in the order in which they were first seen; the place of a name is its id."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._ids = {name: i for i, name in enumerate(names)}
        self._list = list(self._ids)
        self._last: tuple[Ids, tuple[str, ...]] = np.empty(0, np.int64), ()

    def __len__(self) -> int:
        return len(self._list)

    def __getitem__(self, name_id: int) -> str:
        return self._list[name_id]

    def of(self, ids: Iterable[int]) -> tuple[str, ...]:
        return tuple(map(self._list.__getitem__, ids))

    def of_columns(self, ids: Ids) -> tuple[str, ...]:
        """The names of columns: the same object as before, if these are the same columns as before."""
        last, names = self._last
        if not np.array_equal(last, ids):
            names = self.of(ids.tolist())
            self._last = ids, names
        return names

    def ids_of(self, names: Iterable[str]) -> list[int]:
        """The ids of many names, new ones in the order in which they come."""
        names = list(names)
        ids = self._ids
        unlike = dict.fromkeys(names)
        new = [name for name in unlike if name not in ids] if ids else list(unlike)
        ids.update(zip(new, range(len(self._list), len(self._list) + len(new)), strict=True))
        self._list += new
        return list(map(ids.__getitem__, names))

    def id_of(self, name: str) -> int:
        name_id = self._ids.setdefault(name, len(self._list))
        if name_id == len(self._list):
            self._list.append(name)
        return name_id


@dataclass(frozen=True, slots=True)
class Points:
    """Values by name and row, sorted by name, then row; each name at most once in a row.

    Shapes: `ids` int64 [points], `rows` int32 [points], `values` float64 [points].
    """

    ids: Ids
    rows: Rows
    values: Floats

    @classmethod
    def sorted(cls, ids: Ids, rows: Rows, values: Floats) -> Points:
        """From points in any order of names, whose rows ascend."""
        order = order_by_id(ids)
        return cls(ids[order], rows[order], values[order])

    @classmethod
    def listed(cls, ids: Sequence[int], rows: Sequence[int], values: Sequence[float]) -> Points:
        """From lists of points, whose rows ascend."""
        return cls.sorted(np.array(ids, np.int64), np.array(rows, np.int32), np.array(values, np.float64))

    def __len__(self) -> int:
        return len(self.ids)

    def merged(self, other: Points) -> Points:
        """These points and those of other rows."""
        if not len(other) or not len(self):
            return self if len(self) else other
        ids = np.concatenate((self.ids, other.ids))
        rows = np.concatenate((self.rows, other.rows))
        order = np.argsort(ids << 32 | rows)
        return Points(ids[order], rows[order], np.concatenate((self.values, other.values))[order])

    def of_row(self, name_id: int, rows: int) -> Floats:
        """The values of one name by row: float64 [rows], NaN where a row has none."""
        start, end = np.searchsorted(self.ids, (name_id, name_id + 1))
        column = np.full(rows, np.nan)
        column[self.rows[start:end]] = self.values[start:end]
        return column

    def columns(self, names: Names, first: int = 0) -> Columns:
        """The points as columns, from the name with the id `first` on."""
        start = int(np.searchsorted(self.ids, first))
        ids, rows, values = self.ids[start:], self.rows[start:], self.values[start:]
        if not len(ids):
            return Columns((), np.zeros(1, np.int64), rows, values)
        starts = np.concatenate(([0], np.flatnonzero(ids[1:] != ids[:-1]) + 1, [len(ids)]))
        return Columns(names.of_columns(ids[starts[:-1]]), starts, rows, values)


def order_by_id(ids: Ids) -> Ids:
    """The order that sorts ids, which are below 2^32, and keeps that of equal ones.

    numpy sorts 16-bit numbers by radix, several times as fast as longer ones, so this does 16 bits at a time.
    """
    order = np.argsort(ids.astype(np.uint16), kind="stable")
    if len(ids) and ids.max() >> 16:
        order = order[np.argsort((ids >> 16)[order].astype(np.uint16), kind="stable")]
    return order
