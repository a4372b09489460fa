"""Records of a log read again for those who wait for them, and then for a search: a thread of its own.

What somebody is waiting for comes first; when nobody is, one slice of the search.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from leet.model.filter import TextFilter
from leet.model.record_index import Kinds, Rows
from leet.model.record_sheet import HEX_BYTES, Form, damage_sheet, digest_of, json_of, sheet_of
from leet.model.safe_text import clean
from leet.reading.record_places import DAMAGE, read_records

BREATH = 0.0005
"""Pause of a thread after each piece of work, in seconds, in which the screen gets its turn."""
SLICE = 512 * 1024
"""Bytes of the log that are searched at a time."""

Columns = tuple[Rows, Rows, Kinds, int]
"""Offsets, lengths and kinds of rows, and where blocks are counted from."""
SheetKey = tuple[int, int, Form]
"""The state of the index, a row of it, and a form."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where one row lies, for another thread."""

    offset: int
    length: int
    number: int
    reason: str
    """Why it could not be read; empty for a record."""
    origin: int

    def payload(self, log: Path) -> bytes | None:
        return read_again(log, self.offset, self.offset, self.length, self.origin).get(self.offset)

    def digest(self, log: Path) -> str:
        return self.reason or digest_of(self.payload(log))

    def sheet(self, log: Path, form: Form) -> list[str]:
        if not self.reason:
            return sheet_of(self.payload(log), form)
        try:
            with open(log, "rb", buffering=0) as file:
                data = os.pread(file.fileno(), min(self.length, HEX_BYTES), self.offset)
        except OSError:
            data = b""
        return damage_sheet(self.reason, self.offset, self.length, data)

    def json(self, log: Path) -> str:
        return "" if self.reason else json_of(self.number, self.payload(log))


@dataclass(frozen=True, slots=True)
class Digests:
    """Digests of rows, and the state of the index that they are of."""

    generation: int
    texts: dict[int, str]


@dataclass(frozen=True, slots=True)
class SheetMade:
    key: SheetKey
    lines: list[str]


@dataclass(frozen=True, slots=True)
class Matches:
    """Rows of a search that match, and how far it is."""

    version: int
    rows: list[int]
    searched: int


@dataclass(slots=True)
class Search:
    """A search under way: what for, from which row on."""

    version: int
    wanted: TextFilter
    kinds: frozenset[int]
    """Kinds whose name matches: their rows need no look."""
    at: int
    words: list[bytes]
    """What the bytes of every record hold whose digest matches."""


class Looker:
    """Reads records again, in a thread of its own, for those who wait and then for a search."""

    def __init__(self, path: Path, deliver: Callable[[Digests | SheetMade | Matches], None]) -> None:
        self._path = path
        self._deliver = deliver
        self._wake = threading.Condition()
        self._stopping = False
        self._columns: Columns | None = None
        self._sheet: tuple[SheetKey, Place] | None = None
        self._rows: tuple[int, list[tuple[int, Place]]] | None = None
        self._search: Search | None = None
        self._thread = threading.Thread(target=self._run, name=f"look into {path.name}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        with self._wake:
            self._stopping = True
            self._wake.notify()

    def make_sheet(self, key: SheetKey, place: Place) -> None:
        """Make the sheet of one row; takes the place of what was asked for before."""
        with self._wake:
            self._sheet = key, place
            self._wake.notify()

    def make_digests(self, generation: int, rows: list[tuple[int, Place]]) -> None:
        """Make the digests of some rows; takes the place of what was asked for before."""
        with self._wake:
            self._rows = generation, rows
            self._wake.notify()

    def search(self, search: Search | None, columns: Columns) -> None:
        """Search from now on; nothing with None."""
        with self._wake:
            self._search, self._columns = search, columns
            self._wake.notify()

    def extend(self, columns: Columns) -> None:
        """There are more rows to search."""
        with self._wake:
            self._columns = columns
            if self._search is not None:
                self._wake.notify()

    def _run(self) -> None:
        while True:
            with self._wake:
                while not (self._stopping or self._sheet or self._rows or self._has_more()):
                    self._wake.wait()
                if self._stopping:
                    return
                sheet, self._sheet = self._sheet, None
                rows, self._rows = self._rows, None
                search, columns = self._search, self._columns
            try:
                if sheet is not None:
                    key, place = sheet
                    self._deliver(SheetMade(key, place.sheet(self._path, key[2])))
                if rows is not None:
                    self._deliver(Digests(rows[0], {row: place.digest(self._path) for row, place in rows[1]}))
                if sheet is None and rows is None and search is not None and columns is not None:
                    self._deliver(self._slice(search, columns))
            except Exception as error:  # whatever a log makes of a library; the thread goes on with the next one
                if sheet is not None:
                    self._deliver(SheetMade(sheet[0], [clean(f"This record cannot be shown: {error!r}")]))
            time.sleep(BREATH)

    def _has_more(self) -> bool:
        return self._search is not None and self._columns is not None and self._search.at < len(self._columns[0])

    def _slice(self, search: Search, columns: Columns) -> Matches:
        offsets, lengths, kinds, origin = columns
        first = search.at
        end = int(np.searchsorted(offsets, offsets[first] + SLICE))
        end = max(first + 1, min(end, len(offsets)))
        search.at = end
        open_rows = [
            row
            for row, kind in zip(range(first, end), kinds[first:end].tolist(), strict=True)
            if kind not in search.kinds and kind != DAMAGE
        ]
        if not open_rows:
            return Matches(search.version, [], end)
        start, last = open_rows[0], open_rows[-1]
        found = read_again(self._path, int(offsets[start]), int(offsets[last]), int(lengths[last]), origin)
        matches, words = search.wanted.matches, search.words
        rows = []
        for row in open_rows:
            payload = found.get(int(offsets[row]))
            if words and payload is not None:
                low = payload.lower()
                if any(word not in low for word in words):
                    continue
            if matches(digest_of(payload)):
                rows.append(row)
        return Matches(search.version, rows, end)


def read_again(log: Path, start: int, end: int, length: int, origin: int) -> dict[int, bytes]:
    """As `read_records`; nothing where the log is gone."""
    try:
        return read_records(log, start, end, length, origin)
    except OSError:
        return {}
