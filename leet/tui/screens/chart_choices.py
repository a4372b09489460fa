"""What a person chooses for one chart by typing: the same in the panes and at full size."""

from __future__ import annotations

from dataclasses import replace

from leet.tui.screens.asking import AskingScreen
from leet.tui.widgets.chart_grid import ChartGrid
from leet.tui.widgets.chart_grid_limits import in_words


class ChartChoices(AskingScreen):
    """A mixin of screens with charts."""

    @property
    def chart_grid(self) -> ChartGrid:
        """The charts that keys act on."""
        raise NotImplementedError

    def keep_choices(self) -> None:
        """Remember what was chosen."""

    async def action_y_range(self) -> None:
        """Ask for the ends of the y axis of the active chart."""
        from leet.tui.widgets.chart_entry import WrongEntry, limits_of

        grid = self.chart_grid
        chart = grid.active_chart
        if chart is None or chart.spec is None:
            return
        source, spec = chart.source, chart.spec

        def take(text: str) -> str:
            view = grid.view(source)
            try:
                limits = limits_of(text, spec.unit.factor, log=view.log_y)
            except WrongEntry as wrong:
                return str(wrong)
            grid.set_view(source, replace(view, y_limits=limits))
            return ""

        held = grid.view(source).y_limits
        text = "" if held == (None, None) else in_words(held, spec)
        await self.ask(f"y range of {source.title}: min..max, empty fits the data", text, take)
