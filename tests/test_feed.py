"""The newest part of a big log is shown first, and then the whole of it, as if it had been read in order."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
from model_view import model_view
from test_tail import log_bytes

from leet.model.run import Change, RunModel
from leet.reading import newest
from leet.reading.batch import Batch, Newest, Notice
from leet.reading.fast_history import FastHistory
from leet.reading.newest import read_newest
from leet.reading.tail import read
from leet.tui.feed import RunFeed
from leet.tui.intake import Intake
from recorder.transaction_log.framing import HEADER, frame
from recorder.transaction_log.wire import encode, history_record

STEPS = 2000


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "run-r.wandb"
    path.write_bytes(log_bytes(range(STEPS), text=100))
    return path


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat logs of this size as big ones."""
    monkeypatch.setattr(newest, "SMALLEST", 1)
    monkeypatch.setattr(newest, "TAIL", 64 * 1024)


def model_of(log: Path) -> RunModel:
    model = RunModel(log)
    for piece in read(log):
        model.apply(piece)
    return model


def drained(feed: RunFeed) -> list[Change]:
    """All changes until the log has been read."""
    changes: list[Change] = []
    end = time.monotonic() + 20
    while not feed.loaded:
        assert time.monotonic() < end
        changes += feed.drain(0.05)
    return changes


def test_the_tail_grows_until_a_whole_row_is_in_it(tmp_path: Path) -> None:
    wide = [((f"layer_{n}/weights",), f"{n}.5") for n in range(6000)]
    data = HEADER
    for step in range(4):
        for payload in (history_record(wide, step), encode("Record", {"alert": {"title": "x" * 70_000}})):
            data += frame(payload, len(data))
    log = tmp_path / "run-w.wandb"
    log.write_bytes(data)
    fast = FastHistory()
    (_, first), (_, tail) = read_newest(log, 1, 64 * 1024, fast)
    assert tail.history is not None
    assert tail.history.steps.tolist() == [3.0]
    assert len(tail.history.columns.names) == 6000
    assert len(fast.paths) == 6000
    assert len([*read_newest(log, 1, len(data) // 2)]) == 2
    assert first.history is not None
    assert first.history.steps.tolist() == [3.0]
    assert set(first.history.columns.names) == {f"layer_{n}/weights" for n in range(512)}
    assert first.history.columns.values.tolist() == [n + 0.5 for n in range(512)]


def test_all_names_take_the_place_of_the_first(tmp_path: Path) -> None:
    wide = [((f"m{n}",), f"{n}.5") for n in range(5000)]
    data = HEADER
    for step in range(3):
        data += frame(history_record(wide, step), len(data))
    (log := tmp_path / "run-w.wandb").write_bytes(data)
    feed = RunFeed(log)
    seen = []
    for batches in read_newest(log, 1, 256 * 1024):
        feed._deliver_newest(Newest(batches))
        assert sum(change.new_metrics for change in feed.drain()) == 1
        seen.append((len(feed.model.metrics.names()), feed.model.rows, feed.model.last_step))
    assert seen == [(512, 1, 2), (5000, 2, 2)]


def test_a_tail_of_many_records_without_a_row_does_not_grow(tmp_path: Path) -> None:
    payloads = [history_record([(("loss",), "0.5")], 0)]
    payloads += [encode("Record", {"alert": {"title": "x" * 3000}})] * 100
    data = HEADER
    for payload in payloads:
        data += frame(payload, len(data))
    (log := tmp_path / "run-a.wandb").write_bytes(data)
    assert [*read_newest(log, 1, 64 * 1024)] == []


def test_the_newest_rows_and_who_the_run_is(log: Path) -> None:
    [(head, tail)] = read_newest(log, 1, 64 * 1024)
    assert [entry.kind for entry in head.entries] == ["run"]
    assert head.history is None
    assert tail.history is not None
    steps = tail.history.steps.tolist()
    assert steps == list(range(int(steps[0]), STEPS))
    assert 0 < steps[0] < STEPS - 20
    assert {change.path: change.json for change in tail.summary}[("_step",)] == str(STEPS - 1)
    assert tail.skipped == ()


def test_where_it_is_not_worth_it(log: Path, tmp_path: Path) -> None:
    assert [*read_newest(log)] == []
    assert [*read_newest(tmp_path / "missing", 1)] == []
    (tmp_path / "other").write_bytes(b"no log" * 100_000)
    assert [*read_newest(tmp_path / "other", 1)] == []


def test_the_tail_is_shown_before_the_rest(log: Path, small: None) -> None:
    feed = RunFeed(log)
    feed.start()
    try:
        first = next(iter(feed.drain(5)))
        assert first.overview
        seen = [(feed.model.rows, feed.model.last_step, feed.loaded)]
        changes = drained(feed)
    finally:
        feed.stop()
    assert seen[0][0] < STEPS
    assert changes[-1].new_metrics
    assert model_view(feed.model) == model_view(model_of(log))
    assert feed.progress == 1.0
    assert feed.points == feed.model.points == STEPS


def test_stores_stay_the_same_objects(log: Path, small: None) -> None:
    feed = RunFeed(log)
    model = feed.model
    stores = (model.metrics, model.system, model.config, model.summary, model.environment, model.console)
    model.metrics.axis = "runtime"
    feed.start()
    try:
        list(feed.drain(5))
        version = model.metrics.version("loss")
        drained(feed)
    finally:
        feed.stop()
    assert feed.model is model
    now = (model.metrics, model.system, model.config, model.summary, model.environment, model.console)
    assert all(one is other for one, other in zip(stores, now, strict=True))
    assert model.metrics.axis == "runtime"
    assert model.metrics.version("loss") > version


def test_what_is_written_later_follows(log: Path, small: None) -> None:
    feed = RunFeed(log)
    feed.start()
    try:
        drained(feed)
        size = log.stat().st_size
        with open(log, "ab") as file:
            file.write(log_bytes(range(STEPS, STEPS + 10), offset=size))
        end = time.monotonic() + 20
        while feed.model.rows < STEPS + 10 and time.monotonic() < end:
            list(feed.drain(0.05))
    finally:
        feed.stop()
    assert feed.model.last_step == STEPS + 9
    assert model_view(feed.model) == model_view(model_of(log))


def test_a_reader_that_gives_way_still_delivers() -> None:
    intake = Intake()
    intake.give_way()
    intake.deliver(Notice("unreadable", "one"))
    intake.give_way()
    intake.deliver(Notice("unreadable", "two"))
    assert [piece.text for piece in intake.take(1.0) if isinstance(piece, Notice)] == ["one", "two"]


def test_what_is_not_shown_is_made_on_the_readers_thread(
    log: Path, small: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loop has keys to answer: it takes models over that have been filled, with their names in order."""
    applied: list[tuple[bool, object]] = []
    apply = RunModel.apply

    def noted(model: RunModel, piece: Batch | Notice) -> Change:
        applied.append((threading.current_thread() is threading.main_thread(), model))
        return apply(model, piece)

    monkeypatch.setattr(RunModel, "apply", noted)
    feed = RunFeed(log)
    feed.start()
    try:
        changes = drained(feed)
    finally:
        feed.stop()
    assert len([change for change in changes if change.new_metrics]) == 2, "the newest part, and all of it"
    here = [model for on_main, model in applied if on_main]
    assert not here, "nothing came after it had been read"
    assert len({id(model) for _, model in applied}) == 2
    assert model_view(feed.model) == model_view(model_of(log))


def test_an_ended_run_shows_its_newest_part_first_too(log: Path, small: None) -> None:
    feed = RunFeed(log, live=False)
    feed.start()
    changes = drained(feed)
    assert len([change for change in changes if change.new_metrics]) == 2, "the newest part, and all of it"
    assert model_view(feed.model) == model_view(model_of(log))
    feed = RunFeed(log.with_name("missing.wandb"), live=False)
    feed.start()
    assert [change.notice for change in drained(feed) if change.notice] == ["missing.wandb does not exist"]


def test_a_log_that_is_replaced_while_its_newest_part_is_shown(log: Path, small: None) -> None:
    feed = RunFeed(log)
    other = log.with_name("other")
    other.write_bytes(log_bytes(range(300)))
    feed._deliver_newest(Newest(*read_newest(log, 64 * 1024)))
    pieces = list(read(log))
    for piece in pieces[: len(pieces) // 2]:
        feed._deliver(piece)
    assert list(feed.drain())
    assert 0 < feed.model.rows < STEPS
    assert not feed.loaded
    feed._deliver(Batch(end=0, size=other.stat().st_size, modified=0.0, reset=True))
    for piece in read(other):
        feed._deliver(piece)
    assert any(change.reset for change in feed.drain())
    list(feed.drain())
    assert feed.loaded
    assert feed.model.rows == 300


def test_the_model_is_shown_when_the_reader_is_through_with_it(log: Path, small: None) -> None:
    feed = RunFeed(log)
    feed._deliver_newest(Newest(*read_newest(log, 64 * 1024)))
    for piece in read(log):
        feed._deliver(piece)
    with feed._turn:  # the reader is at work
        list(feed.drain())
        assert not feed.loaded
        assert feed.model.rows < STEPS
    list(feed.drain())
    assert feed.loaded
    assert feed.model.rows == STEPS
