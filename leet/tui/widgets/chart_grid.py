"""Charts in rows and columns, a page at a time, moved about by keys and mouse.

Actions, for the table of commands (the widget binds no keys):

    next_page previous_page first_page last_page
    move('left' | 'right' | 'up' | 'down')      focus over charts and page edges; left/right move the crosshair
    move_far(direction)                         the same in larger steps
    zoom_in zoom_out pan('left' | 'right') reset_view
    cycle_scale                                 linear, log, heat-map for percentages
    cut_outliers                                y without outliers, or with them
    cycle_guides                                off, dots, horizontal
    cycle_smoothing                             off, and three strengths
    crosshair                                   on and off, on all charts that share the x axis
    anchor                                      dropped at the crosshair, which then tells differences; or lifted
    fullscreen                                  posts FullscreenRequested
    set_rows(n) set_columns(n)                  1 to 9
    leave                                       crosshair off, else no chart focused; True if there was either

Mouse: click focuses, wheel zooms about the pointer, left drag pans, hover reads values out of the chart under
the pointer, and with alt or the right button held out of all charts that share its x axis.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from textual import events
from textual.message import Message
from textual.timer import Timer

from leet.charts.spec import Spec
from leet.tui.widgets.chart_grid_chart import ChartSource, DrawnChart
from leet.tui.widgets.chart_grid_layout import MOST
from leet.tui.widgets.chart_grid_looks import GUIDES
from leet.tui.widgets.chart_grid_wall import ChartWall
from leet.tui.widgets.chart_view import ChartView

PAN_SHARE = 1 / 8
"""Of the window, moved by one key press."""
FAR = 8
"""Cells that the crosshair jumps in a larger step."""
SMOOTHINGS = (0.0, 0.6, 0.9, 0.99)
LEFT, RIGHT = 1, 3
"""Mouse buttons."""

__all__ = ["ChartGrid", "ChartSource"]


@dataclass(slots=True)
class _Drag:
    """A held left button: the chart it went down on, the column where, and the view there was."""

    chart: DrawnChart
    column: int
    view: ChartView
    moved: bool = False


class ChartGrid(ChartWall, can_focus=True):
    """A wall of charts with hands. See the module."""

    @dataclass
    class FullscreenRequested(Message):
        """The chart of `source` shall fill the screen."""

        grid: ChartGrid
        source: ChartSource

        @property
        def control(self) -> ChartGrid:
            return self.grid

    def __init__(self, **settings: Any) -> None:
        """`settings` are those of `ChartWall`."""
        super().__init__(**settings)
        self._drag: _Drag | None = None
        self._reading_all = False
        self._pointer: events.MouseMove | None = None
        self._pointer_timer: Timer | None = None
        self._pointer_pause = 1 / 12 if "SSH_CONNECTION" in os.environ else 1 / 30
        """Seconds between two reactions to a moving mouse: motion comes in floods, and pictures cost bytes."""

    # Pages and focus

    def action_next_page(self) -> None:
        self._turn(1)

    def action_previous_page(self) -> None:
        self._turn(-1)

    def action_first_page(self) -> None:
        self._turn_to(0)

    def action_last_page(self) -> None:
        self._turn_to(len(self.sources) - 1)

    def action_move(self, direction: str) -> None:
        if self.crosshair is not None and direction in ("left", "right"):
            self._step_crosshair(1 if direction == "right" else -1)
            return
        if not self.sources:
            return
        if self.focus_index is None:
            self.focus_chart(self.page[0] - 1)
            return
        columns, last = self.page_layout.columns, len(self.sources) - 1
        target = self.focus_index + {"left": -1, "right": 1, "up": -columns, "down": columns}[direction]
        if direction == "down" and target > last and self.focus_index // columns < last // columns:
            target = last
        if 0 <= target <= last:
            self.focus_chart(target)

    def action_move_far(self, direction: str) -> None:
        if self.crosshair is not None and direction in ("left", "right"):
            self._step_crosshair(FAR if direction == "right" else -FAR)
        else:
            self.action_move(direction)

    def action_fullscreen(self) -> None:
        if chart := self.active_chart:
            self.post_message(self.FullscreenRequested(self, chart.source))

    def action_set_rows(self, rows: int) -> None:
        self.rows = min(max(rows, 1), MOST)

    def action_set_columns(self, columns: int) -> None:
        self.columns = min(max(columns, 1), MOST)

    def action_leave(self) -> bool:
        if self.crosshair is not None or self.anchor_place.held is not None:
            self.anchor_place.held = None
            self.set_crosshair(None)
            self._paint()
            return True
        if self.focus_index is not None:
            self.focus_chart(None)
            return True
        return False

    # Window and scale

    def action_zoom_in(self) -> None:
        self._zoom_by_key(1)

    def action_zoom_out(self) -> None:
        self._zoom_by_key(-1)

    def action_pan(self, direction: str) -> None:
        if chart := self.active_chart:
            self._pan(chart, self.view(chart.source), PAN_SHARE if direction == "right" else -PAN_SHARE)

    def action_reset_view(self) -> None:
        if chart := self.active_chart:
            self.set_view(chart.source, self.view(chart.source).reset())

    def action_cycle_scale(self) -> None:
        if chart := self.active_chart:
            view = self.view(chart.source).next_scale(chart.source.heatmap_capable)
            self.set_view(chart.source, view)

    def action_cut_outliers(self) -> None:
        """Let outliers stretch the y axis, or no longer."""
        if chart := self.active_chart:
            view = self.view(chart.source)
            self.set_view(chart.source, replace(view, cut=not view.cut))

    def action_cycle_guides(self) -> None:
        """The next kind of guides, on all charts."""
        self.guides = _after(self.guides, list(GUIDES))

    def action_cycle_smoothing(self) -> None:
        """The next strength of smoothing, on all charts."""
        self.smoothing = _after(self.smoothing, SMOOTHINGS)

    def _zoom_by_key(self, notches: int) -> None:
        if (chart := self.active_chart) and (extent := chart.source.extent()):
            view = self.view(chart.source)
            low, high = view.window(extent)
            at = self.crosshair_on(chart)
            if at is None or not low <= at <= high:
                # The newest data is what one looks at while it arrives.
                at = high if view.follow else (low + high) / 2
            self.set_view(chart.source, view.zoomed(extent, at, notches))

    def _pan(self, chart: DrawnChart, view: ChartView, share: float) -> None:
        if extent := chart.source.extent():
            low, high = view.window(extent)
            self.set_view(chart.source, view.panned(extent, (high - low) * share))

    # Crosshair

    def action_crosshair(self) -> None:
        if self.crosshair is not None:
            self.set_crosshair(None)
        elif (chart := self.active_chart) and not self._stand_in_the_middle() and not chart.spec:
            self.call_after_refresh(self._stand_in_the_middle)  # charts that have just come are drawn in a moment

    def _stand_in_the_middle(self) -> bool:
        """Let the crosshair begin in the middle of the active chart; False where that has not been drawn."""
        if (chart := self.active_chart) and chart.spec and (area := chart.area()):
            at = _next_sample(chart.spec, sum(area.x_range) / 2, 0.0)
            self.set_crosshair(at, chart.spec.x_label)
            return True
        return False

    def action_anchor(self) -> None:
        """Drop the anchor at the crosshair, which begins to stand there if it did not; there already: take it away."""
        if self.crosshair is None:
            self.action_crosshair()
        if self.crosshair is not None and (chart := self.active_chart):
            self.drop_anchor(chart)

    def _step_crosshair(self, cells: int) -> None:
        """To the sample `cells` further in the chart in focus: the next one where samples are sparse."""
        chart = self.active_chart
        if not chart or not chart.spec or self.crosshair is None or not (area := chart.area()):
            return
        low, high = area.x_range
        cell = (high - low) / max(1, area.width)
        at = self.crosshair[0] if chart.spec.x_label == self.crosshair[1] else (low + high) / 2
        self.set_crosshair(_next_sample(chart.spec, at, cells * cell), chart.spec.x_label)

    # Mouse

    def on_mouse_down(self, event: events.MouseDown) -> None:
        chart = self.chart_at(event.x, event.y)
        if chart is None or event.button not in (LEFT, RIGHT):
            return
        event.stop()
        self.capture_mouse()
        if event.button == LEFT:
            self._drag = _Drag(chart, event.x, self.view(chart.source))
        else:
            self._reading_all = True
            self._read_at(event.x, event.y, everywhere=True)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        self._pointer = event
        if self._pointer_timer is None:
            self._pointer_timer = self.set_timer(self._pointer_pause, self._pointer_moved)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        if self._drag is None and not self._reading_all:
            return
        event.stop()
        self._pointer_moved()
        self.release_mouse()
        if self._drag is not None and not self._drag.moved:
            index = self.index_of(self._drag.chart)
            self.focus_chart(None if index == self.focus_index else index)
        self._drag = None
        if self._reading_all:
            self._reading_all = False
            self.set_hover(None)

    def on_leave(self) -> None:
        if self._drag is None and not self._reading_all:
            self._pointer = None
            self.set_hover(None)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._zoom_by_wheel(event, 1)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._zoom_by_wheel(event, -1)

    def on_mouse_scroll_left(self, event: events.MouseScrollLeft) -> None:
        self._pan_by_wheel(event, -PAN_SHARE)

    def on_mouse_scroll_right(self, event: events.MouseScrollRight) -> None:
        self._pan_by_wheel(event, PAN_SHARE)

    def _pointer_moved(self) -> None:
        if self._pointer_timer is not None:
            self._pointer_timer.stop()
            self._pointer_timer = None
        event, self._pointer = self._pointer, None
        if event is None:
            return
        if self._drag is None:
            self._read_at(event.x, event.y, everywhere=self._reading_all or event.meta)
        elif event.x != self._drag.column or self._drag.moved:
            self._drag.moved = True
            if area := self._drag.chart.area():
                self._pan(self._drag.chart, self._drag.view, (self._drag.column - event.x) / max(1, area.width))

    def _read_at(self, x: int, y: int, *, everywhere: bool) -> None:
        """Show the values of the chart under the pointer, or none between charts and on their frames."""
        chart = self.chart_at(x, y)
        area = chart.area() if chart else None
        place = (x - chart.region.x, y - chart.region.y) if chart else (0, 0)
        if chart is None or chart.spec is None or area is None or not area.contains(*place):
            self.set_hover(None)
        else:
            at = area.x_at(x - chart.region.x)
            self.set_hover(at, chart.spec.x_label, None if everywhere else chart.source.key)

    def _zoom_by_wheel(self, event: events.MouseEvent, notches: int) -> None:
        if (chart := self.chart_at(event.x, event.y)) is None:
            return
        event.stop()
        if (extent := chart.source.extent()) and (area := chart.area()):
            view = self.view(chart.source)
            self.set_view(chart.source, view.zoomed(extent, area.x_at(event.x - chart.region.x), notches))

    def _pan_by_wheel(self, event: events.MouseEvent, share: float) -> None:
        if chart := self.chart_at(event.x, event.y):
            event.stop()
            self._pan(chart, self.view(chart.source), share)


_Value = TypeVar("_Value")


def _after(held: _Value, values: Sequence[_Value]) -> _Value:
    """The value behind `held`, around at the end; the first one behind a value that is not there."""
    return values[(values.index(held) + 1) % len(values)] if held in values else values[0]


def _next_sample(spec: Spec, at: float, by: float) -> float:
    """x of the sample nearest to `at` + `by` that is at least that far on; `at` where there is none."""
    xs = np.concatenate([trace.x for trace in spec.traces]) if spec.traces else np.empty(0)
    if by > 0:
        xs = xs[xs > at]
    elif by < 0:
        xs = xs[xs < at]
    if not len(xs):
        return at
    return float(xs[np.argmin(np.abs(xs - (at + by)))])
