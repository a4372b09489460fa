"""Settings against results: ranked, drawn, walked through."""

from __future__ import annotations

from pathlib import Path

import pytest
from sweep import sweep
from test_workspace_screen import Workplace, at

from leet.tui.screens.choice_screen import ChoiceScreen
from leet.tui.screens.compare_screen import CompareScreen
from leet.tui.screens.help_screen import HelpScreen
from leet.tui.screens.scatter_screen import ScatterScreen
from leet.tui.terminal import Terminal


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return sweep(tmp_path, 8)


async def opened(place: Workplace) -> ScatterScreen:
    await place.press("ctrl+a", "y")
    await place.settled()
    await place.press("K")
    await place.pilot.pause()
    screen = place.app.screen
    assert isinstance(screen, ScatterScreen)
    return screen


async def test_the_setting_that_matters_stands_first_and_is_drawn(root: Path) -> None:
    async with at(root) as place:
        await place.press("K")
        assert "select two runs or more" in place.status
        screen = await opened(place)
        text = place.text()
        assert screen.result is not None
        assert screen.result.name == "summary.acc"
        rows = [line.split() for line in place.lines()]
        assert rows[0][:3] == ["setting", "ρ", "n"]
        assert rows[1][:3] == ["lr", "+1.00", "8"]
        assert rows[2][0] == "layers"
        assert "seed" not in text
        assert "ρ +1.00" in text
        assert text.count("•") + text.count("●") >= 8
        await place.press("down")
        assert "layers" in place.lines()[-2]
        await place.press("escape")
        assert place.app.screen is place.screen


async def test_results_are_gone_through_picked_and_remembered(root: Path) -> None:
    async with at(root, live=True) as place:
        await opened(place)
        assert "acc (1/2)" in place.status
        await place.press("right")
        assert "loss (2/2)" in place.status
        assert place.lines()[1].split()[:2] == ["lr", "-1.00"]
        await place.press("right", "enter")
        assert isinstance(place.app.screen, ChoiceScreen)
        await place.type("loss")
        await place.press("enter")
        await place.pilot.pause()
        assert "loss (2/2)" in place.status
    async with at(root, live=True) as place:
        await opened(place)
        assert "loss (2/2)" in place.status


async def test_runs_are_told_from_the_left_to_the_right(root: Path) -> None:
    async with at(root) as place:
        await opened(place)
        await place.press("n")
        assert "trial-7: lr 0.0125" in place.status
        assert "◆" in place.text()
        await place.press("n")
        assert "trial-6: lr" in place.status
        await place.press("N", "N")
        assert "trial-0: lr 0.1" in place.status
        await place.press("escape")
        assert "◆" not in place.text()
        assert isinstance(place.app.screen, ScatterScreen)


async def test_axes_are_logarithmic_on_demand(root: Path) -> None:
    async with at(root) as place:
        await opened(place)
        assert "log x" not in place.lines()[0]
        await place.press("x", "y")
        assert "(log x, log y)" in place.lines()[0]
        await place.press("x", "y")
        assert "log x" not in place.lines()[0]


async def test_it_is_reached_from_the_comparison_and_has_help(root: Path) -> None:
    async with at(root) as place:
        await place.press("ctrl+a", "y")
        await place.settled()
        await place.press("C")
        await place.pilot.pause()
        await place.press("v")
        await place.pilot.pause()
        assert isinstance(place.app.screen, ScatterScreen)
        await place.press("question_mark")
        assert isinstance(place.app.screen, HelpScreen)
        assert "Settings against results" in place.text()
        await place.press("escape", "escape")
        assert isinstance(place.app.screen, CompareScreen)


async def test_the_mouse_chooses_a_setting(root: Path) -> None:
    async with at(root) as place:
        screen = await opened(place)
        await place.pilot.click(offset=(3, 2))
        await place.pilot.pause()
        assert screen.list.chosen is not None
        assert screen.list.chosen.value.path == "layers"


@pytest.mark.parametrize("size", [(80, 24), (60, 20), (30, 8), (200, 50)])
@pytest.mark.parametrize("plain", [False, True])
async def test_it_fits_every_size(root: Path, size: tuple[int, int], plain: bool) -> None:
    from test_workspace_screen import NOW

    terminal = Terminal(now=NOW, ascii=True) if plain else None
    async with at(root, size, terminal=terminal) as place:
        await opened(place)
        assert any(line.split()[:1] == ["lr"] for line in place.lines())
        if size[1] >= 20:
            assert "acc" in place.text()
        if plain:
            assert place.text().isascii()
