"""Columns of the list of runs in the workspace: chosen, sorted by, remembered."""

from __future__ import annotations

from pathlib import Path

import pytest
from sweep import sweep
from test_workspace_screen import at

from leet.settings.view_state import ViewState
from leet.tui.screens.choice_screen import ChoiceScreen


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return sweep(tmp_path, 6)


async def test_t_chooses_columns(root: Path) -> None:
    async with at(root) as place:
        await place.press("1", "T")
        assert isinstance(place.app.screen, ChoiceScreen)
        text = place.text()
        assert text.index("config.lr") < text.index("config.seed")
        assert "no run has it" in text
        await place.type("loss")
        await place.press("space")
        assert "* summary.loss" in place.text()
        await place.type("lr")
        await place.press("tab", "enter")
        await place.settled()
        head = next(line for line in place.lines() if "name" in line and "age" in line)
        assert head.index("loss") < head.index("lr") < head.index("age")
        row = next(line for line in place.lines() if "trial-3" in line)
        assert "0.025" in row
        assert "columns: loss, lr" in place.status
        await place.press("T", "space", "enter")
        assert [value.name for value in place.screen.runs.values] == ["config.lr"]


async def test_s_and_clicks_sort_by_columns(root: Path) -> None:
    async with at(root) as place:
        await place.press("1", "T")
        await place.type("loss")
        await place.press("space", "enter")
        await place.press(*["S"] * 5)
        assert place.names == [f"trial-{n}" for n in range(6)]
        assert "loss↑" in place.text()
        await place.press("S")
        assert place.names == [f"trial-{n}" for n in (5, 4, 3, 2, 1, 0)]
        assert "loss↓" in place.text()
        await place.press("S")
        assert place.screen.sort == "started"
        y, line = next((y, line) for y, line in enumerate(place.lines()) if "loss" in line and "age" in line)
        for _ in range(2):
            await place.pilot.click(offset=(line.index("loss") + 1, y))
            await place.pilot.pause()
        assert place.screen.sort == "-summary.loss"
        assert place.names[0] == "trial-5"


async def test_a_column_can_be_typed_and_what_is_none_is_said(root: Path) -> None:
    async with at(root) as place:
        await place.press("T")
        await place.type("config.nothing")
        await place.press("space")
        assert "* config.nothing" in place.text()
        await place.type("hots")
        await place.press("enter")
        assert "did you mean host?" in place.text()
        await place.press("escape")
        assert not place.screen.runs.values


async def test_columns_and_their_order_are_there_the_next_time(root: Path) -> None:
    async with at(root, live=True) as place:
        await place.press("T")
        await place.type("lr")
        await place.press("space", "enter")
        await place.press(*["S"] * 5)
        assert place.screen.sort == "config.lr"
    async with at(root, live=True) as place:
        assert [value.name for value in place.screen.runs.values] == ["config.lr"]
        assert place.screen.sort == "config.lr"
        assert place.names[0] == "trial-5"
    view = ViewState.of(root)
    view.set("runs.columns", ["config.lr", 7, "no such", None])
    view.set("runs.sort", "nonsense")
    view.save()
    async with at(root, live=True) as place:
        assert [value.name for value in place.screen.runs.values] == ["config.lr"]
        assert place.screen.sort == "started"


@pytest.mark.parametrize("size", [(80, 24), (60, 20), (30, 10), (200, 50)])
async def test_columns_fold_in_narrow_terminals(root: Path, size: tuple[int, int]) -> None:
    async with at(root, size) as place:
        await place.press("T")
        await place.type("lr")
        await place.press("space")
        await place.type("summary.loss")
        await place.press("space", "enter")
        await place.settled()
        columns = place.screen.runs._columns(place.screen.runs.size.width)
        assert place.screen.runs.shows_all_values is (len(columns.values) == 2)
        assert any("trial-5" in line for line in place.lines())
        if size[0] == 200:
            assert place.screen.runs.shows_all_values
