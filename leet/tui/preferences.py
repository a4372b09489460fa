"""What a person has set, put into force on the screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from leet.settings.store import Problem, settings
from leet.settings.table import Name
from leet.tui import keymap
from leet.tui.terminal import Terminal
from leet.tui.themes import default_theme, theme_names

if TYPE_CHECKING:
    from textual.app import App

    from leet.tui.widgets.chart_grid_wall import ChartWall

AUTO = "auto"
MODES = ("colors.single_run_mode", "colors.system_mode")
"""Whether curves or charts have their own colours: those of metrics, and of system metrics."""
Part = Literal["metrics", "system"]


def names_of(setting: Name) -> Sequence[str]:
    """The words that a setting takes which only the screen knows: names of themes."""
    assert setting.name == "theme"
    return (AUTO, *theme_names())


def theme(terminal: Terminal) -> str | None:
    """The theme that was set; None for the one that suits the terminal, also where there is none called so.

    It was chosen for screens with colours: one with sixteen, or none, keeps its own.
    """
    held = settings().choice("theme")
    return held if terminal.depth not in ("16", "none") and held in theme_names() else None


def problems() -> list[Problem]:
    """All that is wrong with the file of settings and the variables, and was left out."""
    held = settings()
    found = [*held.problems, *keymap.problems()]
    name = held.choice("theme")
    if name != AUTO and name not in theme_names():
        line = held.lines.get("theme", 0)
        place = f"{held.path.name}:{line}" if line else held.path.name
        place = "LEET_THEME" if held.origin("theme") == "environment" else place
        found.append(Problem(place, f"there is no theme {name!r}; `leet --theme list` names all"))
    return found


def in_short(found: Sequence[Problem]) -> str:
    """One line for any number of problems; `leet config list` says them all."""
    more = f" (and {len(found) - 1} more: leet config list)" if len(found) > 1 else ""
    return f"{found[0]}{more}"


def show_theme(app: App[object]) -> None:
    """Switch to the theme that is set, where the screen has colours to show it in."""
    from leet.tui.app import FrameApp

    if isinstance(app, FrameApp) and not app.no_color:
        wanted = theme(app.terminal) or app.asked_theme or default_theme(app.terminal)
        if app.theme != wanted:
            app.theme = wanted


def dress(grid: ChartWall, part: Part, *, single: bool) -> None:
    """Give charts the colours, guides and smoothing that were set. `single`: of one run, not of several."""
    held = settings()
    per_plot = held.choice(MODES[part == "system"]) == "per_plot" and (single or part == "system")
    series = "colors.system" if part == "system" else "colors.runs"
    grid.palette = held.choice("colors.charts" if per_plot else series)
    grid.per_plot = per_plot
    grid.heat_palette = held.choice("colors.heat")
    grid.guides = held.choice("charts.guides")
    if part == "metrics":
        grid.smoothing = smoothing()


def smoothing() -> float:
    """The weight of the mean that was set; 0 for none."""
    held = settings().choice("smoothing")
    return 0.0 if held == "off" else float(held)
