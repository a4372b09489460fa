"""What differs between runs: a table with a row for each setting or result that is not the same in all of them.

      = trial-5      ● trial-0
loss  0.2*           0.5  +0.3 +150%
│     │ the best     │    │ how far it is from the run that was made the baseline (=), and in percent of it
name  value          value
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, Literal

from rich.cells import cell_len
from rich.style import Style
from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message
from textual.strip import Strip

from leet.charts.lettering import shorten
from leet.charts.short_names import short_names
from leet.model.run_difference import DifferingRow, change, differing
from leet.model.run_entry import RunEntry
from leet.tui.commands import Place, bindings, hints
from leet.tui.run_labels import RunLabels
from leet.tui.screens.overlay import Overlay
from leet.tui.span_update import SpanScreen
from leet.tui.widgets.painted import Painted, cut, pad, strip_of
from leet.tui.widgets.status_line import Part, StatusLine

_WIDEST_KEY = 32
_WIDEST = 22
_WIDEST_CHANGE = 20
_BEST = "*"

Table = list[DifferingRow | str]
"""Rows, and headings between them."""


def table_of(entries: Sequence[RunEntry]) -> Table:
    """What is not the same in all of these runs, in their order: config, then results."""
    table: Table = []
    for title, tree in (("Config", "config"), ("Results", "summary")):
        rows = differing(entries, tree)
        if rows:
            table += [title, *rows]
    return table


class CompareTable(Painted, can_focus=True):
    """The table: runs side by side, rows below each other; the names stay while one moves through it."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "compare--name",
        "compare--value",
        "compare--title",
        "compare--run",
        "compare--best",
        "compare--change",
        "compare--cursor",
    }
    DEFAULT_CSS = """
    CompareTable {
        height: 1fr;
        .compare--name { color: $foreground 60%; }
        .compare--value { color: $foreground; }
        .compare--title { color: $accent; text-style: bold; }
        .compare--run { color: $foreground; text-style: bold; }
        .compare--best { color: $success; text-style: bold; }
        .compare--change { color: $foreground 60%; }
        .compare--cursor { background: $block-cursor-background; color: $block-cursor-foreground; text-style: bold; }
        &:ansi .compare--name { color: ansi_default; }
        &:ansi .compare--change { color: ansi_default; }
        &:ansi .compare--cursor { background: ansi_default; color: ansi_default; text-style: reverse; }
    }
    """

    def __init__(self, runs: Sequence[tuple[str, str]], table: Table, baseline: int | None = None) -> None:
        """`runs`: (name, colour) of each column, the colour empty where there is none; `baseline`: one of them."""
        super().__init__(id="compare")
        short = tuple(name for name, _ in runs)
        if all(cell_len(name) == len(name) for name in short):
            short = short_names(short, _WIDEST - 2)
        self._runs = list(zip(short, (color for _, color in runs), strict=True))
        self._table = table
        self.baseline = baseline
        self.run = 0
        """The run under the cursor."""
        self._top = 0
        self._left = 0
        names = (row if isinstance(row, str) else row.name for row in table)
        self._key_width = min(_WIDEST_KEY, max(map(cell_len, names), default=0) + 2)
        self._widths: list[int] = []
        self._changes: list[int] = []
        """Cells of each column for values, and for differences."""
        self._measure()

    def _measure(self) -> None:
        rows = [row for row in self._table if not isinstance(row, str)]
        self._widths, self._changes = [], []
        for i, (name, _) in enumerate(self._runs):
            value = min(_WIDEST, max((cell_len(row.texts[i]) + (i in row.best) for row in rows), default=1) + 2)
            told = max((cell_len(text) for row in rows if (text := self._change(row, i))), default=0)
            told = min(_WIDEST_CHANGE, told + 2) if told else 0
            self._changes.append(told)
            self._widths.append(max(value + told, min(_WIDEST, cell_len(name) + 2) + 2, 8))

    def _change(self, row: DifferingRow, run: int) -> str:
        if self.baseline is None or run == self.baseline:
            return ""
        if row.numbers[run] is None or row.numbers[self.baseline] is None:
            return "=" if row.texts[run] == row.texts[self.baseline] else ""
        return change(row.numbers[run], row.numbers[self.baseline])

    def action_baseline(self) -> None:
        """The run under the cursor is what the others are held against; or no longer."""
        self.baseline = None if self.baseline == self.run else self.run
        self._measure()
        self._go(self._top)

    def on_click(self, event: events.Click) -> None:
        """On the head of a column: that run; again: the baseline."""
        x = self._key_width
        for run, wide in enumerate(self._widths[self._left :], self._left):
            if x <= event.x < x + wide:
                again = run == self.run and event.y == 0
                self.run = run
                if again:
                    self.action_baseline()
                self.post_message(self.RunChosen())
                self.repaint()
                return
            x += wide

    class RunChosen(Message):
        """Another run is under the cursor, or the baseline."""

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
            self._go(self._top + (1 if direction == "down" else -1))
        else:
            self.run = max(0, min(self.run + (1 if direction == "right" else -1), len(self._runs) - 1))
            self._go(self._top)

    def action_next_page(self) -> None:
        self._go(self._top + self._room)

    def action_previous_page(self) -> None:
        self._go(self._top - self._room)

    def action_first_page(self) -> None:
        self.run = 0
        self._go(0)

    def action_last_page(self) -> None:
        self._go(len(self._table))

    def _go(self, top: int) -> None:
        """Look at the rows from this one on, and at the run under the cursor."""
        self._top = max(0, min(top, len(self._table) - self._room))
        self._left = min(self._left, self.run)
        while self._last <= self.run and self._left < self.run:
            self._left += 1
        while self._left > 0 and self._fits(self._left - 1):
            self._left -= 1
        self.repaint()

    def _fits(self, left: int) -> bool:
        """Whether all runs from this one on are seen at once."""
        return self._key_width + sum(self._widths[left:]) <= self.size.width

    def on_resize(self) -> None:
        self._go(self._top)

    def on_mouse_scroll_down(self) -> None:
        self._go(self._top + 3)

    def on_mouse_scroll_up(self) -> None:
        self._go(self._top - 3)

    def paint(self, width: int, height: int) -> list[Strip]:
        if not self._table:
            return [strip_of(("", Style())), strip_of(("  These runs do not differ.", self.part("compare--value")))]
        runs = range(self._left, len(self._runs))
        head: list[tuple[str, Style]] = [(" " * self._key_width, self.part("compare--name"))]
        for run in runs:
            (name, color), wide = self._runs[run], self._widths[run]
            plain = self.part("compare--run")
            here = self.part("compare--cursor") if run == self.run else plain
            sign = "= " if run == self.baseline else "● "
            head += [(sign, plain + Style(color=color) if color else plain), (pad(name, wide - 4), here), ("  ", plain)]
        lines = [strip_of(*head)]
        for row in self._table[self._top : self._top + height - 1]:
            if isinstance(row, str):
                lines.append(strip_of((pad(f" {row}", width), self.part("compare--title"))))
                continue
            shown = shorten(row.name, self._key_width - 2) if cell_len(row.name) == len(row.name) else row.name
            cells = [(pad(f" {shown}", self._key_width), self.part("compare--name"))]
            for run in runs:
                cells += self._cell(row, run)
            lines.append(strip_of(*cells))
        return [line.crop(0, width) if line.cell_length > width else line for line in lines]

    def _cell(self, row: DifferingRow, run: int) -> list[tuple[str, Style]]:
        """A value, marked where it is the best of its row, and how far it is from the baseline."""
        wide, told = self._widths[run], self._changes[run]
        best = run in row.best
        text = row.texts[run] or "–"
        text = cut(text, wide - told - 2 - best) + _BEST * best
        style = self.part("compare--best" if best else "compare--value")
        return [
            (pad(text, wide - told), style),
            (pad(cut(self._change(row, run), told - 2), told) if told else "", self.part("compare--change")),
        ]


class CompareScreen(SpanScreen[None], Overlay[None]):
    """The selected runs side by side."""

    PLACE: ClassVar[Place] = "compare"
    BINDINGS: ClassVar[list[BindingType]] = bindings("compare")

    def __init__(
        self,
        entries: Sequence[RunEntry],
        colors: Sequence[str],
        baseline: str = "",
        keep: Callable[[str], None] = lambda key: None,
        scatter: Callable[[], None] = lambda: None,
    ) -> None:
        """`colors`: of each run, empty for none. `keep` is told the key of another baseline, empty for none.

        `scatter` shows settings of these runs against their results.
        """
        super().__init__()
        labels = RunLabels(entries)
        names = [(labels.of(entry), color) for entry, color in zip(entries, colors, strict=True)]
        held = next((at for at, entry in enumerate(entries) if entry.key == baseline), None)
        self.table = CompareTable(names, table_of(entries), held)
        self._names = [name for name, _ in names]
        self._entries = entries
        self._keep = keep
        self._scatter = scatter
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
        if self.table.baseline is not None:
            parts.append(Part(f"against {self._names[self.table.baseline]}", "status--message", rank=7))
        self.query_one(StatusLine).show(parts, hints("compare"))

    def action_pane(self, action: str, *arguments: object) -> None:
        getattr(self.table, f"action_{action}")(*arguments)
        self._show_status()

    def action_baseline(self) -> None:
        """Hold the others against the run under the cursor, here and in the charts; or no longer."""
        self.table.action_baseline()
        self._keep_baseline()

    def on_compare_table_run_chosen(self, event: CompareTable.RunChosen) -> None:
        event.stop()
        self._keep_baseline()

    def _keep_baseline(self) -> None:
        at = self.table.baseline
        self._keep("" if at is None else self._entries[at].key)
        self._show_status()

    def action_scatter(self) -> None:
        self._scatter()

    def action_back(self) -> None:
        self.dismiss()

    def action_help(self) -> None:
        from leet.tui.screens.help_screen import HelpScreen

        self.app.push_screen(HelpScreen(self.PLACE))
