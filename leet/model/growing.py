"""Arrays that grow at their end."""

from __future__ import annotations

from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

Number = TypeVar("Number", np.float64, np.int32, np.int64, np.uint8)

_LARGE = 1 << 10
"""Elements from which on room grows by a quarter instead of doubling: room that is not used yet is memory, too."""


def room_for(count: int, capacity: int) -> int:
    """The new capacity of an array of `capacity` elements that is to hold `count`: exact at first, then in leaps."""
    if capacity == 0:
        return max(4, count)
    return max(count, capacity + capacity // 4 if capacity >= _LARGE else 2 * capacity)


class Growing(Generic[Number]):
    """A one-dimensional array that grows; `view` is what is in it (do not keep it while appending)."""

    __slots__ = ("_data", "count")

    def __init__(self, dtype: type[Number]) -> None:
        self._data: npt.NDArray[Number] = np.empty(0, dtype)
        self.count = 0

    def __len__(self) -> int:
        return self.count

    @property
    def view(self) -> npt.NDArray[Number]:
        return self._data[: self.count]

    def append(self, block: npt.NDArray[Number]) -> None:
        end = self.count + len(block)
        if end > len(self._data):
            grown = np.empty(room_for(end, len(self._data)), self._data.dtype)
            grown[: self.count] = self._data[: self.count]
            self._data = grown
        self._data[self.count : end] = block
        self.count = end

    def cut(self, count: int) -> None:
        """Keep the first `count` elements only."""
        self.count = min(self.count, count)

    def clear(self) -> None:
        self._data = np.empty(0, self._data.dtype)
        self.count = 0


class Column(Growing[np.float64]):
    """A growing column of numbers that may serve as x axis: it knows whether it ascends (NaN never does)."""

    __slots__ = ("ascending",)

    def __init__(self) -> None:
        super().__init__(np.float64)
        self.ascending = True

    def append(self, block: npt.NDArray[np.float64]) -> None:
        if self.ascending and len(block):
            before = self._data[self.count - 1] if self.count else -np.inf
            self.ascending = bool(block[0] >= before) and is_ascending(block)
        super().append(block)

    def clear(self) -> None:
        super().clear()
        self.ascending = True


def is_ascending(values: npt.NDArray[np.float64]) -> bool:
    """Whether no value is smaller than the one before it; False with any NaN."""
    if len(values) == 1:
        return bool(values[0] == values[0])
    return bool((values[1:] >= values[:-1]).all())
