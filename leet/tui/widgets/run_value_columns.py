"""Columns of the list of runs that a person has chosen: settings, results and other values of each run.

summary.loss   numbers stand with their points below each other, right in the column
    0.5336
   12.1
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len

from leet.charts.lettering import shorten
from leet.model.run_value import RunValue
from leet.tui.widgets.painted import cut, pad

if TYPE_CHECKING:
    from leet.model.run_entry import RunEntry

SAMPLE = 500
"""Runs that are looked at to find how wide a column is."""
GAP = 2
"""Cells before a column."""
LEAST, MOST = 5, 16
"""Cells that a column has without the gap."""


@dataclass(frozen=True, slots=True)
class ValueColumn:
    """A column: its value, its width in cells with the gap before it, and how its texts stand in it."""

    value: RunValue
    width: int
    right: bool
    """All of its texts are numbers."""
    fraction: int = 0
    """Cells behind the place of the point."""

    @property
    def title(self) -> str:
        title = self.value.title
        room = self.width - GAP
        return shorten(title, room) if cell_len(title) == len(title) else cut(title, room)

    def head(self, arrow: str) -> str:
        """The title in the width of the column, with the arrow of what is sorted by."""
        room = self.width - GAP - len(arrow)
        title = self.title if cell_len(self.title) <= room else cut(self.title, room)
        return self._placed(title + arrow)

    def cell(self, entry: RunEntry, now: float) -> str:
        """The value of a run in the width of the column."""
        text = self.value.text(entry, now)
        if self.right and text and self.fraction:
            _, fraction = _parts(text)
            if fraction is not None:
                text += " " * (self.fraction - fraction)
        return self._placed(cut(text, self.width - GAP))

    def _placed(self, text: str) -> str:
        room = self.width - GAP
        return " " * GAP + (" " * (room - cell_len(text)) + text if self.right else pad(text, room))


def value_columns(values: Sequence[RunValue], entries: Sequence[RunEntry], now: float) -> tuple[ValueColumn, ...]:
    """The columns for these values, as wide as the values of the first of the runs are."""
    return tuple(_column(value, [value.text(entry, now) for entry in entries[:SAMPLE]]) for value in values)


def _column(value: RunValue, texts: Sequence[str]) -> ValueColumn:
    texts = [text for text in texts if text]
    right = bool(texts) and all(map(_is_number, texts))
    longest = max(map(cell_len, texts), default=0)
    fraction = 0
    if right:
        parts = [_parts(text) for text in texts]
        behind = max((after for _, after in parts if after is not None), default=0)
        before = max((whole for whole, after in parts if after is not None), default=0)
        if before + behind <= MOST:
            fraction, longest = behind, max(longest, before + behind)
    # One cell of the title is for the arrow.
    width = max(LEAST, min(MOST, max(longest, cell_len(value.title) + 1)))
    return ValueColumn(value, width + GAP, right, fraction)


def _is_number(text: str) -> bool:
    try:
        float(text.rstrip("kMGTP%"))
    except ValueError:
        return False
    return True


def _parts(text: str) -> tuple[int, int | None]:
    """Cells before the point, and with it and behind it; None where a text has an exponent and stands at the right."""
    if any(char in text for char in "eEkMGTPn"):
        return len(text), None
    whole, point, rest = text.partition(".")
    return len(whole), len(point + rest)
