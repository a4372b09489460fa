"""Every key of the run screen, pressed on the real app."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_run import START, ExampleRun, trained
from viewer import Viewer, viewing

from leet.tui.screens.chart_screen import ChartScreen
from leet.tui.screens.help_screen import HelpScreen
from leet.tui.screens.text_screen import TextScreen
from leet.tui.terminal import Terminal
from leet.tui.widgets.pane import Pane

PANES = ("overview", "metrics", "system")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return trained(tmp_path, rows=60, metrics=40, samples=20)


def visible(viewer: Viewer, name: str) -> bool:
    return bool(viewer.run.query_one(f"#{name}-pane", Pane).display)


def focused(viewer: Viewer) -> str | None:
    return viewer.run.focused.id if viewer.run.focused is not None else None


# Help, quitting


@pytest.mark.parametrize("key", ["h", "question_mark"])
@pytest.mark.parametrize("closing", ["h", "question_mark", "escape"])
async def test_help_opens_and_closes(log: Path, key: str, closing: str) -> None:
    async with viewing(log) as viewer:
        await viewer.press(key)
        assert isinstance(viewer.app.screen, HelpScreen)
        assert "Next pane" in viewer.text()
        await viewer.press(closing)
        assert viewer.app.screen is viewer.run


@pytest.mark.parametrize(
    "keys", [["q"], ["ctrl+c"], ["h", "q"], ["enter", "q"], ["slash", "x", "ctrl+c"], ["h", "ctrl+c"]]
)
async def test_quitting_from_everywhere(log: Path, keys: list[str]) -> None:
    async with viewing(log) as viewer:
        for key in keys:
            await viewer.pilot.press(key)
        assert not viewer.app.is_running
        assert viewer.app.return_code == 0


async def test_q_in_a_filter_is_a_letter(log: Path) -> None:
    async with viewing(log) as viewer:
        await viewer.press("slash", "q")
        assert viewer.app.is_running
        assert viewer.run.filters["metrics"].text == "q"


# Filters


async def test_a_filter_is_previewed_counted_and_kept(log: Path) -> None:
    async with viewing(log) as viewer:
        await viewer.press("slash")
        await viewer.type("loss")
        assert viewer.titles == ["train/loss", "val/loss"]
        assert "2/40" in viewer.lines()[-2]
        await viewer.press("enter")
        assert viewer.titles == ["train/loss", "val/loss"]
        assert "/loss/ 2/40" in viewer.status
        assert focused(viewer) == "metrics"


async def test_escape_brings_back_the_filter_before(log: Path) -> None:
    async with viewing(log) as viewer:
        await viewer.press("slash")
        await viewer.type("loss")
        await viewer.press("enter", "slash")
        await viewer.type("x")
        assert viewer.titles == []
        assert "No metric matches" in viewer.text()
        await viewer.press("escape")
        assert viewer.titles == ["train/loss", "val/loss"]


@pytest.mark.parametrize("clear", ["ctrl+l", "ctrl+underscore"])
async def test_clearing_the_metrics_filter(log: Path, clear: str) -> None:
    async with viewing(log) as viewer:
        await viewer.press("slash")
        await viewer.type("loss")
        await viewer.press("enter", clear)
        assert len(viewer.run.metrics.sources) == 40
        await viewer.press("slash")
        await viewer.type("acc")
        await viewer.press(clear)
        assert len(viewer.run.metrics.sources) == 40
        assert viewer.run.filter_line.input.value == ""


async def test_case_does_not_matter_and_patterns_are_regular_expressions(log: Path) -> None:
    async with viewing(log) as viewer:
        await viewer.press("slash")
        await viewer.type("^(TRAIN|val)/l")
        assert viewer.titles == ["train/loss", "val/loss"]


async def test_tab_switches_to_globs(log: Path) -> None:
    async with viewing(log) as viewer:
        await viewer.press("slash", "tab")
        await viewer.type("layers/1*/grad")
        assert "glob" in viewer.lines()[-2]
        assert {title.partition("/")[0] for title in viewer.titles} == {"layers"}
        assert len(viewer.run.metrics.sources) == 11
        await viewer.press("enter", "slash")
        assert viewer.run.filter_line.mode == "glob"


async def test_an_invalid_regex_says_so_and_keeps_the_last_view(log: Path) -> None:
    async with viewing(log) as viewer:
        await viewer.press("slash")
        await viewer.type("loss")
        await viewer.type("[")
        assert "not a regex yet" in viewer.lines()[-2]
        assert viewer.titles == ["train/loss", "val/loss"]
        await viewer.press("enter")
        assert viewer.titles == ["train/loss", "val/loss"]
        assert viewer.run.filters["metrics"].text == "loss"


async def test_the_filter_is_edited_as_any_text(log: Path) -> None:
    async with viewing(log) as viewer:
        await viewer.press("slash")
        line = viewer.run.filter_line.input
        await viewer.type("train loss")
        await viewer.press("home", "delete", "t", "end", "ctrl+w")
        assert line.value == "train "
        await viewer.press("left", "left", "backspace", "i")
        assert line.value == "train "
        await viewer.press("ctrl+u")
        assert viewer.run.filters["metrics"].text == line.value == "n "


async def test_text_is_pasted_into_the_filter(log: Path) -> None:
    from textual.events import Paste

    async with viewing(log) as viewer:
        await viewer.press("slash")
        viewer.run.filter_line.input.post_message(Paste("val/loss\nmore"))
        await viewer.pilot.pause()
        assert viewer.titles == ["val/loss"]


async def test_the_system_filter(log: Path) -> None:
    async with viewing(log, (200, 50)) as viewer:
        await viewer.press("backslash")
        await viewer.type("power")
        await viewer.press("enter")
        assert [source.title for source in viewer.run.system.sources] == ["GPU Power"]
        assert focused(viewer) == "system"
        await viewer.press("ctrl+backslash")
        assert len(viewer.run.system.sources) > 5


async def test_a_filter_shows_the_sidebar_that_it_is_for(log: Path) -> None:
    async with viewing(log, (80, 24)) as viewer:
        assert not visible(viewer, "system")
        await viewer.press("backslash")
        assert visible(viewer, "system")
        await viewer.press("escape", "o")
        assert visible(viewer, "overview")


async def test_the_overview_filter_looks_at_keys_and_values(log: Path) -> None:
    async with viewing(log, (200, 50)) as viewer:
        await viewer.press("o")
        await viewer.type("dropout")
        assert viewer.run.overview.count[0] == 1
        assert viewer.run.overview.section == "Config"
        await viewer.press("ctrl+u")
        await viewer.type("cpython")
        assert viewer.run.overview.section == "Environment"
        await viewer.press("enter")
        assert focused(viewer) == "overview"
        await viewer.press("ctrl+o")
        shown, total = viewer.run.overview.count
        assert shown == total > 40


# Panes


async def test_sidebars_are_toggled(log: Path) -> None:
    async with viewing(log, (200, 50)) as viewer:
        for key, name in (("left_square_bracket", "overview"), ("right_square_bracket", "system")):
            await viewer.press(key)
            assert not visible(viewer, name)
            await viewer.press(key)
            assert visible(viewer, name)


async def test_in_eighty_columns_the_last_sidebar_asked_for_wins(log: Path) -> None:
    async with viewing(log, (80, 24)) as viewer:
        await viewer.press("left_square_bracket")
        assert [name for name in PANES if visible(viewer, name)] == ["overview", "metrics"]
        await viewer.press("right_square_bracket")
        assert [name for name in PANES if visible(viewer, name)] == ["metrics", "system"]
        await viewer.press("right_square_bracket")
        assert [name for name in PANES if visible(viewer, name)] == ["overview", "metrics"]
        await viewer.press("left_square_bracket")
        assert [name for name in PANES if visible(viewer, name)] == ["metrics"]


async def test_in_forty_columns_a_sidebar_takes_the_place_of_the_charts(log: Path) -> None:
    async with viewing(log, (40, 20)) as viewer:
        await viewer.press("left_square_bracket")
        assert visible(viewer, "overview")
        assert not visible(viewer, "metrics")
        assert focused(viewer) == "overview"
        await viewer.press("escape")
        assert visible(viewer, "metrics")
        assert focused(viewer) == "metrics"


async def test_tab_goes_through_panes_and_sections(log: Path) -> None:
    async with viewing(log, (200, 50)) as viewer:
        seen = []
        for _ in range(6):
            await viewer.press("tab")
            seen.append((focused(viewer), viewer.run.overview.section if focused(viewer) == "overview" else ""))
        assert seen == [
            ("system", ""),
            ("overview", ""),
            ("overview", "Environment"),
            ("overview", "Config"),
            ("overview", "Summary"),
            ("metrics", ""),
        ]
        await viewer.press("shift+tab")
        assert (focused(viewer), viewer.run.overview.section) == ("overview", "Summary")


async def test_the_heading_of_the_pane_in_focus_stands_out(log: Path) -> None:
    async with viewing(log, (200, 50)) as viewer:
        await viewer.press("tab")
        marked = [pane.id for pane in viewer.run.query(Pane) if pane.heading.focused_pane]
        assert marked == ["system-pane"]


# Pages, focus, full size


@pytest.mark.parametrize(("forth", "back"), [("n", "N"), ("pagedown", "pageup")])
async def test_pages(log: Path, forth: str, back: str) -> None:
    async with viewing(log) as viewer:
        first = viewer.titles
        await viewer.press(forth)
        assert viewer.titles != first
        assert "page 2/" in viewer.status
        await viewer.press(back)
        assert viewer.titles == first
        await viewer.press("end")
        assert viewer.titles[-1] == viewer.run.metrics.sources[39].title
        await viewer.press("home")
        assert viewer.titles == first


@pytest.mark.parametrize("keys", [("right", "down", "left", "up"), ("d", "s", "a", "w")])
async def test_the_focused_chart_is_moved(log: Path, keys: tuple[str, ...]) -> None:
    async with viewing(log, (200, 50)) as viewer:
        grid = viewer.run.metrics
        await viewer.press(keys[0])
        assert grid.focus_index == 0
        columns = grid.page_layout.columns
        for key, place in zip(keys, (1, 1 + columns, columns, 0), strict=True):
            await viewer.press(key)
            assert grid.focus_index == place
        await viewer.press("escape")
        assert grid.focus_index is None


async def test_enter_fills_the_screen_with_a_chart(log: Path) -> None:
    async with viewing(log, (100, 30)) as viewer:
        await viewer.press("right", "right", "enter")
        assert isinstance(viewer.app.screen, ChartScreen)
        assert viewer.run.metrics.sources[1].title in viewer.lines()[0]
        assert "chart 2 of 40" in viewer.status
        await viewer.press("n", "y")
        assert "[log]" in viewer.lines()[0] or "log" in viewer.lines()[0]
        await viewer.press("escape")
        assert viewer.app.screen is viewer.run
        assert viewer.run.metrics.focus_index == 2
        assert viewer.run.metrics.view(viewer.run.metrics.sources[2]).log_y


async def test_escape_leaves_the_crosshair_before_the_chart(log: Path) -> None:
    async with viewing(log) as viewer:
        await viewer.press("right", "enter", "v")
        await viewer.press("escape")
        assert isinstance(viewer.app.screen, ChartScreen)
        await viewer.press("escape")
        assert viewer.app.screen is viewer.run


# Charts


async def test_the_scale_of_a_chart(log: Path) -> None:
    async with viewing(log) as viewer:
        grid = viewer.run.metrics
        await viewer.press("right", "y")
        assert grid.view(grid.sources[0]).log_y
        await viewer.press("y")
        assert not grid.view(grid.sources[0]).log_y


async def test_percentages_can_be_a_heat_map(log: Path) -> None:
    async with viewing(log, (200, 50)) as viewer:
        grid = viewer.run.system
        await viewer.press("tab", "right", "y", "y")
        assert grid.view(grid.sources[0]).heat


async def test_the_crosshair_reads_all_charts(log: Path) -> None:
    async with viewing(log) as viewer:
        await viewer.press("v", "right", "right")
        assert viewer.run.metrics.crosshair is not None
        at = viewer.run.metrics.crosshair[0]
        assert viewer.text().count(f"{at:.0f}: ") >= 4
        await viewer.press("shift+right")
        assert viewer.run.metrics.crosshair[0] > at
        await viewer.press("v")
        assert viewer.run.metrics.crosshair is None


async def test_zoom_pan_and_reset(log: Path) -> None:
    async with viewing(log) as viewer:
        grid = viewer.run.metrics
        source = grid.sources[0]
        await viewer.press("right", "plus", "plus", "plus")
        narrow = grid.view(source).x_range
        assert narrow is not None
        await viewer.press("left_curly_bracket")
        panned = grid.view(source).x_range
        assert panned is not None
        assert panned[0] < narrow[0]
        await viewer.press("minus", "right_curly_bracket", "equals_sign")
        assert grid.view(source).x_range is None


async def test_the_x_axis_is_switched(log: Path) -> None:
    async with viewing(log) as viewer:
        assert " step ─╯" in viewer.text()
        seen = []
        for _ in range(3):
            await viewer.press("x")
            seen.append(viewer.run.metric_sources.axis)
        assert seen == ["runtime", "clock", "auto"]
        await viewer.press("x")
        assert " step ─╯" not in viewer.text()
        assert viewer.status.count("x axis: time since start") == 1
        viewer.run.status.say()
        assert viewer.status.count("x axis: time since start") == 1


async def test_a_metrics_own_step_metric_is_the_x_axis(tmp_path: Path) -> None:
    run = ExampleRun(tmp_path)
    run.record("metric", {"name": "val/loss", "step_metric": "epoch"})
    for epoch in range(10):
        run.row({"val/loss": 1 / (1 + epoch), "epoch": epoch * 2, "train/loss": 2 / (1 + epoch)})
    async with viewing(run.finish()) as viewer:
        assert " epoch ─╯" in viewer.text()
        await viewer.press("x")
        assert viewer.run.metric_sources.axis == "step"
        assert " epoch ─╯" not in viewer.text()


async def test_the_tail_of_system_metrics(tmp_path: Path) -> None:
    run = ExampleRun(tmp_path)
    run.train(3)
    run.sample(200, every=10.0)

    def shown(viewer: Viewer) -> float:
        extent = viewer.run.system.sources[0].extent()
        assert extent is not None
        return extent.home[1] - extent.home[0]

    async with viewing(run.finish(), (200, 50)) as viewer:
        assert shown(viewer) >= 1990
        await viewer.press("t")
        assert 600 <= shown(viewer) < 700
        assert "the last 10 minutes" in viewer.status
        await viewer.press("t")
        assert shown(viewer) >= 1990


@pytest.mark.parametrize(("key", "part"), [("c", "columns"), ("r", "rows")])
async def test_the_grid_is_given_by_a_digit(log: Path, key: str, part: str) -> None:
    async with viewing(log, (200, 50)) as viewer:
        assert getattr(viewer.run.metrics, part) != 2
        await viewer.press(key)
        assert f"{part} of the grid: 1–9" in viewer.status
        await viewer.press("2")
        assert getattr(viewer.run.metrics, part) == 2
        assert "1–9" not in viewer.status
        await viewer.pilot.resize_terminal(180, 44)
        assert getattr(viewer.run.metrics, part) == 2
        await viewer.press(key, "escape", "7")
        assert getattr(viewer.run.metrics, part) == 2


# Overview


async def test_moving_through_the_overview(log: Path) -> None:
    async with viewing(log, (200, 50)) as viewer:
        overview = viewer.run.overview
        await viewer.press("shift+tab", "home")
        first = overview.row
        assert overview.section == "Summary"
        await viewer.press("down", "up", "end")
        assert overview.row is not first
        await viewer.press("down")
        assert overview.section == ""
        await viewer.press("up")
        assert overview.section == "Summary"
        await viewer.press("home", "n", "N")
        assert overview.row is first


async def test_a_value_is_shown_in_full(tmp_path: Path) -> None:
    run = ExampleRun(tmp_path)
    long = "the quick brown fox " * 60
    run.record("config", {"update": [{"key": "prompt", "value_json": f'"{long}"'}]})
    run.train(2)
    async with viewing(run.finish()) as viewer:
        await viewer.press("o")
        await viewer.type("prompt")
        await viewer.press("enter", "enter")
        assert isinstance(viewer.app.screen, TextScreen)
        assert viewer.text().count("quick brown fox") > 30
        await viewer.press("escape")
        assert viewer.app.screen is viewer.run


# Palette


async def test_the_palette_runs_commands(log: Path) -> None:
    async with viewing(log, (200, 50)) as viewer:
        await viewer.press("ctrl+p")
        await viewer.type("hide the overview")
        await viewer.pilot.pause(0.4)
        await viewer.press("enter")
        await viewer.pilot.pause()
        assert not visible(viewer, "overview")


async def test_the_palette_goes_to_a_metric(log: Path) -> None:
    async with viewing(log) as viewer:
        await viewer.press("slash")
        await viewer.type("val")
        await viewer.press("enter", "ctrl+p")
        await viewer.type("layers/30")
        await viewer.until("Go to this chart")
        await viewer.press("enter")
        await viewer.pilot.pause()
        assert viewer.run.metrics.focused_source is not None
        assert viewer.run.metrics.focused_source.title == "layers/30/grad"


# Mouse


async def test_clicks_select_charts_and_rows(log: Path) -> None:
    async with viewing(log, (200, 50)) as viewer:
        await viewer.pilot.click("#metrics", offset=(5, 3))
        assert viewer.run.metrics.focus_index == 0
        await viewer.pilot.click("#overview", offset=(5, 1))
        assert focused(viewer) == "overview"
        assert viewer.run.overview.row is not None
        assert viewer.run.overview.row.key == "name"
        await viewer.pilot.click("#overview", offset=(5, 1), times=2)
        assert isinstance(viewer.app.screen, TextScreen)


async def test_an_axis_that_changes_nothing_is_left_out(tmp_path: Path) -> None:
    run = ExampleRun(tmp_path)
    run.record("metric", {"name": "zz", "step_metric": "epoch"})
    for step in range(10):
        run.row({"a": 1.0 / (1 + step), "epoch": step * 2.5, "zz": step * 1.0})
    async with viewing(run.finish(), (60, 20)) as viewer:
        await viewer.press("slash", "a", "enter")
        assert viewer.titles == ["a"]
        await viewer.press("x")
        assert viewer.run.metric_sources.axis == "runtime"
        await viewer.press("x", "x")
        assert viewer.run.metric_sources.axis == "auto"
        await viewer.press("enter", "x")
        assert viewer.run.metric_sources.axis == "runtime"
        assert "x axis: time since start" in viewer.status


async def test_what_is_no_expression_is_not_kept(log: Path) -> None:
    async with viewing(log) as viewer:
        await viewer.press("slash")
        await viewer.type("loss(")
        await viewer.press("enter")
        assert viewer.run.filter_line is not None
        assert viewer.run.filter_line.display
        assert "not a regular expression: " in viewer.text()
        await viewer.press("backspace", "enter")
        assert not viewer.run.filter_line.display
        assert viewer.run.filters["metrics"].text == "loss"


async def test_the_palette_has_commands_first(log: Path) -> None:
    from textual.command import CommandList

    async with viewing(log, (200, 60), terminal=Terminal(ascii=True)) as viewer:
        await viewer.press("ctrl+p")
        await viewer.until("All keys")
        options = viewer.app.screen.query_one(CommandList).options
        titles = [str(option.hit.text or option.hit.display) for option in options]
        metrics = [place for place, title in enumerate(titles) if title in viewer.run.metric_sources.names]
        assert metrics == list(range(metrics[0], len(titles)))
        assert metrics[0] > 10
        assert viewer.text().isascii()


async def test_the_crosshair_stands_at_one_moment_on_every_chart(tmp_path: Path) -> None:
    run = ExampleRun(tmp_path)
    run.record("metric", {"name": "val", "step_metric": "epoch"})
    for step in range(100):
        run.row({"loss": 1.0 / (1 + step), "epoch": step / 10, "val": step * 2.0})
    run.sample(20)
    async with viewing(run.finish(), (200, 50)) as viewer:
        metrics, system = viewer.run.metrics, viewer.run.system
        place = [source.key for source in metrics.sources].index("loss")
        metrics.focus_chart(place)
        await viewer.press("v", "left", "left")
        assert metrics.crosshair is not None
        step = metrics.crosshair[0]
        assert system.crosshair == (START + step, "time")
        by_key = {chart.source.key: metrics.crosshair_on(chart) for chart in metrics._page}
        assert by_key == {"loss": step, "epoch": step, "val": step / 10}
        await viewer.press("tab")
        await viewer.press("shift+right")
        assert system.crosshair is not None
        moment = system.crosshair[0]
        assert moment > START + step
        assert metrics.crosshair == (pytest.approx(moment - START, abs=0.51), "step")
        await viewer.press("v")
        assert metrics.crosshair is None
        assert system.crosshair is None
