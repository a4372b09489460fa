"""Many runs: their list on the left, charts of the selected ones over each other, and all about the highlighted one."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.binding import BindingType
from textual.timer import Timer

from leet.model.run_entry import RunEntry
from leet.model.run_query import RunQuery
from leet.model.safe_text import clean
from leet.tui.commands import bindings, keys_in_words
from leet.tui.facts import elsewhere
from leet.tui.messages import FilterChanged, FilterClosed, RunMarked, RunOpened, RunsSorted
from leet.tui.run_labels import RunLabels
from leet.tui.screens.run_painting import no_favourites
from leet.tui.screens.workspace_groups import GroupedRuns
from leet.tui.terminal import Terminal
from leet.tui.widgets.run_query_line import RunQueryLine
from leet.tui.widgets.status_line import Part
from leet.tui.workspace_feeds import Peeked
from leet.tui.workspace_memory import SORTS

if TYPE_CHECKING:
    from leet.remote.link import Link
    from leet.remote.remote_runs import RemoteRuns

LOWER = ("system", "media", "logs")
LINE_SECONDS = 1.0
"""How often is told how it stands with a line to another machine that is not up."""
MOST_ASKED = 100
"""Runs whose settings and results are offered while a query is typed."""


class WorkspaceScreen(GroupedRuns):
    """What is said of the runs, and what a person does with them."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("workspace")

    def __init__(
        self,
        root: Path,
        terminal: Terminal,
        *,
        live: bool = True,
        highlight: Path | None = None,
        remote: RemoteRuns | None = None,
    ) -> None:
        """See `WorkspaceRuns`."""
        super().__init__(root, terminal, live=live, highlight=highlight, remote=remote)
        self.query_line: RunQueryLine | None = None
        self._asked_all: list[str] = []
        self._line_timer: Timer | None = None

    # What is said

    def empty_note(self, name: str) -> str:
        if name == "runs":
            return "" if self.workspace.entries or self.shows("metrics") else self._no_runs()
        entry = self.highlighted
        if entry is None:
            return "" if name == "overview" else self._none_listed() if name == "metrics" else "No run is highlighted"
        if name == "metrics":
            return "" if self.metrics.sources else self._no_metrics()
        if name in LOWER and entry.key not in self.selection:
            return f"{clean(entry.name)} is not selected\n\n{keys_in_words('select')} loads this run"
        if name in LOWER and isinstance(self.run, Peeked):
            run = self.feeds.get(entry.key)
            return f"Reading the log\n\n{run.feed.progress if run is not None else 0:.0%}"
        return super().empty_note(name)

    def _none_listed(self) -> str:
        """In place of the charts: those of selected runs are drawn whether these are listed or not."""
        if not self.workspace.entries:
            return self._no_runs()
        return "" if self.metrics.sources else self._no_metrics()

    def _no_metrics(self) -> str:
        if not len(self.selection) and not self.runs.entries:
            return f"No run matches {clean(self.query_now.text)!r}, and none is selected"
        if not len(self.selection):
            one, all_listed = keys_in_words("select"), keys_in_words("select_all")
            return f"No run is selected\n\n{one} selects the highlighted one, {all_listed} all that are listed"
        if self.filters["metrics"] and self.sources.names:
            shows_all = f"{keys_in_words('clear_metrics')} shows all again"
            return f"No metric matches {clean(self.filters['metrics'].text)!r}\n\n{shows_all}"
        if self.metrics.favourites.alone and self.sources.names:
            return no_favourites("metrics")
        if left := self.feeds.left:
            return f"Reading {'the log' if left == 1 else f'{left:,} logs'}\n\n{self.feeds.progress:.0%}"
        if len(self.selection) > 1:
            return "No metrics in the selected runs"
        there = elsewhere(self.run.model) if self.run is not None and self._shows_selected else ""
        return "No metrics in the selected run" + (f"\n\n{there}" if there else "")

    @property
    def _shows_selected(self) -> bool:
        return self.highlighted is not None and self.highlighted.key in self.selection

    def own_parts(self) -> list[Part]:
        many = len(self.selection)
        parts = [Part(f"{many:,} selected" if many else "none selected", rank=6)]
        if left := self.feeds.left:
            parts.append(Part(f"reading {many - left + 1:,}/{many:,}", "status--warn", rank=8))
        known, total = self.workspace.progress
        if self.workspace.scanning:
            parts.append(Part("looking for runs", "status--warn", rank=4))
        elif known < total:
            parts.append(Part(f"looked into {known:,}/{total:,}", "status--warn", rank=4))
        if self.query_now and not self._typing_query:
            kept, total = self.runs.count
            parts.append(Part(f"{clean(self.query_now.text)} {kept:,}/{total:,}", "status--message", rank=5))
        parts.append(Part(self._where, "status--quiet", rank=1))
        return [*parts, *super().own_parts()]

    @property
    def link(self) -> Link | None:
        """That of the highlighted run; where it goes worse with that of the directory, which is asked all the time."""
        of_run = super().link
        if self.remote is None:
            return of_run
        from leet.tui.remote_link import worse

        return worse(self.remote.link, of_run)

    def show_status(self) -> None:
        super().show_status()
        self._await_line()

    def _await_line(self) -> None:
        """Count the seconds while something is wrong with the line."""
        link = self.link
        if link is not None and self._line_timer is None and not link.complete:
            self._line_timer = self.set_timer(LINE_SECONDS, self._line_has_waited)

    def _line_has_waited(self) -> None:
        self._line_timer = None
        self.show_status()

    @property
    def _typing_query(self) -> bool:
        return self.query_line is not None and self.query_line.display

    @property
    def typing(self) -> bool:
        return super().typing or self._typing_query

    def held(self, name: str) -> str:
        """The filter, and what a person would wonder at: how the list is sorted, curves of runs that it leaves out."""
        if name == "runs":
            parts = [clean(self.query_now.text) if self.query_now else ""]
            if self.sort != "started" and not self.query_now.sorts:
                parts.append(f"by {clean(self.sort.removeprefix('-'))}" + (" ↓" if self.sort[0] == "-" else ""))
            return " ".join(filter(None, parts))
        held = super().held(name)
        if name == "metrics" and (count := self._unlisted):
            held += f"{' · ' if held else ''}{count:,} selected run{'s are' if count > 1 else ' is'} not listed"
        return held

    @property
    def _unlisted(self) -> int:
        """Selected runs that the query leaves out of the list; their curves are drawn all the same."""
        if not self.query_now or not self.workspace.entries:
            return 0
        return len(self.selection) - sum(entry.key in self.selection for entry in self.runs.entries)

    # Commands

    @property
    def home(self) -> str:
        return "runs" if self.shows("runs") else "metrics"

    def action_select(self) -> None:
        entry = self.highlighted
        if entry is not None:
            self._toggle(entry.key)

    def on_run_marked(self, event: RunMarked) -> None:
        event.stop()
        self._toggle(event.key)

    def _toggle(self, key: str) -> None:
        self.selection.toggle(key)
        self.selected()

    def action_pin(self) -> None:
        entry = self.highlighted
        if entry is not None:
            pinned = self.selection.pin(entry.key)
            self.tell(f"{clean(entry.name)} is pinned: drawn on top" if pinned else f"{clean(entry.name)} is unpinned")
            self.selected()

    def action_select_all(self) -> None:
        """Ask first: reading them all may take a while."""
        keys = [entry.key for entry in self.runs.entries if entry.key not in self.selection]
        if not keys:
            self.tell("all runs that are listed are selected")
            return
        self._asked_all = keys
        noun = "run" if len(keys) == 1 else "runs"
        self.status.say(
            f"select {len(keys):,} more {noun}? y selects, any other key does not", lasting=True, asking=True
        )

    def action_deselect(self) -> None:
        gone = self.selection.keep_pinned()
        self.tell(f"{gone:,} deselected" + (", the pinned run stays" if self.selection.pinned else ""))
        self.selected()

    def on_key(self, event: events.Key) -> None:
        """The answer to a question, before the key means anything else."""
        if not self._asked_all:
            return
        event.stop()
        event.prevent_default()
        keys, self._asked_all = self._asked_all, []
        self.status.say(lasting=True)
        if event.key == "y":
            self.selection.select(*keys)
            self.selected()

    def action_sort(self) -> None:
        """By the next thing."""
        names = list(SORTS)
        for column in self.runs.values:
            names += [column.name, f"-{column.name}"]
        at = names.index(self.sort) if self.sort in names else -1
        self._sort_by(names[(at + 1) % len(names)])

    def on_runs_sorted(self, event: RunsSorted) -> None:
        """Values are sorted the other way when their title is clicked again."""
        event.stop()
        again = event.by == self.sort and event.by not in SORTS
        self._sort_by(f"-{event.by}" if again else event.by)

    def _sort_by(self, by: str) -> None:
        self.sort = by
        key = keys_in_words("clear_runs")
        self.tell(
            *(f"the query says how to sort: {key} lifts it", f"{key} lifts its sorting")
            if self.query_now.sorts
            else (f"runs sorted by {clean(by.removeprefix('-'))}{', largest first' if by[0] == '-' else ''}",)
        )
        self.list_runs()
        self._keep_list()

    def _keep_list(self) -> None:
        """Remember it; but not a query that leaves nothing, which nobody wants to find next time."""
        self.runs_memory.keep_list(self.query_now if self.runs.entries else RunQuery(), self.sort)

    def on_run_opened(self, event: RunOpened) -> None:
        event.stop()
        entry = self.workspace.entries.get(event.key)
        if entry is not None:
            self.open_run(entry)

    def open_run(self, entry: RunEntry) -> None:
        """Show a run alone; Esc comes back here."""
        from leet.discovery import Found
        from leet.tui.screens.run_screen import RunScreen

        run = self.feeds.lend(entry)
        screen = RunScreen(Found(entry.log), self.terminal, run=run)
        screen.filters.update({subject: self.filters[subject] for subject in ("metrics", "system")})
        self.app.push_screen(screen)

    def on_screen_resume(self) -> None:
        """Back from a run: what it has read since is shown here too, over the x axis chosen here."""
        if self.feeds.lent:
            self.feeds.take_back()
            self.sources.forget()
            self.selected()
            self.paint_now()

    def action_compare(self) -> None:
        """What differs between the selected runs, the pinned one first."""
        from leet.tui.screens.compare_screen import CompareScreen

        entries = self.workspace.entries
        keys = [key for key in reversed(self.selection.in_drawing_order()) if key in entries]
        if len(keys) < 2:
            key = keys_in_words("select")
            self.tell(
                f"select two runs or more to compare them: {key} selects the highlighted one",
                f"select two runs or more: {key} selects",
            )
            return
        colors = [self.run_marks.of(key).color for key in keys]
        shown = [entries[key] for key in keys]
        self.app.push_screen(CompareScreen(shown, colors, self.baseline, self.hold_against, self.action_scatter))

    def run_names(self) -> list[tuple[str, str]]:
        """Key and name of every run, those that are listed first."""
        entries = {**{entry.key: entry for entry in self.runs.entries}, **self.workspace.entries}
        labels = RunLabels(entries.values())
        return [(key, labels.of(entry)) for key, entry in entries.items()]

    def go_to_run(self, key: str) -> None:
        """Highlight a run; a query that hides it is lifted."""
        if not self.shows("runs"):
            self.toggle("runs")
        self.focus_pane("runs")
        if not self.runs.highlight(key):
            self.action_clear_runs()
            self.runs.highlight(key)

    # The query

    async def action_filter_runs(self) -> None:
        if not self.shows("runs"):
            self.toggle("runs")
        if self.query_line is None:
            self.query_line = RunQueryLine(self._paths_to_ask, id="query")
            await self.mount(self.query_line, before=self.status)
        self.query_line.open("runs", self.query_now.text, self.query_now.mode)
        self.query_line.show_state(*self.runs.count, None)
        self.show_status()

    def _paths_to_ask(self) -> list[str]:
        """Settings and results of the first of the runs, by name."""
        entries = islice(self.workspace.entries.values(), MOST_ASKED)
        paths = {f"{of}.{path}" for entry in entries for of in ("config", "summary") for path in getattr(entry, of)}
        return sorted(paths)

    def action_clear_runs(self) -> None:
        if self._typing_query and self.query_line is not None:
            self.query_line.clear()
        self._apply_query(RunQuery())

    def on_filter_changed(self, event: FilterChanged) -> None:
        if event.subject != "runs":
            return  # Textual goes on to the handler of the base
        event.prevent_default()
        query = RunQuery.parse(event.text, event.mode)
        if query.error is None:
            self._apply_query(query)
        if self.query_line is not None:
            self.query_line.show_state(*self.runs.count, query.error)

    def on_filter_closed(self, event: FilterClosed) -> None:
        if event.subject == "runs":
            self._show_headings()

    def _apply_query(self, query: RunQuery) -> None:
        self.query_now, self._remembered = query, False
        self.list_runs()
        self._keep_list()
        self.show_status()
