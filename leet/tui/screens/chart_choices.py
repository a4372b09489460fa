"""What a person chooses for one chart by typing: the same in the panes and at full size."""

from __future__ import annotations

from dataclasses import replace

from textual.screen import Screen

from leet.tui.commands import keys_in_words
from leet.tui.favourites import MOST
from leet.tui.screens.asking import AskingScreen
from leet.tui.widgets.chart_grid import ChartGrid
from leet.tui.widgets.chart_grid_limits import in_words
from leet.tui.widgets.status_line import StatusLine


class ChartChoices(AskingScreen):
    """A mixin of screens with charts."""

    @property
    def chart_grid(self) -> ChartGrid:
        """The charts that keys act on."""
        raise NotImplementedError

    def action_anchor(self) -> None:
        """Let the crosshair tell differences from where it stands now, on all charts; or no longer."""
        grid = self.chart_grid
        grid.action_anchor()
        self._repaint_charts()
        key = keys_in_words("anchor")
        if grid.anchor_place.held is not None:
            self.say_choice(f"anchor: the crosshair tells differences from here; {key} here takes it away", "anchor")

    def action_favourite(self) -> None:
        """Mark the active chart as a favourite, or no longer."""
        grid = self.chart_grid
        if (chart := grid.active_chart) is None:
            return
        title = chart.source.title
        if grid.favourites.toggle(chart.source.key):
            count, key = len(grid.favourites), keys_in_words("favourites")
            self.say_choice(f"{title} is a favourite, one of {count}: {key} shows them alone", f"{title}: favourite")
        elif len(grid.favourites) >= MOST:
            self.say_choice(f"no more than {MOST} charts can be favourites")
        else:
            self.say_choice(f"{title} is no favourite any more")
        self.favourites_changed(grid)

    def action_favourites(self) -> None:
        """Show the favourites alone, or all charts."""
        favourites = self.chart_grid.favourites
        if not favourites:
            key = keys_in_words("favourite")
            self.say_choice(f"no chart is a favourite yet: {key} marks the one in focus", f"{key} marks a favourite")
            return
        favourites.alone = not favourites.alone
        self.say_choice("favourites only" if favourites.alone else "all charts, the favourites first")
        self.favourites_changed(self.chart_grid)

    def favourites_changed(self, grid: ChartGrid) -> None:
        """The favourites of `grid` are others, or are shown alone: put its charts in order."""
        grid.paint_now()

    def _repaint_charts(self) -> None:
        """Something that all charts of the screen share is another."""
        self.chart_grid.paint_now()

    def say_choice(self, *message: str) -> None:
        """Say what was chosen, in several wordings."""
        assert isinstance(self, Screen)
        self.query_one(StatusLine).say(*message)

    async def action_threshold(self) -> None:
        """Ask for the threshold of the active chart."""
        from leet.tui.widgets.chart_entry import WrongEntry, threshold_of

        grid = self.chart_grid
        chart = grid.active_chart
        if chart is None or chart.spec is None:
            return
        source, factor = chart.source, chart.spec.unit.factor

        def take(text: str) -> str:
            try:
                threshold = threshold_of(text, factor)
            except WrongEntry as wrong:
                return str(wrong)
            grid.set_view(source, replace(grid.view(source), threshold=threshold))
            return ""

        held = grid.view(source).threshold
        text = "" if held is None else held.in_words(factor)
        await self.ask(f"threshold of {source.title}: >0.9 or <1e-3, empty for none", text, take)

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
