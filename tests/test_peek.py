"""A look at a log: what it says of it is what reading all of it says, and no damage makes it fail."""

from __future__ import annotations

import json
import math
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from conftest import corpus_logs
from example_run import START, ExampleRun, trained
from hypothesis import given, settings
from hypothesis import strategies as st

from leet.model.run import RunModel
from leet.model.run_entry import RunEntry
from leet.model.run_facts import MOST_KEYS, entry_with, facts_of
from leet.reading import peek as peeking
from leet.reading.peek import Change, Peek, peek
from leet.reading.tail import read
from recorder.transaction_log.framing import BLOCK, HEADER, frame
from recorder.transaction_log.wire import encode, history_record, summary_record


def model_of(log: Path) -> RunModel:
    model = RunModel(log)
    for piece in read(log):
        model.apply(piece)
    return model


def entry_of(seen: Peek, name: str = "run-x.wandb") -> RunEntry:
    blank = RunEntry("x", Path(name), run_id="x", name="x")
    return entry_with(blank, facts_of(seen), size=seen.size, modified=seen.modified_ns / 1e9)


def log_of(records: list[bytes]) -> bytes:
    pieces, offset = [HEADER], len(HEADER)
    for record in records:
        pieces.append(frame(record, offset))
        offset += len(pieces[-1])
    return b"".join(pieces)


def run_record(**fields: object) -> bytes:
    return encode("Record", {"run": {"run_id": "x", **fields}})


def row(step: int, values: dict[str, object], seconds: float | None = None) -> list[bytes]:
    stamped = {**values, "_step": step, "_runtime": float(step) if seconds is None else seconds}
    items = [((key,), json.dumps(value)) for key, value in stamped.items()]
    return [history_record(items, step), summary_record(items)]


@pytest.mark.parametrize("log", corpus_logs(), ids=lambda log: "/".join((log.parts[-4], log.parent.name[-14:])))
def test_it_says_of_every_real_log_what_reading_it_says(log: Path) -> None:
    seen, model = peek(log), model_of(log)
    identity = model.identity
    assert seen.trouble == ""
    assert (seen.step, seen.exit_code, seen.begun) == (model.last_step, model.exit_code, model.started)
    assert seen.runtime == model.runtime
    assert (seen.display_name, seen.project, seen.group) == (identity.display_name, identity.project, identity.group)
    assert (seen.tags, seen.notes, seen.start_time) == (identity.tags, identity.notes, identity.start_time)
    entry = entry_of(seen, log.name)
    assert entry.config == dict(model.config.rows())
    assert set(entry.summary) == set(model.summary.rows().dotted_keys())
    assert entry.state(seen.modified_ns / 1e9).name == model.state(seen.modified_ns / 1e9, loading=False).name


def test_a_big_log_is_looked_at_at_both_ends(tmp_path: Path) -> None:
    run = ExampleRun(tmp_path)
    run.record("environment", {"username": "ada", "host": "node-3"})
    run.train(3000, metrics=12)
    log = run.finish(3)
    assert log.stat().st_size > 10 * (peeking.HEAD + peeking.TAIL)
    seen, model = peek(log), model_of(log)
    assert (seen.step, seen.exit_code, seen.runtime) == (model.last_step, 3, model.runtime)
    assert seen.usual_gap == pytest.approx(model.usual_gap)
    entry = entry_of(seen)
    assert (entry.name, entry.host, entry.user, entry.tags) == ("balmy-river-7", "node-3", "ada", ("baseline", "mlp"))
    assert entry.config == dict(model.config.rows())
    assert {key: str(value) for key, value in entry.summary.items()} == {
        key: str(model.summary.get(*key.split("."))) for key in model.summary.rows().dotted_keys()
    }


def test_a_config_longer_than_the_head_is_read_to_its_end(tmp_path: Path) -> None:
    log = tmp_path / "run-x.wandb"
    update = [{"key": f"option_{i}", "value_json": json.dumps("v" * 200)} for i in range(900)]
    records = [run_record(config={"update": update})]
    for step in range(3000):
        records += row(step, {"loss": step / 7})
    log.write_bytes(log_of(records))
    entry = entry_of(peek(log))
    assert len(entry.config) == 900
    assert entry.step == 2999


def test_a_row_of_several_megabytes_still_tells_its_step(tmp_path: Path) -> None:
    log = tmp_path / "run-x.wandb"
    wide = {f"layer/{i}/weight": i / 3 for i in range(60_000)}
    log.write_bytes(log_of([run_record(), *row(0, wide)[:1], *row(1, wide)[:1], *row(2, {"a": 1})[1:]]))
    assert log.stat().st_size > 4_000_000
    assert peek(log).step == 1


def test_steps_are_counted_where_rows_do_not_tell_them(tmp_path: Path) -> None:
    log = tmp_path / "run-x.wandb"
    plain = [history_record([(("loss",), str(i))], None) for i in range(5)]
    log.write_bytes(log_of([run_record(), *plain]))
    assert peek(log).step == model_of(log).last_step == 4
    log.write_bytes(log_of([run_record(), *row(70, {"loss": 1}), *plain]))
    assert peek(log).step == model_of(log).last_step == 75


def test_a_log_whose_steps_are_unknown_says_none(tmp_path: Path) -> None:
    log = tmp_path / "run-x.wandb"
    plain = [history_record([(("loss",), json.dumps("x" * 300))], None) for i in range(9000)]
    log.write_bytes(log_of([run_record(), *plain]))
    assert log.stat().st_size > peeking.FURTHER
    seen = peek(log)
    assert (seen.step, seen.begun) == (None, True)


def test_the_last_change_of_each_key_counts(tmp_path: Path) -> None:
    log = tmp_path / "run-x.wandb"
    records = [
        run_record(summary={"update": [{"key": "old", "value_json": "1"}]}),
        summary_record([(("only", "once"), "7"), (("a",), "1"), (("gone",), "2")]),
        *(summary_record([(("a",), str(i)), (("b",), "NaN")]) for i in range(50)),
        summary_record(
            [(("big",), str(10**30)), (("text",), '"x\\u001b"'), (("histogram",), '{"_type": "histogram"}')]
        ),
        summary_record([], [("gone",)]),
        encode("Record", {"summary": {"update": [{"key": "a", "value_json": "50"}]}}),
    ]
    log.write_bytes(log_of(records))
    summary = entry_of(peek(log)).summary
    assert summary["only.once"] == 7
    assert summary["a"] == 50
    assert summary["old"] == 1
    assert math.isnan(float(str(summary["b"])))
    assert summary["big"] == 1e30
    assert summary["text"] == "x␛"
    assert summary["histogram"] == "histogram"
    assert "gone" not in summary


def test_config_is_flat_merged_and_bounded(tmp_path: Path) -> None:
    log = tmp_path / "run-x.wandb"
    config = {"opt": {"lr": 0.1, "name": "adam"}, "layers": [64, 64], "blocks": [{"size": 1}, {"size": 2}], "_wandb": 1}
    more = {"opt": {"lr": 0.2}, "seed": None}
    records = [
        run_record(config={"update": [{"key": k, "value_json": json.dumps(v)} for k, v in config.items()]}),
        encode("Record", {"config": {"update": [{"key": k, "value_json": json.dumps(v)} for k, v in more.items()]}}),
        encode("Record", {"config": {"remove": [{"key": "layers"}]}}),
    ]
    log.write_bytes(log_of(records))
    assert entry_of(peek(log)).config == {
        "opt.lr": "0.2",
        "opt.name": "adam",
        "blocks[0].size": "1",
        "blocks[1].size": "2",
        "seed": "null",
    }
    many = [{"key": f"k{i}", "value_json": "1"} for i in range(3 * MOST_KEYS)]
    log.write_bytes(log_of([run_record(config={"update": many})]))
    assert len(entry_of(peek(log)).config) == MOST_KEYS
    deep = json.dumps({f"k{i}": i for i in range(MOST_KEYS - 1)})
    nested = [{"key": key, "value_json": deep} for key in ("a", "b")]
    log.write_bytes(log_of([run_record(config={"update": nested}, summary={"update": nested})]))
    entry = entry_of(peek(log))
    assert list(entry.config)[-2:] == list(entry.summary)[-2:] == [f"a.k{MOST_KEYS - 2}", "b.k0"]


def test_facts_pass_through_json(tmp_path: Path) -> None:
    log = trained(tmp_path, rows=5)
    facts = facts_of(peek(log))
    assert json.loads(json.dumps(facts)) == facts


def test_a_growing_log_is_read_on_from_where_it_ended(tmp_path: Path) -> None:
    run = ExampleRun(tmp_path)
    run.train(5)
    seen = peek(run.flush())
    for _ in range(6):
        run.train(700)
        run.sample(2)
        before, seen = seen, peek(run.flush(), seen)
        fresh = peek(run.log)
        assert seen.position > before.position
        assert (seen.step, seen.runtime) == (fresh.step, fresh.runtime) == (run.step - 1, fresh.runtime)
        assert dict(entry_of(seen).summary) == dict(entry_of(fresh).summary)
        assert entry_of(seen).config == entry_of(fresh).config
    run.record("config", {"update": [{"key": "late", "value_json": "1"}]})
    run.finish(1)
    seen = peek(run.log, seen)
    assert (seen.exit_code, entry_of(seen).config["late"]) == (1, "1")


def test_another_file_in_its_place_is_read_anew(tmp_path: Path) -> None:
    log = trained(tmp_path, rows=50)
    seen = peek(log)
    other = log_of([run_record(display_name="other"), *row(0, {"a": 1})])
    log.write_bytes(other + b"\0" * 0)
    seen = peek(log, seen)
    assert (seen.display_name, seen.step, seen.exit_code) == ("other", 0, None)
    longer = log_of([run_record(display_name="third"), *(r for i in range(9) for r in row(i, {"a": 1}))])
    log.write_bytes(longer)
    assert peek(log, seen).display_name == "third"


def test_a_log_cut_in_a_record_goes_on_when_the_rest_arrives(tmp_path: Path) -> None:
    whole = trained(tmp_path, rows=400).read_bytes()
    log = tmp_path / "run-x.wandb"
    seen = None
    for end in (0, 3, 7, 20, 5000, 40_000, BLOCK * 2 + 3, BLOCK * 2 + 11, len(whole)):
        log.write_bytes(whole[:end])
        seen = peek(log, seen)
        assert seen.trouble == ""
    fresh = peek(log)
    assert seen is not None
    assert (seen.step, seen.exit_code) == (fresh.step, 0)
    assert entry_of(seen).summary == entry_of(fresh).summary


@cache
def log_of_size(size: int) -> tuple[bytes, int]:
    """A log of about this size, and its number of rows."""
    records = [run_record(display_name="it", start_time={"seconds": int(START)})]
    step = left = 0
    while left < size:
        added = row(step, {"loss": 1 / (step + 1), "acc": step, "note": "x" * 40})
        records += added
        left += sum(map(len, added))
        step += 1
    records.append(encode("Record", {"exit": {"exit_code": 0, "runtime": step}}))
    return log_of(records), step


@pytest.mark.parametrize("size", [5_000, 120_000, 400_000])
@given(data=st.data())
@settings(max_examples=40)
def test_no_damage_makes_it_fail(tmp_path_factory: pytest.TempPathFactory, size: int, data: st.DataObject) -> None:
    directory = tmp_path_factory.mktemp("damage", numbered=True)
    undamaged, step = log_of_size(size)
    whole = bytearray(undamaged)
    for _ in range(data.draw(st.integers(0, 6))):
        at = data.draw(st.integers(0, max(len(whole) - 1, 0)))
        length = data.draw(st.sampled_from([1, 2, 7, 300, BLOCK]))
        kind = data.draw(st.sampled_from(["flip", "zeros", "cut out", "noise"]))
        if not whole:
            break
        if kind == "flip":
            whole[at] ^= 1 << data.draw(st.integers(0, 7))
        elif kind == "zeros":
            whole[at : at + length] = bytes(len(whole[at : at + length]))
        elif kind == "cut out":
            del whole[at : at + length]
        else:
            whole[at : at + length] = os.urandom(len(whole[at : at + length]))
    log = directory / "run-x.wandb"
    cut = data.draw(st.integers(0, len(whole)))
    log.write_bytes(whole[:cut])
    first = peek(log)
    log.write_bytes(whole)
    seen = peek(log, first)
    for found in (first, seen, peek(log)):
        facts = facts_of(found)
        json.dumps(facts)
        entry = entry_with(RunEntry("x", log), facts, size=found.size, modified=found.modified_ns / 1e9)
        entry.state(START + 100)
        assert entry.step is None or 0 <= entry.step <= step
        assert set(entry.summary) <= {"loss", "acc", "note"}


PATHS = st.lists(st.sampled_from("abc"), min_size=1, max_size=3).map(tuple)


@given(changes=st.lists(st.tuples(st.lists(st.tuples(PATHS, st.integers(0, 300))), st.lists(PATHS, max_size=2))))
def test_summaries_end_as_if_every_change_were_applied(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[list[tuple[tuple[str, ...], int]], list[Any]]]
) -> None:
    log = tmp_path_factory.mktemp("summary") / "run-x.wandb"
    records = [summary_record([(path, str(n)) for path, n in updates], removed) for updates, removed in changes]
    log.write_bytes(log_of([run_record(), *records]))
    model = model_of(log)
    assert set(entry_of(peek(log)).summary) == set(model.summary.rows().dotted_keys())


def test_what_is_no_log_says_why(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello, this is no log")
    assert "not a W&B log" in peek(tmp_path / "text").trouble
    (tmp_path / "newer").write_bytes(HEADER[:6] + b"\x09")
    assert "version 9" in peek(tmp_path / "newer").trouble
    assert peek(tmp_path / "nothing").trouble == "No such file or directory"
    assert peek(tmp_path).trouble != ""
    os.mkfifo(tmp_path / "pipe")
    assert peek(tmp_path / "pipe").trouble == "not a regular file"
    (tmp_path / "empty").write_bytes(b"")
    assert (peek(tmp_path / "empty").trouble, peek(tmp_path / "empty").begun) == ("", False)
    assert entry_of(peek(tmp_path / "text")).state(0).name == "unreadable"


def test_changes_are_named_by_their_path(tmp_path: Path) -> None:
    log = tmp_path / "run-x.wandb"
    log.write_bytes(log_of([run_record(), summary_record([(("val", "loss"), "0.5")])]))
    assert peek(log).summary == (Change(("val", "loss"), "0.5"),)
