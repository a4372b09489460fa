"""All pictures, tables, histograms, … that a run has logged: where each of them is, not what it holds.

    MediaStore ── "img"  ─► MediaSeries   rows     int32  [n]    rows of history, ascending
                                          offsets  int64  [n]    of the records in the log
                                          pieces   int32  [n]    pieces of a list, 1 for anything else

A list of pictures is one series, whose pieces are tiles of their own: `img[0]`, `img[1]`, …
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from leet.model.growing import Growing
from leet.model.natural import NaturalOrder
from leet.reading.batch import TypedPlace

LISTS = frozenset({"images/separated", "audio", "videos", "html", "object3D", "molecule"})
"""Types of lists, whose pieces have tiles of their own."""
MOST_PIECES = 128
"""Tiles of one list: what follows is not shown. The SDK keeps 108 pictures of a list."""


class Tile(NamedTuple):
    """What one tile shows: a series, or one piece of its lists."""

    key: str
    piece: int | None = None

    @property
    def name(self) -> str:
        """As a person reads it, before it is cleaned for the terminal."""
        return self.key if self.piece is None else f"{self.key}[{self.piece}]"


class MediaSeries:
    """The values under one key: 16 bytes each."""

    __slots__ = ("_offsets", "_pieces", "_rows", "kind", "most_pieces")

    def __init__(self) -> None:
        self._rows: Growing[np.int32] = Growing(np.int32)
        self._offsets: Growing[np.int64] = Growing(np.int64)
        self._pieces: Growing[np.int32] = Growing(np.int32)
        self.kind = ""
        """`_type` of the newest value."""
        self.most_pieces = 1
        """Pieces of the longest list."""

    def __len__(self) -> int:
        return len(self._rows)

    def append(self, places: Sequence[TypedPlace], base: int) -> None:
        """The next values; their rows count from `base`. Of two in one row the last counts."""
        self._rows.append(np.array([place.row + base for place in places], np.int32))
        self._offsets.append(np.array([place.offset for place in places], np.int64))
        self._pieces.append(np.array([place.pieces for place in places], np.int32))
        self.kind = places[-1].kind
        self.most_pieces = max(self.most_pieces, *(place.pieces for place in places))

    @property
    def rows(self) -> npt.NDArray[np.int32]:
        """The rows of history; ascending, without duplicates unless one row was logged twice."""
        return self._rows.view

    def offset(self, index: int) -> int:
        """Where the record of a value begins in the log."""
        return int(self._offsets.view[index])

    def pieces(self, index: int) -> int:
        """How many pieces a value has."""
        return int(self._pieces.view[index])

    @property
    def is_list(self) -> bool:
        return self.kind in LISTS

    def at_or_before(self, row: int) -> int | None:
        """The newest value that is not after a row of history; None before the first."""
        index = int(np.searchsorted(self.rows, row, "right")) - 1
        return index if index >= 0 else None


class MediaStore:
    """The media of a run, by key."""

    def __init__(self) -> None:
        self.generation = 0
        """Counts how often all was forgotten."""
        self._forget()

    def _forget(self) -> None:
        self.values = 0
        """Values of all series; it only grows, so that it tells whether something came."""
        self._logs: list[tuple[int, Path]] = []
        """First row and log of each part of a run that was resumed; empty for a run of one log."""
        self._series: dict[str, MediaSeries] = {}
        self._order = NaturalOrder()
        self._tiles: tuple[Tile, ...] = ()
        self._tiles_at = 0

    def clear(self) -> None:
        self._forget()
        self.generation += 1

    def take_over(self, other: MediaStore) -> None:
        """Become what `other` is, which must not be used any more."""
        vars(self).update(vars(other), generation=self.generation + other.generation + 1)

    def __len__(self) -> int:
        return len(self._series)

    def __contains__(self, key: str) -> bool:
        return key in self._series

    def series(self, key: str) -> MediaSeries:
        """The values under a key. KeyError for one that is not there."""
        return self._series[key]

    def begin(self, log: Path, row: int) -> None:
        """What comes from `row` on comes from this log."""
        self._logs.append((row, log))

    def log_of(self, row: int, usual: Path) -> Path:
        """The log that a row came from; `usual` for a run of one log."""
        return next((log for first, log in reversed(self._logs) if first <= row), usual)

    def append(self, typed: Mapping[str, Sequence[TypedPlace]], base: int) -> bool:
        """Take in the values of a batch whose rows count from `base`; True where there were any."""
        for key, places in typed.items():
            series = self._series.get(key)
            if series is None:
                series = self._series[key] = MediaSeries()
                self._order.add([key])
            series.append(places, base)
            self.values += len(places)
        return bool(typed)

    def tiles(self) -> tuple[Tile, ...]:
        """A tile for each series, one for each piece of a list, in natural order of their keys.

        The same object until a key or a piece is added.
        """
        if self._tiles_at != self.values:
            tiles = tuple(
                Tile(name, piece if series.is_list else None)
                for name in self._order.names()
                for series in (self._series[name],)
                for piece in range(_tiles_of(series))
            )
            self._tiles_at = self.values
            if tiles != self._tiles:
                self._tiles = tiles
        return self._tiles


def _tiles_of(series: MediaSeries) -> int:
    return min(series.most_pieces, MOST_PIECES) if series.is_list else 1
