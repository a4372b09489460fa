"""A run without metrics shows what else it has; hints of keys fill what room there is."""

from __future__ import annotations

from pathlib import Path

from example_run import START, ExampleRun, trained
from test_media_wall import media, scrubbed
from test_workspace_screen import at
from viewer import Viewer, viewing

from leet.tui.widgets.pane import Pane

SMALL = (80, 24)


def printed(directory: Path, *, lines: int = 5, samples: int = 0) -> ExampleRun:
    """A run that has only printed, and perhaps been measured."""
    run = ExampleRun(directory)
    if samples:
        run.sample(samples)
    for number in range(lines):
        when = {"seconds": int(START) + number}
        run.record("output_raw", {"output_type": 1, "timestamp": when, "line": f"line {number}\n"})
    return run


def panes(viewer: Viewer) -> set[str]:
    return {(pane.id or "").removesuffix("-pane") for pane in viewer.run.query(Pane) if pane.display}


async def test_console_and_system_metrics_take_the_room_of_metrics(tmp_path: Path) -> None:
    log = printed(tmp_path, samples=5).finish()
    for size, wanted in ((SMALL, {"logs", "system"}), ((200, 50), {"overview", "logs", "system"})):
        async with viewing(log, size) as viewer:
            assert panes(viewer) == wanted
            assert "line 4" in viewer.text()
            assert "no metrics" in viewer.status
            assert viewer.run.focused_name == "logs"


async def test_system_metrics_alone_take_all_of_it(tmp_path: Path) -> None:
    log = printed(tmp_path, lines=0, samples=5).finish()
    async with viewing(log, SMALL) as viewer:
        assert panes(viewer) == {"system"}
        assert viewer.run.system.size.width == 80
        assert viewer.run.focused_name == "system"
    async with viewing(log, (200, 50)) as viewer:
        assert panes(viewer) == {"overview", "system"}
        assert viewer.run.system.size.width > 140


async def test_what_was_put_away_stays_away(tmp_path: Path) -> None:
    async with viewing(printed(tmp_path).finish(), SMALL) as viewer:
        await viewer.press("4")
        assert panes(viewer) == {"logs"}
        assert viewer.run.focused_name == "logs"
        await viewer.press("4")
        assert panes(viewer) == {"metrics"}
        assert "No metrics in this run" in viewer.text()
        assert "There is: 4 console" in viewer.text()
        await viewer.press("4")
        assert panes(viewer) == {"logs"}
        await viewer.press("1")
        assert panes(viewer) == {"metrics", "logs"}


async def test_metrics_take_their_place_when_they_come(tmp_path: Path) -> None:
    run = printed(tmp_path)
    async with viewing(run.flush(), (100, 30), live=True) as viewer:
        assert panes(viewer) == {"logs", "overview"}
        assert "no metrics yet" in viewer.status
        run.train(5, 2)
        run.flush()
        await viewer.until("train/loss")
        assert "metrics" in panes(viewer)
        assert "logs" not in panes(viewer)
        assert viewer.run.focused_name == "metrics"
        run.finish()


async def test_nothing_at_all_is_said(tmp_path: Path) -> None:
    async with viewing(printed(tmp_path, lines=0).finish(), SMALL) as viewer:
        assert panes(viewer) == {"metrics"}
        assert "No metrics in this run" in viewer.text()


async def test_a_workspace_says_where_the_rest_is(tmp_path: Path) -> None:
    printed(tmp_path, samples=3).finish()
    async with at(tmp_path) as place:
        assert "No metrics in the selected run" in place.text()
        assert "There is: 4 console, 2 system metrics" in place.text()


async def test_hints_of_the_pane_in_focus_are_worth_more_than_when_the_run_ended(tmp_path: Path) -> None:
    async with media(scrubbed(tmp_path), SMALL) as viewer:
        viewer.run.focus_pane("media")
        await viewer.pilot.pause()
        assert "← → sample" in viewer.status
        await viewer.press("enter")
        assert "← → sample" in viewer.status
    log = trained(tmp_path / "other")
    async with viewing(log, SMALL) as viewer:
        await viewer.press("4")
        assert "F search" in viewer.status


async def test_a_hint_too_long_for_the_room_leaves_it_to_shorter_ones(tmp_path: Path) -> None:
    from leet.tui.widgets.status_line import Part, StatusLine

    async with viewing(trained(tmp_path), SMALL) as viewer:
        line = viewer.run.query_one(StatusLine)
        line.show([Part("x" * 40)], [("?", "help"), ("q", "quit"), ("a", "very long words " * 2), ("b", "short")])
        await viewer.pilot.pause()
        assert "b short" in viewer.status
