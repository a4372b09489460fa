"""Rows of the list of runs, and the titles over them: which column shows what, and in which colours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.style import Style
from textual.strip import Strip

from leet.charts.short_names import short_names
from leet.model.safe_text import clean
from leet.model.state import RunState
from leet.model.units import format_age, format_value
from leet.tui.facts import look
from leet.tui.run_labels import RunLabels
from leet.tui.widgets.painted import Painted, cut, pad, strip_of
from leet.tui.widgets.run_columns import MARK_WIDTH, Columns, Mark
from leet.tui.widgets.run_value_columns import ValueColumn
from leet.tui.widgets.tag_colors import tag_pieces

if TYPE_CHECKING:
    from leet.model.run_entry import RunEntry

MANY = 500
"""Runs beyond which a name is told apart from those alone that are seen with it."""
ASCENDING = ("name", "state")
"""What is sorted from the first to the last."""
DESCENDING = ("started", "step", "duration")
"""What is sorted from the latest or largest on; everything else as the sort says: `summary.loss`, `-summary.loss`."""


class RowNames:
    """What runs are called in their rows, told apart in as many cells as there are."""

    def __init__(self, entries: Sequence[RunEntry]) -> None:
        self._entries = entries
        self._labels = RunLabels(entries)
        self._plain: tuple[str, ...] = ()
        """Labels of a list that is not very long, once they are known."""

    def fitted(self, places: range, width: int) -> list[str]:
        """The names of the runs in these places, each in at most `width` cells."""
        short = self._short(places, width)
        labels = (self._labels.of(self._entries[place]) for place in places)
        return [short.get(label) or cut(label, width) for label in labels]

    def _short(self, places: range, width: int) -> Mapping[str, str]:
        """Label → what is shown of it, of those in which each character takes one cell.

        They are told apart in the whole list; in a very long one, those of the rows that are seen.
        """
        labels = self._plain
        if not labels:
            every = range(len(self._entries)) if len(self._entries) <= MANY else places
            told = (self._labels.of(self._entries[place]) for place in every)
            labels = tuple([label for label in told if cell_len(label) == len(label)])
            if every is not places:
                self._plain = labels
        return dict(zip(labels, short_names(labels, width), strict=True))


class RowPainter:
    """Paints rows and titles in the styles of a list of runs, as they are at one moment."""

    def __init__(
        self, widget: Painted, columns: Columns, values: Sequence[ValueColumn], width: int, now: float
    ) -> None:
        """`values`: the columns that a person has chosen, of which there may be more than `columns` has room for."""
        self._widget, self._columns, self._width, self._now = widget, columns, width, now
        self._values = values[: len(columns.values)]

    def titles(self, sort: str) -> Strip:
        """The titles of the columns, with an arrow at that which the list is sorted by."""
        columns = self._columns
        titles = (
            ("name", " " * (MARK_WIDTH + 1) + "name", MARK_WIDTH + 1 + columns.name, False),
            ("state", "state" if columns.word else "", columns.sign + columns.word, False),
            ("started", "age", columns.age, True),
            ("step", "step", columns.step, True),
            ("tag", "  tags", columns.tags, False),
        )
        text = ""
        for name, title, wide, right in titles:
            shown = title + (_arrow(name, sort) if title.strip() else "")
            text += cut(shown, wide).rjust(wide) if right else pad(shown, wide)
            if name == "state":
                text += "".join(column.head(_arrow(column.value.name, sort)) for column in self._values)
        return strip_of((pad(text, self._width), self._widget.part("runs--title")))

    def row(
        self, entry: RunEntry, name: str, state: RunState, mark: Mark, *, odd: bool, cursor: bool, dim: bool
    ) -> Strip:
        """A run under its name; `odd`: in an odd place of the list; `dim`: its mark is pale."""
        part, columns = self._widget.part, self._columns
        marked = Style(color=mark.color or None) if mark.color else part("runs--quiet")
        if dim:
            marked += Style(dim=True)
        sign, tone = look(state) if entry.known or entry.trouble else ("·", "quiet")
        quiet = part("runs--quiet")
        pieces: list[tuple[str, Style]] = [
            (" ", Style()),
            (pad(mark.sign, MARK_WIDTH), marked),
            (pad(name, columns.name), part("runs--name")),
        ]
        if columns.sign:
            word = state.word if entry.known or entry.trouble else ""
            text = pad(f"{sign} {word}" if columns.word else sign, columns.sign + columns.word)
            pieces.append((text, part(f"runs--{tone}")))
        pieces += [(column.cell(entry, self._now), part("runs--name")) for column in self._values]
        if columns.age:
            age = format_age(self._now - entry.started) if entry.started is not None else ""
            pieces.append((cut(age, columns.age - 1).rjust(columns.age), quiet))
        if columns.step:
            step = "" if entry.step is None else _count(entry.step)
            pieces.append((cut(step, columns.step - 1).rjust(columns.step), quiet))
        if columns.tags:
            text = pad("  " + clean(", ".join(entry.tags)), columns.tags)
            pieces += tag_pieces(self._widget, text, part("runs--tag"))
        ground = self._ground(odd, cursor)
        if ground.reverse or (ground.color and self._widget.has_focus):
            # On the cursor, colours of the theme would be unreadable: the mark alone keeps its own.
            pieces = [(text, Style() if i != 1 else style) for i, (text, style) in enumerate(pieces)]
        return strip_of(*((text, ground + _inked(style)) for text, style in pieces))

    def _ground(self, odd: bool, cursor: bool) -> Style:
        if cursor:
            return self._widget.part("runs--cursor" if self._widget.has_focus else "runs--here")
        base = self._widget.part("runs--odd") if odd else self._widget.rich_style
        return Style(bgcolor=base.bgcolor)


def _arrow(name: str, sort: str) -> str:
    """Which way a list with this sort is sorted by what has this name; "" where it is not."""
    if sort.removeprefix("-") != name:
        return ""
    ascending = name in ASCENDING or (name not in DESCENDING and not sort.startswith("-"))
    return "↑" if ascending else "↓"


def _inked(style: Style) -> Style:
    """Only what the letters look like."""
    return Style(color=style.color, bold=style.bold or None, dim=style.dim or None)


def _count(number: int) -> str:
    return f"{number:,}" if number < 10_000_000 else format_value(float(number))
