"""The two sides of the monitor: vitals and processes, and the charts; how wide they are, and which has the focus."""

from __future__ import annotations

from pathlib import Path

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from leet.settings.store import settings
from leet.settings.view_state import ViewState
from leet.tui import preferences
from leet.tui.screens.side_border import SideBorder
from leet.tui.span_update import SpanScreen
from leet.tui.terminal import Terminal
from leet.tui.widgets.chart_grid import ChartGrid
from leet.tui.widgets.pane import PaneHeading
from leet.tui.widgets.process_table import ProcessTable
from leet.tui.widgets.status_line import StatusLine
from leet.tui.widgets.vitals import HostLine, Vitals

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


class TopPanes(SpanScreen[None]):
    """Shares the room out, as it was left the last time; subclasses fill it."""

    AUTO_FOCUS = None
    DEFAULT_CSS = """
    TopPanes {
        & #top-body { height: 1fr; }
        & #top-side, & #top-charts { height: 1fr; }
        & #top-charts { width: 1fr; }
        & Vitals { height: 8; }
        & ProcessTable, & #system { height: 1fr; }
    }
    """

    def __init__(self, terminal: Terminal, kept: bool) -> None:
        """`kept`: begin as it was left the last time, and remember how it is left."""
        super().__init__()
        self.terminal = terminal
        self.host = HostLine(id="host")
        self.vitals = Vitals(id="vitals")
        self.table = ProcessTable(id="processes")
        self.grid = ChartGrid(id="system", ascii=terminal.ascii, smallest=(24, 5), rows=3, columns=2)
        preferences.dress(self.grid, "system", single=True)
        self.status = StatusLine(id="status")
        self.headings = PaneHeading("Processes"), PaneHeading("Metrics")
        # Of the machine, and so of none of its directories more than of its root.
        self.view = ViewState.of(Path("/")) if kept else ViewState(Path("/"), kept=False)
        width, rows, columns, shown = (self.view.get(f"top.{name}") for name in ("width", "rows", "columns", "sidebar"))
        self._width: int | None = width if isinstance(width, int) else None
        """Columns of the sidebar that a person has chosen."""
        self._grid_size = _usual_grid()
        """Rows and columns that a person has chosen; None: as many as there is room for."""
        for part, number in (("rows", rows), ("columns", columns)):
            if number in range(1, 10):
                self._grid_size[part] = number
        self._sidebar: bool | None = None
        """False: no sidebar; None: where there is room."""
        if not (shown if isinstance(shown, bool) else settings().toggle("panes.top.vitals")):
            self._sidebar = False
        self._grid_part: str | None = None
        self._border = SideBorder()

    def compose(self) -> ComposeResult:
        yield self.host
        with Horizontal(id="top-body"):
            with Vertical(id="top-side"):
                yield self.vitals
                yield self.headings[0]
                yield self.table
            with Vertical(id="top-charts"):
                yield self.headings[1]
                yield self.grid
        yield self.status

    def show_vitals(self) -> None:
        """Bring the vitals up to date; their height follows the room."""

    def show_status(self) -> None:
        """Bring the status line up to date."""

    def vitals_height(self, rows: int) -> int:
        room = self.size.height - 3  # the machine, the heading of the processes, the status
        return max(0, min(rows, room - TABLE_LEAST))

    # Widths, heights and focus

    def on_resize(self, event: events.Resize) -> None:
        self.share_out()

    def share_out(self) -> None:
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
        self.show_vitals()

    def mark_focus(self) -> None:
        for heading, widget in zip(self.headings, (self.table, self.grid), strict=True):
            if heading.focused_pane != (self.focused is widget):
                heading.focused_pane = self.focused is widget
                heading.repaint()

    def on_descendant_focus(self) -> None:
        self.mark_focus()

    def go_to(self, widget: Widget) -> None:
        """Give the focus to a side, and show it where there is room for one only."""
        self.set_focus(widget)
        self.share_out()
        self.show_status()

    @property
    def side(self) -> ProcessTable | ChartGrid:
        """What keys act on."""
        return self.table if self.focused is self.table else self.grid

    def action_next_pane(self) -> None:
        if self.side is self.grid and self._sidebar is False:
            self.show_sidebar(True)
        self.go_to(self.grid if self.side is self.table else self.table)

    def action_toggle_sidebar(self) -> None:
        shown = bool(self.query_one("#top-side").display)
        self.show_sidebar(not shown)
        self.go_to(self.grid if shown else self.table)

    def show_sidebar(self, shown: bool) -> None:
        self._sidebar = None if shown else False
        self.view.set("top.sidebar", shown)

    def action_resize(self, direction: str) -> None:
        now = self.query_one("#top-side").size.width
        self._make_wide(now + (STEP if direction == "right" else -STEP))

    def _make_wide(self, width: int) -> None:
        """Give the sidebar so many columns, if there are as many."""
        self._width = max(LEAST, min(width, self.size.width - LEAST))
        self.view.set("top.width", self._width)
        self.share_out()

    def action_reset_sizes(self) -> None:
        self._width = self._sidebar = None
        self._grid_size = _usual_grid()
        for name in ("width", "rows", "columns", "sidebar"):
            self.view.set(f"top.{name}", None)
        self.share_out()

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

    def action_pane(self, action: str, *arguments: object) -> None:
        """An act of the side in focus; acts on charts go to the charts always."""
        target = self.side if hasattr(self.side, f"action_{action}") else self.grid
        getattr(target, f"action_{action}")(*arguments)

    def action_open(self) -> None:
        if self.side is self.table:
            self.table.action_open()
        else:
            self.grid.action_fullscreen()

    def action_grid(self, part: str) -> None:
        """Await the digit that says how many rows or columns."""
        self._grid_part = part
        self.status.say(f"{part} of the grid: 1–9")
        self.set_timer(GRID_SECONDS, self._end_grid)

    def action_digit(self, number: int) -> None:
        if self._grid_part is not None:
            self._grid_size[self._grid_part] = number
            self.view.set(f"top.{self._grid_part}", number)
            self.share_out()
            self._end_grid()
        elif number == 0:
            self.action_reset_sizes()

    def _end_grid(self) -> None:
        if self._grid_part is not None:
            self._grid_part = None
            self.status.say()


def _usual_grid() -> dict[str, int | None]:
    """What the settings say."""
    size = settings().grid("grids.top")
    return {"rows": size.rows if size else None, "columns": size.columns if size else None}
