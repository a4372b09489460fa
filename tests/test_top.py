"""`leet top` on the machine that the tests run on, with and without a GPU."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from example_run import trained
from terminals import ROOT, viewer
from test_nvidia import build
from textual.pilot import Pilot
from viewer import happened

from leet import cli
from leet.discovery import find_run, of_machine
from leet.model.live_system import LiveSystem, gpus_in, real_mounts
from leet.model.vitals import Vital, vitals
from leet.reading.peek import peek
from leet.tui.screens.top_screen import CORES, TopScreen
from leet.tui.screenshot import text_of
from leet.tui.terminal import Terminal
from leet.tui.top_app import interval
from leet.tui.top_frame import TopApp
from leet.tui.widgets.vitals import fitting


class Top:
    """What a test does with the app: press keys, look at the screen."""

    def __init__(self, app: TopApp, pilot: Pilot[object]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def screen(self) -> TopScreen:
        return self.app.top_screen

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()
        self.screen.paint_now()
        await self.pilot.pause()

    def text(self) -> str:
        return text_of(self.app)

    def lines(self) -> list[str]:
        return self.text().splitlines()

    @property
    def titles(self) -> list[str]:
        return [source.title for source in self.screen.grid.sources]

    async def until(self, pattern: str, seconds: float = 30.0) -> str:
        for _ in range(int(seconds / 0.05)):
            if re.search(pattern, self.text()):
                return self.text()
            await self.pilot.pause(0.05)
        raise AssertionError(f"{pattern!r} did not appear on\n{self.text()}")


@asynccontextmanager
async def watching(
    size: tuple[int, int] = (120, 40), directory: str = ".", *, record: bool = False, terminal: Terminal | None = None
) -> AsyncIterator[Top]:
    app = TopApp(terminal or Terminal(), 0.2, directory, record=record)
    async with app.run_test(size=size) as pilot:
        await happened(app.top_screen.sampled)
        await pilot.pause()
        app.top_screen.paint_now()
        await pilot.pause()
        yield Top(app, pilot)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50)], ids=lambda s: f"{s[0]}x{s[1]}")
async def test_vitals_processes_and_charts(size: tuple[int, int]) -> None:
    async with watching(size) as top:
        text = top.text()
        assert len(top.lines()) == size[1]
        assert re.match(r" \S+ • up .* • load \d", top.lines()[0])
        assert re.search(r"CPU +█*─* +\d+ %", text)
        assert re.search(r"Memory +█+─* +\d+ %", text)
        assert re.search(r"Network +↓ .* ↑ ", text)
        assert re.search(r"PID .*CPU %.*MEMORY.*COMMAND", text)
        await top.press("f", *str(os.getpid()))
        await top.press("enter")
        assert re.search(rf"^ *{os.getpid()} ", text := top.text(), re.MULTILINE), text


async def test_charts_come_in_their_order_with_cores_as_a_heat_map() -> None:
    async with watching() as top:
        await top.until("CPU Core")
        titles = top.titles
        wanted = [t for t in ("CPU Core", "System CPU", "System Memory (%)", "Network I/O") if t in titles]
        assert titles[: len(wanted)] == wanted or titles[:3] == wanted[:3]
        assert not any(title.startswith("Process") for title in titles)
        assert top.screen.grid.views[CORES].heat
        assert re.search(r"CPU Core ─+ 0 █+ 100%", top.text())
        await top.press("y")
        assert not top.screen.grid.views[CORES].heat


async def test_keys_of_the_grid() -> None:
    async with watching((160, 50)) as top:
        grid = top.screen.grid
        await top.press("c", "1")
        await top.press("r", "2")
        assert (grid.rows, grid.columns) == (2, 1)
        assert grid.page[:2] == (1, 2)
        await top.press("n")
        assert grid.page[:2] == (3, 4)
        await top.press("N")
        await top.press("end")
        assert grid.page[1] == grid.page[2]
        await top.press("home", "0")
        assert grid.rows > 2
        await top.press("down", "right")
        assert grid.focus_index is not None
        await top.press("enter")
        assert "chart" in top.lines()[-1]
        await top.press("escape")
        assert "PID" in top.text()
        await top.press("escape")
        assert grid.focus_index is None
        assert "last 10 min" in top.lines()[-1]
        await top.press("T")
        assert "all since the start" in top.lines()[-1]
        await top.press("g")
        assert grid.guides != "off"
        await top.press("v", "left", "escape")
        assert grid.crosshair is None


async def test_a_filter_of_the_charts() -> None:
    async with watching() as top:
        count = len(top.titles)
        await top.press("backslash", *"memory")
        assert "Memory" in top.titles[0]
        assert len(top.titles) < count
        await top.press("enter")
        assert "/memory/" in top.text()
        await top.press("ctrl+backslash")
        assert len(top.titles) == count
        await top.press("slash", *"qqq")
        assert "No metric matches" in top.text()
        await top.press("escape")
        assert len(top.titles) == count


async def test_sorting_tree_and_what_a_process_is() -> None:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(90)", "evil\x1b[2J[bold]"])
    try:
        async with watching((120, 40)) as top:
            assert "by CPU" in top.text()
            await top.press("t")
            assert "by memory" in top.text()
            memory = [row.process.memory for row in top.screen.table._rows]
            assert memory == sorted(memory, reverse=True)
            await top.press("t")
            assert "by number" in top.text()
            await top.press("e")
            await top.press("f", *str(child.pid))
            await top.press("enter")
            assert "tree" in top.text()
            assert "└─" in top.text()
            table = top.screen.table
            await top.press("end")
            assert table.process is not None
            assert table.process.pid == child.pid
            await top.press("enter")
            text = top.text()
            assert f"Process {child.pid}" in text
            assert "evil␛[2J[bold]" in text.replace("\n", "")
            assert re.search(rf"parent +{os.getpid()}", text)
            await top.press("escape", "ctrl+f")
            assert top.screen.table.count > 3
    finally:
        child.kill()
        child.wait()


async def test_the_cursor_stays_with_its_process() -> None:
    async with watching() as top:
        table = top.screen.table
        await top.press("tab", "down", "down", "down")
        chosen = table.process
        assert chosen is not None
        for _ in range(3):
            await top.pilot.pause(0.25)
            top.screen.paint_now()
            if any(process.pid == chosen.pid for process in top.screen._processes):
                assert table.process is not None
                assert table.process.pid == chosen.pid
        await top.press("home")
        assert table.place == 0
        await top.press("pagedown")
        assert table.place > 15
        await top.press("s", "w", "pageup")
        assert table.place < 15


async def test_clicks_choose_processes() -> None:
    async with watching() as top:
        await top.pilot.click("#processes", offset=(3, 4))
        await top.press()
        assert top.screen.table.place == 3 or top.screen.table._pid is not None
        assert top.screen.focused is top.screen.table


async def test_the_sidebar_goes_and_comes() -> None:
    async with watching() as top:
        await top.press("left_square_bracket")
        assert "PID" not in top.text()
        await top.press("left_square_bracket")
        assert "PID" in top.text()
        side = top.screen.query_one("#top-side")
        width = side.size.width
        await top.press("ctrl+right")
        assert side.size.width == width + 4
        await top.press("0")
        assert side.size.width == width


async def test_the_border_is_dragged() -> None:
    async with watching() as top:
        side = top.screen.query_one("#top-side")
        width = side.size.width
        await top.pilot.mouse_down("#top-charts", offset=(0, 10))
        await top.pilot.hover("#top-charts", offset=(10, 10))
        await top.pilot.mouse_up("#top-charts", offset=(10, 10))
        assert side.size.width > width
        moved = side.size.width
        await top.pilot.hover("#top-side", offset=(5, 5))
        assert side.size.width == moved


async def test_it_is_left_and_found_again() -> None:
    async with watching() as top:
        await top.press("t", "e", "ctrl+right", "c", "1")
        width = top.screen.query_one("#top-side").size.width
    async with watching() as top:
        assert "by memory, tree" in top.text()
        assert top.screen.query_one("#top-side").size.width == width
        assert top.screen.grid.columns == 1
        await top.press("left_square_bracket")
    async with watching() as top:
        assert "PID" not in top.text()
        await top.press("0")
        assert "PID" in top.text()


@pytest.mark.parametrize("size", [(60, 16), (40, 10), (30, 6)], ids=lambda s: f"{s[0]}x{s[1]}")
async def test_small_terminals_show_one_side(size: tuple[int, int]) -> None:
    async with watching(size) as top:
        assert "COMMAND" in top.text()
        assert "Metrics" not in top.text()
        await top.press("tab")
        assert "Metrics" in top.text()
        assert "COMMAND" not in top.text()
        await top.press("tab")
        assert "COMMAND" in top.text()


async def test_short_terminals_leave_room_for_processes() -> None:
    async with watching((120, 12)) as top:
        assert sum(bool(re.match(r" *\d+ \S+ +\d+\.\d ", line)) for line in top.lines()) >= 3


def test_what_gives_way_in_a_short_terminal() -> None:
    rows = [Vital("", "a machine", None, 3), Vital("CPU", "5 %", 5.0, 9), Vital("/", "7 %", 7.0, 6)]
    assert [row.label for row in fitting(rows, 2)] == ["CPU", "/"]
    assert [row.label for row in fitting(rows, 1)] == ["CPU"]
    assert fitting(rows, 0) == []


async def test_ascii_without_colour() -> None:
    async with watching(terminal=Terminal(depth="none", ascii=True)) as top:
        assert top.text().isascii()


async def test_help_and_palette() -> None:
    async with watching((120, 60)) as top:
        await top.pilot.press("question_mark")
        await top.until("Sort the processes")
        await top.pilot.press("escape")
        await top.pilot.press("ctrl+p")
        await top.pilot.press(*"tree")
        await top.until("Processes as a tree")
        await top.pilot.press("enter")
        await top.until("by CPU, tree")


async def test_no_thread_is_left() -> None:
    async with watching():
        names = {thread.name for thread in threading.enumerate()}
        assert "processes" in names
        assert "system metrics: host" in names
    left = {thread.name for thread in threading.enumerate()}
    assert "processes" not in left
    assert not any(name.startswith("system metrics") for name in left)


def records_of(directory: Path) -> list[dict[str, object]]:
    (log,) = directory.glob("wandb/offline-run-*/run-*.wandb")
    printed = subprocess.run(
        [sys.executable, "-m", "leet", "inspect", str(log), "--json"], capture_output=True, text=True, check=True
    )
    return [json.loads(line) for line in printed.stdout.splitlines()]


async def test_recording_keeps_what_is_shown(tmp_path: Path) -> None:
    async with watching(directory=str(tmp_path), record=True) as top:
        await top.until("● recording")
        before = top.screen.system.samples
        for _ in range(400):
            if top.screen.system.samples > before + 4:
                break
            await top.pilot.pause(0.05)
        top.screen.paint_now()
    records = records_of(tmp_path)
    kinds = [record["type"] for record in records]
    assert kinds[:2] == ["header", "run"]
    assert kinds[-1] == "exit"
    keys = {key for record in records if record["type"] == "stats" for key in record["stats"]["item"]}  # type: ignore[index]
    assert {"cpu_percent", "cpu.0.cpu_percent", "memory_percent", "disk./.usagePercent", "network.recv"} <= keys
    assert not keys & {"cpu", "proc.memory.rssMB"}


async def test_a_recording_does_not_pass_for_the_latest_run(tmp_path: Path) -> None:
    training = trained(tmp_path)
    latest = tmp_path / "wandb" / "latest-run"
    latest.symlink_to(training.parent.name)
    async with watching(directory=str(tmp_path), record=True) as top:
        await top.until("● recording")
        recorded = next(path for path in (tmp_path / "wandb").iterdir() if "-monitor-" in path.name)
        assert of_machine(recorded.name)
    assert os.readlink(latest) == training.parent.name
    latest.unlink()
    assert find_run(str(tmp_path)) == training
    assert peek(next(recorded.glob("*.wandb"))).job_type == "monitor"


async def test_a_key_begins_and_ends_a_recording(tmp_path: Path) -> None:
    async with watching(directory=str(tmp_path)) as top:
        assert "recording" not in top.lines()[0]
        await top.press("R")
        await top.until("● recording")
        await top.until("recording to ")
        await top.press("R")
        await top.until("the run is in ")
        assert "● recording" not in top.text()
        assert records_of(tmp_path)[-1]["type"] == "exit"


async def test_where_nothing_can_be_recorded(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    async with watching((160, 40), directory=str(tmp_path / "file")) as top:
        await top.press("R")
        await top.until("nothing is recorded: .* is no directory")
        await top.press("down", "t")


def test_old_samples_are_forgotten() -> None:
    system = LiveSystem(0.5, mounts=["/"])
    for second in range(1000):
        system._put_sample(float(second), {"cpu.0.cpu_percent": 5.0, "network.recv": second * 10.0})
    system.drain()
    system.store.forget_before(700.0)
    _, x, y = system.store.traces(CORES, columns=10_000)[0]
    assert (x[0], x[-1], len(x)) == (700.0, 999.0, 300)
    assert set(y) == {5.0}
    assert system.store.span == (700.0, 999.0)
    assert "9.99 kB" in system.store.note("Network I/O") or "9.76" in system.store.note("Network I/O")
    system._put_sample(1000.0, {"cpu.0.cpu_percent": 7.0, "network.recv": 10_000.0})
    system.drain()
    assert system.store.last(CORES) == {"": 7.0} or list(system.store.last(CORES).values()) == [7.0]
    assert system.store.last("Network I/O")["received"] == pytest.approx(10.0)


def test_mounts_are_directories_and_hold_the_root() -> None:
    mounts = real_mounts()
    assert mounts[0] == "/"
    assert all(os.path.isdir(mount) for mount in mounts)
    assert len(set(mounts)) == len(mounts)


def test_gpus_in_their_order() -> None:
    assert gpus_in({f"gpu.{i}.gpu": 1.0 for i in (10, 2, 0)} | {"gpu.process.0.gpu": 1.0, "cpu": 2.0}) == [
        "0",
        "2",
        "10",
    ]


def test_vitals_without_a_sample_are_few() -> None:
    assert vitals(LiveSystem(1.0, mounts=["/"])) == []


@pytest.mark.parametrize(
    ("text", "seconds"), [("2", 2.0), ("2s", 2.0), ("500ms", 0.5), (".5", 0.5), ("1m30s", 90.0), ("0.1", 0.1)]
)
def test_intervals(text: str, seconds: float) -> None:
    assert interval(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["0", "-1", "", "2 parsecs", "1ms", "0s", "nan", "inf", "2h", "s"])
def test_intervals_that_are_none(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        interval(text)


@pytest.mark.parametrize("name", ["top", "symon"])
def test_without_a_terminal_it_says_what_to_do(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([name]) == 1
    assert "use --screenshot FILE" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--interval", "0"], ["--size", "80x24"], ["--screenshot", "a.gif"]])
def test_wrong_usage_is_said(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["top", *arguments])
    assert ended.value.code == 2
    assert "leet top: error:" in capsys.readouterr().err


def test_a_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "top.txt"
    done = subprocess.run(
        [sys.executable, "-m", "leet", "top", "--interval", "200ms", "--screenshot", str(path), "--size", "90x30"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=60,
    )
    assert done.returncode == 0
    assert "CPU Core" in path.read_text()


def test_gpus_and_the_memory_that_processes_hold(tmp_path: Path) -> None:
    """Over the stand-in driver, in a process of its own."""
    library = build(tmp_path)
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(90)"])
    path = tmp_path / "top.txt"
    try:
        done = subprocess.run(
            [sys.executable, "-m", "leet", "top", "--interval", "200ms", "--screenshot", str(path), "--size", "140x60",
             "--keys", "t t"],
            env={
                **os.environ, "PYTHONPATH": str(ROOT), "LD_LIBRARY_PATH": str(library), "NVML_USER": str(child.pid),
            },
            timeout=60,
        )  # fmt: skip
    finally:
        child.kill()
        child.wait()
    assert done.returncode == 0
    text = path.read_text()
    assert "NVIDIA Stand-in 0" in text
    assert re.search(r"GPU 0 +█+─+ +50 %  40 °C  350 W", text)
    assert re.search(r"memory +█+─+ +25 %  20/80 GiB", text)
    assert re.search(r"GPU 1 +█+─+ +51 %", text)
    assert re.search(r"Power +700 W", text)
    assert "by GPU memory" in text
    assert "GPU MEM" in text
    assert re.search(rf"^ *{child.pid} .* 1024 MiB ", text, re.MULTILINE)
    assert "GPU Utilization" in text


def test_in_a_terminal_and_gone_after_q(tmp_path: Path) -> None:
    with viewer("top", "--interval", "300ms", "--record", "--dir", str(tmp_path)) as terminal:
        terminal.until(r"● recording")
        terminal.until("CPU Core")
        terminal.send("q")
        assert terminal.end() == 0
        assert "the run is in" in terminal.text
        assert b"Traceback" not in terminal.raw
    assert records_of(tmp_path)[-1]["type"] == "exit"
