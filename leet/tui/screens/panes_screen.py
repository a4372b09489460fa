"""The three panes of a run screen: how wide they are, which of them are shown, and which has the focus."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widget import Widget
from textual.widgets import Static

from leet.tui import layout
from leet.tui.span_update import SpanScreen
from leet.tui.terminal import Terminal
from leet.tui.widgets.chart_grid import ChartGrid
from leet.tui.widgets.overview import Overview
from leet.tui.widgets.pane import Pane
from leet.tui.widgets.status_line import StatusLine

PANES = ("overview", "metrics", "system")


class PanesScreen(SpanScreen[None]):
    """Overview, metrics and system metrics beside each other, as far as there is room; the status line below."""

    AUTO_FOCUS = None

    def __init__(self, terminal: Terminal) -> None:
        super().__init__()
        self.metrics = ChartGrid(id="metrics", ascii=terminal.ascii)
        self.system = ChartGrid(id="system", ascii=terminal.ascii, smallest=(18, 4))
        self.overview = Overview(id="overview")
        self.status = StatusLine(id="status")
        self.grids_chosen: set[tuple[str, str]] = set()
        """(grid, `rows` or `columns`) that a person has set: they no longer follow the room."""
        self._wanted: dict[layout.Side, bool | None] = {"overview": None, "system": None}
        self._last_asked: layout.Side | None = None

    def compose(self) -> ComposeResult:
        with Horizontal(id="body"):
            yield Pane("Overview", self.overview, id="overview-pane")
            yield Pane("Metrics", self.metrics, Static(classes="empty-note", id="metrics-note"), id="metrics-pane")
            yield Pane("System", self.system, Static(classes="empty-note", id="system-note"), id="system-pane")
        yield self.status

    @property
    def expects_system(self) -> bool:
        """Whether there are system metrics, or may yet be: otherwise their pane shows only when asked for."""
        return True

    def show_overview(self) -> None:
        """Bring the overview up to date."""

    def refresh_all(self) -> None:
        """Bring every pane up to date."""

    # Widths

    def on_resize(self, event: events.Resize) -> None:
        self.share_width()

    def share_width(self) -> None:
        wanted = dict(self._wanted)
        if wanted["system"] is None and not self.expects_system:
            wanted["system"] = False
        widths = layout.share(self.size.width, wanted["overview"], wanted["system"], self._last_asked)
        panes = {"overview": widths.overview, "metrics": widths.charts, "system": widths.system}
        with self.app.batch_update():
            for name, width in panes.items():
                pane = self.query_one(f"#{name}-pane", Pane)
                pane.display = width > 0
                pane.styles.width = "1fr" if name == "metrics" else width
        if panes["overview"]:
            self.show_overview()
        self.suit_grid(self.metrics, widths.charts)
        self.suit_grid(self.system, widths.system)
        focused = self.focused
        if focused is None or not focused.display or not self._pane_of(focused).display:
            self.focus_pane(next((n for n in ("metrics", "system", "overview") if panes[n]), "metrics"))

    def suit_grid(self, grid: ChartGrid, width: int | None = None) -> None:
        """Rows and columns that suit the room, as long as nobody has chosen any."""
        width = grid.size.width if width is None else width
        height = self.size.height - 2
        least = (28, 7) if grid is self.metrics else (30, 7)
        most = (4, 3) if grid is self.metrics else (6, 2)
        if (grid.id, "rows") not in self.grids_chosen:
            grid.rows = max(1, min(most[0], height // least[1]))
        if (grid.id, "columns") not in self.grids_chosen:
            grid.columns = max(1, min(most[1], width // least[0]))

    def action_toggle_overview(self) -> None:
        self.toggle("overview")

    def action_toggle_system(self) -> None:
        self.toggle("system")

    def toggle(self, side: layout.Side) -> None:
        shown = self.query_one(f"#{side}-pane").display
        self._wanted[side] = not shown
        self._last_asked = side
        self.share_width()
        other: layout.Side = "system" if side == "overview" else "overview"
        if not shown and self._wanted[other] and not self.query_one(f"#{other}-pane").display:
            # It gave way; it does not come back by itself when this one goes.
            self._wanted[other] = None
        if not shown and not self.query_one("#metrics-pane").display:
            self.focus_pane(side)
        self.refresh_all()

    # Focus

    def _pane_of(self, widget: Widget) -> Widget:
        return next((node for node in widget.ancestors_with_self if isinstance(node, Pane)), widget)

    def focus_pane(self, name: str) -> None:
        self.set_focus(self.query_one(f"#{name}", Widget))

    def _visible_panes(self) -> list[str]:
        return [name for name in PANES if self.query_one(f"#{name}-pane").display]

    def action_next_pane(self) -> None:
        self._cycle(1)

    def action_previous_pane(self) -> None:
        self._cycle(-1)

    def _cycle(self, step: int) -> None:
        if self.focused is self.overview and self.overview.next_section(step):
            return
        panes = self._visible_panes()
        here = self.focused.id if self.focused is not None else None
        at = panes.index(here) if here in panes else -1
        name = panes[(at + step) % len(panes)]
        self.focus_pane(name)
        if name == "overview":
            self.overview.enter_from(step)

    @property
    def pane(self) -> Widget:
        """The pane that commands act on: the one in focus, else the metrics."""
        return self.focused if self.focused in (self.overview, self.system) else self.metrics

    @property
    def grid(self) -> ChartGrid:
        return self.system if self.focused is self.system else self.metrics
