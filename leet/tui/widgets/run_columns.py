"""The columns of the list of runs, and the mark at the start of each row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

UNSELECTED, SELECTED, PINNED = "○", "●", "▶"

MARK_WIDTH = 2
_SIGN, _WORD, _AGE, _STEP = 2, 11, 8, 9
_LEAST_NAME, _MOST_TAGS = 12, 32


@dataclass(frozen=True, slots=True)
class Mark:
    """How a run is shown: whether its curves are drawn, and in which colour (a name that Rich knows, "" for none)."""

    selected: bool = False
    pinned: bool = False
    color: str = ""

    @property
    def sign(self) -> str:
        return PINNED if self.pinned else SELECTED if self.selected else UNSELECTED


@dataclass(frozen=True, slots=True)
class Columns:
    """Widths of the columns in cells; 0: not shown."""

    name: int
    sign: int
    word: int
    age: int
    step: int
    tags: int
    values: tuple[int, ...] = ()
    """Of the columns that a person has chosen, as many as are shown: the last of them go first."""

    @classmethod
    def share(cls, width: int, values: Sequence[int] = ()) -> Columns:
        """As many columns as there is room for beside a readable name: those that were chosen (their widths) first."""
        room = max(0, width - MARK_WIDTH - 1)
        taken = {"sign": 0, "age": 0, "step": 0, "word": 0, "tags": 0}
        if room - _SIGN >= 8:
            taken["sign"] = _SIGN
            room -= _SIGN
        shown = []
        for wide in values:
            if room - wide < _LEAST_NAME:
                break
            shown.append(wide)
            room -= wide
        for name, wide, least in (
            ("age", _AGE, _LEAST_NAME),
            ("step", _STEP, _LEAST_NAME + 2),
            ("word", _WORD - _SIGN, 20),
        ):
            if room - wide >= least:
                taken[name] = wide
                room -= wide
        if room >= 40:
            taken["tags"] = min(_MOST_TAGS, room - 28)
            room -= taken["tags"]
        sign, word, age, step, tags = (taken[name] for name in ("sign", "word", "age", "step", "tags"))
        return cls(room, sign, word, age, step, tags, tuple(shown))
