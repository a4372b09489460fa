"""The runs of a directory on one screen: every key and act of the mouse, what is drawn, and what is remembered."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from example_run import ExampleRun
from sweep import START, run_in, sweep
from textual.pilot import Pilot
from viewer import Viewer, happened

from leet.model.run_query import RunQuery
from leet.settings.store import reload
from leet.tui.app import LeetApp
from leet.tui.commands import COMMANDS
from leet.tui.screens.chart_screen import ChartScreen
from leet.tui.screens.run_screen import RunScreen
from leet.tui.screens.workspace_screen import WorkspaceScreen
from leet.tui.terminal import Terminal
from leet.tui.widgets.pane import Pane

NOW = START + 3600.0


class Workplace(Viewer):
    """A viewer of many runs."""

    def __init__(self, app: LeetApp, pilot: Pilot[object]) -> None:
        super().__init__(app, pilot)

    @property
    def screen(self) -> WorkspaceScreen:
        return next(screen for screen in self.app.screen_stack if isinstance(screen, WorkspaceScreen))

    @property
    def names(self) -> list[str]:
        """Names of the runs that are listed."""
        return [entry.name for entry in self.screen.runs.entries]

    @property
    def selected(self) -> list[str]:
        return [self.screen.workspace.entries[key].name for key in self.screen.selection.keys]

    @property
    def pinned(self) -> str:
        entry = self.screen.workspace.entries.get(self.screen.selection.pinned)
        return entry.name if entry is not None else ""

    @property
    def drawn(self) -> list[str]:
        """Labels of the curves, the topmost last."""
        return [run.label for run in self.screen.sources.runs]

    @property
    def titles(self) -> list[str]:
        return [source.title for source in self.screen.metrics.sources]

    async def settled(self) -> None:
        """Wait until all that is selected has been read, and paint it."""
        await happened(self.screen.loaded)
        await self.pilot.pause()
        if self.app.screen is self.screen:
            self.screen.paint_now()
        await self.pilot.pause()

    def panes(self) -> set[str]:
        return {(pane.id or "").removesuffix("-pane") for pane in self.screen.query(Pane) if pane.display}


@asynccontextmanager
async def at(
    root: Path, size: tuple[int, int] = (140, 40), *, live: bool = False, terminal: Terminal | None = None
) -> AsyncIterator[Workplace]:
    app = LeetApp(None, workspace=root, terminal=terminal or Terminal(now=NOW), live=live)
    async with app.run_test(size=size) as pilot:
        place = Workplace(app, pilot)
        await place.settled()
        yield place


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return sweep(tmp_path, 6)


async def test_the_latest_run_is_selected_and_pinned_at_first(root: Path) -> None:
    async with at(root) as place:
        assert place.names == [f"trial-{n}" for n in (5, 4, 3, 2, 1, 0)]
        assert place.selected == ["trial-5"]
        assert place.pinned == "trial-5"
        assert place.drawn == ["trial-5"]
        assert place.panes() == {"runs", "metrics", "overview"}
        assert "6 runs" in place.lines()[0]
        assert "✓ finished · trial-5 · step 19" in place.status
        assert "1 selected" in place.status
        assert place.app.focused is place.screen.runs


async def test_a_recording_of_the_machine_is_listed_but_not_chosen(root: Path) -> None:
    run_in(root.parent, 7, run_id="monitor-a1b2c3d4", name="top on node-3", rows=0, samples=3).writer.close()
    async with at(root) as place:
        assert place.names[:2] == ["top on node-3", "trial-5"]
        assert place.selected == ["trial-5"]
        assert place.screen.highlighted is not None
        assert place.screen.highlighted.name == "trial-5"


async def test_long_names_are_told_apart_wherever_they_stand(tmp_path: Path) -> None:
    rates = ("0.1", "0.03", "0.01", "0.003", "0.001")
    for number, rate in enumerate(rates):
        run_in(tmp_path, number, name=f"lr-{rate}-a-rather-long-name").writer.close()
    async with at(tmp_path / "wandb", (200, 50)) as place:
        await place.press("ctrl+a", "y")
        await place.settled()
        text = place.text()
        for rate in rates:
            assert f"lr-{rate}-a" in text
        assert text.count("lr-0.001-a") >= 3, "in the list and in the legends of two charts"
        await place.press("1", "1", "tab", "enter")
        await place.pilot.pause(0.2)
        rows = [line for line in place.lines() if " min " in line and " mean " in line]
        assert {row.split("-a")[0].strip() for row in rows} == {f"lr-{rate}" for rate in rates}
        for title in (" min ", " max ", " last ", " mean ", " points "):
            assert len({row.index(title) for row in rows}) == 1


async def test_space_draws_a_run_and_takes_it_away(root: Path) -> None:
    async with at(root) as place:
        await place.press("down", "space")
        await place.settled()
        assert place.selected == ["trial-5", "trial-4"]
        assert place.drawn == ["trial-4", "trial-5"]
        text = place.text()
        assert "● trial-5" in text
        assert "● trial-4" in text
        await place.press("space")
        await place.settled()
        assert place.drawn == ["trial-5"]


async def test_p_pins_selecting_where_needed_and_unpins(root: Path) -> None:
    async with at(root) as place:
        await place.press("down", "down", "p")
        await place.settled()
        assert place.selected == ["trial-5", "trial-3"]
        assert place.pinned == "trial-3"
        assert place.drawn == ["trial-5", "trial-3"]
        spec = place.screen.metrics.sources[0].spec(40, place.screen.metrics.view(place.screen.metrics.sources[0]))
        assert [trace.heavy for trace in spec.traces] == [False, True]
        await place.press("p")
        await place.settled()
        assert place.pinned == ""
        assert place.selected == ["trial-5", "trial-3"]


async def test_ctrl_a_asks_and_y_selects_all_that_are_listed(root: Path) -> None:
    async with at(root) as place:
        await place.press("ctrl+a")
        assert "select 5 more runs? y selects" in place.status
        await place.press("escape")
        assert len(place.selected) == 1
        await place.press("f")
        await place.type("trial-[0-2]")
        await place.press("enter", "ctrl+a", "y")
        await place.settled()
        assert sorted(place.selected) == ["trial-0", "trial-1", "trial-2", "trial-5"]
        assert not place.screen.metrics.view(place.screen.metrics.sources[0]).log_y
        await place.press("ctrl+a")
        assert "all runs that are listed are selected" in place.status


async def test_x_deselects_all_but_the_pinned_run(root: Path) -> None:
    async with at(root) as place:
        await place.press("down", "space", "down", "space")
        assert len(place.selected) == 3
        await place.press("x")
        await place.settled()
        assert place.selected == ["trial-5"]
        assert place.drawn == ["trial-5"]
        await place.press("home", "p", "x")
        await place.settled()
        assert place.selected == []
        assert "No run is selected" in place.text()
        assert "Space selects the highlighted one" in place.text()


async def test_enter_opens_a_run_and_escape_comes_back_to_all_as_it_was(root: Path) -> None:
    async with at(root) as place:
        await place.press("down", "space", "down", "down")
        await place.settled()
        reading = place.screen.feeds.get(place.screen.selection.keys[0])
        await place.press("up", "up", "enter")
        await place.pilot.pause()
        run = place.app.screen
        assert isinstance(run, RunScreen)
        await happened(run.loaded)
        assert run.model.identity.name == "trial-4"
        await place.press("x", "escape")
        await place.settled()
        assert place.app.screen is place.screen
        assert place.selected == ["trial-5", "trial-4"]
        assert place.drawn == ["trial-4", "trial-5"]
        assert place.screen.runs.entry is not None
        assert place.screen.runs.entry.name == "trial-4"
        assert place.screen.feeds.get(place.screen.selection.keys[0]) is reading
        assert {run.store.axis for run in place.screen.sources.runs} == {"auto"}
        # A run that was not selected is read for its own screen, and not drawn after.
        await place.press("end", "enter")
        await place.pilot.pause()
        assert isinstance(place.app.screen, RunScreen)
        await happened(place.app.screen.loaded)
        assert place.app.screen.model.rows == 20
        await place.press("escape")
        await place.settled()
        assert place.drawn == ["trial-4", "trial-5"]


async def test_escape_leads_from_a_lone_run_to_the_runs_beside_it(root: Path) -> None:
    [log] = root.glob("*run0002/*.wandb")
    from leet.discovery import Found

    app = LeetApp(Found(log), terminal=Terminal(now=NOW), live=False)
    async with app.run_test(size=(140, 40)) as pilot:
        await happened(app.run_screen.loaded)
        model = app.run_screen.model
        await pilot.press("escape")
        await pilot.pause()
        place = Workplace(app, pilot)
        await place.settled()
        assert place.selected == ["trial-2"]
        assert place.screen.runs.entry is not None
        assert place.screen.runs.entry.name == "trial-2"
        shown = place.screen.feeds.get(place.screen.selection.keys[0])
        assert shown is not None
        assert shown.model is model
        await place.press("enter", "escape")
        await place.settled()
        assert app.screen is place.screen


async def test_escape_focuses_the_list_and_leaves_a_chart(root: Path) -> None:
    async with at(root) as place:
        await place.press("tab", "right")
        assert place.screen.metrics.focus_index == 0
        await place.press("escape")
        assert place.screen.metrics.focus_index is None
        await place.press("escape")
        assert place.app.focused is place.screen.runs


async def test_tab_goes_through_runs_metrics_and_overview(root: Path) -> None:
    async with at(root) as place:
        seen = []
        for _ in range(6):
            await place.press("tab")
            seen.append((place.screen.focused_name, place.screen.overview.section))
        assert [name for name, _ in seen] == ["metrics", *["overview"] * 4, "runs"]
        assert [section for _, section in seen[1:5]] == ["", "Environment", "Config", "Summary"]
        await place.press("shift+tab")
        assert place.screen.focused_name == "overview"


async def test_panes_come_and_go_by_their_keys(root: Path) -> None:
    async with at(root) as place:
        await place.press("2")
        assert place.panes() == {"runs", "metrics", "overview", "system"}
        assert "No system metrics in this run" in place.text()
        await place.press("2", "left_square_bracket")
        assert place.panes() == {"metrics", "overview"}
        await place.press("right_square_bracket", "1")
        assert "metrics" not in place.panes()
        await place.press("1", "left_square_bracket", "right_square_bracket", "0")
        assert place.panes() == {"runs", "metrics", "overview"}


async def test_lower_panes_of_a_run_that_is_not_selected_say_how_to_load_it(root: Path) -> None:
    run_in(root.parent, 9, samples=30)
    async with at(root) as place:
        await place.press("2")
        assert "CPU" in place.text()
        await place.press("escape", "down")
        await place.until("trial-5 is not selected")
        assert "Space loads this run" in place.text()
        assert "lr             0.0166667" in place.text()
        await place.press("space")
        await place.settled()
        assert "No system metrics in this run" in place.text()


async def test_the_overview_tells_of_the_highlighted_run_at_once(root: Path) -> None:
    async with at(root, (160, 40)) as place:
        await place.press("end")
        await place.until("name     trial-0")
        text = place.text()
        assert "lr             0.1" in text
        assert "tags     baseline" in text
        assert "✓ finished" in text


async def test_f_filters_the_runs_while_one_types(root: Path) -> None:
    async with at(root) as place:
        await place.press("f")
        await place.type("trial-[01]")
        assert place.names == ["trial-1", "trial-0"]
        assert "2/6" in place.text()
        await place.press("escape")
        assert len(place.names) == 6
        await place.press("f")
        await place.type("baseline")
        await place.press("enter")
        assert place.names == ["trial-0"]
        assert "1 of 6 runs" in place.lines()[0]
        assert "baseline" in place.lines()[0]
        assert place.app.focused is place.screen.runs
        # What is selected is drawn whether it is listed or not.
        assert place.drawn == ["trial-5"]
        await place.press("ctrl+f")
        assert len(place.names) == 6


async def test_the_prompt_of_the_query_tells_what_can_be_asked_and_completes_it(root: Path) -> None:
    async with at(root) as place:
        await place.press("f")
        assert "state:running, config.lr>0.01, sort:-summary.loss" in place.text()
        await place.type("config.lay")
        await place.until("config.layers")
        await place.press("right")
        await place.type("=2")
        await place.press("enter")
        assert place.screen.query_now.text == "config.layers=2"
        assert place.names == ["trial-3", "trial-0"]


async def test_a_query_that_is_wrong_says_where(root: Path) -> None:
    async with at(root) as place:
        await place.press("f")
        await place.type("trial (lr")
        line = place.screen.query_line
        assert line is not None
        error = RunQuery.parse("trial (lr").error
        assert error is not None
        assert f"at {error.start + 1}: {error.message}" in place.text()
        # The list is that of the last query that could be understood.
        assert len(place.names) > 0
        await place.press("enter")
        assert line.display
        assert line.input.cursor_position == error.start
        marked = [s for s in line.input.render_line(0) if s.style and s.style.reverse and s.text.strip()]
        assert marked
        await place.press("escape")
        assert not line.display


async def test_queries_go_beyond_names(root: Path) -> None:
    run_in(root.parent, 9, code=3)
    async with at(root) as place:
        await place.press("f")
        await place.type("state:failed or (config.lr>0.04 sort:name)")
        await place.press("escape", "f")
        await place.type("state:failed or config.lr>=0.05 sort:-name")
        await place.press("enter")
        assert place.names == ["trial-9", "trial-1", "trial-0"]
        await place.press("S")
        assert "sort:-name 3/7 · ctrl+f lifts its sorting " in place.status  # whole, where the query takes the room


async def test_a_filter_that_hides_all_says_how_to_lift_it(root: Path) -> None:
    async with at(root) as place:
        await place.press("f")
        await place.type("nothing-like-it")
        await place.press("enter")
        assert place.text().count("No run matches") == 1
        assert "ctrl+f shows all again" in place.text()
        # What is selected is drawn all the same.
        assert "╭ acc" in place.text()
        assert "1 selected run is not listed" in place.lines()[0]
        await place.press("down", "enter", "space", "p", "pagedown")
        await place.press("ctrl+f")
        assert len(place.names) == 6


async def test_a_query_without_a_match_does_not_greet_one_next_time(root: Path) -> None:
    async with at(root, live=True) as place:
        await place.press("f")
        await place.type("nothing-like-it")
        await place.press("enter")
    async with at(root, live=True) as place:
        assert len(place.names) == 6
        await place.press("f")
        await place.type("trial-5")
        await place.press("enter")
        assert place.names == ["trial-5"]
    shutil.rmtree(next(root.glob("*-run0005")))
    async with at(root, live=True) as place:
        assert len(place.names) == 5
        assert place.pinned == "trial-4"
        assert "all runs are listed: none matches trial-5 any more" in place.status


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (160, 45), (200, 50)])
async def test_the_columns_of_the_list_have_titles(root: Path, size: tuple[int, int]) -> None:
    async with at(root, size) as place:
        head = place.lines()[1]
        assert head.index("name") == place.lines()[2].index("trial-5")
        assert "age↓" in head


async def test_the_heading_says_how_the_list_is_sorted(root: Path) -> None:
    async with at(root) as place:
        assert " by " not in place.lines()[0]
        await place.press("S", "S")
        assert " by state " in place.lines()[0]
        await place.press("f")
        await place.type("sort:-name")
        await place.press("enter")
        assert "by state" not in place.lines()[0]
        assert "sort:-name" in place.lines()[0]


async def test_the_metrics_filter_works_on_the_names_of_all_runs(root: Path) -> None:
    run_in(root.parent, 8, metrics={"only_here": 1.0})
    async with at(root) as place:
        assert place.titles == ["acc", "loss", "only_here"]
        await place.press("slash")
        await place.type("only")
        await place.press("enter")
        assert place.titles == ["only_here"]
        await place.press("ctrl+l")
        assert len(place.titles) == 3
        await place.press("slash")
        await place.type("xyz")
        await place.press("enter")
        assert "No metric matches" in place.text()


async def test_runs_are_sorted_by_what_one_likes(root: Path) -> None:
    run_in(root.parent, 9, name="Aardvark", rows=3)
    async with at(root) as place:
        await place.press("S")
        assert place.names[0] == "Aardvark"
        assert "runs sorted by name" in place.status
        await place.press("S", "S")
        assert place.names[-1] == "Aardvark"
        await place.press("S", "S")
        assert place.names == ["Aardvark", *(f"trial-{n}" for n in (5, 4, 3, 2, 1, 0))]
        await place.pilot.click(place.screen.runs, offset=(6, 0))
        assert "runs sorted by name" in place.status


async def test_the_mouse_highlights_selects_and_opens(root: Path) -> None:
    async with at(root) as place:
        await place.pilot.click(place.screen.runs, offset=(8, 3))
        await place.pilot.pause()
        assert place.screen.runs.entry is not None
        assert place.screen.runs.entry.name == "trial-3"
        assert place.selected == ["trial-5"]
        await place.pilot.click(place.screen.runs, offset=(1, 2))
        await place.settled()
        assert place.selected == ["trial-5", "trial-4"]
        await place.pilot.click(place.screen.runs, offset=(8, 4), times=2)
        await place.pilot.pause()
        assert isinstance(place.app.screen, RunScreen)


async def test_charts_zoom_scale_turn_and_fill_the_screen(root: Path) -> None:
    async with at(root) as place:
        await place.press("down", "space", "tab", "right", "y")
        await place.settled()
        grid = place.screen.metrics
        assert grid.view(grid.sources[0]).log_y
        await place.press("plus")
        assert grid.view(grid.sources[0]).x_range is not None
        await place.press("X")
        assert place.screen.sources.axis == "runtime"
        assert "x axis: time since start" in place.status
        await place.press("c", "1")
        assert grid.columns == 1
        await place.press("r", "1", "n")
        assert grid.page[0] == 2
        await place.press("enter")
        await place.pilot.pause()
        assert isinstance(place.app.screen, ChartScreen)
        text = place.text()
        assert "trial-4" in text
        assert "trial-5" in text
        colors = place.app.screen.grid.series_colors
        assert len(colors) == 2
        await place.press("escape")
        assert place.app.screen is place.screen


async def test_the_crosshair_names_the_runs(root: Path) -> None:
    async with at(root, (160, 40)) as place:
        await place.press("down", "space", "tab", "right", "v")
        await place.settled()
        spec = place.screen.metrics.active_chart.spec  # type: ignore[union-attr]
        assert spec is not None
        assert {trace.label for trace in spec.traces} == {"trial-4", "trial-5"}
        assert place.text().count("● trial-4 0.") >= 2


async def test_colours_are_those_of_the_marks_and_no_two_alike(root: Path) -> None:
    async with at(root) as place:
        await place.press("ctrl+a", "y")
        await place.settled()
        screen = place.screen
        marks = {key: screen.run_marks.of(key).color for key in screen.selection.keys}
        assert len(set(marks.values())) == 6
        assert set(screen.metrics.series_colors.values()) == set(marks.values())
        for run in screen.sources.runs:
            assert screen.metrics.series_colors[run.color] == marks[run.key]
        before = dict(marks)
        await place.press("x")
        assert screen.run_marks.of(screen.selection.pinned).color == before[screen.selection.pinned]


async def test_sixteen_colours_and_none(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with at(root, terminal=Terminal(depth="16", now=NOW)) as place:
        await place.press("down", "space")
        await place.settled()
        styles = {s.style for line in place.app.screen._compositor.render_strips() for s in line if s.style}
        used = {color.name for style in styles for color in (style.color, style.bgcolor) if color is not None}
        assert not {name for name in used if name.startswith("#")}, used
        assert place.screen.run_marks.of(place.screen.selection.keys[0]).color != ""
    monkeypatch.setenv("NO_COLOR", "1")
    async with at(root) as place:
        await place.press("down", "space")
        await place.settled()
        styles = {s.style for line in place.app.screen._compositor.render_strips() for s in line if s.style}
        used = {color.name for style in styles for color in (style.color, style.bgcolor) if color is not None}
        assert used <= {"default"}
        assert "a trial-5" in place.text() or "b trial-5" in place.text()


async def test_seven_bits_are_enough(root: Path) -> None:
    async with at(root, terminal=Terminal(ascii=True, now=NOW)) as place:
        await place.press("down", "space", "2", "f", "a")
        assert place.text().isascii()


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50), (60, 15), (30, 10), (20, 6)])
async def test_every_size_shows_the_list(root: Path, size: tuple[int, int]) -> None:
    async with at(root, size) as place:
        assert len(place.lines()) == size[1]
        assert "runs" in place.panes()
        assert ("metrics" in place.panes()) is (size[0] >= 80)
        assert ("overview" in place.panes()) is (size[0] >= 120)
        assert "trial-5" in place.text()
        await place.press("2", "left_square_bracket", "right_square_bracket", "1", "f", "a", "escape", "h", "escape")
        assert place.app.is_running


async def test_what_was_chosen_is_remembered_and_never_in_the_directory(root: Path) -> None:
    before = sorted(root.rglob("*"))
    async with at(root, live=True) as place:
        await place.press("S", "down", "space", "down", "p", "f")
        await place.type("trial")
        await place.press("enter")
        await place.settled()
        chosen = set(place.selected), place.pinned, place.names
        key = place.screen.runs.entry
    async with at(root, live=True) as place:
        assert (set(place.selected), place.pinned, place.names) == chosen
        assert place.screen.query_now.text == "trial"
        assert place.screen.sort == "name"
        assert place.screen.runs.entry == key
    assert sorted(root.rglob("*")) == before


async def test_runs_that_come_grow_and_go_show_by_themselves(root: Path) -> None:
    async with at(root, live=True, terminal=Terminal()) as place:
        run = run_in(root.parent, 20, code=None, rows=3)
        await place.until("trial-20")
        await place.press("home", "space")
        await place.settled()
        run.row({"loss": 1.0, "fresh": 2.0})
        run.flush()
        await place.until("fresh")
        run.finish()
        for _ in range(200):
            if place.screen.runs.entries[0].state(START).name == "finished":
                break
            await place.pilot.pause(0.05)
        assert place.screen.runs.entries[0].state(START).name == "finished"
        shutil.rmtree(run.directory)
        await place.until("trial-20", gone=True)
        assert "trial-20" not in place.drawn
        run.writer.close()


async def test_a_run_that_was_resumed_is_one_with_all_its_rows(root: Path) -> None:
    run_in(root.parent, 30, run_id="again", rows=5, code=1)
    async with at(root, live=True, terminal=Terminal()) as place:
        assert place.names[0] == "trial-30"
        second = run_in(root.parent, 31, run_id="again", name="trial-30", rows=0, code=None)
        second.step = 5
        second.row({"loss": 0.5})
        second.flush()
        for _ in range(300):
            run = place.screen.feeds.get(place.screen.selection.keys[0])
            if run is not None and run.model.rows == 6:
                break
            await place.pilot.pause(0.05)
        assert run is not None
        assert run.model.metrics.steps.view.tolist() == [0, 1, 2, 3, 4, 5]
        assert run.state.name == "running"
        assert place.names.count("trial-30") == 1
        assert place.pinned == "trial-30"
        second.writer.close()
    async with at(root) as place:
        assert "parts    2 logs (resumed)" in place.text()
        run = place.screen.feeds.get(place.screen.selection.keys[0])
        assert run is not None
        assert run.model.rows == 6


async def test_an_empty_directory_waits_for_its_first_run(tmp_path: Path) -> None:
    empty = tmp_path / "wandb"
    empty.mkdir()
    async with at(empty, live=True, terminal=Terminal()) as place:
        assert place.text().count("No runs found in") == 1
        await place.press("1")
        assert place.text().count("No runs found in") == 1
        await place.press("1")
        await place.press("space", "p", "x", "ctrl+a", "enter", "down", "f", "escape", "2", "S", "ctrl+f")
        run_in(tmp_path, 1)
        await place.until("trial-1")
        await place.settled()
        assert place.pinned == "trial-1"


async def test_runs_of_one_name_are_told_apart_by_their_ids(tmp_path: Path) -> None:
    run_in(tmp_path, 1, name="same")
    run_in(tmp_path, 2, name="same")
    async with at(tmp_path / "wandb") as place:
        await place.press("ctrl+a", "y")
        await place.settled()
        assert place.drawn == ["same (run0001)", "same (run0002)"]
        assert "▶ same (run0002)" in place.text()


async def test_an_unreadable_log_is_one_row_and_no_harm(root: Path) -> None:
    broken = root / "offline-run-20251201_000000-broken"
    broken.mkdir()
    (broken / "run-broken.wandb").write_bytes(b"no log at all, but long enough to be looked at")
    async with at(root) as place:
        await place.press("ctrl+a", "y")
        await place.settled()
        assert "broken" in place.names
        assert "✗" in place.text()
        assert "acc" in place.text()


async def test_texts_of_logs_cannot_act_on_the_terminal(tmp_path: Path) -> None:
    evil = "\x1b]0;owned\x07[bold red]x[/]\u202e\x1b[2J"
    run_in(tmp_path, 1, name=evil, tags=(evil,))
    run_in(tmp_path, 2, name=evil + "2", tags=(evil,))
    async with at(tmp_path / "wandb", (200, 50)) as place:
        await place.press("ctrl+a", "y", "2", "up", "p", "space")
        await place.settled()
        for line in place.lines():
            assert not any(ord(char) < 32 or char == "\u202e" for char in line), repr(line)


async def test_fifty_runs_can_be_compared(tmp_path: Path) -> None:
    for number in range(50):
        run = ExampleRun(tmp_path, run_id=f"r{number:02}", name=f"trial-{number}")
        for step in range(8):
            run.row({"loss": number + step * 1.0})
        run.finish()
    async with at(tmp_path / "wandb") as place:
        await place.press("ctrl+a", "y")
        await place.settled()
        assert len(place.drawn) == 50
        assert len(set(place.screen.metrics.series_colors.values())) == 50
        spec = place.screen.metrics._page[0].spec
        assert spec is not None
        assert len(spec.traces) == 50


async def test_the_palette_goes_to_a_run_and_lifts_the_query_that_hides_it(root: Path) -> None:
    async with at(root) as place:
        await place.press("f")
        await place.type("trial-4")
        await place.press("enter", "ctrl+p")
        await place.type("trial-2")
        await place.until("Go to this run")
        await place.press("down", "enter")
        await place.pilot.pause()
        assert place.screen.runs.entry is not None
        assert place.screen.runs.entry.name == "trial-2"
        assert len(place.names) == 6


async def test_the_palette_leads_from_a_run_to_another(root: Path) -> None:
    async with at(root) as place:
        await place.press("enter")
        await place.pilot.pause()
        assert isinstance(place.app.screen, RunScreen)
        await place.press("ctrl+p")
        await place.type("trial-1")
        await place.until("Go to this run")
        await place.press("down", "enter")
        await place.settled()
        assert place.app.screen is place.screen
        assert place.screen.runs.entry is not None
        assert place.screen.runs.entry.name == "trial-1"
        assert not place.screen.feeds.lent


async def test_what_differs_between_runs_stands_side_by_side(root: Path) -> None:
    async with at(root, (100, 24)) as place:
        await place.press("C")
        assert "select two runs or more" in place.status
        await place.press("end", "space", "C")
        await place.pilot.pause()
        lines = [line.split() for line in place.lines()]
        assert lines[0] == ["●", "trial-5", "●", "trial-0"]
        assert ["Config"] in lines
        assert ["lr", "0.0166667", "0.1"] in lines
        assert ["layers", "4", "2"] in lines
        assert not any(line[:1] == ["seed"] for line in lines)
        assert ["Results"] in lines
        assert "what differs between 2 runs" in place.status
        await place.press("down", "right", "n", "end", "home", "left", "question_mark", "escape")
        assert ["lr", "0.0166667", "0.1"] in [line.split() for line in place.lines()]
        await place.press("escape")
        assert place.app.screen is place.screen


async def test_many_runs_are_compared_a_part_at_a_time(root: Path) -> None:
    for number in range(6, 30):
        run_in(root.parent, number, rows=2)
    async with at(root, (80, 10)) as place:
        await place.press("ctrl+a", "y")
        await place.settled()
        await place.press("C")
        await place.pilot.pause()
        assert "runs 1–" in place.status
        assert "of 30" in place.status
        first = place.lines()[0]
        await place.press(*["right"] * 40)
        assert place.lines()[0] != first
        assert "–30 of 30" in place.status
        await place.press("home")
        assert place.lines()[0] == first


async def test_two_logs_are_read_at_a_time_the_latest_choice_first(root: Path) -> None:
    from leet.model.workspace import Workspace
    from leet.tui import workspace_feeds
    from leet.tui.workspace_feeds import RunFeeds

    workspace = Workspace(root)
    workspace.start()
    async with asyncio.timeout(60):
        while workspace.progress != (6, 6):
            await asyncio.sleep(0.02)
            workspace.drain()
    workspace.stop()
    entries = sorted(workspace.entries.values(), key=lambda entry: entry.key)
    feeds = RunFeeds(lambda: None, lambda: NOW)
    feeds.want(entries)
    assert [feeds.get(entry.key) is not None for entry in entries] == [True, True, *[False] * 4]
    assert feeds.left == 6
    async with asyncio.timeout(60):
        while feeds.left:
            await asyncio.sleep(0.01)
            feeds.drain()
    kept = feeds.get(entries[0].key)
    assert kept is not None
    assert kept.model.rows == 20
    feeds.want(entries[1:])
    # One who changes their mind need not wait; after a while it goes.
    assert feeds.get(entries[0].key) is kept
    feeds.want(entries)
    assert feeds.left == 0
    feeds.want([])
    workspace_feeds.KEPT_SECONDS, before = -1.0, workspace_feeds.KEPT_SECONDS
    try:
        feeds.rest()
    finally:
        workspace_feeds.KEPT_SECONDS = before
    assert all(feeds.get(entry.key) is None for entry in entries)
    feeds.want(entries)
    feeds.want([])
    assert feeds.get(entries[0].key) is None
    assert feeds.left == 0
    feeds.stop()


async def test_a_log_that_grows_after_its_end_is_read_anew(root: Path) -> None:
    async with at(root, live=True) as place:
        key = place.screen.selection.pinned
        entry = place.screen.workspace.entries[key]
        other = run_in(root.parent / "elsewhere", 5, run_id="run0005", rows=45)
        entry.log.write_bytes(other.log.read_bytes())
        # The scan looks at logs that have ended hardly ever.
        place.screen.feeds.entry_changed(replace(entry, size=entry.log.stat().st_size))
        for _ in range(200):
            run = place.screen.feeds.get(key)
            if run is not None and run.model.rows == 45:
                break
            await place.pilot.pause(0.05)
        assert run is not None
        assert run.model.rows == 45
        await place.pilot.pause(0.3)
        assert place.screen.run is run


async def test_a_run_that_has_ended_is_no_longer_followed(root: Path) -> None:
    run = run_in(root.parent, 9, code=None)
    terminal = Terminal(now=run.log.stat().st_mtime + 1)
    async with at(root, live=True, terminal=terminal) as place:
        shown = place.screen.feeds.get(place.screen.selection.pinned)
        assert shown is not None
        assert shown.feed.live
        run.row({"loss": 0.5})
        run.finish()
        for _ in range(200):
            if shown.model.exit_code == 0:
                break
            await place.pilot.pause(0.05)
        place.screen.feeds.rest()
        assert shown.feed.live
        object.__setattr__(terminal, "now", run.log.stat().st_mtime + 40)
        place.screen.feeds.rest()
        assert not shown.feed.live
        assert shown.model.rows == 21
        await place.press("enter")
        await place.pilot.pause()
        assert isinstance(place.app.screen, RunScreen)
        assert place.app.screen.model.rows == 21
        await place.press("escape")


async def test_another_theme_is_only_other_colours(root: Path) -> None:
    async with at(root) as place:
        text = place.text()
        dark = place.screen.run_marks.of(place.screen.selection.pinned).color
        place.app.theme = "leet-light"
        await place.pilot.pause()
        await place.settled()
        assert place.text() == text
        assert place.screen.run_marks.of(place.screen.selection.pinned).color != dark


async def test_ages_states_and_the_status_follow_the_clock(root: Path) -> None:
    run = run_in(root.parent, 9, code=None)
    terminal = Terminal(now=run.log.stat().st_mtime + 5)
    async with at(root, (160, 40), terminal=terminal) as place:
        assert "● running" in place.status
        object.__setattr__(terminal, "now", run.log.stat().st_mtime + 700)
        place.screen._time_has_passed()
        place.screen.paint_now()
        await place.pilot.pause()
        assert "✗" in place.lines()[2]
        assert "crashed (silent for" in place.text()
    run.writer.close()


async def test_moves_in_the_list_by_every_key(root: Path) -> None:
    for number in range(6, 60):
        run_in(root.parent, number, rows=1)
    async with at(root, (140, 20)) as place:
        runs = place.screen.runs

        async def after(*keys: str) -> str:
            await place.press(*keys)
            assert runs.entry is not None
            return runs.entry.name.removeprefix("trial-")

        assert await after("s") == "58"
        assert await after("w", "w") == "0"
        assert await after("down") == "59"
        assert await after("n") == "42"
        assert await after("pagedown") == "25"
        assert await after("N") == "42"
        assert await after("pageup") == "59"
        assert await after("d") == "42"
        assert await after("a") == "59"
        assert await after("D") == "49"
        assert await after("end") == "0"
        assert await after("home") == "59"
        assert "1/60 runs" in place.lines()[0]


async def test_sentences_name_the_keys_that_were_chosen(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    file = tmp_path / "config" / "leet" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text('[keys]\nselect = "f6"\nselect_all = "f7"\nclear_runs = "f8"\nclear_metrics = "f9"\n')
    reload()
    async with at(root, (160, 50)) as place:
        await place.press("C")
        assert "f6 selects the highlighted one" in place.status
        await place.press("f6")
        assert "f6 selects the highlighted one, f7 all that are listed" in place.text()
        await place.press("f7", "y", "slash")
        await place.type("no such")
        await place.press("enter")
        assert "f9 shows all again" in place.text()
        await place.press("f")
        await place.type("sort:summary.loss")
        await place.press("enter", "S")
        assert "f8 lifts it" in place.status
        await place.press("f")
        await place.type(" nothing")
        await place.press("enter")
        assert "f8 shows all again" in place.text()


async def test_system_metrics_seen_on_one_screen_are_on_the_others_too(root: Path) -> None:
    run_in(root.parent, 9, samples=30)
    async with at(root, (160, 50)) as place:
        await place.settled()
        before = [source.title for source in place.screen.system.sources]
        assert len(before) > 3
        await place.press("enter")
        await place.pilot.pause()
        run = place.app.screen
        assert isinstance(run, RunScreen)
        await happened(run.loaded)
        assert [source.title for source in run.system.sources] == before
        assert "No system metrics" not in place.text()


async def test_filters_of_system_metrics_and_overview(root: Path) -> None:
    run_in(root.parent, 9, samples=30)
    async with at(root, (160, 50)) as place:
        await place.press("backslash")
        await place.type("gpu")
        await place.press("enter")
        assert "system" in place.panes()
        assert {source.title for source in place.screen.system.sources} >= {"GPU Temp"}
        assert all("GPU" in source.title for source in place.screen.system.sources)
        await place.press("ctrl+backslash")
        assert len(place.screen.system.sources) > 3
        await place.press("o")
        await place.type("dropout")
        await place.press("enter")
        assert place.screen.overview.count[0] == 1
        # It holds for the run that is highlighted next.
        await place.press("escape", "down")
        await place.until("trial-5")
        assert place.screen.overview.count[0] == 1
        await place.press("ctrl+o")
        assert place.screen.overview.count[0] > 1
        await place.press("home", "t")
        assert "system metrics:" in place.status


async def test_guides_smoothing_and_grids_are_those_of_the_run_screen(root: Path) -> None:
    async with at(root, (160, 50)) as place:
        await place.press("ctrl+a", "y")
        await place.settled()
        plain = place.text()
        await place.press("g")
        await place.settled()
        assert place.text() != plain
        await place.press("g", "g", "tab", "m")
        await place.settled()
        source = place.screen.metrics.sources[0]
        spec = source.spec(40, place.screen.metrics.view(source))
        assert len(spec.traces) == 6
        await place.press("m", "m", "m", "c", "1", "escape", "r")
        assert "rows of the" in place.status
        await place.press("escape")
        assert place.screen.metrics.columns == 1


async def test_the_lower_panes_follow_the_highlight(root: Path) -> None:
    run_in(root.parent, 9, samples=30)
    async with at(root, (160, 50)) as place:
        await place.press("4")
        assert "logs" in place.panes()
        await place.press("escape", "down")
        await place.until("trial-5 is not selected")
        await place.press("4", "3")
        assert "media" in place.panes()
        await place.press("3")
        assert place.panes() == {"runs", "metrics", "overview"}


async def test_the_crosshair_is_shared_with_the_system_metrics_of_the_highlighted_run(root: Path) -> None:
    run_in(root.parent, 9, samples=30)
    async with at(root, (160, 50)) as place:
        await place.press("down", "space", "up", "2", "escape", "tab", "v", "left")
        await place.settled()
        metrics, system = place.screen.metrics, place.screen.system
        assert metrics.crosshair is not None
        assert system.crosshair is not None
        assert system.crosshair[0] == START + metrics.crosshair[0]


async def test_borders_move_and_come_back(root: Path) -> None:
    async with at(root, (160, 50)) as place:
        width = place.screen.panes["runs"].size.width
        await place.press("ctrl+right", "ctrl+right")
        assert place.screen.panes["runs"].size.width > width
        await place.press("0")
        assert place.screen.panes["runs"].size.width == width


async def test_a_key_typed_while_it_is_asked_for_is_the_answer(root: Path) -> None:
    async with at(root) as place:
        await place.press("ctrl+a", "space")
        assert place.selected == ["trial-5"]
        await place.press("space")
        assert place.selected == []


async def test_what_is_remembered_may_be_anything(root: Path) -> None:
    from leet.settings.view_state import ViewState

    view = ViewState.of(root)
    for name, value in (
        ("selected", [1, None, "no/such/run"]),
        ("pinned", {"a": 1}),
        ("query", "(((("),
        ("mode", 7),
        ("sort", ["x"]),
        ("highlighted", 3),
    ):
        view.set(f"runs.{name}", value)
    async with at(root, live=True) as place:
        assert place.pinned == "trial-5"
        assert place.selected == ["trial-5"]
        assert place.screen.sort == "started"
        assert len(place.names) == 6


def test_a_directory_is_drawn_from_the_command_line(root: Path, tmp_path: Path) -> None:
    import os
    import subprocess
    import sys

    picture = tmp_path / "frame.txt"
    for path in (root, root.parent):
        ended = subprocess.run(
            [sys.executable, "-m", "leet", str(path), "--screenshot", str(picture), "--keys", "<down> <space>"],
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "LEET_NOW": str(NOW)},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert ended.returncode == 0, ended.stderr
        text = picture.read_text()
        assert "6 runs" in text
        assert "2 selected" in text
        assert "● trial-4" in text


def test_the_query_in_the_help_is_one() -> None:
    [command] = [command for command in COMMANDS if command.id == "filter_runs"]
    query = RunQuery.parse(command.summary.split("`")[1])
    assert query.error is None
    assert query.sorts
    assert query.selects
