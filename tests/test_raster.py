"""Curves to dots: no spike lost, lines joined, gaps kept, whatever the points are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leet.charts import raster


def rows_of(across, down, columns=10, drawn=None):
    first, last = raster.spans(
        np.array(across, float), np.array(down, float), None if drawn is None else np.array(drawn), columns
    )
    return [(int(a), int(b)) if a <= b else None for a, b in zip(first, last, strict=True)]


def test_one_sample_of_a_thousand_is_seen():
    down = np.full(1000, 20.0)
    down[617] = 3.0
    spans = rows_of(np.linspace(0, 9, 1000), down)
    assert min(span[0] for span in spans) == 3
    assert all(span[1] == 20 for span in spans)


def test_a_slope_is_one_dot_per_column():
    assert rows_of([0, 9], [0, 9]) == [(k, k) for k in range(10)]
    assert rows_of([0, 9], [9, 0]) == [(9 - k, 9 - k) for k in range(10)]


def test_a_jump_is_shared_by_both_columns():
    assert rows_of([0, 1], [0, 9], columns=2) == [(0, 4), (5, 9)]
    assert rows_of([0, 1], [9, 0], columns=2) == [(5, 9), (0, 4)]


def test_points_outside_lead_the_line_to_the_edges():
    assert rows_of([-10, 20], [-10, 20], columns=5) == [(k, k) for k in range(5)]


def test_a_missing_point_leaves_a_gap():
    drawn = [True, True, True, False, True, True]
    assert rows_of([0, 1, 2, 5, 8, 9], [4] * 6, drawn=drawn) == [(4, 4)] * 3 + [None] * 5 + [(4, 4)] * 2


def test_a_point_between_missing_ones_is_a_dot():
    spans = rows_of([0, 4, 9], [1, 5, 1], drawn=[False, True, False])
    assert spans == [None] * 4 + [(5, 5)] + [None] * 5


def test_a_missing_point_within_a_column_still_parts_its_neighbours():
    # Column 1 ends with a point, then a missing one, and column 2 begins elsewhere: no stroke between them.
    spans = rows_of([0, 1, 1.4, 2, 3], [0, 0, 0, 9, 9], columns=4, drawn=[True, True, False, True, True])
    assert spans == [(0, 0), (0, 0), (9, 9), (9, 9)]


@given(
    st.lists(st.tuples(st.floats(-5, 45), st.floats(-50, 50), st.booleans()), max_size=60),
    st.integers(1, 40),
)
@settings(max_examples=200, deadline=None)
def test_every_point_is_within_its_columns_span_and_lines_have_no_holes(points, columns):
    points.sort(key=lambda point: point[0])
    across = np.array([p[0] for p in points])
    down = np.array([p[1] for p in points])
    drawn = np.array([p[2] for p in points], bool)
    first, last = raster.spans(across, down, drawn, columns)
    for x, y, there in points:
        column = int(np.rint(x))
        if there and 0 <= column < columns:
            assert first[column] <= np.rint(y) <= last[column]
    assert np.all(last[first <= last] <= 51)
    assert np.all(first[first <= last] >= -51)
    everything = np.ones(len(points), bool)
    first, last = raster.spans(across, down, everything, columns)
    filled = np.flatnonzero(first <= last)
    if len(filled):
        assert np.array_equal(filled, np.arange(filled[0], filled[-1] + 1))
        a, b = first[filled], last[filled]
        assert np.all(a[1:] <= b[:-1] + 1)
        assert np.all(b[1:] >= a[:-1] - 1)
    plain = raster.spans(across, down, None, columns)
    assert np.array_equal(first, plain[0])
    assert np.array_equal(last, plain[1])


def test_span_masks_set_exactly_the_rows_of_the_span():
    first, last = np.array([0, 3, 1 << 30, -4, 6]), np.array([0, 9, -(1 << 30), 1, 40])
    masks = raster.span_masks(first, last, 3, 4)
    dots = np.array([[masks[row // 4, c] >> (row % 4) & 1 for c in range(5)] for row in range(12)])
    for c, (a, b) in enumerate(zip(first, last, strict=True)):
        assert dots[:, c].tolist() == [int(a <= row <= b) for row in range(12)]


@pytest.mark.parametrize("down", [1, 2, 4])
def test_both_ways_to_draw_touch_the_points(down):
    rng = np.random.default_rng(3)
    across, rows = np.sort(rng.uniform(0, 19, 50)), rng.uniform(0, 6 * down - 1, 50)
    one = raster.span_masks(*raster.spans(across, rows, None, 20), 6, down)
    other = raster.segment_masks(across, rows, None, 20, 6, down)
    for x, y in zip(np.rint(across).astype(int), np.rint(rows).astype(int), strict=True):
        assert one[y // down, x] >> (y % down) & 1
        assert other[y // down, x] >> (y % down) & 1


def test_segments_are_cut_at_the_edges():
    masks = raster.segment_masks(np.array([-1e9, 1e9]), np.array([2.0, 2.0]), None, 8, 1, 4)
    assert (masks == 0b0100).all()
    outside = raster.segment_masks(np.array([-5.0, 30.0]), np.array([-9.0, -9.0]), None, 8, 1, 4)
    assert not outside.any()


def test_segments_turn_back_and_break():
    masks = raster.segment_masks(
        np.array([3.0, 0, 0, 3, 7]), np.array([0.0, 0, 3, 3, 3]), np.array([True, True, True, True, False]), 8, 1, 4
    )
    assert masks[0].tolist() == [0b1111, 0b1001, 0b1001, 0b1001, 0, 0, 0, 0]


def test_braille_puts_every_dot_where_unicode_has_it():
    order = {(0, 0): 0, (1, 0): 1, (2, 0): 2, (0, 1): 3, (1, 1): 4, (2, 1): 5, (3, 0): 6, (3, 1): 7}
    for (row, column), bit in order.items():
        masks = np.zeros((1, 2), np.uint8)
        masks[0, column] = 1 << row
        assert raster.braille(masks)[0, 0] == 1 << bit
