"""The console pane of the real app: each key, at both sizes, on logs as programs write them."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from example_run import START, ExampleRun
from textual import events
from viewer import Viewer, viewing

from leet.model.console import ConsoleLog
from leet.model.safe_text import UNSAFE
from leet.tui.screens.text_screen import TextScreen
from leet.tui.terminal import Terminal
from leet.tui.widgets.console_view import ConsoleView

SIZES = [(80, 24), (120, 40)]
at_both_sizes = pytest.mark.parametrize("size", SIZES, ids=lambda s: f"{s[0]}x{s[1]}")

pytestmark = pytest.mark.usefixtures("utc")


def say(run: ExampleRun, text: str, seconds: float = 0.0, *, error: bool = False) -> None:
    when = {"seconds": int(START + seconds), "nanos": 0}
    run.record("output_raw", {"output_type": 0 if error else 1, "timestamp": when, "line": text})


def talkative(directory: Path, lines: int = 200) -> ExampleRun:
    """A run that prints a line a second, each tenth of them to stderr, and logs a row with each."""
    run = ExampleRun(directory)
    run.train(lines)
    for i in range(lines):
        error = i % 10 == 7
        text = f"warning number {i}\n" if error else f"step {i} of the training, loss \x1b[32m{i * 37 % 100}\x1b[0m\n"
        say(run, text, i, error=error)
    return run


@asynccontextmanager
async def logs(run: ExampleRun | Path, size: tuple[int, int], **how: object) -> AsyncIterator[Viewer]:
    """The viewer with the console open and in focus."""
    log = run.finish(0) if isinstance(run, ExampleRun) else run
    async with viewing(log, size, **how) as viewer:  # type: ignore[arg-type]
        await viewer.press("4")
        view_of(viewer).paint_now()
        await viewer.pilot.pause()
        yield viewer


def view_of(viewer: Viewer) -> ConsoleView:
    view = viewer.run.panes["logs"].content
    assert isinstance(view, ConsoleView)
    return view


def heading(viewer: Viewer) -> str:
    return next(line for line in viewer.lines() if " Console ─" in line) + " "


def rows(viewer: Viewer) -> list[str]:
    """What stands in the pane, row by row."""
    region = view_of(viewer).region
    return [line[region.x : region.right].rstrip() for line in viewer.lines()[region.y : region.bottom]]


def line_here(viewer: Viewer) -> str:
    line = view_of(viewer).line
    assert line is not None
    return line.text


@at_both_sizes
async def test_it_opens_at_the_end_with_times_and_signs(tmp_path: Path, size: tuple[int, int]) -> None:
    async with logs(talkative(tmp_path), size) as viewer:
        shown = rows(viewer)
        assert shown[-1] == "10:56:39   step 199 of the training, loss 63"
        assert shown[-3] == "10:56:37 ▌ warning number 197"
        assert re.search(r"\d+–200 of 200 $", heading(viewer))
        assert viewer.app.focused is view_of(viewer)
        await viewer.press("4")
        assert "warning number" not in viewer.text()


@at_both_sizes
async def test_colours_are_kept(tmp_path: Path, size: tuple[int, int]) -> None:
    run = ExampleRun(tmp_path)
    say(run, "plain \x1b[1;38;2;1;2;3mrgb\x1b[0m \x1b[44mblue\x1b[0m \x1b[38;5;200mpink\x1b[0m\n")
    async with logs(run, size) as viewer:
        segments = {s.text.strip(): s.style for s in view_of(viewer).render_line(0) if s.style is not None}
        rgb, blue, pink = segments["rgb"], segments["blue"], segments["pink"]
        assert rgb.bold
        assert rgb.color is not None
        assert rgb.color.get_truecolor() == (1, 2, 3)
        assert blue.bgcolor is not None
        assert blue.bgcolor.number == 4
        assert pink.color is not None
        assert pink.color.number == 200


@at_both_sizes
async def test_keys_move_the_cursor_and_release_what_follows(tmp_path: Path, size: tuple[int, int]) -> None:
    async with logs(talkative(tmp_path), size) as viewer:
        view = view_of(viewer)
        assert view.following
        await viewer.press("up", "w")
        assert not view.following
        assert line_here(viewer).startswith("warning number 197")
        await viewer.press("down")
        assert line_here(viewer).startswith("step 198")
        await viewer.press("home")
        assert rows(viewer)[0].startswith("10:53:20   step 0 of")
        assert line_here(viewer).startswith("step 0 ")
        await viewer.press("up")
        assert line_here(viewer).startswith("step 0 ")
        height = view.size.height
        await viewer.press("n")
        assert f"step {height} of" in rows(viewer)[0] or f"number {height}" in rows(viewer)[0]
        assert f"{height + 1}–{2 * height} of 200" in heading(viewer)
        await viewer.press("pageup")
        assert "step 0 of" in rows(viewer)[0]
        await viewer.press("right", "left", "pagedown", "N")
        assert "step 0 of" in rows(viewer)[0]
        await viewer.press("end")
        assert view.following
        assert "step 199" in rows(viewer)[-1]
        await viewer.press("up", "s", "down")
        assert view.following


@at_both_sizes
async def test_new_lines_scroll_by_until_one_scrolls_away(tmp_path: Path, size: tuple[int, int]) -> None:
    run = talkative(tmp_path, 60)
    log = run.flush()
    async with logs(log, size, live=True, terminal=Terminal(now=START + 100)) as viewer:
        say(run, "the newest line\n", 61)
        run.flush()
        await viewer.until("the newest line")
        await viewer.press("up", "up")
        top = rows(viewer)[0]
        say(run, "one\ntwo\nthree\n", 62)
        run.flush()
        await viewer.until("3 new lines ↓ End")
        assert rows(viewer)[0] == top
        assert "three" not in "".join(rows(viewer))
        await viewer.press("end")
        assert rows(viewer)[-1].endswith("three")
        assert "new lines" not in viewer.text()
        say(run, "\r 10%", 63, error=True)
        run.flush()
        await viewer.until("▌  10%")
        say(run, "\r100%\n", 64, error=True)
        run.flush()
        await viewer.until("▌ 100%")
        assert " 10%" not in viewer.text()
        assert rows(viewer)[-1] == "10:54:23 ▌ 100%"
    run.writer.close()


@at_both_sizes
async def test_the_wheel_releases_and_the_end_holds_again(tmp_path: Path, size: tuple[int, int]) -> None:
    async with logs(talkative(tmp_path), size) as viewer:
        view = view_of(viewer)
        top = rows(viewer)[0]
        await viewer.pilot._post_mouse_events([events.MouseScrollUp], view, offset=(5, 2))
        await viewer.pilot.pause()
        assert not view.following
        assert rows(viewer)[3] == top
        await viewer.pilot._post_mouse_events([events.MouseScrollDown], view, offset=(5, 2))
        await viewer.pilot.pause()
        assert view.following
        await viewer.pilot.click(view, offset=(20, 0))
        assert line_here(viewer) == rows(viewer)[0][11:]
        await viewer.pilot.click(view, offset=(20, 0), times=2)
        assert isinstance(viewer.app.screen, TextScreen)


@at_both_sizes
async def test_long_lines_are_wrapped_or_scrolled(tmp_path: Path, size: tuple[int, int]) -> None:
    run = ExampleRun(tmp_path)
    say(run, "<" + "0123456789" * 30 + ">\n")
    say(run, "short\n")
    async with logs(run, size) as viewer:
        view = view_of(viewer)
        room = view.size.width - 11
        assert "".join(row[11:] for row in rows(viewer)) == "<" + "0123456789" * 30 + ">" + "short"
        await viewer.press("W")
        assert rows(viewer)[0].startswith("10:53:20   <0123")
        assert rows(viewer)[0].endswith("›")
        assert rows(viewer)[1] == "10:53:20   short"
        await viewer.press("right")
        assert rows(viewer)[0][11:].startswith("‹89012")
        for _ in range(20):
            await viewer.press("D")
        assert rows(viewer)[1][11:] == "‹"
        await viewer.press("home")
        assert rows(viewer)[1][11:] == "short"
        await viewer.press("right", "left")
        assert rows(viewer)[0][11:].startswith("<0123")
        await viewer.press("W")
        assert len(rows(viewer)[0]) == 11 + room


@at_both_sizes
async def test_only_stderr(tmp_path: Path, size: tuple[int, int]) -> None:
    async with logs(talkative(tmp_path), size) as viewer:
        await viewer.press("E")
        assert "of 20 " in heading(viewer)
        assert "stderr only" in heading(viewer)
        assert all("▌ warning number" in row for row in rows(viewer) if row)
        await viewer.press("E")
        assert "of 200 " in heading(viewer)


@at_both_sizes
async def test_the_filter_keeps_lines(tmp_path: Path, size: tuple[int, int]) -> None:
    async with logs(talkative(tmp_path), size) as viewer:
        await viewer.press("slash")
        await viewer.type("number 1.7")
        await viewer.press("enter")
        assert [row[11:] for row in rows(viewer) if row] == [f"warning number 1{i}7" for i in range(10)][
            -view_of(viewer).size.height :
        ]
        assert "of 10 " in heading(viewer)
        assert "/number 1.7/" in heading(viewer)
        assert viewer.app.focused is view_of(viewer)
        await viewer.press("slash", *["backspace"] * 10)
        await viewer.type("no such thing")
        await viewer.press("enter")
        assert rows(viewer)[0] == " No line passes"
        await viewer.press("ctrl+l")
        assert "of 200 " in heading(viewer)
        assert "step 199" in rows(viewer)[-1]


@at_both_sizes
async def test_search_goes_from_match_to_match(tmp_path: Path, size: tuple[int, int]) -> None:
    async with logs(talkative(tmp_path), size) as viewer:
        view = view_of(viewer)
        await viewer.press("F")
        assert "search regex ›" in viewer.text()
        await viewer.type("number 1?7$")
        assert line_here(viewer) == "warning number 17"
        assert "match 2/2" in heading(viewer)
        await viewer.press("enter")
        assert viewer.app.focused is view
        await viewer.press("greater_than_sign")
        assert line_here(viewer) == "warning number 7"
        assert "match 1/2" in heading(viewer)
        assert "around the end" in viewer.status
        await viewer.press("greater_than_sign")
        assert line_here(viewer) == "warning number 17"
        await viewer.press("less_than_sign", "less_than_sign")
        assert line_here(viewer) == "warning number 17"
        y = next(y for y, row in enumerate(rows(viewer)) if row.endswith("warning number 17"))
        found = [s.text for s in view.render_line(y) if s.style is not None and s.style.bgcolor == found_ground(view)]
        assert found == ["number 17"]
        await viewer.press("escape")
        assert "match" not in heading(viewer)
        assert viewer.app.focused is view
        await viewer.press("greater_than_sign")
        assert "nothing is searched" in viewer.text()


async def test_what_is_typed_in_one_burst_is_searched(tmp_path: Path) -> None:
    async with logs(talkative(tmp_path), (80, 24)) as viewer:
        await viewer.press("F")
        for key in (*"mber", "enter", "up"):
            viewer.app.post_message(events.Key(key, key if len(key) == 1 else None))
        await viewer.until("match –/20", seconds=5)
        assert line_here(viewer).startswith("step 196")


def found_ground(view: ConsoleView) -> object:
    return view.part("console--found-here").bgcolor


@at_both_sizes
async def test_a_search_that_is_given_up_leaves_everything_as_it_was(tmp_path: Path, size: tuple[int, int]) -> None:
    async with logs(talkative(tmp_path), size) as viewer:
        before = rows(viewer)
        await viewer.press("F")
        await viewer.type("step 5?")
        await viewer.press("up", "up")
        assert rows(viewer) != before
        await viewer.press("escape")
        assert rows(viewer) == before
        assert view_of(viewer).following
        await viewer.press("F")
        await viewer.type("(")
        assert "not a regex yet" in viewer.text()
        await viewer.press("enter")
        assert "not a regular expression" in viewer.text()
        await viewer.press("tab")
        assert "search glob" in viewer.text()
        await viewer.press("backspace")
        await viewer.type("num*17")
        await viewer.press("enter")
        assert line_here(viewer) == "warning number 177" or line_here(viewer) == "warning number 17"


@at_both_sizes
async def test_the_line_and_the_crosshair_go_together(tmp_path: Path, size: tuple[int, int]) -> None:
    async with logs(talkative(tmp_path), size) as viewer:
        view = view_of(viewer)
        await viewer.press("up", "l")
        assert "linked" in heading(viewer)
        assert viewer.run.metrics.crosshair == (198.0, "step")
        await viewer.press(*["up"] * 8)
        assert line_here(viewer).startswith("step 190")
        assert viewer.run.metrics.crosshair == (190.0, "step")
        viewer.run.focus_pane("metrics")
        await viewer.press("left")
        await viewer.pilot.pause()
        crosshair = viewer.run.metrics.crosshair
        assert crosshair is not None
        at = int(crosshair[0])
        assert at < 199
        assert f" {at}" in line_here(viewer)
        viewer.run.focus_pane("logs")
        await viewer.press("l")
        assert "linked" not in heading(viewer)
        assert viewer.run.metrics.crosshair is None
        before = view.cursor
        view.show_moment(START + 3)
        assert view.cursor == before


@at_both_sizes
async def test_a_line_is_copied_and_shown_in_full(
    tmp_path: Path, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with logs(talkative(tmp_path), size) as viewer:
        copied: list[str] = []
        monkeypatch.setattr(viewer.app, "copy_to_clipboard", copied.append)
        await viewer.press("y")
        assert copied == ["step 199 of the training, loss 63"]
        assert "line copied" in viewer.status
        await viewer.press("enter")
        assert isinstance(viewer.app.screen, TextScreen)
        assert "10:56:39 stdout" in viewer.text()


@at_both_sizes
async def test_lines_are_saved_where_a_person_says(
    tmp_path: Path, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    async with logs(talkative(tmp_path), size) as viewer:
        await viewer.press("E", "ctrl+s")
        assert "save 20 lines to ›" in viewer.text()
        await viewer.press("enter")
        await viewer.until("saved 20 lines")
        written = here / "run-example1-console.log"
        assert written.read_text().splitlines() == [f"warning number {i}" for i in range(7, 200, 10)]
        await viewer.press("ctrl+s", "tab", "enter")
        assert "exists: Enter again overwrites it" in viewer.text()
        assert "with times" in viewer.text()
        assert written.read_text().startswith("warning number 7\n")
        await viewer.press("enter")
        await viewer.until("saved 20 lines")
        assert written.read_text().startswith("2025-11-30 10:53:27.000 stderr warning number 7\n")
        assert [path.name for path in here.iterdir()] == [written.name]
        await viewer.press("ctrl+s", "ctrl+u")
        await viewer.type(str(tmp_path / "nowhere" / "x.log"))
        await viewer.press("enter")
        await viewer.until("cannot save to")
        await viewer.press("ctrl+s", "escape")
        assert viewer.app.focused is view_of(viewer)


async def test_nothing_is_saved_among_the_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = talkative(tmp_path)
    monkeypatch.chdir(run.directory)
    async with logs(run, (120, 40)) as viewer:
        await viewer.press("ctrl+s")
        assert str(Path.home()) in view_of(viewer).screen.query_one("#prompt-input").value  # type: ignore[attr-defined]
        await viewer.press("ctrl+u")
        await viewer.type(str(run.directory / "files" / "x.log"))
        await viewer.press("enter")
        assert "this is among the data of runs" in viewer.text()
    assert not list(run.directory.rglob("*.log"))


@pytest.mark.parametrize(("width", "start"), [(80, "10:53:20   hello"), (44, "10:53   hello"), (30, "  hello")])
async def test_the_time_gives_way_to_the_text(tmp_path: Path, width: int, start: str) -> None:
    run = ExampleRun(tmp_path)
    say(run, "hello\n")
    async with logs(run, (width, 24)) as viewer:
        assert rows(viewer)[0].startswith(start)


@at_both_sizes
async def test_hostile_text_is_shown_and_not_obeyed(tmp_path: Path, size: tuple[int, int]) -> None:
    run = ExampleRun(tmp_path)
    say(run, "\x1b]0;owned\x07title \x1b[2Jgone\x9b5n \u202eexe.png [red]markup[/red] \x1b[?1049h\x00\x01\n")
    say(run, "\x1b[99999;99999Hfar\n", 1, error=True)
    say(run, "x" * 100_000 + "\n", 2)
    say(run, "\x1b]never ends", 3)
    async with logs(run, size) as viewer:
        await viewer.press("home")
        text = viewer.text()
        assert "\\u202eexe.png [red]markup[/red] ␁" in text
        assert all(UNSAFE.search(line) is None for line in viewer.lines())
        for key in ("W", "n", "n", "end", "W", "E", "E", "up", "F"):
            await viewer.press(key)


async def test_a_run_that_printed_nothing_says_so(tmp_path: Path) -> None:
    run = ExampleRun(tmp_path)
    run.train(5)
    async with logs(run, (80, 24)) as viewer:
        assert "Nothing has been printed in this run" in viewer.text()
        await viewer.press("up", "down", "n", "home", "end", "enter", "W", "E", "l", "y", "greater_than_sign")
        await viewer.press("ctrl+s")
        assert "there are no lines to save" in viewer.status


async def test_a_log_that_is_replaced_shows_its_new_lines(tmp_path: Path) -> None:
    view = ConsoleView()
    assert view.count == (0, 0)
    run = talkative(tmp_path)
    async with logs(run, (80, 24)) as viewer:
        await viewer.press("home")
        model = viewer.run.model
        other = ConsoleLog()
        from leet.reading.batch import ConsolePiece

        other.append([ConsolePiece("stdout", START, "another world\n")])
        model.console.take_over(other)
        view_of(viewer).data_changed()
        await viewer.pilot.pause()
        assert rows(viewer)[0].endswith("another world")
        model.console.clear()
        view_of(viewer).data_changed()
        await viewer.pilot.pause()
        assert "another world" not in viewer.text()


async def test_only_what_changes_is_painted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = talkative(tmp_path, 30)
    log = run.flush()
    async with logs(log, (80, 24), live=True, terminal=Terminal(now=START + 100)) as viewer:
        await viewer.press("home")
        painted: list[int] = []
        view = view_of(viewer)
        refresh = view.refresh

        def noted(*regions: object, **how: object) -> object:
            painted.append(len(regions))
            return refresh(*regions, **how)  # type: ignore[arg-type]

        monkeypatch.setattr(view, "refresh", noted)
        say(run, "more\n", 99)
        run.flush()
        await viewer.until("1 new line")
        # The last row, with the mark, and no others.
        assert set(painted) == {1}
        painted.clear()
        view.data_changed()
        assert not painted
    run.writer.close()


async def test_a_console_that_was_left_open_is_open_the_next_time(tmp_path: Path) -> None:
    log = talkative(tmp_path).finish(0)
    async with viewing(log, (80, 24), live=True) as viewer:
        await viewer.press("4")
        await viewer.until("step 199")
    async with viewing(log, (80, 24), live=True) as viewer:
        await viewer.until("step 199")
        assert rows(viewer)[-1].startswith("10:56:39   step 199")


KEYS = ["up", "down", "left", "right", "A", "D", "n", "N", "home", "end", "W", "E", "l", "F", "slash", "tab", "enter"]
KEYS += ["greater_than_sign", "less_than_sign", "y", "4", "t", "e", "p", "backspace"]


@pytest.mark.parametrize("seed", range(3))
async def test_any_keys_in_any_order(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    async with logs(talkative(tmp_path), (80, 24)) as viewer:
        for _ in range(40):
            for _ in range(chance.randint(1, 5)):
                key = chance.choice(KEYS)
                viewer.app.post_message(events.Key(key, key if len(key) == 1 else None))
            if chance.random() < 0.1:
                await viewer.pilot.resize_terminal(*chance.choice([(80, 24), (40, 12), (120, 40), (20, 6)]))
            await viewer.pilot.pause()
        assert viewer.app._exception is None
        async with asyncio.timeout(60):
            while len(viewer.app.screen_stack) > 1:
                await viewer.press("escape")
        view = view_of(viewer)
        view.paint_now()
        viewer.run.focus_pane("logs")
        await viewer.press("end")
        kept, total = view.count
        assert total == 200
        assert not kept or view.following
