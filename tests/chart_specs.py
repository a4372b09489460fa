"""Charts that several tests draw, and a strategy for any chart at all."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from leet.charts.spec import Spec, Trace
from leet.model import units

NAN = float("nan")
STEPS = np.arange(400.0)


def gpus(many=4):
    at = 1.7e9 + STEPS * 1.5
    return tuple(Trace(f"GPU {i}", at, np.clip(70 - 12 * i + 25 * np.sin(STEPS / 40 + i), 0, 100)) for i in range(many))


GPU = {"unit": units.PERCENT, "y_range": (0.0, 100.0), "x_kind": "clock"}
NUMBERS = st.floats(width=64)
SPECS = st.builds(
    Spec,
    title=st.text(max_size=30),
    traces=st.lists(
        st.builds(
            lambda label, points, color: Trace(
                label, np.array([p[0] for p in points]), np.array([p[1] for p in points]), color
            ),
            st.text(max_size=12),
            st.lists(st.tuples(NUMBERS, NUMBERS), max_size=12),
            st.none() | st.integers(0, 20),
        ),
        max_size=4,
    ).map(tuple),
    unit=st.sampled_from([units.NUMBER, units.PERCENT, units.GIBIBYTES, units.MEGAHERTZ, units.SECONDS, units.WATT]),
    x_label=st.text(max_size=8),
    x_kind=st.sampled_from(["number", "duration", "clock"]),
    x_range=st.none() | st.tuples(NUMBERS, NUMBERS),
    y_range=st.none() | st.tuples(NUMBERS, NUMBERS),
    log_y=st.booleans(),
    crosshair=st.none() | NUMBERS,
    focused=st.booleans(),
    legend=st.booleans(),
    guides=st.sampled_from(["off", "dots", "horizontal"]),
    value=st.text(max_size=8),
    note=st.text(max_size=8),
    ascii=st.booleans(),
    monochrome=st.booleans(),
)
