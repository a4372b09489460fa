"""The record inspector: the real screen on real logs, broken ones and growing ones."""

from __future__ import annotations

import json
import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from example_run import ExampleRun, trained
from terminals import viewer as terminal_of
from textual import events
from textual.pilot import Pilot
from viewer import happened, viewing

from leet.settings.store import reload
from leet.tui.records_app import RecordsApp
from leet.tui.screens.records_screen import RecordsScreen
from leet.tui.screenshot import text_of
from leet.tui.terminal import Terminal
from recorder.transaction_log.wire import history_record


class Inspector:
    """What a test does: press keys, look."""

    def __init__(self, app: RecordsApp, pilot: Pilot[object]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def screen(self) -> RecordsScreen:
        return next(screen for screen in self.app.screen_stack if isinstance(screen, RecordsScreen))

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()
        self.screen.paint_now()
        await self.pilot.pause()

    async def type(self, text: str) -> None:
        await self.press(*("space" if char == " " else char for char in text))

    def text(self) -> str:
        return text_of(self.app)

    def lines(self) -> list[str]:
        return self.text().splitlines()

    @property
    def list(self) -> list[str]:
        """The lines of the list, cut off at its border."""
        width = self.screen.query_one("#records-side").size.width
        return [line[:width].rstrip() for line in self.lines()[1:-1]]

    @property
    def shown(self) -> str:
        """The record at the right, below its heading."""
        left = self.screen.query_one("#record-side").region.x
        return "\n".join(line[left:].rstrip() for line in self.lines()[:-1])

    async def until(self, wanted: str, seconds: float = 20.0) -> None:
        for _ in range(int(seconds / 0.05)):
            if re.search(wanted, self.text()):
                return
            await self.pilot.pause(0.05)
        raise AssertionError(f"{wanted!r} did not appear on\n{self.text()}")


@asynccontextmanager
async def inspecting(
    log: Path, size: tuple[int, int] = (120, 30), *, live: bool = False, terminal: Terminal | None = None
) -> AsyncIterator[Inspector]:
    app = RecordsApp(log, terminal=terminal or Terminal(), live=live)
    async with app.run_test(size=size) as pilot:
        inspector = Inspector(app, pilot)
        await happened(inspector.screen.loaded)
        await inspector.press()
        yield inspector


async def test_list_and_record(tmp_path: Path) -> None:
    async with inspecting(trained(tmp_path, 50)) as inspector:
        assert inspector.list[0].split()[:3] == ["1", "header", "0.31.0"]
        assert re.match(r" *2 run +balmy-river-7 · example1 ·…", inspector.list[1])
        assert "Record 1 · header" in inspector.shown
        assert "version_info.producer  0.31.0" in inspector.shown
        await inspector.press("down")
        assert "Record 2 · run" in inspector.shown
        assert re.search(r"display_name +balmy-river-7", inspector.shown)
        assert "144 records" in inspector.lines()[-1]


async def test_every_way_of_moving(tmp_path: Path) -> None:
    async with inspecting(trained(tmp_path, 50), (100, 20)) as inspector:
        height = inspector.screen.list.size.height

        def place() -> int:
            return inspector.screen.list.place

        for keys, wanted in (
            (("s", "down"), 2),
            (("w",), 1),
            (("up",), 0),
            (("up",), 0),
            (("n",), height),
            (("pagedown",), 2 * height),
            (("N",), height),
            (("pageup",), 0),
            (("end",), 143),
            (("home",), 0),
        ):
            await inspector.press(*keys)
            assert place() == wanted, keys
        await inspector.pilot.click("#records-list", offset=(3, 4))
        await inspector.press()
        assert place() == 4
        await inspector.pilot._post_mouse_events([events.MouseScrollDown], "#records-list", (3, 4))
        await inspector.press()
        assert place() == 7


async def test_the_record_scrolls_by_itself(tmp_path: Path) -> None:
    run = ExampleRun(tmp_path)
    run.row({f"metric_{i:03}": i for i in range(100)})
    async with inspecting(run.finish(), (100, 20)) as inspector:
        await inspector.press("down", "down", "down", "tab")
        assert "item.metric_000" in inspector.shown
        await inspector.press("pagedown")
        assert "item.metric_000" not in inspector.shown
        assert re.search(r"lines \d+–\d+ of 104", inspector.lines()[0])
        await inspector.press("end")
        assert "item.metric_099" in inspector.shown
        await inspector.press("escape", "up", "down")
        assert "item.metric_000" in inspector.shown


async def test_three_forms_of_a_record(tmp_path: Path) -> None:
    run = ExampleRun(tmp_path)
    run.row({"loss": 0.25})
    async with inspecting(run.finish()) as inspector:
        await inspector.press("down", "down", "down")
        assert "item.loss        0.25" in inspector.shown
        await inspector.press("J")
        assert 'nested_key: "loss"' in inspector.shown
        assert 'value_json: "0.25"' in inspector.shown
        await inspector.press("J")
        assert '"loss": 0.25' in inspector.shown
        await inspector.press("J")
        assert "item.loss        0.25" in inspector.shown


async def test_copying_gives_the_line_of_inspect(tmp_path: Path) -> None:
    run = ExampleRun(tmp_path)
    run.row({"loss": 0.25})
    async with inspecting(run.finish()) as inspector:
        await inspector.press("down", "down", "down", "y")
        copied = json.loads(inspector.app.clipboard)
        assert (copied["num"], copied["type"], copied["history"]["item"]["loss"]) == (4, "history", 0.25)
        assert "copied as JSON" in inspector.lines()[-1]


async def test_a_filter_on_kind_or_digest(tmp_path: Path) -> None:
    async with inspecting(trained(tmp_path, 60)) as inspector:
        await inspector.press("slash")
        await inspector.type("exit")
        await inspector.press("enter")
        assert [line.split()[1] for line in inspector.list if line.strip()] == ["exit"]
        assert "1 of 1 (164)" in inspector.lines()[0]
        await inspector.press("slash", "ctrl+l")
        await inspector.type("step 4. ")
        await inspector.press("enter")
        await inspector.until(r"1 of 10 \(164\)")
        assert all("history      step 4" in line for line in inspector.list if line.strip())
        await inspector.press("end", "ctrl+l")
        assert "(164)" not in inspector.lines()[0]
        assert re.search(r"step.num +49", inspector.shown)


async def test_a_filter_keeps_the_cursor_where_it_can(tmp_path: Path) -> None:
    async with inspecting(trained(tmp_path, 60)) as inspector:
        await inspector.press("colon")
        await inspector.type("50")
        await inspector.press("enter")
        assert "Record 50 ·" in inspector.shown
        await inspector.press("slash")
        await inspector.type("summary")
        await inspector.press("enter")
        kept = inspector.screen.list.row
        assert kept is not None
        assert abs(inspector.screen.feed.index.number(kept) - 50) <= 1


async def test_what_is_no_expression_is_said(tmp_path: Path) -> None:
    async with inspecting(trained(tmp_path, 20)) as inspector:
        await inspector.press("slash")
        await inspector.type("(")
        assert "not a regex yet" in inspector.text()
        await inspector.press("escape")
        await inspector.press("slash")
        await inspector.type("nothing like it")
        await inspector.until("No record matches")


async def test_going_to_a_number_or_an_offset(tmp_path: Path) -> None:
    async with inspecting(trained(tmp_path, 60)) as inspector:
        index = inspector.screen.feed.index
        offset = index.offset(70)
        for typed, wanted in ((f"@{offset + 3}", 71), ("12", 12), ("1,000,000", 164), ("0", 1)):
            await inspector.press("colon")
            await inspector.type(typed)
            await inspector.press("enter")
            assert f"Record {wanted} ·" in inspector.shown, typed
        await inspector.press("g")
        await inspector.type("x7")
        await inspector.press("enter")
        assert "is no number" in inspector.lines()[-1]
        await inspector.press("slash")
        await inspector.type("exit")
        await inspector.press("enter", "g", "5", "enter")
        assert "the filter hides it" in inspector.lines()[-1]
        await inspector.press("ctrl+l", "home", "g", "escape", "down")
        assert "Record 2 ·" in inspector.shown


async def test_damage_is_marked_in_its_place(tmp_path: Path) -> None:
    log = trained(tmp_path, 300)
    content = bytearray(log.read_bytes())
    content[40000:40100] = b"\xff" * 100
    log.write_bytes(content[:-30])
    async with inspecting(log) as inspector:
        index = inspector.screen.feed.index
        row = next(row for row in range(len(index)) if index.is_damage(row))
        assert index.offset(row) <= 40000 < index.offset(row) + index.length(row)
        assert "damage in 2 places" in inspector.lines()[-1]
        await inspector.press("slash")
        await inspector.type("damage")
        await inspector.press("enter")
        assert re.match(r" *⚠ \d+ bytes skipped: a wrong checksum", inspector.list[0])
        assert re.search("⚠ .*: an unfinished end", inspector.list[1])
        assert "could not be read: a wrong checksum" in inspector.shown
        assert re.search(r"\d+  [0-9a-f]{2}( [0-9a-f]{2}){7}  .{8}", inspector.shown)
        await inspector.press("y")
        assert "no record to copy" in inspector.lines()[-1]


async def test_the_list_follows_a_growing_log(tmp_path: Path) -> None:
    run = ExampleRun(tmp_path)
    run.train(5)
    run.flush()
    async with inspecting(run.log, live=True) as inspector:
        assert "13 records" in inspector.lines()[-1]
        await inspector.press("end")
        assert "following" in inspector.lines()[-1]
        run.train(30)
        run.flush()
        await inspector.until("73 records")
        assert "Record 73 · summary" in inspector.shown
        await inspector.press("up")
        assert "following" not in inspector.lines()[-1]
        run.finish()
        await inspector.until("74 records")
        assert "Record 72 · history" in inspector.shown


async def test_the_sentence_under_a_filter_names_the_key_that_was_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "config" / "leet" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text('[keys]\nrecords_clear = "f9"\n')
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    reload()
    async with inspecting(trained(tmp_path, 20)) as inspector:
        await inspector.press("slash", *"zzz", "enter")
        await inspector.until("f9 shows all again")


async def test_a_filter_takes_in_what_comes_later(tmp_path: Path) -> None:
    run = ExampleRun(tmp_path)
    run.train(3)
    run.flush()
    async with inspecting(run.log, live=True) as inspector:
        await inspector.press("slash")
        await inspector.type("step 9")
        await inspector.press("enter")
        await inspector.until("No record matches")
        run.train(8)
        run.flush()
        await inspector.until(r"\d+ history +step 9")
        await inspector.press()
        assert sum("history" in line for line in inspector.list) == 1


async def test_a_long_record_is_read_beside_the_screen(tmp_path: Path) -> None:
    run = ExampleRun(tmp_path)
    run.writer.append(history_record([((f"metric_{i}",), str(i)) for i in range(20000)], 0))
    async with inspecting(run.finish()) as inspector:
        await inspector.until(r"4 history +step 0 · metric_0 0, metric_1")
        await inspector.press("down", "down", "down")
        await inspector.until(r"lines 1–\d+ of 20,001")
        await inspector.press("tab", "end")
        await inspector.until("item.metric_9999 ")


async def test_the_width_of_the_list(tmp_path: Path) -> None:
    log = trained(tmp_path, 5)
    for width, wanted in ((120, 46), (80, 36), (220, 72)):
        async with inspecting(log, (width, 24)) as inspector:
            side = inspector.screen.query_one("#records-side")
            assert side.size.width == wanted
            await inspector.press("ctrl+left")
            assert side.size.width == wanted - 4
            await inspector.press("ctrl+right", "ctrl+right")
            assert side.size.width == wanted + 4
            await inspector.press("0")
            assert side.size.width == wanted


async def test_the_border_is_dragged_and_remembered(tmp_path: Path) -> None:
    log = trained(tmp_path, 5)
    async with inspecting(log, live=True) as inspector:
        side = inspector.screen.query_one("#records-side")
        width = side.size.width
        await inspector.pilot.mouse_down("#record-side", offset=(0, 10))
        await inspector.pilot.hover("#record-side", offset=(9, 10))
        await inspector.pilot.mouse_up("#record-side", offset=(9, 10))
        moved = side.size.width
        assert moved > width
        await inspector.press("J")
    async with inspecting(log, live=True) as inspector:
        assert inspector.screen.query_one("#records-side").size.width == moved
        assert "protobuf text" in inspector.lines()[0]
        await inspector.press("0")
        assert inspector.screen.query_one("#records-side").size.width == width


async def test_one_side_at_a_time_where_there_is_no_room(tmp_path: Path) -> None:
    async with inspecting(trained(tmp_path, 5), (50, 12)) as inspector:
        assert "Record 1" not in inspector.text()
        await inspector.press("tab")
        assert "Record 1 · header" in inspector.text()
        assert "Records " not in inspector.text()
        await inspector.press("escape")
        assert "Record 1" not in inspector.text()


async def test_the_record_over_the_whole_width(tmp_path: Path) -> None:
    async with inspecting(trained(tmp_path, 5)) as inspector:
        await inspector.press("enter")
        assert inspector.lines()[0].startswith(" Record 1 · header")
        await inspector.press("enter")
        assert inspector.lines()[0].startswith(" Records ")


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50), (30, 6)], ids=lambda s: f"{s[0]}x{s[1]}")
async def test_ascii_and_no_colour(tmp_path: Path, size: tuple[int, int]) -> None:
    log = trained(tmp_path, 100)
    log.write_bytes(log.read_bytes()[:-9])
    async with inspecting(log, size, terminal=Terminal(depth="none", ascii=True)) as inspector:
        await inspector.press("end")
        assert inspector.text().isascii()
        assert len(inspector.lines()) == size[1]


async def test_nothing_of_a_log_reaches_the_terminal_raw(tmp_path: Path) -> None:
    run = ExampleRun(tmp_path)
    run.row({"evil\x1b[2J\u202e[bold]": 1})
    run.record("output_raw", {"line": "a\x1b[31mred\x07[link=x]\n"})
    run.record("alert", {"title": "\x1b]0;title\x07", "text": "[red]x[/]"})
    async with inspecting(run.finish()) as inspector:
        for _ in range(3):
            for _ in range(7):
                assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", inspector.text())
                await inspector.press("down")
            assert "[bold]" in inspector.text()
            await inspector.press("home", "J")


async def test_what_is_no_log(tmp_path: Path) -> None:
    path = tmp_path / "run-x.wandb"
    path.write_bytes(b"no log at all, not even nearly")
    async with inspecting(path) as inspector:
        assert "not a W&B log" in inspector.text()
        await inspector.press("down", "end", "y", "tab", "J")


async def test_an_empty_log_waits(tmp_path: Path) -> None:
    path = tmp_path / "run-x.wandb"
    path.write_bytes(b"")
    async with inspecting(path, live=True) as inspector:
        assert "No record yet" in inspector.text()
        await inspector.press("down", "end", "y", "slash", "a", "enter")


async def test_help_lists_its_keys(tmp_path: Path) -> None:
    async with inspecting(trained(tmp_path, 5), (120, 60)) as inspector:
        await inspector.pilot.press("question_mark")
        await inspector.until("All keys")
        await inspector.pilot.press("escape", "q")


async def test_from_a_run_and_back(tmp_path: Path) -> None:
    async with viewing(trained(tmp_path, 5)) as viewer:
        await viewer.press("i")
        await viewer.until("Record 1 · header")
        await viewer.press("down", "tab", "escape")
        assert "Record 2 · run" in viewer.text()
        await viewer.press("escape")
        await viewer.until("grad_norm")
        assert "Record 2" not in viewer.text()


def test_inspect_on_a_terminal_shows_the_list(tmp_path: Path) -> None:
    log = trained(tmp_path, 30)
    with terminal_of("inspect", str(log)) as terminal:
        text = terminal.until(r"104 records")
        assert "Record 1 · header" in text
        terminal.type("/exit\r", r"1 of 1 \(104\)")
        terminal.send("q")
        assert terminal.end() == 0
        assert b"Traceback" not in terminal.raw


def test_inspect_on_a_terminal_refuses_what_is_no_log(tmp_path: Path) -> None:
    path = tmp_path / "run-x.wandb"
    path.write_bytes(b"no log at all, not even nearly")
    with terminal_of("inspect", str(path)) as terminal:
        assert terminal.end() == 1
        assert "not a W&B log" in terminal.text.replace("\n", " ")


def test_flags_print_as_before(tmp_path: Path) -> None:
    log = trained(tmp_path, 3)
    with terminal_of("inspect", str(log), "--summary", LEET_NOW=str(os.stat(log).st_mtime)) as terminal:
        assert terminal.end() == 0
        assert "balmy-river-7" in terminal.text
