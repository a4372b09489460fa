"""Logarithmic x axes: x are decades, from the thinning of points to the labels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from example_run import ExampleRun
from hypothesis import given
from hypothesis import strategies as st
from test_chart_grid import rows
from test_memory import watching
from test_workspace_screen import at, root
from viewer import viewing

from leet.charts.ticks import log_duration_ticks
from leet.model.decades import Decades
from leet.model.metrics import AXES, MetricStore
from leet.tui.screens.chart_screen import ChartScreen
from leet.tui.widgets.chart_source import MetricSource
from leet.tui.widgets.chart_view import ChartView

__all__ = ["root"]


def logged(tmp_path: Path, count: int = 120) -> Path:
    run = ExampleRun(tmp_path)
    run.record("metric", {"name": "val", "step_metric": "epoch"})
    for step in range(count):
        run.row({"loss": 1.0 / (1 + step), "epoch": step / 10, "val": step * 2.0})
    return run.finish()


@given(st.lists(st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=5), max_size=5))
def test_decades_are_those_of_all_values_however_they_arrive(blocks: list[list[float]]) -> None:
    decades = Decades()
    values = np.empty(0)
    for block in blocks:
        values = np.concatenate([values, block])
        found = decades.of("x", values)
        with np.errstate(all="ignore"):
            expected = np.where(values <= 0, -np.inf, np.log10(values))
        np.testing.assert_array_equal(found, expected)


def test_points_at_zero_and_before_are_left_out_and_counted() -> None:
    store = MetricStore()
    store.append(rows(-3, {"loss": np.arange(104.0)}))
    assert store.x_range("loss") == (-3, 100)
    before = store.version("loss")
    store.log_x = True
    assert store.version("loss") != before
    assert store.x_range("loss") == pytest.approx((0, 2))
    spec = MetricSource(store, "loss", lambda: False).spec(40, ChartView())
    assert spec.x_lost == 4
    assert spec.log_x
    assert spec.x_label == "log step"
    store.axis = "clock"
    assert store.abscissa("loss").kind == "clock", "the time of day has no beginning"
    store.axis = "runtime"
    assert store.abscissa("loss").kind == "duration decades"
    assert store.abscissa("loss").below == 4
    store.log_x = False
    assert store.x_range("loss") == (-1.5, 50)


def test_a_metric_with_all_of_it_at_zero_has_no_place() -> None:
    store = MetricStore()
    store.append(rows(0, {"once": [7.0]}))
    store.log_x = True
    source = MetricSource(store, "once", lambda: True)
    assert source.extent() is None
    assert source.spec(40, ChartView()).x_lost == 1


def test_early_points_are_as_many_as_late_ones() -> None:
    store = MetricStore()
    count = 200_000
    store.append(rows(0, {"loss": np.sin(np.arange(count) / 3)}))
    store.log_x = True
    x, _ = store.trace("loss", 0.0, 5.0, 400)
    assert len(x) < 2500
    counts = np.histogram(x[np.isfinite(x)], bins=[1, 2, 3, 4, 5])[0]
    assert counts[0] > 80, "nearly all of the first columns"
    assert counts[1:].min() > 100


@given(st.floats(-9, 9), st.floats(0.001, 12), st.floats(1, 20))
def test_ticks_of_time_are_on_the_axis_and_in_order(low: float, span: float, count: float) -> None:
    ticks = log_duration_ticks(low, low + span, count)
    assert list(ticks.values) == sorted(ticks.values)
    assert all(low - 0.35 <= value <= low + span + 0.35 for value in ticks.values)
    assert len(set(ticks.labels)) == len(ticks.labels)


async def test_the_key_switches_all_metrics_and_says_so(tmp_path: Path) -> None:
    async with viewing(logged(tmp_path), (160, 40)) as viewer:
        linear = viewer.text()
        await viewer.press("ctrl+x")
        text = viewer.text()
        assert "logarithmic x: what lies at 0 or before is left out" in viewer.status
        labels = {chart.source.key: chart.spec.x_label for chart in viewer.run.metrics._page if chart.spec}
        assert labels == {"epoch": "log step", "loss": "log step", "val": "log epoch"}
        assert "loss (1 at x ≤ 0)" in text
        viewer.run.go_to_metric("loss")
        await viewer.press("v", "right")
        chart = viewer.run.metrics.active_chart
        assert chart is not None
        at_x = viewer.run.metrics.crosshair_on(chart)
        assert at_x is not None
        step = round(10**at_x)
        assert f"{step}: {1 / (1 + step):.4g}" in viewer.text()
        await viewer.press("V", "right", "right")
        moved = round(10 ** viewer.run.metrics.crosshair[0])  # type: ignore[index]
        assert f"Δ +{moved - step}: " in viewer.text()
        await viewer.press("plus", "plus")
        assert chart.source.key in viewer.run.metrics.views
        await viewer.press("escape", "escape", "ctrl+x")
        viewer.run.status.say()
        assert viewer.text().splitlines()[:-1] == linear.splitlines()[:-1]


async def test_at_full_size_places_are_steps(tmp_path: Path) -> None:
    async with viewing(logged(tmp_path), (160, 30)) as viewer:
        viewer.run.go_to_metric("loss")
        await viewer.press("enter", "ctrl+x")
        assert isinstance(viewer.app.screen, ChartScreen)
        facts = viewer.lines()[-2]
        assert "max 0.5 @ 1 " in facts
        assert "@ 119" in facts


async def test_time_since_the_start_has_names_and_time_of_day_has_none(tmp_path: Path) -> None:
    async with viewing(logged(tmp_path, 4000), (160, 40)) as viewer:
        await viewer.press("ctrl+x", "x")
        text = viewer.text()
        for _ in AXES:
            if "time since start" in viewer.status:
                break
            await viewer.press("x")
            text = viewer.text()
        assert " 1m " in text
        assert " 1h " in text
        for _ in AXES:
            if viewer.run.metric_sources.axis == "clock":
                break
            await viewer.press("x")
        await viewer.press("ctrl+x", "ctrl+x")
        assert "but for the time of day" in viewer.status


async def test_it_is_there_the_next_time(tmp_path: Path) -> None:
    log = logged(tmp_path)
    async with watching(log) as viewer:
        await viewer.press("ctrl+x")
    async with watching(log) as viewer:
        assert viewer.run.metric_sources.log_x
        assert "x axis: logarithmic" in viewer.status
        await viewer.press("ctrl+x")
    async with watching(log) as viewer:
        assert not viewer.run.metric_sources.log_x


async def test_all_runs_of_a_directory(root: Path) -> None:
    async with at(root) as place:
        await place.press("ctrl+x", "down", "space")
        await place.settled()
        assert "x axis: logarithmic" in place.text()
        assert all(run.store.log_x for run in place.screen.sources.runs)
        assert "at x ≤ 0" in place.text()


def test_the_moment_of_a_place_is_the_same() -> None:
    store = MetricStore()
    store.append(rows(0, {"loss": np.arange(100.0)}))
    source = MetricSource(store, "loss", lambda: False)
    linear = source.time_at(50)
    store.log_x = True
    assert source.time_at(np.log10(50)) == linear
    assert source.x_at(linear) == pytest.approx(np.log10(50))  # type: ignore[arg-type]
