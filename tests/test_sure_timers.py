"""Timers of a busy program."""

from __future__ import annotations

import itertools

import pytest
from textual import _time
from textual.app import App
from textual.widget import Widget

from leet.tui.span_update import SpanScreen
from leet.tui.widgets.chart_grid import ChartGrid
from leet.tui.widgets.painted import Painted


class Picture(Painted):
    def paint(self, width: int, height: int) -> list:  # type: ignore[type-arg]
        return []


class TimedApp(App[None]):
    def __init__(self, widget: Widget) -> None:
        super().__init__()
        self.widget = widget

    def compose(self):  # type: ignore[no-untyped-def]
        yield self.widget

    def get_default_screen(self) -> SpanScreen[None]:
        return SpanScreen()


@pytest.mark.parametrize("kind", [Picture, ChartGrid, SpanScreen])
async def test_a_timer_that_is_late_rings(kind: type[Widget], monkeypatch: pytest.MonkeyPatch) -> None:
    app = TimedApp(ChartGrid() if kind is ChartGrid else Picture())
    async with app.run_test() as pilot:
        rung: list[int] = []
        moments = itertools.count()
        with monkeypatch.context() as slow:
            # Every look at the clock is a second after the one before: another thread has been at work.
            slow.setattr(_time, "get_time", lambda: float(next(moments)))
            (app.screen if kind is SpanScreen else app.widget).set_timer(0.003, lambda: rung.append(1))
            await pilot.pause()
        await pilot.pause(0.05)
        assert rung == [1]
