"""Borders of panes: dragged with the mouse, or moved by keys from the pane in focus."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events

from leet.tui import layout
from leet.tui.messages import SectionsResized
from leet.tui.screens.panes_screen import PanesScreen
from leet.tui.terminal import Terminal

RESIZE_STEP = 0.05
"""Of the screen, by which a key moves a border."""


@dataclass(slots=True)
class Border:
    """A border that is being dragged: that of which pane, and where the drag began."""

    pane: str
    at: int
    share: float


class BorderedPanes(PanesScreen):
    """Panes whose borders can be moved."""

    def __init__(self, terminal: Terminal) -> None:
        super().__init__(terminal)
        # Sizes are kept in one place, whatever they are of.
        self.overview.shares = self.shares
        self._dragged: Border | None = None

    def action_resize(self, direction: str) -> None:
        """Move the border of the pane in focus: that of a sidebar by left and right, of a lower pane by up and down."""
        focused = self.focused_name
        if focused == "overview" and direction in ("up", "down"):
            self.overview.action_resize(direction)
            return
        names = [focused, *reversed(self._asked), *self.PLAN.names]
        across = direction in ("left", "right")
        fit = (n for n in names if n and self.shows(n) and self._has_border(n) and across == self._beside(n))
        name = next(fit, None)
        if name is None:
            return
        grows = direction == ("left" if name == self.PLAN.right else "right") if across else direction == "up"
        self._give(name, self._share_of(name) + (RESIZE_STEP if grows else -RESIZE_STEP))
        self.layout_changed()

    def action_reset_sizes(self) -> None:
        self.shares.clear()
        self.share_out()
        self.overview.repaint()
        self.layout_changed()

    def on_sections_resized(self, event: SectionsResized) -> None:
        event.stop()
        self.layout_changed()

    def _beside(self, name: str) -> bool:
        return self.PLAN.side_of(name) is not None

    def _has_border(self, name: str) -> bool:
        """Sidebars beside a centre, and panes of the centre that stand under another one."""
        if self._beside(name):
            return bool(self.query_one("#centre").display)
        shown = [n for n in self.PLAN.centre if self.shows(n)]
        return name in shown[1:]

    def _share_of(self, name: str) -> float:
        own, whole = self.panes[name].outer_size, self.size
        return own.width / max(1, whole.width) if self._beside(name) else own.height / max(1, whole.height - 1)

    def _give(self, name: str, share: float) -> None:
        self.shares[name] = min(max(share, layout.SHARES[0]), layout.SHARES[1])
        self.share_out()

    def _border_at(self, x: int, y: int) -> str | None:
        """The pane whose border is at a cell: beside a sidebar, one column either way, or the heading of a pane."""
        for name, pane in self.panes.items():
            if not pane.display or not self._has_border(name):
                continue
            region = pane.region
            edge = region.right - 1 if name == self.PLAN.left else region.x
            if self._beside(name):
                if region.y <= y < region.bottom and 0 <= x - edge + (name != self.PLAN.left) <= 1:
                    return name
            elif y == region.y and region.x <= x < region.right:
                return name
        return None

    def _forward_event(self, event: events.Event) -> None:
        """Drag borders; everything else goes where Textual sends it."""
        if self._dragged is None and isinstance(event, events.MouseDown) and event.button == 1:
            name = self._border_at(int(event.x), int(event.y))
            if name is not None:
                at = int(event.x if self._beside(name) else event.y)
                self._dragged = Border(name, at, self._share_of(name))
                self.panes[name].heading.mark(True)
                return
        if self._dragged is not None and isinstance(event, events.MouseMove | events.MouseUp):
            self._drag(event)
            return
        super()._forward_event(event)

    def _drag(self, event: events.MouseEvent) -> None:
        dragged = self._dragged
        assert dragged is not None
        beside = self._beside(dragged.pane)
        moved = int(event.x if beside else event.y) - dragged.at
        if dragged.pane != self.PLAN.left:
            moved = -moved
        share = dragged.share + moved / max(1, self.size.width if beside else self.size.height - 1)
        if moved and share != self.shares.get(dragged.pane):
            self._give(dragged.pane, share)
        if isinstance(event, events.MouseUp):
            self._dragged = None
            pane = self.panes[dragged.pane]
            pane.heading.mark(self.focused is not None and self._pane_of(self.focused) is pane)
            if moved:
                self.layout_changed()
