"""The encoder against protobuf itself, with the SDK's own classes where they are installed."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leet.reading import records
from recorder.transaction_log import schema
from recorder.transaction_log.wire import encode, history_record, summary_record, timestamp, varint

_RANGES = {
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "sint64": (-(2**63), 2**63 - 1),
    "uint32": (0, 2**32 - 1),
    "uint64": (0, 2**64 - 1),
}


def scalar(kind: str) -> st.SearchStrategy[Any]:
    if kind == "string":
        return st.text(max_size=200)
    if kind == "bytes":
        return st.binary(max_size=20)
    if kind == "bool":
        return st.booleans()
    if kind == "double":
        return st.floats(allow_nan=False)
    if kind in schema.ENUMS:
        return st.sampled_from(sorted(schema.ENUMS[kind].values()))
    return st.integers(*_RANGES[kind])


def value_of(field: schema.Field, depth: int) -> st.SearchStrategy[Any]:
    one = message(field.kind, depth + 1) if field.kind in schema.messages() else scalar(field.kind)
    if field.map_key:
        return st.dictionaries(scalar(field.map_key), one, max_size=3)
    return st.lists(one, max_size=3) if field.repeated else one


def message(name: str, depth: int = 0) -> st.SearchStrategy[dict[str, Any]]:
    fields = schema.messages()[name]
    if depth > 4:
        fields = tuple(f for f in fields if f.kind not in schema.messages())

    @st.composite
    def build(draw: st.DrawFn) -> dict[str, Any]:
        chosen = draw(st.lists(st.sampled_from(fields), max_size=6, unique_by=lambda f: f.name)) if fields else []
        groups: set[str] = set()
        built: dict[str, Any] = {}
        for field in chosen:
            if field.oneof in groups:
                continue
            if field.oneof:
                groups.add(field.oneof)
            built[field.name] = draw(value_of(field, depth))
        return built

    return build()


def filled(name: str, value: dict[str, Any], made: Any) -> Any:
    """The same value put into a protobuf message by protobuf's own means."""
    fields = {field.name: field for field in schema.messages()[name]}
    for key, content in value.items():
        field = fields[key]
        nested = field.kind in schema.messages()
        if field.map_key:
            for k, v in content.items():
                if nested:
                    filled(field.kind, v, getattr(made, key)[k])
                else:
                    getattr(made, key)[k] = v
        elif field.repeated:
            for one in content:
                if nested:
                    filled(field.kind, one, getattr(made, key).add())
                else:
                    getattr(made, key).append(one)
        elif nested:
            getattr(made, key).SetInParent()
            filled(field.kind, content, getattr(made, key))
        else:
            setattr(made, key, content)
    return made


@given(message("Record"))
def test_every_message_reads_back_as_protobuf_would_have_written_it(value: dict[str, Any]) -> None:
    expected = filled("Record", value, records.message_class("Record")())
    assert records.parse(encode("Record", value)) == expected


@given(message("Record"))
def test_the_sdk_reads_what_is_written_here(value: dict[str, Any]) -> None:
    pb = pytest.importorskip("wandb.proto.wandb_internal_pb2", reason="the wandb package is not installed")
    assert pb.Record.FromString(encode("Record", value)) == filled("Record", value, pb.Record())


@given(st.integers(0, 2**64 - 1))
def test_varints_have_seven_bits_a_byte(number: int) -> None:
    encoded = varint(number)
    assert sum((byte & 0x7F) << (7 * i) for i, byte in enumerate(encoded)) == number
    assert [byte >= 0x80 for byte in encoded] == [True] * (len(encoded) - 1) + [False]
    assert len(encoded) == max(1, -(-number.bit_length() // 7))


def test_defaults_are_left_out_unless_absence_says_something_else() -> None:
    assert encode("RunRecord", {"run_id": "", "resumed": False, "runtime": 0, "tags": []}) == b""
    assert encode("RunRecord", {"run_id": None}) == b""
    assert encode("RunRecord", {"tags": [""]}) == b"\x52\x00"
    assert encode("Record", {"preempting": {}}) == b"\xba\x01\x00"
    assert encode("HistoryItem", {"boolean": False}) == b"\x20\x00"
    assert encode("TBRecord", {"namespace": ""}) == b"\x22\x00"
    assert encode("BranchPoint", {"value": -0.0}) != b""
    assert math.isnan(records.message_class("BranchPoint").FromString(encode("BranchPoint", {"value": math.nan})).value)


def test_enums_take_names_and_numbers() -> None:
    named = encode("OutputRawRecord", {"output_type": "STDOUT", "line": "x"})
    assert named == encode("OutputRawRecord", {"output_type": 1, "line": "x"})


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ({"no_such_field": 1}, KeyError),
        ({"exit_code": 2**31}, ValueError),
        ({"exit_code": 10**5000}, ValueError),
        ({"exit_code": "x"}, ValueError),
    ],
)
def test_what_does_not_fit_the_table_is_refused(value: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        encode("RunExitRecord", value)


@pytest.mark.parametrize("number", [-1, 2**64, 10**30])
def test_numbers_beyond_64_bits_are_refused(number: int) -> None:
    with pytest.raises(ValueError, match="64 bits"):
        varint(number)


def test_steps_kinds_and_texts_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="int64"):
        history_record([], 2**63)
    with pytest.raises(ValueError, match="int32"):
        encode("OutputRawRecord", {"output_type": 2**40})
    with pytest.raises(TypeError):
        encode("OutputRawRecord", {"line": 5})


def test_text_without_utf8_does_not_cost_the_record() -> None:
    record = records.parse(encode("Record", {"output_raw": {"line": "a\ud800b"}}))
    assert record.output_raw.line == "a?b"


paths = st.lists(st.text(max_size=150), min_size=1, max_size=3).map(tuple)


@given(st.lists(st.tuples(paths, st.text(max_size=300)), max_size=5), st.integers(-(2**63), 2**63 - 1) | st.none())
def test_the_quick_way_for_history_writes_the_same_message(items: list[Any], step: int | None) -> None:
    record = records.parse(history_record(items, step))
    plain = {
        "item": [{"nested_key": list(path), "value_json": text} for path, text in items],
        "step": None if step is None else {"num": step},
    }
    assert record == records.parse(encode("Record", {"history": plain}))
    assert record.history.HasField("step") == (step is not None)


@given(st.lists(st.tuples(paths, st.text(max_size=300)), max_size=5), st.lists(paths, max_size=3))
def test_the_quick_way_for_summaries_writes_the_same_message(items: list[Any], removed: list[Any]) -> None:
    plain = {
        "update": [{"nested_key": list(path), "value_json": text} for path, text in items],
        "remove": [{"nested_key": list(path)} for path in removed],
    }
    assert records.parse(summary_record(items, removed)) == records.parse(encode("Record", {"summary": plain}))


def test_more_keys_than_are_kept_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recorder.transaction_log.wire._KEYS_KEPT", 3)
    items = [((f"key{i}",), str(i)) for i in range(10)]
    record = records.parse(history_record(items, 1))
    assert [(i.nested_key[0], i.value_json) for i in record.history.item] == [(k[0], v) for k, v in items]


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0.0, (0, 0)),
        (1.5, (1, 500_000_000)),
        (-0.25, (-1, 750_000_000)),
        (1796003677.999999, (1796003677, 999_999_000)),
    ],
)
def test_timestamps_count_nanoseconds_upwards(seconds: float, expected: tuple[int, int]) -> None:
    assert timestamp(seconds) == {"seconds": expected[0], "nanos": expected[1]}
