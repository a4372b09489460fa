"""Means of several curves and the bands around them, compared with the formulas written out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leet.model.group_curve import Band, bins, grid_for, group_curve, on_grid

numbers = st.floats(allow_nan=True, allow_infinity=True, width=64)
finite = st.floats(-1e6, 1e6)


def line(*points: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([x for x, _ in points], float), np.array([y for _, y in points], float)


@given(st.lists(st.lists(finite, min_size=5, max_size=5), min_size=1, max_size=6))
def test_curves_of_the_same_steps_have_the_mean_of_their_values(rows: list[list[float]]) -> None:
    x = np.arange(5.0)
    grid = grid_for([x] * len(rows), 0.0, 4.0, 100)
    assert grid.x.tolist() == x.tolist()
    on = [on_grid((x, np.array(row)), grid) for row in rows]
    assert [one.tolist() for one in on] == rows
    values = np.array(rows)
    curve = group_curve(on, grid, "range")
    assert np.allclose(curve.mean, values.mean(0))
    assert curve.low.tolist() == values.min(0).tolist()
    assert curve.high.tolist() == values.max(0).tolist()
    assert curve.count.tolist() == [len(rows)] * 5
    spread = values.std(0, ddof=1) if len(rows) > 1 else np.zeros(5)
    curve = group_curve(on, grid, "deviation")
    assert np.allclose(curve.high - curve.mean, spread, atol=1e-6)
    assert np.allclose(curve.mean - curve.low, spread, atol=1e-6)


def test_between_its_points_a_curve_is_straight_and_beyond_them_it_is_not_there() -> None:
    sparse, dense = line((1, 10), (3, 30)), line(*((n, 1.0) for n in range(5)))
    grid = grid_for([sparse[0], dense[0]], 0, 4, 50)
    assert grid.x.tolist() == [0, 1, 2, 3, 4]
    assert np.array_equal(on_grid(sparse, grid), [math.nan, 10, 20, 30, math.nan], equal_nan=True)
    curve = group_curve([on_grid(sparse, grid), on_grid(dense, grid)], grid, "range")
    assert curve.count.tolist() == [1, 2, 2, 2, 1]
    assert curve.mean.tolist() == [1, 5.5, 10.5, 15.5, 1]


def test_many_points_are_means_of_bins() -> None:
    x = np.arange(1000.0)
    y = np.sin(x) + x
    grid = grid_for([x], 0, 999, 40)
    assert grid.edges is not None
    assert len(grid.x) == 40
    found = on_grid((x, y), grid)
    for k in range(40):
        last = k == 39
        inside = (x >= grid.edges[k]) & ((x <= grid.edges[k + 1]) if last else (x < grid.edges[k + 1]))
        assert found[k] == pytest.approx(y[inside].mean())


def test_an_empty_bin_is_bridged_also_from_beyond_the_window() -> None:
    grid = bins(0, 10, 10)
    found = on_grid(line((-2, 0.0), (2.5, 4.5), (4.2, 8.0), (4.8, 10.0), (12.5, 1.0)), grid)
    assert found[2] == 4.5
    assert found[4] == 9.0
    assert found[3] == pytest.approx(6.75)
    assert found[0] == pytest.approx(2.5)
    assert found[9] == pytest.approx(4.0)


def test_curves_that_go_on_beyond_the_window_run_off_its_edges() -> None:
    x = np.arange(10.0)
    grid = grid_for([x], 2.5, 6.5, 50)
    assert grid.x.tolist() == [2.5, 3, 4, 5, 6, 6.5]
    assert on_grid((x, x * 2), grid).tolist() == [5, 6, 8, 10, 12, 13]


def test_order_and_repetitions_of_x_do_not_matter() -> None:
    grid = bins(0, 3, 3)
    assert on_grid(line((2.5, 3), (0.5, 1), (1.5, 2)), grid).tolist() == [1, 2, 3]
    own = grid_for([np.array([1.0, 1.0, 2.0])], 1, 2, 9)
    assert on_grid(line((1, 4), (1, 6), (2, 8)), own).tolist() == [5, 8]


@given(st.lists(st.lists(st.tuples(numbers, numbers), max_size=30), max_size=5), st.integers(1, 20), st.sampled_from(
    ("range", "deviation", "off")))  # fmt: skip
def test_any_numbers_give_a_curve_within_its_band(
    lines: list[list[tuple[float, float]]], columns: int, band: Band
) -> None:
    made = [line(*points) for points in lines]
    grid = grid_for([x for x, _ in made], -10.0, 10.0, columns)
    assert len(grid.x) <= columns + 2
    rows = [on_grid(one, grid) for one in made]
    curve = group_curve(rows, grid, band)
    assert len(curve.x) == len(curve.mean) == len(curve.low) == len(curve.high) == len(curve.count)
    assert not np.isnan(curve.mean).any()
    assert (curve.low <= curve.mean).all()
    assert (curve.mean <= curve.high).all()
    assert (curve.count >= 1).all()
    if band == "range":
        for row in rows:
            known = np.isfinite(row)
            at = {x: k for k, x in enumerate(curve.x.tolist())}
            for x, y in zip(grid.x[known].tolist(), row[known].tolist(), strict=True):
                assert curve.low[at[x]] <= y <= curve.high[at[x]]


def test_nothing_makes_an_empty_curve() -> None:
    grid = grid_for([], 0, 1, 10)
    assert len(group_curve([], grid, "range").x) == 0
    assert np.isnan(on_grid(line(), bins(0, 1, 4))).all()
    assert grid_for([np.array([3.0])], 3.0, 3.0, 10).x.tolist() == [3.0]


def test_sums_beyond_the_largest_number_are_no_infinity() -> None:
    large = np.full(300, 1.5e308)
    x = np.arange(300.0)
    grid = grid_for([x], 0, 299, 10)
    row = on_grid((x, large), grid)
    assert np.isfinite(row).all()
    assert np.isfinite(group_curve([row, row, row], grid, "range").mean).all()
