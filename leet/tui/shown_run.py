"""A run that a screen reads and shows: its feed, and what is made of its model for the panes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from leet.model.run import Change, RunModel
from leet.model.state import RunState
from leet.tui.facts import Sections
from leet.tui.feed import RunFeed
from leet.tui.sources import SystemSources

SAME_MOMENT = 0.1
"""Seconds in which what a run is doing does not change by itself."""


class ShownRun:
    """One run. The panes of a screen show one of these at a time; a screen may read several."""

    def __init__(self, feed: RunFeed, time: Callable[[], float], others: int = 0) -> None:
        """`time` tells the present in Unix seconds; `others` how many older runs lie beside this one."""
        self.feed = feed
        self.model: RunModel = feed.model
        self._time = time
        self.system_sources = SystemSources(self.model, lambda: self.state.live)
        self.sections = Sections(self.model, others)
        self._state: RunState | None = None
        self._judged_by: tuple[object, ...] = ()

    @property
    def state(self) -> RunState:
        """What the run is doing now. Every chart asks whether more may come, so that it is judged once a moment."""
        model, now = self.model, self._time()
        made_of = (
            int(now / SAME_MOMENT),
            self.feed.loaded,
            model.records,
            model.rows,
            model.size,
            model.modified,
            model.exit_code,
            model.trouble,
        )
        if made_of != self._judged_by or self._state is None:
            self._judged_by, self._state = made_of, model.state(now, loading=not self.feed.loaded)
        return self._state

    def drain(self, patience: float = 0.0) -> Iterator[Change]:
        """Apply what has come, for a moment (or comes within `patience` seconds); what each piece changed."""
        for change in self.feed.drain(patience):
            if change.reset:
                self.system_sources.forget()
            yield change
