"""Where there is room for one sidebar only: what it replaced is there again when it goes."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_run import trained
from sweep import sweep
from test_workspace_screen import at
from viewer import viewing

SMALL = (80, 24)


async def test_the_list_of_runs_comes_back_with_the_focus(tmp_path: Path) -> None:
    sweep(tmp_path)
    async with at(tmp_path, SMALL) as place:
        assert place.panes() == {"runs", "metrics"}
        first = place.screen.highlighted
        await place.press("right_square_bracket")
        assert place.panes() == {"overview", "metrics"}
        await place.press("right_square_bracket")
        assert place.panes() == {"runs", "metrics"}
        assert place.app.focused is place.screen.runs
        await place.press("down")
        assert place.screen.highlighted is not first


async def test_each_sidebar_of_a_run_replaces_the_other_and_brings_it_back(tmp_path: Path) -> None:
    async with viewing(trained(tmp_path), SMALL) as viewer:
        run = viewer.run
        await viewer.press("left_square_bracket")
        assert run.shows("overview")
        await viewer.press("right_square_bracket")
        assert (run.shows("overview"), run.shows("system")) == (False, True)
        await viewer.press("right_square_bracket")
        assert (run.shows("overview"), run.shows("system")) == (True, False)
        await viewer.press("left_square_bracket")
        assert (run.shows("overview"), run.shows("system")) == (False, False)


@pytest.mark.parametrize("keys", ["]]", "[[", "][", "]]]]", "[]]["])
async def test_arrows_act_on_something_that_is_seen(tmp_path: Path, keys: str) -> None:
    sweep(tmp_path)
    async with at(tmp_path, SMALL) as place:
        for key in keys:
            await place.press({"[": "left_square_bracket", "]": "right_square_bracket"}[key])
        name = place.screen.focused_name
        assert name is not None
        assert place.screen.shows(name)
