"""The runs below a directory: found, known, and followed while they come, grow, end and go."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson
import pytest
from example_run import START, ExampleRun, trained
from many_runs import bare_run, make_runs

from leet.model import facts_process, run_part, workspace_scan
from leet.model.facts_cache import FactsCache
from leet.model.facts_process import look_at
from leet.model.run_entry import RunEntry
from leet.model.workspace import Workspace, WorkspaceChange
from leet.model.workspace_directories import Directories

PATIENCE = 30.0


class Opened:
    """A workspace that is being watched by a test."""

    def __init__(self, root: Path, **options: bool) -> None:
        self.called = threading.Event()
        self.changes: list[WorkspaceChange] = []
        self.workspace = Workspace(root, **options)  # type: ignore[arg-type]
        self.workspace.listen(self.called.set)
        self.workspace.start()

    @property
    def entries(self) -> dict[str, RunEntry]:
        return dict(self.workspace.entries)

    def until(self, met: Callable[[dict[str, RunEntry]], bool]) -> dict[str, RunEntry]:
        """The entries, as soon as they are as asked for."""
        deadline = time.monotonic() + PATIENCE
        while not met(self.entries) or self.workspace.scanning:
            self.called.wait(0.05)
            self.called.clear()
            self.changes.append(self.workspace.drain())
            assert time.monotonic() < deadline, self.entries
        return self.entries

    def known(self, count: int) -> dict[str, RunEntry]:
        return self.until(lambda entries: len(entries) == count and all(entry.known for entry in entries.values()))

    def close(self) -> None:
        self.workspace.stop()
        self.workspace.join(PATIENCE)


@pytest.fixture
def opened() -> Iterator[Callable[..., Opened]]:
    all_opened: list[Opened] = []

    def open_(root: Path, **options: bool) -> Opened:
        all_opened.append(Opened(root, **options))
        return all_opened[-1]

    yield open_
    for one in all_opened:
        one.close()


def test_a_run_is_known_without_being_opened(tmp_path: Path, opened: Callable[..., Opened]) -> None:
    log = trained(tmp_path, rows=30)
    entry = opened(tmp_path).known(1)["wandb/offline-run-20251130_105320-example1"]
    assert (entry.name, entry.run_id, entry.project, entry.host) == ("balmy-river-7", "example1", "demo", "node-3")
    assert (entry.tags, entry.notes) == (("baseline", "mlp"), "first try with the wider layer")
    assert (entry.step, entry.exit_code, entry.started, entry.parts) == (29, 0, START, (log,))
    assert (entry.config["model.dropout"], entry.directory) == ("0.1", log.parent)
    assert 0 < float(str(entry.summary["train/loss"])) < 3
    assert entry.state(START).name == "finished"


def test_every_run_of_the_corpus_is_listed(corpus: Path, opened: Callable[..., Opened]) -> None:
    directories = {log.parent for log in corpus.glob("*/wandb/*run-*/run-*.wandb") if "latest-run" not in log.parts}
    watched = opened(corpus)
    entries = watched.until(lambda entries: sum(len(entry.parts) for entry in entries.values()) == len(directories))
    assert {part.parent for entry in entries.values() for part in entry.parts} == directories
    resumed = entries["resume_allow/wandb/offline-run-20261130_015530-resumed"]
    assert [part.parent.name for part in resumed.parts] == [
        "offline-run-20261130_015529-resumed",
        "offline-run-20261130_015530-resumed",
    ]
    assert resumed.started == pytest.approx(1796003729.5, abs=0.1)
    twice = [entry for key, entry in entries.items() if key.startswith("same_id_same_second/")]
    assert [(len(entry.parts), entry.run_id) for entry in twice] == [(2, twice[0].run_id)]
    tomorrow = time.time() + 86_400  # however young the files are
    words = {key.partition("/")[0]: entry.state(tomorrow).name for key, entry in entries.items()}
    assert (words["exit1"], words["kill9"], words["kill9_early"], words["minimal"]) == (
        "failed",
        "crashed",
        "waiting",
        "finished",
    )
    assert watched.workspace.progress == (len(entries), len(entries))
    assert set(watched.workspace.directories) == {directory.parent for directory in directories}


def test_a_root_may_be_the_wandb_directory_or_hold_it(tmp_path: Path, opened: Callable[..., Opened]) -> None:
    bare_run(tmp_path / "wandb", "run-20250101_000000-a", "a")
    assert list(opened(tmp_path / "wandb").known(1)) == ["run-20250101_000000-a"]
    assert list(opened(tmp_path, recursive=False).known(1)) == ["wandb/run-20250101_000000-a"]


def test_directories_with_a_log_are_runs_whatever_they_are_called(
    tmp_path: Path, opened: Callable[..., Opened]
) -> None:
    bare_run(tmp_path / "w5", "a", "same")
    bare_run(tmp_path / "w5", "b", "same")
    (tmp_path / "w5" / "c").mkdir()
    watched = opened(tmp_path)
    entries = watched.known(2)
    assert sorted(entries) == ["w5/a", "w5/b"]
    assert all(entry.name == "calm-run-0" and entry.run_id == "same" for entry in entries.values())
    bare_run(tmp_path, "w5/c/d", "later")
    assert sorted(watched.known(3)) == ["w5/a", "w5/b", "w5/c/d"]
    shutil.rmtree(tmp_path / "w5" / "a")
    assert sorted(watched.known(2)) == ["w5/b", "w5/c/d"]


def test_several_directories_are_found_by_recursion_within_reason(
    tmp_path: Path, opened: Callable[..., Opened]
) -> None:
    bare_run(tmp_path / "wandb", "run-20250101_000000-a", "a")
    bare_run(tmp_path / "sweep" / "one" / "wandb", "run-20250102_000000-b", "b")
    bare_run(tmp_path / "sweep" / "two" / ".wandb", "run-20250103_000000-c", "c")
    bare_run(tmp_path / "plain", "run-20250104_000000-d", "d")
    for passed_over in (".cache", "node_modules", "sweep/one/wandb/run-20250102_000000-b/files", "a/b/c/d/e/f/g/h/i"):
        bare_run(tmp_path / passed_over / "wandb", "run-20250105_000000-no", "no")
    environment = tmp_path / "env"
    bare_run(environment / "wandb", "run-20250105_000000-no", "no")
    (environment / "pyvenv.cfg").write_text("")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "again").symlink_to(tmp_path / "sweep")
    elsewhere = tmp_path.parent / f"{tmp_path.name}-elsewhere"
    bare_run(elsewhere, "run-20250106_000000-e", "e")
    (tmp_path / "linked").symlink_to(elsewhere)
    (tmp_path / "wandb" / "latest-run").symlink_to("run-20250101_000000-a")
    (tmp_path / "wandb" / "run-20250107_000000-a").symlink_to("run-20250101_000000-a")
    entries = opened(tmp_path).known(5)
    assert set(entries) == {
        "wandb/run-20250101_000000-a",
        "sweep/one/wandb/run-20250102_000000-b",
        "sweep/two/.wandb/run-20250103_000000-c",
        "plain/run-20250104_000000-d",
        "linked/run-20250106_000000-e",
    }


def test_runs_come_grow_end_and_go(tmp_path: Path, opened: Callable[..., Opened]) -> None:
    watched = opened(tmp_path)
    watched.until(lambda entries: True)
    assert (watched.entries, watched.workspace.error) == ({}, "")
    run = ExampleRun(tmp_path)
    run.train(3)
    run.flush()
    (key,) = watched.known(1)
    watched.until(lambda entries: entries[key].step == 2)
    assert watched.entries[key].state(time.time()).name == "running"
    run.train(4)
    run.flush()
    watched.until(lambda entries: entries[key].step == 6)
    run.finish(7)
    watched.until(lambda entries: entries[key].exit_code == 7)
    assert any(change.changed == (key,) for change in watched.changes)
    shutil.rmtree(run.directory)
    watched.until(lambda entries: not entries)
    assert watched.changes[-1].removed == (key,)


def test_a_directory_without_a_log_is_listed_when_it_has_one(tmp_path: Path, opened: Callable[..., Opened]) -> None:
    empty = tmp_path / "wandb" / time.strftime("run-%Y%m%d_%H%M%S-x")
    empty.mkdir(parents=True)
    log = bare_run(tmp_path / "wandb", "run-20250101_000000-a", "a")
    watched = opened(tmp_path)
    assert list(watched.known(1)) == ["wandb/run-20250101_000000-a"]
    (empty / "run-x.wandb").write_bytes(log.read_bytes())
    watched.known(2)
    copied = tmp_path / "wandb" / "run-20240101_000000-y"
    copied.mkdir()
    time.sleep(1.7)
    assert len(watched.known(2)) == 2
    (copied / "run-y.wandb").write_bytes(log.read_bytes())
    watched.known(3)


def test_directories_that_come_later_are_found(tmp_path: Path, opened: Callable[..., Opened]) -> None:
    watched = opened(tmp_path / "project")
    watched.until(lambda entries: bool(watched.workspace.error))
    assert "No such file" in watched.workspace.error
    bare_run(tmp_path / "project" / "wandb", "run-20250101_000000-a", "a")
    watched.known(1)
    assert watched.workspace.error == ""
    bare_run(tmp_path / "project" / "deep" / "er" / "wandb", "run-20250102_000000-b", "b")
    watched.known(2)
    shutil.rmtree(tmp_path / "project" / "deep")
    watched.known(1)
    shutil.rmtree(tmp_path / "project")
    watched.until(lambda entries: not entries)


def test_a_resumed_run_is_one_with_its_parts(tmp_path: Path, opened: Callable[..., Opened]) -> None:
    wandb = tmp_path / "wandb"
    first = bare_run(wandb, "run-20250101_000000-same", "same")
    bare_run(wandb, "run-20250101_000000-other", "other")
    watched = opened(tmp_path)
    watched.known(2)
    second = wandb / "run-20250102_000000-same" / "run-same.wandb"
    second.parent.mkdir()
    second.write_bytes(first.read_bytes()[:7])
    new, old = "wandb/run-20250102_000000-same", "wandb/run-20250101_000000-same"
    entries = watched.until(lambda entries: new in entries and old not in entries)
    entry = entries[new]
    assert entry.parts == (first, second)
    assert (entry.started, entry.exit_code, entry.begun) == (START, None, False)
    assert entry.project == "demo"  # as the first part says, as long as the second says nothing
    second.write_bytes(first.read_bytes())
    watched.until(lambda entries: entries[new].exit_code == 0)
    shutil.rmtree(second.parent)
    watched.until(lambda entries: old in entries and new not in entries)


def test_what_cannot_be_read_is_listed_with_the_reason(tmp_path: Path, opened: Callable[..., Opened]) -> None:
    log = bare_run(tmp_path, "run-20250101_000000-a", "a")
    log.write_text("this is no log at all")
    (entry,) = opened(tmp_path).known(1).values()
    assert entry.state(time.time()).name == "unreadable"
    assert "not a W&B log" in entry.trouble
    assert entry.name == "a"


def test_many_runs_are_listed_at_once_and_known_a_little_later(
    tmp_path: Path, opened: Callable[..., Opened], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workspace_scan, "MANY", 150)
    make_runs(tmp_path, 250, rows=3)
    shutil.rmtree(tmp_path / "wandb" / sorted(os.listdir(tmp_path / "wandb"))[7])
    without = tmp_path / "wandb" / "run-20200101_000000-without"
    without.mkdir()
    watched = opened(tmp_path)
    watched.until(lambda entries: len(entries) == 250)
    assert "wandb/run-20200101_000000-without" in watched.entries
    entries = watched.known(249)
    states = [entry.state(START + 9000).name for entry in entries.values()]
    assert {state: states.count(state) for state in states} == {"finished": 199, "failed": 25, "running": 25}
    assert sum(entry.step == 2 for entry in entries.values()) == 249


def test_facts_by_another_process_are_those_by_this_one(tmp_path: Path) -> None:
    make_runs(tmp_path, 40, rows=3)
    logs = sorted(map(str, tmp_path.glob("wandb/*/run-*.wandb")))
    logs.append(str(tmp_path / "nothing"))
    found = {looked.place: looked for part in look_at(logs, threading.Event()) for looked in part}
    assert sorted(found) == list(range(41))
    assert found[40].stamp[0] == 0
    for place, log in enumerate(logs[:40]):
        assert found[place].stamp == facts_process.stamp_of(os.stat(log))
        assert orjson.loads(found[place].facts) == facts_process.facts_of(facts_process.peek(log))


def test_no_process_is_needed(tmp_path: Path, opened: Callable[..., Opened], monkeypatch: pytest.MonkeyPatch) -> None:
    make_runs(tmp_path, 120, rows=2)
    monkeypatch.setattr("sys.executable", str(tmp_path / "no-such-python"))
    opened(tmp_path).known(120)


class Counted:
    """Counts the logs that a process of another name than ours would look into."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.logs = 0
        real = workspace_scan.look_at

        def counting(logs: list[str], stopping: threading.Event) -> Iterator[list[facts_process.Looked]]:
            self.logs += len(logs)
            yield from real(logs, stopping)

        monkeypatch.setattr(workspace_scan, "look_at", counting)


def settled(watched: Opened, cache: Path) -> None:
    """Wait until the cache has been written."""
    deadline = time.monotonic() + PATIENCE
    while not (cache.is_dir() and [name for name in os.listdir(cache) if not name.endswith(".new")]):
        time.sleep(0.02)
        assert time.monotonic() < deadline
    watched.close()


def test_what_was_known_is_known_at_once_next_time(
    tmp_path: Path, opened: Callable[..., Opened], monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    make_runs(tmp_path / "p", 200, rows=3)
    counted = Counted(monkeypatch)
    first = opened(tmp_path / "p")
    before = first.known(200)
    settled(first, cache / "leet" / "runs")
    assert counted.logs == 200 - workspace_scan.SEEN_FIRST
    changed = sorted(tmp_path.glob("p/wandb/*/run-*.wandb"))[5]
    changed.write_bytes(changed.read_bytes()[:-20])
    second = opened(tmp_path / "p")
    after = second.known(200)
    second.close()
    assert counted.logs == 200 - workspace_scan.SEEN_FIRST
    assert {key for key in after if after[key] != before[key]} == {
        changed.parent.relative_to(tmp_path / "p").as_posix()
    }
    assert not list((tmp_path / "p").glob("wandb/*/*cache*"))
    (kept,) = (cache / "leet" / "runs").iterdir()
    kept.write_bytes(kept.read_bytes()[:-200] + b"x" * 50)
    third = opened(tmp_path / "p")
    assert third.known(200) == after
    third.close()
    kept.write_bytes(b"LEETRUN2 and nothing that makes sense")
    assert opened(tmp_path / "p").known(200) == after


def test_no_cache_where_it_is_switched_off(
    tmp_path: Path, opened: Callable[..., Opened], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LEET_CACHE", "off")
    assert FactsCache.of(str(tmp_path)) is None
    make_runs(tmp_path / "p", 110, rows=2)
    watched = opened(tmp_path / "p")
    watched.known(110)
    watched.close()
    assert not (tmp_path / "cache").exists()


def test_a_scan_stops_when_it_is_told_to(tmp_path: Path, opened: Callable[..., Opened]) -> None:
    make_runs(tmp_path, 300, rows=2)
    watched = opened(tmp_path)
    watched.close()
    called = watched.called.is_set()
    watched.called.clear()
    time.sleep(0.3)
    assert not watched.called.is_set(), called


def test_announcements_wait_until_they_are_taken(tmp_path: Path) -> None:
    calls = []
    workspace = Workspace(tmp_path)
    workspace.listen(lambda: calls.append(1))
    entry = RunEntry("a", tmp_path / "run-a.wandb")
    workspace._publish({"a": entry})
    workspace._publish({"a": None, "b": entry})
    assert len(calls) == 1
    assert workspace.drain() == WorkspaceChange(added=("b",))
    assert not workspace.drain()
    workspace._publish({"b": None})
    assert len(calls) == 2
    assert workspace.drain().removed == ("b",)


def test_a_directory_is_listed_again_only_when_it_has_changed(tmp_path: Path) -> None:
    bare_run(tmp_path / "wandb", "run-20250101_000000-a", "a")
    long_ago = time.time() - 100
    for directory in (tmp_path / "wandb", tmp_path):
        os.utime(directory, (long_ago, long_ago))
    directories = Directories(str(tmp_path))
    assert [listing.names for listing in directories.find()] == [{"run-20250101_000000-a"}]
    scanned: list[str] = []
    nothing = frozenset(), frozenset(), False
    directories._scan = lambda directory: scanned.append(directory.path) or nothing  # type: ignore
    assert list(directories.look()) == []
    assert scanned == []
    os.utime(tmp_path / "wandb")
    list(directories.look())
    assert scanned == [str(tmp_path / "wandb")]


def test_directories_that_do_not_answer_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bare_run(tmp_path / "a" / "wandb", "run-20250101_000000-a", "a")
    directories = Directories(str(tmp_path))
    assert len(list(directories.find())) == 1

    def fail(path: str) -> Iterator[os.DirEntry[str]]:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as here:
        here.setattr("leet.model.workspace_directories.os.scandir", fail)
        os.utime(tmp_path / "a" / "wandb")
        assert list(directories.look()) == []
        assert directories.error == "Input/output error"
    bare_run(tmp_path / "a" / "wandb", "run-20250102_000000-b", "b")
    (listing,) = directories.look()
    assert len(listing.names) == 2
    assert directories.error == ""


def test_a_clock_that_is_ahead_settles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bare_run(tmp_path / "wandb", "run-20250101_000000-a", "a")
    ahead = time.time() + 1000
    for directory in (tmp_path / "wandb", tmp_path):
        os.utime(directory, (ahead, ahead))
    directories = Directories(str(tmp_path))
    list(directories.find())
    assert directories._known[str(tmp_path / "wandb")].stamp is None
    monkeypatch.setattr("leet.model.workspace_directories._SETTLED", 0.0)
    list(directories.look())
    assert directories._known[str(tmp_path / "wandb")].stamp is not None


@pytest.mark.parametrize("zone", ["UTC", "CET-1CEST,M3.5.0,M10.5.0/3", "IST-5:30", "XYZ10:30ABC,M10.1.0,M4.1.0"])
def test_the_time_in_a_name_is_local_time(zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    run_part._hour.cache_clear()
    try:
        for month, day in ((1, 1), (3, 30), (10, 26), (12, 31)):
            for hour, minute, second in ((0, 0, 0), (0, 59, 59), (1, 30, 7), (3, 30, 1), (23, 59, 59)):
                name = f"run-2025{month:02}{day:02}_{hour:02}{minute:02}{second:02}-x"
                started = run_part.RunPart.named("r", "r/wandb", name).entry.started
                assert started == time.mktime((2025, month, day, hour, minute, second, 0, 0, -1))
    finally:
        monkeypatch.undo()
        time.tzset()
        run_part._hour.cache_clear()
