"""Panes of a screen: shown and hidden, larger and smaller, by keys and by the mouse."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_run import trained
from viewer import Viewer, viewing


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return trained(tmp_path, rows=60, metrics=40, samples=20)


def region(viewer: Viewer, name: str):  # type: ignore[no-untyped-def]
    return viewer.run.panes[name].region


async def drag(viewer: Viewer, start: tuple[int, int], end: tuple[int, int]) -> None:
    pilot = viewer.pilot
    await pilot.mouse_down(offset=start)
    await pilot.hover(offset=((start[0] + end[0]) // 2, (start[1] + end[1]) // 2))
    await pilot.hover(offset=end)
    await pilot.mouse_up(offset=end)
    await pilot.pause()


@pytest.mark.parametrize(("digit", "name"), [("1", "metrics"), ("2", "system"), ("4", "logs"), ("3", "media")])
async def test_a_digit_shows_and_hides_its_pane(log: Path, digit: str, name: str) -> None:
    async with viewing(log, (200, 50)) as viewer:
        before = viewer.run.shows(name)
        await viewer.press(digit)
        assert viewer.run.shows(name) is not before
        await viewer.press(digit)
        assert viewer.run.shows(name) is before


async def test_lower_panes_stand_under_the_metrics_in_order(log: Path) -> None:
    async with viewing(log, (200, 50)) as viewer:
        await viewer.press("4", "3")
        metrics, media, logs = (region(viewer, name) for name in ("metrics", "media", "logs"))
        assert metrics.bottom == media.y
        assert media.bottom == logs.y
        assert logs.bottom == 49
        assert metrics.x == media.x == logs.x


async def test_opening_a_pane_focuses_it_and_closing_it_gives_the_focus_back(log: Path) -> None:
    async with viewing(log, (200, 50)) as viewer:
        await viewer.press("4")
        assert viewer.run.focused_name == "logs"
        await viewer.press("4")
        assert viewer.run.focused_name == "metrics"


async def test_the_sidebars_share_the_screen_when_nothing_stands_between(log: Path) -> None:
    async with viewing(log, (200, 50)) as viewer:
        await viewer.press("1")
        assert region(viewer, "overview").width + region(viewer, "system").width == 200
        await viewer.press("4")
        assert region(viewer, "logs").height == 49
        await viewer.press("1")
        assert viewer.run.shows("metrics")


async def test_borders_are_dragged(log: Path) -> None:
    async with viewing(log, (200, 50)) as viewer:
        await viewer.press("4")
        overview, system, logs = (region(viewer, name) for name in ("overview", "system", "logs"))
        await drag(viewer, (overview.right - 1, 20), (overview.right + 9, 20))
        assert region(viewer, "overview").width == overview.width + 10
        await drag(viewer, (system.x, 20), (system.x - 6, 20))
        assert region(viewer, "system").width == system.width + 6
        await drag(viewer, (logs.x + 20, logs.y), (logs.x + 20, logs.y - 5))
        assert region(viewer, "logs").height == logs.height + 5
        await viewer.press("0")
        assert region(viewer, "overview") == overview
        assert region(viewer, "system") == system
        assert region(viewer, "logs") == logs


async def test_a_border_cannot_be_dragged_off_the_screen(log: Path) -> None:
    async with viewing(log, (200, 50)) as viewer:
        overview = region(viewer, "overview")
        await drag(viewer, (overview.right - 1, 20), (199, 20))
        assert region(viewer, "metrics").width >= 24
        await drag(viewer, (region(viewer, "overview").right - 1, 20), (0, 20))
        assert region(viewer, "overview").width == 20


async def test_borders_are_moved_by_keys(log: Path) -> None:
    async with viewing(log, (200, 50)) as viewer:
        await viewer.press("4")
        logs = region(viewer, "logs")
        await viewer.press("ctrl+up")
        assert region(viewer, "logs").height > logs.height
        await viewer.press("ctrl+down", "ctrl+down")
        assert region(viewer, "logs").height < logs.height
        viewer.run.focus_pane("system")
        system = region(viewer, "system")
        await viewer.press("ctrl+left")
        assert region(viewer, "system").width > system.width
        viewer.run.focus_pane("overview")
        overview = region(viewer, "overview")
        await viewer.press("alt+right")
        assert region(viewer, "overview").width > overview.width
        await viewer.press("0")
        assert region(viewer, "overview") == overview


def sections(viewer: Viewer) -> list[int]:
    return [shown.height for shown in viewer.run.overview._sections]


async def test_sections_of_the_overview_are_dragged(log: Path) -> None:
    async with viewing(log, (200, 50)) as viewer:
        before = sections(viewer)
        overview = viewer.run.overview
        y = overview.region.y + overview._sections[2].y
        x = overview.region.x + 5
        await drag(viewer, (x, y), (x, y - 3))
        after = sections(viewer)
        assert after[1] == before[1] - 3
        assert sum(after) == sum(before) or sum(after) <= overview.size.height
        await drag(viewer, (x, y - 3), (x, 0))
        assert sections(viewer)[1] == 2
        await viewer.press("0")
        assert sections(viewer) == before


async def test_sections_of_the_overview_are_moved_by_keys(log: Path) -> None:
    async with viewing(log, (200, 50)) as viewer:
        before = sections(viewer)
        viewer.run.focus_pane("overview")
        overview = viewer.run.overview
        overview._cursor = (1, 0)
        await viewer.press("ctrl+down")
        assert sections(viewer)[0] == before[0] + 2
        await viewer.press("ctrl+up", "ctrl+up")
        assert sections(viewer)[0] == before[0] - 2
        assert viewer.run.shares
        for _ in range(40):
            await viewer.press("ctrl+down")
        assert sum(sections(viewer)) <= overview.size.height
        assert min(sections(viewer)) >= 1
        await viewer.press("0")
        assert sections(viewer) == before


async def test_small_terminals_fold_panes_and_unfold_them(log: Path) -> None:
    async with viewing(log, (200, 50)) as viewer:
        await viewer.press("3", "4")
        await viewer.pilot.resize_terminal(80, 14)
        await viewer.pilot.pause()
        assert viewer.run.shows("logs")
        assert not viewer.run.shows("media")
        assert not viewer.run.shows("overview")
        await viewer.pilot.resize_terminal(200, 50)
        await viewer.pilot.pause()
        assert all(viewer.run.shows(name) for name in ("overview", "metrics", "media", "logs", "system"))


async def test_a_click_that_drags_nothing_changes_nothing(log: Path) -> None:
    async with viewing(log, (200, 50)) as viewer:
        overview = region(viewer, "overview")
        await drag(viewer, (overview.right - 1, 20), (overview.right - 1, 20))
        assert viewer.run.shares == {}


async def test_a_blank_screen_says_which_keys_show_panes_again(log: Path) -> None:
    async with viewing(log, (120, 30)) as viewer:
        for name in ("metrics", "overview", "system"):
            if viewer.run.shows(name):
                viewer.run.action_toggle_pane(name)
        await viewer.pilot.pause()
        assert "no pane is shown: 1 metrics, [ overview, ] system" in viewer.status
        await viewer.press("1")
        assert "no pane is shown" not in viewer.status


async def test_hints_are_those_of_the_pane_in_focus(log: Path) -> None:
    async with viewing(log, (200, 50)) as viewer:
        assert "F search" not in viewer.status
        await viewer.press("4")
        assert "? help" in viewer.status
        assert "F search" in viewer.status
        await viewer.press("3")
        assert "F search" not in viewer.status
        assert "m masks" in viewer.status
