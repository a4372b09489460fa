"""What differs between runs: a table with a row for each setting or result that is not the same in all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from rich.cells import cell_len
from rich.style import Style
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.strip import Strip

from leet.charts.lettering import shorten
from leet.charts.short_names import short_names
from leet.model.natural import natural_sorted
from leet.model.run_entry import RunEntry
from leet.model.safe_text import clean
from leet.model.units import format_value
from leet.tui.commands import Place, bindings, hints
from leet.tui.run_labels import RunLabels
from leet.tui.screens.overlay import Overlay
from leet.tui.span_update import SpanScreen
from leet.tui.widgets.painted import Painted, cut, pad, strip_of
from leet.tui.widgets.status_line import Part, StatusLine

Table = list[tuple[str, list[str]]]
"""(name, text for each run) of each row; a name alone is a heading."""

_WIDEST_KEY = 32
_WIDEST = 22


def differing(entries: Sequence[RunEntry]) -> Table:
    """What is not the same in all of these runs, in their order: config, then results; "" where a run has none."""
    config = [{key: clean(text) for key, text in entry.config.items()} for entry in entries]
    results = [{key: _text(value) for key, value in entry.summary.items() if key[:1] != "_"} for entry in entries]
    table: Table = []
    for title, sides in (("Config", config), ("Results", results)):
        names = natural_sorted({name for side in sides for name in side})
        rows = [(name, [side.get(name, "") for side in sides]) for name in names]
        rows = [row for row in rows if len(set(row[1])) > 1]
        if rows:
            table += [(title, []), *rows]
    return table


def _text(value: object) -> str:
    if isinstance(value, float):
        return format_value(value)
    return clean(str(value))


class CompareTable(Painted, can_focus=True):
    """The table: runs side by side, rows below each other; the names stay while one moves through it."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"compare--name", "compare--value", "compare--title", "compare--run"}
    DEFAULT_CSS = """
    CompareTable {
        height: 1fr;
        .compare--name { color: $foreground 60%; }
        .compare--value { color: $foreground; }
        .compare--title { color: $accent; text-style: bold; }
        .compare--run { color: $foreground; text-style: bold; }
        &:ansi .compare--name { color: ansi_default; }
    }
    """

    def __init__(self, runs: Sequence[tuple[str, str]], table: Table) -> None:
        """`runs`: (name, colour) of each column, the colour empty where there is none."""
        super().__init__(id="compare")
        names = tuple(name for name, _ in runs)
        if all(cell_len(name) == len(name) for name in names):
            names = short_names(names, _WIDEST - 2)
        self._runs = list(zip(names, (color for _, color in runs), strict=True))
        self._table = table
        self._top = 0
        self._left = 0
        self._key_width = min(_WIDEST_KEY, max((cell_len(name) for name, _ in table), default=0) + 2)
        self._widths = [
            min(_WIDEST, max(cell_len(name) + 2, *(cell_len(texts[i]) for _, texts in table if texts), 6)) + 2
            for i, (name, _) in enumerate(self._runs)
        ]

    @property
    def place(self) -> str:
        """Which part of the table is seen."""
        first, last = self._top + 1, min(self._top + self._room, len(self._table))
        return f"rows {first}–{last} of {len(self._table)}, runs {self._left + 1}–{self._last} of {len(self._runs)}"

    @property
    def _room(self) -> int:
        return max(1, self.size.height - 1)

    @property
    def _last(self) -> int:
        """Number, from 1, of the last run that is seen in full, or of the only one."""
        x, last = self._key_width, self._left
        for width in self._widths[self._left :]:
            x += width
            if x > self.size.width and last > self._left:
                break
            last += 1
        return last

    def action_move(self, direction: Literal["up", "down", "left", "right"]) -> None:
        if direction in ("up", "down"):
            self._go(self._top + (1 if direction == "down" else -1), self._left)
        else:
            self._go(self._top, self._left + (1 if direction == "right" else -1))

    def action_next_page(self) -> None:
        self._go(self._top + self._room, self._left)

    def action_previous_page(self) -> None:
        self._go(self._top - self._room, self._left)

    def action_first_page(self) -> None:
        self._go(0, 0)

    def action_last_page(self) -> None:
        self._go(len(self._table), self._left)

    def _go(self, top: int, left: int) -> None:
        self._top = max(0, min(top, len(self._table) - self._room))
        self._left = max(0, min(left, len(self._runs) - 1))
        if self._last == len(self._runs) and left > self._left - 1:
            while self._left > 0 and self._fits(self._left - 1):
                self._left -= 1
        self.repaint()

    def _fits(self, left: int) -> bool:
        """Whether all runs from this one on are seen at once."""
        return self._key_width + sum(self._widths[left:]) <= self.size.width

    def on_mouse_scroll_down(self) -> None:
        self._go(self._top + 3, self._left)

    def on_mouse_scroll_up(self) -> None:
        self._go(self._top - 3, self._left)

    def paint(self, width: int, height: int) -> list[Strip]:
        if not self._table:
            return [strip_of(("", Style())), strip_of(("  These runs do not differ.", self.part("compare--value")))]
        columns = list(zip(self._runs, self._widths, strict=True))[self._left :]
        head: list[tuple[str, Style]] = [(" " * self._key_width, self.part("compare--name"))]
        for (name, color), wide in columns:
            style = self.part("compare--run")
            head += [("● ", style + Style(color=color) if color else style), (pad(name, wide - 4) + "  ", style)]
        lines = [strip_of(*head)]
        for name, texts in self._table[self._top : self._top + height - 1]:
            if not texts:
                lines.append(strip_of((pad(f" {name}", width), self.part("compare--title"))))
                continue
            shown = shorten(name, self._key_width - 2) if cell_len(name) == len(name) else name
            row = [(pad(f" {shown}", self._key_width), self.part("compare--name"))]
            for text, (_, wide) in zip(texts[self._left :], columns, strict=True):
                row.append((pad(cut(text, wide - 2) if text else "–", wide), self.part("compare--value")))
            lines.append(strip_of(*row))
        return [line.crop(0, width) if line.cell_length > width else line for line in lines]


class CompareScreen(SpanScreen[None], Overlay[None]):
    """The selected runs side by side."""

    PLACE: ClassVar[Place] = "compare"
    BINDINGS: ClassVar[list[BindingType]] = bindings("compare")

    def __init__(self, entries: Sequence[RunEntry], colors: Sequence[str]) -> None:
        """`colors`: of each run, empty for none."""
        super().__init__()
        labels = RunLabels(entries)
        names = [(labels.of(entry), color) for entry, color in zip(entries, colors, strict=True)]
        self.table = CompareTable(names, differing(entries))
        self._count = len(entries)

    def compose(self) -> ComposeResult:
        yield self.table
        yield StatusLine(id="status")

    def on_mount(self) -> None:
        self.table.focus()
        self.call_after_refresh(self._show_status)

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_status)

    def _show_status(self) -> None:
        what = f"what differs between {self._count} runs"
        parts = [Part(what, "status--strong", rank=6), Part(self.table.place, rank=8)]
        self.query_one(StatusLine).show(parts, hints("compare"))

    def action_pane(self, action: str, *arguments: object) -> None:
        getattr(self.table, f"action_{action}")(*arguments)
        self._show_status()

    def action_back(self) -> None:
        self.dismiss()

    def action_help(self) -> None:
        from leet.tui.screens.help_screen import HelpScreen

        self.app.push_screen(HelpScreen(self.PLACE))
