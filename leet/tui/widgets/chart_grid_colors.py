"""The style of every role of a drawn cell, from the stylesheet and the palettes."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from rich.style import Style

from leet.charts import palettes
from leet.charts.cells import Role

if TYPE_CHECKING:
    from leet.tui.screens.scatter_screen import ScatterView
    from leet.tui.widgets.chart_grid_wall import ChartWall
    from leet.tui.widgets.media_pages import MediaPages

_PARTS = {
    Role.FRAME: "frame",
    Role.FRAME_FOCUSED: "frame-focused",
    Role.TITLE: "title",
    Role.TITLE_FOCUSED: "title-focused",
    Role.VALUE: "value",
    Role.AXIS: "axis",
    Role.TICK: "tick",
    Role.GUIDE: "guide",
    Role.CROSSHAIR: "crosshair",
    Role.READOUT: "readout",
    Role.MARK: "mark",
    Role.NOTE: "note",
}


FAINTNESS = 0.6
"""Share of the ground in the colour of points behind a smoothed line."""


class RoleStyles:
    """Role → style, each made once. Every style has a background: a segment without shows the terminal's own."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"chart-grid--{part}" for part in _PARTS.values()}

    CSS: ClassVar[str] = """
    ChartWall {
        width: 1fr;
        height: 1fr;
        background: $background;
        .chart-grid--frame { color: $foreground 25%; }
        .chart-grid--frame-focused { color: $accent; }
        .chart-grid--title { color: $foreground; }
        .chart-grid--title-focused { color: $accent; text-style: bold; }
        .chart-grid--value { color: $foreground; text-style: bold; }
        .chart-grid--axis { color: $foreground 40%; }
        .chart-grid--tick { color: $foreground 60%; }
        .chart-grid--guide { color: $foreground 20%; }
        .chart-grid--crosshair { color: $foreground 60%; }
        .chart-grid--readout { color: $accent; text-style: bold; }
        .chart-grid--mark { color: $error; text-style: bold; }
        .chart-grid--note { color: $foreground 60%; text-style: italic; }
        &:ansi {
            .chart-grid--frame { color: ansi_bright_black; }
            .chart-grid--axis { color: ansi_bright_black; }
            .chart-grid--tick { color: ansi_default; }
            .chart-grid--guide { color: ansi_bright_black; }
            .chart-grid--crosshair { color: ansi_default; }
            .chart-grid--note { color: ansi_default; }
        }
    }
    """

    def __init__(self, wall: ChartWall | MediaPages | ScatterView) -> None:
        self._wall = wall
        self._styles: dict[int, Style] = {}

    def renew(self) -> bool:
        """Look at the stylesheet and the palettes again: whether a style that was asked for is another now."""
        before, self._styles = self._styles, {}
        return any(self(role) != style for role, style in before.items())

    def __call__(self, role: int) -> Style:
        style = self._styles.get(role)
        if style is None:
            style = self._styles[role] = self._filtered(self._make(role))
        return style

    def _filtered(self, style: Style) -> Style:
        """As Textual's filters want it (no colours, only true colours): once, not for every line."""
        segments = [Segment("x", style)]
        for line_filter in self._wall.get_line_filters():
            segments = line_filter.apply(segments, self._wall.background_colors[1])
        return segments[0].style or style

    def _make(self, role: int) -> Style:
        background = Style(bgcolor=self._wall.background_colors[1].rich_color)
        if role >= Role.FAINT:
            return background + Style(color=self._faint(role - Role.FAINT, self._wall.background_colors[1].hex))
        if role >= Role.HEAT:
            return background if self._wall.app.no_color else self._heat(role - Role.HEAT)
        if role >= Role.SERIES:
            return background + Style(color=self._series(role - Role.SERIES, self._wall.background_colors[1].hex))
        if role in _PARTS:
            return self._wall.get_component_rich_style(f"chart-grid--{_PARTS[Role(role)]}") + background
        return background

    @property
    def palette(self) -> palettes.Palette:
        """The palette of series."""
        return palettes.PALETTES.get(self._wall.palette, palettes.PALETTES[palettes.DEFAULT])

    def _series(self, index: int, ground: str) -> str:
        theme = self._wall.app.current_theme
        if self._wall.app.native_ansi_color:
            return palettes.ansi(index, theme.dark)
        if own := self._wall.series_colors.get(index):
            return own
        return palettes.legible(self.palette.series(index, theme.dark), ground[:7])

    def _faint(self, index: int, ground: str) -> str:
        """Points behind a smoothed line: told from it, and from the ground."""
        if self._wall.app.native_ansi_color:
            return "bright_black"
        return palettes.mix(self._series(index, ground), ground[:7].lower(), FAINTNESS)

    def _heat(self, level: int) -> Style:
        """Ink and background alike: a full block and a blank are both drawn so."""
        if self._wall.app.native_ansi_color:
            color = palettes.ansi_heat(level)
        else:
            color = palettes.heat(self._wall.heat_palette or palettes.DEFAULT_HEAT)[level]
        return Style(color=color, bgcolor=color)
