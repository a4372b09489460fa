"""Heat-maps: pictures kept as text, means over time, and anything as input."""

from __future__ import annotations

import numpy as np
import pytest
from chart_specs import GPU, NAN, SPECS, gpus
from hypothesis import given, settings
from hypothesis import strategies as st

from leet.charts.cells import Role
from leet.charts.heatmap import draw_heatmap, heatmap_area
from leet.charts.spec import Spec, Trace
from leet.model import units

pytestmark = pytest.mark.usefixtures("utc")


def cores(many, samples=40):
    at = 1.7e9 + np.arange(samples) * 15.0
    return tuple(Trace(f"CPU {i}", at, 50 + 50 * np.sin(np.arange(samples) / 6 + i / 3)) for i in range(many))


def holes():
    at = np.arange(100.0)
    y = np.linspace(0, 100, 100)
    y[40:60] = NAN
    late = np.concatenate((at[:20], at[80:]))
    return (Trace("broken", at, y), Trace("silent", late, np.full(40, 80.0)))


PICTURES = {
    "heat_ascii": (Spec("GPU Utilization", gpus(), ascii=True, **GPU), 60, 12),
    "heat_blocks": (Spec("GPU Utilization", gpus(), monochrome=True, **GPU), 60, 8),
    "heat_crosshair": (Spec("GPU Utilization", gpus(), monochrome=True, crosshair=1.7e9 + 200, **GPU), 60, 8),
    "heat_many": (Spec("CPU Core", cores(64), ascii=True, **GPU), 60, 10),
    "heat_holes": (Spec("holes", holes(), ascii=True, unit=units.PERCENT, y_range=(0, 100)), 60, 8),
    "heat_small": (Spec("CPU Core", cores(8), ascii=True, **GPU), 18, 4),
    "heat_empty": (Spec("nothing", (), ascii=True), 40, 6),
}


@pytest.mark.parametrize("name", PICTURES)
def test_picture(name, golden):
    spec, width, height = PICTURES[name]
    golden(f"charts/{name}", draw_heatmap(spec, width, height).text())


def test_levels_are_the_means_of_the_columns():
    x = np.arange(400.0)
    y = np.where(x < 200, 20.0, 80.0) + np.where(x % 2, 5.0, -5.0)
    spec = Spec("x", (Trace("a", x, y),), unit=units.PERCENT, y_range=(0, 100))
    cells, area = draw_heatmap(spec, 50, 6), heatmap_area(spec, 50, 6)
    levels = cells.roles[area.top, area.left : area.left + area.width].astype(int) - Role.HEAT
    assert levels[1] == pytest.approx(0.2 * 255, abs=4)
    assert levels[-2] == pytest.approx(0.8 * 255, abs=4)
    assert np.all(cells.codes[area.top, area.left : area.left + area.width] == ord("█"))
    assert "(means of 9 samples)" in cells.text()
    few = Spec("x", (Trace("a", x[:40], y[:40]),), unit=units.PERCENT, y_range=(0, 100))
    assert "means" not in draw_heatmap(few, 50, 6).text()


def test_every_series_has_its_rows():
    spec = Spec("x", tuple(Trace(str(i), np.arange(9.0), np.full(9, 10.0 * i)) for i in range(5)), y_range=(0, 100))
    cells, area = draw_heatmap(spec, 40, 12), heatmap_area(spec, 40, 12)
    levels = cells.roles[area.top : area.top + area.height, area.left] - Role.HEAT
    assert len(set(levels.tolist())) == 5
    assert sorted(levels.tolist()) == levels.tolist()


@given(SPECS, st.integers(1, 90), st.integers(1, 30))
@settings(max_examples=200, deadline=None)
def test_any_numbers_at_any_size_give_a_picture(spec, width, height):
    with np.errstate(all="raise", under="ignore"):
        cells = draw_heatmap(spec, width, height)
    assert cells.codes.shape == (height, width)
    assert cells.roles.max() <= Role.HEAT + 255
    assert all(char.isprintable() or char == "\n" for char in cells.text())
    if spec.ascii:
        assert cells.text().isascii()
