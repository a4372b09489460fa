"""Keys and acts that people bring along from `wandb leet`, where no other test presses them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from example_run import START, ExampleRun, trained
from sweep import run_in, sweep
from terminals import viewer as terminal_of
from test_config_screen import editing
from test_pty import USUAL
from test_records_screen import inspecting
from test_workspace_screen import at
from textual import events
from viewer import Viewer, viewing

from leet.tui.commands import COMMANDS, Command, Place
from leet.tui.screens.help_screen import help_text
from leet.tui.screens.records_screen import RecordsScreen
from leet.tui.widgets.overview import Overview


def full(directory: Path) -> Path:
    """A run with something in every pane."""
    run = ExampleRun(directory)
    run.train(60, 20)
    run.sample(20)
    for second in range(40):
        when = {"seconds": int(START) + second, "nanos": 0}
        run.record("output_raw", {"output_type": 1, "timestamp": when, "line": f"line {second}\n"})
    return run.finish()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return full(tmp_path)


# Everywhere


async def test_a_copied_log_ended_when_the_run_did(tmp_path: Path) -> None:
    log = trained(tmp_path, rows=300, samples=20)
    for written, words in ((START + 880, "ended 10 min ago"), (START + 300, "ended 10 min ago")):
        os.utime(log, (written, written))
        async with viewing(log, (160, 40)) as viewer:
            assert words in viewer.status


async def test_the_status_line_names_the_directory(tmp_path: Path) -> None:
    root = sweep(tmp_path / "mnist \x1b[2J", 2)
    async with at(root, (160, 40)) as place:
        assert "mnist ␛[2J/wandb" in place.status
    async with at(root, (80, 24)) as place:
        assert "mnist" not in place.status
        assert "q quit" in place.status


@pytest.mark.parametrize(
    ("words", "quitting", "shown"),
    [([], "quit", "balmy-river-7"), (["inspect"], "records_quit", "Record 1"), (["top"], "top_quit", "CPU Core")],
    ids=["run", "records", "monitor"],
)
def test_alt_r_starts_anew_with_the_settings_of_now(
    log: Path, tmp_path: Path, words: list[str], quitting: str, shown: str
) -> None:
    file = tmp_path / "config" / "leet" / "config.toml"
    arguments = words if words == ["top"] else [*words, str(log)]
    with terminal_of(*arguments, XDG_CONFIG_HOME=str(tmp_path / "config")) as terminal:
        terminal.until(shown)
        terminal.until("q quit")
        file.parent.mkdir(parents=True)
        file.write_text(f'[keys]\n{quitting} = "Q"\n')
        terminal.type("\x1br", "Q quit")
        terminal.until(shown)
        terminal.send("Q")
        assert terminal.end() == 0
        assert terminal.modes() <= USUAL
        assert b"Traceback" not in terminal.raw


# Panes


async def test_tab_goes_through_all_panes_of_a_run(log: Path) -> None:
    async with viewing(log, (200, 50)) as viewer:
        await viewer.press("3", "4", "escape")
        seen = []
        for _ in range(8):
            await viewer.press("tab")
            seen.append(viewer.run.focused_name)
        assert seen == ["media", "logs", "system", *["overview"] * 4, "metrics"]
        for _ in range(8):
            await viewer.press("shift+tab")
            seen.append(viewer.run.focused_name)
        assert seen[8:] == [*["overview"] * 4, "system", "logs", "media", "metrics"]


async def test_tab_goes_through_all_panes_of_the_workspace(tmp_path: Path) -> None:
    run_in(tmp_path, 1, samples=20)
    async with at(tmp_path / "wandb", (200, 60)) as place:
        await place.press("2", "3", "4")
        place.screen.focus_pane("runs")
        seen = []
        for _ in range(9):
            await place.press("tab")
            seen.append(place.screen.focused_name)
        assert seen == ["metrics", "system", "media", "logs", *["overview"] * 4, "runs"]
        regions = [place.screen.panes[name].region for name in ("metrics", "system", "media", "logs")]
        assert [region.y for region in regions] == sorted(region.y for region in regions)
        await place.press("shift+tab", "shift+tab", "shift+tab", "shift+tab", "shift+tab")
        assert place.screen.focused_name == "logs"


async def test_columns_and_rows_are_those_of_the_grid_in_focus(log: Path, tmp_path: Path) -> None:
    async with viewing(log, (200, 50)) as viewer:
        before = viewer.run.metrics.columns, viewer.run.metrics.rows
        viewer.run.focus_pane("system")
        await viewer.press("c", "2")
        await viewer.press("r", "3")
        assert (viewer.run.system.columns, viewer.run.system.rows) == (2, 3)
        assert (viewer.run.metrics.columns, viewer.run.metrics.rows) == before
        # From a pane without a grid, that of the metrics is meant.
        viewer.run.focus_pane("overview")
        await viewer.press("c", "1")
        assert viewer.run.metrics.columns == 1
    run_in(tmp_path / "many", 1, samples=20)
    async with at(tmp_path / "many" / "wandb", (200, 60)) as place:
        await place.press("2", "c", "4", "r", "1")
        assert (place.screen.system.columns, place.screen.system.rows) == (4, 1)
        await place.press("3", "c", "3")
        assert place.screen.grid_chosen("media") == (1, 3)


async def test_a_border_that_is_held_stands_out(log: Path) -> None:
    async with viewing(log, (200, 50)) as viewer:
        pane = viewer.run.panes["overview"]
        assert not pane.heading.focused_pane
        edge = pane.region.right - 1
        await viewer.pilot.mouse_down(offset=(edge, 20))
        assert pane.heading.focused_pane
        await viewer.pilot.hover(offset=(edge + 4, 20))
        await viewer.pilot.mouse_up(offset=(edge + 4, 20))
        assert not pane.heading.focused_pane
        assert pane.region.right - 1 == edge + 4


# Filters


@pytest.mark.parametrize("clear", ["ctrl+l", "ctrl+slash", "ctrl+underscore"])
async def test_clearing_the_metrics_filter(log: Path, clear: str) -> None:
    """Terminals send ctrl+/ in two ways: as the control character of `_`, or, newer ones, by its name."""
    async with viewing(log) as viewer:
        await viewer.press("slash")
        await viewer.type("loss")
        await viewer.press("enter", clear)
        assert len(viewer.run.metrics.sources) == 20
        await viewer.press("slash")
        await viewer.type("acc")
        await viewer.press(clear)
        assert len(viewer.run.metrics.sources) == 20


@pytest.mark.parametrize("clear", ["ctrl+l", "ctrl+slash", "ctrl+underscore"])
async def test_clearing_the_filter_of_records(log: Path, clear: str) -> None:
    async with inspecting(log) as inspector:
        await inspector.press("slash")
        await inspector.type("exit")
        await inspector.press("enter")
        await inspector.until(r"1 of 1 \(\d+\)")
        await inspector.press(clear)
        assert "(" not in inspector.lines()[0].partition("Record ")[0]


async def test_slash_filters_the_console_among_runs_too(log: Path) -> None:
    async with at(log.parent.parent, (200, 60)) as place:
        await place.press("4", "slash")
        await place.type("line 3")
        await place.press("enter")
        content = place.screen.panes["logs"].content
        assert content.count == (11, 40)  # type: ignore[attr-defined]
        assert len(place.screen.metrics.sources) == 20
        await place.press("ctrl+l")
        assert content.count == (40, 40)  # type: ignore[attr-defined]


# Charts


async def test_y_goes_through_the_scales(log: Path) -> None:
    async with viewing(log, (200, 50)) as viewer:
        grid = viewer.run.system
        viewer.run.focus_pane("system")
        await viewer.press("right")
        source = grid.sources[0]
        assert source.heatmap_capable
        seen = []
        for _ in range(3):
            await viewer.press("y")
            seen.append((grid.view(source).log_y, grid.view(source).heat))
        assert seen == [(True, False), (False, True), (False, False)]


@pytest.mark.parametrize(("width", "words"), [(200, "last 10 min"), (120, "· 10 min")])
async def test_the_heading_says_that_system_charts_show_a_tail(log: Path, width: int, words: str) -> None:
    async with viewing(log, (width, 50)) as viewer:
        viewer.run.focus_pane("system")
        assert " min" not in viewer.lines()[0]
        await viewer.press("t")
        assert words in viewer.lines()[0]
        await viewer.press("t")
        assert " min" not in viewer.lines()[0]


async def test_y_follows_the_zoom(tmp_path: Path) -> None:
    run = ExampleRun(tmp_path)
    for step in range(200):
        run.row({"loss": 1000.0 if step < 20 else 1.0 + step / 1000})
    async with viewing(run.finish()) as viewer:
        assert "1,000" in viewer.text() or "1000" in viewer.text() or "1k" in viewer.text()
        # The newest data is zoomed in on, far from the first steps.
        await viewer.press("right", *["plus"] * 8)
        chart = viewer.run.metrics.active_chart
        assert chart is not None
        assert chart.spec is not None
        low, high = viewer.run.metrics.view(chart.source).x_range or (0.0, 0.0)
        assert 20 < low < high
        labels = "\n".join(line[30:] for line in viewer.lines()[:-1])
        assert "1.1" in labels or "1.15" in labels
        assert "1000" not in labels


async def test_alt_and_the_pointer_read_all_charts(log: Path) -> None:
    async with viewing(log, (200, 50)) as viewer:
        grid = viewer.run.metrics
        columns = grid.page_layout.columns
        assert columns > 1
        chart, other = grid._page[0], grid._page[1]

        async def move(*, alt: bool) -> None:
            x, y = chart.region.x + 20, chart.region.y + 4
            grid.post_message(
                events.MouseMove(grid, x, y, 0, 0, 0, False, alt, False, screen_x=x, screen_y=y, style=None)
            )
            await viewer.pilot.pause(0.3)

        await move(alt=False)
        assert grid.crosshair_on(chart) is not None
        assert grid.crosshair_on(other) is None
        await move(alt=True)
        assert grid.crosshair_on(other) == grid.crosshair_on(chart)


# Overview


def overview(viewer: Viewer) -> Overview:
    return viewer.run.overview


async def test_the_overview_goes_around_and_by_pages(tmp_path: Path) -> None:
    run = ExampleRun(tmp_path)
    run.record("config", {"update": [{"key": f"k{i:03}", "value_json": str(i)} for i in range(200)]})
    run.train(3)
    async with viewing(run.finish(), (200, 40)) as viewer:
        viewer.run.focus_pane("overview")
        await viewer.press("home")
        first = overview(viewer).row
        await viewer.press("up")
        assert overview(viewer).section == "Summary"
        await viewer.press("down")
        assert overview(viewer).row is first
        await viewer.press("tab", "tab", "home")
        assert overview(viewer).section == "Config"
        start = overview(viewer).row
        await viewer.press("right", "d")
        row = overview(viewer).row
        assert row is not None
        assert row.key.startswith("k0")
        await viewer.press("left", "a")
        assert overview(viewer).row is start
        top = viewer.text()
        at_config = next(y for y, line in enumerate(viewer.lines()) if " Config " in line)
        await viewer.pilot._post_mouse_events([events.MouseScrollDown], "#overview", (5, at_config))
        await viewer.pilot.pause()
        assert viewer.text() != top


async def test_the_status_line_repeats_the_row_and_enter_copies_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = ExampleRun(tmp_path)
    run.record("config", {"update": [{"key": "path", "value_json": '"/a/rather/long/path/to/somewhere/else"'}]})
    run.train(2)
    async with viewing(run.finish(), (200, 40)) as viewer:
        copied: list[str] = []
        monkeypatch.setattr(viewer.app, "copy_to_clipboard", copied.append)
        await viewer.press("o")
        await viewer.type("^path$")
        await viewer.press("enter", "home")
        assert "path = /a/rather/long/path/to/somewhere/else" in viewer.status
        await viewer.press("enter", "y")
        assert copied == ["/a/rather/long/path/to/somewhere/else"]


async def test_an_alert_is_shown(tmp_path: Path) -> None:
    run = ExampleRun(tmp_path)
    run.train(2)
    run.record("alert", {"title": "loss is high", "text": "look at\x1b[2J it", "level": "WARN"})
    async with viewing(run.finish(), (200, 40)) as viewer:
        assert "loss is high: look at" in viewer.text()
        assert "\x1b" not in viewer.text()


# Records, settings


async def test_records_of_the_highlighted_run(tmp_path: Path) -> None:
    root = sweep(tmp_path, 3)
    async with at(root) as place:
        await place.press("down", "i")
        await place.until("Record 1 · header")
        screen = place.app.screen
        assert isinstance(screen, RecordsScreen)
        assert screen.feed.log.name == "run-run0001.wandb"
        await place.press("escape")
        assert place.app.screen is place.screen


async def test_letters_move_and_change_in_the_settings(tmp_path: Path) -> None:
    async with editing() as editor:
        first = editor.screen.setting
        await editor.press("j")
        second = editor.screen.setting
        assert second is not first
        await editor.press("k")
        assert editor.screen.setting is first
        await editor.go_to("charts.guides")
        await editor.press("l")
        assert editor.value("charts.guides") == "dots"
        await editor.press("h")
        assert editor.value("charts.guides") == "off"
        await editor.press("end", "j")
        assert editor.screen.setting is first
        await editor.press("q")
        assert not editor.app.is_running


async def test_a_trained_run_has_no_alert(tmp_path: Path) -> None:
    async with viewing(trained(tmp_path), (200, 40)) as viewer:
        assert "alert" not in viewer.text()


@pytest.mark.parametrize("place", ["run", "workspace", "chart", "records", "top", "compare", "media_screen", "table"])
def test_the_help_of_a_view_has_its_own_keys_first(place: Place) -> None:
    """One key does different things in two views: the help of a view has the one that holds there above the other."""
    lines = help_text(place).plain.splitlines()
    own = [command for command in COMMANDS if {place, "app"} & command.where]
    others = [command for command in COMMANDS if command not in own]

    def line_of(command: Command) -> int:
        keys = "  ".join(command.shown_keys())
        return next(
            n for n, line in enumerate(lines) if line.startswith(f"  {keys} ") and line.endswith(command.summary)
        )

    summaries = {command.summary for command in own}
    alone = [command for command in others if command.summary not in summaries]
    assert max(map(line_of, own)) < min(map(line_of, alone))
    titles = [line for line in lines if line and not line.startswith(" ")]
    assert len(titles) == len(set(titles))


async def test_the_help_begins_with_the_keys_of_the_pane_in_focus(log: Path) -> None:
    async with viewing(log, (120, 40)) as viewer:
        await viewer.press("question_mark")
        assert "Search; Enter keeps it, Esc gives it up" not in viewer.text()
        await viewer.press("escape", "4", "question_mark")
        assert "Search; Enter keeps it, Esc gives it up" in viewer.text()
        await viewer.press("slash")
        await viewer.type("stderr")
        assert "Only stderr, or all" in viewer.text()
