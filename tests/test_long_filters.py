"""Filters of so many names that what passes is found between keys."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_run import ExampleRun, trained
from textual.widgets import Input
from viewer import viewing

from leet.model import name_search
from leet.model.filter import TOO_LONG, TextFilter
from leet.tui.screens import run_painting
from leet.tui.widgets import overview, overview_sections

ENDLESS = r"(\w|\d\d)+:$"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return trained(tmp_path, rows=5, metrics=300)


@pytest.fixture
def slowly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names are looked at one by one, and but a few before anything else has its turn."""
    monkeypatch.setattr(name_search, "_MOST", 1)
    monkeypatch.setattr(run_painting, "FIND_AT_ONCE_SECONDS", 0.0001)
    monkeypatch.setattr(run_painting, "FIND_SECONDS", 0.0001)
    monkeypatch.setattr(run_painting, "FIND_PAUSE_SECONDS", 0.001)


async def test_what_is_found_between_keys_is_what_is_found_at_once(log: Path, slowly: None) -> None:
    async with viewing(log) as viewer:
        run = viewer.run
        run.action_clear_filter("metrics")
        await viewer.press("slash", *"s/[12].*grad")
        await viewer.until("216/300")
        names = [source.key for source in run.metrics.sources]
        assert names == [name for name in run.metric_sources.names if name.startswith(("layers/1", "layers/2"))]
        assert "+/300" not in viewer.text()
        await viewer.press("escape")
        await viewer.until("of 300")
        assert len(run.metrics.sources) == 300


async def test_what_is_known_so_far_is_shown_and_the_next_key_begins_anew(log: Path, slowly: None) -> None:
    async with viewing(log) as viewer:
        run = viewer.run
        await viewer.press("slash")
        run.apply_filter("metrics", TextFilter("g"))
        assert run._finding is not None
        assert 0 < len(run.metrics.sources) < 295
        assert run.filter_count("metrics")[0] == len(run._finding.found)
        await viewer.press("g", "x")
        await viewer.until("0/300")
        assert run.empty_note("metrics").startswith("No metric matches 'gx'")


async def test_page_and_focus_wait_for_the_whole(log: Path, slowly: None) -> None:
    async with viewing(log) as viewer:
        run = viewer.run
        await viewer.press("n", "n", "right", "slash", "g")
        place, key = run.metrics.page, run.metrics.focused_source.key
        await viewer.until("295/300")
        assert run.metrics.page[0] == place[0]
        assert run.metrics.focused_source.key == key


@pytest.mark.parametrize("closed", [False, True])
async def test_a_filter_that_takes_for_ever_gives_way_to_the_one_before(
    tmp_path: Path, slowly: None, closed: bool
) -> None:
    log = ExampleRun(tmp_path)
    slow = {f"z:{i}/{'0123456789' * 5}": 1.0 for i in range(3)}
    log.row({f"a{i}": 1.0 for i in range(60)} | slow)
    async with viewing(log.finish()) as viewer:
        run = viewer.run
        await viewer.press("slash", "a")
        await viewer.until("60/63")
        line = run.filter_line
        assert line is not None
        with line.input.prevent(Input.Changed):
            line.input.value = ENDLESS
        line._changed()
        if closed:
            line.submit()
        await viewer.until(f"the filter /{ENDLESS}/ is given up: {TOO_LONG}" if closed else TOO_LONG)
        assert run.filters["metrics"].text == "a"
        await viewer.until("/a/ 60/63" if closed else TOO_LONG)
        await viewer.until("8 of 60")
        assert closed or TOO_LONG in viewer.text()


async def test_rows_of_the_overview_are_found_between_keys(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overview_sections, "FEW", 10)
    monkeypatch.setattr(overview_sections, "SOME", 1)
    monkeypatch.setattr(overview_sections, "AT_ONCE_SECONDS", 0.0)
    monkeypatch.setattr(overview, "SIFT_SECONDS", 0.0)
    monkeypatch.setattr(overview, "PAUSE_SECONDS", 0.001)
    monkeypatch.setattr(overview_sections, "AGAIN_AFTER", 0.1)
    async with viewing(log) as viewer:
        shown = viewer.run.overview
        wanted = TextFilter("rs/1")
        viewer.run.apply_filter("overview", wanted)
        assert shown.count[0] < 111
        await viewer.until(f"111/{shown.count[1]}")
        sections = viewer.run.only.sections.now(viewer.run.only.state)
        keys = [row.key for row in sections[-1].rows if wanted.matches(row.key)]
        assert [row.key for row in shown._sections[-1].rows] == keys
        assert shown.row is not None
        assert shown.row.key == keys[0]
        # Values that change are looked through again, and what passed before stays meanwhile.
        total = shown.count[1]
        viewer.run.model.summary.assign(("layers/1x",), 1)
        viewer.run.show_overview()
        assert shown.count[0] == 111
        await viewer.until(f"112/{total + 1}")
        viewer.run.action_clear_filter("overview")
        assert shown.count[0] == shown.count[1]


@pytest.mark.parametrize("grid", ["metrics", "system"])
async def test_a_filter_begins_with_its_first_page_and_gives_back_the_one_before(tmp_path: Path, grid: str) -> None:
    log = trained(tmp_path, rows=5, metrics=300)
    async with viewing(log) as viewer:
        run, wall = viewer.run, getattr(viewer.run, grid)
        key, text = ("slash", "s/[12].*grad") if grid == "metrics" else ("backslash", "gpu|cpu|mem|net")
        await viewer.press("n", "n") if grid == "metrics" else run.system.action_next_page()
        await viewer.pilot.pause()
        place = wall.page
        assert place[0] > 1
        await viewer.press(key, *text)
        assert wall.page[0] == 1
        await viewer.press("escape")
        assert wall.page == place
        await viewer.press(key, *text, "enter")
        assert wall.page[0] == 1
        run.action_clear_filter(grid)
        await viewer.pilot.pause()
        assert wall.page == place
