"""What every screen of runs has in common: panes about one run, charts of metrics, filters, a status line."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from textual.timer import Timer
from textual.widget import Widget

from leet.model.filter import TextFilter
from leet.model.metrics import Axis
from leet.model.safe_text import clean
from leet.settings.view_state import ViewState
from leet.tui import preferences
from leet.tui.commands import Place, hints
from leet.tui.facts import empty_note, progress_part, state_parts
from leet.tui.memory import Memory
from leet.tui.messages import (
    FilterChanged,
    FilterClosed,
    MomentChosen,
    PaneNoteChanged,
    RowSelected,
    Subject,
    ValueOpened,
)
from leet.tui.pace import Pace
from leet.tui.screens.chart_screen import ChartScreen
from leet.tui.screens.panes_screen import PanesScreen
from leet.tui.shown_run import ShownRun
from leet.tui.terminal import Terminal
from leet.tui.widgets.chart_grid import ChartGrid, ChartSource
from leet.tui.widgets.console_messages import Told
from leet.tui.widgets.shared_moment import SharedMoment
from leet.tui.widgets.status_line import Part, StatusLine

if TYPE_CHECKING:
    from leet.tui.widgets.filter_line import FilterLine

OVERVIEW_SECONDS = 2.0
STATUS_SECONDS = 1.0
CHARTS_SECONDS = 0.25
GRID_SECONDS = 4.0
"""How long `c` and `r` wait for their digit."""
SUBJECTS: tuple[Subject, ...] = ("metrics", "system", "overview", "logs", "media")
PANE_OF_DIGIT = {1: "metrics", 2: "system", 3: "media", 4: "logs"}
FILTERED_WITH_SLASH = ("logs", "media")
"""Panes that `/` filters while they have the focus; elsewhere it filters the metrics."""


class MetricPool(Protocol):
    """Where a screen's metric charts come from: one run (`MetricSources`) or several."""

    @property
    def names(self) -> Sequence[str]: ...
    @property
    def axis(self) -> Axis: ...
    def set_axis(self, axis: Axis) -> None: ...
    def next_axis(self, names: Sequence[str]) -> str: ...
    def renew(self) -> bool: ...
    def forget(self) -> None: ...
    def select(self, wanted: TextFilter) -> Sequence[ChartSource]: ...


class RunPanes(PanesScreen):
    """Panes over one run at a time. Panes are told what to show and hold nothing else.

    Subclasses say which run (`run`, `show_run`), which metrics (`metric_sources`) and what the status line tells of
    the screen itself (`own_parts`); they read the feeds, and `mark` what has changed.
    """

    PLACE: ClassVar[Place]
    loaded: asyncio.Event
    """What was there at the beginning, and what has been asked for since, has been read."""

    def __init__(self, terminal: Terminal, metric_sources: MetricPool, run: ShownRun | None) -> None:
        super().__init__(terminal)
        self.terminal = terminal
        self.run = run
        self.metric_sources = metric_sources
        self.filters: dict[Subject, TextFilter] = {subject: TextFilter("") for subject in SUBJECTS}
        self.filter_line: FilterLine | None = None
        """Made when a filter is first typed."""
        self._pace = Pace({"charts": CHARTS_SECONDS, "overview": OVERVIEW_SECONDS, "status": STATUS_SECONDS})
        self._followers = {"charts": self.show_charts, "overview": self.show_overview, "status": self.show_status}
        self._tick_timer: Timer | None = None
        self._grid_part: str | None = None
        self._moment = SharedMoment(self.metrics, self.system)
        self.looks: Memory | None = None
        self.dress()

    # What is remembered of the directory

    def remember_in(self, view: ViewState) -> None:
        """Look as the settings say and as the directory was left, and remember there what a person changes."""
        self.looks = Memory(self, view)
        self.looks.wear_settings()
        self.looks.restore()

    def keep(self) -> None:
        """A person has changed how the screen looks."""
        if self.looks is not None:
            self.looks.keep()

    def layout_changed(self) -> None:
        self.keep()

    def restore_filter(self, subject: Subject, wanted: TextFilter) -> None:
        """Let a filter hold from the first picture on."""
        self.filters[subject] = wanted
        if subject == "overview":
            self.overview.filter(lambda row: wanted.matches(row.key) or wanted.matches(row.value))

    # Which run

    def show_run(self, run: ShownRun | None) -> None:
        """Tell of this run from now on, in every pane but that of the metrics."""
        self.run = run
        self.system.views.clear()
        for name in self.panes:
            self._tell_of_run(name)
        self._show_system(renewed=True)
        self.share_out()
        self.refresh_all()

    def _tell_of_run(self, name: str) -> None:
        show = getattr(self.panes[name].content, "show_model", None)
        if show is not None and self.run is not None:
            show(self.run.model, self.run.feed)

    def pane_made(self, name: str) -> None:
        self._tell_of_run(name)
        if name in self.grid_sizes:
            self.choose_grid(name, *self.grid_chosen(name))
        wanted = self.filters.get(name)  # type: ignore[call-overload]  # not every pane has a filter
        if wanted and name in FILTERED_WITH_SLASH:
            self.panes[name].content.filter(wanted)  # type: ignore[attr-defined]  # see the line above

    def content_of(self, name: str) -> Widget:
        if name == "logs":
            from leet.tui.widgets.console_view import ConsoleView

            return ConsoleView(id="logs")
        if name == "media":
            from leet.tui.widgets.media_wall import MediaWall

            return MediaWall(id="media")
        return super().content_of(name)

    @property
    def expects_system(self) -> bool:
        return self.run is None or not self.run.feed.loaded or bool(self.run.system_sources.all)

    # The paint tick: what has been marked is brought up to date, each kind at its own pace

    def mark(self, *what: str) -> None:
        """Note that `charts`, `overview` or `status` have changed."""
        self._pace.mark(*what)

    def schedule(self) -> None:
        """See to it that what has been marked is painted."""
        if self._tick_timer is None:
            wait = self._pace.wait(time.monotonic())
            if wait is not None:
                self._tick_timer = self.set_timer(max(wait, 0.001), self._tick)

    def _tick(self) -> None:
        self._tick_timer = None
        for part in self._pace.due(time.monotonic()):
            self._followers[part]()
        self.schedule()

    def refresh_all(self) -> None:
        self.show_charts()
        self.show_overview()
        self.show_status()

    def paint_now(self) -> None:
        """Bring everything visible up to date at once."""
        self.refresh_all()
        for pane in self.panes.values():
            paint = getattr(pane.content, "paint_now", None)
            if paint is not None and pane.display:
                paint()

    def tell(self, *message: str) -> None:
        """Say something on the screen that is on top, if it has a line for it."""
        for line in self.app.screen.query(StatusLine):
            line.say(*message)

    # What the panes show

    def show_charts(self) -> None:
        if self.metric_sources.renew():
            self._show_metrics()
        if self.run is not None:
            had = bool(self.run.system_sources.all)
            if self.run.system_sources.renew():
                self._show_system()
            if had != bool(self.run.system_sources.all):
                self.share_out()
        for name, pane in self.panes.items():
            changed = getattr(pane.content, "data_changed", None)
            if changed is not None and name != "overview" and pane.display:
                changed()
        if isinstance(self.app.screen, ChartScreen):
            self.app.screen.data_changed()
        self._show_headings()
        self._show_notes()

    def _show_metrics(self) -> None:
        self.metrics.show(self.metric_sources.select(self.filters["metrics"]))
        self._show_headings()

    def _show_system(self, *, renewed: bool = False) -> None:
        sources = self.run.system_sources if self.run is not None else None
        if renewed and sources is not None:
            sources.renew()
        self.system.show(sources.select(self.filters["system"]) if sources is not None else [])
        self.suit_grid(self.system)
        self._show_headings()

    def _show_notes(self) -> None:
        """A sentence in place of a pane with nothing in it."""
        for name, pane in self.panes.items():
            if pane.display:
                pane.say(self.empty_note(name))

    def empty_note(self, name: str) -> str:
        """What stands in a pane instead of its content; empty when there is content."""
        if name in ("metrics", "system"):
            grid = self.metrics if name == "metrics" else self.system
            if grid.sources or self.run is None:
                return ""
            subject: Subject = "metrics" if name == "metrics" else "system"
            return empty_note(subject, self.run.feed, self.filters[subject], self.run.state)
        return str(getattr(self.panes[name].content, "empty_note", ""))

    def show_overview(self) -> None:
        if self.shows("overview") and self.run is not None:
            self.overview.show(self.run.sections.now(self.run.state))

    def own_parts(self) -> list[Part]:
        """What the status line tells besides the run and the filter."""
        return []

    @property
    def typing(self) -> bool:
        """A filter is being typed."""
        return self.filter_line is not None and self.filter_line.display

    def show_status(self) -> None:
        parts: list[Part] = []
        if self.run is not None:
            parts = state_parts(self.run.model, self.run.state, self.terminal.time())
            if not self.run.feed.loaded:
                parts.append(progress_part(self.run.feed))
            if (link := self.run.feed.link) is not None:
                from leet.tui.remote_link import link_part

                parts.append(link_part(link))
        first, last, count = self.grid.page
        if last - first + 1 < count:
            size = self.grid.page_layout.capacity
            parts.append(Part(f"page {(first - 1) // size + 1}/{-(-count // size)}", rank=5))
        subject: Subject = "system" if self.grid is self.system else "metrics"
        held = self.filters[subject]
        place: Place = "filter" if self.typing else self.PLACE
        if held and place != "filter":
            shown, total = self.filter_count(subject)
            parts.append(Part(f"{shown_filter(held)} {shown}/{total}", "status--message", rank=6))
        if self.metric_sources.axis != "auto":
            parts.append(Part(f"x: {self.metric_sources.axis}", rank=4))
        self.status.show([*parts, *self.own_parts()], hints(place))

    def _show_headings(self) -> None:
        for name, pane in self.panes.items():
            content = pane.content
            held = self.filters.get(name)  # type: ignore[call-overload]  # not every pane has a filter
            if isinstance(content, ChartGrid):
                note = content.page_label.strip("[]") or (str(len(content.sources)) if content.sources else "")
                if name == "system" and note and (tail := self._tail_note(pane.size.width)):
                    note += f" · {tail}"
            elif name == "overview":
                note = "{}/{}".format(*self.overview.count) if held else ""
            else:
                note = str(getattr(content, "note", ""))
            pane.heading.show(note, shown_filter(held) if held else "")

    def _tail_note(self, width: int) -> str:
        """`last 10 min` while no more than that is drawn of system metrics; shorter in a narrow pane."""
        window = self.run.system_sources.window if self.run is not None else None
        return "" if window is None else f"{'last ' if width >= 40 else ''}{window:g} min"

    # Commands

    def action_pane(self, action: str, *arguments: object) -> None:
        """An act of the pane in focus; acts on charts go to the metrics when another pane is in focus."""
        target = self.pane if hasattr(self.pane, f"action_{action}") else self.grid
        getattr(target, f"action_{action}")(*arguments)

    def action_open(self) -> None:
        pane = self.pane
        if isinstance(pane, ChartGrid):
            pane.action_fullscreen()
        elif hasattr(pane, "action_open"):
            pane.action_open()

    def action_back(self) -> None:
        """One thing less: the digit that is awaited, a mode of a pane, the chart in focus, the place in a sidebar."""
        if self._grid_part is not None:
            self._end_grid()
            return
        leaving = [self.pane, self.metrics, self.system]
        if any(pane.action_leave() for pane in leaving if hasattr(pane, "action_leave")):
            return
        if self.pane is not self.panes[self.home].content:
            self._go_home()
        else:
            self.go_up()

    @property
    def home(self) -> str:
        """The pane that Esc leads to in the end."""
        return "metrics"

    def _go_home(self) -> None:
        name = self.focused_name
        if self.shows(self.home):
            self.focus_pane(self.home)
        elif name is not None:
            self.toggle(name)

    def go_up(self) -> None:
        """Esc where there is nothing left to leave."""

    def action_open_newer(self) -> None:
        """Show the run that has started since."""

    def action_inspect_records(self) -> None:
        from leet.tui.screens.records_screen import RecordsScreen

        if self.run is not None:
            self.app.push_screen(RecordsScreen(self.run.feed.log, live=self.run.feed.live))

    def action_help(self) -> None:
        from leet.tui.screens.help_screen import HelpScreen

        self.app.push_screen(HelpScreen(self.PLACE))

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
        self.show_status()
        self.keep()

    def action_guides(self) -> None:
        """The next kind of guides, in all charts of the screen."""
        self.metrics.action_cycle_guides()
        self.system.guides = self.metrics.guides
        self.tell(f"guides: {self.metrics.guides}")
        self.keep()

    def action_smoothing(self) -> None:
        """The next strength of smoothing of the metrics."""
        self.metrics.action_cycle_smoothing()
        weight = self.metrics.smoothing
        self.tell(f"smoothing: {weight:g}, points faint behind" if weight else "smoothing: off")
        self.keep()

    def on_settings_changed(self) -> None:
        """Show the charts as the settings say now."""
        guides, smoothing = self.metrics.guides, self.metrics.smoothing
        self.dress()
        if self.looks is not None:
            self.looks.settings_changed(guides, smoothing)
            self.share_out()
        self.keep()
        self.refresh_all()

    def dress(self) -> None:
        """Give the charts the looks that were set."""
        preferences.dress(self.metrics, "metrics", single=self.PLACE == "run")
        preferences.dress(self.system, "system", single=self.PLACE == "run")

    def action_tail_window(self) -> None:
        if self.run is None:
            return
        window = self.run.system_sources.next_window()
        self.system.paint_now()
        self._show_headings()
        self.tell("system metrics: " + (f"the last {window:.0f} minutes" if window else "the whole run"))
        self.show_status()

    def action_grid(self, part: str) -> None:
        """Await the digit that says how many rows or columns."""
        self._grid_part = part
        name = self.focused_name if hasattr(self.pane, f"action_set_{part}") else "metrics"
        self.status.say(f"{part} of the {'' if name == 'metrics' else f'{name} '}grid: 1–9")
        self.set_timer(GRID_SECONDS, self._end_grid)

    def action_digit(self, number: int) -> None:
        """The digit that is awaited; else the pane with that number, or (0) the usual sizes of all."""
        part = self._grid_part
        if part is None:
            if number in PANE_OF_DIGIT:
                self.toggle(PANE_OF_DIGIT[number])
            elif number == 0:
                self.action_reset_sizes()
        elif number:
            pane = self.pane if hasattr(self.pane, f"action_set_{part}") else self.grid
            self.grid_set(pane.id or "", part, number)
            self._end_grid()
            self.keep()

    def _end_grid(self) -> None:
        if self._grid_part is not None:
            self._grid_part = None
            self.status.say()

    def go_to_metric(self, name: str) -> None:
        """Turn to the chart of a metric; a filter that hides it is lifted."""
        if self.filters["metrics"] and not self.filters["metrics"].matches(name):
            self.action_clear_filter("metrics")
        index_of = getattr(self.metrics.sources, "index_of", None)
        index = index_of(name) if index_of is not None else None
        if index is not None:
            if not self.shows("metrics"):
                self.toggle("metrics")
            self.focus_pane("metrics")
            self.metrics.focus_chart(index)

    # Filters

    async def action_filter(self, subject: Subject) -> None:
        subject = self._subject_here(subject)
        held = self.filters[subject]
        if not self.shows(subject):
            self.toggle(subject)
        if self.filter_line is None:
            from leet.tui.widgets.filter_line import FilterLine

            self.filter_line = FilterLine(id="filter")
            await self.mount(self.filter_line, before=self.status)
        self.filter_line.open(subject, held.text, held.mode)
        self.filter_line.show_count(*self.filter_count(subject), held.error)
        self.show_status()

    def _subject_here(self, subject: Subject) -> Subject:
        """What `/` filters depends on where one is."""
        name = self.focused_name
        if subject == "metrics" and name in FILTERED_WITH_SLASH:
            return next(s for s in SUBJECTS if s == name)
        return subject

    def action_clear_filter(self, subject: Subject) -> None:
        subject = self._subject_here(subject)
        line = self.filter_line
        if line is not None and line.display and line.subject == subject:
            line.clear()
        self.apply_filter(subject, TextFilter(""))
        self.keep()

    def on_filter_changed(self, event: FilterChanged) -> None:
        wanted = TextFilter(event.text, event.mode)
        if wanted.error is None:
            self.apply_filter(event.subject, wanted)
        # Patterns can turn out too slow only when they are used, so the error is looked at now.
        if self.filter_line is not None:
            self.filter_line.show_count(*self.filter_count(event.subject), wanted.error)

    def on_filter_closed(self, event: FilterClosed) -> None:
        self.focus_pane(event.subject)
        self.show_status()
        self.keep()

    def apply_filter(self, subject: Subject, wanted: TextFilter) -> None:
        """Let a filter hold from now on; the one before again if it turns out to be none."""
        before = self.filters[subject]
        self.filters[subject] = wanted
        if subject == "overview":
            keep = (lambda row: wanted.matches(row.key) or wanted.matches(row.value)) if wanted else None
            self.overview.filter(keep)
            self._show_headings()
        elif subject in ("metrics", "system"):
            (self._show_metrics if subject == "metrics" else self._show_system)()
            self._show_notes()
        elif subject in self.panes:
            self.panes[subject].content.filter(wanted if wanted else None)  # type: ignore[attr-defined]  # both panes have it
            self._show_headings()
            self._show_notes()
        if wanted.error is not None:
            self.apply_filter(subject, before)
        self.show_status()

    def filter_count(self, subject: Subject) -> tuple[int, int]:
        """(kept, all) of what a filter is for."""
        if subject == "metrics":
            return len(self.metrics.sources), len(self.metric_sources.names)
        if subject == "system":
            return len(self.system.sources), len(self.run.system_sources.all) if self.run is not None else 0
        counted: Any = self.panes[subject].content
        kept, total = counted.count
        return kept, total

    # Messages of the panes

    def on_pane_note_changed(self, event: PaneNoteChanged) -> None:
        event.stop()
        self._show_headings()
        line = self.filter_line
        if line is not None and line.display and line.subject == event.pane:
            # What passes is still being found.
            line.show_count(*self.filter_count(line.subject), TextFilter(line.input.value, line.mode).error)

    def on_chart_grid_page_changed(self, event: ChartGrid.PageChanged) -> None:
        event.stop()
        self._show_headings()
        self.show_status()

    def on_chart_grid_fullscreen_requested(self, event: ChartGrid.FullscreenRequested) -> None:
        event.stop()
        grid = event.grid

        def come_back(key: str | None) -> None:
            index = next((i for i, source in enumerate(grid.sources) if source.key == key), None)
            grid.focus_chart(index)
            self.paint_now()

        self.app.push_screen(ChartScreen(grid, event.source, self), come_back)

    def on_chart_grid_crosshair_moved(self, event: ChartGrid.CrosshairMoved) -> None:
        event.stop()
        if not self._moment.follow(event):
            return
        for pane in self.panes.values():
            show = getattr(pane.content, "show_moment", None)
            if show is not None and pane.display:
                show(self._moment.now)

    def on_moment_chosen(self, event: MomentChosen) -> None:
        """A line of the console, or a picture, has been chosen: the charts go to when it was logged."""
        event.stop()
        self._moment.go_to(event.moment)

    def on_told(self, event: Told) -> None:
        event.stop()
        self.tell(clean(event.text))

    def on_value_opened(self, event: ValueOpened) -> None:
        from leet.tui.screens.text_screen import TextScreen

        full = self.run.sections.full(self.overview.section, event.key) if self.run is not None else ""
        self.app.push_screen(TextScreen(event.key, full or event.value))

    def on_row_selected(self, event: RowSelected) -> None:
        self.status.say(f"{event.key} = {event.value}")


def shown_filter(held: TextFilter) -> str:
    """A filter as the heading of its pane shows it."""
    if not held:
        return ""
    return clean(f"/{held.text}/" if held.mode == "regex" else held.text)
