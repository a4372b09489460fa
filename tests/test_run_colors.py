"""Colours of runs: each keeps its own, and no two shown ones share one."""

from __future__ import annotations

import colorsys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leet.charts.palettes import PALETTES
from leet.model.run_colors import RunColors, shifted

PALETTE = PALETTES["meadow"].dark
KEYS = [f"wandb/offline-run-20251130_1053{n:02d}-run{n}" for n in range(60)]

steps = st.lists(st.lists(st.sampled_from(KEYS), max_size=25, unique=True), max_size=8)


@given(steps)
def test_shown_runs_never_share_a_colour_and_keep_theirs(shown: list[list[str]]) -> None:
    colors = RunColors(PALETTE)
    before: dict[str, str] = {}
    for keys in shown:
        colors.keep(keys)
        now = {key: colors.color(key) for key in keys}
        assert len(set(now.values())) == len(keys)
        assert len({colors.index(key) for key in keys}) == len(keys)
        for key in keys:
            assert before.get(key, now[key]) == now[key]
        before = now


@given(st.lists(st.sampled_from(KEYS), unique=True, min_size=1))
def test_the_colour_that_is_foretold_is_the_one_it_gets(keys: list[str]) -> None:
    colors = RunColors(PALETTE)
    colors.keep(keys[:-1])
    foretold = colors.color(keys[-1])
    colors.keep(keys)
    assert colors.color(keys[-1]) == foretold


def test_a_run_has_the_same_colour_in_every_session() -> None:
    for key in KEYS:
        one, other = RunColors(PALETTE), RunColors(PALETTE)
        one.keep([key])
        other.keep([key])
        assert one.color(key) == other.color(key)
        assert one.index(key) < len(PALETTE)
    assert len({RunColors(PALETTE).color(key) for key in KEYS}) > len(PALETTE) / 2


def test_the_parts_of_a_run_have_the_same_colour() -> None:
    colors = RunColors(PALETTE)
    old, new = "wandb/run-20250101_000000-same", "wandb/offline-run-20250203_040506-same"
    assert colors.color(old) == colors.color(new)
    colors.keep([*KEYS[:14], old])
    color = colors.color(old)
    colors.rename(old, new)
    colors.keep([*KEYS[:14], new])
    assert colors.color(new) == color


def test_a_run_gets_its_colour_back() -> None:
    colors = RunColors(PALETTE)
    colors.keep(KEYS[:8])
    before = [colors.color(key) for key in KEYS[:8]]
    colors.keep(KEYS[:3])
    colors.keep(KEYS[:8])
    assert [colors.color(key) for key in KEYS[:8]] == before


def test_palette_colours_are_used_up_before_variants() -> None:
    colors = RunColors(PALETTE)
    colors.keep(KEYS[: len(PALETTE)])
    assert {colors.color(key) for key in KEYS[: len(PALETTE)]} == set(PALETTE)
    colors.keep(KEYS[: len(PALETTE) + 1])
    assert colors.index(KEYS[len(PALETTE)]) >= len(PALETTE)


@pytest.mark.parametrize("dark", [True, False])
@pytest.mark.parametrize("name", PALETTES)
def test_a_hundred_runs_are_told_apart_and_can_be_read(name: str, dark: bool) -> None:
    palette = PALETTES[name].dark if dark else PALETTES[name].light
    colors = RunColors(palette, dark=dark)
    keys = [f"run-20250101_000000-{n}" for n in range(100)]
    colors.keep(keys)
    found = [colors.color(key) for key in keys]
    assert len(set(found)) == 100
    for color in set(found) - set(palette):
        parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        lightness = colorsys.rgb_to_hls(*parts)[1]
        assert lightness > 0.45 if dark else lightness < 0.55


def test_thousands_of_runs_still_have_colours_of_their_own() -> None:
    colors = RunColors(PALETTE)
    keys = [f"run-20250101_000000-{n}" for n in range(600)]
    colors.keep(keys)
    assert len({colors.color(key) for key in keys}) == 600


def test_another_ground_changes_colours_and_not_places() -> None:
    palette = PALETTES["meadow"]
    assert len(palette.dark) == len(palette.light)
    colors = RunColors(palette.dark)
    colors.keep(KEYS[:20])
    places = [colors.index(key) for key in KEYS[:20]]
    colors.with_palette(palette.light, dark=False)
    assert [colors.index(key) for key in KEYS[:20]] == places
    assert colors.color(KEYS[0]) in palette.light
    colors.with_palette(PALETTES["okabe-ito"].dark)
    assert len({colors.color(key) for key in KEYS[:20]}) == 20


def test_variants_stay_near_their_colour() -> None:
    hue = colorsys.rgb_to_hls(0x5E / 255, 0xC8 / 255, 0xF2 / 255)[0]
    for step in (1, 2):
        color = shifted("#5ec8f2", step, dark=True)
        turned = colorsys.rgb_to_hls(*(int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)))[0]
        assert 0.02 < abs(turned - hue) < 0.06
