"""History records of any form → points and texts, one record at a time, through protobuf.

This is what a record means in every case. `fast_history` does the same for records in the common layout, and a test
holds the two against each other.
"""

from __future__ import annotations

import math
from typing import Any

from google.protobuf.message import DecodeError

from leet.reading import records
from leet.reading.columns import Names, Points
from leet.reading.logged_values import Typed, values_and_typed
from leet.reading.messages import Messages, Places

Texts = dict[int, tuple[int, str]]
"""Id of a name → (row, JSON text) of its last value that is no number."""

_HistoryRecord = records.message_class("HistoryRecord")


def read_plain(messages: Messages, which: Places, names: Names) -> PlainRows:
    """Those of the messages that `which` lists."""
    found = PlainRows()
    for index in which.tolist():
        found.add(index, messages[index], names)
    return found


class PlainRows:
    """Rows read one by one; a row is known by the index of its message."""

    def __init__(self) -> None:
        self.rows: list[int] = []
        self.step_numbers: list[float] = []
        """`HistoryStep.num` of each row, NaN where it has none."""
        self.texts: Texts = {}
        self.typed: list[tuple[int, Typed]] = []
        """Row and typed value, in order of rows."""
        self.bad: list[tuple[int, str]] = []
        """Index and reason of the messages that protobuf refuses."""
        self._points: tuple[list[int], list[int], list[float]] = ([], [], [])

    def add(self, index: int, encoded: bytes, names: Names) -> None:
        try:
            record: Any = _HistoryRecord.FromString(encoded)
        except (DecodeError, UnicodeDecodeError) as error:
            self.bad.append((index, f"bad history record: {error}"))
            return
        ids, rows, values = self._points
        found, typed = values_and_typed(record.item)
        self.typed += [(index, one) for one in typed]
        for name, value in found.items():
            name_id = names.id_of(name)
            if isinstance(value, float):
                ids.append(name_id)
                rows.append(index)
                values.append(value)
            else:
                self.texts[name_id] = (index, value)
        self.rows.append(index)
        self.step_numbers.append(float(record.step.num) if record.HasField("step") else math.nan)

    def points(self) -> Points:
        return Points.listed(*self._points)
