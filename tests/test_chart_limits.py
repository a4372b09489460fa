"""The y axis as a person wants it: outliers cut off, or a range that was typed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from example_run import START, ExampleRun, trained
from hypothesis import given
from hypothesis import strategies as st
from test_chart_grid import WallApp, rows, settled
from test_memory import watching
from viewer import viewing

from leet.charts.layout import lay_out
from leet.charts.robust import SAMPLE, robust_range
from leet.charts.spec import Spec, Trace
from leet.tui.chart_memory import kept_views, view_of
from leet.tui.screens.chart_screen import ChartScreen
from leet.tui.widgets.chart_entry import WrongEntry, limits_of, number_of
from leet.tui.widgets.chart_view import ChartView

NAN, INF = float("nan"), float("inf")


def noisy(count: int = 1000) -> np.ndarray:
    return 1.0 + np.sin(np.arange(float(count)) * 1.7) * 0.1


# The range without outliers


def test_spikes_are_left_out_and_nothing_else_is() -> None:
    values = noisy()
    values[[100, 500]] = 300.0, -80.0
    low, high = robust_range([values])  # type: ignore[misc]
    assert 0.8 < low <= 0.9
    assert 1.1 <= high < 1.2


@pytest.mark.parametrize(
    "values",
    [
        noisy(),
        np.linspace(0, 5, 200),
        np.full(50, 3.0),
        np.repeat([0.0, 1.0], [20, 80]),
        np.array([1.0, 1000.0]),
        np.array([NAN, INF, -INF]),
        np.empty(0),
    ],
    ids=["waves", "ramp", "constant", "steps", "two", "none finite", "empty"],
)
def test_where_there_are_no_outliers_nothing_is_cut(values: np.ndarray) -> None:
    assert robust_range([values]) is None


def test_each_curve_is_looked_at_by_itself() -> None:
    few, spiky = np.full(20, 40.0) + np.arange(20) * 0.1, noisy(100_000)
    spiky[7] = 1e9
    low, high = robust_range([few, spiky])  # type: ignore[misc]
    assert low < 1 < 41.9 <= high < 50, "few points, far away, are no outliers of the many"


def test_spikes_in_a_rhythm_are_met_as_often_as_they_come() -> None:
    values = noisy(50 * SAMPLE)
    values[::50] = 1e6
    high = robust_range([values])[1]  # type: ignore[index]
    assert high < 2


def test_logarithmic_axes_count_in_decades() -> None:
    values = 10.0 ** np.linspace(-3, 0, 400)
    assert robust_range([values], log=True) is None, "the same data have a long tail only on a linear axis"
    values[3] = 1e9
    low, high = robust_range([np.concatenate([values, [0.0, -5.0]])], log=True)  # type: ignore[misc]
    assert 0 < low <= 1e-3
    assert 1 <= high < 10


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=60), st.booleans())
def test_any_numbers_give_a_range_within_them_or_none(values: list[float], log: bool) -> None:
    found = robust_range([np.array(values, float)], log=log)
    if found is not None:
        finite = [v for v in values if np.isfinite(v) and (v > 0 or not log)]
        assert min(finite) * (1 - 1e-9 * np.sign(min(finite))) <= found[0] < found[1]
        assert found[1] <= max(finite) * (1 + 1e-9 * np.sign(max(finite)))


@given(
    st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=1, max_size=20),
    st.tuples(st.none() | st.floats(allow_nan=False, allow_infinity=False), st.none()).map(tuple),
    st.booleans(),
)
def test_any_limits_give_an_axis(values: list[float], limits: tuple[float | None, float | None], log: bool) -> None:
    trace = Trace("v", np.arange(float(len(values))), np.array(values))
    for ends in (limits, limits[::-1]):
        scale = lay_out(Spec("v", (trace,), y_limits=ends, log_y=log), 40, 10).y
        assert scale.lo < scale.hi


# What is typed


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("0..2.5", (0.0, 2.5)),
        (" -1e-3 .. .5 ", (-1e-3, 0.5)),
        ("..1", (None, 1.0)),
        ("20k..", (20_000.0, None)),
        ("1Gi..8Gi", (2.0**30, 2.0**33)),
        ("10%..90%", (10.0, 90.0)),
        ("", (None, None)),
        ("  ", (None, None)),
    ],
)
def test_ranges_are_understood(text: str, limits: tuple[float | None, float | None]) -> None:
    assert limits_of(text) == limits


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("2", "a range is min..max"),
        ("..", "a range is min..max"),
        ("a..b", "'a' is no number"),
        ("nan..1", "'nan' is no number"),
        ("0..inf", "'inf' is no number"),
        ("1e999..", "'1e999' is no number"),
        ("2..1", "2 is not below 1"),
        ("1..1", "1 is not below 1"),
        ("0..1..2", "'1..2' is no number"),
    ],
)
def test_nonsense_is_refused_with_one_line(text: str, says: str) -> None:
    with pytest.raises(WrongEntry) as wrong:
        limits_of(text)
    assert says in str(wrong.value)
    assert "\n" not in str(wrong.value)


def test_a_logarithmic_axis_has_no_end_at_zero() -> None:
    with pytest.raises(WrongEntry, match="above 0 only"):
        limits_of("0..1", log=True)
    assert limits_of("1e-3..", log=True) == (1e-3, None)


def test_numbers_are_those_of_the_axis() -> None:
    assert limits_of("1..2", 0.001) == (1000.0, 2000.0)
    assert number_of("5u") == pytest.approx(5e-6)


@given(st.text(max_size=12))
def test_whatever_is_typed_is_a_range_or_refused(text: str) -> None:
    try:
        low, high = limits_of(text)
    except WrongEntry:
        return
    assert low is None or high is None or low < high


# What is remembered


def test_choices_survive_and_nonsense_does_not() -> None:
    views = {"a": ChartView(cut=True, x_range=(1, 2)), "b": ChartView(y_limits=(0.0, None)), "c": ChartView()}
    kept = kept_views(views)
    assert [key for key, _ in kept] == ["a", "b"]
    assert {key: view_of(chosen) for key, chosen in kept} == {
        "a": ChartView(cut=True),
        "b": ChartView(y_limits=(0.0, None)),
    }
    for chosen in (None, 7, [], {}, {"y": [2, 1]}, {"y": "0..1"}, {"y": [True, None]}, {"cut": "yes"}):
        held = view_of(chosen)
        assert held is None or held == ChartView(), chosen


# On the screen


async def test_outliers_are_cut_off_marked_and_come_back() -> None:
    app = WallApp(metrics=0, count=0, rows=1, columns=1)
    values = noisy()
    values[500] = 300.0
    app.store.append(rows(0, {"loss": values}))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        app.grid.action_cut_outliers()
        await settled(pilot)
        picture = "\n".join(app.lines())
        assert "loss (y cut)" in picture
        assert "↑" in app.lines()[1]
        assert "0.9" in picture
        drawn = app.grid.charts_drawn
        app.grid.paint_now()
        assert app.grid.charts_drawn == drawn
        app.grid.action_cut_outliers()
        await settled(pilot)
        assert "y cut" not in app.lines()[0]
        assert "↑" not in "\n".join(app.lines())


async def test_the_cut_follows_the_window() -> None:
    app = WallApp(metrics=0, count=0, rows=1, columns=1)
    values = np.concatenate([noisy(500), noisy(500) * 50])
    values[700] = 1e6
    app.store.append(rows(0, {"loss": values}))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        app.grid.action_cut_outliers()
        source = app.grid.sources[0]
        app.grid.set_view(source, ChartView(x_range=(0, 400), cut=True))
        await settled(pilot)
        assert app.grid._page[0].area() is not None
        layout = lay_out(app.grid._page[0].spec, 80, 24)  # type: ignore[arg-type]
        assert layout.y.hi < 2


async def test_a_range_is_typed_refused_kept_and_lifted(tmp_path: Path) -> None:
    log = trained(tmp_path, rows=60, metrics=4, samples=4)
    async with viewing(log) as viewer:
        await viewer.press("Y")
        assert f"y range of {viewer.titles[0]}" in viewer.lines()[-2]
        await viewer.type("2..1")
        await viewer.press("enter")
        assert "2 is not below 1" in viewer.lines()[-2]
        for _ in range(4):
            await viewer.press("backspace")
        await viewer.type("..9")
        await viewer.press("enter")
        assert viewer.run.focused is viewer.run.metrics
        assert "(y ..9)" in viewer.text()
        await viewer.press("Y")
        assert viewer.lines()[-2].rstrip().endswith("..9")
        await viewer.press("escape")
        assert "(y ..9)" in viewer.text()
        await viewer.press("Y", "backspace", "backspace", "backspace", "enter")
        assert "..9" not in viewer.text()


async def test_a_range_is_typed_at_full_size_with_keys_in_one_burst(tmp_path: Path) -> None:
    log = trained(tmp_path, rows=60, metrics=4, samples=4)
    async with viewing(log, (80, 24)) as viewer:
        await viewer.press("enter")
        assert isinstance(viewer.app.screen, ChartScreen)
        await viewer.pilot.press("Y", "0", "full_stop", "full_stop", "5", "enter", "v")
        await viewer.pilot.pause()
        assert "(y 0..5)" in viewer.lines()[0]
        assert viewer.app.screen.grid.crosshair is not None
        await viewer.press("escape", "escape")
        assert "(y 0..5)" in viewer.text()


async def test_choices_are_there_the_next_time(tmp_path: Path) -> None:
    log = trained(tmp_path, rows=60, metrics=4, samples=4)
    async with watching(log) as viewer:
        await viewer.press("right", "O", "Y")
        await viewer.type("0..3")
        await viewer.press("enter")
        title = viewer.titles[0]
    async with watching(log) as viewer:
        view = viewer.run.metrics.views[title]
        assert (view.cut, view.y_limits) == (True, (0.0, 3.0))
        assert "y cut" in viewer.text()


async def test_seven_bits_and_no_colour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from leet.tui.terminal import Terminal

    run = ExampleRun(tmp_path)
    values = noisy(200)
    values[20] = 1e5
    for value in values.tolist():
        run.row({"loss": value})
    run.writer.close()
    log = run.log
    monkeypatch.setenv("NO_COLOR", "1")
    async with viewing(log, (80, 24), terminal=Terminal(now=START + 300, ascii=True, depth="none")) as viewer:
        await viewer.press("O")
        text = viewer.text()
        assert text.isascii()
        assert "loss (y cut)" in text
        assert "^" in text
