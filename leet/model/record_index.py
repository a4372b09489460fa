"""All records of a log as a list of places: 13 bytes for each, whatever is in it."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
import numpy.typing as npt

from leet.model.growing import Growing
from leet.reading.record_places import DAMAGE, UNFINISHED, Places, kind_name

Rows = npt.NDArray[np.int64]
"""Numbers of rows, from 0, ascending."""
Kinds = npt.NDArray[np.uint8]


GOES_ON = "a record that is being written, or was cut off"
"""What is said of an unfinished end that may go on."""


class RecordIndex:
    """Rows in the order of the log: a record or a damaged range each."""

    def __init__(self) -> None:
        self.generation = 0
        """Grows when rows that were known are void."""
        self.read = 0
        self.size = 0
        self.origin = 0
        self.trouble = ""
        self._offsets = Growing(np.int64)
        self._lengths = Growing(np.int64)
        self._kinds = Growing(np.uint8)
        self._damaged: list[int] = []
        """Rows that are damage, ascending."""
        self._reasons: list[str] = []
        self._settled = 0
        """Rows that stay, whatever comes."""
        self._open_end = -1
        """The row of an unfinished end that is being written, for all that is known; -1 without one."""

    def add(self, places: Places) -> int:
        """Take in what was found next; the first row that may look different now."""
        if places.trouble:
            self.trouble = places.trouble
            return len(self)
        first = 0 if places.reset else self._settled
        if first < len(self):
            for column in (self._offsets, self._lengths, self._kinds):
                column.cut(first)
            kept = bisect_left(self._damaged, first)
            del self._damaged[kept:], self._reasons[kept:]
            self.generation += 1
        if places.reset:
            self._settled = self.read = self.size = 0
            self.trouble = ""
            self._open_end = -1
            return 0
        self._damaged += (first + np.flatnonzero(places.kinds == DAMAGE)).tolist()
        self._reasons += places.reasons
        self._offsets.append(places.offsets)
        self._lengths.append(places.lengths)
        self._kinds.append(places.kinds)
        self._settled = first if places.provisional else len(self)
        open_end = places.may_go_on and places.reasons[-1:] == (UNFINISHED,)
        self._open_end = len(self) - 1 if open_end else -1
        self.read, self.size, self.origin, self.trouble = places.read, places.size, places.origin, ""
        return first

    def __len__(self) -> int:
        return len(self._offsets)

    @property
    def damaged(self) -> int:
        """How many ranges could not be read, without an end that is being written."""
        return len(self._damaged) - (self._open_end >= 0)

    @property
    def records(self) -> int:
        return len(self) - len(self._damaged)

    @property
    def progress(self) -> float:
        """Share of the log that has been gone through, 0 to 1."""
        return min(1.0, self.read / self.size) if self.size else 0.0

    def offset(self, row: int) -> int:
        return int(self._offsets.view[row])

    def length(self, row: int) -> int:
        return int(self._lengths.view[row])

    def kind(self, row: int) -> str:
        return kind_name(int(self._kinds.view[row]))

    def is_damage(self, row: int) -> bool:
        return bool(self._kinds.view[row] == DAMAGE)

    def is_open_end(self, row: int) -> bool:
        """Whether this is an end without its record's rest, which may yet come."""
        return row == self._open_end

    def reason(self, row: int) -> str:
        """Why a range could not be read; empty for a record."""
        if row == self._open_end:
            return GOES_ON
        at = bisect_left(self._damaged, row)
        return self._reasons[at] if at < len(self._damaged) and self._damaged[at] == row else ""

    def number(self, row: int) -> int:
        """The number of a record, 1 is the first; damage is not counted."""
        return row - bisect_left(self._damaged, row) + 1

    def row_of(self, number: int) -> int:
        """The row of the record with this number; that of the nearest where there is none."""
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if self.number(middle) - self.is_damage(middle) < number:
                low = middle + 1
            else:
                high = middle
        return max(0, min(low, len(self) - 1))

    def row_at(self, offset: int) -> int:
        """The row that covers this byte of the file; the first for what lies before it."""
        return max(0, int(np.searchsorted(self._offsets.view, offset, side="right")) - 1)

    def columns(self) -> tuple[Rows, Rows, Kinds]:
        """Offsets, lengths and kinds of the rows there are now; they stay as they are while rows are added."""
        return self._offsets.view, self._lengths.view, self._kinds.view

    def kinds(self) -> dict[int, int]:
        """Kind → how many rows have it."""
        counts = np.bincount(self._kinds.view, minlength=1)
        return {kind: int(count) for kind, count in enumerate(counts.tolist()) if count}
