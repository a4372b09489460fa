"""Scatter charts: where points stand, their axes, and any numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from leet.charts.cells import Role
from leet.charts.scatter import Scatter, draw_scatter, sensibly_logarithmic

RATES = np.array([1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 1e-2])
LOSSES = np.array([0.9, 0.7, 0.5, 0.45, 0.6, 0.61])
PLAIN = Scatter(RATES, LOSSES, tuple(range(6)), "val/loss", "lr", log_x=True, value="ρ -0.6")


@pytest.mark.parametrize("look", ["log", "linear", "ascii", "names"])
def test_scatter_charts_look_like_this(look: str, golden: Callable[[str, str], None]) -> None:
    scatter = PLAIN
    if look == "linear":
        scatter = replace(PLAIN, log_x=False, chosen=2)
    elif look == "ascii":
        scatter = replace(PLAIN, ascii=True, chosen=2, value="rho -0.6")
    elif look == "names":
        scatter = Scatter(
            np.array([0, 0, 1, 2, 2, 2.0]), LOSSES, (0,) * 6, "val/loss", "optimizer", ("adam", "lion", "sgd")
        )
    golden(f"charts/scatter_{look}", draw_scatter(scatter, 56, 14).text())


def test_every_point_has_the_colour_of_its_run() -> None:
    cells = draw_scatter(PLAIN, 60, 20)
    drawn = {int(role) - Role.SERIES for role in np.unique(cells.roles) if role >= Role.SERIES}
    assert drawn >= {0, 1, 2, 3}
    ahead = np.argwhere(cells.roles == Role.SERIES)[0]
    behind = np.argwhere(cells.roles == Role.SERIES + 3)[0]
    assert ahead[1] < behind[1]
    assert ahead[0] < behind[0]


def test_points_in_one_cell_are_one_heavier_point() -> None:
    same = Scatter(np.ones(3), np.ones(3), (0, 1, 2), "y", "x")
    assert "●" in draw_scatter(same, 40, 10).text()
    assert "3" in draw_scatter(replace(same, ascii=True), 40, 10).text()


def test_a_logarithmic_axis_leaves_out_what_it_cannot_show() -> None:
    odd = Scatter(np.array([0.0, 1.0, 10.0]), np.array([1.0, -1.0, 2.0]), (0, 1, 2), "y", "x", log_x=True, log_y=True)
    roles = draw_scatter(odd, 50, 12).roles
    assert (roles == Role.SERIES + 2).any()
    assert not (roles == Role.SERIES).any()
    assert not (roles == Role.SERIES + 1).any()
    empty = Scatter(np.empty(0), np.empty(0), (), "y", "x")
    assert "no run has both" in draw_scatter(empty, 50, 12).text()


def test_an_axis_is_logarithmic_where_that_shows_more() -> None:
    assert sensibly_logarithmic(RATES)
    assert not sensibly_logarithmic(LOSSES)
    assert not sensibly_logarithmic(np.array([0.0, 1e-5, 1.0]))
    assert not sensibly_logarithmic(np.array([1.0]))


numbers = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(st.tuples(numbers, numbers), max_size=8), st.integers(1, 60), st.integers(1, 20), st.booleans(),
       st.booleans(), st.booleans())  # fmt: skip
@example([(-1.6224667282150867e308, 0.0)], 1, 1, False, False, False)
def test_any_numbers_can_be_drawn(
    points: list[tuple[float, float]], width: int, height: int, log_x: bool, log_y: bool, ascii_only: bool
) -> None:
    x, y = np.array([x for x, _ in points], float), np.array([y for _, y in points], float)
    scatter = Scatter(x, y, (0,) * len(x), "t", "x", log_x=log_x, log_y=log_y, ascii=ascii_only, chosen=0)
    cells = draw_scatter(scatter, width, height)
    assert cells.codes.shape == (height, width)
    if ascii_only:
        assert int(cells.codes.max()) < 127
