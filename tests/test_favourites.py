"""Charts that were marked come first, or alone, and are there the next time."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_run import START, trained
from hypothesis import given
from hypothesis import strategies as st
from test_memory import watching
from test_workspace_screen import at, root
from viewer import Viewer, viewing

from leet.settings import ViewState
from leet.tui.favourites import Favourites
from leet.tui.screens.chart_screen import ChartScreen
from leet.tui.terminal import Terminal

__all__ = ["root"]

NAMES = st.lists(st.sampled_from("abcdefgh"), unique=True)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return trained(tmp_path, rows=30, metrics=20, samples=10)


@given(NAMES, NAMES, st.booleans())
def test_nothing_is_lost_and_the_order_is_that_of_the_marks(names: list[str], marked: list[str], alone: bool) -> None:
    favourites = Favourites()
    for key in marked:
        assert favourites.toggle(key)
    favourites.alone = alone and bool(marked)
    shown = list(favourites.arranged(names, str))
    first = [key for key in marked if key in names]
    assert shown[: len(first)] == first
    assert shown[len(first) :] == ([] if favourites.alone else [name for name in names if name not in marked])


def test_with_the_last_mark_all_are_shown_again() -> None:
    favourites = Favourites()
    favourites.restore(["a", "a", "b"], True)
    assert (favourites.keys, favourites.alone) == (["a", "b"], True)
    assert not favourites.toggle("a")
    assert favourites.alone
    assert not favourites.toggle("b")
    assert not favourites.alone
    favourites.restore([], True)
    assert not favourites.alone


async def mark(viewer: Viewer, *titles: str) -> None:
    for title in titles:
        viewer.run.go_to_metric(title)
        await viewer.press("asterisk")


async def test_favourites_come_first_marked_and_alone(log: Path) -> None:
    async with viewing(log) as viewer:
        before = viewer.titles
        await viewer.press("M")
        assert "no chart is a favourite yet: * marks the one in focus" in viewer.status
        await mark(viewer, "val/loss", "layers/3/grad")
        assert viewer.titles[:2] == ["val/loss", "layers/3/grad"]
        assert viewer.run.metrics.focused_source is not None
        assert viewer.run.metrics.focused_source.key == "layers/3/grad", "the focus goes with its chart"
        assert "★ val/loss" in viewer.text()
        assert "layers/3/grad is a favourite" in viewer.status
        await viewer.press("M")
        assert viewer.titles == ["val/loss", "layers/3/grad"]
        assert "2 · favourites" in viewer.text()
        await viewer.press("slash", *"val", "enter")
        assert viewer.titles == ["val/loss"], "a filter holds among them too"
        await viewer.press("ctrl+l", "M")
        assert set(before) <= {source.key for source in viewer.run.metrics.sources}
        await mark(viewer, "val/loss", "layers/3/grad")
        assert viewer.titles == before
        assert "★" not in viewer.text()


async def test_going_to_another_metric_shows_all_again(log: Path) -> None:
    async with viewing(log) as viewer:
        await mark(viewer, "val/loss")
        await viewer.press("M")
        viewer.run.go_to_metric("lr")
        await viewer.pilot.pause()
        assert not viewer.run.metrics.favourites.alone
        assert viewer.run.metrics.focused_source is not None
        assert viewer.run.metrics.focused_source.key == "lr"


async def test_at_full_size(log: Path) -> None:
    async with viewing(log, (80, 24)) as viewer:
        viewer.run.go_to_metric("val/loss")
        await viewer.press("enter", "asterisk")
        screen = viewer.app.screen
        assert isinstance(screen, ChartScreen)
        assert viewer.lines()[0].startswith("╭ ★ val/loss")
        assert viewer.status.startswith(" chart 1 of 20")
        await viewer.press("M")
        assert len(screen.grid.sources) == 1
        await viewer.press("asterisk", "escape")
        assert len(viewer.run.metrics.sources) == 20


async def test_system_metrics_too(log: Path) -> None:
    async with viewing(log, (160, 50)) as viewer:
        viewer.run.focus_pane("system")
        viewer.run.system.focus_chart(3)
        source = viewer.run.system.focused_source
        await viewer.press("asterisk")
        assert viewer.run.system.sources[0] is source
        assert f"★ {source.title}" in viewer.text()  # type: ignore[union-attr]
        assert not viewer.run.metrics.favourites


async def test_they_are_there_the_next_time(log: Path) -> None:
    state = ViewState.of(log.parent.parent)
    async with watching(log) as viewer:
        await mark(viewer, "val/loss", "lr")
        await viewer.press("M")
        assert state.get("run.favourites.metrics") == ["val/loss", "lr"]
    async with watching(log) as viewer:
        assert viewer.titles == ["val/loss", "lr"]
        await viewer.press("M")
    async with watching(log) as viewer:
        assert len(viewer.titles) > 2
        assert viewer.titles[:2] == ["val/loss", "lr"]
    for nonsense in ("x", {"a": 1}, [1, None, "lr"], [["lr"]]):
        state.set("run.favourites.metrics", nonsense)
        state.set("run.favourites_alone.metrics", nonsense)
        async with watching(log) as viewer:
            assert len(viewer.run.metrics.sources) == 20


async def test_none_of_them_in_this_run_is_said(log: Path) -> None:
    state = ViewState.of(log.parent.parent)
    state.set("run.favourites.metrics", ["of another run"])
    state.set("run.favourites_alone.metrics", True)
    async with watching(log) as viewer:
        assert "None of the metrics here is a favourite" in viewer.text()
        await viewer.press("M")
        assert len(viewer.run.metrics.sources) == 20


async def test_in_a_directory_of_runs(root: Path) -> None:
    async with at(root) as place:
        await place.press("tab", "right", "right", "asterisk")
        await place.settled()
        metrics = place.screen.metrics
        assert [source.key for source in metrics.sources] == ["loss", "acc"]
        assert "★ loss" in place.text()
        await place.press("M")
        assert [source.key for source in metrics.sources] == ["loss"]


async def test_seven_bits(log: Path) -> None:
    async with viewing(log, (80, 24), terminal=Terminal(now=START, ascii=True)) as viewer:
        await mark(viewer, "val/loss")
        text = viewer.text()
        assert text.isascii()
        assert "* val/loss" in text
