"""Meters of the machine, one to a line; and the line that names the machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len
from textual.strip import Strip

from leet.model.vitals import Vital
from leet.tui.widgets.painted import Painted, cut, pad, strip_of

LABEL = 9
SHORTEST_BAR = 6
WARN, BAD = 75.0, 92.0
"""Per cent from which on a meter changes its colour."""


class Vitals(Painted):
    """Shows as many rows as there is room for; it is told which."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "vitals--label",
        "vitals--text",
        "vitals--quiet",
        "vitals--good",
        "vitals--warn",
        "vitals--bad",
        "vitals--empty",
    }
    DEFAULT_CSS = """
    Vitals {
        & > .vitals--label { color: $foreground 70%; }
        & > .vitals--text { color: $foreground; }
        & > .vitals--quiet { color: $foreground 55%; }
        & > .vitals--good { color: $success; }
        & > .vitals--warn { color: $warning; }
        & > .vitals--bad { color: $error; }
        & > .vitals--empty { color: $foreground 20%; }
    }
    Vitals:ansi {
        & > .vitals--label, & > .vitals--quiet { color: ansi_default; }
        & > .vitals--empty { color: ansi_bright_black; }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's name
        super().__init__(id=id)
        self._rows: Sequence[Vital] = ()

    def show(self, rows: Sequence[Vital]) -> None:
        self._rows = rows
        self.repaint()

    def paint(self, width: int, height: int) -> list[Strip]:
        rows = fitting(self._rows, height)
        figures = max((cell_len(row.text) for row in rows if row.percent is not None), default=0)
        return [self._line(row, width, figures) for row in rows]

    def _line(self, row: Vital, width: int, figures: int) -> Strip:
        """`figures`: columns that the longest text beside a meter takes, so that the meters end below each other."""
        if not row.label:
            return strip_of((" " + cut(row.text, width - 1), self.part("vitals--quiet")))
        label = pad(row.label, LABEL)
        text = cut(row.text, width - LABEL - 2)
        start = (f" {label}", self.part("vitals--label"))
        room = width - LABEL - 3 - figures
        if row.percent is None or room < SHORTEST_BAR:
            return strip_of(start, (text, self.part("vitals--text")))
        share = min(max(row.percent, 0.0), 100.0) / 100
        # Nothing is drawn for nothing only, and a full bar for all only.
        filled = min(max(int(share * room + 0.5), share >= 0.01), room if share >= 0.995 else room - 1)
        tone = "bad" if row.percent >= BAD else "warn" if row.percent >= WARN else "good"
        return strip_of(
            start,
            ("█" * filled, self.part(f"vitals--{tone}")),
            ("─" * (room - filled), self.part("vitals--empty")),
            ("  " + text, self.part("vitals--text")),
        )


def fitting(rows: Sequence[Vital], height: int) -> list[Vital]:
    """As many rows as fit, without those of the lowest ranks."""
    kept = list(rows)
    while len(kept) > max(0, height):
        kept.remove(min(reversed(kept), key=lambda row: row.rank))
    return kept


class HostLine(Painted):
    """`node-3 • up 3 d 4 h • load 0.52 0.40 0.33 • 12:33`"""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"host--name", "host--text", "host--recording"}
    DEFAULT_CSS = """
    HostLine {
        height: 1;
        & > .host--name { color: $accent; text-style: bold; }
        & > .host--text { color: $foreground 70%; }
        & > .host--recording { color: $error; text-style: bold; }
    }
    HostLine:ansi { & > .host--text { color: ansi_default; } }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's name
        super().__init__(id=id)
        self._parts: Sequence[str] = ()
        self._recording = ""

    def show(self, parts: Sequence[str], recording: str) -> None:
        """`recording`: what is said at the right while a run is written."""
        self._parts, self._recording = parts, recording
        self.repaint()

    def paint(self, width: int, height: int) -> list[Strip]:
        parts = list(self._parts)
        recording = cut(f"● {self._recording} " if self._recording else "", width // 2)
        while len(parts) > 1 and cell_len(" • ".join(parts)) + cell_len(recording) + 2 > width:
            parts.pop()
        name = cut(parts[0] if parts else "", width - 2)
        rest = "".join(f" • {part}" for part in parts[1:])
        gap = max(0, width - 1 - cell_len(name) - cell_len(rest) - cell_len(recording))
        text = self.part("host--text")
        return [
            strip_of(
                (" ", text),
                (name, self.part("host--name")),
                (rest + " " * gap, text),
                (recording, self.part("host--recording")),
            )
        ]
