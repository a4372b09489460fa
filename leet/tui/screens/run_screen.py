"""One run: overview on the left, metrics in the middle over media and console, system metrics on the right."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from textual.binding import BindingType
from textual.timer import Timer

from leet.discovery import Found
from leet.model.run import RunModel
from leet.model.safe_text import clean
from leet.run_parts import parts_of
from leet.settings.view_state import ViewState
from leet.tui.commands import Place, bindings, keys_in_words
from leet.tui.feed import RunFeed
from leet.tui.messages import NewerRunFound, RecordsWaiting, RunLoaded
from leet.tui.newer_run import NewerRun
from leet.tui.screens.panes_screen import Plan
from leet.tui.screens.run_panes import RunPanes
from leet.tui.shown_run import ShownRun
from leet.tui.sources import MetricSources
from leet.tui.terminal import Terminal
from leet.tui.widgets.status_line import Part

FIRST_PATIENCE = 0.2
"""Longest time that the first frame waits for the first piece of the log, in seconds: a small one is all there then,
and of a big one a frame without charts would take longer to draw than the newest part is still away."""
BREATH = 0.003
"""Seconds between two stretches of applying batches, in which keys are answered and the screen is painted."""


class RunScreen(RunPanes):
    """The screen owns the feed of its run."""

    PLACE: ClassVar[Place] = "run"
    BINDINGS: ClassVar[list[BindingType]] = bindings("run")
    PLAN = Plan("overview", ("metrics", "media", "logs"), "system", "left", frozenset({"media", "logs"}))

    def __init__(self, found: Found, terminal: Terminal, *, live: bool = True, run: ShownRun | None = None) -> None:
        """`run`: one that is being read already, by a feed that goes on when this screen is left."""
        self.found = found
        self.lent = run is not None
        self.part = 1, 1
        """Which part of its run is shown, and how many there are; of all of them at once the last."""
        if run is None:
            run = self._of_log(live, terminal)
            # A small log is read while the screen is made, so that the first frame shows it.
            run.feed.start()
        self.feed = run.feed
        super().__init__(terminal, MetricSources(run.model, lambda: run.state.live), run)
        self.only = run
        self.loaded = asyncio.Event()
        self._stood_in: frozenset[str] = frozenset()
        self.newer: Path | None = None
        """The log of a run that has started since."""
        self._newer_run: NewerRun | None = None
        if live and found.directory is not None:
            self._newer_run = NewerRun(found.directory, found.log, self._announce_newer)
        self._age_timer: Timer | None = None
        root = found.root or found.log.parent
        self.remember_in(ViewState.of(root) if live else ViewState(root, kept=False))

    def _of_log(self, live: bool, terminal: Terminal) -> ShownRun:
        """The run of a log; one that was resumed with all its parts, unless an earlier one was asked for."""
        found = self.found
        parts = (found.log,) if found.remote is not None else parts_of(found.log)
        self.part = parts.index(found.log) + 1, len(parts)
        if len(parts) < 2 or self.part[0] < len(parts):
            feed = RunFeed(found.log, live=live, remote=found.remote, process=found.process)
            return ShownRun(feed, terminal.time, found.others)
        if found.process is not None:
            found.process.close()
        from leet.tui.workspace_feeds import JoinedFeed, PartsSections

        run = ShownRun(JoinedFeed(parts, live=live), terminal.time)
        run.sections = PartsSections(run.model, len(parts), found.others)
        return run

    @property
    def model(self) -> RunModel:
        """The run on the screen."""
        return self.only.model

    def on_mount(self) -> None:
        self._take_in(FIRST_PATIENCE)
        self.show_charts()
        self.share_out()
        self.focus_pane(self.home)
        self.refresh_all()
        self.feed.listen(self._announce)
        self.call_after_refresh(self.feed.been_shown)
        if self._newer_run is not None:
            self._newer_run.start()

    def on_unmount(self) -> None:
        if not self.lent:
            self.feed.stop()
        if self._newer_run is not None:
            self._newer_run.stop()
        if self.looks is not None:
            self.looks.save()

    # Data

    def _announce(self) -> None:
        """Called from the reader's thread."""
        self.post_message(RecordsWaiting())

    def on_records_waiting(self) -> None:
        """Apply what has come, for a moment, and let the screen follow at its own pace."""
        known = self.feed.loaded
        self._take_in()
        if self.feed.intake.waiting:
            self.set_timer(BREATH, self.on_records_waiting)
        if self.feed.loaded and not known:
            self.post_message(RunLoaded())
        self.schedule()

    def _take_in(self, patience: float = 0.0) -> None:
        for change in self.only.drain(patience):
            if change.notice:
                self._tell_of_file(clean(change.notice))
            if change.reset:
                self.metric_sources.forget()
            self.mark("charts", "overview", "status")
        if self.feed.loaded and not self.loaded.is_set():
            self.loaded.set()
            self.mark("charts", "overview", "status")

    def on_run_loaded(self) -> None:
        self.show_charts()
        self.share_out()
        self.refresh_all()

    # A run without metrics

    @property
    def stand_ins(self) -> frozenset[str]:
        """Console, media and system metrics of a run in which no metrics have been logged."""
        model = self.model
        if not self.feed.loaded or model.metrics.names():
            return frozenset()
        there = {"logs": len(model.console), "media": len(model.media), "system": len(self.only.system_sources.all)}
        return frozenset(name for name, count in there.items() if count)

    @property
    def home(self) -> str:
        """The metrics, or what stands in for them."""
        usual = super().home
        if self.shows(usual):
            return usual
        return next((name for name in (*self.PLAN.centre, self.PLAN.right) if self.shows(name)), usual)

    def show_charts(self) -> None:
        super().show_charts()
        now = self.stand_ins
        if now != self._stood_in:
            back = self.focused_name in self._stood_in and not now
            self._stood_in = now
            self.share_out()
            if back:
                self.focus_pane(self.home)
            self.refresh_all()

    # What is said at the bottom

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
        name, key = clean(self.newer.stem.removeprefix("run-")), keys_in_words("open_newer")
        if self.newer.name == self.found.log.name:
            self.status.say(
                f"this run was resumed: press {key} to see it with its new part",
                f"resumed: press {key} to see all",
                lasting=True,
            )
            return
        self.status.say(
            f"a newer run has started: {name} — press {key} to open it",
            f"newer run {name}: press {key}",
            f"newer run: press {key}",
            lasting=True,
        )

    def own_parts(self) -> list[Part]:
        parts = []
        number, count = self.part
        if number < count:
            parts.append(Part(f"part {number} of {count}: Esc lists the whole run", "status--warn", rank=6))
        elif count > 1:
            parts.append(Part(f"{count} parts", "status--quiet", rank=2))
        if self._stood_in:
            live = " yet" if self.only.state.live else ""
            parts.append(Part(f"no metrics{live}", "status--quiet", rank=4))
        if self.found.others:
            runs = "run" if self.found.others == 1 else "runs"
            parts.append(Part(f"+{self.found.others} other {runs}", "status--quiet", rank=1))
        return parts

    def show_status(self) -> None:
        super().show_status()
        self._await_age(self.terminal.time())

    def _await_age(self, now: float) -> None:
        """Wake up when the age of the last write reads differently: each second, later each minute."""
        if self._age_timer is not None:
            self._age_timer.stop()
            self._age_timer = None
        if self.terminal.now is None and self.feed.live and self.model.modified:
            age = max(0.0, now - self.model.modified)
            # What is being written at this moment renews the line by itself.
            wait = 60.0 - age % 60 + 0.5 if age >= 60 or not self.only.state.live else 1.0 if age >= 2 else 2.0
            self._age_timer = self.set_timer(wait, self._time_has_passed)

    def _time_has_passed(self) -> None:
        self.show_status()
        if not self.model.exit_code and self.only.state.doubtful:
            self.show_overview()

    def go_up(self) -> None:
        """Back to the runs of the directory."""
        from leet.tui.app import LeetApp

        assert isinstance(self.app, LeetApp)
        self.app.leave_run(self)

    # A newer run

    def _announce_newer(self, log: Path) -> None:
        """Called from the thread that looks for newer runs."""
        self.post_message(NewerRunFound(log))

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
            another = self.newer.name != self.found.log.name
            self.app.open_run(replace(self.found, log=self.newer, others=self.found.others + another))
