"""The machine as it is now: vitals and processes at the left, charts of all its metrics at the right."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType

from leet.model.filter import TextFilter
from leet.model.live_system import LiveSystem
from leet.model.process_watch import ProcessWatch
from leet.model.processes import SORT_KEYS, Process, SortKey, arranged
from leet.model.safe_text import clean
from leet.model.system_store import SystemChart
from leet.model.units import format_bytes, format_duration, format_time
from leet.model.vitals import host_line, vitals
from leet.settings.store import settings
from leet.tui.commands import Place, bindings, hints
from leet.tui.messages import FilterChanged, FilterClosed, MachineSampled, Subject
from leet.tui.screens.chart_screen import ChartScreen
from leet.tui.screens.top_panes import TopPanes
from leet.tui.terminal import Terminal
from leet.tui.top_recording import TopRecording
from leet.tui.widgets.chart_grid import ChartGrid
from leet.tui.widgets.chart_view import ChartView
from leet.tui.widgets.live_source import LiveSource
from leet.tui.widgets.status_line import Part

if TYPE_CHECKING:
    from leet.tui.widgets.filter_line import FilterLine

TOGETHER = 0.08
"""Seconds that samples wait for each other."""
CORES = "CPU Core"
FIRST_CHARTS = (
    CORES,
    "System CPU",
    "System Memory (%)",
    "Swap (%)",
    "Network I/O",
    "Disk I/O",
    "CPU Temp",
    "GPU Utilization",
    "GPU Memory Allocated (%)",
    "GPU Temp",
    "GPU Power",
    "CPU Power",
    "Disk Usage (%)",
)
"""The charts that come first, in their order; the others follow as they do in a run."""
SORT_NAMES: dict[SortKey, str] = {"cpu": "CPU", "memory": "memory", "gpu": "GPU memory", "pid": "number"}


class TopScreen(TopPanes):
    """Owns the samplers; vitals, table and charts are told what to show."""

    PLACE: ClassVar[Place] = "top"
    BINDINGS: ClassVar[list[BindingType]] = bindings("top")

    def __init__(
        self, terminal: Terminal, interval: float, directory: str = ".", *, record: bool = False, kept: bool = True
    ) -> None:
        """`interval` in seconds; `record`: begin with a recording, in `directory`/wandb.

        `kept`: begin as it was left the last time, and remember how it is left.
        """
        super().__init__(terminal, kept)
        self.system = LiveSystem(interval)
        self.watcher = ProcessWatch(interval, self._announce)
        self.recording = TopRecording(self.system, directory, self._say)
        self._record_first = record
        self.sampled = asyncio.Event()
        """Charts, vitals and processes have something to show."""
        self._all: list[LiveSource] = []
        self._charts: list[SystemChart] | None = None
        self._filters: dict[Subject, TextFilter] = {"system": TextFilter(""), "processes": TextFilter("")}
        self._error: str | None = None
        self._filter_line: FilterLine | None = None
        self._processes: list[Process] = []
        sort = self.view.get("top.sort")
        self._sort: SortKey = sort if sort in SORT_KEYS else "cpu"
        self._tree = self.view.get("top.tree") is True
        self._tail_minutes = float(settings().count("system.tail_minutes")) or None
        self._whole_time = False
        self._warned = 0
        self._due = False
        self._status_parts: object = None

    def on_mount(self) -> None:
        self.grid.empty = "The first samples are on their way"
        self.share_out()
        self.set_focus(self.grid if self.query_one("#top-charts").display else self.table)
        self.mark_focus()
        self.system.listen(self._announce)
        self.system.start()
        self.watcher.start()
        if self._record_first:
            self.action_record()
        self.paint_now()

    def on_unmount(self) -> None:
        self.system.stop()
        self.watcher.stop()
        self.recording.stop()

    # Data

    def _announce(self) -> None:
        """Called from the threads of the samplers."""
        self.post_message(MachineSampled())

    def on_machine_sampled(self) -> None:
        if not self._due:
            self._due = True
            # The sources sample at about the same time: one repaint for all of them.
            self.set_timer(TOGETHER, self._take_in)

    def _take_in(self) -> None:
        """Bring the models up to date, and what shows them."""
        self._due = False
        changed = self.system.drain()
        if self.watcher.latest is not self._processes:
            self._processes = self.watcher.latest
            self._show_processes()
        if changed:
            self._show_charts()
            self.show_vitals()
            self.grid.data_changed()
            top = self.app.screen
            if isinstance(top, ChartScreen):
                top.data_changed()
        if self.watcher.samples > 1 and self.system.samples > 1 and self._all:
            self.sampled.set()
        if changed:
            self._show_head()
        self.show_status()
        for warning in self.system.warnings[self._warned :]:
            self.status.say(clean(warning.removeprefix("system metrics: ")))
        self._warned = len(self.system.warnings)

    def paint_now(self) -> None:
        """Bring everything visible up to date at once."""
        self._take_in()
        self._show_head()
        self._show_processes()
        self.show_vitals()
        self.grid.paint_now()

    @property
    def tail(self) -> float | None:
        """Minutes that the charts show; None: all that is kept."""
        return None if self._whole_time else self._tail_minutes

    # What is shown

    def _show_head(self) -> None:
        now = self.terminal.time()
        self.host.show(host_line(now, lambda seconds: format_time(seconds, "%H:%M:%S")), self.recording.note)

    def show_vitals(self) -> None:
        rows = vitals(self.system)
        self.vitals.show(rows)
        wanted = self.vitals_height(len(rows))
        if self.vitals.styles.height is None or self.vitals.styles.height.value != wanted:
            self.vitals.styles.height = wanted

    def _show_processes(self) -> None:
        held = self._filters["processes"]
        rows = arranged(self._processes, self._sort, held, self._tree)
        self.table.show(rows, self._sort, any(process.gpu is not None for process in self._processes))
        self._show_notes()

    def _show_charts(self) -> None:
        charts = self.system.store.charts()
        if charts is self._charts:
            return
        self._charts = charts
        made = {source.chart: source for source in self._all}
        ranks = {title: place for place, title in enumerate(FIRST_CHARTS)}
        ordered = sorted(charts, key=lambda chart: ranks.get(chart.key, len(ranks)))
        self._all = [made.get(chart) or self._source(chart) for chart in ordered]
        self._select_charts()

    def _source(self, chart: SystemChart) -> LiveSource:
        if chart.key == CORES:
            # Many curves that cross each other all the time: as a heat map they can be told apart.
            self.grid.views.setdefault(chart.key, ChartView(heat=True))
        return LiveSource(self.system.store, chart, lambda: self.tail, lambda: True)

    def _select_charts(self, first: int | None = None) -> None:
        """Show the charts that pass the filter; `first` is the one to be seen, from 0, where it is a new one."""
        held = self._filters["system"]
        self.grid.empty = "The first samples are on their way" if not self._all else "No metric matches"
        self.grid.show([source for source in self._all if held.matches(source.title)], first)
        self._show_notes()

    def _show_notes(self) -> None:
        count, total = self.table.count, len(self._processes)
        note = f"{self.table.place + 1 if count else 0} of {count}" + (f" ({total})" if count != total else "")
        note += f" · by {SORT_NAMES[self._sort]}" + (", tree" if self._tree else "")
        self.headings[0].show(note, _shown(self._filters["processes"]))
        self.headings[1].show(self.grid.page_label.strip("[]"), _shown(self._filters["system"]))

    def show_status(self) -> None:
        interval = self.system.interval
        parts = [Part(f"every {interval:g} s", rank=6)]
        if self.watcher.trouble:
            parts.append(Part(clean(self.watcher.trouble), "status--warn", rank=7))
        parts.append(Part(f"last {self.tail:g} min" if self.tail else "all since the start", rank=4))
        shown = (tuple(parts), self._typing)
        if shown != self._status_parts:
            self._status_parts = shown
            self.status.show(parts, hints("filter") if self._typing else hints("top"))
        line = self._filter_line
        if line is not None and line.display:
            line.show_count(*self._count(line.subject), self._error)

    def _count(self, subject: Subject) -> tuple[int, int]:
        if subject == "processes":
            return self.table.count, len(self._processes)
        return len(self.grid.sources), len(self._all)

    @property
    def _typing(self) -> bool:
        return self._filter_line is not None and self._filter_line.display

    # Acts

    def action_sort(self) -> None:
        keys = [key for key in SORT_KEYS if key != "gpu" or any(p.gpu is not None for p in self._processes)]
        self._sort = keys[(keys.index(self._sort) + 1) % len(keys)] if self._sort in keys else keys[0]
        self.view.set("top.sort", self._sort)
        self._show_processes()

    def action_tree(self) -> None:
        self._tree = not self._tree
        self.view.set("top.tree", self._tree or None)
        self._show_processes()

    def action_tail_window(self) -> None:
        self._whole_time = not self._whole_time
        self.grid.paint_now()
        self.show_status()

    def action_help(self) -> None:
        from leet.tui.screens.help_screen import HelpScreen

        self.app.push_screen(HelpScreen(self.PLACE))

    def action_record(self) -> None:
        """Write what is shown as a run from now on; or end that."""
        self.recording.toggle()

    def _say(self, text: str) -> None:
        """Called from the thread of the recording."""
        with suppress(RuntimeError):  # the app has ended meanwhile
            self.app.call_from_thread(self._told, text)

    def _told(self, text: str) -> None:
        self.status.say(text)
        self._show_head()

    # Filters

    async def action_filter(self, subject: Subject) -> None:
        if subject == "processes" and not self.query_one("#top-side").display:
            self.show_sidebar(True)
            self.go_to(self.table)
        if self._filter_line is None:
            from leet.tui.widgets.filter_line import FilterLine

            self._filter_line = FilterLine(id="filter")
            await self.mount(self._filter_line, before=self.status)
        held = self._filters[subject]
        self._filter_line.open(subject, held.text, held.mode)
        self.show_status()

    def action_clear_filter(self, subject: Subject) -> None:
        if self._filter_line is not None and self._typing and self._filter_line.subject == subject:
            self._filter_line.clear()
        self._apply(subject, TextFilter(""))

    def on_filter_changed(self, event: FilterChanged) -> None:
        wanted = TextFilter(event.text, event.mode)
        self._error = wanted.error
        if wanted.error is None:
            self._apply(event.subject, wanted)
        self.show_status()

    def on_filter_closed(self, event: FilterClosed) -> None:
        self._error = None
        self.go_to(self.table if event.subject == "processes" else self.grid)

    def _apply(self, subject: Subject, wanted: TextFilter) -> None:
        before, self._filters[subject] = self._filters[subject], wanted
        if subject == "processes":
            self._show_processes()
        else:
            self._select_charts(None if wanted.text == before.text else 0)

    # Messages of the sides

    def on_chart_grid_page_changed(self, event: ChartGrid.PageChanged) -> None:
        event.stop()
        self._show_notes()

    def on_chart_grid_fullscreen_requested(self, event: ChartGrid.FullscreenRequested) -> None:
        event.stop()

        def come_back(key: str | None) -> None:
            index = next((i for i, source in enumerate(self.grid.sources) if source.key == key), None)
            self.grid.focus_chart(index)
            self.paint_now()

        self.app.push_screen(ChartScreen(self.grid, event.source), come_back)

    def on_process_table_moved(self) -> None:
        self._show_notes()

    def on_process_table_opened(self) -> None:
        process = self.table.process
        if process is not None:
            from leet.tui.screens.text_screen import TextScreen

            self.app.push_screen(TextScreen(f"Process {process.pid}", _about(process, self.terminal.time())))


def _about(process: Process, now: float) -> str:
    rows = [
        ("command", process.command),
        ("owner", process.user),
        ("parent", str(process.parent)),
        ("CPU", f"{process.cpu:.1f} % of one core"),
        ("memory", format_bytes(process.memory)),
        ("GPU memory", "" if process.gpu is None else format_bytes(process.gpu)),
        ("threads", str(process.threads)),
        ("running for", format_duration(max(0.0, now - process.started))),
        ("since", format_time(process.started, "%Y-%m-%d %H:%M:%S")),
    ]
    return "\n".join(f"{label:<12} {text}" for label, text in rows if text)


def _shown(held: TextFilter) -> str:
    """A filter as a heading shows it."""
    return clean(f"/{held.text}/" if held.mode == "regex" else held.text) if held else ""
