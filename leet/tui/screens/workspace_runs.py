"""The runs of a workspace: what the scan has found, which of them are selected and read, which one is highlighted."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.timer import Timer
from textual.widget import Widget

from leet.model.run_entry import RunEntry
from leet.model.run_query import RunQuery
from leet.model.safe_text import clean
from leet.model.workspace import Workspace, WorkspaceChange
from leet.settings.view_state import ViewState
from leet.tui.commands import Place, keys_in_words
from leet.tui.messages import (
    RecordsWaiting,
    RunHighlighted,
    RunsFound,
)
from leet.tui.overlay_sources import OverlayRun, OverlaySources
from leet.tui.run_groups import RunGroups
from leet.tui.run_labels import RunLabels
from leet.tui.run_marks import Depth, RunMarks
from leet.tui.screens.panes_screen import Plan
from leet.tui.screens.run_panes import RunPanes
from leet.tui.selection import Selection
from leet.tui.shown_run import ShownRun
from leet.tui.terminal import Terminal
from leet.tui.widgets.runs_list import RunsList
from leet.tui.workspace_feeds import FeedOf, Peeked, RunFeeds, feed_of
from leet.tui.workspace_memory import WorkspaceMemory, sorting

if TYPE_CHECKING:
    from leet.remote.remote_runs import RemoteRuns

FIRST_PATIENCE = 0.08
"""Seconds that the first frame waits for the directory to be listed."""
BREATH = 0.003
"""Seconds between two stretches of applying batches, in which keys are answered and the screen is painted."""
LIST_SECONDS = 0.2
"""Least time between two looks at what the scan has found; longer where a look takes long."""
LIST_SECONDS_AT_MOST = 0.5
"""However long a look takes: the first of all makes charts, which none of the others does."""
LIST_SECONDS_WHEN_LISTED = 1.0
"""The same when all are listed, and more and more becomes known of them: those that are seen come first."""
MANY = 1000
"""Runs from which on going through all of their entries takes long."""
AGES_SECONDS = 5.0
"""After which ages and states of the list are looked at again."""
FOLLOW_SECONDS = 0.1
"""Least time between two runs that the other panes tell of: a highlight that runs down the list is not followed."""
CHOICE_SECONDS = 1.0
"""The latest run is selected when the scan is done, or this much later where it takes longer."""


class WorkspaceRuns(RunPanes):
    """Owns the scan of the directory and the feeds of the selected runs."""

    PLACE: ClassVar[Place] = "workspace"
    PLAN = Plan(
        "runs", ("metrics", "system", "media", "logs"), "overview", "right", frozenset({"system", "media", "logs"})
    )

    def __init__(
        self,
        root: Path,
        terminal: Terminal,
        *,
        live: bool = True,
        highlight: Path | None = None,
        remote: RemoteRuns | None = None,
    ) -> None:
        """`highlight`: the log of the run to begin with, which is selected then; else as it was left.

        `remote`: what makes `root` look like a directory on another machine.
        """
        self.remote = remote
        self.sources = OverlaySources()
        super().__init__(terminal, self.sources, None)
        self.root = root
        named = str(remote.address) if remote is not None else str(Path(*root.absolute().parts[-2:]))
        self._where = clean(named)
        """The directory in the status line."""
        self.wanted["runs"] = True
        self.loaded = asyncio.Event()
        self.view = ViewState.of(root) if live else ViewState(root, kept=False)
        self.runs_memory = WorkspaceMemory(self.view)
        self.query_now = self.runs_memory.query
        self._remembered = bool(self.query_now)
        """The query is that of another time."""
        self.sort = self.runs_memory.sort
        self.selection = Selection()
        self.runs_memory.restore(self.selection)
        self.run_marks = RunMarks(self.selection)
        self.run_groups = RunGroups(self.runs_memory.group, self.runs_memory.band, self.run_marks)
        self.workspace = Workspace(root)
        self.feeds = RunFeeds(self._announce_records, terminal.time, live=live, feed_of=self._how_to_feed())
        self.runs = RunsList(
            mark=self.run_marks.of,
            clock=terminal.time,
            pulse=live and not terminal.remote and terminal.now is None,
            id="runs",
        )
        self.runs.show_values(self.runs_memory.columns)
        self.baseline = self.runs_memory.baseline
        """Key of the run that others are held against; empty for none."""
        self.differences = self.runs_memory.differences
        """Charts draw differences to it."""
        self._live: dict[str, bool] = {}
        self._first = highlight
        self._chosen = False
        self._pruned = False
        self._all_known = False
        self._began = 0.0
        self._listed = threading.Event()
        self._list_timer: Timer | None = None
        self._list_at = 0.0
        self._follow_timer: Timer | None = None
        self._followed_at = 0.0
        self.remember_in(self.view)
        self.workspace.listen(self._announce_runs)
        self.workspace.start()
        if remote is not None:
            remote.link.listen(self._announce_runs)
            remote.start()

    def _how_to_feed(self) -> FeedOf:
        if self.remote is None:
            return feed_of
        from leet.tui.remote_feeds import remote_feed_of

        return partial(remote_feed_of, self.remote)

    def content_of(self, name: str) -> Widget:
        return self.runs if name == "runs" else super().content_of(name)

    def on_mount(self) -> None:
        self._began = time.monotonic()
        self._wear_palette()
        self._listed.wait(FIRST_PATIENCE)
        self._look()
        self.show_charts()
        self.share_out()
        self.set_focus(self.runs)
        self.refresh_all()
        self.set_interval(AGES_SECONDS, self._time_has_passed)
        self.app.theme_changed_signal.subscribe(self, lambda theme: self._wear_palette())

    def on_unmount(self) -> None:
        self.workspace.stop()
        self.feeds.stop()
        if self.remote is not None:
            self.remote.stop()
        self.view.save()

    # The list

    def _announce_runs(self) -> None:
        """Called from the thread of the scan."""
        self._listed.set()
        if self.is_attached:
            self.post_message(RunsFound())

    def on_runs_found(self) -> None:
        if self._list_timer is None:
            self._list_timer = self.set_timer(max(0.001, self._list_at - time.monotonic()), self._look)

    def _look(self) -> None:
        """Take over what the scan has found."""
        self._list_timer = None
        began = time.monotonic()
        change = self.workspace.drain()
        if change or not self._chosen:
            for old, new in self._resumed(change):
                self.selection.rename(old, new)
                self.feeds.rename(old, self.workspace.entries[new])
                self.runs.rename(old, new)
                self.run_marks.rename(old, new)
                self.baseline = new if self.baseline == old else self.baseline
            self.selection.drop(change.removed)
            for key in change.changed:
                self.feeds.entry_changed(self.workspace.entries[key])
            self.list_runs()
            self._choose()
            if change.removed or any(key in self.selection for key in change.changed):
                self.selected()
            if self.runs.entry is not None and self.runs.entry.key in change.changed:
                self._follow()
        self._forget_the_lost()
        self._lift_idle_query()
        self._settle()
        now = time.monotonic()
        most = LIST_SECONDS_AT_MOST if self.workspace.scanning else LIST_SECONDS_WHEN_LISTED
        self._list_at = now + min(max(LIST_SECONDS, 20 * (now - began)), most)
        self.show_status()

    def _resumed(self, change: WorkspaceChange) -> Iterator[tuple[str, str]]:
        """(key before, key now) of runs that have another part, and so are called by another directory."""
        removed = set(change.removed)
        for key in change.added if removed else ():
            for part in self.workspace.entries[key].earlier:
                with contextlib.suppress(ValueError):
                    old = part.parent.relative_to(self.root).as_posix()
                    if old in removed:
                        yield old, key

    def list_runs(self) -> None:
        """Show the runs that pass the query, in order."""
        now = self.terminal.time()
        entries = self.workspace.entries
        if self.query_now.sorts:
            listed, sort = self.query_now.select(entries.values(), now), ""
        else:
            kept: Iterable[RunEntry] = entries.values()
            if self.query_now:
                kept = (entry for entry in kept if self.query_now.matches(entry, now))
            listed, sort = sorting(self.sort).sorted(kept, now), self.sort
        self.runs.empty = f"No run matches\n\n{keys_in_words('clear_runs')} shows all again" if entries else ""
        self.runs.show(listed, len(entries), sort)
        self._show_headings()

    def _no_runs(self) -> str:
        """Why there is none, where there is room for it."""
        if self.workspace.error:
            return clean(self.workspace.error)
        where = clean(str(self.remote.address if self.remote is not None else self.root))
        if self.workspace.scanning:
            return f"Looking for runs in {where}"
        return f"No runs found in {where}\n\nStart a training here and it appears, or try `leet demo`"

    def _lift_idle_query(self) -> None:
        """A query of another time of which no run is left would only be in the way."""
        if not self._remembered or self.workspace.scanning or not self._known() or not self.workspace.entries:
            return
        self._remembered = False
        if self.query_now and not self.runs.entries:
            text = clean(self.query_now.text)
            self.query_now = RunQuery()
            self.list_runs()
            self.runs_memory.keep_list(self.query_now, self.sort)
            self._chosen = False
            self._choose()
            self.tell(f"all runs are listed: none matches {text} any more")

    def _choose(self) -> None:
        """Select what was selected last time, else the latest run: a training, where there is one."""
        entries = self.workspace.entries
        late = time.monotonic() - self._began > CHOICE_SECONDS
        if self._chosen or not entries or (self.workspace.scanning and not late):
            return
        self._chosen = True
        wished = self._entry_of(self._first) if self._first is not None else None
        if wished is not None:
            self.selection.select(wished.key)
            self.runs.highlight(wished.key)
        else:
            seen_last = self.runs.highlight(self.runs_memory.highlighted)
            if not seen_last and (latest := self._latest()) is not None:
                self.runs.highlight(latest.key)
        self._select_one()
        self.selected()

    def _select_one(self) -> None:
        """Let there be something in the charts."""
        if not len(self.selection) and (latest := self._latest()) is not None:
            self.selection.pin(latest.key)

    def _latest(self) -> RunEntry | None:
        """The first training in the list; the first run where there is none."""
        listed = self.runs.entries
        return next((entry for entry in listed if not entry.of_machine), listed[0] if listed else None)

    def _forget_the_lost(self) -> None:
        """What was selected last time and is no longer there: known when all has been listed."""
        if self._pruned or self.workspace.scanning or not self._chosen:
            return
        self._pruned = True
        lost = [key for key in self.selection.keys if key not in self.workspace.entries]
        if lost:
            self.selection.drop(lost)
            self._select_one()
            self.selected()

    def _entry_of(self, log: Path) -> RunEntry | None:
        """The run with this log."""
        log = log.resolve()
        for entry in self.workspace.entries.values():
            for part in (entry.log, *entry.parts):
                if part.name == log.name and part.resolve() == log:
                    return entry
        return None

    def _time_has_passed(self) -> None:
        self.feeds.rest()
        if self.app.screen is not self:
            return
        if self.query_now or self.sort == "state":
            self.list_runs()
        else:
            self.runs.repaint()
        if self.run is not None and self.run.state.live:
            self.show_status()

    # The selection

    @property
    def highlighted(self) -> RunEntry | None:
        return self.runs.entry

    def selected(self) -> None:
        """The selection is another: colours, curves and what is read follow."""
        entries = self.workspace.entries
        highlighted = self.highlighted
        first = highlighted.key if highlighted is not None else ""
        self.run_groups.gather([entries[key] for key in self.selection.in_drawing_order() if key in entries])
        self.metrics.series_colors = self.run_marks.renew()
        self.feeds.want([entries[key] for key in self.selection.by_urgency(first) if key in entries])
        if self._chosen:
            self.runs_memory.keep_selection(self.selection)
        self._settle()
        self._follow()
        self.show_charts()
        self.runs.repaint()
        self.show_status()

    def dress(self) -> None:
        super().dress()
        if self.is_mounted:
            self._wear_palette()

    def _wear_palette(self) -> None:
        """Colours of runs for the ground of the theme."""
        depth: Depth = "none" if self.app.no_color else "ansi" if self.app.native_ansi_color else "full"
        self.run_marks.wear(self.metrics.palette, dark=self.app.current_theme.dark, depth=depth)
        if self._chosen:
            self.selected()

    # The run that the other panes tell of

    def on_run_highlighted(self, event: RunHighlighted) -> None:
        event.stop()
        wait = self._followed_at + FOLLOW_SECONDS - time.monotonic()
        if wait <= 0:
            self._follow()
        elif self._follow_timer is None:
            self._follow_timer = self.set_timer(wait, self._follow)

    def _follow(self) -> None:
        """Let overview, system metrics, media and logs tell of the highlighted run."""
        if self._follow_timer is not None:
            self._follow_timer.stop()
            self._follow_timer = None
        self._followed_at = time.monotonic()
        entry = self.highlighted
        self.sources.highlighted = entry.key if entry is not None else ""
        shown = self._shown_of(entry) if entry is not None else None
        if shown is not self.run:
            self.show_run(shown)
        if entry is not None and self._chosen:
            self.runs_memory.keep_highlighted(entry.key)

    def _shown_of(self, entry: RunEntry) -> ShownRun:
        """The run as it is being read; until something of it is there, as the list knows it."""
        run = self.feeds.get(entry.key) if entry.key in self.selection else None
        if run is not None and (run.feed.loaded or run.model.rows):
            return run
        now = self.run
        if isinstance(now, Peeked) and now.entry is entry:
            return now
        return Peeked(entry, self.terminal.time)

    # Data

    def _announce_records(self) -> None:
        """Called from threads of readers."""
        if self.is_attached:
            self.post_message(RecordsWaiting())

    def on_records_waiting(self) -> None:
        """Apply what has come of any run, for a moment, and let the screen follow at its own pace."""
        left = self.feeds.left
        for key, change in self.feeds.drain():
            if change.reset:
                self.sources.forget()
            if change.notice and key == self.sources.highlighted:
                self.status.say(clean(change.notice))
            self.mark("charts")
            if key == self.sources.highlighted:
                self.mark("overview", "status")
        if self.feeds.left != left:
            self.mark("charts", "status")
        if self.feeds.waiting:
            self.set_timer(BREATH, self.on_records_waiting)
        self._settle()
        self.schedule()

    def _settle(self) -> None:
        """Note whether all that was asked for is there."""
        listed = not self.workspace.scanning and self._known() and (self._chosen or not self.workspace.entries)
        if not self._all_known and len(self.workspace.entries) >= MANY and self._known():
            # The entries stay: collections, each of which stops the screen, need not go through them all again.
            self._all_known = True
            gc.freeze()
        if self.feeds.left:
            self.loaded.clear()
        elif listed:
            self.loaded.set()

    def _known(self) -> bool:
        known, total = self.workspace.progress
        return known == total

    def show_charts(self) -> None:
        self._overlay()
        highlighted = self.highlighted
        if highlighted is not None and self._shown_of(highlighted) is not self.run:
            self._follow()
            return
        super().show_charts()

    def _overlay(self) -> None:
        """Let the charts draw the selected runs, as far as they are being read."""
        entries, now = self.workspace.entries, []
        labels = RunLabels([entries[key] for key in self.selection.keys if key in entries])
        for key in self.selection.in_drawing_order():
            run = self.feeds.get(key)
            if run is not None and key in entries:
                self._live[key] = run.state.live
                pinned = key == self.selection.pinned
                store, live = run.model.metrics, self._is_live(key)
                now.append(OverlayRun(key, labels.of(entries[key]), self.run_marks.number(key), store, live, pinned))
        self.sources.groups = self.run_groups.look()
        self.sources.baseline = next((run for run in now if self.differences and run.key == self.baseline), None)
        self.sources.show(now)

    def _is_live(self, key: str) -> Callable[[], bool]:
        return lambda: self._live.get(key, False)
