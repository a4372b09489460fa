"""Single records of a log as a look at it needs them: found out with as little work as will do.

Nearly all records are rows of history and changes of the summary, made by writers that lay them out alike. Of those
it is enough to search their bytes (`peek_items`); any other record is parsed.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from google.protobuf.message import DecodeError

from leet.reading import records
from leet.reading.logged_values import number_of
from leet.reading.peek_items import Change, Layout, long_length, settings_in, usual_items

if TYPE_CHECKING:  # its module loads numpy
    from leet.reading.batch import KeyPath

HISTORY, SUMMARY, OUTPUT, CONFIG, STATS, OUTPUT_RAW, RUN, EXIT, ENVIRONMENT, OUTPUT_LOGGER = (
    2, 3, 4, 5, 7, 13, 17, 18, 26, 27,
)  # fmt: skip
_BESIDE = ((0x82, 0x01), (0xC2, 0x0C))
"""Tags of what may be beside the field that is set: control, _info."""
_ROW_ITEMS = (b"\x12\x05_step\x82\x01", b"\x12\x08_runtime\x82\x01")
"""Items of a row up to the length of their values."""
_PLAIN_NUMBER = re.compile(rb"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_MOST_LAYOUTS = 8
"""Layouts of summary records that are kept in mind of one log."""


class Row(NamedTuple):
    """What is known of a row of history: each NaN where the row does not tell."""

    step: float
    runtime: float


def kind_and_place(payload: bytes) -> tuple[int, int]:
    """The field of `Record` that is set, by its number, and where it begins behind its tag.

    The number is 0 where that is not to be seen at once.
    """
    try:
        at = 0
        if payload[0] == 0x08:  # num
            at = 2
            while payload[at - 1] >= 0x80:
                at += 1
        while (tag := payload[at]) >= 0x80:
            second = payload[at + 1]
            if (tag, second) not in _BESIDE:
                return ((tag & 0x7F | second << 7) >> 3, at + 2) if second < 0x80 else (0, 0)
            length = payload[at + 2]
            if length >= 0x80:
                return 0, 0
            at += 3 + length
    except IndexError:
        return 0, 0
    return (tag >> 3, at + 1) if tag != 0x08 else (0, 0)


def kind_of(payload: bytes) -> int:
    """The field of `Record` that is set, by its number; 0 where that is not to be seen at once."""
    return kind_and_place(payload)[0]


class Superseded:
    """Tells of the summary records of a log, from the last one back, which have been replaced by later ones.

    Nearly every record has the layout of one of a few that come after it.
    """

    def __init__(self) -> None:
        self._layouts: list[Layout] = []

    def changes(self, payload: bytes, place: int) -> list[Change]:
        """The changes of one summary record, in order; none of one whose paths have all been set later.

        `place` is where the summary begins behind its tag. Nothing can be said of a record that cannot be read.
        """
        end = len(payload)
        start = place + (1 if payload[place : place + 1] < b"\x80" else 2)
        for layout in self._layouts:
            if layout.fits(payload, start, end):
                return []
        start, stated_end = _bounds(payload, place)
        found = usual_items(payload, start, end) if stated_end == end else None
        if found is None:
            record = parsed(payload)
            return [] if record is None else changes_of(record.summary)
        paths, changes = found
        if paths:
            layout = Layout.of(tuple(paths))
            layout.count()
            self._layouts.insert(0, layout)
            del self._layouts[_MOST_LAYOUTS:]
        return changes


def _bounds(payload: bytes, at: int) -> tuple[int, int]:
    """Where a message begins and ends whose length stands at a place; (0, -1) where there is none."""
    try:
        length = payload[at]
        if length < 0x80:
            return at + 1, at + 1 + length
        length, at = long_length(payload, at)
    except IndexError:
        return 0, -1
    return at, at + length


def changes_of(message: Any) -> list[Change]:
    """The changes of a config or summary, in order."""
    if (found := settings_in(message.SerializeToString())) is not None:
        return found
    changes = [Change(path_of(item), item.value_json) for item in message.update]
    return changes + [Change(path_of(item), None) for item in message.remove]


def parsed(payload: bytes) -> Any:
    """The record; None where it is none."""
    try:
        return records.parse(payload)
    except DecodeError:
        return None


def path_of(item: Any) -> KeyPath:
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
        start = payload.find(item) + len(item) + 1
        if not len(item) < start <= len(payload):
            return None
        end = start + payload[start - 1]
        if _PLAIN_NUMBER.fullmatch(payload, start, end):
            found.append(float(payload[start:end]))
            continue
        number = number_of(payload[start:end].decode("ascii", "replace"))
        if number is None:
            return None
        found.append(number)
    return Row(*found)


def _number(item: Any) -> float | None:
    form = item.WhichOneof("value")
    if form in ("integer", "number"):
        return float(getattr(item, form))
    return number_of(item.value_json) if form is None else None
