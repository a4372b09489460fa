"""The run screen: what it shows of a run in each of its states, at every size, and while the run grows."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path
from typing import IO, Any

import pytest
from conftest import corpus_logs
from example_run import ExampleRun, trained
from viewer import NOW, happened, viewing

from leet.discovery import Found
from leet.reading import log_file
from leet.tui.app import LeetApp
from leet.tui.terminal import Terminal
from leet.tui.widgets.pane import Pane
from leet.tui.widgets.status_line import fitting

SIZES = [(80, 24), (120, 40), (200, 50)]


def shown_panes(viewer) -> list[str]:  # type: ignore[no-untyped-def]
    return [pane.id or "" for pane in viewer.run.query(Pane) if pane.display]


@pytest.mark.parametrize("size", SIZES, ids=lambda s: f"{s[0]}x{s[1]}")
async def test_a_finished_run_at_every_size(tmp_path: Path, size: tuple[int, int]) -> None:
    async with viewing(trained(tmp_path), size) as viewer:
        assert len(viewer.lines()) == size[1]
        assert "✓ finished · balmy-river-7 · step 199" in viewer.status
        assert "? help" in viewer.status
        assert "grad_norm" in viewer.text()
        panes = ["metrics-pane"] if size[0] == 80 else ["overview-pane", "metrics-pane", "system-pane"]
        assert shown_panes(viewer) == panes


async def test_the_overview_tells_who_the_run_is(tmp_path: Path) -> None:
    async with viewing(trained(tmp_path), (200, 50)) as viewer:
        text = viewer.text()
        for wanted in (
            "state    ✓ finished",
            "name     balmy-river-7",
            "id       example1",
            "project  demo",
            "tags     baseline, mlp",
            "first try with the wider layer",
            "runtime  3 min 20 s",
            "CPython 3.11.7",
            "model.dropout  0.1",
            "model.layers   [64, 64]",
            "layers/0/grad",
        ):
            assert wanted in text, wanted


async def test_metrics_come_in_natural_order(tmp_path: Path) -> None:
    async with viewing(trained(tmp_path, metrics=18), (200, 50)) as viewer:
        names = [source.title for source in viewer.run.metrics.sources]
        assert names.index("layers/2/grad") < names.index("layers/10/grad")
        assert not any(name.startswith("_") for name in names)


async def test_system_metrics_of_several_devices_share_a_chart(tmp_path: Path) -> None:
    async with viewing(trained(tmp_path), (200, 50)) as viewer:
        assert "GPU Utilization" in viewer.text()
        assert "GPU 0" in viewer.text()
        assert "GPU 1" in viewer.text()


async def test_a_run_without_system_metrics_leaves_the_room_to_its_charts(tmp_path: Path) -> None:
    async with viewing(trained(tmp_path, samples=0), (200, 50)) as viewer:
        assert shown_panes(viewer) == ["overview-pane", "metrics-pane"]
        await viewer.press("right_square_bracket")
        assert "No system metrics in this run" in viewer.text()


@pytest.mark.parametrize(("code", "wanted"), [(0, "✓ finished"), (3, "✗ failed (exit code 3)")])
async def test_the_exit_code_decides_the_state(tmp_path: Path, code: int, wanted: str) -> None:
    run = ExampleRun(tmp_path)
    run.train(5)
    async with viewing(run.finish(code)) as viewer:
        assert wanted in viewer.status


async def test_ten_silent_minutes_are_a_crash(tmp_path: Path) -> None:
    run = ExampleRun(tmp_path)
    run.train(5)
    log = run.flush()
    written = log.stat().st_mtime
    async with viewing(log, terminal=Terminal(now=written + 30)) as viewer:
        assert "● running" in viewer.status
        assert "written 30 s ago" in viewer.status
    async with viewing(log, terminal=Terminal(now=written + 700)) as viewer:
        assert "✗ crashed (silent for" in viewer.status
    run.writer.close()


async def test_a_log_that_only_has_its_header_is_waited_for(tmp_path: Path, corpus: Path) -> None:
    [log] = (corpus / "kill9_early").glob("wandb/*run-*/run-*.wandb")
    fresh = tmp_path / log.name
    fresh.write_bytes(log.read_bytes())
    async with viewing(fresh, terminal=Terminal(now=fresh.stat().st_mtime + 1)) as viewer:
        assert "○ waiting (7 B so far)" in viewer.status
        assert "Waiting for the first flush" in viewer.text()


async def test_a_log_that_cannot_be_read_is_said_to_be_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = ExampleRun(tmp_path)
    run.train(5)
    log = run.flush()

    def refuse(*arguments: Any, **more: Any) -> IO[Any]:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(log))

    monkeypatch.setattr(log_file, "open", refuse, raising=False)
    async with viewing(log, live=True, terminal=Terminal()) as viewer:
        await viewer.until("✗ unreadable (Permission denied)")
        await viewer.until(f"{log.name} cannot be read: Permission denied")
        monkeypatch.undo()
        await viewer.until("● running")
        assert "unreadable" not in viewer.text()


async def test_the_screen_follows_a_growing_run(tmp_path: Path) -> None:
    run = ExampleRun(tmp_path)
    run.train(3)
    run.flush()
    async with viewing(run.log, live=True, terminal=Terminal()) as viewer:
        assert "step 2" in viewer.status
        run.row({"fresh/metric": 1.5})
        run.flush()
        await viewer.until("fresh/metric")
        await viewer.until("step 3")
        run.sample(3)
        run.flush()
        await viewer.until("GPU Utilization")
        run.record("config", {"update": [{"key": "added_later", "value_json": "17"}]})
        run.flush()
        await viewer.until("added_later")
        run.finish()
        await viewer.until("✓ finished")


async def test_metrics_of_a_growing_run_keep_filter_and_page(tmp_path: Path) -> None:
    run = ExampleRun(tmp_path)
    run.train(3, metrics=40)
    run.flush()
    async with viewing(run.log, live=True, terminal=Terminal()) as viewer:
        await viewer.press("slash")
        await viewer.type("layers")
        await viewer.press("enter", "n")
        before = viewer.titles
        run.train(3, metrics=40)
        run.row({"aaa": 1})
        run.flush()
        await viewer.until("step 6")
        assert viewer.titles == before
        run.row({"layers/zz": 1})
        run.flush()
        for _ in range(200):
            if len(viewer.run.metrics.sources) == 35:
                break
            await viewer.pilot.pause(0.05)
        assert viewer.titles == before
    run.writer.close()


async def test_a_replaced_log_starts_anew(tmp_path: Path) -> None:
    run = ExampleRun(tmp_path)
    run.train(30)
    run.flush()
    async with viewing(run.log, live=True, terminal=Terminal()) as viewer:
        assert "step 29" in viewer.status
        other = ExampleRun(tmp_path / "elsewhere", name="second-try-8")
        other.row({"only/here": 1.0})
        log = other.finish()
        log.replace(run.log)
        await viewer.until("second-try-8")
        await viewer.until("only/here")
        await viewer.until("grad_norm", gone=True)
    run.writer.close()


async def test_a_removed_log_is_said_and_survived(tmp_path: Path) -> None:
    run = ExampleRun(tmp_path)
    run.train(30)
    run.flush()
    run.writer.close()
    async with viewing(run.log, live=True, terminal=Terminal()) as viewer:
        run.log.unlink()
        await viewer.until("removed")
        assert "grad_norm" in viewer.text()


async def test_other_runs_beside_it_are_said(tmp_path: Path) -> None:
    async with viewing(trained(tmp_path), others=4) as viewer:
        assert "latest of 5" in viewer.text()


async def test_text_of_a_log_cannot_act_on_the_terminal(tmp_path: Path) -> None:
    evil = "\x1b]0;owned\x07[bold red]x[/]\u202e\x1b[2J"
    run = ExampleRun(tmp_path, name=evil, project=evil)
    run.record("config", {"update": [{"key": evil, "value_json": '"\\u001b[31mred\\u202e"'}]})
    run.row({evil: 1.0, "[/nope]": 2.0})
    async with viewing(run.finish(), (200, 50)) as viewer:
        for line in viewer.lines():
            assert not any(ord(char) < 32 or char == "\u202e" for char in line), repr(line)
        assert "[bold red]x" in viewer.text()
        assert "[/nope]" in viewer.text()
        await viewer.press("left_square_bracket", "left_square_bracket", "shift+tab", "enter")
        for line in viewer.lines():
            assert not any(ord(char) < 32 for char in line), repr(line)


@pytest.mark.parametrize("log", corpus_logs(), ids=lambda p: p.parent.parent.parent.name + "-" + p.stem)
async def test_every_real_log_can_be_looked_at(log: Path) -> None:
    async with viewing(log, (120, 40)) as viewer:
        assert "Metrics" in viewer.text() or not viewer.run.model.metrics.names()
        await viewer.press("n", "right_square_bracket", "tab", "down", "enter", "escape", "question_mark", "escape")
        assert viewer.app.is_running


@pytest.mark.parametrize("size", [(20, 6), (39, 10), (60, 15), (97, 12), (400, 120)], ids=lambda s: f"{s[0]}x{s[1]}")
async def test_odd_sizes_do_no_harm(tmp_path: Path, size: tuple[int, int]) -> None:
    async with viewing(trained(tmp_path), size) as viewer:
        assert len(viewer.lines()) == size[1]
        await viewer.press("left_square_bracket", "right_square_bracket", "slash", "a", "escape", "h", "escape")
        assert viewer.app.is_running


async def test_resizing_folds_and_unfolds_the_sidebars(tmp_path: Path) -> None:
    async with viewing(trained(tmp_path), (200, 50)) as viewer:
        for width, panes in ((80, 1), (200, 3), (100, 2), (120, 3)):
            await viewer.pilot.resize_terminal(width, 40)
            await viewer.pilot.pause()
            assert len(shown_panes(viewer)) == panes, (width, shown_panes(viewer))


async def test_sixteen_colours_use_only_the_terminals_own(tmp_path: Path) -> None:
    async with viewing(trained(tmp_path), terminal=Terminal(depth="16", now=NOW)) as viewer:
        styles = {s.style for line in viewer.app.screen._compositor.render_strips() for s in line if s.style}
        used = {color.name for style in styles for color in (style.color, style.bgcolor) if color is not None}
        assert not {name for name in used if name.startswith("#")}, used


async def test_ascii_keeps_every_widget_to_seven_bits(tmp_path: Path) -> None:
    async with viewing(trained(tmp_path), (200, 50), terminal=Terminal(ascii=True, now=NOW)) as viewer:
        assert viewer.text().isascii()
        for keys in (["slash"], ["escape", "h"], ["escape", "ctrl+p"], ["escape", "enter"]):
            await viewer.press(*keys)
            assert viewer.text().isascii(), viewer.text()


async def test_no_color_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with viewing(trained(tmp_path), (200, 50)) as viewer:
        styles = {s.style for line in viewer.app.screen._compositor.render_strips() for s in line if s.style}
        used = {color.name for style in styles for color in (style.color, style.bgcolor) if color is not None}
        assert used <= {"default"}


@pytest.mark.parametrize("theme", ["leet-light", "textual-light", "nord", "ansi-light"])
async def test_other_themes_are_only_other_colours(tmp_path: Path, theme: str) -> None:
    log = trained(tmp_path)
    async with viewing(log) as viewer:
        usual = viewer.text()
    async with viewing(log, theme=theme) as viewer:
        assert viewer.text() == usual


async def test_keys_are_answered_while_a_log_is_read(tmp_path: Path) -> None:
    run = ExampleRun(tmp_path)
    run.train(4000, metrics=40)
    log = run.finish()
    app = LeetApp(Found(log), terminal=Terminal(now=NOW), live=False)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("left_square_bracket")
        assert not app.run_screen.query_one("#overview-pane").display
        await happened(app.run_screen.loaded)
        assert app.run_screen.model.rows == 4000


@pytest.mark.parametrize("size", SIZES, ids=lambda s: f"{s[0]}x{s[1]}")
async def test_pictures_do_not_change_unseen(tmp_path: Path, size: tuple[int, int], golden, utc) -> None:  # type: ignore[no-untyped-def]
    log = trained(tmp_path)
    os.utime(log, (NOW - 300, NOW - 300))
    async with viewing(log, size) as viewer:
        golden(f"run-{size[0]}x{size[1]}", viewer.text())


async def test_damage_is_named_in_eighty_columns(tmp_path: Path) -> None:
    log = trained(tmp_path)
    data = bytearray(log.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 9] = b"\xff" * 9
    log.write_bytes(data)
    async with viewing(log, (80, 24)) as viewer:
        assert "damage " in viewer.status
        assert "q quit" in viewer.status


async def test_what_is_no_log_is_said_in_the_middle(tmp_path: Path) -> None:
    log = tmp_path / "run-a.wandb"
    log.write_bytes(b"hello, I am a text\n" * 50)
    async with viewing(log, (80, 24)) as viewer:
        assert any("not a W&B log" in line for line in viewer.lines()[5:-2])
        assert "no run log" in viewer.status
        assert "ended" not in viewer.status
        assert "Waiting" not in viewer.text()
        assert "0 B" not in viewer.text()


async def test_a_silent_run_is_in_doubt(tmp_path: Path) -> None:
    run = ExampleRun(tmp_path)
    run.train(5)
    run.flush()
    os.utime(run.log, (NOW - 200, NOW - 200))
    async with viewing(run.log, (200, 50)) as viewer:
        assert "◌ running?, silent for 3 min" in viewer.status
        assert "running?" in viewer.lines()[1]
    os.utime(run.log, (NOW - 20, NOW - 20))
    async with viewing(run.log, (120, 40)) as viewer:
        assert "● running · " in viewer.status


async def test_the_state_and_the_way_out_are_worth_most_in_eighty_columns(tmp_path: Path) -> None:
    run = ExampleRun(tmp_path, name="a-name-that-is-longer-than-most-names-are")
    run.train(1205, metrics=30)
    run.flush()
    os.utime(run.log, (NOW - 20, NOW - 20))
    async with viewing(run.log, (80, 24)) as viewer:
        for part in ("● running", "step 1,204", "written 20 s ago", "page 1/", "? help", "q quit"):
            assert part in viewer.status
        viewer.run.status.say("the first of several words that do not fit beside all that has to stay there")
        await viewer.pilot.pause()
        for part in ("● running", "step 1,204", "? help", "q quit"):
            assert part in viewer.status
        assert "the first of several words that do not fit beside all that has to stay there" in viewer.lines()[-2]


@pytest.mark.parametrize(
    ("width", "text"),
    [(99, "one two three four"), (18, "one two three four"), (13, "one two"), (9, "one two"), (5, "one…")],
)
def test_a_message_in_several_wordings(width: int, text: str) -> None:
    assert fitting(("one two three four", "one two"), width) == text


async def test_what_lasts_does_not_wait_for_a_message_that_passes(tmp_path: Path) -> None:
    async with viewing(trained(tmp_path), live=True) as viewer:
        viewer.run.status.say("a passing message")
        viewer.run.status.say("a question?", lasting=True)
        assert "a question?" in viewer.status
        viewer.run.status.say("a passing message")
        viewer.run.status.say(lasting=True)
        assert "a passing message" in viewer.status


async def test_a_log_that_comes_back_is_no_longer_said_to_be_gone(tmp_path: Path) -> None:
    run = ExampleRun(tmp_path)
    run.train(5)
    log = run.finish()
    data = log.read_bytes()
    async with viewing(log, live=True) as viewer:
        log.unlink()
        await viewer.until("has been removed")
        log.write_bytes(data)
        await viewer.until("has been removed", gone=True)
        log.unlink()
        os.mkfifo(log)
        await viewer.until("is not a regular file")


@pytest.mark.parametrize("width", [30, 50, 80, 100, 200])
async def test_figures_are_whole_at_every_width(tmp_path: Path, width: int) -> None:
    run = ExampleRun(tmp_path)
    for step in range(3000):
        run.row({"loss": 1234.567 / (1 + step) if step % 700 else float("nan")})
    async with viewing(run.finish(), (width, 24)) as viewer:
        await viewer.press("enter")
        row = viewer.lines()[-2]
        assert "last 0.4115" in row
        place, wrong = r"( @ [\d,]+)?", r"  5 not finite(: (NaN @ [\d,]+, )+…)?"
        figure = rf"  (min|max|last) [\d.]+k?{place}|  mean [\d.]+|  points 3,000|{wrong}"
        assert re.fullmatch(rf"({figure})+", row), row
