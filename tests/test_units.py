"""Numbers in a few columns."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leet.model import units
from leet.model.units import (
    NUMBER,
    Unit,
    format_age,
    format_bytes,
    format_duration,
    format_time,
    format_value,
    ranged,
)

UNITS = [value for value in vars(units).values() if isinstance(value, Unit)]


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.0012344, NUMBER, "0.001234"),
        (0.00001234, NUMBER, "1.234e-05"),
        (0.5, NUMBER, "0.5"),
        (-2.34567, NUMBER, "-2.346"),
        (12345, NUMBER, "12345"),
        (12345.6, NUMBER, "12.35k"),
        (9999.96, NUMBER, "10k"),
        (123456, NUMBER, "123.5k"),
        (999_999, NUMBER, "1M"),
        (3e9, NUMBER, "3G"),
        (2.5e18, NUMBER, "2.5e+18"),
        (0, units.BYTES, "0"),
        (-0.0, NUMBER, "0"),
        (math.nan, NUMBER, "NaN"),
        (math.inf, units.WATT, "∞"),
        (-math.inf, NUMBER, "-∞"),
        (45.5, units.PERCENT, "45.5%"),
        (100, units.PERCENT, "100%"),
        (65, units.CELSIUS, "65°C"),
        (350, units.WATT, "350 W"),
        (1234, units.WATT, "1.234 kW"),
        (1980, units.MEGAHERTZ, "1.98 GHz"),
        (810, units.MEGAHERTZ, "810 MHz"),
        (512, units.MEBIBYTES, "512 MiB"),
        (1023.9999, units.MEBIBYTES, "1 GiB"),
        (1536, units.MEBIBYTES, "1.5 GiB"),
        (80 * 2.0**30, units.BYTES, "80 GiB"),
        (2.0**40 * 3, units.BYTES, "3 TiB"),
        (12.3e6, units.BYTES_PER_SECOND, "12.3 MB/s"),
        (999.96, units.BYTES_PER_SECOND, "1 kB/s"),
        (10.5, units.MEGABITS_PER_SECOND, "10.5 Mbit/s"),
        (1500, units.MICROSECONDS, "1.5 ms"),
        (90, units.SECONDS, "1.5 min"),
        (1e308, units.GIBIBYTES, "1e+308"),
    ],
)
def test_values(value: float, unit: Unit, text: str):
    assert format_value(value, unit) == text


@given(st.floats(), st.sampled_from(UNITS))
def test_every_number_fits_into_a_few_columns(value: float, unit: Unit):
    text = format_value(value, unit)
    assert 0 < len(text) <= 20
    assert text == text.strip()


@given(st.floats(1e-9, 1e14), st.sampled_from(["si", "binary", "decimal-rate", "seconds"]))
def test_a_value_can_be_read_back(value: float, scaling: str):
    sign = {"si": "", "binary": "B", "decimal-rate": "B/s", "seconds": "s"}[scaling]
    text = format_value(value, Unit(sign, scaling))  # type: ignore[arg-type]
    number = text.split(" ")[0].rstrip("kMGT")
    suffix = text[len(number) :].strip()
    sizes = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "K": 1024.0, "d": 86400, "h": 3600, "min": 60, "ms": 1e-3}
    sizes |= {"µs": 1e-6, "ns": 1e-9}
    if scaling == "binary":
        size = 1024.0 ** (" KMGT".index(suffix[0]) if suffix[:1] in tuple("KMGT") else 0)
    elif scaling == "seconds":
        size = sizes.get(suffix, 1.0)
    else:
        size = sizes.get(suffix[:1], 1.0) if suffix not in ("B/s",) else 1.0
    assert float(number) * size == pytest.approx(value, rel=1e-3)


def test_sizes_durations_and_ages():
    assert format_bytes(0) == "0 B"
    assert format_bytes(7) == "7 B"
    assert format_bytes(545_259_520) == "520 MiB"
    assert format_bytes(1010 * 2**20) == "1010 MiB"
    assert format_bytes(9_999 * 2**40) == "9999 TiB"
    assert [format_duration(s) for s in (0, 0.44, 12, 59.6, 125, 3900, 273_600)] == [
        "0 s",
        "0.4 s",
        "12 s",
        "1 min 00 s",
        "2 min 05 s",
        "1 h 05 min",
        "3 d 4 h",
    ]
    assert format_duration(-5) == "-5 s"
    assert format_duration(math.nan) == "NaN"
    assert [format_age(s) for s in (-3, 3.9, 59.9, 150, 3900, 90_000)] == [
        "0 s",
        "3 s",
        "59 s",
        "2 min",
        "1 h",
        "1 d",
    ]


def test_what_is_seen_of_many():
    assert [ranged(1, 6, 1200), ranged(1, 1, 5)] == ["1–6 of 1,200", "1 of 5"]


@pytest.mark.parametrize("seconds", [math.nan, math.inf, -math.inf, 3e19, -3e19, 2**63 - 1, -(2**62), 1e300])
@pytest.mark.parametrize("utc", [False, True])
def test_a_moment_that_no_calendar_has_is_a_number(seconds: float, utc: bool):
    assert format_time(seconds, "%Y-%m-%d %H:%M:%S", utc) == f"{seconds:.6g}s"


def test_a_moment():
    assert format_time(1_700_000_000, "%Y-%m-%d %H:%M:%S", utc=True) == "2023-11-14 22:13:20"
