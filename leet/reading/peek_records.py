"""Single records of a log as a look at it needs them: found out with as little work as will do.

Nearly all records are rows of history and changes of the summary, made by writers that lay them out alike. Of those
it is enough to search their bytes; any other record is parsed.
"""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple

from google.protobuf.message import DecodeError

from leet.reading import records
from leet.reading.logged_values import number_of

HISTORY, SUMMARY, OUTPUT, CONFIG, STATS, OUTPUT_RAW, RUN, EXIT, ENVIRONMENT, OUTPUT_LOGGER = (
    2, 3, 4, 5, 7, 13, 17, 18, 26, 27,
)  # fmt: skip
_ROW_ITEMS = (b"\x12\x05_step\x82\x01", b"\x12\x08_runtime\x82\x01")
"""Items of a row up to the length of their values."""
_VALUE_TAG = b"\x82\x01"
_ITEM_KEYS = re.compile(rb"\x0a[\x00-\xff]{1,2}?\x12([\x01-\x7f][^\x00-\x1f\x82]*)\x82\x01")
"""Items of a summary under a key of one level, without control characters: its length and itself."""
_REMOVAL = re.compile(rb"\x12(?:[\x00-\x7f]|[\x80-\xff][\x01-\x7f])[\x0a\x12]")
"""What a summary has wherever it removes a key, and hardly ever elsewhere: an item of two levels of lengths."""


class Change(NamedTuple):
    """The config or summary at `path` became the JSON value `json`, or was removed (None)."""

    path: tuple[str, ...]
    json: str | None


class Row(NamedTuple):
    """What is known of a row of history: each NaN where the row does not tell."""

    step: float
    runtime: float


def kind_of(payload: bytes) -> int:
    """The field of `Record` that is set, by its number; 0 where that is not to be seen at once."""
    at, end = 0, len(payload)
    try:
        while at < end:
            tag = payload[at]
            if tag == 0x08:  # num
                at += 1
                while payload[at] >= 0x80:
                    at += 1
                at += 1
                continue
            if tag < 0x80:
                return tag >> 3
            second = payload[at + 1]
            if (tag, second) in ((0x82, 0x01), (0xC2, 0x0C)):  # control, _info
                length = payload[at + 2]
                if length >= 0x80:
                    return 0
                at += 3 + length
                continue
            return (tag & 0x7F | second << 7) >> 3 if second < 0x80 else 0
    except IndexError:
        pass
    return 0


def keys_in_summary(payload: bytes) -> tuple[list[bytes], bool]:
    """Keys of one level that a summary record sets, as they are encoded; whether that is all it does."""
    keys = _ITEM_KEYS.findall(payload)
    return keys, len(keys) == payload.count(_VALUE_TAG) and not _REMOVAL.search(payload)


def summary_changes(payload: bytes) -> list[Change]:
    """The changes of one summary record, in order; none of one that cannot be read."""
    if (record := parsed(payload)) is None:
        return []
    changes = [Change(path_of(item), item.value_json) for item in record.summary.update]
    return changes + [Change(path_of(item), None) for item in record.summary.remove]


def parsed(payload: bytes) -> Any:
    """The record; None where it is none."""
    try:
        return records.parse(payload)
    except DecodeError:
        return None


def path_of(item: Any) -> tuple[str, ...]:
    return tuple(item.nested_key) or (item.key,)


def row_of(payload: bytes) -> Row:
    """A row by its items `_step` and `_runtime`, and the step beside them."""
    if row := _usual_row(payload):
        return row
    record = parsed(payload)
    if record is None:
        return Row(math.nan, math.nan)
    history = record.history
    found = {"_step": math.nan, "_runtime": math.nan}
    for item in history.item:
        nested = item.nested_key
        key = (nested[0] if len(nested) == 1 else "") if nested else item.key
        if key in found:
            number = _number(item)
            if number is not None:
                found[key] = number
    if math.isnan(found["_step"]) and history.HasField("step"):
        found["_step"] = float(history.step.num)
    return Row(found["_step"], found["_runtime"])


def _usual_row(payload: bytes) -> Row | None:
    """The same of a row as nearly all writers make it, found without taking it apart; None for any other.

    What is sought cannot be in a value: control characters are escaped in JSON.
    """
    found = []
    for item in _ROW_ITEMS:
        at = payload.find(item) + len(item)
        text = payload[at + 1 : at + 1 + payload[at]] if len(item) <= at < len(payload) else b""
        number = number_of(text.decode("ascii", "replace"))
        if number is None:
            return None
        found.append(number)
    return Row(*found)


def _number(item: Any) -> float | None:
    form = item.WhichOneof("value")
    if form in ("integer", "number"):
        return float(getattr(item, form))
    return number_of(item.value_json) if form is None else None
