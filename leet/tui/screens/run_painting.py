"""What panes over one run show: charts, overview, headings, notes, the status line, each at its own pace."""

from __future__ import annotations

import asyncio
import math
import time
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar

from textual.timer import Timer
from textual.widget import Widget

from leet.charts.threshold import Threshold
from leet.model.filter import TextFilter
from leet.model.name_search import NameSearch
from leet.model.safe_text import clean
from leet.settings.view_state import ViewState
from leet.tui import preferences
from leet.tui.commands import Place, hints, keys_in_words
from leet.tui.facts import empty_note, progress_part, state_parts
from leet.tui.memory import Memory
from leet.tui.messages import Subject
from leet.tui.metric_pool import MetricPool
from leet.tui.pace import Pace
from leet.tui.screens.chart_screen import ChartScreen
from leet.tui.screens.pane_borders import BorderedPanes
from leet.tui.screens.panes_screen import TITLES
from leet.tui.shown_run import ShownRun
from leet.tui.sources import AXIS_NAMES, SelectedMetrics
from leet.tui.terminal import Terminal
from leet.tui.threshold_watch import ThresholdWatch, call
from leet.tui.widgets.chart_grid import ChartGrid
from leet.tui.widgets.chart_source import SystemSource
from leet.tui.widgets.status_line import HINTS_KEPT, Part, StatusLine

if TYPE_CHECKING:
    from leet.remote.link import Link

OVERVIEW_SECONDS = 2.0
STATUS_SECONDS = 1.0
CHARTS_SECONDS = 0.25
FIND_AT_ONCE_SECONDS = 0.02
"""For which metrics that pass a filter are sought before what has been typed is on the screen …"""
FIND_SECONDS = 0.01
"""… and then between two looks at what else there is to do,"""
FIND_PAUSE_SECONDS = 0.005
"""with so long a pause for it."""
FOUND_SECONDS = 0.1
"""How often what is known so far is shown."""
SUBJECTS: tuple[Subject, ...] = ("metrics", "system", "overview", "logs", "media")
FILTERED_WITH_SLASH = ("logs", "media")
"""Panes that `/` filters while they have the focus; elsewhere it filters the metrics."""
OWN_KEYS: dict[str | None, Place] = {"logs": "logs", "media": "media"}
"""Panes with keys of their own: where these stand in the table of commands."""
SIDEBARS: dict[Place, tuple[str, str]] = {
    "run": ("overview", "system"),
    "workspace": ("runs_sidebar", "runs_overview"),
}
"""Commands that show the left sidebar and the right one."""


class ShownPanes(BorderedPanes):
    """Panes are told what to show and hold nothing else. Whoever reads the feeds `mark`s what has changed."""

    PLACE: ClassVar[Place]
    loaded: asyncio.Event
    """What was there at the beginning, and what has been asked for since, has been read."""

    def __init__(self, terminal: Terminal, metric_sources: MetricPool, run: ShownRun | None) -> None:
        super().__init__(terminal)
        self.terminal = terminal
        self.run = run
        self.metric_sources = metric_sources
        self._finding: NameSearch | None = None
        """The search for the metrics that pass the filter, while it goes on."""
        self._find_timer: Timer | None = None
        self._found_at = 0.0
        self._held = TextFilter("")
        """The filter of the metrics that was the last to find all that it finds."""
        self._turn_to: dict[Subject, int] = {}
        """The number of the chart whose page is turned to as soon as a new filter has found all that it finds."""
        self._system_shown: list[SystemSource] | None = None
        """All system metrics when the pane was last told of them, before its filter."""
        self.filters: dict[Subject, TextFilter] = {subject: TextFilter("") for subject in SUBJECTS}
        self._pace = Pace({"charts": CHARTS_SECONDS, "overview": OVERVIEW_SECONDS, "status": STATUS_SECONDS})
        self._followers = {"charts": self.show_charts, "overview": self.show_overview, "status": self.show_status}
        self._tick_timer: Timer | None = None
        self._thresholds = ThresholdWatch()
        self._thresholds_held: dict[str, Threshold] = {}
        self.looks: Memory | None = None
        self.dress()

    # How it looks, and what of it is remembered of the directory

    def dress(self) -> None:
        """Give the charts the looks that were set."""
        preferences.dress(self.metrics, "metrics", single=self.PLACE == "run")
        preferences.dress(self.system, "system", single=self.PLACE == "run")

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
        # Windows are times of the run before; what was chosen of y holds for every run.
        self.system.views.update({key: view.reset() for key, view in self.system.views.items()})
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
        if self._finding is not None:
            self._find(math.inf)
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
            had = bool(self._system_shown)
            self.run.system_sources.renew()
            # Not whether they are new: another screen over the same run may have seen them first.
            if self.run.system_sources.all is not self._system_shown:
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
        """Show the metrics that pass the filter. Of very many they are found a moment at a time, between keys."""
        self._found_at = 0.0
        self._finding = NameSearch(self.filters["metrics"], self.metric_sources.names)
        self._find(FIND_AT_ONCE_SECONDS)

    def _find(self, seconds: float) -> None:
        search = self._finding
        if search is None:
            return
        if not search.go_on(seconds) and self._find_timer is None:
            self._find_timer = self.set_timer(FIND_PAUSE_SECONDS, self._find_on)
        if search.done:
            self._finding = None
            if search.wanted.error is not None:
                self.filter_failed(search.wanted)
                return
            self._held = search.wanted
        elif time.monotonic() < self._found_at:
            return
        # Pages turned and a chart in focus keep their places, which are known in the end.
        first = self._turn_to.get("metrics")
        turned = self.metrics.page[0] > 1 if first is None else first > 0
        if search.done or not (turned or self.metrics.focus_index is not None):
            found = self.metrics.favourites.arranged(search.found, str)
            self.metrics.show(SelectedMetrics(self.metric_sources, found), first)
        if search.done:
            self._turn_to.pop("metrics", None)
        self._found_at = time.monotonic() + FOUND_SECONDS
        self.metrics_found()
        self._show_headings()

    def _find_on(self) -> None:
        self._find_timer = None
        self._find(FIND_SECONDS)

    def metrics_found(self) -> None:
        """More is known of which metrics pass the filter."""

    def filter_failed(self, wanted: TextFilter) -> None:
        """A filter of the metrics takes too long: let the one before hold."""
        self.filters["metrics"] = self._held if self._held.error is None else TextFilter("")
        self._show_metrics()

    def _show_system(self, *, renewed: bool = False) -> None:
        sources = self.run.system_sources if self.run is not None else None
        if renewed and sources is not None:
            sources.renew()
        self._system_shown = sources.all if sources is not None else None
        shown = sources.select(self.filters["system"]) if sources is not None else []
        self.system.show(self.system.favourites.arranged(shown, attrgetter("key")), self._turn_to.pop("system", None))
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
            grid = self.grid_of(name)
            if grid.sources or self.run is None or (name == "metrics" and self._finding is not None):
                return ""
            subject: Subject = "metrics" if name == "metrics" else "system"
            if grid.favourites.alone and self.filter_count(subject)[1]:
                return no_favourites(name)
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
        return False

    @property
    def link(self) -> Link | None:
        """The line to another machine, of which the status line tells; None for runs that are here."""
        return self.run.feed.link if self.run is not None else None

    def run_parts(self) -> list[Part]:
        """How the run is."""
        if self.run is None:
            return []
        state = self.run.state
        parts = state_parts(self.run.model, state, self.terminal.time())
        if not self.run.feed.loaded and self.run.model.size:
            parts.append(progress_part(self.run.feed, state))
        return parts

    def show_status(self) -> None:
        if isinstance(self.app.screen, ChartScreen):
            self.app.screen.show_place()
        parts = self.run_parts()
        if (link := self.link) is not None:
            from leet.tui.remote_link import link_part

            live = self.run is None or self.run.state.live
            parts.append(link_part(link, live=live))
        first, _, count = self.grid.page
        if self.grid.page_label:
            size = self.grid.page_layout.capacity
            parts.append(Part(f"page {(first - 1) // size + 1:,}/{-(-count // size):,}", rank=5))
        subject: Subject = "system" if self.grid is self.system else "metrics"
        held = self.filters[subject]
        place: Place = "filter" if self.typing else self.PLACE
        if held and place != "filter":
            shown, total = self.filter_count(subject)
            parts.append(Part(f"{shown_filter(held)} {shown:,}/{total:,}", "status--message", rank=6))
        axis, log_x = self.metric_sources.axis, self.metric_sources.log_x
        if axis != "auto" or log_x:
            told = [AXIS_NAMES[axis]] * (axis != "auto") + ["logarithmic"] * log_x
            parts.append(Part(f"x axis: {', '.join(told)}", rank=4))
        if crossed := self._watch_thresholds():
            parts.append(Part(f"! {', '.join(map(clean, crossed))}", "status--bad", rank=7))
        if not self._visible_panes():
            parts.append(Part(self._way_back(), "status--message", rank=9))
        self.status.show([*parts, *self.own_parts()], self._hints(place))

    def _watch_thresholds(self) -> list[str]:
        """The metrics that are beyond their thresholds; of those that have come to be so, the terminal tells."""
        views = self.metrics.views
        if not any(view.threshold is not None for view in views.values()):
            return []
        crossed = self._thresholds.crossed(views, self.metric_sources)
        held = {key: view.threshold for key, view in views.items() if view.threshold is not None}
        watched = self.loaded.is_set() and held == self._thresholds_held
        self._thresholds_held = held
        if news := self._thresholds.news(crossed, watched=watched):
            call(self.app, news)
        return crossed

    def _way_back(self) -> str:
        """Which keys show panes again where all are hidden."""
        left, right = SIDEBARS[self.PLACE]
        panes = (("show_metrics", self.PLAN.centre[0]), (left, self.PLAN.left), (right, self.PLAN.right))
        return "no pane is shown: " + ", ".join(f"{keys_in_words(id_)} {TITLES[name].lower()}" for id_, name in panes)

    def _hints(self, place: Place) -> list[tuple[str, str]]:
        """Of help and quit, of the pane in focus where it has keys of its own, and of the screen."""
        shared = hints(place)
        if place == "filter" or self.focused_name not in OWN_KEYS:
            return shared
        own = hints(OWN_KEYS[self.focused_name])
        return [*shared[:HINTS_KEPT], *own, *shared[HINTS_KEPT:]]

    def on_descendant_focus(self) -> None:
        """Another pane may have other keys."""
        self.show_status()

    def filter_count(self, subject: Subject) -> tuple[int, int]:
        """(kept, all) of what a filter is for."""
        if subject == "metrics":
            found = self._finding.found if self._finding is not None else self.metrics.sources
            return len(found), len(self.metric_sources.names)
        if subject == "system":
            return len(self.system.sources), len(self.run.system_sources.all) if self.run is not None else 0
        counted: Any = self.panes[subject].content
        kept, total = counted.count
        return kept, total

    def _show_headings(self) -> None:
        for name, pane in self.panes.items():
            content = pane.content
            held = self.held(name)
            if isinstance(content, ChartGrid):
                note = content.page_label.strip("[]") or (str(len(content.sources)) if content.sources else "")
                if content.favourites.alone:
                    note += " · favourites" if note else "favourites"
                if name == "system" and note and (tail := self._tail_note(pane.size.width)):
                    note += f" · {tail}"
            elif name == "overview":
                note = "{:,}/{:,}".format(*self.overview.count) if held else ""
            else:
                note = str(getattr(content, "note", ""))
            pane.heading.show(note, held)

    def held(self, name: str) -> str:
        """What holds in a pane besides what its note tells: its filter; empty for nothing."""
        held = self.filters.get(name)  # type: ignore[call-overload]  # not every pane has a filter
        return shown_filter(held) if held else ""

    def _tail_note(self, width: int) -> str:
        """`last 10 min` while no more than that is drawn of system metrics; shorter in a narrow pane."""
        window = self.run.system_sources.window if self.run is not None else None
        return "" if window is None else f"{'last ' if width >= 40 else ''}{window:g} min"


def no_favourites(name: str) -> str:
    """What stands in place of charts where favourites are shown alone and none of them is there."""
    them = "metrics" if name == "metrics" else "system metrics"
    return f"None of the {them} here is a favourite\n\n{keys_in_words('favourites')} shows all"


def shown_filter(held: TextFilter) -> str:
    """A filter as the heading of its pane shows it."""
    if not held:
        return ""
    return clean(f"/{held.text}/" if held.mode == "regex" else held.text)
