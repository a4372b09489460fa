"""The machine as it is now: vitals and processes at the left, charts of all its metrics at the right."""

from __future__ import annotations

import asyncio
import platform
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from leet.model.filter import TextFilter
from leet.model.live_system import LiveSystem
from leet.model.process_watch import ProcessWatch
from leet.model.processes import SORT_KEYS, Process, SortKey, arranged
from leet.model.safe_text import clean
from leet.model.system_store import SystemChart
from leet.model.units import format_bytes, format_duration, format_time
from leet.model.vitals import host_line, vitals
from leet.settings.store import settings
from leet.settings.view_state import ViewState
from leet.tui import preferences
from leet.tui.commands import Place, bindings, hints
from leet.tui.messages import FilterChanged, FilterClosed, MachineSampled, Subject
from leet.tui.screens.chart_screen import ChartScreen
from leet.tui.screens.side_border import SideBorder
from leet.tui.span_update import SpanScreen
from leet.tui.terminal import Terminal
from leet.tui.widgets.chart_grid import ChartGrid
from leet.tui.widgets.chart_view import ChartView
from leet.tui.widgets.live_source import LiveSource
from leet.tui.widgets.pane import PaneHeading
from leet.tui.widgets.process_table import ProcessTable
from leet.tui.widgets.status_line import Part, StatusLine
from leet.tui.widgets.vitals import HostLine, Vitals

if TYPE_CHECKING:
    from leet.tui.widgets.filter_line import FilterLine

SHARE = 0.382
NARROWEST, WIDEST = 42, 76
"""Columns of the sidebar, unless a person has moved the border."""
LEAST = 24
"""Columns that either side keeps, however the border is moved."""
STEP = 4
BOTH = 78
"""Columns below which only the side in focus is shown."""
TABLE_LEAST = 5
"""Rows that the processes keep, before the vitals get theirs."""
GRID_SECONDS = 4.0
"""How long `c` and `r` wait for their digit."""
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


class Recording(Protocol):
    """A run that what is shown is written to."""

    @property
    def directory(self) -> str: ...
    def sample(self, moment: float, values: dict[str, float | int], source: str) -> None: ...
    def finish(self) -> None: ...


class TopScreen(SpanScreen[None]):
    """Owns the samplers; vitals, table and charts are told what to show."""

    PLACE: ClassVar[Place] = "top"
    BINDINGS: ClassVar[list[BindingType]] = bindings("top")
    AUTO_FOCUS = None
    DEFAULT_CSS = """
    TopScreen {
        & #top-body { height: 1fr; }
        & #top-side, & #top-charts { height: 1fr; }
        & #top-charts { width: 1fr; }
        & Vitals { height: 8; }
        & ProcessTable, & #system { height: 1fr; }
    }
    """

    def __init__(
        self, terminal: Terminal, interval: float, directory: str = ".", *, record: bool = False, kept: bool = True
    ) -> None:
        """`interval` in seconds; `record`: begin with a recording, in `directory`/wandb.

        `kept`: begin as it was left the last time, and remember how it is left.
        """
        super().__init__()
        self.terminal = terminal
        self.system = LiveSystem(interval)
        self.watcher = ProcessWatch(interval, self._announce)
        self.recording: Recording | None = None
        self.recorded_to = ""
        """Where the run is that was recorded last."""
        self._directory = directory
        self._record_first = record
        self._recording_since = 0.0
        self._starting = False
        self.host = HostLine(id="host")
        self.vitals = Vitals(id="vitals")
        self.table = ProcessTable(id="processes")
        self.grid = ChartGrid(id="system", ascii=terminal.ascii, smallest=(24, 5), rows=3, columns=2)
        self.status = StatusLine(id="status")
        self._headings = PaneHeading("Processes"), PaneHeading("Metrics")
        self.sampled = asyncio.Event()
        """Charts, vitals and processes have something to show."""
        self._all: list[LiveSource] = []
        self._charts: list[SystemChart] | None = None
        self._filters: dict[Subject, TextFilter] = {"system": TextFilter(""), "processes": TextFilter("")}
        self._error: str | None = None
        self._filter_line: FilterLine | None = None
        self._processes: list[Process] = []
        self._whole_time = False
        self._grid_part: str | None = None
        self._border = SideBorder()
        held = settings()
        self._tail_minutes = float(held.count("system.tail_minutes")) or None
        usual = held.grid("grids.top")
        # Of the machine, and so of none of its directories more than of its root.
        self._view = ViewState(Path("/"), kept=False) if not kept else ViewState.of(Path("/"))
        remembered = self._view.get
        sort, width, rows, columns = (remembered(f"top.{name}") for name in ("sort", "width", "rows", "columns"))
        self._sort: SortKey = sort if sort in SORT_KEYS else "cpu"
        self._tree = remembered("top.tree") is True
        self._width: int | None = width if isinstance(width, int) else None
        """Columns of the sidebar that a person has chosen."""
        self._grid_size: dict[str, int | None] = {
            "rows": rows if rows in range(1, 10) else usual.rows if usual else None,
            "columns": columns if columns in range(1, 10) else usual.columns if usual else None,
        }
        """What a person has chosen; None: as many as there is room for."""
        self._sidebar: bool | None = None
        """False: no sidebar; None: where there is room."""
        shown = remembered("top.sidebar")
        if not (shown if isinstance(shown, bool) else held.toggle("panes.top.vitals")):
            self._sidebar = False
        preferences.dress(self.grid, "system", single=True)
        self._warned = 0
        self._due = False
        self._status_parts: object = None

    def compose(self) -> ComposeResult:
        yield self.host
        with Horizontal(id="top-body"):
            with Vertical(id="top-side"):
                yield self.vitals
                yield self._headings[0]
                yield self.table
            with Vertical(id="top-charts"):
                yield self._headings[1]
                yield self.grid
        yield self.status

    def on_mount(self) -> None:
        self.grid.empty = "The first samples are on their way"
        self._share_out()
        self.set_focus(self.grid if self.query_one("#top-charts").display else self.table)
        self._mark_focus()
        self.system.listen(self._announce)
        self.system.start()
        self.watcher.start()
        if self._record_first:
            self.action_record()
        self.paint_now()

    def on_unmount(self) -> None:
        self.system.stop()
        self.watcher.stop()
        if self.recording is not None:
            self.recording.finish()
            self.recording = None

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
            self._show_vitals()
            self.grid.data_changed()
            top = self.app.screen
            if isinstance(top, ChartScreen):
                top.data_changed()
        if self.watcher.samples > 1 and self.system.samples > 1 and self._all:
            self.sampled.set()
        if changed:
            self._show_head()
        self._show_status()
        for warning in self.system.warnings[self._warned :]:
            self.status.say(clean(warning.removeprefix("system metrics: ")))
        self._warned = len(self.system.warnings)

    def paint_now(self) -> None:
        """Bring everything visible up to date at once."""
        self._take_in()
        self._show_head()
        self._show_processes()
        self._show_vitals()
        self.grid.paint_now()

    @property
    def tail(self) -> float | None:
        """Minutes that the charts show; None: all that is kept."""
        return None if self._whole_time else self._tail_minutes

    # What is shown

    def _show_head(self) -> None:
        now = self.terminal.time()
        recording = ""
        if self.recording is not None:
            recording = f"recording {format_duration(time.monotonic() - self._recording_since)}"
        self.host.show(host_line(now, lambda seconds: format_time(seconds, "%H:%M:%S")), recording)

    def _show_vitals(self) -> None:
        rows = vitals(self.system)
        self.vitals.show(rows)
        wanted = self._vitals_height(len(rows))
        if self.vitals.styles.height is None or self.vitals.styles.height.value != wanted:
            self.vitals.styles.height = wanted

    def _vitals_height(self, rows: int) -> int:
        room = self.size.height - 3  # the machine, the heading of the processes, the status
        return max(0, min(rows, room - TABLE_LEAST))

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

    def _select_charts(self) -> None:
        held = self._filters["system"]
        self.grid.empty = "The first samples are on their way" if not self._all else "No metric matches"
        self.grid.show([source for source in self._all if held.matches(source.title)])
        self._show_notes()

    def _show_notes(self) -> None:
        count, total = self.table.count, len(self._processes)
        note = f"{self.table.place + 1 if count else 0} of {count}" + (f" ({total})" if count != total else "")
        note += f" · by {SORT_NAMES[self._sort]}" + (", tree" if self._tree else "")
        self._headings[0].show(note, _shown(self._filters["processes"]))
        self._headings[1].show(self.grid.page_label.strip("[]"), _shown(self._filters["system"]))

    def _show_status(self) -> None:
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

    # Widths, heights and focus

    def on_resize(self, event: events.Resize) -> None:
        self._share_out()

    def _share_out(self) -> None:
        width, height = self.size
        if not width:
            return
        usual = max(NARROWEST, min(round(width * SHARE), WIDEST))
        left = max(LEAST, min(usual if self._width is None else self._width, width - LEAST))
        both = width >= BOTH and self._sidebar is not False
        at_table = self.focused is self.table or (self.focused is None and self._sidebar is not False)
        side, charts = self.query_one("#top-side"), self.query_one("#top-charts")
        with self.app.batch_update():
            side.display = both or (width < BOTH and at_table and self._sidebar is not False)
            charts.display = both or not side.display
            side.styles.width = left if both else "1fr"
        room = (width - left if both else width, height - 3)
        self.grid.rows = self._grid_size["rows"] or max(1, min(5, room[1] // 8))
        self.grid.columns = self._grid_size["columns"] or max(1, min(3, room[0] // 34))
        self._show_vitals()

    def _mark_focus(self) -> None:
        for heading, widget in zip(self._headings, (self.table, self.grid), strict=True):
            if heading.focused_pane != (self.focused is widget):
                heading.focused_pane = self.focused is widget
                heading.repaint()

    def on_descendant_focus(self) -> None:
        self._mark_focus()

    def _go(self, widget: Widget) -> None:
        """Give the focus to a side, and show it where there is room for one only."""
        self.set_focus(widget)
        self._share_out()
        self._show_status()

    @property
    def side(self) -> ProcessTable | ChartGrid:
        """What keys act on."""
        return self.table if self.focused is self.table else self.grid

    def action_next_pane(self) -> None:
        if self.side is self.grid and self._sidebar is False:
            self._show_sidebar(True)
        self._go(self.grid if self.side is self.table else self.table)

    def action_toggle_sidebar(self) -> None:
        shown = bool(self.query_one("#top-side").display)
        self._show_sidebar(not shown)
        self._go(self.grid if shown else self.table)

    def _show_sidebar(self, shown: bool) -> None:
        self._sidebar = None if shown else False
        self._view.set("top.sidebar", shown)

    def action_resize(self, direction: str) -> None:
        now = self.query_one("#top-side").size.width
        self._make_wide(now + (STEP if direction == "right" else -STEP))

    def _make_wide(self, width: int) -> None:
        """Give the sidebar so many columns, if there are as many."""
        self._width = max(LEAST, min(width, self.size.width - LEAST))
        self._view.set("top.width", self._width)
        self._share_out()

    def action_reset_sizes(self) -> None:
        self._width = self._sidebar = None
        usual = settings().grid("grids.top")
        self._grid_size = {"rows": usual.rows if usual else None, "columns": usual.columns if usual else None}
        for name in ("width", "rows", "columns", "sidebar"):
            self._view.set(f"top.{name}", None)
        self._share_out()

    def _forward_event(self, event: events.Event) -> None:
        """Drag the border; everything else goes where Textual sends it."""
        if self.is_mounted and self.query_one("#top-charts").display:
            width = self._border.width(event, self.query_one("#top-side").region)
            if width is not None:
                self._make_wide(width)
                return
        super()._forward_event(event)

    def action_back(self) -> None:
        """One thing less: the digit that is awaited, the crosshair, the chart in focus, the process."""
        if self._grid_part is not None:
            self._end_grid()
        elif self.side is self.table:
            self.table.action_first_page()
        else:
            self.grid.action_leave()

    # Acts

    def action_pane(self, action: str, *arguments: object) -> None:
        """An act of the side in focus; acts on charts go to the charts always."""
        target = self.side if hasattr(self.side, f"action_{action}") else self.grid
        getattr(target, f"action_{action}")(*arguments)

    def action_open(self) -> None:
        if self.side is self.table:
            self.table.action_open()
        else:
            self.grid.action_fullscreen()

    def action_sort(self) -> None:
        keys = [key for key in SORT_KEYS if key != "gpu" or any(p.gpu is not None for p in self._processes)]
        self._sort = keys[(keys.index(self._sort) + 1) % len(keys)] if self._sort in keys else keys[0]
        self._view.set("top.sort", self._sort)
        self._show_processes()

    def action_tree(self) -> None:
        self._tree = not self._tree
        self._view.set("top.tree", self._tree or None)
        self._show_processes()

    def action_tail_window(self) -> None:
        self._whole_time = not self._whole_time
        self.grid.paint_now()
        self._show_status()

    def action_grid(self, part: str) -> None:
        """Await the digit that says how many rows or columns."""
        self._grid_part = part
        self.status.say(f"{part} of the grid: 1–9")
        self.set_timer(GRID_SECONDS, self._end_grid)

    def action_digit(self, number: int) -> None:
        if self._grid_part is not None:
            self._grid_size[self._grid_part] = number
            self._view.set(f"top.{self._grid_part}", number)
            self._share_out()
            self._end_grid()
        elif number == 0:
            self.action_reset_sizes()

    def _end_grid(self) -> None:
        if self._grid_part is not None:
            self._grid_part = None
            self.status.say()

    def action_help(self) -> None:
        from leet.tui.screens.help_screen import HelpScreen

        self.app.push_screen(HelpScreen(self.PLACE))

    # Recording

    def action_record(self) -> None:
        """Write what is shown as a run from now on; or end that."""
        if self._starting:
            return
        self._starting = True
        work: Callable[[], None] = self._begin_recording if self.recording is None else self._end_recording
        threading.Thread(target=work, name="recording", daemon=True).start()

    def _begin_recording(self) -> None:
        from recorder.command import keep_samples

        try:
            recording = keep_samples(f"top on {platform.node()}", self._directory, self.system.interval)
        except OSError as error:
            self._from_thread(self._recorded, None, clean(f"nothing is recorded: {error}"))
            return
        self._from_thread(self._recorded, recording, f"recording to {clean(recording.directory)}")

    def _end_recording(self) -> None:
        recording, self.system.also = self.recording, None
        if recording is not None:
            recording.finish()
            self._from_thread(self._recorded, None, f"the run is in {clean(recording.directory)}")

    def _from_thread(self, act: Callable[[Recording | None, str], None], *arguments: object) -> None:
        with suppress(RuntimeError):  # the app has ended meanwhile
            self.app.call_from_thread(act, *arguments)

    def _recorded(self, recording: Recording | None, said: str) -> None:
        self._starting = False
        self.recording = recording
        self._recording_since = time.monotonic()
        if recording is not None:
            self.recorded_to = recording.directory
        self.system.also = recording.sample if recording is not None else None
        self.status.say(said)
        self._show_head()

    # Filters

    async def action_filter(self, subject: Subject) -> None:
        if subject == "processes" and not self.query_one("#top-side").display:
            self._show_sidebar(True)
            self._go(self.table)
        if self._filter_line is None:
            from leet.tui.widgets.filter_line import FilterLine

            self._filter_line = FilterLine(id="filter")
            await self.mount(self._filter_line, before=self.status)
        held = self._filters[subject]
        self._filter_line.open(subject, held.text, held.mode)
        self._show_status()

    def action_clear_filter(self, subject: Subject) -> None:
        if self._filter_line is not None and self._typing and self._filter_line.subject == subject:
            self._filter_line.clear()
        self._apply(subject, TextFilter(""))

    def on_filter_changed(self, event: FilterChanged) -> None:
        wanted = TextFilter(event.text, event.mode)
        self._error = wanted.error
        if wanted.error is None:
            self._apply(event.subject, wanted)
        self._show_status()

    def on_filter_closed(self, event: FilterClosed) -> None:
        self._error = None
        self._go(self.table if event.subject == "processes" else self.grid)

    def _apply(self, subject: Subject, wanted: TextFilter) -> None:
        self._filters[subject] = wanted
        if subject == "processes":
            self._show_processes()
        else:
            self._select_charts()

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
