"""Differences between two places: the anchor and the crosshair."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from example_run import START, ExampleRun, trained
from test_workspace_screen import at, root
from viewer import viewing

from leet.charts.layout import lay_out
from leet.charts.line import draw_chart
from leet.charts.readout import difference, x_difference
from leet.charts.spec import Spec, Trace
from leet.tui.screens.chart_screen import ChartScreen

__all__ = ["root"]


def test_differences_have_a_sign_and_the_unit_of_their_axis() -> None:
    x = np.arange(0.0, 5000, 10)
    spec = Spec("loss", (Trace("loss", x, x),), x_kind="number")
    layout = lay_out(spec, 60, 12)
    assert x_difference(300, 100, spec, layout) == "+200"
    assert x_difference(100, 1300, spec, layout) == "-1,200"
    assert x_difference(5, 5, spec, layout) == "0"
    timed = Spec("loss", (Trace("loss", x, x),), x_kind="clock")
    assert x_difference(START + 3725, START, timed, lay_out(timed, 60, 12)) == "+1:02:05"
    assert difference(0.25, 0.5, spec) == "-0.25"
    assert difference(2.5, 2.0, spec) == "+0.5"
    assert difference(2.5, 2.5, spec) == "0"
    assert difference(float("nan"), 2.5, spec) == "NaN"


@pytest.mark.parametrize("size", [(1, 1), (8, 3), (20, 5), (28, 7), (200, 50)])
@pytest.mark.parametrize("places", [(0.0, 99.0), (-5.0, 50.0), (50.0, 1e9), (float("nan"), 4.0), (4.0, float("inf"))])
@pytest.mark.parametrize("count", [0, 1, 2, 30])
def test_any_size_and_places(size: tuple[int, int], places: tuple[float, float], count: int) -> None:
    x = np.arange(100.0)
    traces = tuple(Trace(f"run-{k}", x[k:], x[k:] * k) for k in range(count))
    for ascii_only in (False, True):
        spec = Spec("loss", traces, anchor=places[0], crosshair=places[1], ascii=ascii_only, legend=True)
        cells = draw_chart(spec, *size)
        assert (cells.width, cells.height) == size
        assert not ascii_only or cells.text().isascii()


async def test_the_crosshair_tells_the_difference_on_every_chart(tmp_path: Path) -> None:
    run = ExampleRun(tmp_path)
    run.record("metric", {"name": "val", "step_metric": "epoch"})
    for step in range(100):
        run.row({"loss": 100.0 - step, "epoch": step / 10, "val": step * 2.0})
    run.sample(20)
    async with viewing(run.finish(), (200, 50)) as viewer:
        metrics, system = viewer.run.metrics, viewer.run.system
        metrics.focus_chart([source.key for source in metrics.sources].index("loss"))
        await viewer.press("V")
        assert metrics.crosshair is not None, "a crosshair begins where there was none"
        step = metrics.crosshair[0]
        assert metrics.anchor_place.held is not None
        assert "anchor: " in viewer.status
        await viewer.press("right", "right", "right")
        text = viewer.text()
        there = metrics.crosshair[0]
        apart = there - step
        assert apart >= 3
        assert f"{there:g}: {100 - there:g}" in text
        assert f"Δ +{apart:g}: -{apart:g}" in text
        assert f"Δ +{apart / 10:g}: +{2 * apart:g}" in text, "one over its own step metric counts from the same moment"
        assert "┊" in text
        assert {system.anchor_on(chart) for chart in system._page} == {START + step}
        await viewer.press("enter")
        assert isinstance(viewer.app.screen, ChartScreen)
        assert f"Δ +{apart:g}: -{apart:g}" in viewer.text()
        await viewer.press("V")
        assert "Δ 0: 0" in viewer.text()
        await viewer.press("left")
        assert "Δ -1: +1" in viewer.text()
        await viewer.press("escape", "escape")
        assert "Δ" in viewer.text()
        await viewer.press("escape")
        assert metrics.crosshair is None
        assert metrics.anchor_place.held is None
        assert "┊" not in viewer.text()


async def test_the_same_place_again_takes_it_away(tmp_path: Path) -> None:
    async with viewing(trained(tmp_path, rows=60, metrics=4, samples=4), (80, 24)) as viewer:
        await viewer.press("v", "V")
        assert viewer.run.metrics.anchor_place.held is not None
        await viewer.press("V")
        assert viewer.run.metrics.anchor_place.held is None
        assert viewer.run.metrics.crosshair is not None


async def test_it_stands_at_the_same_moment_on_another_axis(tmp_path: Path) -> None:
    async with viewing(trained(tmp_path, rows=60, metrics=1, samples=4), (120, 40)) as viewer:
        await viewer.press("v", "V")
        held = viewer.run.metrics.anchor_place.held
        assert held is not None
        await viewer.press("x")
        chart = viewer.run.metrics.active_chart
        assert chart is not None
        assert chart.spec is not None
        assert chart.spec.x_kind == "duration"
        assert viewer.run.metrics.anchor_on(chart) == pytest.approx(held.x), "one second is one step in this run"


async def test_every_run_of_an_overlay_tells_its_own(root: Path) -> None:
    async with at(root, (160, 40)) as place:
        await place.press("down", "space", "tab", "c", "1", "right", "v", "V", "right", "right")
        await place.settled()
        spec = place.screen.metrics.active_chart.spec  # type: ignore[union-attr]
        assert {trace.label for trace in spec.traces} == {"trial-4", "trial-5"}  # type: ignore[union-attr]
        text = place.text()
        assert "Δ +2" in text
        for label in ("trial-4", "trial-5"):
            assert any(f"● {label} 0." in line and "Δ " in line for line in text.splitlines()), text
