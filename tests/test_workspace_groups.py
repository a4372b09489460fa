"""Groups of runs in the workspace: chosen, drawn, marked in the list, remembered."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from sweep import sweep
from test_workspace_screen import Workplace, at

from leet.settings.view_state import ViewState
from leet.tui.screens.choice_screen import ChoiceScreen


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return sweep(tmp_path, 6)


async def group_by(place: Workplace, name: str) -> None:
    await place.press("G")
    await place.type(name)
    await place.press("enter")


async def all_of(place: Workplace) -> None:
    await place.press("ctrl+a", "y")
    await place.settled()


def curves(place: Workplace, name: str = "loss") -> list[str]:
    grid = place.screen.metrics
    source = place.screen.sources.source(name)
    return [trace.label for trace in source.spec(60, grid.view(source)).traces]


async def test_g_groups_by_what_is_chosen_and_ctrl_g_draws_each_run_again(root: Path) -> None:
    async with at(root) as place:
        await all_of(place)
        await place.press("G")
        assert isinstance(place.app.screen, ChoiceScreen)
        text = place.text()
        assert "Group the selected runs by" in text
        assert "3 groups: 2, 3, 4" in text
        assert "config.seed" not in text
        await place.type("layers")
        await place.press("enter")
        await place.settled()
        assert curves(place) == ["2 (2)", "3 (2)", "4 (2)"]
        assert "by layers: 3 groups" in place.status
        assert "2 (2)" in place.text()
        await place.press("ctrl+g")
        await place.settled()
        assert len(curves(place)) == 6
        assert "by layers" not in place.status


async def test_the_mean_is_that_of_the_runs_of_the_group(root: Path) -> None:
    async with at(root) as place:
        await all_of(place)
        each = dict(place.screen.sources.source("loss").points((0, 100)) and [
            (label, y) for label, _, y in place.screen.sources.source("loss").points((0, 100))])  # fmt: skip
        await group_by(place, "config.layers")
        await place.settled()
        grouped = {label: y for label, _, y in place.screen.sources.source("loss").points((0, 100))}
        assert grouped["2 (2)"].tolist() == pytest.approx(((each["trial-0"] + each["trial-3"]) / 2).tolist())
        trace = place.screen.sources.source("loss").spec(60, place.screen.metrics.view(
            place.screen.sources.source("loss"))).traces[0]  # fmt: skip
        assert trace.band is not None
        assert trace.band[1].tolist() == pytest.approx(each["trial-0"].tolist())
        assert trace.band[2].tolist() == pytest.approx(each["trial-3"].tolist())


async def test_b_changes_the_band(root: Path) -> None:
    async with at(root) as place:
        await place.press("b")
        assert "a band belongs to groups" in place.status
        await all_of(place)
        await group_by(place, "layers")
        notes = []
        for _ in range(3):
            await place.settled()
            source = place.screen.sources.source("loss")
            spec = source.spec(60, place.screen.metrics.view(source))
            notes.append((spec.note, spec.traces[0].band is not None))
            await place.press("b")
        assert notes == [("mean, min–max", True), ("mean ± sd", True), ("mean", False)]
        assert "min–max" in place.status


async def test_runs_are_marked_in_the_colour_of_their_group(root: Path) -> None:
    async with at(root) as place:
        await all_of(place)
        await group_by(place, "layers")
        await place.settled()
        marks = place.screen.run_marks
        key = {entry.name: entry.key for entry in place.screen.runs.entries}
        assert marks.of(key["trial-0"]).color == marks.of(key["trial-3"]).color
        colors = {marks.of(key[f"trial-{n}"]).color for n in range(3)}
        assert len(colors) == 3
        groups = place.screen.sources.groups
        assert groups is not None
        drawn = {place.screen.metrics.series_colors[group.color] for group in groups.groups}
        assert drawn == colors
        await place.press("home", "space")
        await place.settled()
        assert curves(place) == ["2 (2)", "3 (2)", "4 (1)"]


async def test_what_was_typed_is_taken_or_said_to_be_nothing(root: Path) -> None:
    async with at(root) as place:
        await place.press("G")
        assert "select two runs or more" in place.status
        await all_of(place)
        await place.press("G")
        await place.type("colour")
        await place.press("enter")
        assert isinstance(place.app.screen, ChoiceScreen)
        assert "no value is called colour" in place.text()
        await place.press(*["backspace"] * 6)
        await place.type("layers,host")
        assert "nothing is called so" in place.text()
        await place.press("enter")
        await place.settled()
        assert curves(place) == ["2, node-3 (2)", "3, node-3 (2)", "4, node-3 (2)"]
        await place.press("G", "escape")
        assert len(curves(place)) == 3
        await place.press("G", "home", "pageup", "enter")
        await place.settled()
        assert len(curves(place)) == 6


async def test_the_list_is_used_by_mouse_too(root: Path) -> None:
    async with at(root) as place:
        await all_of(place)
        await place.press("G")
        row = next(y for y, line in enumerate(place.lines()) if "config.layers" in line)
        await place.pilot.click(offset=(30, row))
        await place.pilot.pause()
        await place.settled()
        assert len(curves(place)) == 3


async def test_groups_are_there_the_next_time(root: Path, tmp_path: Path) -> None:
    async with at(root, live=True) as place:
        await all_of(place)
        await group_by(place, "layers")
        await place.settled()
        await place.press("b")
    async with at(root, live=True) as place:
        assert curves(place) == ["2 (2)", "3 (2)", "4 (2)"]
        assert place.screen.run_groups.band == "deviation"
    view = ViewState.of(root)
    view.set("runs.group", "no such thing")
    view.set("runs.band", 7)
    view.save()
    async with at(root, live=True) as place:
        assert len(curves(place)) == 6


@pytest.mark.parametrize("size", [(80, 24), (40, 12), (200, 50)])
async def test_groups_fit_every_size(root: Path, size: tuple[int, int]) -> None:
    async with at(root, size) as place:
        await all_of(place)
        await place.press("G")
        assert "Group the selected" in place.text()
        assert "Enter takes it" in place.text() or size[0] < 60
        await place.type("layers")
        await place.press("enter")
        await place.settled()
        assert len(curves(place)) == 3


async def test_a_smoothed_group_is_the_mean_of_smoothed_runs(root: Path) -> None:
    async with at(root) as place:
        await all_of(place)
        await group_by(place, "layers")
        await place.settled()
        await place.press("m")
        await place.settled()
        source = place.screen.sources.source("loss")
        grid = place.screen.metrics
        smooth = source.spec(60, replace(grid.view(source), smoothing=grid.smoothing)).traces[0]
        rough = {label: y for label, _, y in source.points((0, 100))}["2 (2)"]
        assert smooth.y[0] == pytest.approx(rough[0])
        assert smooth.y[5] > rough[5] + 0.05
