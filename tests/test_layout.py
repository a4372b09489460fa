"""How the screen is shared out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leet.tui.layout import CENTRE_LEAST, LOWER_LEAST, MAIN_LEAST, Widths, section_heights, share, stack

WANTED = st.sampled_from([True, False, None])
SIZES = st.dictionaries(st.sampled_from(["left", "right"]), st.floats(0.05, 0.9))


@given(st.integers(1, 400), WANTED, WANTED, st.sampled_from(["left", "right"]), SIZES)
def test_every_column_is_given_once(width: int, left: bool | None, right: bool | None, yields: str, sizes) -> None:  # type: ignore[no-untyped-def]
    got = share(width, left, right, yields=yields, chosen=sizes)  # type: ignore[arg-type]
    assert got.left + got.centre + got.right == width
    assert min(got.left, got.centre, got.right) >= 0
    assert got.left == 0 or left is not False
    assert got.right == 0 or right is not False


@pytest.mark.parametrize(
    ("width", "expected"),
    [(60, Widths(0, 60, 0)), (80, Widths(0, 80, 0)), (90, Widths(0, 50, 40)), (120, Widths(30, 60, 30))],
)
def test_the_left_sidebar_gives_way_first(width: int, expected: Widths) -> None:
    assert share(width, None, None) == expected


def test_the_right_one_where_it_is_worth_less() -> None:
    assert share(90, None, None, yields="right") == Widths(40, 50, 0)


def test_what_was_asked_for_last_wins_where_one_fits() -> None:
    assert share(70, True, True, last="left").right == 0
    assert share(70, True, True, last="right").left == 0


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (60, Widths(60, 0, 0)),
        (64, Widths(30, 34, 0)),
        (80, Widths(32, 48, 0)),
        (90, Widths(40, 50, 0)),
        (120, Widths(46, 74, 0)),
    ],
)
def test_a_sidebar_that_was_asked_for_leaves_charts_room(width: int, expected: Widths) -> None:
    assert share(width, True, False) == expected


def test_a_chosen_width_holds_and_leaves_the_charts_some_columns() -> None:
    assert share(200, None, None, chosen={"left": 0.3}).left == 60
    assert share(200, None, None, chosen={"left": 0.9}).centre == CENTRE_LEAST
    assert share(100, True, False, chosen={"left": 0.9}) == Widths(100 - CENTRE_LEAST, CENTRE_LEAST, 0)


@given(
    st.integers(1, 100),
    st.booleans(),
    st.lists(st.sampled_from(["system", "media", "logs"]), unique=True),
    st.dictionaries(st.sampled_from(["system", "media", "logs"]), st.floats(0.05, 0.9)),
)
def test_lower_panes_leave_the_main_one_its_rows(height: int, main: bool, lower: list[str], sizes) -> None:  # type: ignore[no-untyped-def]
    rows = stack(height, main, lower, sizes)
    assert list(rows) == lower
    shown = [n for n in rows.values() if n]
    assert all(n >= 1 for n in shown)
    if main and height >= MAIN_LEAST + LOWER_LEAST:
        assert height - sum(shown) >= MAIN_LEAST
    if not main and lower and height >= LOWER_LEAST:
        assert sum(shown) == height


def test_a_pane_that_is_given_more_takes_it_from_the_main_one() -> None:
    assert stack(50, True, ["logs"])["logs"] == 19
    assert stack(50, True, ["logs"], {"logs": 0.6})["logs"] == 30


def test_short_screens_fold_what_was_opened_first() -> None:
    assert stack(15, True, ["media", "logs"]) == {"media": 0, "logs": 6}


def test_sections_get_what_they_need_and_share_what_is_short() -> None:
    assert section_heights([3, 2, 4], [1.0, 1.0, 1.0], 20) == [3, 2, 4]
    short = section_heights([10, 10, 10], [1.0, 1.5, 2.0], 12)
    assert sum(short) == 12
    assert short == sorted(short)
