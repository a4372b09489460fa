"""Which rows of which sections the overview shows: all of them, or those that pass a filter.

Few rows are filtered in one go. Of many, those that pass are sought in slices of time: who shows them calls `sift`
until none are left.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from time import monotonic

SOME = 64
"""Rows between two looks at the clock."""
AT_ONCE_SECONDS = 0.02
"""For which rows that pass a filter are sought before what has been typed is on the screen."""
AGAIN_AFTER = 20.0
"""Times as long as it took to filter many rows, until that is done again because their values have changed."""
FEW = 1000
"""Rows that are filtered in one go."""


@dataclass(frozen=True, slots=True)
class Row:
    """A key with its value, both plain text; `tone` is the component class that colours the value."""

    key: str
    value: str
    tone: str = "overview--value"


@dataclass(frozen=True, slots=True)
class Section:
    """A titled list of rows. The first section of an overview has no title."""

    title: str
    rows: Sequence[Row]
    weight: float = 1.0


@dataclass(slots=True)
class ShownSection:
    """A section as it lies on the screen: which rows pass the filter, and from which row on it is seen.

    While `sieve` has rows that have not been looked at, `kept` has those that pass; `rows` are these or those before.
    """

    section: Section
    rows: Sequence[Row]
    total: int
    top: int = 0
    height: int = 0
    y: int = 0
    key_width: int = 0
    sieve: Iterator[Row] | None = None
    kept: list[Row] = field(default_factory=list)


Keep = Callable[[Row], bool]


class ShownSections:
    """The sections of an overview in their order, and the filter that their rows pass."""

    def __init__(self) -> None:
        self._sections: list[ShownSection] = []
        self.keep: Keep | None = None
        """Whether a row passes; None: all do."""
        self.late: Sequence[Section] | None = None
        """What is to be shown as soon as the filter may be used again."""
        self._again_at = 0.0
        self._sifted = 0.0
        """Seconds of work that the filter has taken so far."""

    def __len__(self) -> int:
        return len(self._sections)

    def __getitem__(self, at: int) -> ShownSection:
        return self._sections[at]

    def __iter__(self) -> Iterator[ShownSection]:
        return iter(self._sections)

    @property
    def count(self) -> tuple[int, int]:
        """(rows shown, rows in all)."""
        return sum(len(s.rows) for s in self._sections), sum(s.total for s in self._sections)

    @property
    def left(self) -> bool:
        """There are rows that have not been looked at."""
        return any(shown.sieve is not None for shown in self._sections)

    @property
    def wait(self) -> float:
        """Seconds until the filter may be used again; below 0 once it may."""
        return self._again_at - monotonic()

    def show(self, sections: Sequence[Section]) -> None:
        """Have these sections; scroll positions stay with their rows' numbers."""
        before = {shown.section.title: shown for shown in self._sections}
        self.late = None
        self._sections = [self._renewed(section, before.get(section.title)) for section in sections]
        if any(shown.section.rows is not section.rows for shown, section in zip(self._sections, sections, strict=True)):
            self.late = sections
        self.sift(AT_ONCE_SECONDS)

    def filter(self, keep: Keep | None) -> None:
        """Have only rows that `keep` accepts (None: all)."""
        self.keep = keep
        self._sections = [self._filtered(shown.section, 0) for shown in self._sections]
        if keep is not None:
            for shown in self._sections:
                shown.rows = shown.kept
        self._sifted = 0.0
        self.sift(AT_ONCE_SECONDS)

    def sift(self, seconds: float) -> None:
        """Look for rows that pass for about so long in each section."""
        for shown in self._sections:
            if shown.sieve is not None:
                began = monotonic()
                self._go_through(shown, began + seconds)
                self._sifted += monotonic() - began
        if self._sifted and not self.left:
            self._again_at, self._sifted = monotonic() + AGAIN_AFTER * self._sifted, 0.0

    def _filtered(self, section: Section, top: int) -> ShownSection:
        shown = ShownSection(section, section.rows, len(section.rows), top)
        if self.keep is not None:
            shown.sieve = iter(section.rows)
            if len(section.rows) <= FEW:
                self._go_through(shown, math.inf)
        return shown

    def _renewed(self, section: Section, before: ShownSection | None) -> ShownSection:
        """A section whose values may have changed. Of many rows those that pass stay until the new ones are known."""
        if before is None or self.keep is None or len(section.rows) <= FEW:
            return self._filtered(section, before.top if before is not None else 0)
        if before.sieve is None and before.section.rows is not section.rows and self.wait <= 0:
            renewed = self._filtered(section, before.top)
            renewed.rows, self._sifted = before.rows, 0.0
            return renewed
        return before

    def _go_through(self, shown: ShownSection, end: float) -> None:
        """Look at rows until then by the clock; whether they pass is known of all when there is no sieve any more."""
        keep, sieve = self.keep, shown.sieve
        while keep is not None and sieve is not None:
            some = list(islice(sieve, SOME))
            shown.kept += [row for row in some if keep(row)]
            if len(some) < SOME:
                shown.sieve, shown.rows = None, shown.kept
                return
            if monotonic() >= end:
                return
