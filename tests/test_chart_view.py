from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leet.tui.widgets.chart_view import NOTCH, ChartView, Extent

WHOLE = Extent.of(0.0, 1000.0)
ALL = WHOLE.whole


def test_shows_everything_until_told_otherwise() -> None:
    assert ChartView().window(WHOLE) == ALL
    assert ChartView().panned(WHOLE, 50) == ChartView()


def test_a_notch_shows_nine_tenths_around_the_pointer() -> None:
    low, high = ChartView().zoomed(WHOLE, at=250).window(WHOLE)
    assert high - low == pytest.approx(NOTCH * 1000)
    assert (250 - low) / (high - low) == pytest.approx(0.25)


def test_zooming_in_and_out_again_shows_everything() -> None:
    view = ChartView().zoomed(WHOLE, 400, 3)
    assert view.x_range is not None
    assert view.zoomed(WHOLE, 400, -4) == ChartView()


def test_zooming_out_of_a_tail_shows_what_was_before() -> None:
    tail = Extent((0.0, 1000.0), (900.0, 1000.0))
    assert ChartView().window(tail) == (900, 1000)
    wider = ChartView().zoomed(tail, 1000, -5)
    low, high = wider.window(tail)
    assert low < 900
    assert high == 1000
    assert wider.follow
    assert ChartView().panned(tail, -300).window(tail) == (600, 700)
    assert ChartView().zoomed(tail, 950, -100).window(tail) == (0, 1000)
    assert wider.reset().window(tail) == (900, 1000)


def test_reset_keeps_the_scale() -> None:
    view = ChartView(log_y=True).zoomed(WHOLE, 500, 5)
    assert view.reset() == ChartView(log_y=True)


def test_a_window_in_the_past_stays_while_data_arrives() -> None:
    view = ChartView().zoomed(WHOLE, 100, 10)
    assert not view.follow
    assert view.window(Extent.of(0, 5000)) == view.window(WHOLE)


def test_a_window_at_the_newest_data_follows_it() -> None:
    view = ChartView().zoomed(WHOLE, 1000, 10)
    assert view.follow
    low, high = view.window(Extent.of(0, 1003))
    assert high >= 1003
    before = view.window(WHOLE)
    assert high - low == pytest.approx(before[1] - before[0])
    assert view.window(Extent.of(0, 1003)) == view.window(Extent.of(0, 1004)), "moves in steps, not with every point"


def test_the_pointer_near_the_right_edge_keeps_the_newest_data() -> None:
    assert ChartView().zoomed(WHOLE, 970).window(WHOLE)[1] == 1000


def test_panning_stops_where_the_data_ends() -> None:
    view = ChartView().zoomed(WHOLE, 500, 10)
    span = NOTCH**10 * 1000
    assert view.panned(WHOLE, -1e9).window(WHOLE) == pytest.approx((0, span))
    right = view.panned(WHOLE, 1e9)
    assert right.window(WHOLE) == pytest.approx((1000 - span, 1000))
    assert right.follow
    assert not right.panned(WHOLE, -10).follow


def test_scales_take_turns() -> None:
    view = ChartView()
    seen = []
    for _ in range(3):
        view = view.next_scale(heatmap_capable=True)
        seen.append((view.log_y, view.heat))
    assert seen == [(True, False), (False, True), (False, False)]
    assert ChartView(log_y=True).next_scale(heatmap_capable=False) == ChartView()


@given(
    lo=st.floats(-1e12, 1e12),
    span=st.floats(1e-6, 1e12),
    acts=st.lists(st.tuples(st.sampled_from("zp"), st.floats(-0.5, 1.5), st.integers(-30, 30)), max_size=20),
)
def test_no_sequence_of_acts_leaves_the_data(lo: float, span: float, acts: list[tuple[str, float, int]]) -> None:
    extent = Extent.of(lo, lo + span)
    whole = extent.whole
    view = ChartView()
    for act, place, size in acts:
        at = whole[0] + place * (whole[1] - whole[0])
        view = view.zoomed(extent, at, size) if act == "z" else view.panned(extent, size * span / 7)
        low, high = view.window(extent)
        slack = 1e-9 * max(abs(whole[0]), abs(whole[1]), span)
        assert whole[0] - slack <= low <= high <= whole[1] + slack
