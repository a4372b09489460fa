"""A run as the baseline: in the comparison and in the charts."""

from __future__ import annotations

from pathlib import Path

import pytest
from sweep import sweep
from test_workspace_screen import Workplace, at

from leet.tui.screens.compare_screen import CompareScreen


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return sweep(tmp_path, 6)


def curves(place: Workplace, name: str = "loss") -> dict[str, list[float]]:
    return {label: y.tolist() for label, _, y in place.screen.sources.source(name).points((0, 100))}


def note(place: Workplace, name: str = "loss") -> str:
    source = place.screen.sources.source(name)
    return source.spec(60, place.screen.metrics.view(source)).note


async def test_in_the_comparison_the_run_under_the_cursor_is_what_others_are_held_against(root: Path) -> None:
    async with at(root, (100, 24)) as place:
        await place.press("end", "space", "C")
        await place.pilot.pause()
        await place.press("right", "b")
        lines = [line.split() for line in place.lines()]
        assert lines[0] == ["●", "trial-5", "=", "trial-0"]
        assert ["lr", "0.0166667", "-0.0833", "-83%", "0.1"] in lines
        assert "against trial-0" in place.status
        assert any(line[0] == "loss" and line[-1].endswith("*") for line in lines if line)
        await place.press("left", "b")
        assert place.lines()[0].split() == ["=", "trial-5", "●", "trial-0"]
        assert ["lr", "0.0166667", "0.1", "+0.0833", "+500%"] in [line.split() for line in place.lines()]
        await place.press("b")
        assert ["lr", "0.0166667", "0.1"] in [line.split() for line in place.lines()]
        await place.press("b", "escape")
        assert place.screen.baseline.endswith("run0005")


async def test_the_mouse_chooses_a_run_and_clicked_again_makes_it_the_baseline(root: Path) -> None:
    async with at(root, (100, 24)) as place:
        await place.press("end", "space", "C")
        await place.pilot.pause()
        head = place.lines()[0]
        for _ in range(2):
            await place.pilot.click(offset=(head.index("trial-0"), 0))
            await place.pilot.pause(0.6)
        assert place.lines()[0].split() == ["●", "trial-5", "=", "trial-0"]
        assert isinstance(place.app.screen, CompareScreen)


async def test_charts_draw_differences_to_it(root: Path) -> None:
    async with at(root) as place:
        await place.press("ctrl+a", "y")
        await place.settled()
        values = curves(place)
        await place.press("end", "P")
        assert "trial-0 is the baseline" in place.status
        assert curves(place) == values
        await place.press("B")
        await place.settled()
        drawn = curves(place)
        assert set(drawn["trial-0"]) == {0.0}
        wanted = [a - b for a, b in zip(values["trial-3"], values["trial-0"], strict=True)]
        assert drawn["trial-3"] == pytest.approx(wanted)
        assert note(place) == "minus trial-0"
        assert "differences to trial-0" in place.status
        spec = place.screen.sources.source("loss").spec(
            60, place.screen.metrics.view(place.screen.sources.source("loss"))
        )
        assert {trace.label for trace in spec.traces} == set(values)
        await place.press("space")
        await place.settled()
        assert set(curves(place)) == set(values) - {"trial-0"}
        assert curves(place)["trial-3"] == values["trial-3"]
        await place.press("space")
        await place.settled()
        await place.press("B")
        await place.settled()
        assert curves(place) == values


async def test_the_pinned_run_is_the_baseline_where_none_was_chosen(root: Path) -> None:
    async with at(root) as place:
        await place.press("down", "space")
        await place.settled()
        await place.press("B")
        await place.settled()
        assert note(place) == "minus trial-5"
        await place.press("B", "home", "p", "B")
        await place.settled()
        await place.press("P")
        assert "not the baseline any more" in place.status
        assert note(place) == ""
        await place.press("B")
        assert "which run to compare with?" in place.status


async def test_a_chart_that_the_baseline_has_not_draws_values_and_says_so(tmp_path: Path) -> None:
    from sweep import run_in

    sweep(tmp_path, 2)
    run_in(tmp_path, 7, metrics={"extra": 1.0})
    async with at(tmp_path / "wandb") as place:
        await place.press("ctrl+a", "y")
        await place.settled()
        await place.press("end", "P", "B")
        await place.settled()
        assert note(place, "extra") == "the baseline has none"
        assert curves(place, "extra") == {"trial-7": [1.0] * 20}


async def test_groups_of_differences_are_means_of_them(root: Path) -> None:
    async with at(root) as place:
        await place.press("ctrl+a", "y")
        await place.settled()
        values = curves(place)
        await place.press("end", "P", "B", "G")
        await place.type("layers")
        await place.press("enter")
        await place.settled()
        drawn = curves(place)["3 (2)"]
        wanted = [
            (a + b) / 2 - c for a, b, c in zip(values["trial-1"], values["trial-4"], values["trial-0"], strict=True)
        ]
        assert drawn == pytest.approx(wanted)
        assert note(place) == "mean, min–max, minus trial-0"


async def test_it_is_there_the_next_time(root: Path) -> None:
    async with at(root, live=True) as place:
        await place.press("end", "P", "B")
        await place.settled()
    async with at(root, live=True) as place:
        assert place.screen.baseline.endswith("run0000")
        assert note(place) == "minus trial-0"
        await place.press("C")
        await place.pilot.pause()
        assert "= trial-0" in place.lines()[0]


@pytest.mark.parametrize("size", [(80, 24), (40, 10), (200, 50)])
async def test_the_comparison_fits_every_size(root: Path, size: tuple[int, int]) -> None:
    async with at(root, size) as place:
        await place.press("ctrl+a", "y", "C")
        await place.pilot.pause()
        await place.press(*["right"] * 5, "b")
        assert "= trial-4" in place.lines()[0]
        await place.press(*["left"] * 5)
        assert "trial-5" in place.lines()[0]
