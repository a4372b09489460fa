"""Raw records → batches: where each kind of record ends up, and what happens to those that cannot be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import corpus_logs
from hypothesis import given
from hypothesis import strategies as st

from leet.reading import records
from leet.reading.batch import Batch, ConsolePiece, KeyPath, SummaryChange, SummaryChanges
from leet.reading.blocks import RawRecord
from leet.reading.bulk_blocks import Found
from leet.reading.decoder import Decoder
from leet.reading.tail import read
from recorder.transaction_log.wire import encode, history_record, summary_record

INFO = b"\xc2\x0c\x05\n\x03run"
CONTROL = b"\x82\x01\x02(\x01"


def record(kind: str, value: dict[str, Any], num: int = 300) -> bytes:
    return encode("Record", {"num": num, kind: value})


def decode(*payloads: bytes, decoder: Decoder | None = None, caught_up: bool = True) -> Batch:
    raw = [RawRecord(1000 + i, payload) for i, payload in enumerate(payloads)]
    return (decoder or Decoder()).decode(Found.listed(raw), end=90, size=90 if caught_up else 100, modified=5.0)


def test_every_kind_has_its_place() -> None:
    batch = decode(
        record("header", {"version_info": {"producer": "p"}}),
        record("run", {"run_id": "r", "project": "demo"}),
        record("config", {"update": [{"key": "lr", "value_json": "1"}]}),
        record(
            "stats", {"timestamp": {"seconds": 7, "nanos": 500_000_000}, "item": [{"key": "cpu", "value_json": "9"}]}
        ),
        record("output_raw", {"output_type": "STDERR", "timestamp": {"seconds": 8}, "line": "\x1b[31mno\r"}),
        record("output", {"output_type": "STDOUT", "timestamp": {"seconds": 9}, "line": "yes\n"}),
        record("output_logger", {"line": "said"}),
        history_record([(("loss",), "0.5")], 3),
        summary_record([(("loss",), "0.5")]),
        record("exit", {"exit_code": 3}),
    )
    assert [(e.ordinal, e.offset, e.kind) for e in batch.entries] == [
        (1, 1000, "header"),
        (2, 1001, "run"),
        (3, 1002, "config"),
        (10, 1009, "exit"),
    ]
    assert batch.entries[1].message.project == "demo"
    assert batch.entries[3].message.exit_code == 3
    assert batch.system is not None
    assert batch.system.timestamps.tolist() == [7.5]
    assert [(n, r.tolist(), v.tolist()) for n, r, v in batch.system.columns.items()] == [("cpu", [0], [9.0])]
    assert batch.console == (
        ConsolePiece("stderr", 8.0, "\x1b[31mno\r"),
        ConsolePiece("stdout", 9.0, "yes\n"),
        ConsolePiece("logger", 9.0, "said"),
    )
    assert batch.history is not None
    assert batch.history.steps.tolist() == [3]
    assert [*batch.summary] == [SummaryChange(("loss",), "0.5")]
    assert (batch.records, batch.skipped, batch.end, batch.size, batch.modified) == (10, (), 90, 90, 5.0)


def test_ordinals_and_system_columns_go_on_in_the_next_batch() -> None:
    decoder = Decoder()
    decode(record("exit", {}), record("exit", {}), decoder=decoder)
    batch = decode(record("exit", {"exit_code": 1}), decoder=decoder)
    assert batch.entries[0].ordinal == 3


def test_nothing_makes_an_empty_batch() -> None:
    batch = decode()
    assert batch == Batch(end=90, size=90, modified=5.0)


@pytest.mark.parametrize("num", [b"", b"\x08\x01", b"\x08\xac\x02", b"\x08" + b"\xff" * 9 + b"\x01"])
@pytest.mark.parametrize("before", [b"", CONTROL, CONTROL + INFO])
@pytest.mark.parametrize("after", [b"", CONTROL, INFO, CONTROL + INFO, INFO + CONTROL, b"\x9a\x01\x00"])
def test_envelopes_of_all_writers(num: bytes, before: bytes, after: bytes) -> None:
    row = encode("HistoryRecord", {"item": [{"nested_key": ["loss"], "value_json": "0.5"}], "step": {"num": 4}})
    change = encode("SummaryRecord", {"update": [{"key": "loss", "value_json": "2"}]})
    history = num + before + b"\x12" + bytes([len(row)]) + row + after
    summary = num + before + b"\x1a" + bytes([len(change)]) + change + after
    batch = decode(history, summary, history_record([(("loss",), "1.5")], 5))
    assert batch.history is not None
    assert batch.history.steps.tolist() == [4, 5]
    assert batch.history.columns.values.tolist() == [0.5, 1.5]
    assert [*batch.summary] == [SummaryChange(("loss",), "2")]


def test_records_that_are_no_protobuf_are_skipped_and_named() -> None:
    good = history_record([(("loss",), "0.5")], 1)
    payloads = [
        b"\xff\xff\xff",
        good,
        good.replace(b"loss", b"\xff\xff\xff\xff"),
        summary_record([(("lo",), "1")]).replace(b"lo", b"\xff\xff"),
        record("run", {"run_id": "rr"}).replace(b"rr", b"\xff\xff"),
        history_record([(("loss",), "0.25")], 2),
    ]
    batch = decode(*payloads)
    assert batch.history is not None
    assert batch.history.columns.values.tolist() == [0.5, 0.25]
    assert batch.history.steps.tolist() == [1, 2]
    assert [(s.offset, s.length) for s in batch.skipped] == [(1000 + i, len(payloads[i])) for i in (0, 2, 3, 4)]
    assert all(s.reason.startswith("bad ") for s in batch.skipped)
    assert batch.records == 2


def test_a_record_of_unknown_kind_is_kept() -> None:
    (entry,) = decode(b"\x08\x01\xa2\x06\x00").entries
    assert entry.kind == "unknown"


def test_summary_waits_until_the_reader_has_caught_up() -> None:
    decoder = Decoder()
    assert len(decode(summary_record([(("a",), "1")]), decoder=decoder, caught_up=False).summary) == 1
    assert (
        decode(summary_record([(("a",), "2"), (("b",), "2")]), decoder=decoder, caught_up=False).summary
        == SummaryChanges()
    )
    last = decode(summary_record([(("a",), "3")]), decoder=decoder)
    assert [*last.summary] == [SummaryChange(("b",), "2"), SummaryChange(("a",), "3")]
    assert decode(decoder=decoder).summary == SummaryChanges()


PATHS = st.lists(st.sampled_from("abc"), min_size=1, max_size=3).map(tuple)
TEXTS = st.sampled_from(["1", "2.5", '"x"', '{"a":1}', "[1,2]", "NaN"])
SUMMARIES = st.tuples(
    st.lists(st.tuples(PATHS, TEXTS), max_size=5),
    st.lists(PATHS, max_size=2) | st.just([]),
    st.booleans(),
)


def apply_change(tree: dict[KeyPath, str], path: KeyPath, text: str | None) -> None:
    """The rules of summaries: setting a path discards leaves above it and everything below it."""
    for known in list(tree):
        shorter = min(len(known), len(path))
        if known[:shorter] == path[:shorter] and (text is not None or len(known) >= len(path)):
            del tree[known]
    if text is not None:
        tree[path] = text


@given(st.lists(SUMMARIES, max_size=8), st.integers(0, 8))
def test_compacted_summary_changes_come_to_the_same(
    summaries: list[tuple[list[tuple[KeyPath, str]], list[KeyPath], bool]], cut: int
) -> None:
    expected: dict[KeyPath, str] = {}
    payloads = []
    for updates, removed, single in summaries:
        items = [{"key": p[0]} if single and len(p) == 1 else {"nested_key": p} for p, _ in updates]
        items = [keys | {"value_json": text} for keys, (_, text) in zip(items, updates, strict=True)]
        payloads.append(record("summary", {"update": items, "remove": [{"nested_key": p} for p in removed]}))
        for path, text in updates:
            apply_change(expected, path, text)
        for path in removed:
            apply_change(expected, path, None)
    decoder = Decoder()
    changes = (
        *decode(*payloads[:cut], decoder=decoder, caught_up=False).summary,
        *decode(*payloads[cut:], decoder=decoder).summary,
    )
    seen: dict[KeyPath, str] = {}
    for change in changes:
        apply_change(seen, change.path, change.json)
    assert seen == expected
    if not any(removed for _, removed, _ in summaries) and cut == 0:
        assert len(changes) == len({path for updates, _, _ in summaries for path, _ in updates})


@given(st.lists(st.binary(max_size=30) | st.binary(max_size=20).map(lambda b: b"\x08\x01\x12" + bytes([len(b)]) + b)))
def test_no_bytes_raise(payloads: list[bytes]) -> None:
    batch = decode(*payloads)
    rows = len(batch.history) if batch.history else 0
    assert batch.records == len(payloads) - len(batch.skipped)
    assert rows <= batch.records


def test_real_logs_are_read_without_loss(corpus: Path) -> None:
    for log in corpus_logs():
        batches = [item for item in read(log) if isinstance(item, Batch)]
        skipped = [s for batch in batches for s in batch.skipped]
        assert skipped == [], log
        assert batches[-1].end == log.stat().st_size
        kinds = {entry.kind for batch in batches for entry in batch.entries}
        assert kinds <= {"unknown", *(f.name for f in records.parse(b"").DESCRIPTOR.fields)}
        assert not kinds & {"history", "summary", "stats", "output", "output_raw", "output_logger"}


def test_a_large_summary_comes_in_portions() -> None:
    items = [((f"m{i}",), str(i)) for i in range(10)]
    batch = decode(summary_record(items), history_record([(("loss",), "1")], 0))
    portions = list(batch.portions(4))
    assert [len(portion.summary) for portion in portions] == [4, 4, 2]
    assert [change for portion in portions for change in portion.summary] == [*batch.summary]
    assert [portion.history is not None for portion in portions] == [True, False, False]
    assert {(p.end, p.size, p.modified) for p in portions} == {(batch.end, batch.size, batch.modified)}
    assert list(batch.portions()) == [batch]
