"""The records of one log for a screen: found by one thread, read again and searched by another.

    PlaceFinder ─► Places ──────────┐
                                    ├─► what waits for `drain` ─► index, digests, sheets, matches   (main loop)
    looker: sheet, digests, search ─┘

Short records are read at once when they are asked for; what may take longer is left to the looker, which does what
somebody is waiting for first, and one slice of a search when nobody is.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from leet.model.filter import TextFilter
from leet.model.growing import Growing
from leet.model.mailbox import Mailbox
from leet.model.record_index import RecordIndex, Rows
from leet.model.record_sheet import Form, digest_of
from leet.reading.record_places import PlaceFinder, Places, kind_name
from leet.tui.record_looker import (
    BREATH,
    Columns,
    Digests,
    Looker,
    Matches,
    Place,
    Search,
    SheetKey,
    SheetMade,
    read_again,
)

POLL = 0.5
"""Seconds between two looks at a log that may grow."""
AT_ONCE = 64 * 1024
"""Bytes of records that are read and taken apart while the screen waits."""
KEPT = 8192
"""Digests that are remembered."""
OWN_WORDS = ("step", "without", "true", "false", "null", "nan", "infinity", "cannot be decoded", "longer where it was")
"""Words of digests that need not be in the bytes of a record."""


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
        self._waiting: Mailbox[Places | Digests | SheetMade | Matches | None] = Mailbox()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._find, name=f"find records of {log.name}", daemon=True)
        self._looker = Looker(log, self._waiting.put)
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
        self._waiting.close()
        self._looker.stop()

    def listen(self, announce: Callable[[], None]) -> None:
        """`announce` is called on one of the threads."""
        self._waiting.listen(announce)

    def _find(self) -> None:
        while not self._stopping.is_set():
            for places in self._finder.look():
                if self._stopping.is_set():
                    return
                self._waiting.put(places)
                time.sleep(BREATH)
            if not self.loaded:
                self._waiting.put(None)
            if not self._live:
                return
            self._stopping.wait(POLL)

    def drain(self) -> bool:
        """Take in what has come; whether anything looks different."""
        changed = False
        for item in self._waiting.take():
            changed = True
            if item is None:
                self.loaded = True
            elif isinstance(item, Places):
                self._take_places(item)
            elif isinstance(item, Digests):
                if item.generation == self.index.generation:
                    self._keep(item.texts)
            elif isinstance(item, SheetMade):
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
        self._looker.search(Search(self._version, self.wanted, self._kinds, at, words), self._columns())

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
            found = read_again(self.log, index.offset(run[0]), index.offset(last), index.length(last), index.origin)
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
