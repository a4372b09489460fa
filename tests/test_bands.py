"""Bands around curves: where they are drawn, that curves stay readable in them, and what they do to the axes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leet.charts.cells import Role
from leet.charts.line import draw_chart
from leet.charts.spec import Spec, Trace

X = np.linspace(0, 100, 60)


def banded(label: str, level: float, half: float, color: int) -> Trace:
    mean = level + np.exp(-X / 30)
    return Trace(label, X, mean, color, band=(X, mean - half, mean + half))


TWO = (banded("adam (4)", 1.0, 0.3, 0), banded("sgd (12)", 1.4, 0.3, 1))


@pytest.mark.parametrize("look", ["unicode", "ascii", "monochrome", "log"])
def test_bands_look_like_this(look: str, golden: Callable[[str, str], None]) -> None:
    spec = Spec("loss", TWO, legend=True, ascii=look == "ascii", monochrome=look == "monochrome", log_y=look == "log")
    golden(f"charts/bands_{look}", draw_chart(spec, 60, 16).text())


def test_a_band_is_faint_and_the_curve_is_not() -> None:
    cells = draw_chart(Spec("loss", TWO[:1]), 60, 16)
    roles = set(np.unique(cells.roles).tolist())
    assert {Role.SERIES, Role.FAINT} <= roles
    alone = draw_chart(Spec("loss", (Trace("adam (4)", X, 1.0 + np.exp(-X / 30), 0),), y_range=(0.5, 2.5)), 60, 16)
    shaded = draw_chart(Spec("loss", TWO[:1], y_range=(0.5, 2.5)), 60, 16)
    line = alone.roles == Role.SERIES
    assert line.any()
    assert (shaded.codes[line] == alone.codes[line]).all()


def test_the_axis_has_room_for_the_band() -> None:
    wide = draw_chart(Spec("loss", (banded("a", 1.0, 50.0, 0),)), 60, 16).text()
    assert "│ 60┤" in wide
    assert "│-60┤" in wide or "│-40┤" in wide


def test_a_band_below_zero_ends_at_the_foot_of_a_logarithmic_axis() -> None:
    mean = 1.0 + X
    trace = Trace("a", X, mean, 0, band=(X, mean - 500.0, mean + 500.0))
    cells = draw_chart(Spec("loss", (trace,), log_y=True), 60, 16)
    foot = cells.roles[-2]
    assert np.count_nonzero(foot == Role.FAINT) > 20


def test_names_go_before_values_where_the_legend_is_short() -> None:
    three = (*TWO, banded("lion (9)", 1.2, 0.1, 2))
    text = draw_chart(Spec("loss", three, legend=True), 44, 10).text()
    assert all(trace.label in text for trace in three)


values = st.lists(st.floats(width=32), min_size=1, max_size=12)


@given(values, values, values, st.integers(1, 40), st.integers(1, 12), st.booleans(), st.booleans())
def test_any_band_can_be_drawn(
    x: list[float], low: list[float], high: list[float], width: int, height: int, log: bool, ascii_only: bool
) -> None:
    n = min(len(x), len(low), len(high))
    at = np.sort(np.array(x[:n], float))
    trace = Trace("a", at, np.array(low[:n]), band=(at, np.array(low[:n]), np.array(high[:n])))
    cells = draw_chart(Spec("t", (trace, trace), log_y=log, ascii=ascii_only), width, height)
    assert cells.codes.shape == (height, width)
