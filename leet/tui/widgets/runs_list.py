"""The list of runs: one row each, of which only those that are seen are made.

     ●  ▶ loss-sweep-3          ✓    0.1234   12 min     1,200  baseline
     │                          │    │        │          │      tags
     mark: ○ ● ▶, in the        │    columns  age        last step
     colour of its curves       state  chosen by name

Actions, for the table of commands: move, move_far, next_page, previous_page, first_page, last_page, open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.strip import Strip
from textual.timer import Timer

from leet.tui.messages import PaneNoteChanged, RunHighlighted, RunMarked, RunOpened, RunsSorted
from leet.tui.widgets.painted import cut, strip_of
from leet.tui.widgets.painted_list import PaintedList
from leet.tui.widgets.run_columns import MARK_WIDTH, Columns, Mark
from leet.tui.widgets.run_row import RowNames, RowPainter
from leet.tui.widgets.run_value_columns import ValueColumn, value_columns

if TYPE_CHECKING:
    from leet.model.run_entry import RunEntry
    from leet.model.run_value import RunValue

PULSE_SECONDS = 0.75
"""Half the period of the mark of a run that is being written."""
LEAST_TITLED = 22
"""Cells from which on the columns have titles."""
FAR = 10
"""Rows of a larger step."""


class RunsList(PaintedList, can_focus=True):
    """Entries in the order given, one of them highlighted. It keeps no more than where it stands in them."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "runs--name",
        "runs--quiet",
        "runs--title",
        "runs--good",
        "runs--warn",
        "runs--bad",
        "runs--live",
        "runs--tag",
        "runs--odd",
        "runs--here",
        "runs--cursor",
    }
    DEFAULT_CSS = """
    RunsList {
        .runs--name { color: $foreground; }
        .runs--quiet { color: $foreground 60%; }
        .runs--title { color: $foreground 45%; }
        .runs--good { color: $success; }
        .runs--warn { color: $warning; }
        .runs--bad { color: $error; }
        .runs--live { color: $success; text-style: bold; }
        .runs--tag { color: $secondary; }
        .runs--odd { background: $foreground 4%; }
        .runs--here { background: $foreground 14%; text-style: bold; }
        .runs--cursor { background: $block-cursor-background; color: $block-cursor-foreground; text-style: bold; }
        &:ansi {
            .runs--quiet { color: ansi_default; }
            .runs--title { color: ansi_default; }
            .runs--odd { background: ansi_default; }
            .runs--here { background: ansi_default; text-style: underline; }
            .runs--cursor { background: ansi_default; color: ansi_default; text-style: reverse; }
        }
    }
    """

    def __init__(
        self,
        *,
        mark: Callable[[str], Mark],
        clock: Callable[[], float],
        pulse: bool = True,
        id: str | None = None,  # noqa: A002  Textual's name
    ) -> None:
        """`mark` tells how a run (its key) is shown; `clock` the time; `pulse`: marks of live runs come and go."""
        super().__init__(id=id)
        self._mark = mark
        self._clock = clock
        self._pulse = pulse
        self.empty = ""
        """What to say where there is no run."""
        self._entries: Sequence[RunEntry] = ()
        self._places: Mapping[str, int] = {}
        self._names = RowNames(())
        self._values: Sequence[RunValue] = ()
        self._value_columns: tuple[ValueColumn, ...] = ()
        self._total = 0
        self._sort = "started"
        self._key = ""
        self._index = 0
        self._clicked = ""
        self._note = ""
        self._dim = False
        self._pulse_timer: Timer | None = None

    # What it shows

    def show(self, entries: Sequence[RunEntry], total: int, sort: str = "started") -> None:
        """Show these of `total` runs, ordered by `sort`; the highlight stays with its run, else with its place."""
        self._entries, self._total, self._sort = entries, total, sort
        self._places = {entry.key: place for place, entry in enumerate(entries)}
        self._names = RowNames(entries)
        self._value_columns = value_columns(self._values, entries, self._clock())
        place = self._places.get(self._key)
        if place is None:
            place = min(self._index, len(entries) - 1)
        shift = place - self._index
        self._index = max(0, place)
        if self._places.get(self._key) is None or shift:
            self._top = max(0, self._top + shift)
            self._settle()
        self._say_note()
        self._announce()
        self.repaint()

    def show_values(self, values: Sequence[RunValue]) -> None:
        """Have a column for each of these, where there is room."""
        self._values = values
        self._value_columns = value_columns(values, self._entries, self._clock())
        self.repaint()

    @property
    def values(self) -> Sequence[RunValue]:
        """What there are columns of, beside those of every list."""
        return self._values

    @property
    def shows_all_values(self) -> bool:
        """There is room for all of these columns."""
        return len(self._columns(self.size.width).values) == len(self._values)

    def _columns(self, width: int) -> Columns:
        return Columns.share(width, [column.width for column in self._value_columns])

    def data_changed(self) -> None:
        """Marks, states or ages may be others now."""
        self.repaint()

    def paint_now(self) -> None:
        self.repaint()

    @property
    def length(self) -> int:
        return len(self._entries)

    @property
    def place(self) -> int:
        return self._index

    @property
    def entries(self) -> Sequence[RunEntry]:
        return self._entries

    @property
    def entry(self) -> RunEntry | None:
        """The highlighted run."""
        return self._entries[self._index] if self._index < len(self._entries) else None

    def highlight(self, key: str) -> bool:
        """Go to a run; False where it is not listed."""
        place = self._places.get(key)
        if place is None:
            return False
        self._go(place)
        return True

    def rename(self, old: str, new: str) -> None:
        """A run will be listed under another key."""
        if self._key == old:
            self._key = new

    @property
    def note(self) -> str:
        """`12 runs`, `3 of 12 runs`, and where one stands in a long list."""
        return self._note

    @property
    def count(self) -> tuple[int, int]:
        """(runs listed, runs in all)."""
        return len(self._entries), self._total

    def _say_note(self) -> None:
        shown, total = self.count
        noun = "run" if total == 1 else "runs"
        note = f"{total:,} {noun}" if shown == total else f"{shown:,} of {total:,} {noun}"
        if shown > self._room():
            note = f"{self._index + 1:,}/{note}"
        if note != self._note:
            self._note = note
            self.post_message(PaneNoteChanged("runs", note))

    # Moving

    def action_move(self, direction: str) -> None:
        """Up and down by a row, and around; left and right by a page."""
        if direction in ("up", "down"):
            by = 1 if direction == "down" else -1
            self._go((self._index + by) % max(1, len(self._entries)))
        else:
            self._page(1 if direction == "right" else -1)

    def action_move_far(self, direction: str) -> None:
        self._go(self._index + (FAR if direction in ("right", "down") else -FAR))

    def action_open(self) -> None:
        if self.entry is not None:
            self.post_message(RunOpened(self.entry.key))

    def _go(self, place: int) -> None:
        self._index = max(0, min(place, len(self._entries) - 1))
        self._clicked = ""
        self._settle()
        self._say_note()
        self._announce()
        self.repaint()

    def _announce(self) -> None:
        """Tell which run is highlighted, when it is another one."""
        key = self.entry.key if self.entry is not None else ""
        if key != self._key:
            self._key = key
            self.post_message(RunHighlighted(key))

    def _titles(self) -> int:
        """Lines that the titles of the columns take."""
        return int(self.size.height >= 6 and self.size.width >= LEAST_TITLED)

    # Mouse, focus, pulse

    def on_click(self, event: events.Click) -> None:
        """On the mark: select. On the row: highlight; again: open. On the titles: sort."""
        if event.y < self._titles():
            self._sort_at(event.x)
            return
        place = self._row_at(event.y)
        if place is None:
            return
        key = self._entries[place].key
        if event.x <= MARK_WIDTH:
            self.post_message(RunMarked(key))
            return
        again = event.chain == 2 or self._clicked == key == self._key
        self._go(place)
        self._clicked = key
        if again:
            self._clicked = ""
            self.action_open()

    def _sort_at(self, x: int) -> None:
        """By the column that was clicked."""
        edge = MARK_WIDTH + 1
        columns = self._columns(self.size.width)
        chosen = [column.value.name for column in self._value_columns]
        for name, wide in (
            ("name", columns.name),
            ("state", columns.sign + columns.word),
            *zip(chosen, columns.values, strict=False),
            ("started", columns.age),
            ("step", columns.step),
            ("tag", columns.tags),
        ):
            if edge <= x < edge + wide:
                self.post_message(RunsSorted(name))
                return
            edge += wide

    def _roll(self, by: int) -> None:
        """Look elsewhere; the highlight stays."""
        self._top = max(0, min(self._top + by, len(self._entries) - self._room()))
        self.repaint()

    def on_resize(self) -> None:
        self._say_note()

    def on_mount(self) -> None:
        if self._pulse:
            self._pulse_timer = self.set_interval(PULSE_SECONDS, self._beat, pause=True)

    def _beat(self) -> None:
        if self.screen is self.app.screen:
            self._dim = not self._dim
            self.repaint()

    def _keep_pulse(self, live: bool) -> None:
        """Beat while a live run is seen, and only then."""
        if self._pulse_timer is None:
            return
        if live:
            self._pulse_timer.resume()
        else:
            self._pulse_timer.pause()
            self._dim = False

    # Painting

    def paint(self, width: int, height: int) -> list[Strip]:
        if not self._entries:
            self._keep_pulse(False)
            return self._say_empty(width, height)
        columns = self._columns(width)
        now = self._clock()
        painter = RowPainter(self, columns, self._value_columns, width, now)
        lines = [painter.titles(self._sort)] * self._titles()
        live = False
        self._top = max(0, min(self._top, len(self._entries) - 1))
        places = range(self._top, min(self._top + height - len(lines), len(self._entries)))
        for place, name in zip(places, self._names.fitted(places, columns.name - 1), strict=True):
            entry = self._entries[place]
            state = entry.state(now)
            running = entry.known and state.name == "running"
            live |= running
            odd, cursor, dim = bool(place % 2), place == self._index, running and self._dim
            lines.append(painter.row(entry, name, state, self._mark(entry.key), odd=odd, cursor=cursor, dim=dim))
        self._keep_pulse(live)
        return lines

    def _say_empty(self, width: int, height: int) -> list[Strip]:
        quiet = self.part("runs--quiet")
        lines = [line for text in self.empty.split("\n") for line in wrap(text, max(8, width - 4)) or [""]]
        above = [Strip.blank(width, self.rich_style)] * max(0, (height - len(lines)) // 2)
        return [*above, *(strip_of((cut("  " + line, width), quiet)) for line in lines)]
