from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from example_run import ExampleRun, trained
from test_chart_grid import WallApp, rows
from viewer import viewing

from leet.model.system_store import SystemStore
from leet.model.units import format_value
from leet.reading.batch import Columns, SystemBatch
from leet.tui.screens.chart_screen import ChartScreen
from leet.tui.terminal import Terminal
from leet.tui.widgets.chart_facts import curve_facts
from leet.tui.widgets.chart_source import SystemSource
from leet.tui.widgets.chart_view import ChartView

NAN, INF = math.nan, math.inf


def test_figures_of_a_curve() -> None:
    x = np.arange(7.0)
    facts = curve_facts("loss", x, np.array([3.0, NAN, 1.0, INF, 2.0, -INF, 2.0]))
    assert facts.count == 7
    assert facts.lowest == (2.0, 1.0)
    assert facts.highest == (0.0, 3.0)
    assert facts.mean == 2.0
    assert facts.last == (6.0, 2.0)
    assert facts.nonfinite == 3
    assert [place[0] for place in facts.places] == [1.0, 3.0, 5.0]


def test_figures_of_a_window_leave_out_what_is_beyond() -> None:
    x = np.arange(10.0)
    facts = curve_facts("", x, x * 2, (2.0, 4.5))
    assert (facts.count, facts.lowest, facts.highest, facts.mean) == (3, (2.0, 4.0), (4.0, 8.0), 6.0)


def test_figures_of_what_has_none() -> None:
    empty = curve_facts("", np.empty(0), np.empty(0))
    assert (empty.count, empty.lowest, empty.mean, empty.last) == (0, None, None, None)
    wrong = curve_facts("", np.arange(2.0), np.array([NAN, NAN]))
    assert (wrong.lowest, wrong.mean, wrong.nonfinite) == (None, None, 2)
    assert math.isnan(wrong.last[1])  # type: ignore[index]
    huge = curve_facts("", np.arange(2.0), np.array([1.5e308, 1.5e308]))
    assert huge.mean == 1.5e308


async def test_a_chart_fills_the_screen_and_shows_its_figures() -> None:
    app = WallApp(metrics=0, count=0)
    values = np.sin(np.arange(5000.0) / 300)
    values[77] = NAN
    app.store.append(rows(0, {"a": values, "b": values * 2}))
    async with app.run_test(size=(160, 40)) as pilot:
        await pilot.pause()
        screen = ChartScreen(app.grid, app.grid.sources[1])
        await app.push_screen(screen)
        await pilot.pause()
        await pilot.pause()
        lines = app.lines()
        assert lines[0].startswith("╭ b ")
        facts = lines[38]
        finite = values[np.isfinite(values)] * 2
        for figure in (finite.min(), finite.max(), finite.mean(), values[-1] * 2):
            assert format_value(figure) in facts, (figure, facts)
        assert "points 5,000" in facts
        assert "1 not finite: NaN @ 77" in facts
        await pilot.press("plus", "plus", "plus")
        await pilot.pause()
        assert "points 5,000" not in app.lines()[38]
        view = app.grid.views["b"]
        await pilot.press("n")
        await pilot.pause()
        assert app.lines()[0].startswith("╭ a ")
        await pilot.press("escape")
        await pilot.pause()
        assert app.screen is not screen
        assert app.grid.views["b"] == view, "the zoom stays with the chart"


def system_store() -> SystemStore:
    """Two GPUs sampled every 5 s for an hour; one goes up, the other down."""
    count = 720
    times = 1.7e9 + np.arange(count) * 5.0
    store = SystemStore()
    index = np.arange(count, dtype=np.int32)
    columns = Columns(
        ("gpu.0.gpu", "gpu.1.gpu"),
        np.array([0, count, 2 * count], np.int64),
        np.concatenate([index, index]),
        np.concatenate([np.linspace(0, 100, count), np.linspace(100, 0, count)]),
    )
    store.append(SystemBatch(times, columns))
    return store


def test_system_charts_show_a_tail_that_can_be_left() -> None:
    store = system_store()
    (chart,) = store.charts()
    source = SystemSource(store, chart, lambda: 10.0, lambda: True)
    extent = source.extent()
    assert extent is not None
    newest = 1.7e9 + 719 * 5
    assert extent.home[0] >= newest - 600
    assert newest <= extent.home[1] <= newest + 15
    spec = source.spec(50, ChartView())
    assert spec.legend
    assert [trace.label for trace in spec.traces] == ["GPU 0", "GPU 1"]
    assert spec.note == "10 min"
    assert spec.y_range == (0, 100)
    assert source.heatmap_capable
    wide = ChartView().zoomed(extent, extent.home[1], -50)
    assert source.spec(50, wide).x_range == extent.whole
    assert source.spec(50, wide).note == ""
    everything = SystemSource(store, chart, lambda: None, lambda: False)
    assert everything.extent() == ((1.7e9, newest), (1.7e9, newest))
    assert everything.version() != source.version()


async def test_a_percentage_can_be_a_heat_map() -> None:
    app = WallApp(count=0)
    store = system_store()
    (chart,) = store.charts()
    async with app.run_test(size=(100, 20)) as pilot:
        app.grid.show([SystemSource(store, chart, lambda: None, lambda: False)])
        await pilot.pause()
        curve = app.lines()
        app.grid.action_cycle_scale()
        app.grid.action_cycle_scale()
        await pilot.pause()
        assert app.grid.active_chart.heat
        assert app.lines() != curve
        backgrounds = {s.style.bgcolor.name for line in app.screen._compositor.render_strips() for s in line}
        assert len(backgrounds) > 10
        await pilot.hover(app.grid, offset=(50, 8))
        await pilot.pause(0.06)
        assert app.grid.crosshair_on(app.grid.active_chart) is not None
        app.grid.action_cycle_scale()
        assert not app.grid.active_chart.heat


async def test_the_state_of_the_run_is_told_beside_a_chart(tmp_path: Path) -> None:
    run = ExampleRun(tmp_path)
    run.train(20)
    async with viewing(run.flush(), live=True, terminal=Terminal()) as viewer:
        await viewer.press("enter")
        assert "chart 1 of" in viewer.status
        assert "running" in viewer.status
        run.finish(code=3)
        await viewer.until("failed (exit code 3)")
        assert "chart 1 of" in viewer.status


async def test_a_filter_leads_back_to_all_charts(tmp_path: Path) -> None:
    async with viewing(trained(tmp_path)) as viewer:
        await viewer.press("enter")
        assert isinstance(viewer.app.screen, ChartScreen)
        await viewer.press("slash", *"layers")
        assert not isinstance(viewer.app.screen, ChartScreen)
        assert viewer.run.filters["metrics"].text == "layers"
        assert viewer.run.typing
