"""One chart over the whole screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from leet.tui.commands import Place, bindings, hints, keys_in_words
from leet.tui.messages import Subject
from leet.tui.screens.chart_choices import ChartChoices
from leet.tui.screens.overlay import Overlay
from leet.tui.span_update import SpanScreen
from leet.tui.widgets.chart_facts import ChartFacts, curve_facts
from leet.tui.widgets.chart_grid import ChartGrid, ChartSource
from leet.tui.widgets.status_line import Part, StatusLine

if TYPE_CHECKING:
    from leet.tui.screens.run_panes import RunPanes


class ChartScreen(ChartChoices, SpanScreen[str], Overlay[str]):
    """The charts of a grid one at a time; dismissed with the key of the one last seen."""

    PLACE: ClassVar[Place] = "chart"
    BINDINGS: ClassVar[list[BindingType]] = bindings("chart")

    def __init__(self, grid: ChartGrid, source: ChartSource, owner: RunPanes | None = None) -> None:
        """`owner` is the screen whose grid it is, and answers what concerns the run."""
        super().__init__()
        self._owner = owner
        self._origin = grid
        self._start = source
        self.grid = ChartGrid(rows=1, columns=1, ascii=grid.ascii, palette=grid.palette, id="chart")
        self._look_like_origin()
        self.grid.set_reactive(ChartGrid.series_colors, grid.series_colors)
        # The same dictionary: zoom and scale are those of the chart, wherever it is shown.
        self.grid.views = grid.views
        self.grid.crosshair = grid.crosshair
        self.grid.anchor_place = grid.anchor_place
        self.grid.favourites = grid.favourites
        self.facts = ChartFacts(id="facts")
        self._facts_of: tuple[object, ...] = ()

    def compose(self) -> ComposeResult:
        yield self.grid
        yield self.facts
        yield StatusLine(id="status")

    def on_mount(self) -> None:
        self.show(self._origin.sources)
        index = next((i for i, s in enumerate(self._origin.sources) if s.key == self._start.key), 0)
        self.grid.focus()
        self.grid.focus_chart(index)

    @property
    def chart_grid(self) -> ChartGrid:
        return self.grid

    def show(self, sources: Sequence[ChartSource]) -> None:
        """The charts that can be turned to."""
        self.grid.show(sources)

    def favourites_changed(self, grid: ChartGrid) -> None:
        if self._owner is not None:
            self._owner.favourites_changed(self._origin)
            self.show(self._origin.sources)
            self.show_place()
        self._repaint()

    def data_changed(self) -> None:
        self.grid.data_changed()
        self._show_facts()

    def action_filter(self, subject: Subject) -> None:
        """Filters are typed where the charts are seen that pass."""
        if self._owner is not None:
            self._leave()
            self._owner.call_later(self._owner.action_filter, subject)
        else:
            leave, key = keys_in_words("back"), keys_in_words("top_filter")
            self.query_one(StatusLine).say(f"filters are for all charts: {leave}, then {key}")

    def _show_facts(self) -> None:
        """Look at all points of the window again, where there are others than last time."""
        chart = self.grid.active_chart
        if chart is None or chart.spec is None:
            return
        view = self.grid.view(chart.source)
        wanted = (chart.source.key, chart.source.version(), view)
        extent = chart.source.extent()
        if wanted != self._facts_of and extent is not None:
            self._facts_of = wanted
            window = view.window(extent)
            curves = [curve_facts(label, x, y, window) for label, x, y in chart.source.points(window)]
            self.facts.show(chart.spec, curves)

    def on_chart_grid_view_changed(self, event: ChartGrid.ViewChanged) -> None:
        event.stop()
        self._show_facts()
        if self._owner is not None:
            self._owner.keep()

    def on_chart_grid_page_changed(self, event: ChartGrid.PageChanged) -> None:
        event.stop()
        self._show_facts()
        self.show_place()

    def show_place(self) -> None:
        """Which of the charts it is, and how the run is meanwhile."""
        first, _, count = self.grid.page
        parts = [Part(f"chart {first:,} of {count:,}", "status--text", rank=9)]
        if self._owner is not None:
            parts += self._owner.run_parts()
        self.query_one(StatusLine).show(parts, [(keys_in_words("back"), "back"), *hints("chart")])

    def action_pane(self, action: str, *arguments: object) -> None:
        getattr(self.grid, f"action_{action}")(*arguments)

    def action_back(self) -> None:
        if self.grid.crosshair is not None:
            self.grid.set_crosshair(None)
        else:
            self._leave()

    def _leave(self) -> None:
        source = self.grid.focused_source
        self.dismiss(source.key if source else self._start.key)

    def action_help(self) -> None:
        from leet.tui.screens.help_screen import HelpScreen

        self.app.push_screen(HelpScreen("chart"))

    def action_x_axis(self) -> None:
        if self._owner is not None:
            self._owner.action_x_axis()
            self._repaint()

    def action_log_x(self) -> None:
        if self._owner is not None:
            self._owner.action_log_x()
            self.grid.set_crosshair(None)
            self._repaint()

    def _look_like_origin(self) -> None:
        """The looks of the grid that the charts come from."""
        for look in ("palette", "heat_palette", "per_plot", "guides", "smoothing"):
            setattr(self.grid, look, getattr(self._origin, look))

    def action_guides(self) -> None:
        if self._owner is not None:
            self._owner.action_guides()
            self._look_like_origin()

    def action_smoothing(self) -> None:
        if self._owner is not None:
            self._owner.action_smoothing()
            self._look_like_origin()

    def on_settings_changed(self) -> None:
        self._look_like_origin()

    def action_open_newer(self) -> None:
        if self._owner is not None:
            self._owner.action_open_newer()

    def action_tail_window(self) -> None:
        if self._owner is not None:
            self._owner.action_tail_window()
            self._repaint()

    def _repaint(self) -> None:
        self.grid.paint_now()
        self._show_facts()
