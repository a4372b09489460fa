"""The console pane: what the program printed, as the terminal would show it, followed, searched, filtered, saved."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.binding import BindingType
from textual.strip import Strip

from leet.model.console import ConsoleLine
from leet.model.console_style import plain
from leet.model.filter import TextFilter
from leet.model.log_level import INFO, LEVELS
from leet.model.units import ranged
from leet.tui.commands import bindings
from leet.tui.messages import MomentChosen, PaneNoteChanged, ValueOpened
from leet.tui.widgets.console_intake import ConsoleIntake
from leet.tui.widgets.console_messages import Told
from leet.tui.widgets.console_painter import ConsolePainter, gutter
from leet.tui.widgets.console_rows import clock, strip
from leet.tui.widgets.console_search import ConsoleSearch

if TYPE_CHECKING:
    from leet.tui.widgets.console_prompt import ConsolePrompt

WHEEL = 3
"""Rows per notch."""
SIDEWAYS = 8
"""Columns per key where lines are not wrapped."""


class ConsoleView(ConsoleIntake, can_focus=True):
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
        self.search = ConsoleSearch(self)

    # What the screen asks for

    def filter(self, wanted: TextFilter | None) -> None:
        """Show only lines that pass; the cursor stays as near as it can."""
        self._filter = wanted or TextFilter("")
        self._reselect()

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
        if self._model is not None and self._model.size and not self._model.records:
            return "This run has not been read: open it, or select it"
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
        if self._least:
            parts.append(f"{LEVELS[self._least]} and above")
        if self._linked:
            parts.append("linked")
        if found := self.search.note:
            parts.append(found)
        count = len(self._chosen)
        if count and self._shown:
            first, last = (self._chosen.position(self._shown[at]) + 1 for at in (0, -1))
            parts.append(ranged(first, last, count))
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
        return self._output.line(self.cursor) if kept.first <= self.cursor < kept.end and len(self._seeing) else None

    def show_moment(self, moment: float | None) -> None:
        """The crosshair of the charts went to `moment` (Unix seconds): while linked, to the line of that time."""
        if self._linked and moment is not None and len(self._seeing):
            number = self._output.kept.at_time(moment)
            self._seeing.go(max(0, self._chosen.position(-1 if number is None else number + 1) - 1))
            self._show()

    # Moving

    def action_move(self, direction: str) -> None:
        """Up and down by a line; left and right by columns, or by pages where lines are wrapped."""
        if direction in ("up", "down"):
            self._go(self._seeing.position + (1 if direction == "down" else -1))
        elif self._seeing.wrapped:
            self._page(1 if direction == "right" else -1)
        else:
            self._sideways(SIDEWAYS if direction == "right" else -SIDEWAYS)

    def action_move_far(self, direction: str) -> None:
        """Left and right by half a screen; of wrapped lines by ten pages."""
        sign = 1 if direction == "right" else -1
        if self._seeing.wrapped:
            self._page(10 * sign)
        else:
            self._sideways(sign * max(1, self.size.width // 2))

    def action_next_page(self) -> None:
        self._page(1)

    def action_previous_page(self) -> None:
        self._page(-1)

    def action_first_page(self) -> None:
        """To the first line, and its first column."""
        self._seeing.left = 0
        self._go(0)

    def action_last_page(self) -> None:
        """To the last line, and follow what is printed from now on."""
        self._seeing.follow()
        self._moved()

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
        return self._seeing.cursor

    @property
    def following(self) -> bool:
        """Whether new lines scroll into sight."""
        return self._seeing.following

    def go_to(self, number: int) -> None:
        """Put the cursor on the line of this number and bring it into sight."""
        self._go(self._chosen.position(number))

    def come_back(self, number: int, following: bool) -> None:
        """As it was before a search."""
        if following:
            self.action_last_page()
        else:
            self.go_to(number)

    def _go(self, position: int) -> None:
        if len(self._seeing):
            self._seeing.go(position)
            self._moved()

    def _page(self, by: int) -> None:
        if len(self._seeing):
            self._seeing.page(by)
            self._moved()

    def _sideways(self, by: int) -> None:
        self._seeing.left = max(0, min(self._seeing.left + by, 4096))
        self._show()

    def _moved(self) -> None:
        """A person has moved the cursor."""
        self._show()
        line = self.line if self._linked else None
        if line is not None and line.timestamp:
            self.post_message(MomentChosen(line.timestamp))

    # Commands

    def action_wrap(self) -> None:
        """Wrap long lines, or scroll sideways."""
        seeing = self._seeing
        seeing.wrapped = not seeing.wrapped
        seeing.left, seeing.top = 0, (seeing.top[0], 0)
        seeing.reveal()
        self._show()

    def action_errors_only(self) -> None:
        """Only what was written to stderr, or all."""
        self._errors_only = not self._errors_only
        self._reselect()

    def action_level(self) -> None:
        """Only lines of the next level and above, or all."""
        # Nothing is below DEBUG.
        self._least = {0: INFO, len(LEVELS) - 1: 0}.get(self._least, self._least + 1)
        self._reselect()

    def action_link(self) -> None:
        """Let the line under the cursor and the charts' crosshairs go to the same moment; or no longer."""
        self._linked = not self._linked
        if not self._linked:
            self.post_message(MomentChosen(None))
        self._moved()

    def action_copy(self) -> None:
        """Copy the line under the cursor, by OSC 52."""
        line = self.line
        if line is not None:
            self.app.copy_to_clipboard(line.text)
            self.post_message(Told("line copied"))

    async def action_search(self) -> None:
        """Ask for what is to be found."""
        prompt = await self.prompt()
        if prompt is not None:
            self.search.ask(prompt)

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
        prompt = await self.prompt()
        if prompt is not None:
            ConsoleSave(self, self._output, self._chosen, log).ask(prompt)

    async def prompt(self) -> ConsolePrompt | None:
        """The line at the bottom of the pane; made when it is first needed. None where the pane has gone meanwhile."""
        if self._prompt is None and self.is_attached:
            from leet.tui.widgets.console_prompt import ConsolePrompt

            self._prompt = ConsolePrompt()
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
        self._seeing.scroll(WHEEL)
        self._show()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self._seeing.scroll(-WHEEL)
        self._show()

    def on_focus(self) -> None:
        self.repaint()

    def on_blur(self) -> None:
        self.repaint()

    def on_resize(self) -> None:
        self.call_after_refresh(self._tell_note)

    # Painting

    def paint(self, width: int, height: int) -> list[Strip]:
        self._shown = []
        seeing = self._seeing
        count = len(seeing)
        if not count:
            text = "No line passes" if self._ready and len(self._output.kept) else ""
            return [strip([(f" {text}", self.part("console--quiet"))], width, self.rich_style)]
        seeing.resize(width - gutter(width, timed=self._timed), height)
        seeing.arrange()
        painter = ConsolePainter(self._output.kept, self.part, width, timed=self._timed)
        number, skipped = seeing.top
        position = self._chosen.position(number)
        rows: list[Strip] = []
        while len(rows) < height and position < count:
            number = self._chosen.number(position)
            made = self._painted(painter, number)[skipped : skipped + height - len(rows)]
            rows += made
            self._shown += [number] * len(made)
            skipped = 0
            position += 1
        self._seen = max(self._seen, self._shown[-1] + 1)
        new = count - self._chosen.position(self._seen)
        if not seeing.following and new:
            rows[-1] = painter.with_news(rows[-1], new)
        return rows

    def _painted(self, painter: ConsolePainter, number: int) -> list[Strip]:
        cursor = number == self._seeing.cursor
        here = cursor and (self.has_focus or self._linked)
        found = "console--found-here" if cursor else "console--found"
        spans = self.search.spans(plain(self._output.kept.text(number)))
        if self._seeing.wrapped:
            return painter.wrapped(number, spans, here=here, found=found)
        return [painter.cut(number, spans, self._seeing.left, here=here, found=found)]
