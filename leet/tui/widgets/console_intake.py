"""What a console pane shows lines of, and how those are taken in: a slice at a time, so that keys are answered."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from textual.timer import Timer

from leet.model.console import ConsoleLog
from leet.model.console_selection import ConsoleSelection
from leet.model.filter import TextFilter
from leet.settings import settings
from leet.tui.widgets.console_search import ConsoleSearch
from leet.tui.widgets.console_window import ConsoleWindow
from leet.tui.widgets.painted import Painted

if TYPE_CHECKING:
    from leet.model.run import RunModel
    from leet.tui.feed import RunFeed
    from leet.tui.widgets.console_prompt import ConsolePrompt

SLICE = 0.010
"""Seconds of work at a time on lines that nobody has looked at yet, between which keys are answered."""
BREATH = 0.005
SHOW_SECONDS = 0.25
"""Pause between two pictures of lines that are still being taken in."""


class ConsoleIntake(Painted):
    """Lines of one run's console, as far as they have been taken in and pass the filters."""

    search: ConsoleSearch

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's name
        super().__init__(id=id)
        self._output = ConsoleLog()
        self._model: RunModel | None = None
        self._feed: RunFeed | None = None
        self._generation = self._version = -1
        self._filter = TextFilter("")
        self._errors_only = False
        self._least = 0
        """The number of the level that lines must have at least; 0 for all."""
        kept = self._output.kept
        self._seeing = ConsoleWindow(kept, ConsoleSelection(kept), wrapped=settings().toggle("console.wrap"))
        self._timed = settings().toggle("console.times")
        self._linked = False
        self._seen = 0
        """All lines below this number have been seen, or are older than the ones that have."""
        self._shown: list[int] = []
        """The line of each row of the screen."""
        self._going_on: Timer | None = None
        """Runs while there is more to take in."""
        self._next_show = 0.0
        """When lines that are still being taken in are shown next, on the monotonic clock."""
        self._note = ""
        self._prompt: ConsolePrompt | None = None

    # Which run

    def show_model(self, model: RunModel, feed: RunFeed) -> None:
        """Show the console of this run, from its end."""
        self._model, self._feed = model, feed
        if model.console is not self._output:
            self._output = model.console
            self._seeing.rewind()
            self.search.end()
            self._begin()
        self.data_changed()

    def data_changed(self) -> None:
        """Take in what has been printed since, for a moment, and go on with it later if there is more."""
        if self._output.generation != self._generation:
            self._begin()
        if self._version == self._output.version and self._ready:
            return
        if self._advance(SLICE):
            self._show()
            return
        if self._going_on is None:
            self._going_on = self.set_timer(BREATH, self._go_on)
        if monotonic() >= self._next_show:
            self._show()
            self._next_show = monotonic() + SHOW_SECONDS

    def _go_on(self) -> None:
        self._going_on = None
        self.data_changed()

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
        self._seeing.look_at(self._output.kept, self.selection())
        self.search.renew()
        self._version = -1
        self._next_show = 0.0

    @property
    def _chosen(self) -> ConsoleSelection:
        return self._seeing.chosen

    def selection(self, *more: TextFilter) -> ConsoleSelection:
        """The lines that pass the filters of the pane, and `more`."""
        filters = (self._filter, *more)
        return ConsoleSelection(self._output.kept, *filters, errors_only=self._errors_only, least=self._least)

    def _show(self) -> None:
        self.repaint()
        self._tell_note()

    def _reselect(self) -> None:
        self._select()
        self._advance(SLICE)
        self._seeing.settle()
        self._seeing.reveal()
        self.data_changed()
        self._show()

    def _tell_note(self) -> None:
        """Say where in the lines one is."""
        raise NotImplementedError
