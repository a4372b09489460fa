"""One run: overview on the left, metrics in the middle, system metrics on the right."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from leet.discovery import Found
from leet.model.filter import TextFilter
from leet.model.safe_text import clean
from leet.model.state import RunState
from leet.tui.commands import Place, bindings, hints
from leet.tui.facts import Sections, empty_note, progress_part, state_parts
from leet.tui.feed import RunFeed
from leet.tui.messages import (
    FilterChanged,
    FilterClosed,
    NewerRunFound,
    RecordsWaiting,
    RowSelected,
    RunLoaded,
    Subject,
    ValueOpened,
)
from leet.tui.newer_run import NewerRun
from leet.tui.pace import Pace
from leet.tui.screens.chart_screen import ChartScreen
from leet.tui.screens.panes_screen import PanesScreen
from leet.tui.sources import MetricSources, SelectedMetrics, SystemSources
from leet.tui.terminal import Terminal
from leet.tui.widgets.chart_grid import ChartGrid
from leet.tui.widgets.pane import Pane
from leet.tui.widgets.shared_moment import SharedMoment
from leet.tui.widgets.status_line import Part, StatusLine

if TYPE_CHECKING:
    from leet.tui.widgets.filter_line import FilterLine

FIRST_PATIENCE = 0.06
"""Seconds that the first frame waits for the first piece of the log: a small one is all there then."""
BREATH = 0.003
"""Seconds between two stretches of applying batches, in which keys are answered and the screen is painted."""
OVERVIEW_SECONDS = 1.0
STATUS_SECONDS = 0.5
CHARTS_SECONDS = 0.25
GRID_SECONDS = 4.0
"""How long `c` and `r` wait for their digit."""
SUBJECTS: tuple[Subject, ...] = ("metrics", "system", "overview")


class RunScreen(PanesScreen):
    """Panes over one model. The screen owns the feed; panes are told what to show and hold nothing else."""

    PLACE: ClassVar[Place] = "run"
    BINDINGS: ClassVar[list[BindingType]] = bindings("run")

    def __init__(self, found: Found, terminal: Terminal, *, live: bool = True) -> None:
        super().__init__(terminal)
        self.found = found
        self.terminal = terminal
        self.feed = RunFeed(found.log, live=live)
        # A small log is read while the screen is made, so that the first frame shows it.
        self.feed.start()
        self.model = self.feed.model
        self.loaded = asyncio.Event()
        self.filters: dict[Subject, TextFilter] = {subject: TextFilter("") for subject in SUBJECTS}
        self._grids: tuple[tuple[Subject, ChartGrid], ...] = (("metrics", self.metrics), ("system", self.system))
        self.filter_line: FilterLine | None = None
        """Made when a filter is first typed."""
        self.metric_sources = MetricSources(self.model, lambda: self.state.live)
        self.system_sources = SystemSources(self.model, lambda: self.state.live)
        self.sections = Sections(self.model, found.others)
        self.newer: Path | None = None
        """The log of a run that has started since."""
        self._newer_run: NewerRun | None = None
        if live and found.directory is not None:
            self._newer_run = NewerRun(found.directory, found.log, self._announce_newer)
        self._pace = Pace({"charts": CHARTS_SECONDS, "overview": OVERVIEW_SECONDS, "status": STATUS_SECONDS})
        self._followers = {"charts": self._show_charts, "overview": self.show_overview, "status": self._show_status}
        self._tick_timer: Timer | None = None
        self._age_timer: Timer | None = None
        self._grid_part: str | None = None
        self._moment = SharedMoment(self.metrics, self.system)

    def on_mount(self) -> None:
        self._take_in(FIRST_PATIENCE)
        self._show_charts()
        self.share_width()
        self.set_focus(self.metrics)
        self.refresh_all()
        self.feed.listen(self._announce)
        if self._newer_run is not None:
            self._newer_run.start()

    def on_unmount(self) -> None:
        self.feed.stop()
        if self._newer_run is not None:
            self._newer_run.stop()

    # Data

    def _announce(self) -> None:
        """Called from the reader's thread."""
        self.post_message(RecordsWaiting())

    def _announce_newer(self, log: Path) -> None:
        """Called from the thread that looks for newer runs."""
        self.post_message(NewerRunFound(log))

    def on_records_waiting(self) -> None:
        """Apply what has come, for a moment, and let the screen follow at its own pace."""
        known = self.feed.loaded
        self._take_in()
        if self.feed.intake.waiting:
            self.set_timer(BREATH, self.on_records_waiting)
        if self.feed.loaded and not known:
            self.post_message(RunLoaded())
        self._schedule()

    def _take_in(self, patience: float = 0.0) -> None:
        for change in self.feed.drain(patience):
            if change.notice:
                self._tell_of_file(clean(change.notice))
            if change.reset:
                self.metric_sources.forget()
                self.system_sources.forget()
            self._pace.mark("charts", "overview", "status")
        if self.feed.loaded and not self.loaded.is_set():
            self.loaded.set()
            self._pace.mark("charts", "overview", "status")

    def _tell_of_file(self, notice: str) -> None:
        """What keeps the log from being read stays on the screen; what is over is said for a while."""
        if self.model.trouble:
            self.status.say(notice, lasting=True)
        else:
            self._say_what_lasts()
            self.status.say(notice)

    def _say_what_lasts(self) -> None:
        if self.newer is None:
            self.status.say(lasting=True)
            return
        name = clean(self.newer.stem.removeprefix("run-"))
        self.status.say(
            f"a newer run has started: {name} — press L to open it",
            f"newer run {name}: press L",
            "newer run: press L",
            lasting=True,
        )

    def on_newer_run_found(self, event: NewerRunFound) -> None:
        self.newer = event.log
        if not self.model.trouble:
            self._say_what_lasts()

    def action_open_newer(self) -> None:
        from leet.tui.app import LeetApp

        assert isinstance(self.app, LeetApp)
        if self.newer is None:
            watched = self._newer_run is not None
            self.tell("no newer run has started here" if watched else "this run was asked for by its own path")
        else:
            self.app.open_run(replace(self.found, log=self.newer, others=self.found.others + 1))

    def tell(self, *message: str) -> None:
        """Say something on the screen that is on top, if it has a line for it."""
        for line in self.app.screen.query(StatusLine):
            line.say(*message)

    def on_run_loaded(self) -> None:
        self._show_charts()
        self.share_width()
        self.refresh_all()

    def _schedule(self) -> None:
        if self._tick_timer is None:
            wait = self._pace.wait(time.monotonic())
            if wait is not None:
                self._tick_timer = self.set_timer(max(wait, 0.001), self._tick)

    def _tick(self) -> None:
        self._tick_timer = None
        for part in self._pace.due(time.monotonic()):
            self._followers[part]()
        self._schedule()

    def refresh_all(self) -> None:
        self._show_charts()
        self.show_overview()
        self._show_status()

    def paint_now(self) -> None:
        """Bring everything visible up to date at once."""
        self.refresh_all()
        self.metrics.paint_now()
        self.system.paint_now()

    @property
    def state(self) -> RunState:
        return self.model.state(self.terminal.time(), loading=not self.feed.loaded)

    @property
    def expects_system(self) -> bool:
        return not self.feed.loaded or bool(self.system_sources.all)

    # What the panes show

    def _show_charts(self) -> None:
        if self.metric_sources.renew():
            self._show_metrics()
        had = bool(self.system_sources.all)
        if self.system_sources.renew():
            self._show_system()
        if had != bool(self.system_sources.all):
            self.share_width()
        for grid in (self.metrics, self.system):
            grid.data_changed()
        if isinstance(self.app.screen, ChartScreen):
            self.app.screen.data_changed()
        self._show_notes()

    def _show_metrics(self) -> None:
        self.metrics.show(self.metric_sources.select(self.filters["metrics"]))
        self._show_headings()

    def _show_system(self) -> None:
        self.system.show(self.system_sources.select(self.filters["system"]))
        self.suit_grid(self.system)
        self._show_headings()

    def _show_notes(self) -> None:
        """A sentence in place of an empty grid."""
        for subject, grid in self._grids:
            note = self.query_one(f"#{subject}-note", Static)
            text = "" if grid.sources else empty_note(subject, self.feed, self.filters[subject], self.state)
            grid.display, note.display = not text, bool(text)
            if text:
                note.update(Content(text))

    def show_overview(self) -> None:
        if self.query_one("#overview-pane").display:
            self.overview.show(self.sections.now(self.state))

    def _show_status(self) -> None:
        now = self.terminal.time()
        parts = state_parts(self.model, self.state, now)
        if not self.feed.loaded:
            parts.append(progress_part(self.feed))
        first, last, count = self.grid.page
        if last - first + 1 < count:
            size = self.grid.page_layout.capacity
            parts.append(Part(f"page {(first - 1) // size + 1}/{-(-count // size)}", rank=5))
        held = self.filters["system" if self.grid is self.system else "metrics"]
        place: Place = "filter" if self.filter_line is not None and self.filter_line.display else "run"
        if held and place == "run":
            shown, total = self._filter_count("system" if self.grid is self.system else "metrics")
            parts.append(Part(f"{shown_filter(held)} {shown}/{total}", "status--message", rank=6))
        if self.metric_sources.axis != "auto":
            parts.append(Part(f"x: {self.metric_sources.axis}", rank=4))
        if self.found.others:
            runs = "run" if self.found.others == 1 else "runs"
            parts.append(Part(f"+{self.found.others} other {runs}", "status--quiet", rank=1))
        self.status.show(parts, hints(place))
        self._await_age(now)

    def _await_age(self, now: float) -> None:
        """Wake up when the age of the last write reads differently: each second, later each minute."""
        if self._age_timer is not None:
            self._age_timer.stop()
            self._age_timer = None
        if self.terminal.now is None and self.feed.live and self.model.modified:
            age = max(0.0, now - self.model.modified)
            wait = 1.0 if age < 60 and self.state.live else 60.0 - age % 60 + 0.5
            self._age_timer = self.set_timer(wait, self._time_has_passed)

    def _time_has_passed(self) -> None:
        self._show_status()
        if not self.model.exit_code and self.state.doubtful:
            self.show_overview()

    def _show_headings(self) -> None:
        for subject, grid in self._grids:
            note = grid.page_label.strip("[]") or (str(len(grid.sources)) if grid.sources else "")
            self.query_one(f"#{subject}-pane", Pane).heading.show(note, shown_filter(self.filters[subject]))
        kept = self.filters["overview"]
        count = "{}/{}".format(*self.overview.count) if kept else ""
        self.query_one("#overview-pane", Pane).heading.show(count, shown_filter(kept))

    # Commands

    def action_pane(self, action: str, *arguments: object) -> None:
        """An act of the pane in focus; acts on charts go to the metrics when the overview is in focus."""
        target = self.pane if hasattr(self.pane, f"action_{action}") else self.grid
        getattr(target, f"action_{action}")(*arguments)

    def action_open(self) -> None:
        if self.pane is self.overview:
            self.overview.action_open()
        else:
            self.grid.action_fullscreen()

    def action_back(self) -> None:
        """One thing less: the digit that is awaited, the crosshair, the chart in focus, the place in a sidebar."""
        if self._grid_part is not None:
            self._end_grid()
        elif not (self.metrics.action_leave() or self.system.action_leave()) and self.pane is not self.metrics:
            if self.query_one("#metrics-pane").display:
                self.focus_pane("metrics")
            else:
                self.toggle("overview" if self.pane is self.overview else "system")

    def action_help(self) -> None:
        from leet.tui.screens.help_screen import HelpScreen

        self.app.push_screen(HelpScreen())

    def action_x_axis(self) -> None:
        top = self.app.screen
        grid = top.grid if isinstance(top, ChartScreen) else self.metrics
        first, last, _ = grid.page
        name = self.metric_sources.next_axis([source.key for source in grid.sources[max(0, first - 1) : last]])
        # Windows and crosshair were places on the axis before.
        for view in list(self.metrics.views):
            self.metrics.views[view] = self.metrics.views[view].reset()
        self.metrics.set_crosshair(None)
        self.metrics.paint_now()
        self.tell(f"x axis: {name}")
        self._show_status()

    def action_tail_window(self) -> None:
        window = self.system_sources.next_window()
        self.system.paint_now()
        self.tell("system metrics: " + (f"the last {window:.0f} minutes" if window else "the whole run"))
        self._show_status()

    def action_grid(self, part: str) -> None:
        """Await the digit that says how many rows or columns."""
        self._grid_part = part
        self.status.say(f"{part} of the {'system ' if self.grid is self.system else ''}grid: 1–9")
        self.set_timer(GRID_SECONDS, self._end_grid)

    def action_digit(self, number: int) -> None:
        part = self._grid_part
        if part is None:
            return
        self.grids_chosen.add((self.grid.id or "", part))
        getattr(self.grid, f"action_set_{part}")(number)
        self._end_grid()

    def _end_grid(self) -> None:
        if self._grid_part is not None:
            self._grid_part = None
            self.status.say()

    def go_to_metric(self, name: str) -> None:
        """Turn to the chart of a metric; a filter that hides it is lifted."""
        if self.filters["metrics"] and not self.filters["metrics"].matches(name):
            self.action_clear_filter("metrics")
        index = self.metrics.sources.index_of(name) if isinstance(self.metrics.sources, SelectedMetrics) else None
        if index is not None:
            self.focus_pane("metrics")
            self.metrics.focus_chart(index)

    # Filters

    async def action_filter(self, subject: Subject) -> None:
        held = self.filters[subject]
        if subject != "metrics" and not self.query_one(f"#{subject}-pane").display:
            self.toggle("overview" if subject == "overview" else "system")
        if self.filter_line is None:
            from leet.tui.widgets.filter_line import FilterLine

            self.filter_line = FilterLine(id="filter")
            await self.mount(self.filter_line, before=self.status)
        self.filter_line.open(subject, held.text, held.mode)
        self.filter_line.show_count(*self._filter_count(subject), held.error)
        self._show_status()

    def action_clear_filter(self, subject: Subject) -> None:
        line = self.filter_line
        if line is not None and line.display and line.subject == subject:
            line.clear()
        self._apply_filter(subject, TextFilter(""))

    def on_filter_changed(self, event: FilterChanged) -> None:
        wanted = TextFilter(event.text, event.mode)
        if wanted.error is None:
            self._apply_filter(event.subject, wanted)
        # Patterns can turn out too slow only when they are used, so the error is looked at now.
        if self.filter_line is not None:
            self.filter_line.show_count(*self._filter_count(event.subject), wanted.error)

    def on_filter_closed(self, event: FilterClosed) -> None:
        self.focus_pane(event.subject)
        self._show_status()

    def _apply_filter(self, subject: Subject, wanted: TextFilter) -> None:
        before = self.filters[subject]
        self.filters[subject] = wanted
        if subject == "overview":
            keep = (lambda row: wanted.matches(row.key) or wanted.matches(row.value)) if wanted else None
            self.overview.filter(keep)
            self._show_headings()
        else:
            (self._show_metrics if subject == "metrics" else self._show_system)()
            self._show_notes()
        if wanted.error is not None:
            self._apply_filter(subject, before)
        self._show_status()

    def _filter_count(self, subject: Subject) -> tuple[int, int]:
        if subject == "overview":
            return self.overview.count
        if subject == "metrics":
            return len(self.metrics.sources), len(self.metric_sources.names)
        return len(self.system.sources), len(self.system_sources.all)

    # Messages of the panes

    def on_chart_grid_page_changed(self, event: ChartGrid.PageChanged) -> None:
        event.stop()
        self._show_headings()
        self._show_status()

    def on_chart_grid_fullscreen_requested(self, event: ChartGrid.FullscreenRequested) -> None:
        event.stop()
        grid = event.grid

        def come_back(key: str | None) -> None:
            index = next((i for i, source in enumerate(grid.sources) if source.key == key), None)
            grid.focus_chart(index)
            self.paint_now()

        self.app.push_screen(ChartScreen(grid, event.source), come_back)

    def on_chart_grid_crosshair_moved(self, event: ChartGrid.CrosshairMoved) -> None:
        event.stop()
        self._moment.follow(event)

    def on_value_opened(self, event: ValueOpened) -> None:
        from leet.tui.screens.text_screen import TextScreen

        full = self.sections.full(self.overview.section, event.key) or event.value
        self.app.push_screen(TextScreen(event.key, full))

    def on_row_selected(self, event: RowSelected) -> None:
        self.status.say(f"{event.key} = {event.value}")


def shown_filter(held: TextFilter) -> str:
    """A filter as the heading of its pane shows it."""
    if not held:
        return ""
    return clean(f"/{held.text}/" if held.mode == "regex" else held.text)
