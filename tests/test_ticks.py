"""Ticks lie on round values, inside the axis, and their labels say exactly what they mark."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leet.charts import ticks
from leet.model import units
from leet.model.units import Unit

ANY = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("lo", "hi", "count", "labels"),
    [
        (0, 1, 5, "0 0.2 0.4 0.6 0.8 1.0"),
        (0.03, 2.4, 5, "0.5 1.0 1.5 2.0"),
        (0, 100_000, 5, "0 20k 40k 60k 80k 100k"),
        (99_990, 100_000, 5, "99990 99992 99994 99996 99998 100000"),
        (0, 1500, 5, "0 500 1000 1500"),
        (-5, 5, 5, "-4 -2 0 2 4"),
        (0, 4e-5, 4, "0 1e-5 2e-5 3e-5 4e-5"),
        (0, 0.0004, 4, "0 0.0001 0.0002 0.0003 0.0004"),
        (0, 3e9, 3, "0 1G 2G 3G"),
        (0, 1e300, 2, "0 0.5e300 1.0e300"),
        (-1e308, 1e308, 2, "-1e308 0 1e308"),
    ],
)
def test_numbers(lo, hi, count, labels):
    assert " ".join(ticks.number_ticks(lo, hi, count).labels) == labels


@pytest.mark.parametrize(
    ("unit", "lo", "hi", "labels"),
    [
        (units.PERCENT, 0, 100, "0 20% 40% 60% 80% 100%"),
        (units.BYTES, 0, 1.5 * 2**30, "0 0.5Gi 1.0Gi 1.5Gi"),
        (units.MEBIBYTES, 0, 3072, "0 1Gi 2Gi 3Gi"),
        (units.WATT, 0, 700, "0 200W 400W 600W"),
        (units.WATT, 0, 9000, "0 2kW 4kW 6kW 8kW"),
        (units.MEGAHERTZ, 500, 1980, "0.5G 1.0G 1.5G"),
        (units.BYTES_PER_SECOND, 0, 3e7, "0 10M 20M 30M"),
        (units.CELSIUS, 30, 80, "30°C 40°C 50°C 60°C 70°C 80°C"),
        (units.SECONDS, 0, 3e-4, "0 100µs 200µs 300µs"),
        (units.SECONDS, 0, 5400, "0 0h30 1h00 1h30"),
    ],
)
def test_units(unit, lo, hi, labels):
    assert " ".join(ticks.number_ticks(lo, hi, 5, unit).labels) == labels


def test_a_tiny_range_far_from_zero_is_told_from_a_round_number():
    found = ticks.number_ticks(1e9, 1e9 + 0.001, 3)
    assert found.base == "1e9"
    assert found.labels == ("0", "+0.0005", "+0.0010")
    assert found.values == (1e9, 1e9 + 0.0005, 1e9 + 0.001)


@given(ANY, ANY, st.integers(1, 30))
@settings(max_examples=400, deadline=None)
def test_ticks_are_on_the_axis_and_in_order(a, b, count):
    lo, hi = min(a, b), max(a, b)
    found = ticks.number_ticks(lo, hi, count)
    assert len(found.values) == len(found.labels)
    assert list(found.values) == sorted(found.values)
    assert len(found.values) <= max(count + 2, 4)
    slack = (hi / 2 - lo / 2) * 1e-5 + math.ulp(max(abs(lo), abs(hi)))
    for value in found.values:
        assert lo - slack <= value <= hi + slack


@given(st.floats(-1e9, 1e9), st.floats(1e-3, 1e12), st.integers(2, 12))
@settings(max_examples=400, deadline=None)
def test_labels_mean_their_values(lo, span, count):
    """A label, read back, is the value exactly, but for the rounding of floats."""
    found = ticks.number_ticks(lo, lo + span, count)
    base = float(found.base) if found.base else 0.0
    prefixes = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
    for value, label in zip(found.values, found.labels, strict=True):
        number = float(label[:-1]) * prefixes[label[-1]] if label[-1] in prefixes else float(label)
        assert base + number == pytest.approx(value, rel=1e-12, abs=1e-12 * max(abs(lo), 1) + abs(span) * 1e-9)
    assert len(set(found.labels)) == len(found.labels)


@pytest.mark.parametrize(
    ("lo", "hi", "count", "labels"),
    [
        (-5, 1, 4, "1e-5 1e-3 1e-1 1e1"),
        (-3, 1, 5, "0.001 0.01 0.1 1 10"),
        (0, 1, 4, "1 2 5 10"),
        (3, 9, 4, "1k 100k 10M 1G"),
        (2, 2.1, 4, "100 110 120"),
        (-300, 300, 4, "1e-300 1e-100 1e100 1e300"),
    ],
)
def test_log(lo, hi, count, labels):
    found = ticks.log_ticks(lo, hi, count)
    assert " ".join(found.labels) == labels
    assert all(lo - 1e-6 <= value <= hi + 1e-6 for value in found.values)


@pytest.mark.parametrize(
    ("span", "labels"),
    [
        (0.3, "0 0.1s 0.2s 0.3s"),
        (30, "0 10s 20s 30s"),
        (150, "0 0:30 1:00 1:30 2:00 2:30"),
        (300, "0 1m 2m 3m 4m 5m"),
        (4000, "0 0h15 0h30 0h45 1h00"),
        (40_000, "0 3h 6h 9h"),
        (400_000, "0 1d 2d 3d 4d"),
        (200_000, "0 0d12h 1d00h 1d12h 2d00h"),
    ],
)
def test_durations(span, labels):
    assert " ".join(ticks.duration_ticks(0, span, 5).labels) == labels


@pytest.mark.usefixtures("utc")
@pytest.mark.parametrize(
    ("span", "labels"),
    [
        (20, "22:13:20 22:13:25 22:13:30 22:13:35 22:13:40"),
        (300, "22:14:00 22:16:00 22:18:00"),
        (4000, "22:30 23:00"),
        (40_000, "00:00 03:00 06:00 09:00"),
        (400_000, "11-15 11-17 11-19"),
    ],
)
def test_clock(span, labels):
    assert " ".join(ticks.clock_ticks(1.7e9, 1.7e9 + span, 4).labels) == labels


@given(
    ANY, ANY, st.integers(1, 12), st.sampled_from([units.NUMBER, units.BYTES, units.SECONDS, Unit("x", "si", 1e300)])
)
@settings(max_examples=300, deadline=None)
def test_no_numbers_are_too_strange(a, b, count, unit):
    lo, hi = min(a, b), max(a, b)
    for found in (
        ticks.number_ticks(lo, hi, count, unit),
        ticks.duration_ticks(lo, hi, count),
        ticks.clock_ticks(lo, hi, count),
        ticks.log_ticks(min(max(lo, -323), 300), min(max(hi, -322.9), 308), count, unit),
    ):
        assert len(found.values) == len(found.labels) <= 40
        assert all(math.isfinite(value) for value in found.values)
        assert found.width <= 24


@pytest.mark.parametrize(
    ("lo", "hi"), [(308.1, 308.6), (308.3, 308.9), (307.9, 308.26), (-324.3, -323.9), (-323.2, 308.7)]
)
def test_a_log_axis_may_end_where_numbers_do(lo: float, hi: float):
    made = ticks.log_ticks(lo, hi, 4)
    assert len(made.labels) == len(made.values)
    assert all(map(math.isfinite, made.values))
