"""Logs that grow, are replaced, cut short, removed and come back while they are being read."""

from __future__ import annotations

import os
import queue
import random
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from leet.reading.batch import Batch, Newest, Notice
from leet.reading.log_file import LogFile
from leet.reading.tail import Tail, read
from recorder.transaction_log.framing import HEADER, frame
from recorder.transaction_log.wire import encode, history_record, summary_record

PATIENCE = 20.0


def log_bytes(steps: range, *, text: int = 0, offset: int = 0, run_id: str = "r") -> bytes:
    """Framed records of some steps, as they follow `offset`; with the header and a run record at the very start."""
    data = b""
    if not offset:
        data = HEADER + frame(encode("Record", {"run": {"run_id": run_id}}), len(HEADER))
    for step in steps:
        items = [(("loss",), repr(1 / (step + 1))), (("_step",), str(step)), (("text",), '"' + "t" * text + '"')]
        for record in (summary_record(items), history_record(items, step)):
            data += frame(record, offset + len(data))
    return data


def steps_of(items: list[Batch | Notice]) -> list[float]:
    """Steps read since the last reset."""
    steps: list[float] = []
    for item in items:
        if isinstance(item, Batch):
            steps = [] if item.reset else steps
            steps += item.history.steps.tolist() if item.history else []
    return steps


def notices(items: list[Batch | Notice]) -> list[str]:
    return [item.kind for item in items if isinstance(item, Notice)]


class Watching:
    """A tail that is running, and all that it has delivered."""

    def __init__(self, path: Path, **options: int) -> None:
        self.items: list[Batch | Notice] = []
        self._arrived = threading.Condition()
        self.tail = Tail(path, self._take, **options)  # type: ignore[arg-type]
        self.tail.start()

    def _take(self, item: Batch | Notice) -> None:
        with self._arrived:
            self.items.append(item)
            self._arrived.notify_all()

    def until(self, condition: Callable[[list[Batch | Notice]], bool]) -> list[Batch | Notice]:
        with self._arrived:
            assert self._arrived.wait_for(lambda: condition(self.items), PATIENCE), self.items[-3:]
            return list(self.items)


@pytest.fixture
def watching() -> Iterator[Callable[..., Watching]]:
    started: list[Watching] = []

    def start(path: Path, **options: int) -> Watching:
        started.append(Watching(path, **options))
        return started[-1]

    yield start
    for one in started:
        one.tail.stop()
        one.tail.join(PATIENCE)
        assert not one.tail.running


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "run-r.wandb"


def test_read_to_the_end(log: Path) -> None:
    log.write_bytes(log_bytes(range(50), text=2000))
    items = list(read(log))
    assert steps_of(items) == list(range(50))
    last = items[-1]
    assert isinstance(last, Batch)
    assert last.end == last.size == log.stat().st_size
    assert last.modified == pytest.approx(log.stat().st_mtime)
    assert [change.path for item in items if isinstance(item, Batch) for change in item.summary][-3:] == [
        ("loss",),
        ("_step",),
        ("text",),
    ]


def test_read_tells_of_an_unfinished_end(log: Path) -> None:
    data = log_bytes(range(3))
    log.write_bytes(data[:-5])
    items = list(read(log))
    assert steps_of(items) == [0, 1]
    skipped = [s for item in items if isinstance(item, Batch) for s in item.skipped]
    assert len(skipped) == 1
    assert skipped[0].offset + skipped[0].length == len(data) - 5


def test_read_of_what_is_no_log(log: Path, tmp_path: Path) -> None:
    assert notices(list(read(tmp_path / "nothing.wandb"))) == ["unreadable"]
    log.write_bytes(b"PK\x03\x04 a zip file")
    assert notices(list(read(log))) == ["unsupported"]
    log.write_bytes(HEADER[:6] + b"\x01" + b"later version")
    assert notices(list(read(log))) == ["unsupported"]
    assert notices(list(read(tmp_path))) == ["unreadable"]


def test_a_look_without_news_is_silent(log: Path) -> None:
    log.write_bytes(log_bytes(range(3)))
    file = LogFile(log)
    assert steps_of(list(file.look())) == [0, 1, 2]
    assert list(file.look()) == []


def test_pieces_of_any_size_make_the_same_rows(log: Path) -> None:
    log.write_bytes(log_bytes(range(40), text=3000))
    for largest in (1000, 32768, 100_000):
        items = list(LogFile(log, largest).look())
        assert len(items) == -(-log.stat().st_size // largest)
        assert steps_of(items) == list(range(40))


def test_growth_at_any_boundary(log: Path) -> None:
    data = log_bytes(range(30), text=1500)
    luck = random.Random(3)
    file = LogFile(log)
    items: list[Batch | Notice] = list(file.look())
    assert items == []
    at = 0
    with open(log, "wb", buffering=0) as out:
        while at < len(data):
            size = luck.choice((1, 2, 5, 700, 5000))
            out.write(data[at : at + size])
            at += size
            items += file.look()
    assert steps_of(items) == list(range(30))
    assert notices(items) == []
    assert all(item.skipped == () for item in items if isinstance(item, Batch))


def test_zeros_that_are_written_over_later_are_read_again(log: Path) -> None:
    """A network file system may show the length of a write before its bytes."""
    head, rest = log_bytes(range(3)), log_bytes(range(3, 6), offset=len(log_bytes(range(3))))
    log.write_bytes(head + bytes(len(rest)))
    file = LogFile(log)
    items = list(file.look())
    assert steps_of(items) == [0, 1, 2]
    with open(log, "r+b") as out:
        out.seek(len(head))
        out.write(rest)
    os.utime(log, (1, 2))
    items += file.look()
    assert steps_of(items) == [0, 1, 2, 3, 4, 5]


def test_a_live_log_is_followed(log: Path, watching: Callable[..., Watching]) -> None:
    log.write_bytes(b"")
    watch = watching(log)
    watch.until(lambda items: len(items) == 1)
    data = log_bytes(range(60), text=2500)

    def write() -> None:
        luck = random.Random(5)
        at = 0
        with open(log, "ab", buffering=0) as out:
            while at < len(data):
                size = luck.randrange(1, 12_000)
                out.write(data[at : at + size])
                at += size
                time.sleep(0.005)

    writer = threading.Thread(target=write)
    writer.start()
    items = watch.until(lambda items: len(steps_of(items)) >= 60)
    writer.join()
    assert steps_of(items) == list(range(60))
    assert notices(items) == []


def test_a_log_that_does_not_exist_yet_is_waited_for(log: Path, watching: Callable[..., Watching]) -> None:
    watch = watching(log)
    time.sleep(0.05)
    assert watch.items == []
    log.write_bytes(HEADER[:3])
    watch.until(lambda items: bool(items))
    log.write_bytes(log_bytes(range(2)))
    items = watch.until(lambda items: steps_of(items) == [0, 1])
    assert notices(items) == []


def test_a_directory_that_does_not_exist_yet_is_waited_for(tmp_path: Path, watching: Callable[..., Watching]) -> None:
    log = tmp_path / "later" / "run-r.wandb"
    watch = watching(log)
    time.sleep(0.05)
    log.parent.mkdir()
    log.write_bytes(log_bytes(range(2)))
    watch.until(lambda items: steps_of(items) == [0, 1])


def test_a_replaced_log_is_read_anew(log: Path, watching: Callable[..., Watching]) -> None:
    log.write_bytes(log_bytes(range(5)))
    watch = watching(log)
    watch.until(lambda items: len(steps_of(items)) == 5)
    other = log.with_suffix(".new")
    other.write_bytes(log_bytes(range(100, 120)))
    os.replace(other, log)
    items = watch.until(lambda items: steps_of(items) == list(range(100, 120)))
    assert notices(items) == ["replaced"]


def test_a_truncated_log_is_read_anew(log: Path, watching: Callable[..., Watching]) -> None:
    data = log_bytes(range(5))
    log.write_bytes(data)
    watch = watching(log)
    watch.until(lambda items: len(steps_of(items)) == 5)
    os.truncate(log, len(log_bytes(range(2))))
    items = watch.until(lambda items: steps_of(items) == [0, 1])
    assert notices(items) == ["truncated"]
    with open(log, "ab") as out:
        out.write(log_bytes(range(7, 8), offset=log.stat().st_size))
    watch.until(lambda items: steps_of(items) == [0, 1, 7])


def test_a_log_written_over_in_place_is_read_anew(log: Path) -> None:
    log.write_bytes(log_bytes(range(5)))
    file = LogFile(log)
    assert len(steps_of(list(file.look()))) == 5
    inode = log.stat().st_ino
    with open(log, "r+b") as out:
        out.write(log_bytes(range(20, 40), run_id="s"))
    assert log.stat().st_ino == inode
    items = list(file.look())
    assert notices(items) == ["replaced"]
    assert steps_of(items) == list(range(20, 40))


def test_a_removed_log_is_said_and_read_when_it_returns(log: Path, watching: Callable[..., Watching]) -> None:
    log.write_bytes(log_bytes(range(5)))
    watch = watching(log)
    watch.until(lambda items: len(steps_of(items)) == 5)
    log.unlink()
    watch.until(lambda items: notices(items) == ["removed"])
    log.write_bytes(log_bytes(range(3)))
    items = watch.until(lambda items: notices(items) == ["removed", "returned"] and len(steps_of(items)) == 3)
    assert steps_of(items) == [0, 1, 2]


def test_what_is_no_log_may_become_one(log: Path) -> None:
    log.write_bytes(b"not a log at all")
    file = LogFile(log)
    assert notices(list(file.look())) == ["unsupported"]
    with open(log, "ab") as out:
        out.write(b"more")
    assert list(file.look()) == []
    log.write_bytes(log_bytes(range(2)))
    items = list(file.look())
    assert notices(items) == ["replaced"]
    assert steps_of(items) == [0, 1]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read every file")
def test_a_log_without_permission_is_told_of_once(log: Path) -> None:
    log.write_bytes(log_bytes(range(2)))
    log.chmod(0)
    file = LogFile(log)
    assert notices(list(file.look())) == ["unreadable"]
    assert list(file.look()) == []
    log.chmod(0o600)
    assert steps_of(list(file.look())) == [0, 1]


def test_a_thread_ends_by_itself_when_it_does_not_follow(log: Path) -> None:
    log.write_bytes(log_bytes(range(4)))
    items: list[Batch | Notice] = []
    tail = Tail(log, items.append, follow=False)
    tail.start()
    tail.join(PATIENCE)
    assert not tail.running
    assert steps_of(items) == [0, 1, 2, 3]


def test_a_full_queue_holds_the_reader_back_yet_lets_it_stop(log: Path) -> None:
    log.write_bytes(log_bytes(range(50), text=1000))
    inbox: queue.Queue[Batch | Notice] = queue.Queue(maxsize=2)
    tail = Tail.into(log, inbox, chunk_bytes=5000)
    tail.start()
    deadline = time.monotonic() + PATIENCE
    while not inbox.full() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert inbox.full()
    assert tail.running
    tail.stop()
    tail.join(PATIENCE)
    assert not tail.running
    assert inbox.qsize() == 2


def test_a_queue_gets_everything_in_order(log: Path) -> None:
    log.write_bytes(log_bytes(range(50), text=1000))
    inbox: queue.Queue[Batch | Notice] = queue.Queue(maxsize=1)
    tail = Tail.into(log, inbox, follow=False, chunk_bytes=5000)
    tail.start()
    items: list[Batch | Notice] = []
    while len(steps_of(items)) < 50:
        items.append(inbox.get(timeout=PATIENCE))
    tail.join(PATIENCE)
    assert steps_of(items) == list(range(50))


def test_a_failing_consumer_is_told_why_the_tail_ends(log: Path) -> None:
    log.write_bytes(log_bytes(range(4)))
    items: list[Batch | Notice] = []

    def deliver(item: Batch | Notice) -> None:
        if isinstance(item, Batch):
            raise ValueError("no room")
        items.append(item)

    tail = Tail(log, deliver)
    tail.start()
    tail.join(PATIENCE)
    assert not tail.running
    assert notices(items) == ["unreadable"]
    assert "no room" in items[0].text  # type: ignore[union-attr]


def test_the_rest_waits_for_the_newest_part_to_be_shown(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leet.reading.newest.SMALLEST", 0)
    monkeypatch.setattr("leet.reading.tail.PATIENCE", PATIENCE)
    log.write_bytes(log_bytes(range(300), text=2000))
    shown, events = threading.Event(), queue.Queue[object]()
    tail = Tail(log, events.put, newest=events.put, shown=shown, follow=False)
    tail.start()
    assert isinstance(events.get(timeout=PATIENCE), Newest)
    assert events.empty()
    shown.set()
    tail.join(PATIENCE)
    rest = [events.get_nowait() for _ in range(events.qsize())]
    assert steps_of(rest) == list(range(300))  # type: ignore[arg-type]  # batches alone have been put
