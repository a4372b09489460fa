"""Palettes: colours that can be seen on their background and told apart, also by the colour-blind."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from rich.color import Color
from textual.theme import BUILTIN_THEMES

from leet.charts import palettes
from leet.settings import table
from leet.tui.themes import DARK, LIGHT

BACKGROUNDS = {"dark": ("#121212", DARK.background), "light": ("#ffffff", LIGHT.background)}
# Machado, Oliveira, Fernandes (2009), severity 1, for linear RGB.
BLINDNESS = {
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
}


def linear(color):
    rgb = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def contrast(one, other):
    a, b = (float(linear(c) @ [0.2126, 0.7152, 0.0722]) + 0.05 for c in (one, other))
    return max(a, b) / min(a, b)


def oklab(rgb):
    lms = np.array(
        [
            [0.4122214708, 0.5363325363, 0.0514459929],
            [0.2119034982, 0.6806995451, 0.1073969566],
            [0.0883024619, 0.2817188376, 0.6299787005],
        ]
    ) @ np.clip(rgb, 0, 1)
    return np.array(
        [
            [0.2104542553, 0.7936177850, -0.0040720468],
            [1.9779984951, -2.4285922050, 0.4505937099],
            [0.0259040371, 0.7827717662, -0.8086757660],
        ]
    ) @ np.cbrt(lms)


def points(colors, seen=None):
    return [oklab(linear(c) if seen is None else np.array(seen) @ linear(c)) for c in colors]


def nearest(colors, seen=None):
    """Distance in Oklab of the two most similar colours."""
    return min(float(np.linalg.norm(a - b)) for a, b in combinations(points(colors, seen), 2))


def next_to(colors, seen=None):
    """Distance in Oklab of the two most similar ones that follow each other."""
    return min(float(np.linalg.norm(a - b)) for a, b in pairwise(points(colors, seen)))


ALL = list(palettes.PALETTES.values())
APART = [p for p in ALL if not p.gradient]
GRADIENTS = [p for p in ALL if p.gradient]
JUST_SEEN = 0.02
"""Distance in Oklab that an eye tells apart side by side."""


@pytest.mark.parametrize("palette", ALL, ids=lambda p: p.name)
@pytest.mark.parametrize("background", BACKGROUNDS)
def test_lines_are_seen(palette, background):
    colors = getattr(palette, background)
    assert len(colors) >= 8
    assert len(palette.dark) == len(palette.light)
    assert min(contrast(c, ground) for c in colors for ground in BACKGROUNDS[background]) >= 3


@pytest.mark.parametrize("palette", APART, ids=lambda p: p.name)
@pytest.mark.parametrize("background", BACKGROUNDS)
def test_any_two_lines_are_told_apart(palette, background):
    colors = getattr(palette, background)
    assert nearest(colors) >= 0.06
    assert next_to(colors) >= 0.1


@pytest.mark.parametrize("palette", GRADIENTS, ids=lambda p: p.name)
@pytest.mark.parametrize("background", BACKGROUNDS)
def test_steps_of_a_gradient_are_told_apart_and_lead_somewhere(palette, background):
    colors = getattr(palette, background)
    assert next_to(colors) >= 1.75 * JUST_SEEN
    ends = points([colors[0], colors[-1]])
    assert float(np.linalg.norm(ends[0] - ends[1])) >= 0.2


@pytest.mark.parametrize("palette", [p for p in APART if p.colorblind_safe], ids=lambda p: p.name)
@pytest.mark.parametrize("kind", BLINDNESS)
def test_the_colour_blind_tell_any_two_apart(palette, kind):
    assert nearest(palette.dark, BLINDNESS[kind]) >= 0.05
    assert nearest(palette.light, BLINDNESS[kind]) >= 0.04


@pytest.mark.parametrize("palette", [p for p in GRADIENTS if p.colorblind_safe], ids=lambda p: p.name)
@pytest.mark.parametrize("kind", BLINDNESS)
def test_the_colour_blind_tell_steps_of_a_gradient_apart(palette, kind):
    assert next_to(palette.dark, BLINDNESS[kind]) >= JUST_SEEN
    assert next_to(palette.light, BLINDNESS[kind]) >= JUST_SEEN


def test_the_table_of_settings_names_them_all():
    assert set(table.SERIES_PALETTES + table.HEAT_PALETTES) == set(palettes.PALETTES)
    assert set(table.HEAT_PALETTES) == {p.name for p in ALL if p.sequential}


@pytest.mark.parametrize(
    "theme", sorted(t.name for t in BUILTIN_THEMES.values() if (t.background or "").startswith("#"))
)
def test_lines_are_seen_on_the_ground_of_every_theme(theme):
    theme = BUILTIN_THEMES[theme]
    for palette in ALL:
        for color in palette.dark if theme.dark else palette.light:
            assert contrast(palettes.legible(color, theme.background), theme.background) >= 3


def test_a_colour_that_is_seen_stays_what_it_is():
    assert palettes.legible("#ffb000", "#121212") == "#ffb000"
    assert palettes.legible("#121212", "#121212") != "#121212"


@pytest.mark.parametrize("name", [p.name for p in palettes.PALETTES.values() if p.sequential])
def test_heat_runs_from_dark_to_bright(name):
    colors = palettes.heat(name)
    light = [float(linear(c) @ [0.2126, 0.7152, 0.0722]) for c in colors]
    assert len(colors) == 256
    assert all(b >= a - 1e-3 for a, b in pairwise(light))
    assert light[-1] - light[0] > 0.5


def test_the_default_exists_and_repeats():
    palette = palettes.PALETTES[palettes.DEFAULT]
    assert palette.series(0) == palette.series(len(palette.dark))
    assert palette.series(0, dark=False) in palette.light
    assert palettes.heat("no such palette") == palettes.heat(palettes.DEFAULT_HEAT)


def test_sixteen_colour_names_are_known_and_differ():
    for names in (palettes.ANSI_DARK, palettes.ANSI_LIGHT, palettes.ANSI_HEAT):
        assert len(set(names)) == len(names)
        assert all(Color.parse(name).number is not None and Color.parse(name).number < 16 for name in names)
    assert palettes.ansi(0) == palettes.ansi(len(palettes.ANSI_DARK))
    assert palettes.ansi_heat(0) == palettes.ANSI_HEAT[0]
    assert palettes.ansi_heat(255) == palettes.ANSI_HEAT[-1]
