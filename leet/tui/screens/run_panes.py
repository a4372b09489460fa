"""What every screen of runs has in common: panes about one run, and what keys and messages do to them."""

from __future__ import annotations

from leet.model.filter import TextFilter
from leet.model.safe_text import clean
from leet.tui.commands import Place, keys_in_words
from leet.tui.messages import MomentChosen, PaneNoteChanged, RowSelected, ValueOpened
from leet.tui.metric_pool import MetricPool
from leet.tui.screens.chart_choices import ChartChoices
from leet.tui.screens.chart_screen import ChartScreen
from leet.tui.screens.run_filters import FilteredPanes
from leet.tui.shown_run import ShownRun
from leet.tui.terminal import Terminal
from leet.tui.widgets.chart_grid import ChartGrid
from leet.tui.widgets.console_messages import Told
from leet.tui.widgets.shared_moment import SharedMoment

GRID_SECONDS = 4.0
"""How long `c` and `r` wait for their digit."""
PANE_OF_DIGIT = {1: "metrics", 2: "system", 3: "media", 4: "logs"}


class RunPanes(ChartChoices, FilteredPanes):
    """Panes over one run at a time.

    Subclasses say which run (`run`, `show_run`), which metrics (`metric_sources`) and what the status line tells of
    the screen itself (`own_parts`); they read the feeds, and `mark` what has changed.
    """

    def __init__(self, terminal: Terminal, metric_sources: MetricPool, run: ShownRun | None) -> None:
        super().__init__(terminal, metric_sources, run)
        self._grid_part: str | None = None
        self._reading_from: str | None = None
        """The pane that was left for the crosshair of the charts."""
        self._moment = SharedMoment(self.metrics, self.system)
        self.system.anchor_place = self.metrics.anchor_place

    # Commands

    def action_pane(self, action: str, *arguments: object) -> None:
        """An act of the pane in focus; acts on charts go to the metrics when another pane is in focus."""
        pane, target = self.pane, self.pane if hasattr(self.pane, f"action_{action}") else self.grid
        if isinstance(target, ChartGrid) and not self.shows(target.id or ""):
            self.tell(f"no charts are shown: {keys_in_words('show_metrics')} shows the metrics")
            return
        getattr(target, f"action_{action}")(*arguments)
        if isinstance(target, ChartGrid):
            self._follow_crosshair(target, pane)

    def _follow_crosshair(self, grid: ChartGrid, pane: object) -> None:
        """Go to the charts while they have a crosshair, which keys move there, and back to where one was."""
        reading = grid.crosshair is not None  # that of the other grid follows
        if reading and grid is not pane:
            self._reading_from = self.focused_name
            self.focus_pane(grid.id or "")
        elif not reading and self._reading_from is not None:
            name, self._reading_from = self._reading_from, None
            if self.shows(name):
                self.focus_pane(name)

    @property
    def chart_grid(self) -> ChartGrid:
        return self.grid

    def favourites_changed(self, grid: ChartGrid) -> None:
        (self._show_system if grid is self.system else self._show_metrics)()
        grid.paint_now()
        self._show_headings()
        self._show_notes()
        self.show_status()
        self.keep()

    def _repaint_charts(self) -> None:
        self.metrics.paint_now()
        self.system.paint_now()

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
            self._repaint_charts()
            self._follow_crosshair(self.grid, self.grid)
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

        panes: tuple[Place, ...] = ("logs", "media")
        self.app.push_screen(HelpScreen(self.PLACE, *(pane for pane in panes if pane == self.focused_name)))

    def action_x_axis(self) -> None:
        top = self.app.screen
        grid = top.grid if isinstance(top, ChartScreen) else self.metrics
        first, last, _ = grid.page
        name = self.metric_sources.next_axis([source.key for source in grid.sources[max(0, first - 1) : last]])
        self._leave_places()
        self.tell(f"x axis: {name}")

    def action_log_x(self) -> None:
        """Logarithmic x in all charts of metrics, or linear."""
        sources = self.metric_sources
        sources.set_log_x(not sources.log_x)
        self._leave_places()
        if not sources.log_x:
            self.tell("linear x")
        elif sources.axis == "clock":
            self.tell("logarithmic x, but for the time of day, which has no beginning")
        else:
            self.tell("logarithmic x: what lies at 0 or before is left out", "logarithmic x")

    def _leave_places(self) -> None:
        """Windows and crosshair were places on the x axis before."""
        for view in list(self.metrics.views):
            self.metrics.views[view] = self.metrics.views[view].reset()
        self.metrics.set_crosshair(None)
        self.metrics.paint_now()
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
        if self.metrics.favourites.alone and name not in self.metrics.favourites:
            self.action_favourites()
        index_of = getattr(self.metrics.sources, "index_of", None)
        index = index_of(name) if index_of is not None else None
        if index is not None:
            if not self.shows("metrics"):
                self.toggle("metrics")
            self.focus_pane("metrics")
            self.metrics.focus_chart(index)

    # Messages of the panes

    def on_pane_note_changed(self, event: PaneNoteChanged) -> None:
        event.stop()
        self._show_headings()
        line = self.filter_line
        if line is not None and line.display and line.subject == event.pane:
            # What passes is still being found.
            typed, held = TextFilter(line.input.value, line.mode), self.filters[line.subject]
            error = held.error if (held.text, held.mode) == (typed.text, typed.mode) else typed.error
            line.show_count(*self.filter_count(line.subject), error)

    def on_chart_grid_page_changed(self, event: ChartGrid.PageChanged) -> None:
        event.stop()
        self._show_headings()
        self.show_status()

    def on_chart_grid_view_changed(self, event: ChartGrid.ViewChanged) -> None:
        event.stop()
        if event.view.threshold is not None:
            self.show_status()
        self.keep()

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
