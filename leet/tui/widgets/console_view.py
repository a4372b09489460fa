"""The console pane: what the program printed, as the terminal would show it, followed, searched, filtered, saved.

Lines are known by their numbers in the log. The view has a line under the cursor and a row at its top; of a million
lines only those between top and bottom are ever looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.binding import BindingType
from textual.strip import Strip

from leet.model.console import ConsoleLine, ConsoleLog
from leet.model.console_selection import ConsoleSelection
from leet.model.console_style import plain
from leet.model.filter import TextFilter
from leet.settings import settings
from leet.tui.commands import bindings
from leet.tui.messages import MomentChosen, PaneNoteChanged, ValueOpened
from leet.tui.widgets.console_messages import Told
from leet.tui.widgets.console_rows import SIGNS, breaks, clock, part_of, pieces_of, strip, time_width, window
from leet.tui.widgets.console_search import ConsoleSearch
from leet.tui.widgets.painted import Painted

if TYPE_CHECKING:
    from leet.model.run import RunModel
    from leet.tui.feed import RunFeed
    from leet.tui.widgets.console_prompt import ConsolePrompt

SLICE = 0.010
"""Seconds of work at a time on lines that nobody has looked at yet, between which keys are answered."""
BREATH = 0.005
WHEEL = 3
"""Rows per notch."""
SIDEWAYS = 8
"""Columns per key where lines are not wrapped."""


class ConsoleView(Painted, can_focus=True):
    """Lines of one run's console."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("logs")
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "console--text",
        "console--time",
        "console--stderr",
        "console--logger",
        "console--cursor",
        "console--found",
        "console--found-here",
        "console--new",
        "console--quiet",
    }

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's name
        super().__init__(id=id)
        self._output = ConsoleLog()
        self._feed: RunFeed | None = None
        self._generation = self._version = -1
        self._filter = TextFilter("")
        self._errors_only = False
        self._chosen = ConsoleSelection(self._output.kept)
        self.search = ConsoleSearch(self)
        self._wrapped = settings().toggle("console.wrap")
        self._timed = settings().toggle("console.times")
        self._linked = False
        self._following = True
        self._cursor = 0
        """Number of the line under the cursor."""
        self._top = (0, 0)
        """Number of the line at the top, and which of its rows."""
        self._left = 0
        """First column that is seen of lines that are not wrapped."""
        self._seen = 0
        """All lines below this number have been seen, or are older than the ones that have."""
        self._shown: list[int] = []
        """The line of each row of the screen."""
        self._note = ""
        self._prompt: ConsolePrompt | None = None

    # Which run

    def show_model(self, model: RunModel, feed: RunFeed) -> None:
        """Show the console of this run, from its end."""
        self._feed = feed
        if model.console is not self._output:
            self._output = model.console
            self._following, self._left, self._top, self._seen = True, 0, (0, 0), 0
            self.search.end()
            self._begin()
        self.data_changed()

    def data_changed(self) -> None:
        """Take in what has been printed since, for a moment, and go on with it later if there is more."""
        if self._output.generation != self._generation:
            self._begin()
        if self._version == self._output.version and self._ready:
            return
        if not self._advance(SLICE):
            self.set_timer(BREATH, self.data_changed)
        self._show()

    def paint_now(self) -> None:
        """Take in all there is, at once."""
        self._advance(None)
        self._show()

    def _begin(self) -> None:
        """Other lines: numbers from before mean nothing any more."""
        self._generation, self._version = self._output.generation, -1
        self._seen = 0
        self._select()

    def _advance(self, seconds: float | None) -> bool:
        version = self._output.version
        ready = self._output.settle(seconds)
        ready &= self._chosen.scan(seconds)
        ready &= self.search.scan(seconds)
        if ready:
            self._version = version
        return ready

    @property
    def _ready(self) -> bool:
        return self._output.settled >= 1 and self._chosen.complete and self.search.complete

    def _select(self) -> None:
        """Let filters hold from now on."""
        self._chosen = self.selection()
        self.search.renew()
        self._version = -1

    def selection(self, *more: TextFilter) -> ConsoleSelection:
        """The lines that pass the filters of the pane, and `more`."""
        return ConsoleSelection(self._output.kept, self._filter, *more, errors_only=self._errors_only)

    def _show(self) -> None:
        self.repaint()
        self._tell_note()

    # What the screen asks for

    def filter(self, wanted: TextFilter | None) -> None:
        """Show only lines that pass; the cursor stays as near as it can."""
        self._filter = wanted or TextFilter("")
        self._select()
        self._advance(SLICE)
        self._settle_cursor()
        self.data_changed()
        self._show()

    @property
    def count(self) -> tuple[int, int]:
        """(lines that pass, all lines)."""
        return len(self._chosen), len(self._output.kept)

    @property
    def empty_note(self) -> str:
        """What stands here while nothing has been printed."""
        if len(self._output):
            return ""
        if self._feed is not None and not self._feed.loaded:
            return "Reading the log…"
        return "Nothing has been printed in this run"

    @property
    def note(self) -> str:
        """What stands in the heading: what is switched on, and which lines are seen."""
        parts = []
        if self._output.settled < 1:
            parts.append(f"reading {self._output.settled:.0%}")
        elif not self._ready:
            parts.append("searching")
        if self._errors_only:
            parts.append("stderr only")
        if self._linked:
            parts.append("linked")
        if found := self.search.note:
            parts.append(found)
        count = len(self._chosen)
        if count and self._shown:
            first, last = (self._chosen.position(self._shown[at]) + 1 for at in (0, -1))
            parts.append(f"{first:,}–{last:,} of {count:,}")
        elif len(self._output):
            parts.append("no line" if self._ready else "…")
        if self._output.kept.first or self._output.dropped_characters:
            parts.append("oldest lines dropped")
        return " · ".join(parts)

    def _tell_note(self) -> None:
        note = self.note
        if note != self._note:
            self._note = note
            self.post_message(PaneNoteChanged(self.id or "logs", note))

    @property
    def line(self) -> ConsoleLine | None:
        """The line under the cursor."""
        kept = self._output.kept
        return self._output.line(self._cursor) if kept.first <= self._cursor < kept.end and len(self._chosen) else None

    def show_moment(self, moment: float | None) -> None:
        """The crosshair of the charts went to `moment` (Unix seconds): while linked, to the line of that time."""
        if not self._linked or moment is None:
            return
        number = self._output.kept.at_time(moment)
        position = 0 if number is None else self._chosen.position(number + 1) - 1
        self._go(position, tell=False)

    # Moving

    def action_move(self, direction: str) -> None:
        """Up and down by a line; left and right by columns, or by pages where lines are wrapped."""
        if direction in ("up", "down"):
            self._go(self._position + (1 if direction == "down" else -1))
        elif self._wrapped:
            self._page(1 if direction == "right" else -1)
        else:
            self._sideways(SIDEWAYS if direction == "right" else -SIDEWAYS)

    def action_move_far(self, direction: str) -> None:
        """Left and right by half a screen; of wrapped lines by ten pages."""
        sign = 1 if direction == "right" else -1
        if self._wrapped:
            self._page(10 * sign)
        else:
            self._sideways(sign * max(1, self.size.width // 2))

    def action_next_page(self) -> None:
        self._page(1)

    def action_previous_page(self) -> None:
        self._page(-1)

    def action_first_page(self) -> None:
        """To the first line, and its first column."""
        self._left = 0
        self._go(0)

    def action_last_page(self) -> None:
        """To the last line, and follow what is printed from now on."""
        self._follow()
        self._show()
        self._tell_moment()

    def action_open(self) -> None:
        """The line in full."""
        line = self.line
        if line is not None:
            when = clock(line.timestamp, 8).strip()
            self.post_message(ValueOpened(f"{when} {line.stream}".strip(), line.text))

    def action_leave(self) -> bool:
        """Give up the search."""
        if not self.search.held:
            return False
        self.search.end()
        self._show()
        return True

    @property
    def cursor(self) -> int:
        """Number of the line under the cursor."""
        return self._cursor

    @property
    def following(self) -> bool:
        """Whether new lines scroll into sight."""
        return self._following

    @property
    def _position(self) -> int:
        return self._chosen.position(self._cursor)

    def go_to(self, number: int) -> None:
        """Put the cursor on the line of this number and bring it into sight."""
        self._go(self._chosen.position(number))

    def come_back(self, number: int, following: bool) -> None:
        """As it was before a search."""
        if following:
            self._follow()
            self._show()
        else:
            self.go_to(number)

    def _follow(self) -> None:
        self._following = True
        self._settle_cursor()

    def _go(self, position: int, *, tell: bool = True) -> None:
        """Cursor to the line at a position; past the last one it follows what is printed."""
        count = len(self._chosen)
        if not count:
            return
        if position >= count:
            self._follow()
        else:
            self._following = False
            self._cursor = self._chosen.number(max(0, position))
            self._reveal()
        self._show()
        if tell:
            self._tell_moment()

    def _page(self, by: int) -> None:
        if not len(self._chosen):
            return
        height = max(1, self.size.height)
        before = self._top
        self._scroll(by * height)
        if self._top == before:
            self._go(len(self._chosen) if by > 0 else 0)
            return
        position = self._chosen.position(self._top[0])
        self._cursor = self._chosen.number(min(position, len(self._chosen) - 1))
        self._show()
        self._tell_moment()

    def _sideways(self, by: int) -> None:
        self._left = max(0, min(self._left + by, 4096))
        self._show()

    def _tell_moment(self) -> None:
        line = self.line if self._linked else None
        if line is not None and line.timestamp:
            self.post_message(MomentChosen(line.timestamp))

    # Which rows are seen

    @property
    def _gutter(self) -> int:
        """Columns in front of the text: the time and the sign of the stream."""
        times = time_width(self.size.width, self._timed)
        return times + 2 + bool(times)

    @property
    def _room(self) -> int:
        return max(1, self.size.width - self._gutter)

    def _rows_of(self, number: int) -> int:
        if not self._wrapped:
            return 1
        return len(breaks(plain(self._output.kept.text(number)), self._room))

    def _moved(self, top: tuple[int, int], rows: int) -> tuple[int, int]:
        """The row so many rows below (above, negative) another; at the ends the first or last row there is."""
        number, row = top
        position = self._chosen.position(number)
        count = len(self._chosen)
        if not count:
            return (0, 0)
        if position >= count:
            position, row = count - 1, 0
        number = self._chosen.number(position)
        row += rows
        while row < 0 and position > 0:
            position -= 1
            number = self._chosen.number(position)
            row += self._rows_of(number)
        while (height := self._rows_of(number)) <= row and position < count - 1:
            row -= height
            position += 1
            number = self._chosen.number(position)
        return number, max(0, min(row, height - 1))

    def _last_top(self, height: int) -> tuple[int, int]:
        """The top with which the last row stands at the bottom."""
        count = len(self._chosen)
        if not count:
            return (0, 0)
        last = self._chosen.number(count - 1)
        return self._moved((last, self._rows_of(last) - 1), 1 - height)

    def _scroll(self, rows: int) -> None:
        """Move what is seen; at the end it follows again. The cursor stays where it can be seen."""
        height = max(1, self.size.height)
        last = self._last_top(height)
        self._top = min(self._moved(self._top, rows), last)
        self._following = rows > 0 and self._top == last
        self._settle_cursor()
        if not self._following:
            bottom = self._moved(self._top, height - 1)
            self._cursor = max(self._top[0], min(self._cursor, bottom[0]))

    def _reveal(self) -> None:
        """Scroll as little as needed for the line under the cursor to be seen; far jumps put it in the middle."""
        height = max(1, self.size.height)
        rows = min(self._rows_of(self._cursor), height)
        head = (self._cursor, 0)
        lowest = self._moved((self._cursor, rows - 1), 1 - height)
        if head < self._top:
            near = self._moved(self._top, -height) <= head
            self._top = head if near else self._moved(head, -(height // 2))
        elif self._top < lowest:
            near = lowest <= self._moved(self._top, height)
            self._top = lowest if near else self._moved(head, -(height // 2))
        self._top = min(self._top, self._last_top(height))

    def _settle_cursor(self) -> None:
        """Bring the cursor onto a line that is there."""
        count = len(self._chosen)
        if not count:
            return
        position = count - 1 if self._following else min(self._chosen.position(self._cursor), count - 1)
        self._cursor = self._chosen.number(position)

    # Commands

    def action_wrap(self) -> None:
        """Wrap long lines, or scroll sideways."""
        self._wrapped = not self._wrapped
        self._left = 0
        self._top = (self._top[0], 0)
        self._reveal()
        self._show()

    def action_errors_only(self) -> None:
        """Only what was written to stderr, or all."""
        self._errors_only = not self._errors_only
        self._select()
        self._advance(SLICE)
        self._settle_cursor()
        self._reveal()
        self.data_changed()
        self._show()

    def action_link(self) -> None:
        """Let the line under the cursor and the charts' crosshairs go to the same moment; or no longer."""
        self._linked = not self._linked
        if self._linked:
            self._tell_moment()
        else:
            self.post_message(MomentChosen(None))
        self._show()

    def action_copy(self) -> None:
        """Copy the line under the cursor, by OSC 52."""
        line = self.line
        if line is not None:
            self.app.copy_to_clipboard(line.text)
            self.post_message(Told("line copied"))

    async def action_search(self) -> None:
        """Ask for what is to be found."""
        self.search.ask(await self.prompt())

    def action_next_match(self) -> None:
        self.search.step(1)

    def action_previous_match(self) -> None:
        self.search.step(-1)

    async def action_save(self) -> None:
        """Ask where the lines are to be written."""
        from leet.tui.widgets.console_save import ConsoleSave

        if not len(self._chosen):
            self.post_message(Told("there are no lines to save"))
            return
        self.paint_now()
        log = self._feed.log if self._feed is not None else None
        ConsoleSave(self, self._output, self._chosen, log).ask(await self.prompt())

    async def prompt(self) -> ConsolePrompt:
        """The line at the bottom of the pane; made when it is first needed."""
        if self._prompt is None:
            from leet.tui.widgets.console_prompt import ConsolePrompt

            self._prompt = ConsolePrompt()
            assert self.parent is not None
            await self.app.mount(self._prompt, after=self)
        return self._prompt

    # Mouse and focus

    def on_click(self, event: events.Click) -> None:
        if 0 <= event.y < len(self._shown):
            self._go(self._chosen.position(self._shown[event.y]))
            if event.chain == 2:
                self.action_open()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self._scroll(WHEEL)
        self._show()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self._scroll(-WHEEL)
        self._show()

    def on_focus(self) -> None:
        self.repaint()

    def on_blur(self) -> None:
        self.repaint()

    def on_resize(self) -> None:
        if not self._following:
            self._top = (self._top[0], 0)
            self._reveal()
        self.call_after_refresh(self._tell_note)

    # Painting

    def paint(self, width: int, height: int) -> list[Strip]:
        self._shown = []
        count = len(self._chosen)
        if not count:
            text = "" if not self._ready else "No line passes" if len(self._output.kept) else ""
            return [strip([(f" {text}", self.part("console--quiet"))], width, self.rich_style)] if text else []
        if self._following:
            self._settle_cursor()
            self._top = self._last_top(height)
        else:
            self._top = self._moved(self._top, 0)
        number, skipped = self._top
        position = self._chosen.position(number)
        rows: list[Strip] = []
        while len(rows) < height and position < count:
            number = self._chosen.number(position)
            made = self._painted(number, width)[skipped : skipped + height - len(rows)]
            rows += made
            self._shown += [number] * len(made)
            skipped = 0
            position += 1
        self._seen = max(self._seen, self._shown[-1] + 1)
        new = count - self._chosen.position(self._seen)
        if not self._following and new:
            rows[-1] = self._with_news(rows[-1], new, width)
        return rows

    def _painted(self, number: int, width: int) -> list[Strip]:
        """The rows of a line."""
        kept = self._output.kept
        line = kept.text(number)
        here = number == self._cursor and (self.has_focus or self._linked)
        ground = self.part("console--cursor" if here else "console--text")
        quiet = self.part("console--time")
        stream = kept.stream(number)
        sign_style = self.part(f"console--{stream}") if stream != "stdout" else quiet
        times = time_width(width, self._timed)
        if here:
            # The cursor's ground under what has colours of its own.
            quiet = sign_style = ground
        if stream == "stderr":
            base = ground if here else self.part("console--stderr")
            sign = (f"{SIGNS[stream]} ", self.part("console--stderr") + ground.background_style)
        else:
            base = ground
            sign = (f"{SIGNS[stream]} ", sign_style)
        spans = self.search.spans(number, plain(line))
        found = self.part("console--found-here" if number == self._cursor else "console--found")
        pieces = pieces_of(line, base, spans, found)
        room = self._room
        first = [(clock(kept.time(number), times) + " " * bool(times), quiet), sign]
        rest = [(" " * (times + bool(times)), quiet), sign]
        head = sum(len(text) for text, _ in first)
        if not self._wrapped:
            return [
                Strip.join(
                    [strip(first, head, ground), window(pieces, self._left, room, ground, self.part("console--quiet"))]
                )
            ]
        text = plain(line)
        starts = breaks(text, room)
        return [
            strip([*(rest if at else first), *part_of(pieces, start, end)], width, ground)
            for at, (start, end) in enumerate(zip(starts, [*starts[1:], len(text)], strict=True))
        ]

    def _with_news(self, row: Strip, new: int, width: int) -> Strip:
        text = f" {new:,} new line{'s' if new > 1 else ''} ↓ End "
        if len(text) > width:
            text = " ↓ "[:width]
        mark = strip([(text, self.part("console--new"))], len(text), self.rich_style)
        return Strip.join([row.crop(0, width - len(text)), mark])
