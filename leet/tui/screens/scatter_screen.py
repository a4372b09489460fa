"""Which setting matters: every setting with how strongly it goes with a result, and the one in focus drawn against it.

setting         ρ                      ╭ val/loss ──────────── ρ -0.83 ╮
lr          -0.83 ████████▎            │ •                             │
optimizer    0.41 ████                 │    • ••                       │
width       -0.12 █                    │         •  • •  •             │
│           │     │ its size           ╰── 1e-4 ────── 1e-3 ──── lr ───╯
│           Spearman's ρ; ε of texts
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from rich.cells import cell_len
from rich.style import Style
from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.message import Message
from textual.strip import Strip

from leet.charts.lettering import shorten
from leet.charts.scatter import Scatter, draw_scatter, sensibly_logarithmic
from leet.model.run_correlation import Correlation, correlations, results
from leet.model.run_entry import RunEntry
from leet.model.run_value import RunValue
from leet.tui.commands import Place, bindings, hints
from leet.tui.run_labels import RunLabels
from leet.tui.screens.overlay import Overlay
from leet.tui.span_update import SpanScreen
from leet.tui.widgets.cell_strips import strips
from leet.tui.widgets.chart_grid_colors import RoleStyles
from leet.tui.widgets.painted import Painted, cut, pad, strip_of
from leet.tui.widgets.painted_list import PaintedList
from leet.tui.widgets.status_line import Part, StatusLine

_SIDE_FROM = 72
"""Columns of the screen from which the list stands beside the chart."""
_BAR, _ASCII_BAR = "▏▎▍▌▋▊▉█", "#"


class SettingsList(PaintedList):
    """The settings, the strongest first."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"settings--name", "settings--quiet", "settings--bar", "settings--cursor"}
    DEFAULT_CSS = """
    SettingsList {
        width: 2fr; max-width: 46; height: 1fr;
        .settings--name { color: $foreground; }
        .settings--quiet { color: $foreground 60%; }
        .settings--bar { color: $accent; }
        .settings--cursor { background: $block-cursor-background; color: $block-cursor-foreground; text-style: bold; }
        &:ansi .settings--quiet { color: ansi_default; }
        &:ansi .settings--cursor { background: ansi_default; color: ansi_default; text-style: reverse; }
    }
    """

    class Moved(Message):
        """Another setting is in focus."""

    def __init__(self, *, ascii_only: bool) -> None:
        super().__init__(id="settings")
        self._ascii = ascii_only
        self._found: Sequence[Correlation] = ()
        self._at = 0

    def show(self, found: Sequence[Correlation]) -> None:
        """These; the setting that was in focus stays so."""
        name = self.chosen.value.name if self.chosen is not None else ""
        self._found = found
        self._go(next((at for at, one in enumerate(found) if one.value.name == name), 0))

    @property
    def length(self) -> int:
        return len(self._found)

    @property
    def place(self) -> int:
        return self._at

    @property
    def chosen(self) -> Correlation | None:
        return self._found[self._at] if self._at < len(self._found) else None

    def _titles(self) -> int:
        return 1

    def action_move(self, direction: str) -> None:
        by = 1 if direction == "down" else -1
        self._go((self._at + by) % max(1, len(self._found)))

    def _go(self, place: int) -> None:
        self._at = max(0, min(place, len(self._found) - 1))
        self._settle()
        self.repaint()
        self.post_message(self.Moved())

    def on_click(self, event: events.Click) -> None:
        place = self._row_at(event.y)
        if place is not None:
            self._go(place)

    def paint(self, width: int, height: int) -> list[Strip]:
        quiet = self.part("settings--quiet")
        names = max((cell_len(one.value.title) for one in self._found), default=7)
        names = max(7, min(names, width // 2 - 2))
        lines = [strip_of((cut(f" {pad('setting', names)} {'rho' if self._ascii else 'ρ':>7}{'n':>4}", width), quiet))]
        if not self._found:
            return [*lines, strip_of((cut(" no setting differs between these runs", width), quiet))]
        for at, one in enumerate(self._found[self._top : self._top + height - 1], self._top):
            title = one.value.title
            name = shorten(title, names) if cell_len(title) == len(title) else title
            sign = "  " if one.directed else "e " if self._ascii else "ε "
            number = "–" if math.isnan(one.strength) else _signed(one)
            text = f" {pad(name, names)} {sign if number != '–' else '  '}{number:>5}{len(one.points.x):>4} "
            here = at == self._at
            style = self.part("settings--cursor" if here else "settings--name")
            bar = self._bar(one.strength, width - cell_len(text))
            lines.append(strip_of((cut(text, width), style), (bar, self.part("settings--bar"))))
        return lines

    def _bar(self, strength: float, room: int) -> str:
        if math.isnan(strength) or room < 3:
            return ""
        if self._ascii:
            return _ASCII_BAR * round(abs(strength) * room)
        eighths = round(abs(strength) * room * 8)
        return "█" * (eighths // 8) + (_BAR[eighths % 8 - 1] if eighths % 8 else "")


def _signed(one: Correlation) -> str:
    """Its strength, with a sign where that says something."""
    text = f"{one.strength:+.2f}" if one.directed else f"{one.strength:.2f}"
    return "0.00" if text in ("+0.00", "-0.00") else text


class ScatterView(Painted):
    """The points of the setting in focus."""

    COMPONENT_CLASSES: ClassVar[set[str]] = RoleStyles.COMPONENT_CLASSES
    DEFAULT_CSS = RoleStyles.CSS.replace("ChartWall", "ScatterView").replace("width: 1fr;", "width: 3fr;")

    def __init__(self, palette: str, series_colors: Mapping[int, str]) -> None:
        super().__init__(id="scatter")
        self.palette = palette
        self.heat_palette = ""
        self.series_colors = series_colors
        self._styles = RoleStyles(self)
        self._scatter: Scatter | None = None

    def show(self, scatter: Scatter | None) -> None:
        self._scatter = scatter
        self.repaint()

    def notify_style_update(self) -> None:
        self._styles.renew()
        super().notify_style_update()

    def paint(self, width: int, height: int) -> list[Strip]:
        if self._scatter is None:
            return [strip_of(("", Style())), strip_of(("  No result differs between these runs", Style()))]
        cells = draw_scatter(self._scatter, width, height)
        return list(strips(cells, range(height), self._styles))


class ScatterScreen(SpanScreen[None], Overlay[None]):
    """Over the runs that were selected, as they were when it was opened."""

    PLACE: ClassVar[Place] = "scatter"
    BINDINGS: ClassVar[list[BindingType]] = bindings("scatter")
    DEFAULT_CSS = """
    ScatterScreen {
        & > .scatter { layout: horizontal; height: 1fr; }
        & > .scatter.-narrow { layout: vertical; }
        & > .scatter.-narrow > SettingsList { width: 1fr; max-width: 100%; height: 1fr; max-height: 8; }
        & > .scatter.-narrow > ScatterView { width: 1fr; height: 2fr; }
    }
    """

    def __init__(
        self,
        entries: Sequence[RunEntry],
        numbers: Mapping[str, int],
        view: ScatterView,
        *,
        ascii_only: bool = False,
        result: str = "",
        keep: Callable[[str], None] = lambda name: None,
    ) -> None:
        """`numbers`: of each run's series, by key; `view` has its colours. `keep` is told the result that is chosen."""
        super().__init__()
        self._entries = entries
        self._labels = RunLabels(entries)
        self._by_key = {entry.key: entry for entry in entries}
        self._numbers = numbers
        self._ascii = ascii_only
        self._keep = keep
        self._results = results(entries)
        self._result = next((at for at, value in enumerate(self._results) if value.name == result), 0)
        self._log: dict[str, bool] = {}
        """Of `x` and `y`, where a person chose; else as is sensible."""
        self._run: str | None = None
        """Key of the run of which the point is told."""
        self.list = SettingsList(ascii_only=ascii_only)
        self.view = view

    @property
    def result(self) -> RunValue | None:
        return self._results[self._result] if self._results else None

    def compose(self) -> ComposeResult:
        with Container(classes="scatter"):
            yield self.list
            yield self.view
        yield StatusLine(id="status")

    def on_mount(self) -> None:
        self._fit()
        self.list.focus()
        self._show()

    def on_resize(self) -> None:
        self._fit()
        self.call_after_refresh(self._show_point)

    def _fit(self) -> None:
        self.query_one(".scatter").set_class(self.size.width < _SIDE_FROM, "-narrow")

    def _show(self) -> None:
        """Another result."""
        self.list.show(correlations(self._entries, self.result) if self.result is not None else ())
        self._show_point()

    def on_settings_list_moved(self, event: SettingsList.Moved) -> None:
        event.stop()
        self._log.pop("x", None)
        self._show_point()

    def _show_point(self) -> None:
        """Draw the setting in focus, and tell of the run that is."""
        self.view.show(self._scatter())
        parts = [Part(f"{len(self._entries):,} runs", "status--strong", rank=4)]
        chosen, result = self.list.chosen, self.result
        if result is not None:
            place = f" ({self._result + 1}/{len(self._results)})" if len(self._results) > 1 else ""
            parts.append(Part(f"{result.title}{place}", rank=6))
        if chosen is not None and result is not None and self._run in self._by_key:
            entry = self._by_key[self._run]
            told = f"{self._labels.of(entry)}: {chosen.value.title} {chosen.value.text(entry)}, {result.text(entry)}"
            parts.append(Part(told, "status--message", rank=9))
        self.query_one(StatusLine).show(parts, hints("scatter"))

    def _scatter(self) -> Scatter | None:
        chosen, result = self.list.chosen, self.result
        if chosen is None or result is None:
            return None
        points = chosen.points
        value = "" if math.isnan(chosen.strength) else f"{'ρ' if chosen.directed else 'ε'} {_signed(chosen)}"
        return Scatter(
            points.x,
            points.y,
            tuple(self._numbers.get(key, 0) for key in points.keys),
            result.title,
            chosen.value.title,
            points.names,
            log_x=self._log.get("x", sensibly_logarithmic(points.x)),
            log_y=self._log.get("y", sensibly_logarithmic(points.y)),
            chosen=points.keys.index(self._run) if self._run in points.keys else None,
            value=value.replace("ρ", "rho").replace("ε", "eps") if self._ascii else value,
            ascii=self._ascii,
            monochrome=self.app.no_color,
        )

    # Commands

    def action_pane(self, action: str, *arguments: object) -> None:
        getattr(self.list, f"action_{action}")(*arguments)

    def action_result(self, by: int) -> None:
        """The next result, or the one before."""
        if self._results:
            self._result = (self._result + by) % len(self._results)
            self._log.pop("y", None)
            self._keep(self._results[self._result].name)
            self._show()

    def action_pick(self) -> None:
        """Choose the result from a list."""
        from leet.tui.screens.choice_screen import Choice, ChoiceScreen

        if not self._results:
            return
        names = [value.name for value in self._results]

        def take(chosen: list[str] | None) -> None:
            if chosen is not None and chosen[0] in names:
                self.action_result(names.index(chosen[0]) - self._result)

        held = self._results[self._result]
        choices = [Choice(value.name, "", value.title) for value in self._results]
        self.app.push_screen(
            ChoiceScreen("Which result", choices, [held.name], check=lambda name: f"no result is called {name}"), take
        )

    def action_log(self, axis: str) -> None:
        """Logarithmic, or not."""
        scatter = self._scatter()
        if scatter is not None:
            self._log[axis] = not (scatter.log_x if axis == "x" else scatter.log_y)
            self._show_point()

    def action_run(self, by: int) -> None:
        """Tell of the next run to the right, or to the left."""
        chosen = self.list.chosen
        if chosen is None or not chosen.points.keys:
            return
        points = chosen.points
        order = sorted(range(len(points.keys)), key=lambda at: (points.x[at], points.y[at]))
        keys = [points.keys[at] for at in order]
        at = keys.index(self._run) + by if self._run in keys else (0 if by > 0 else -1)
        self._run = keys[at % len(keys)]
        self._show_point()

    def action_back(self) -> None:
        """Tell of no run any more; then leave."""
        if self._run is not None:
            self._run = None
            self._show_point()
        else:
            self.dismiss()

    def action_help(self) -> None:
        from leet.tui.screens.help_screen import HelpScreen

        self.app.push_screen(HelpScreen(self.PLACE))
