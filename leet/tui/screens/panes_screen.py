"""The panes of a screen: how large they are, which of them are shown, and which has the focus.

    ┌ left ┬──────── centre ────────┬ right ┐
    │      │ main pane              │       │     which pane stands where is a `Plan`
    │      ├────────────────────────┤       │
    │      │ lower panes, as opened │       │
    └──────┴────────────────────────┴───────┘
    status line

A pane is made when it is first shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.widget import Widget

from leet.tui import layout
from leet.tui.layout import Side
from leet.tui.span_update import SpanScreen
from leet.tui.terminal import Terminal
from leet.tui.unscrolled import Beside, Sentence, Stacked
from leet.tui.widgets.chart_grid import ChartGrid
from leet.tui.widgets.overview import Overview
from leet.tui.widgets.pane import Pane
from leet.tui.widgets.status_line import StatusLine

TITLES = {
    "overview": "Overview",
    "metrics": "Metrics",
    "system": "System",
    "media": "Media",
    "logs": "Console",
    "runs": "Runs",
}


@dataclass(frozen=True, slots=True)
class Plan:
    """Which pane stands where, by name. The first of `centre` is the main one, which gets what the others leave."""

    left: str
    centre: tuple[str, ...]
    right: str
    yields: Side
    """The sidebar that gives way first where there is no room for both."""
    closed: frozenset[str] = frozenset()
    """Panes that are not shown until they are asked for."""

    @property
    def names(self) -> tuple[str, ...]:
        """Every pane, in the order in which tab goes through them."""
        return (self.left, *self.centre, self.right)

    def side_of(self, name: str) -> Side | None:
        """The side on which a sidebar stands; None for a pane of the centre."""
        return "left" if name == self.left else "right" if name == self.right else None


class PanesScreen(SpanScreen[None]):
    """Panes beside and under each other, as far as there is room; the status line below."""

    AUTO_FOCUS = None
    PLAN: ClassVar[Plan]

    def __init__(self, terminal: Terminal) -> None:
        super().__init__()
        self.metrics = ChartGrid(id="metrics", ascii=terminal.ascii)
        self.system = ChartGrid(id="system", ascii=terminal.ascii, smallest=(18, 4))
        self.overview = Overview(id="overview")
        self.status = StatusLine(id="status")
        self.grids_chosen: set[tuple[str, str]] = set()
        """(grid, `rows` or `columns`) that a person has set: they no longer follow the room."""
        self.grid_sizes: dict[str, tuple[int | None, int | None]] = {}
        """The same as (rows, columns); None where they follow the room."""
        self.panes: dict[str, Pane] = {}
        """The panes that have been made."""
        self.shares: dict[str, float] = {}
        """Shares of the screen's width or height that a person has given to panes."""
        self.wanted: dict[str, bool | None] = {name: False if name in self.PLAN.closed else None for name in self._all}
        """Which panes a person wants shown (True) or not (False); None: where there is room."""
        self._asked: list[str] = []
        """Panes in the order in which they were opened, the latest last: where room is short the others fold."""
        self._put_away: set[str] = set()
        """Panes that a person has hidden on this screen."""
        self._replaced: dict[str, tuple[str, bool]] = {}
        """Sidebar → the other one, which gave way when it was opened, and whether that had the focus."""

    @property
    def _all(self) -> tuple[str, ...]:
        return self.PLAN.names

    def compose(self) -> ComposeResult:
        plan = self.PLAN
        with Beside(id="body"):
            yield from self._made(plan.left)
            with Stacked(id="centre"):
                for name in plan.centre:
                    yield from self._made(name)
            yield from self._made(plan.right)
        yield self.status

    def _made(self, name: str) -> ComposeResult:
        if self.wanted[name] is not False:
            yield self._make(name)
            self.pane_made(name)

    def _make(self, name: str) -> Pane:
        content = self.content_of(name)
        note = Sentence(classes="empty-note", id=f"{name}-note")
        self.panes[name] = Pane(TITLES[name], content, note, id=f"{name}-pane")
        return self.panes[name]

    def grid_of(self, name: str) -> ChartGrid:
        """The charts of a pane, `metrics` or `system`."""
        return self.metrics if name == "metrics" else self.system

    def content_of(self, name: str) -> Widget:
        """The widget inside a pane; asked for when the pane is first shown."""
        made: dict[str, Widget] = {"overview": self.overview, "metrics": self.metrics, "system": self.system}
        return made[name]

    def pane_made(self, name: str) -> None:
        """A pane has been made and waits to be told what to show."""

    @property
    def expects_system(self) -> bool:
        """Whether there are system metrics, or may yet be: otherwise their pane shows only when asked for."""
        return True

    @property
    def stand_ins(self) -> frozenset[str]:
        """Panes that take the room of the main one, which has nothing to show; none where it has."""
        return frozenset()

    def show_overview(self) -> None:
        """Bring the overview up to date."""

    def refresh_all(self) -> None:
        """Bring every pane up to date."""

    def layout_changed(self) -> None:
        """A person has changed which panes are shown, or how large they are."""

    # What is remembered

    def asked_place(self, name: str) -> int:
        """When a pane was opened, among the others; those that nobody opened come first."""
        return self._asked.index(name) if name in self._asked else -1

    def remember_asked(self, name: str) -> None:
        """A pane was opened by a person: now, or when the directory was last seen."""
        if name in self._asked:
            self._asked.remove(name)
        self._asked.append(name)

    def choose_grid(self, name: str, rows: int | None, columns: int | None) -> None:
        """So many rows and columns of charts or tiles; None: as many as the room suggests."""
        self.grid_sizes[name] = rows, columns
        for part, number in (("rows", rows), ("columns", columns)):
            if number is None:
                self.grids_chosen.discard((name, part))
                continue
            self.grids_chosen.add((name, part))
            if name in ("metrics", "system"):
                setattr(self.grid_of(name), part, number)
            elif name in self.panes:
                getattr(self.panes[name].content, f"action_set_{part}")(number)

    def grid_set(self, name: str, part: str, number: int) -> None:
        """A person has chosen the number of `rows` or `columns`."""
        rows, columns = self.grid_sizes.get(name, (None, None))
        self.choose_grid(name, number if part == "rows" else rows, number if part == "columns" else columns)

    def grid_chosen(self, name: str) -> tuple[int | None, int | None]:
        """Rows and columns that were chosen for a grid; None where they follow the room."""
        return self.grid_sizes.get(name, (None, None))

    # Sizes

    def on_resize(self, event: events.Resize) -> None:
        self.share_out()

    def share_out(self) -> None:
        """Give every pane its part of the screen."""
        plan, height = self.PLAN, max(1, self.size.height - 1)
        wanted = dict(self.wanted)
        if wanted["system"] is None and not self.expects_system:
            wanted["system"] = False
        stand_ins = self.stand_ins - self._put_away
        if stand_ins and wanted[plan.centre[0]] is not True:
            wanted |= {plan.centre[0]: False, **dict.fromkeys(stand_ins, True)}
        sides = [plan.side_of(name) for name in reversed(self._asked)]
        centre = [name for name in plan.centre if wanted[name] is not False]
        widths = layout.share(
            self.size.width,
            wanted[plan.left],
            wanted[plan.right],
            yields=plan.yields,
            last=next((side for side in sides if side is not None), None),
            chosen={side: self.shares[n] for n in self.shares for side in (plan.side_of(n),) if side is not None},
        )
        if not centre:
            # Nothing stands in the middle: the sidebars share the whole width, or what stands in for it gets it.
            both = widths.left and widths.right
            more = 0 if stand_ins else widths.centre // 2
            left = widths.left + more if both else (self.size.width if widths.left else 0)
            widths = layout.Widths(left, 0, self.size.width - left if widths.right else 0)
        lower = [name for name in centre if name != plan.centre[0]]
        lower.sort(key=lambda name: self._asked.index(name) if name in self._asked else -1)
        main = plan.centre[0] in centre
        rows = layout.stack(height, main, lower, self.shares) if widths.centre else dict.fromkeys(lower, 0)
        shown = {name: bool(rows.get(name, name in centre)) and widths.centre > 0 for name in plan.centre}
        shown |= {plan.left: widths.left > 0, plan.right: widths.right > 0}
        with self.app.batch_update():
            self._make_missing(shown)
            self.query_one("#centre").display = widths.centre > 0
            for name, pane in self.panes.items():
                pane.display = shown[name]
                if name in (plan.left, plan.right):
                    pane.styles.width = (widths.left if name == plan.left else widths.right) or 1
                elif rows.get(name):
                    pane.styles.height = rows[name]
        if shown["overview"]:
            self.show_overview()
        width = {"metrics": widths.centre, "system": {"left": widths.left, "right": widths.right}.get(
            plan.side_of("system") or "", widths.centre)}  # fmt: skip
        for grid in (self.metrics, self.system):
            name = grid.id or ""
            under = sum(rows.values()) if name == plan.centre[0] else 0
            self.suit_grid(grid, width[name], rows.get(name, height - under) - 1)
        focused = self.focused
        if focused is None or not focused.display or not self._pane_of(focused).display:
            self.focus_pane(next((n for n in (*plan.centre, plan.right, plan.left) if shown[n]), plan.centre[0]))

    def _make_missing(self, shown: Mapping[str, bool]) -> None:
        order = self.PLAN.centre
        for name in order:
            if shown[name] and name not in self.panes:
                after = next((self.panes[n] for n in reversed(order[: order.index(name)]) if n in self.panes), None)
                pane = self._make(name)
                self.query_one("#centre").mount(pane, before=0 if after is None else None, after=after)
                self.pane_made(name)
        body = self.query_one("#body")
        for name in (self.PLAN.left, self.PLAN.right):
            if shown[name] and name not in self.panes:
                body.mount(self._make(name), before=0 if name == self.PLAN.left else None)
                self.pane_made(name)

    def suit_grid(self, grid: ChartGrid, width: int | None = None, height: int | None = None) -> None:
        """Rows and columns that suit the room, as long as nobody has chosen any."""
        width = grid.size.width if width is None else width
        height = (grid.size.height or self.size.height - 2) if height is None else height
        beside = self.PLAN.side_of(grid.id or "") is not None
        least = (30, 7) if beside else (28, 7)
        most = (6, 2) if beside else (4, 3)
        if (grid.id, "rows") not in self.grids_chosen:
            grid.rows = max(1, min(most[0], height // least[1]))
        if (grid.id, "columns") not in self.grids_chosen:
            grid.columns = max(1, min(most[1], width // least[0]))

    def action_toggle_pane(self, name: str) -> None:
        """Show or hide a pane, named or by its side."""
        self.toggle({"left": self.PLAN.left, "right": self.PLAN.right}.get(name, name))

    def shows(self, name: str) -> bool:
        """Whether a pane is on the screen."""
        return name in self.panes and self.panes[name].display

    def toggle(self, name: str) -> None:
        shown, had_focus = self.shows(name), self.focused_name
        if shown and name in self.PLAN.centre and name in self.stand_ins and not self.wanted[name]:
            shown = False  # nobody has asked for it yet: who does so now wants to see it
        self.wanted[name] = not shown
        (self._put_away.add if shown else self._put_away.discard)(name)
        if name in self._asked:
            self._asked.remove(name)
        if not shown:
            self._asked.append(name)
        side = self.PLAN.side_of(name)
        back, focused_then = self._replaced.pop(name, ("", False))
        if shown and back and self.wanted[back] is None:
            self.wanted[back] = True
            self.remember_asked(back)
        self.share_out()
        if side is not None:
            other = self.PLAN.right if side == "left" else self.PLAN.left
            if not shown and self.wanted[other] and not self.shows(other):
                # It gave way, and comes back when this one goes; not when the screen is left in between.
                self.wanted[other] = None
                self._replaced[name] = other, had_focus == other
            elif shown and focused_then and self.shows(back):
                self.focus_pane(back)
        if not shown and (name in self.PLAN.centre[1:] or not self.query_one("#centre").display):
            self.focus_pane(name)
        self.refresh_all()
        self.layout_changed()

    # Focus

    def _pane_of(self, widget: Widget) -> Widget:
        return next((node for node in widget.ancestors_with_self if isinstance(node, Pane)), widget)

    def focus_pane(self, name: str) -> None:
        if name in self.panes:
            self.set_focus(self.panes[name].content)

    def _visible_panes(self) -> list[str]:
        return [name for name in self.PLAN.names if self.shows(name)]

    def action_next_pane(self) -> None:
        self._cycle(1)

    def action_previous_pane(self) -> None:
        self._cycle(-1)

    def _cycle(self, step: int) -> None:
        if self.focused is self.overview and self.overview.next_section(step):
            return
        panes = self._visible_panes()
        if not panes:
            return
        here = self.focused_name
        at = panes.index(here) if here in panes else -1
        name = panes[(at + step) % len(panes)]
        self.focus_pane(name)
        if name == "overview":
            self.overview.enter_from(step)

    @property
    def focused_name(self) -> str | None:
        """The name of the pane in focus."""
        return next((name for name, pane in self.panes.items() if pane.content is self.focused), None)

    @property
    def pane(self) -> Any:
        """The widget that commands act on: that of the pane in focus, else the metrics."""
        name = self.focused_name
        return self.panes[name].content if name is not None else self.metrics

    @property
    def grid(self) -> ChartGrid:
        """The charts that are acted upon: those in focus, else those that are shown, the metrics first."""
        alone = self.shows("system") and not self.shows("metrics")
        return self.system if self.focused is self.system or alone else self.metrics
