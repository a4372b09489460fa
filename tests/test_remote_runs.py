"""A directory of runs on another machine: listed before it is read, watched, opened run by run."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from ssh_server import Line, SshServer
from test_remote_log import until
from test_tail import log_bytes
from textual.pilot import Pilot

from leet.discovery import Found, NoRun, WorkspaceRoot, find_run, open_target
from leet.model.run_entry import RunEntry
from leet.model.workspace import Workspace
from leet.output import doctor
from leet.remote import machine, remote_runs
from leet.remote.address import Address
from leet.remote.door import beside, open_address, watch, watch_all
from leet.remote.remote_runs import RemoteRuns
from leet.tui.app import LeetApp
from leet.tui.remote_feeds import JoinedRemoteFeed, remote_feed_of
from leet.tui.screenshot import text_of


@pytest.fixture
def line(server: SshServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Line]:
    relay = Line(server.port)
    monkeypatch.setenv("LEET_SSH", server.command(port=relay.port))
    monkeypatch.setattr(remote_runs, "LOOK_SECONDS", 0.2)
    monkeypatch.setattr(remote_runs, "PATIENCE", (0.1, 0.3))
    monkeypatch.setattr(machine, "PAUSE", 0.1)
    yield relay
    relay.close()


def record(project: Path, name: str, steps: int = 20, *, month: int = 1, text: int = 0) -> Path:
    log = project / "wandb" / f"offline-run-2025{month:02d}01_000000-{name}" / f"run-{name}.wandb"
    log.parent.mkdir(parents=True)
    log.write_bytes(log_bytes(range(steps), run_id=name, text=text))
    return log


class Watched:
    """A remote directory and the list of its runs."""

    def __init__(self, path: Path) -> None:
        self.runs = watch_all(open_address(Address("box", str(path))))
        self.runs.start()
        self.workspace = Workspace(self.runs.root)
        self.workspace.start()

    @property
    def entries(self) -> dict[str, RunEntry]:
        self.workspace.drain()
        return {entry.run_id: entry for entry in self.workspace.entries.values()}

    def steps(self) -> dict[str, int | None]:
        return {name: entry.step for name, entry in self.entries.items() if entry.known}

    def stop(self) -> None:
        self.workspace.stop()
        self.runs.stop()


@pytest.fixture
def watching(line: Line) -> Iterator[Callable[[Path], Watched]]:
    started: list[Watched] = []

    def start(path: Path) -> Watched:
        started.append(Watched(path))
        return started[-1]

    yield start
    for one in started:
        one.stop()


def test_runs_are_listed_by_heads_and_tails(tmp_path: Path, line: Line, watching: Callable[[Path], Watched]) -> None:
    for number in range(8):
        record(tmp_path, f"r{number}", 30 + number, month=1 + number)
    long = record(tmp_path, "long", 4000, month=12, text=200)
    one = watching(tmp_path)
    until(lambda: one.steps() == {**{f"r{n}": 29 + n for n in range(8)}, "long": 3999}, one.steps)
    entry = one.entries["long"]
    assert entry.size == long.stat().st_size
    assert abs(entry.modified - long.stat().st_mtime) < 3
    assert entry.log.stat().st_blocks * 512 < entry.size / 2
    assert one.runs.address_of(entry.log) == Address("box", str(long))
    assert line.carried < long.stat().st_size / 2


def test_the_doctor_looks_at_all_runs_of_a_directory_there(
    tmp_path: Path, line: Line, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(3):
        record(tmp_path, f"r{number}", 10, month=1 + number)
    assert doctor.main([f"box:{tmp_path}"]) == 0
    assert capsys.readouterr().out.startswith("3 runs: ")
    assert doctor.main([f"box:{tmp_path}/wandb"]) == 0
    assert capsys.readouterr().out.startswith("3 runs: ")
    assert doctor.main([f"box:{next((tmp_path / 'wandb').iterdir())}"]) == 0
    assert capsys.readouterr().out.startswith("run r")
    (tmp_path / "empty").mkdir()
    assert doctor.main([f"box:{tmp_path}/empty"]) == 1
    assert "no runs here" in capsys.readouterr().err


def test_what_changes_there_changes_here(tmp_path: Path, watching: Callable[[Path], Watched]) -> None:
    log = record(tmp_path, "a")
    one = watching(tmp_path)
    until(lambda: one.steps() == {"a": 19}, one.steps)
    with log.open("ab") as file:
        file.write(log_bytes(range(20, 30), offset=log.stat().st_size))
    until(lambda: one.steps() == {"a": 29}, one.steps)
    record(tmp_path, "b", 10, month=2)
    until(lambda: one.steps() == {"a": 29, "b": 9}, one.steps)
    shutil.rmtree(log.parent)
    until(lambda: one.steps() == {"b": 9}, one.steps)


def test_runs_further_down_are_found(tmp_path: Path, watching: Callable[[Path], Watched]) -> None:
    record(tmp_path / "sweep" / "one", "a")
    record(tmp_path / "sweep" / "it's $two", "b")
    one = watching(tmp_path)
    until(lambda: one.steps() == {"a": 19, "b": 19}, one.steps)


def test_a_lost_line_is_made_anew(tmp_path: Path, line: Line, watching: Callable[[Path], Watched]) -> None:
    record(tmp_path, "a")
    one = watching(tmp_path)
    until(lambda: one.steps() == {"a": 19}, one.steps)
    line.cut()
    record(tmp_path, "b", month=2)
    until(lambda: one.steps() == {"a": 19, "b": 19}, one.steps)


def test_what_was_listed_is_not_fetched_again(tmp_path: Path, line: Line, watching: Callable[[Path], Watched]) -> None:
    for number in range(5):
        record(tmp_path, f"r{number}", 300, month=1 + number, text=200)
    first = watching(tmp_path)
    until(lambda: len(first.steps()) == 5)
    until(lambda: first.runs.link.complete)
    first.stop()
    before = line.carried
    again = watching(tmp_path)
    until(lambda: again.steps() == {f"r{n}": 299 for n in range(5)}, again.steps)
    until(lambda: again.runs.link.complete)
    assert line.carried - before < 30_000


def test_paths_from_the_far_side_stay_in_their_place(tmp_path: Path, line: Line) -> None:
    record(tmp_path / "project", "a")
    runs = watch_all(open_address(Address("box", str(tmp_path / "project"))))
    root = str(tmp_path / "project")
    assert runs.place_of(f"{root}/wandb/run-1/run-1.wandb") == runs.root / "wandb/run-1/run-1.wandb"
    for path in ("/etc/run-1.wandb", f"{root}/../run-1.wandb", "relative/run-1.wandb", f"{root}/a\0b", f"{root}x/y"):
        assert runs.place_of(path) is None
    runs.stop()


def test_a_run_is_fetched_when_it_is_opened(tmp_path: Path, watching: Callable[[Path], Watched]) -> None:
    log = record(tmp_path, "a", 3000, text=100)
    one = watching(tmp_path)
    until(lambda: one.steps() == {"a": 2999}, one.steps)
    feed = remote_feed_of(one.runs, one.entries["a"], live=False)
    feed.start()
    until(lambda: list(feed.drain(0.05)) is not None and feed.loaded)
    assert feed.log.read_bytes() == log.read_bytes()
    assert feed.asked == one.entries["a"].log
    assert feed.model.last_step == 2999
    feed.stop()


def test_a_resumed_run_is_fetched_part_by_part(tmp_path: Path, watching: Callable[[Path], Watched]) -> None:
    first = record(tmp_path, "a", 20)
    second = first.parents[1] / "run-20250301_000000-a" / "run-a.wandb"
    second.parent.mkdir()
    second.write_bytes(log_bytes(range(0)) + b"")
    second.write_bytes(log_bytes(range(20, 50), run_id="a", offset=0))
    one = watching(tmp_path)
    until(lambda: one.steps() == {"a": 49}, one.steps)
    feed = remote_feed_of(one.runs, one.entries["a"], live=False)
    assert isinstance(feed, JoinedRemoteFeed)
    feed.start()
    until(lambda: list(feed.drain(0.05)) is not None and feed.loaded)
    assert feed.model.last_step == 49
    assert feed.model.points == 50
    feed.stop()


def test_what_an_address_opens(tmp_path: Path, line: Line) -> None:
    log = record(tmp_path, "a")
    record(tmp_path, "b", month=2)
    target = open_target(f"box:{tmp_path}", {}, watched=True)
    assert isinstance(target, WorkspaceRoot)
    assert isinstance(target.remote, RemoteRuns)
    target.remote.stop()
    for path in (log, log.parent):
        found = open_target(f"box:{path}", {}, watched=True)
        assert isinstance(found, Found)
        assert found.remote is not None
        found.remote.stop()
    assert find_run(f"box:{log}", {}).read_bytes() == log.read_bytes()
    assert find_run(f"box:{tmp_path}", {}).name == "run-b.wandb"
    (tmp_path / "empty").mkdir()
    with pytest.raises(NoRun, match=r"no runs here"):
        find_run(f"box:{tmp_path}/empty", {})
    with pytest.raises(NoRun, match="dash"):
        find_run("-x:y", {})


async def shown(pilot: Pilot[None], wanted: str) -> None:
    for _ in range(400):
        if wanted in text_of(pilot.app):  # type: ignore[arg-type]
            return
        await pilot.pause(0.05)
    raise AssertionError(f"{wanted!r} did not appear on\n{text_of(pilot.app)}")  # type: ignore[arg-type]


async def test_the_list_on_the_screen(tmp_path: Path, line: Line) -> None:
    record(tmp_path, "a")
    record(tmp_path, "b", 40, month=2)
    target = open_target(f"box:{tmp_path}", {}, watched=True)
    assert isinstance(target, WorkspaceRoot)
    app = LeetApp(None, workspace=target.path, remote=target.remote)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(pilot, "2 runs")
        await shown(pilot, "step 39")
        await shown(pilot, "box ")
        await pilot.press("enter")
        await shown(pilot, "loss")
        record(tmp_path, "c", 5, month=3)
        await pilot.press("escape")
        await shown(pilot, "3 runs")
        line.cut()
        line.open = False
        await shown(pilot, "connection lost")


async def test_from_a_run_to_those_beside_it(tmp_path: Path, line: Line) -> None:
    log = record(tmp_path, "a")
    record(tmp_path, "b", month=2)
    found = open_target(f"box:{log}", {}, watched=True)
    assert isinstance(found, Found)
    app = LeetApp(found)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(pilot, "step 19")
        await pilot.press("escape")
        await shown(pilot, "2 runs")
        await shown(pilot, "1 selected")


def test_a_log_among_no_others(tmp_path: Path, line: Line) -> None:
    log = tmp_path / "run-x.wandb"
    log.write_bytes(log_bytes(range(3)))
    one = watch(open_address(Address("box", str(log))))
    assert beside(one) is None
    one.stop()
    assert os.path.exists(one.path)
