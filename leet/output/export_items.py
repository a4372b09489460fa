"""History records → where the value of each name lies, all records of a piece of the log side by side.

    messages ─► find_items ─► KeyTable ─► row, name and bounds of each value
                   └─ odd ones: objects among the values, unusual layouts; left to protobuf

Nothing is said of what the values mean, so this costs little for each of them: it serves to collect names, to weigh
values, and to find those that are wanted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from leet.reading import records
from leet.reading.batch import KeyPath, Offsets
from leet.reading.bulk_blocks import Found
from leet.reading.columns import Ids, Names
from leet.reading.envelopes import HISTORY, OTHER, open_envelopes
from leet.reading.fast_history import read_step_numbers
from leet.reading.items import find_items
from leet.reading.key_table import LONGEST, KeyTable
from leet.reading.logged_values import readable_name
from leet.reading.messages import Messages, Places

_ODD = -1
_MAY_BE_OBJECT = np.isin(np.arange(256), list(b"{ \t\r\n"))

HistoryRecord = records.message_class("HistoryRecord")


@dataclass(frozen=True, slots=True)
class Sorted:
    """The records of a piece of the log: history in bulk, all others parsed, and places of those that are none.

    Shapes: `places` int64 [history records], their places among the records of the piece.
    """

    history: Messages
    places: Places
    others: list[tuple[str, Any]]
    """Kind and message of every record that is neither history nor summary."""
    bad: list[int]
    """Places of records that protobuf refuses."""


def sort_records(found: Found) -> Sorted:
    """Part the records of a piece of the log by what is to be done with them."""
    messages = found.messages
    envelopes = open_envelopes(messages)
    others: list[tuple[str, Any]] = []
    rewritten: dict[int, bytes] = {}
    bad: list[int] = []
    for index in np.flatnonzero(envelopes.kinds == OTHER).tolist():
        try:
            record = records.parse(messages[index])
        except records.DecodeError:
            bad.append(index)
            continue
        kind = records.kind(record)
        if kind == "history":
            rewritten[index] = record.history.SerializeToString()
            envelopes.kinds[index] = HISTORY
        elif kind not in ("summary", "unknown"):
            others.append((kind, getattr(record, kind)))
    places = np.flatnonzero(envelopes.kinds == HISTORY)
    history = messages.cut(places, envelopes.starts, envelopes.ends)
    if rewritten:
        pieces = [rewritten.get(place) for place in places.tolist()]
        history = Messages.joined([history[i] if piece is None else piece for i, piece in enumerate(pieces)])
    return Sorted(history, places, others, bad)


@dataclass(frozen=True, slots=True)
class Located:
    """Values of many history records by place, in the order of the log.

    Shapes: `of` (index of the record), `names` (id of the name), `starts` and `ends` (bounds of the text of the
    value) are int64 [values]; `steps` float64 [records], `HistoryStep.num` or NaN; `odd` bool [records], those of
    which there is nothing here.
    """

    of: Places
    names: Ids
    starts: Offsets
    ends: Offsets
    steps: npt.NDArray[np.float64]
    odd: npt.NDArray[np.bool_]

    def only(self, keep: npt.NDArray[np.bool_]) -> Located:
        """Some of the values."""
        return Located(self.of[keep], self.names[keep], self.starts[keep], self.ends[keep], self.steps, self.odd)


class ItemLocator:
    """Finds the values of one log and remembers its names."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._keys = KeyTable(lambda paths: [self._number(path) for path in paths])

    def _number(self, path: KeyPath | None) -> int:
        return _ODD if path is None else self._names.id_of(readable_name(path))

    def locate(self, messages: Messages) -> Located:
        """Where the values of encoded `HistoryRecord` messages lie."""
        items = find_items(messages)
        steps, odd = read_step_numbers(messages, items.rests)
        odd[items.of[items.key_ends - items.starts > LONGEST]] = True
        odd[items.of[_MAY_BE_OBJECT.take(messages.octets.take(items.value_starts))]] = True
        items = items.without(odd)
        ids = self._keys.numbers(messages, items.starts, items.key_ends)
        odd = items.odd.copy()
        odd[items.of[ids == _ODD]] = True
        found = Located(items.of, ids, items.value_starts, items.ends, steps, odd)
        return found.only(~odd[items.of]) if odd.any() else found
