"""The records of one log for a screen: found by one thread, read again and searched by another.

    PlaceFinder ─► Places ──────────┐
                                    ├─► what waits for `drain` ─► index, digests, sheets, matches   (main loop)
    looker: sheet, digests, search ─┘

Short records are read at once when they are asked for; what may take longer is left to the looker, which does what
somebody is waiting for first, and one slice of a search when nobody is.
"""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue

import numpy as np

from leet.model.filter import TextFilter
from leet.model.growing import Growing
from leet.model.record_index import Kinds, RecordIndex, Rows
from leet.model.record_sheet import HEX_BYTES, Form, damage_sheet, digest_of, json_of, sheet_of
from leet.model.safe_text import clean
from leet.reading.record_places import DAMAGE, PlaceFinder, Places, kind_name, read_records

POLL = 0.5
"""Seconds between two looks at a log that may grow."""
BREATH = 0.0005
"""Pause of a thread after each piece of work, in seconds, in which the screen gets its turn."""
AT_ONCE = 64 * 1024
"""Bytes of records that are read and taken apart while the screen waits."""
SLICE = 512 * 1024
"""Bytes of the log that are searched at a time."""
KEPT = 8192
"""Digests that are remembered."""
OWN_WORDS = ("step", "without", "true", "false", "null", "nan", "infinity", "cannot be decoded", "longer where it was")
"""Words of digests that need not be in the bytes of a record."""

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
        return _read(log, self.offset, self.offset, self.length, self.origin).get(self.offset)

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
class _Digests:
    """Digests of rows, and the state of the index that they are of."""

    generation: int
    texts: dict[int, str]


@dataclass(frozen=True, slots=True)
class _SheetMade:
    key: SheetKey
    lines: list[str]


@dataclass(frozen=True, slots=True)
class _Matches:
    """Rows of a search that match, and how far it is."""

    version: int
    rows: list[int]
    searched: int


@dataclass(slots=True)
class _Search:
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

    def __init__(self, path: Path, deliver: Callable[[_Digests | _SheetMade | _Matches], None]) -> None:
        self._path = path
        self._deliver = deliver
        self._wake = threading.Condition()
        self._stopping = False
        self._columns: Columns | None = None
        self._sheet: tuple[SheetKey, Place] | None = None
        self._rows: tuple[int, list[tuple[int, Place]]] | None = None
        self._search: _Search | None = None
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

    def search(self, search: _Search | None, columns: Columns) -> None:
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
                    self._deliver(_SheetMade(key, place.sheet(self._path, key[2])))
                if rows is not None:
                    self._deliver(_Digests(rows[0], {row: place.digest(self._path) for row, place in rows[1]}))
                if sheet is None and rows is None and search is not None and columns is not None:
                    self._deliver(self._slice(search, columns))
            except Exception as error:  # whatever a log makes of a library; the thread goes on with the next one
                if sheet is not None:
                    self._deliver(_SheetMade(sheet[0], [clean(f"This record cannot be shown: {error!r}")]))
            time.sleep(BREATH)

    def _has_more(self) -> bool:
        return self._search is not None and self._columns is not None and self._search.at < len(self._columns[0])

    def _slice(self, search: _Search, columns: Columns) -> _Matches:
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
            return _Matches(search.version, [], end)
        start, last = open_rows[0], open_rows[-1]
        found = _read(self._path, int(offsets[start]), int(offsets[last]), int(lengths[last]), origin)
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
        return _Matches(search.version, rows, end)


class RecordFeed:
    """What is known of the records of `log`. Who calls `listen` is told when `drain` has something to do."""

    def __init__(self, log: Path, *, live: bool = True) -> None:
        """`live`: look again whether there is more; otherwise the log is read once, to its end."""
        self.log = log
        self.index = RecordIndex()
        self.loaded = False
        """The log has been gone through to its end once."""
        self.wanted: TextFilter | None = None
        self.searched = 0
        """Rows that the search has been through."""
        self._live = live
        self._finder = PlaceFinder(log, live=live)
        self._waiting: SimpleQueue[Places | _Digests | _SheetMade | _Matches | None] = SimpleQueue()
        self._announce: Callable[[], None] = lambda: None
        self._announced = False
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._find, name=f"find records of {log.name}", daemon=True)
        self._looker = Looker(log, self._put)
        self._digests: OrderedDict[int, str] = OrderedDict()
        self._sheet: tuple[SheetKey, list[str]] | None = None
        self._sheet_asked: SheetKey | None = None
        self._marks = Growing(np.uint8)
        """For each row whether it matches the filter."""
        self._rows: Rows | None = None
        self._kinds: frozenset[int] = frozenset()
        self._version = 0

    def start(self) -> None:
        self._thread.start()
        self._looker.start()

    def stop(self) -> None:
        self._stopping.set()
        self._looker.stop()

    def listen(self, announce: Callable[[], None]) -> None:
        """`announce` is called on one of the threads."""
        self._announce = announce
        self._announced = False
        if not self._waiting.empty():
            self._tell()

    def _put(self, item: Places | _Digests | _SheetMade | _Matches | None) -> None:
        self._waiting.put(item)
        self._tell()

    def _tell(self) -> None:
        # A stale True here is harmless: `drain` lowers the flag before it looks into the queue.
        if not self._announced and not self._stopping.is_set():
            self._announced = True
            self._announce()

    def _find(self) -> None:
        while not self._stopping.is_set():
            for places in self._finder.look():
                if self._stopping.is_set():
                    return
                self._put(places)
                time.sleep(BREATH)
            if not self.loaded:
                self._put(None)
            if not self._live:
                return
            self._stopping.wait(POLL)

    def drain(self) -> bool:
        """Take in what has come; whether anything looks different."""
        self._announced = False
        changed = False
        while True:
            try:
                item = self._waiting.get_nowait()
            except Empty:
                break
            changed = True
            if item is None:
                self.loaded = True
            elif isinstance(item, Places):
                self._take_places(item)
            elif isinstance(item, _Digests):
                if item.generation == self.index.generation:
                    self._keep(item.texts)
            elif isinstance(item, _SheetMade):
                self._sheet = item.key, item.lines
            elif item.version == self._version:
                self._marks.view[item.rows] = 1
                self.searched = item.searched
                self._rows = None
        return changed

    def _take_places(self, places: Places) -> None:
        before = len(self.index)
        first = self.index.add(places)
        if first < before:
            for row in [row for row in self._digests if row >= first]:
                del self._digests[row]
            self._sheet = None
        if self.wanted is not None:
            if first < before:
                self._marks.cut(first)
                self._begin_search(min(first, self.searched))
            self._mark_kinds()
            self._looker.extend(self._columns())
        self._rows = None

    # Rows that are shown

    @property
    def rows(self) -> Rows | None:
        """The rows that pass the filter; None: all."""
        if self.wanted is None:
            return None
        if self._rows is None:
            self._rows = np.flatnonzero(self._marks.view)
        return self._rows

    def find(self, wanted: TextFilter | None) -> None:
        """Show only rows whose kind or digest matches."""
        self.wanted = wanted if wanted else None
        self._marks.clear()
        self._rows = None
        if self.wanted is None:
            self.searched = 0
            self._version += 1
            self._looker.search(None, self._columns())
            return
        matches = self.wanted.matches
        self._kinds = frozenset(kind for kind in range(256) if matches(kind_name(kind)))
        self._mark_kinds()
        self._begin_search(0)

    @property
    def search_progress(self) -> float:
        """Share of the rows that has been searched, 0 to 1."""
        return self.searched / len(self.index) if len(self.index) else 1.0

    def _begin_search(self, at: int) -> None:
        assert self.wanted is not None
        self._version += 1
        self.searched = at
        words = [word.encode() for word in self.wanted.words if not any(word in own for own in OWN_WORDS)]
        self._looker.search(_Search(self._version, self.wanted, self._kinds, at, words), self._columns())

    def _mark_kinds(self) -> None:
        """Mark rows that are new: those whose kind matches are found without a look."""
        kinds = self.index.columns()[2][len(self._marks) :]
        self._marks.append(np.isin(kinds, list(self._kinds)).astype(np.uint8))

    def _columns(self) -> Columns:
        return *self.index.columns(), self.index.origin

    # What is shown of them

    def place(self, row: int) -> Place:
        index = self.index
        return Place(index.offset(row), index.length(row), index.number(row), index.reason(row), index.origin)

    def digests(self, rows: Iterable[int]) -> dict[int, str]:
        """The digests of these rows, as far as they are there; the others will come."""
        rows = list(rows)
        index = self.index
        missing = [row for row in rows if row not in self._digests]
        self._keep({row: index.reason(row) for row in missing if index.is_damage(row)})
        missing = [row for row in missing if not index.is_damage(row)]
        short = [row for row in missing if index.length(row) <= AT_ONCE]
        left = AT_ONCE
        for run in _runs(short, index):
            left -= index.offset(run[-1]) + index.length(run[-1]) - index.offset(run[0])
            last = run[-1]
            found = _read(self.log, index.offset(run[0]), index.offset(last), index.length(last), index.origin)
            self._keep({row: digest_of(found.get(index.offset(row))) for row in run})
            if left < 0:
                break
        late = [row for row in missing if row not in self._digests]
        if late:
            self._looker.make_digests(index.generation, [(row, self.place(row)) for row in late])
        return {row: self._digests[row] for row in rows if row in self._digests}

    def _keep(self, texts: dict[int, str]) -> None:
        self._digests.update(texts)
        while len(self._digests) > KEPT:
            self._digests.popitem(last=False)

    def sheet(self, row: int, form: Form) -> list[str] | None:
        """The lines of a record; None while they are being made."""
        key = (self.index.generation, row, form)
        if self._sheet is not None and self._sheet[0] == key:
            return self._sheet[1]
        place = self.place(row)
        if place.length <= AT_ONCE:
            self._sheet = key, place.sheet(self.log, form)
            return self._sheet[1]
        if self._sheet_asked != key:
            self._sheet_asked = key
            self._looker.make_sheet(key, place)
        return None

    def json(self, row: int) -> str:
        """The line of `leet inspect --json` of a record; empty for damage."""
        return self.place(row).json(self.log)


def _runs(rows: list[int], index: RecordIndex) -> Iterable[list[int]]:
    """Rows in runs that lie close to each other, so that each is read at once."""
    run: list[int] = []
    for row in rows:
        if run and index.offset(row) - index.offset(run[0]) > AT_ONCE:
            yield run
            run = []
        run.append(row)
    if run:
        yield run


def _read(log: Path, start: int, end: int, length: int, origin: int) -> dict[int, bytes]:
    """As `read_records`; nothing where the log is gone."""
    try:
        return read_records(log, start, end, length, origin)
    except OSError:
        return {}
