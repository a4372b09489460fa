"""Where every record lies: as the block reader finds them, whatever happened to the log."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from conftest import corpus_logs
from example_run import ExampleRun, trained
from hypothesis import given, settings
from hypothesis import strategies as st

from leet.model.record_index import RecordIndex
from leet.model.record_object import record_body
from leet.model.record_sheet import DIGEST, FORMS, digest_of, sheet_of
from leet.model.record_text import digest, record_digest
from leet.model.safe_text import clean
from leet.reading import records
from leet.reading.blocks import BlockReader, RawRecord, Skipped
from leet.reading.record_places import PlaceFinder, read_records
from recorder.transaction_log.framing import BLOCK


def outcomes_of(data: bytes) -> list[RawRecord | Skipped]:
    reader = BlockReader()
    return [*reader.feed(data), *reader.finish()]


def indexed(log: Path, live: bool = False) -> RecordIndex:
    index = RecordIndex()
    for places in PlaceFinder(log, live=live).look():
        index.add(places)
    return index


def payload(log: Path, index: RecordIndex, row: int) -> bytes | None:
    offset, length = index.offset(row), index.length(row)
    return read_records(log, offset, offset, length, index.origin).get(offset)


def check(log: Path) -> RecordIndex:
    """Every row is an outcome of the block reader, and is read again as what it was."""
    wanted = sorted(outcomes_of(log.read_bytes()), key=lambda outcome: outcome.offset)
    index = indexed(log)
    assert len(index) == len(wanted)
    number = 0
    for row, outcome in enumerate(wanted):
        assert index.offset(row) == outcome.offset
        if isinstance(outcome, Skipped):
            assert (index.kind(row), index.length(row), index.reason(row)) == (
                "damage",
                outcome.length,
                outcome.reason,
            )
            continue
        number += 1
        assert (index.number(row), index.row_of(number), index.reason(row)) == (number, row, "")
        assert index.length(row) == len(outcome.payload)
        assert index.row_at(outcome.offset) == row
        assert payload(log, index, row) == outcome.payload
        try:
            kind = records.kind(records.parse(outcome.payload))
        except records.DecodeError:
            continue
        assert index.kind(row) == kind
    assert index.records == number
    assert (index.read, index.size) == (log.stat().st_size,) * 2
    return index


@pytest.mark.parametrize("log", corpus_logs(), ids=lambda p: f"{p.parents[1].name}-{p.stem}")
def test_real_logs(log: Path) -> None:
    check(log)


@pytest.mark.parametrize("log", corpus_logs()[::3], ids=lambda p: f"{p.parents[1].name}-{p.stem}")
def test_every_record_of_real_logs_can_be_shown(log: Path) -> None:
    for outcome in outcomes_of(log.read_bytes())[:400]:
        if isinstance(outcome, Skipped):
            continue
        line = digest_of(outcome.payload)
        assert len(line) <= DIGEST
        assert line == clean(line)
        for form in FORMS:
            lines = sheet_of(outcome.payload, form)
            assert lines == [clean(text) for text in lines]


def test_a_digest_in_haste_is_the_digest(tmp_path: Path) -> None:
    for outcome in outcomes_of(trained(tmp_path, 60).read_bytes()):
        assert isinstance(outcome, RawRecord)
        record = records.parse(outcome.payload)
        kind, body = record_body(record)
        assert record_digest(record, 100) == digest(kind, body or {}, 100)


def test_a_long_log_goes_through_in_bulk(tmp_path: Path) -> None:
    log = trained(tmp_path, 3000)
    assert log.stat().st_size > 20 * BLOCK
    assert check(log).damaged == 0


@settings(max_examples=60)
@given(data=st.data())
def test_damage_stands_where_it_is(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    directory = tmp_path_factory.mktemp("damage")
    log = trained(directory, 250)
    content = bytearray(log.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(7, len(content) - 1))
        length = data.draw(st.sampled_from([1, 7, 300, BLOCK]))
        content[at : at + length] = data.draw(st.sampled_from([b"\0", b"\xff"])) * len(content[at : at + length])
    log.write_bytes(content[: data.draw(st.integers(7, len(content)))])
    check(log)


def test_a_log_that_grows_gives_what_is_new(tmp_path: Path) -> None:
    run = ExampleRun(tmp_path)
    run.train(5)
    finder, index = PlaceFinder(run.flush()), RecordIndex()
    for places in finder.look():
        index.add(places)
    before = len(index)
    assert before == 3 + 10
    assert list(finder.look()) == []
    run.train(3)
    run.flush()
    for places in finder.look():
        assert index.add(places) == before
    assert len(index) == before + 6
    assert index.number(len(index) - 1) == 19


def test_an_unfinished_end_may_go_on(tmp_path: Path) -> None:
    log = trained(tmp_path, 20)
    content = log.read_bytes()
    log.write_bytes(content[:-20])
    os.utime(log, (1e9, 1e9))
    finder, index = PlaceFinder(log), RecordIndex()
    for places in finder.look():
        index.add(places)
    last = len(index) - 1
    assert index.is_damage(last)
    assert index.is_open_end(last)
    assert index.reason(last) == "a record that is being written, or was cut off"
    assert index.damaged == 0
    log.write_bytes(content)
    generation = index.generation
    firsts = [index.add(places) for places in finder.look()]
    assert firsts[0] == last
    assert index.generation > generation
    assert not index.is_open_end(last)
    assert index.kind(len(index) - 1) == "exit"
    log.write_bytes(content[:-20])
    finished = indexed(log)
    assert (finished.damaged, finished.reason(len(finished) - 1)) == (1, "an unfinished end")


def test_another_log_under_the_same_name_begins_anew(tmp_path: Path) -> None:
    log = trained(tmp_path / "a", 50)
    finder, index = PlaceFinder(log), RecordIndex()
    for places in finder.look():
        index.add(places)
    os.replace(trained(tmp_path / "b", 3), log)
    for places in finder.look():
        index.add(places)
    assert len(index) == len(outcomes_of(log.read_bytes()))


def test_what_is_no_log_says_so_once(tmp_path: Path) -> None:
    path = tmp_path / "run-x.wandb"
    path.write_bytes(b"hello, this is no log at all")
    finder = PlaceFinder(path)
    (told,) = finder.look()
    assert "not a W&B log" in told.trouble
    assert list(finder.look()) == []
    (gone,) = PlaceFinder(tmp_path / "nothing").look()
    assert gone.trouble == "No such file or directory"
