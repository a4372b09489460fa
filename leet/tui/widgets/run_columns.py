"""The columns of the list of runs, and the mark at the start of each row."""

from __future__ import annotations

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

    @classmethod
    def share(cls, width: int) -> Columns:
        """As many columns as there is room for beside a readable name."""
        room = max(0, width - MARK_WIDTH - 1)
        taken = {"sign": 0, "age": 0, "step": 0, "word": 0, "tags": 0}
        for name, wide, least in (
            ("sign", _SIGN, 8),
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
        return cls(room, taken["sign"], taken["word"], taken["age"], taken["step"], taken["tags"])
