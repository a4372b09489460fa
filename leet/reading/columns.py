"""Single points → columns: many (name, row, value) put in order by name, then by row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leet.reading.batch import Columns, Floats, Rows

Ids = npt.NDArray[np.int64]


class Names:
    """Names in the order in which they were first seen; the place of a name is its id."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._ids = {name: i for i, name in enumerate(names)}
        self._list = list(self._ids)

    def __len__(self) -> int:
        return len(self._list)

    def __getitem__(self, name_id: int) -> str:
        return self._list[name_id]

    def id_of(self, name: str) -> int:
        name_id = self._ids.setdefault(name, len(self._list))
        if name_id == len(self._list):
            self._list.append(name)
        return name_id


@dataclass(frozen=True, slots=True)
class Points:
    """Values by name and row, in any order; each name at most once in a row.

    Shapes: `ids` int64 [points], `rows` int32 [points], `values` float64 [points].
    """

    ids: Ids
    rows: Rows
    values: Floats

    @classmethod
    def of(cls, ids: Sequence[int], rows: Sequence[int], values: Sequence[float]) -> Points:
        return cls(np.array(ids, np.int64), np.array(rows, np.int32), np.array(values, np.float64))

    def __len__(self) -> int:
        return len(self.ids)

    def joined(self, other: Points) -> Points:
        if not len(other) or not len(self):
            return self if len(self) else other
        return Points(
            np.concatenate((self.ids, other.ids)),
            np.concatenate((self.rows, other.rows)),
            np.concatenate((self.values, other.values)),
        )

    def columns(self, names: Names) -> Columns:
        """The points grouped by name, rows ascending."""
        if not len(self):
            return Columns((), np.zeros(1, np.int64), self.rows, self.values)
        order = np.argsort(self.ids << 32 | self.rows)
        ids = self.ids[order]
        starts = np.concatenate(([0], np.flatnonzero(ids[1:] != ids[:-1]) + 1, [len(ids)]))
        present = tuple(names[i] for i in ids[starts[:-1]].tolist())
        return Columns(present, starts, self.rows[order], self.values[order])

    def row_column(self, name_id: int, rows: int) -> Floats:
        """The values of one name as a row column: float64 [rows], NaN where a row has none."""
        column = np.full(rows, np.nan)
        mine = self.ids == name_id
        column[self.rows[mine]] = self.values[mine]
        return column

    def where(self, keep: npt.NDArray[np.bool_]) -> Points:
        return Points(self.ids[keep], self.rows[keep], self.values[keep])
