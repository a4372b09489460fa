"""Logs fetched over a real ssh: at once, as they grow, over slow lines and lines that are cut."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from ssh_server import Line, SshServer
from test_tail import log_bytes, steps_of

from leet.reading.batch import Newest
from leet.reading.tail import read
from leet.remote import remote_log, shell
from leet.remote.address import Address
from leet.remote.door import fetch, open_address, watch
from leet.remote.listing import NoRemoteRun
from leet.remote.mirror import Mirror, make_room
from leet.tui.feed import RunFeed

PATIENCE = 30.0


@pytest.fixture
def line(server: SshServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Line]:
    """A line to the server, which every ssh of the test takes."""
    relay = Line(server.port)
    # Without compression, so that a slow line is as slow as it says.
    monkeypatch.setenv("LEET_SSH", server.command("-o", "Compression=no", port=relay.port))
    monkeypatch.setattr(shell, "_OPTIONS", tuple(word for word in shell._OPTIONS if word != "-C"))
    monkeypatch.setattr(remote_log, "PATIENCE", (0.1, 0.3))
    yield relay
    relay.close()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "wandb" / "offline-run-20250101_000000-r" / "run-r.wandb"
    path.parent.mkdir(parents=True)
    path.write_bytes(log_bytes(range(40)))
    return path


def address_of(path: Path) -> Address:
    return Address("box", str(path))


def until(condition: Callable[[], bool], what: object = "") -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


class Fetching:
    """A remote log being fetched, and what was read ahead."""

    def __init__(self, path: Path) -> None:
        self.newest: list[Newest] = []
        self.had = -1
        """Bytes that were here when reading could begin."""
        self.log = watch(open_address(address_of(path)))
        self.path = self.log.path
        self.log.start(self.newest.append, self._ready)

    def _ready(self) -> None:
        self.had = self.path.stat().st_size

    def has(self, path: Path) -> bool:
        return self.path.read_bytes() == path.read_bytes()


@pytest.fixture
def fetching(line: Line) -> Iterator[Callable[[Path], Fetching]]:
    started: list[Fetching] = []

    def start(path: Path) -> Fetching:
        started.append(Fetching(path))
        return started[-1]

    yield start
    for one in started:
        one.log.stop()


def grow(path: Path, steps: range) -> None:
    with path.open("ab") as file:
        file.write(log_bytes(steps, offset=path.stat().st_size))


def test_it_follows_what_is_written(log: Path, fetching: Callable[[Path], Fetching]) -> None:
    one = fetching(log)
    for start in range(40, 100, 20):
        until(lambda: one.has(log))
        grow(log, range(start, start + 20))
    until(lambda: one.has(log))
    assert steps_of(list(read(one.path))) == list(range(100))
    assert abs(one.log.modified - log.stat().st_mtime) < 3
    until(lambda: abs(one.path.stat().st_mtime - log.stat().st_mtime) < 3)


def test_a_cut_line_is_mended_where_it_broke(log: Path, line: Line, fetching: Callable[[Path], Fetching]) -> None:
    log.write_bytes(log_bytes(range(1000), text=100))
    assert log.stat().st_size < remote_log.GAP
    line.rate = 150_000
    one = fetching(log)
    for share in (0.2, 0.5, 0.8):
        until(lambda share=share: one.path.stat().st_size > share * log.stat().st_size)
        line.cut()
        until(lambda: one.log.link.state.kind == "lost")
    until(lambda: one.has(log))
    # What had come did not come again: each cut costs a piece, and the comparison of the ends.
    assert line.carried < log.stat().st_size * 2
    until(lambda: one.log.link.state.kind == "up")


def test_it_goes_on_when_the_server_is_back(
    log: Path, server: SshServer, line: Line, fetching: Callable[[Path], Fetching]
) -> None:
    one = fetching(log)
    until(lambda: one.has(log))
    server.stop()
    line.cut()
    until(lambda: one.log.link.state.kind == "lost")
    grow(log, range(40, 60))
    time.sleep(0.5)
    assert not one.has(log)
    assert one.log.link.lag > 0.4
    server.start()
    until(lambda: one.has(log))
    until(lambda: one.log.link.state.kind == "up")


def test_a_line_that_falls_silent_is_cut(
    log: Path, line: Line, fetching: Callable[[Path], Fetching], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shell, "SILENCE", 1.0)
    one = fetching(log)
    until(lambda: one.has(log))
    line.silent.set()
    grow(log, range(40, 60))
    until(lambda: "no answer" in one.log.link.state.reason)
    line.silent.clear()
    until(lambda: one.has(log))


def test_the_newest_part_of_a_long_log_comes_first(log: Path, line: Line, fetching: Callable[[Path], Fetching]) -> None:
    log.write_bytes(log_bytes(range(4000), text=150))
    line.rate = 600_000
    one = fetching(log)
    until(lambda: bool(one.newest))
    head, tail = one.newest[0].batches
    assert head.entries
    assert tail.history is not None
    assert tail.history.steps[-1] == 3999
    assert one.path.stat().st_size < log.stat().st_size / 2
    # What is written meanwhile is shown before the rest has come.
    grow(log, range(4000, 4010))
    until(lambda: len(one.newest) > 1)
    assert one.path.stat().st_size < log.stat().st_size / 2
    assert [step for batch in one.newest[1].batches if batch.history for step in batch.history.steps] == list(
        range(4000, 4010)
    )
    assert one.had < log.stat().st_size / 2
    line.rate = None
    until(lambda: one.has(log))


def test_a_feed_shows_the_newest_part_and_then_the_whole(log: Path, line: Line) -> None:
    log.write_bytes(log_bytes(range(5000), text=150))
    line.rate = 1_000_000
    fetched = watch(open_address(address_of(log)))
    feed = RunFeed(fetched.path, remote=fetched)
    feed.start()
    try:
        seen: list[int] = []

        def drained() -> bool:
            for _ in feed.drain(0.05):
                pass
            seen.append(feed.model.points)
            return feed.loaded

        until(drained)
        assert any(0 < count < seen[-1] for count in seen)
        assert feed.model.last_step == 4999
        assert seen[-1] >= 5000
        assert feed.model.size == log.stat().st_size
        assert abs(feed.model.modified - log.stat().st_mtime) < 3
        assert feed.link is fetched.link
    finally:
        feed.stop()


@pytest.mark.parametrize("how", ["replaced", "cut short", "written over"])
def test_another_log_in_its_place(log: Path, how: str, fetching: Callable[[Path], Fetching]) -> None:
    one = fetching(log)
    until(lambda: one.has(log))
    inode = one.path.stat().st_ino
    other = log_bytes(range(60 if how == "replaced" else 40), run_id="q")
    if how == "replaced":
        new = log.with_name("new")
        new.write_bytes(other)
        new.replace(log)
    else:
        with log.open("r+b") as file:
            file.truncate(0 if how == "cut short" else log.stat().st_size)
            file.write(other[:3000] if how == "cut short" else other)
        # Times come in whole seconds.
        os.utime(log, (time.time() + 3, time.time() + 3))
    until(lambda: one.has(log))
    assert one.path.stat().st_ino != inode


def test_the_same_log_under_another_inode_is_the_same(
    log: Path, line: Line, fetching: Callable[[Path], Fetching]
) -> None:
    one = fetching(log)
    until(lambda: one.has(log))
    inode = one.path.stat().st_ino
    new = log.with_name("new")
    new.write_bytes(log.read_bytes())
    new.replace(log)
    grow(log, range(40, 50))
    until(lambda: one.has(log))
    assert one.path.stat().st_ino == inode


def test_a_log_that_is_gone_is_told_of_and_awaited(log: Path, fetching: Callable[[Path], Fetching]) -> None:
    one = fetching(log)
    until(lambda: one.has(log))
    data = log.read_bytes()
    log.unlink()
    until(lambda: one.log.link.state.kind == "gone")
    assert "no such file" in one.log.link.state.reason
    log.write_bytes(data + log_bytes(range(40, 50), offset=len(data)))
    until(lambda: one.has(log))
    until(lambda: one.log.link.state.kind == "up")


def test_what_is_here_is_not_fetched_again(log: Path, line: Line) -> None:
    log.write_bytes(log_bytes(range(3000), text=100))
    assert fetch(address_of(log))[0].path.read_bytes() == log.read_bytes()
    before = line.carried
    grow(log, range(3000, 3010))
    assert fetch(address_of(log.parent))[0].path.read_bytes() == log.read_bytes()
    assert line.carried - before < 60_000


def test_a_mirror_that_was_spoilt_is_fetched_anew(log: Path, line: Line) -> None:
    path = fetch(address_of(log))[0].path
    data = bytearray(path.read_bytes())
    data[-100] ^= 1
    path.write_bytes(bytes(data))
    assert fetch(address_of(log))[0].path.read_bytes() == log.read_bytes()


def test_room_is_made_for_newer_mirrors(tmp_path: Path) -> None:
    for number in range(5):
        one = Mirror(Address("box", f"/runs/run-{number}/run-{number}.wandb"), tmp_path)
        one.write(0, bytes(100_000))
        one.close()
        os.utime(one.path.parents[1] / ".source.json", (number, number))
    last = one.path.parents[1]
    make_room(tmp_path, 250_000, last)
    assert sorted(path.name for path in tmp_path.rglob("*.wandb")) == ["run-3.wandb", "run-4.wandb"]
    make_room(tmp_path, 0, last)
    assert [path.name for path in tmp_path.rglob("*.wandb")] == ["run-4.wandb"]


def test_nothing_is_kept_where_caches_are_off(tmp_path: Path) -> None:
    code = (
        "from leet.remote.address import Address\nfrom leet.remote.mirror import Mirror\n"
        "print(Mirror(Address('b', '/x.wandb')).path)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "LEET_CACHE": "off", "PYTHONPATH": str(Path(__file__).parents[1]), "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(done.stdout.strip()).is_relative_to(tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("path", ["../../x.wandb", "/.wandb", "a\0b".replace("\0", "\n"), "x" * 300 + ".wandb", ".."])
def test_mirrors_lie_in_their_folder(tmp_path: Path, path: str) -> None:
    one = Mirror(Address("..", path, "../me"), tmp_path / "folder")
    assert one.path.resolve().is_relative_to((tmp_path / "folder").resolve())
    assert one.path.is_file()
    with pytest.raises(ValueError, match="gaps"):
        one.write(5, b"x")


def test_two_viewers_of_one_log(log: Path, line: Line, fetching: Callable[[Path], Fetching]) -> None:
    log.write_bytes(log_bytes(range(3000), text=100))
    line.rate = 1_000_000
    one, other = fetching(log), fetching(log)
    assert one.path == other.path
    until(lambda: one.has(log))
    grow(log, range(3000, 3010))
    until(lambda: one.has(log))


def test_errors_are_one_line(log: Path, line: Line) -> None:
    with pytest.raises(NoRemoteRun, match=r"^box:/no/such: no such file or directory$"):
        open_address(Address("box", "/no/such"))
    line.close()
    with pytest.raises(NoRemoteRun, match=r"^box: .*(refused|closed|reset)"):
        open_address(address_of(log))
