"""Names cut among each other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leet.charts.short_names import short_names

RATES = tuple(f"lr-{rate}-a-rather-long-name" for rate in ("0.001", "0.003", "0.01", "0.03", "0.1"))


def test_what_differs_stays_and_what_is_common_gives_way() -> None:
    assert short_names(RATES, 20) == (
        "lr-0.001-a-rather-l…",
        "lr-0.003-a-rather-l…",
        "lr-0.01-a-rather-lo…",
        "lr-0.03-a-rather-lo…",
        "lr-0.1-a-rather-lon…",
    )
    assert short_names(RATES, 10) == ("lr-0.001-…", "lr-0.003-…", "lr-0.01-a…", "lr-0.03-a…", "lr-0.1-a-…")
    assert short_names(RATES, 7) == ("…0.001…", "…0.003…", "…-0.01…", "…-0.03…", "lr-0.1…")


@pytest.mark.parametrize("width", [5, 8, 12, 16, 24])
@pytest.mark.parametrize(
    "place", ["{}-after-that-comes-a-long-end", "a-long-beginning-before-{}", "long-before-{}-and-after-it"]
)
def test_wherever_the_difference_is(place: str, width: int) -> None:
    names = tuple(place.format(rate) for rate in ("1e-3", "1e-2", "base"))
    short = short_names(names, width)
    assert len(set(short)) == 3
    assert all(len(name) <= width for name in short)


def test_what_fits_stays_whole() -> None:
    assert short_names((*RATES, "base"), 20)[-1] == "base"
    assert short_names(("a", "b"), 20) == ("a", "b")
    assert short_names((), 5) == ()


def test_groups_with_a_difference_of_their_own() -> None:
    names = tuple(f"{kind}-net-with-many-layers-seed{seed}" for kind in ("conv", "res") for seed in (1, 2, 3))
    for width in (8, 12, 16):
        assert len(set(short_names(names, width))) == 6


@given(st.lists(st.text("ab-_.01", max_size=30), max_size=8), st.integers(0, 30))
def test_they_fit(names: list[str], width: int) -> None:
    short = short_names(tuple(names), width)
    assert len(short) == len(names)
    assert all(len(name) <= width for name in short)
