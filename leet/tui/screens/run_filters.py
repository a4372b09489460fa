"""Filters of panes over one run: the line in which they are typed, and what they are for where one is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leet.model.filter import TextFilter
from leet.tui.messages import FilterChanged, FilterClosed, Subject
from leet.tui.metric_pool import MetricPool
from leet.tui.screens.run_painting import FILTERED_WITH_SLASH, SUBJECTS, ShownPanes, shown_filter
from leet.tui.shown_run import ShownRun
from leet.tui.terminal import Terminal

if TYPE_CHECKING:
    from leet.tui.widgets.filter_line import FilterLine


class FilteredPanes(ShownPanes):
    """Panes whose filters can be typed."""

    def __init__(self, terminal: Terminal, metric_sources: MetricPool, run: ShownRun | None) -> None:
        super().__init__(terminal, metric_sources, run)
        self.filter_line: FilterLine | None = None
        """Made when a filter is first typed."""
        self._came_from: dict[Subject, tuple[str, str, int]] = {}
        """What held before a filter was typed, text and mode, and the first chart of the page then: to go back to."""

    @property
    def typing(self) -> bool:
        return self.filter_line is not None and self.filter_line.display

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
        if subject in ("metrics", "system"):
            self._came_from[subject] = held.text, held.mode, max(0, self.grid_of(subject).page[0] - 1)
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
            more = event.subject == "metrics" and self._finding is not None
            self.filter_line.show_count(*self.filter_count(event.subject), wanted.error, more=more)

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
            if (wanted.text, wanted.mode) != (before.text, before.mode):
                *then, first = self._came_from.get(subject, ("", "", 0))
                self._turn_to[subject] = first if then == [wanted.text, wanted.mode] else 0
            (self._show_metrics if subject == "metrics" else self._show_system)()
            self._show_notes()
        elif subject in self.panes:
            self.panes[subject].content.filter(wanted if wanted else None)  # type: ignore[attr-defined]  # both panes have it
            self._show_headings()
            self._show_notes()
        if wanted.error is not None and subject != "metrics":
            self.apply_filter(subject, before)
        self.show_status()

    def metrics_found(self) -> None:
        line = self.filter_line
        if line is not None and line.display and line.subject == "metrics":
            if self.filters["metrics"].text != line.input.value:
                return  # why that is no filter stands there
            line.show_count(*self.filter_count("metrics"), None, more=self._finding is not None)
        elif self._finding is None:
            self._show_notes()
            self.show_status()

    def filter_failed(self, wanted: TextFilter) -> None:
        super().filter_failed(wanted)
        line = self.filter_line
        if line is not None and line.display and line.subject == "metrics":
            line.show_count(*self.filter_count("metrics"), wanted.error)
        else:
            self.tell(f"the filter {shown_filter(wanted)} is given up: {wanted.error}")
            self.show_status()
