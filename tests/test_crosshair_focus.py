"""The crosshair can be moved wherever the focus was when it was switched on, and all charts are read at one x."""

from __future__ import annotations

from pathlib import Path

from example_run import trained
from sweep import sweep
from test_workspace_screen import at
from viewer import viewing


async def test_from_the_list_of_runs_to_the_charts_and_back(tmp_path: Path) -> None:
    sweep(tmp_path)
    async with at(tmp_path) as place:
        screen = place.screen
        assert place.app.focused is screen.runs
        highlighted = screen.highlighted
        await place.press("v")
        assert screen.metrics.crosshair is not None
        before = screen.metrics.crosshair[0]
        await place.press("left")
        assert screen.metrics.crosshair[0] < before
        await place.press("D")
        assert screen.metrics.crosshair[0] > before
        await place.press("v")
        assert screen.metrics.crosshair is None
        assert place.app.focused is screen.runs
        assert screen.highlighted is highlighted
        await place.press("v", "escape")
        assert screen.metrics.crosshair is None
        assert place.app.focused is screen.runs


async def test_from_the_overview_and_the_console(tmp_path: Path) -> None:
    async with viewing(trained(tmp_path), (140, 40)) as viewer:
        await viewer.press("4")
        for name in ("overview", "logs"):
            viewer.run.focus_pane(name)
            await viewer.press("v")
            assert viewer.run.metrics.crosshair is not None
            before = viewer.run.metrics.crosshair[0]
            await viewer.press("a")
            assert viewer.run.metrics.crosshair[0] < before
            await viewer.press("escape")
            assert viewer.run.metrics.crosshair is None
            assert viewer.run.focused_name == name


async def test_who_went_elsewhere_meanwhile_is_not_taken_back(tmp_path: Path) -> None:
    async with viewing(trained(tmp_path), (140, 40)) as viewer:
        viewer.run.focus_pane("overview")
        await viewer.press("v")
        viewer.run.focus_pane("system")
        viewer.run.focus_pane("metrics")
        await viewer.press("v")
        assert viewer.run.focused_name == "overview"


async def test_hidden_charts_are_not_acted_upon_unseen(tmp_path: Path) -> None:
    async with viewing(trained(tmp_path), (140, 40)) as viewer:
        await viewer.press("1", "right_square_bracket", "v")
        assert viewer.run.metrics.crosshair is None
        assert "no charts are shown: 1 shows the metrics" in viewer.status
