"""The paths of one log, each with a number.

    encoded key fields ─► KeyTable ─► number ─► path        12 04 l o s s  ─►  3  ─►  ("loss",)

History and summary name the same paths, so they share their numbers: a log of a hundred thousand metrics has each
of its keys decoded once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from leet.reading.batch import KeyPath
from leet.reading.key_table import KeyTable

NO_PATH = -1
"""The number of key fields that are no UTF-8."""


class KeyPaths:
    """Paths in the order in which they were first seen; the place of a path is its number."""

    def __init__(self) -> None:
        self._numbers: dict[KeyPath, int] = {}
        self._list: list[KeyPath] = []
        self.keys = KeyTable(self._numbers_of)

    def __len__(self) -> int:
        return len(self._list)

    def __getitem__(self, number: int) -> KeyPath:
        return self._list[number]

    def _numbers_of(self, paths: Sequence[KeyPath | None]) -> Sequence[int]:
        numbers, count = self._numbers, len(self._list)
        unlike = dict.fromkeys(paths)
        new = [path for path in unlike if path is not None and path not in numbers]
        numbers.update(zip(new, range(count, count + len(new)), strict=True))
        self._list += new
        if len(new) == len(paths):
            return range(count, count + len(new))
        return [NO_PATH if path is None else numbers[path] for path in paths]

    def of(self, numbers: Iterable[int]) -> list[KeyPath]:
        """The paths with these numbers."""
        return list(map(self._list.__getitem__, numbers))

    def number(self, path: KeyPath) -> int:
        number = self._numbers.setdefault(path, len(self._list))
        if number == len(self._list):
            self._list.append(path)
        return number
