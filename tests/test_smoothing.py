"""Smoothing: the recurrence of TensorBoard, without a loop over points."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leet.charts.cells import Role
from leet.charts.line import draw_chart
from leet.charts.spec import Spec, Trace
from leet.model.series import Series
from leet.model.smoothing import Smoothed, means

WEIGHTS = (0.6, 0.9, 0.99)


def by_hand(values, weight):
    """The recurrence as TensorBoard writes it, for finite values."""
    mean, smoothed = 0.0, []
    for count, value in enumerate(values, 1):
        mean = mean * weight + (1 - weight) * value
        smoothed.append(mean / (1 - weight**count))
    return np.array(smoothed)


@given(
    st.lists(st.floats(-1e6, 1e6) | st.sampled_from([math.nan, math.inf, -math.inf]), max_size=400),
    st.sampled_from((0.05, *WEIGHTS)),
    st.lists(st.integers(0, 400), max_size=4),
)
def test_it_is_the_recurrence_however_the_points_arrive(values, weight, cuts):
    series = Series()
    smoothed = Smoothed(series, weight)
    given_values = np.array(values, np.float64)
    rows = np.arange(len(values), dtype=np.int32)
    for part in np.split(np.arange(len(values)), sorted(min(cut, len(values)) for cut in cuts)):
        series.append(rows[part], given_values[part])
        smoothed.renewed()
    finite = np.isfinite(given_values)
    wanted = by_hand(given_values[finite].tolist(), weight)
    assert np.array_equal(smoothed.series.rows, rows[finite])
    assert np.allclose(smoothed.series.values, wanted, rtol=1e-9, atol=1e-6 * 1e-3)


@pytest.mark.parametrize("weight", WEIGHTS)
def test_it_holds_over_many_blocks(weight):
    values = np.random.default_rng(1).normal(size=20_000).cumsum()
    debias = 1 - weight ** np.arange(1, len(values) + 1)
    assert np.allclose(means(values, weight) / debias, by_hand(values.tolist(), weight), rtol=1e-10)


def test_the_largest_numbers_have_means():
    found = means(np.array([1e308, -1e308, 1e308] * 100), 0.9)
    assert np.isfinite(found).all()
    assert found[0] == pytest.approx(1e307)


def test_the_first_value_counts_in_full():
    series = Series()
    series.append(np.arange(3, dtype=np.int32), np.array([5.0, 5.0, 5.0]))
    assert np.allclose(Smoothed(series, 0.99).renewed().values, 5.0)


def test_points_stand_faint_behind_the_line_and_go_where_there_are_no_colours():
    x = np.arange(200.0)
    y = np.where(x % 2, 1.0, -1.0)
    trace = Trace("loss", x, y, color=3, smooth=(x, np.zeros(200)))
    roles = draw_chart(Spec("loss", (trace,)), 40, 12).roles
    assert (roles == Role.FAINT + 3).any()
    assert (roles == Role.SERIES + 3).any()
    for plain in (Spec("loss", (trace,), monochrome=True), Spec("loss", (trace,), ascii=True)):
        roles = draw_chart(plain, 40, 12).roles
        assert not (roles >= Role.FAINT).any()
        rows = np.flatnonzero((roles == Role.SERIES + 3).any(1))
        assert len(rows) == 1


def test_the_axis_and_the_last_value_stay_those_of_the_points():
    x = np.arange(100.0)
    y = x * x
    smooth = Spec("loss", (Trace("loss", x, y, smooth=(x, y / 2)),))
    plain = Spec("loss", (Trace("loss", x, y),))
    assert draw_chart(smooth, 60, 12).row(0) == draw_chart(plain, 60, 12).row(0)
    labels = [draw_chart(spec, 60, 12).row(1)[:12] for spec in (smooth, plain)]
    assert labels[0] == labels[1]
