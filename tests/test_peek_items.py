"""Items found by their bytes are those that protobuf finds, or none at all."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from leet.reading import records
from leet.reading.peek_items import Change, Layout, path_in, settings_in, usual_items
from recorder.transaction_log.wire import encode

KEYS = st.sampled_from(["loss", "a", "val", "_step", "é", "", "x" * 127, "y" * 128, "\x82\x01", "a\x01", "\x12\x01b"])
TEXTS = st.one_of(
    st.floats().map(repr),
    st.text(max_size=4).map(json.dumps),
    st.sampled_from(
        ["", "1", '"' + "z" * 140 + '"', '"' + "w" * 17_000 + '"', "\x0a\x08\x12\x01a\x82\x01\x011", "\x12"]
    ),
)


def item(key: str, path: list[str], text: str) -> dict[str, Any]:
    return {**({"nested_key": path} if path else {"key": key}), "value_json": text}


ITEMS = st.lists(st.builds(item, KEYS, st.lists(KEYS, max_size=3), TEXTS), max_size=6)


def by_protobuf(encoded: bytes) -> tuple[list[Change], int] | None:
    """The changes that set something, and how many remove something; None where protobuf refuses the bytes."""
    try:
        record: Any = records.message_class("SummaryRecord").FromString(encoded)
    except records.DecodeError:
        return None
    changes = [Change(tuple(one.nested_key) or (one.key,), one.value_json) for one in record.update]
    return changes, len(record.remove)


@given(items=ITEMS, removed=st.lists(KEYS, max_size=1), data=st.data())
def test_items_are_those_of_protobuf_or_none(
    items: list[dict[str, Any]], removed: list[str], data: st.DataObject
) -> None:
    remove = [{"nested_key": [key]} for key in removed]
    encoded = bytearray(encode("SummaryRecord", {"update": items, "remove": remove}))
    if encoded and data.draw(st.booleans()):
        encoded[data.draw(st.integers(0, len(encoded) - 1))] = data.draw(st.integers(0, 255))
    before = data.draw(st.binary(max_size=3))
    found = usual_items(before + bytes(encoded), len(before), len(before) + len(encoded))
    if found is not None:
        assert by_protobuf(bytes(encoded)) == (found[1], 0)
    assert settings_in(bytes(encoded)) == (None if found is None else found[1])


def test_what_writers_write_is_found() -> None:
    items = [
        item("", ["loss"], "0.5"),
        item("", ["_wandb", "runtime"], "17"),
        item("lr", [], '{"a": [1, 2]}'),
        item("", ["long"], json.dumps("x" * 300)),
    ]
    encoded = encode("SummaryRecord", {"update": items})
    found = usual_items(encoded, 0, len(encoded))
    assert found is not None
    paths, changes = found
    assert [change.path for change in changes] == [("loss",), ("_wandb", "runtime"), ("lr",), ("long",)]
    assert [path_in(path) for path in paths] == [change.path for change in changes]
    assert [change.json for change in changes] == [one["value_json"] for one in items]
    assert usual_items(b"", 0, 0) == ([], [])


@given(
    paths=st.lists(st.lists(KEYS, min_size=1, max_size=2).map(tuple), min_size=1, max_size=4),
    texts=st.lists(TEXTS, min_size=4, max_size=4),
    others=ITEMS,
    at=st.integers(0, 4),
    logs=st.sampled_from([1, 50]),
)
@example([("a",)], ["1"] * 4, [{"nested_key": ["b"], "value_json": "\x0a\x08\x12\x01a\x82\x01\x011"}], 0, 50)
def test_a_layout_fits_what_sets_its_paths_alone(
    paths: list[tuple[str, ...]], texts: list[str], others: list[dict[str, Any]], at: int, logs: int
) -> None:
    """`logs`: of a layout that is met often a regular expression is made."""
    plain = [item("", list(path), "1") for path in paths]
    first = encode("SummaryRecord", {"update": plain})
    found = usual_items(first, 0, len(first))
    if found is None:  # a key that is left to protobuf
        return
    layout = Layout(tuple(found[0]))
    for _ in range(logs):
        layout.count()
    assert layout.fits(first, 0, len(first))
    assert layout.fits(b"..." + first + b".", 3, 3 + len(first))
    fewer = encode("SummaryRecord", {"update": plain[:-1]})
    assert not layout.fits(fewer, 0, len(fewer))
    again = [item("", list(path), text) for path, text in zip(paths, texts, strict=False)]
    for items in (again, others, [*again[:at], *others, *again[at:]]):
        encoded = encode("SummaryRecord", {"update": items})
        set_here = [tuple(one.get("nested_key", ())) or (one.get("key", ""),) for one in items]
        if layout.fits(encoded, 0, len(encoded)):
            assert set(set_here) <= set(paths)
        elif items is again:  # an empty text is left out on the wire, and JSON has no control characters
            assert any(not text or min(text) < " " for text in texts)
    removing = encode("SummaryRecord", {"update": plain, "remove": plain[:1]})
    assert not layout.fits(removing, 0, len(removing))
