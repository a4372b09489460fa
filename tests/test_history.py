"""History records → columns: what each form of a value means, and that both ways of reading them agree."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import corpus_logs
from hypothesis import given
from hypothesis import strategies as st

from leet.reading.batch import HistoryBatch
from leet.reading.blocks import BlockReader, RawRecord
from leet.reading.columns import ROW_COLUMNS
from leet.reading.envelopes import HISTORY, open_envelopes
from leet.reading.history import HistoryReader
from leet.reading.history_skim import HistorySkim
from leet.reading.messages import Messages
from recorder.transaction_log.wire import encode

NAN, INF = math.nan, math.inf


def item(path: str, value: Any = None, **fields: Any) -> dict[str, Any]:
    """A history item; a dotted `path` is a nested key."""
    keys: dict[str, Any] = {"nested_key": path.split(".")}
    return keys | fields if value is None else keys | {"value_json": value} | fields


def row(*items: dict[str, Any], step: int | None = None) -> bytes:
    record: dict[str, Any] = {"item": items}
    if step is not None:
        record["step"] = {"num": step}
    return encode("HistoryRecord", record)


def read(*encoded: bytes, fast: bool = True) -> HistoryBatch:
    batch, bad = HistoryReader(plainly=not fast).read(Messages.joined(encoded))
    assert bad == []
    return batch


def plain_view(batch: HistoryBatch) -> dict[str, Any]:
    """All that a batch says, comparable: NaN spelt out, the order of names left out."""
    return {
        "steps": batch.steps.tolist(),
        "runtimes": repr(batch.runtimes.tolist()),
        "timestamps": repr(batch.timestamps.tolist()),
        "columns": {n: (r.tolist(), repr((v + 0.0).tolist())) for n, r, v in batch.columns.items()},
        "texts": dict(batch.texts),
        "typed": dict(batch.typed),
    }


def assert_same_both_ways(encoded: Sequence[bytes], *, intact: bool = True) -> None:
    """Fast and plain reading agree, in one batch and in three, and counting does where values are what was written."""
    messages = Messages.joined(encoded)
    fast, bad = HistoryReader().read(messages)
    plain, plain_bad = HistoryReader(plainly=True).read(messages)
    assert plain_view(fast) == plain_view(plain)
    assert bad == plain_bad
    assert batch_is_sound(fast)
    assert_counted(HistorySkim(), messages, plain, bad, intact=intact)
    fast_reader, plain_reader = HistoryReader(), HistoryReader(plainly=True)
    third = len(encoded) // 3
    for part in (encoded[:third], encoded[third : 2 * third], encoded[2 * third :]):
        messages = Messages.joined(part)
        assert plain_view(fast_reader.read(messages)[0]) == plain_view(plain_reader.read(messages)[0])


def assert_counted(
    reader: HistorySkim, messages: Messages, expected: HistoryBatch, bad: Sequence[tuple[int, str]], *, intact: bool
) -> None:
    """Counting comes to what reading does; a text with damage between two digits counts as a number."""
    rows = reader.skim(messages)
    which = np.flatnonzero(rows.counts)
    counts = dict(zip(reader.names(which), rows.counts[which].tolist(), strict=True))
    sizes = {name: len(numbers) for name, numbers, _ in expected.columns.items()}
    counts = {name: count for name, count in counts.items() if name not in ROW_COLUMNS}
    if not intact:
        assert all(counts[name] >= size for name, size in sizes.items())
        assert set(rows.bad) <= set(bad)
        return
    assert counts == sizes
    assert rows.steps.tolist() == expected.steps.tolist()
    known = expected.runtimes[np.isfinite(expected.runtimes)].tolist()
    assert rows.runtime == (known[-1] if known else None)
    assert list(bad) == rows.bad


def batch_is_sound(batch: HistoryBatch) -> bool:
    columns = batch.columns
    assert len(set(columns.names)) == len(columns.names)
    assert columns.starts.dtype == np.int64
    assert len(columns.starts) == len(columns) + 1
    assert columns.starts[0] == 0
    assert columns.starts[-1] == columns.points == len(columns.rows)
    for _, rows, values in columns.items():
        assert rows.dtype == np.int32
        assert values.dtype == np.float64
        assert len(rows)
        assert (np.diff(rows) > 0).all()
        assert rows[-1] < len(batch)
    return True


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0.1", 0.1),
        ("-3", -3.0),
        ("1e+22", 1e22),
        ("1.7960036771958458e+09", 1796003677.1958458),
        ("9007199254740993", 9007199254740992.0),
        ("-9223372036854775808", -(2.0**63)),
        ("123456789012345678901234567890", 1.2345678901234568e29),
        ("-2.2250738585072014e-308", -2.2250738585072014e-308),
        ("1e999", INF),
        ("0." + "1" * 60, float("0." + "1" * 60)),
        ("true", 1.0),
        ("false", 0.0),
        ("NaN", NAN),
        ("Infinity", INF),
        ("-Infinity", -INF),
        ('"3.5"', 3.5),
        ('"-1e3"', -1000.0),
        ('"NaN"', NAN),
        ('"\\u0031"', 1.0),
    ],
)
def test_numbers(text: str, number: float, fast: bool) -> None:
    batch = read(row(item("x", text), step=0), fast=fast)
    assert batch.columns.names == ("x",)
    np.testing.assert_equal(batch.columns.values, [number])
    assert batch.texts == {}


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize(
    "text", ['"s"', '""', '"3 apples"', '"-"', "[1,2]", "[]", "null", "{}", "-", "1,2", "tru", "[1", '"\\"1"', "{1}"]
)
def test_texts(text: str, fast: bool) -> None:
    batch = read(row(item("x", text), step=0), row(step=1), fast=fast)
    assert batch.columns.names == ()
    assert batch.texts == {"x": (0, text)}


@pytest.mark.parametrize("fast", [True, False])
def test_typed_values_win_over_json(fast: bool) -> None:
    batch = read(
        row(
            item("flag", "7", boolean=True),
            item("count", "7", integer=-(2**62)),
            item("loss", "7", number=NAN),
            item("void", "7", none="NULL_VALUE"),
            item("word", "7", text='a"b'),
            item("digits", "7", text="42"),
            item("list", "7", json="[1,2]"),
            item("dict", "7", json='{"a":1}'),
        ),
        fast=fast,
    )
    assert {n: repr(v.tolist()) for n, _, v in batch.columns.items()} == {
        "flag": "[1.0]",
        "count": "[-4.611686018427388e+18]",
        "loss": "[nan]",
        "digits": "[42.0]",
        "dict.a": "[1.0]",
    }
    assert batch.texts == {"void": (0, "null"), "word": (0, '"a\\"b"'), "list": (0, "[1,2]")}


@pytest.mark.parametrize("fast", [True, False])
def test_key_and_nested_key(fast: bool) -> None:
    batch = read(
        row(
            {"key": "old", "value_json": "1"},
            {"key": "lost", "nested_key": ["n", "b"], "value_json": "2"},
            {"nested_key": ["dot.ted"], "value_json": "3"},
            {"key": "tree", "value_json": '{"a": {"b": 4, "s": "x"}, "t": true, "l": [1, NaN], "n": Infinity}'},
            {"value_json": "5"},
        ),
        fast=fast,
    )
    values = {n: v.tolist() for n, _, v in batch.columns.items()}
    assert values == {"old": [1], "n.b": [2], "dot.ted": [3], "tree.a.b": [4], "tree.t": [1], "tree.n": [INF], "": [5]}
    assert batch.texts == {"tree.a.s": (0, '"x"'), "tree.l": (0, "[1, NaN]")}


@pytest.mark.parametrize("fast", [True, False])
def test_leaves_of_media_are_no_curves(fast: bool) -> None:
    batch = read(
        row(item("img._type", '"image-file"'), item("img.width", "8"), item("img.boxes.p.size", "3"), item("w", "1")),
        row(item("img.width", "9"), {"key": "h", "value_json": '{"_type": "histogram", "n": 5}'}),
        fast=fast,
    )
    assert {n: (r.tolist(), v.tolist()) for n, r, v in batch.columns.items()} == {
        "w": ([0], [1.0]),
        "img.width": ([1], [9.0]),
    }
    assert batch.texts == {
        "img._type": (0, '"image-file"'),
        "img.width": (0, "8"),
        "img.boxes.p.size": (0, "3"),
        "h._type": (1, '"histogram"'),
        "h.n": (1, "5"),
    }


@pytest.mark.parametrize("fast", [True, False])
def test_row_columns_and_steps(fast: bool) -> None:
    reader = HistoryReader(plainly=not fast)
    first, _ = reader.read(
        Messages.joined(
            [
                row(item("_step", "7"), item("_runtime", "1.5"), item("_timestamp", "100"), step=3),
                row(item("a", "1"), step=9),
                row(item("a", "2"), item("_step", "NaN"), item("_other", "3")),
                row(),
            ]
        )
    )
    assert first.steps.tolist() == [7, 9, 10, 11]
    np.testing.assert_equal(first.runtimes, [1.5, NAN, NAN, NAN])
    np.testing.assert_equal(first.timestamps, [100, NAN, NAN, NAN])
    assert set(first.columns.names) == {"a", "_other"}
    second, _ = reader.read(Messages.joined([row(item("a", "5")), row(step=0)]))
    assert second.steps.tolist() == [12, 0]


@pytest.mark.parametrize("fast", [True, False])
def test_of_two_values_under_one_name_the_last_counts(fast: bool) -> None:
    twice = row(item("x", "1"), item("n.a", "1"), {"nested_key": ["n.a"], "value_json": "2"}, item("x", '"s"'))
    batch = read(row(item("x", "0")), twice, fast=fast)
    assert {n: (r.tolist(), v.tolist()) for n, r, v in batch.columns.items()} == {
        "x": ([0], [0.0]),
        "n.a": ([1], [2.0]),
    }
    assert batch.texts == {"x": (1, '"s"')}


@pytest.mark.parametrize("fast", [True, False])
def test_bad_records_are_reported_and_take_no_row(fast: bool) -> None:
    good = row(item("a", "1"), step=0)
    no_utf8 = good.replace(b"a", b"\xff")
    text_no_utf8 = row(item("a", '"s"')).replace(b"s", b"\xff")
    number_no_utf8 = row(item("a", "1x")).replace(b"x", b"\xff")
    encoded = [good, no_utf8, good, text_no_utf8, good[:-1], number_no_utf8, row(item("a", "2"), step=1)]
    batch, bad = HistoryReader(plainly=not fast).read(Messages.joined(encoded))
    assert batch.columns.rows.tolist() == [0, 1, 2]
    assert batch.columns.values.tolist() == [1, 1, 2]
    assert batch.steps.tolist() == [0, 0, 1]
    assert [index for index, _ in bad] == [1, 3, 4, 5]


def test_real_logs_read_the_same_both_ways(corpus: Path) -> None:
    for log in corpus_logs():
        reader = BlockReader()
        found = reader.feed(log.read_bytes()) + reader.finish()
        messages = Messages.joined([piece.payload for piece in found if isinstance(piece, RawRecord)])
        envelopes = open_envelopes(messages)
        bodies = messages.cut(np.flatnonzero(envelopes.kinds == HISTORY), envelopes.starts, envelopes.ends)
        assert_same_both_ways([bodies[i] for i in range(len(bodies))])


def test_many_rows_and_wide_rows() -> None:
    luck = random.Random(1)

    def wide(width: int, step: int) -> bytes:
        items = [item(f"m.metric {i}" * (1 + i % 7), repr(luck.random())) for i in range(width)]
        luck.shuffle(items)
        return row(*items, step=step)

    encoded = [wide(luck.choice((3, 5, 900, 0)), step) for step in range(300)] + [wide(5000, 300)]
    batch = read(*encoded)
    assert batch.columns.points > 5000
    assert_same_both_ways(encoded)


def test_keys_of_any_length() -> None:
    names = ["k" * length for length in (0, 1, 5, 6, 7, 13, 14, 15, 60, 118, 119, 125, 126, 127, 128, 200, 5000)]
    batch = read(*[row(item(name, str(i)), step=i) for i, name in enumerate(names)])
    assert {n: v.tolist() for n, _, v in batch.columns.items()} == {name: [i] for i, name in enumerate(names)}


PARTS = st.sampled_from(["a", "b", "loss", "_step", "_runtime", "_type", "train/loss", "x.y", "é", "", "long" * 20])
PATHS = st.lists(PARTS, min_size=1, max_size=4)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.floats()
    | st.integers()
    | st.text(max_size=5)
    | st.sampled_from(["1", "-2.5", "NaN"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(PARTS, inner, max_size=3),
    max_leaves=5,
)
TEXTS = st.one_of(
    st.floats().map(json.dumps),
    st.integers(-(2**70), 2**70).map(str),
    JSON.map(json.dumps),
    JSON.map(lambda value: json.dumps(value, separators=(",", ":"), ensure_ascii=True)),
    st.text('0123456789+-.eE,[]{}" nullNaIfity', max_size=12),
)
TYPED = st.sampled_from(
    [{}, {}, {}, {"boolean": True}, {"integer": -7}, {"number": 0.5}, {"text": "12"}, {"json": '{"b":1}'}, {"none": 0}]
)


@st.composite
def items(draw: st.DrawFn) -> dict[str, Any]:
    found: dict[str, Any] = {"value_json": draw(TEXTS)} | draw(TYPED)
    path = draw(PATHS)
    form = draw(st.sampled_from(["nested", "nested", "nested", "key", "both", "none"]))
    if form in ("nested", "both"):
        found["nested_key"] = path
    if form in ("key", "both"):
        found["key"] = path[-1]
    return found


ROWS = st.builds(
    lambda items, step: row(*items, step=step),
    st.lists(items(), max_size=6),
    st.none() | st.integers(0, 300) | st.integers(-5, 2**40),
)


@given(st.lists(ROWS, max_size=12))
def test_any_record_reads_the_same_both_ways(encoded: list[bytes]) -> None:
    assert_same_both_ways(encoded)


@pytest.mark.parametrize("records", [1, 20])
def test_a_value_that_leaves_its_record_is_no_value(records: int) -> None:
    assert_same_both_ways([b"\x0a\x09\x82\x01\x090.0\x12\x01a"] * records)


@given(st.lists(ROWS, min_size=1, max_size=4), st.data())
def test_damaged_records_read_the_same_both_ways(encoded: list[bytes], data: st.DataObject) -> None:
    damaged = []
    for record in encoded:
        octets = bytearray(record)
        for _ in range(data.draw(st.integers(0, 3))):
            if octets:
                octets[data.draw(st.integers(0, len(octets) - 1))] = data.draw(st.integers(0, 255))
        damaged.append(bytes(octets[: data.draw(st.integers(0, len(octets)))] if data.draw(st.booleans()) else octets))
    assert_same_both_ways(damaged * 20, intact=False)  # enough of them to be walked together


@pytest.mark.parametrize("record", [b"\x0a\x06\x82\x01\x030", b"\x0a\x09\x12\x01a\x82\x01\x030"])
def test_a_value_that_is_cut_off_at_the_end_of_the_last_record_is_none(record: bytes) -> None:
    assert_same_both_ways([record])
    assert_same_both_ways([row(item("a", "1"), step=1), record])


def test_items_without_a_key_may_be_more_than_the_others() -> None:
    nameless = {"value_json": "1"}
    assert_same_both_ways([row(nameless, {"key": "a", "value_json": f"{i}"}, step=i) for i in range(50)])
    assert_same_both_ways([row({"key": "a", "value_json": f"{i}"}, nameless, nameless, step=i) for i in range(50)])
