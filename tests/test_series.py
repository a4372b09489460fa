"""Series and their windows: what is thinned away is never missed, and nothing is invented."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leet.model.abscissa import Abscissa
from leet.model.growing import Column, is_ascending
from leet.model.series import Series
from leet.model.thinning import FAN, Pyramid, extremes

VALUES = st.one_of(
    st.floats(-100, 100, width=16),
    st.sampled_from([0.0, 1.0, math.nan, math.inf, -math.inf, 1e308, -1e308]),
)


def series_of(values: np.ndarray, rows: np.ndarray | None = None, block: int = 1000) -> Series:
    series = Series()
    rows = np.arange(len(values), dtype=np.int32) if rows is None else rows.astype(np.int32)
    for start in range(0, len(values), block):
        series.append(rows[start : start + block], np.asarray(values[start : start + block], float))
    return series


def noisy(count: int, seed: int = 0, wild: float = 0.0) -> np.ndarray:
    random = np.random.default_rng(seed)
    values = random.normal(size=count).cumsum()
    values[random.random(count) < wild] = np.nan
    return values


def points(x: np.ndarray, y: np.ndarray) -> list[tuple[float, float]]:
    """Points that can be compared: NaN as a word."""
    return [(a, "nan" if math.isnan(b) else b) for a, b in zip(x.tolist(), y.tolist(), strict=True)]


@given(st.lists(st.lists(VALUES, max_size=40), max_size=20))
def test_points_stay_what_they_were(blocks: list[list[float]]):
    series, expected = Series(), []
    for block in blocks:
        rows = np.arange(len(expected), len(expected) + len(block), dtype=np.int32)
        series.append(rows, np.array(block, float))
        expected += block
    assert series.count == len(series) == len(expected)
    np.testing.assert_array_equal(series.values, np.array(expected, float))
    np.testing.assert_array_equal(series.rows, np.arange(len(expected)))
    assert series.nonfinite == sum(not math.isfinite(v) for v in expected)
    assert series.last == pytest.approx(expected[-1] if expected else math.nan, nan_ok=True)


def test_a_point_takes_twelve_bytes():
    series = series_of(np.zeros(300_000), block=1000)
    held = series._values.nbytes + series._rows.nbytes
    assert held <= 12 * 300_000 * 1.5
    few = series_of(np.zeros(3))
    assert few._values.nbytes + few._rows.nbytes <= 12 * 4


@given(st.lists(VALUES, max_size=3000), st.integers(1, 700))
@settings(max_examples=50)
def test_a_pyramid_knows_the_extremes_of_its_buckets(values: list[float], block: int):
    y = np.array(values, float)
    pyramid = Pyramid()
    for end in [*range(0, len(y), block), len(y)]:
        pyramid.extend(y[:end])
    size = FAN
    for low, high in zip(pyramid.lowest, pyramid.highest, strict=True):
        assert len(low) == len(high) == len(y) // size
        for i in range(len(low)):
            bucket = y[i * size : (i + 1) * size]
            finite = bucket[np.isfinite(bucket)]
            if len(finite):
                assert y[low.view[i]] == finite.min()
                assert y[high.view[i]] == finite.max()
            assert i * size <= low.view[i] < (i + 1) * size
        size *= FAN


@given(st.integers(0, 6000), st.lists(st.integers(0, 6000), min_size=1, max_size=9), st.integers(0, 9))
@settings(max_examples=60)
def test_extremes_by_pyramid_are_those_by_hand(count: int, cuts: list[int], seed: int):
    y = noisy(count, seed, wild=0.1)
    edges = np.array(sorted(min(c, count) for c in [*cuts, count]))
    pyramid = Pyramid()
    pyramid.extend(y)
    by_pyramid, by_hand = extremes(y, pyramid, edges), extremes(y, None, edges)
    for a, b in itertools.pairwise(edges):
        column = y[a:b][np.isfinite(y[a:b])]
        for found in (by_pyramid, by_hand):
            inside = y[found[(found >= a) & (found < b)]]
            assert np.isfinite(inside).all()
            if len(column):
                assert inside.min() == column.min()
                assert inside.max() == column.max()
                assert len(inside) == 2


@given(
    st.lists(st.tuples(st.floats(-50, 50, width=16), VALUES), max_size=400),
    st.one_of(st.none(), st.floats(-60, 60, width=16)),
    st.one_of(st.none(), st.floats(-60, 60, width=16)),
    st.booleans(),
)
@settings(max_examples=150)
def test_a_window_with_room_for_all_is_the_window(pairs, lo, hi, ascending: bool):
    """Nothing needs thinning: exactly the points inside, and the neighbours through which the curve leaves."""
    if ascending:
        pairs = sorted(pairs, key=lambda pair: pair[0])
    x = np.array([p[0] for p in pairs], float)
    y = np.array([p[1] for p in pairs], float)
    got = points(*series_of(y).window(x, lo, hi, columns=1000))
    inside = np.array([(lo is None or lo <= v) and (hi is None or v <= hi) for v in x], bool)
    near = inside.copy()
    near[1:] |= inside[:-1]
    near[:-1] |= inside[1:]
    everything = points(x, y)
    must = [p for p, keep in zip(everything, inside, strict=True) if keep]
    may = [p for p, keep in zip(everything, near, strict=True) if keep]
    if is_ascending(x):
        # A window between two points shows the line between them.
        assert [p for p in got if (lo is None or lo <= p[0]) and (hi is None or p[0] <= hi)] == must
        assert len(got) <= len(must) + 2
        assert set(got) <= set(everything)
    else:
        assert got == may


@given(
    st.integers(0, 20_000),
    st.integers(0, 99),
    st.integers(1, 60),
    st.floats(0, 1),
    st.floats(0, 1),
    st.sampled_from("lsc"),
)
@settings(max_examples=80)
def test_thinning_keeps_extremes_and_invents_nothing(count, seed, columns, left, right, spread):
    y = noisy(count, seed, wild=0.02 * (seed % 3))
    steps = np.arange(count, dtype=float)
    # Evenly spaced, crowded at one end (a run that slept), or with many equal x.
    x = {"l": steps, "s": steps**3, "c": np.floor(steps / 7)}[spread]
    lo, hi = sorted([left * (x[-1] if count else 0), right * (x[-1] if count else 0)])
    got_x, got_y = series_of(y).window(x, lo, hi, columns)

    assert len(got_x) <= 5 * columns + 2 or len(got_x) <= 4 * columns
    kept = np.searchsorted(x, got_x, "left")
    assert is_ascending(got_x) or not len(got_x)
    everything = set(points(x, y))
    assert set(points(got_x, got_y)) <= everything
    assert len(kept) == len(got_x)

    inside = (x >= lo) & (x <= hi)
    shown = (got_x >= lo) & (got_x <= hi)
    finite, finite_shown = y[inside & np.isfinite(y)], got_y[shown & np.isfinite(got_y)]
    if len(finite):
        assert finite_shown.min() == finite.min()
        assert finite_shown.max() == finite.max()
    if inside.any():
        assert got_x[shown][0] == x[inside][0]
        assert got_x[shown][-1] == x[inside][-1]
        assert np.isnan(y[inside]).any() == np.isnan(got_y[shown]).any()
        edges = lo + (hi - lo) / columns * np.arange(columns + 1)
        for a, b in itertools.pairwise(edges):
            # Columns are half open here and there: look a hair's breadth inside.
            hair = 1e-9 * max(abs(a), abs(b), 1)
            column = inside & (x > a + hair) & (x < b - hair) & np.isfinite(y)
            if column.any():
                near = shown & (got_x >= a - hair) & (got_x <= b + hair) & np.isfinite(got_y)
                assert got_y[near].min() <= y[column].min()
                assert got_y[near].max() >= y[column].max()


def test_a_spike_of_one_sample_among_a_million_is_seen():
    y = np.zeros(1_000_000)
    y[777_777] = 5.0
    y[123_456] = -3.0
    y[555_555] = np.nan
    series, x = series_of(y, block=250_000), np.arange(1e6)
    for lo, hi in ((None, None), (100_000.0, 900_000.0), (500_000.0, 800_000.0)):
        got_x, got_y = series.window(x, lo, hi, 150)
        assert len(got_x) <= 5 * 150 + 2
        assert (777_777.0, 5.0) in points(got_x, got_y)
        assert (555_555.0, "nan") in points(got_x, got_y)
    assert (123_456.0, -3.0) in points(*series.window(x, None, None, 150))


def test_marks_are_bounded():
    y = np.where(np.arange(100_000) % 2, np.nan, 1.0)
    _, got = series_of(y).window(np.arange(1e5), None, None, 100)
    assert len(got) <= 502
    assert np.isnan(got).any()
    all_nan = series_of(np.full(10_000, np.inf))
    got_x, got = all_nan.window(np.arange(1e4), None, None, 50)
    assert np.isinf(got).all()
    assert 50 <= len(got_x) <= 252


def test_a_window_grows_with_the_series():
    series, x = Series(), np.arange(60_000.0)
    random = np.random.default_rng(5)
    y = random.normal(size=60_000)
    for end in range(0, 60_000, 7_777):
        fresh = slice(series.count, end)
        series.append(np.arange(fresh.start, end, dtype=np.int32), y[fresh])
        if end:
            _, got = series.window(x[:end], None, None, 40)
            assert got.min() == y[:end].min()
            assert got.max() == y[:end].max()


@given(st.integers(0, 3000), st.integers(0, 20), st.integers(1, 30))
@settings(max_examples=60)
def test_a_curve_that_runs_back_and_forth(count: int, seed: int, columns: int):
    random = np.random.default_rng(seed)
    x = np.cos(np.arange(count) / 50) * 100
    x[random.random(count) < 0.02] = np.nan
    y = np.sin(np.arange(count) / 50) + random.normal(size=count) / 10
    got_x, got_y = series_of(y).window(x, -80.0, 90.0, columns)
    assert set(points(got_x, got_y)) <= set(points(x, y))
    assert len(got_x) <= 8 * columns
    assert not np.isnan(got_x).any()
    inside = (x >= -80) & (x <= 90)
    if inside.any():
        assert got_y.min() <= y[inside].min()
        assert got_y.max() >= y[inside].max()


@pytest.mark.parametrize("value", [1e308, -1e308, 0.0, 5e-324])
def test_extreme_numbers_and_flat_lines(value: float):
    y = np.full(5000, value)
    for x in (np.linspace(-1, 1, 5000) * 1e308, np.zeros(5000), np.arange(5000.0)):
        got_x, got_y = series_of(y).window(x, None, None, 50)
        assert 2 <= len(got_x) <= 252
        assert (got_y == value).all()


def test_an_empty_series_has_empty_windows():
    for columns in (0, 1, 100):
        x, y = Series().window(np.empty(0), None, None, columns)
        assert len(x) == len(y) == 0
    assert math.isnan(Series().last)


@given(st.lists(st.one_of(st.floats(-9, 9), st.just(math.nan)), max_size=30), st.integers(1, 7))
def test_a_column_knows_whether_it_ascends(values: list[float], block: int):
    column, sorted_values = Column(), all(a <= b for a, b in itertools.pairwise(values))
    for start in range(0, len(values), block):
        column.append(np.array(values[start : start + block], float))
    assert column.ascending == (sorted_values and not any(map(math.isnan, values)))


@given(
    st.lists(st.integers(0, 60), max_size=40, unique=True).map(sorted),
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 9)), max_size=20, unique_by=lambda p: p[0]).map(sorted),
    st.lists(st.integers(-1, 10), min_size=1, max_size=5),
)
def test_x_of_a_step_metric_is_its_last_value_before(rows, steps, sought):
    grid_rows = np.array([r for r, _ in steps], np.int32)
    grid = np.maximum.accumulate(np.array([float(v) for _, v in steps])) if steps else np.empty(0)
    axis = Abscissa("epoch", "number", grid, True, np.array(rows, np.int32), grid_rows)
    expected = []
    for row in rows:
        before = np.flatnonzero(grid_rows <= row)
        expected.append(grid[before[-1]] if len(before) else math.nan)
    x = axis.array()
    np.testing.assert_array_equal(x, expected)
    assert axis.first == sum(map(math.isnan, expected))
    known = [v for v in expected if not math.isnan(v)]
    assert axis.ends() == ((min(known), max(known)) if known else None)
    for side in ("left", "right"):
        places = axis.places(np.array(sought, float), side)
        for v, place in zip(sought, places.tolist(), strict=True):
            beyond = [i for i, e in enumerate(expected) if (e >= v if side == "left" else e > v)]
            assert max(place, axis.first) == (beyond[0] if beyond else len(rows))
