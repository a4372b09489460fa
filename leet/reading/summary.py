"""Summary records → the last change of each path.

    messages ─► find_items ─► KeyTable ─► last item of each key ─► pending changes, one a path ─► take
             └─ odd ones ─► protobuf ──────────────────────────────┘

A run writes two summary records with every row of history, each repeating the paths of the one before, so nearly all
of it is superseded before anybody can look: the keys of all items are looked up side by side, and only the last text
of each is kept. What is superseded is not even checked for being UTF-8.

In a series of values set, the last one of each path is all that matters, whatever the order and nesting of paths: a
later change above or below a path wipes it out, and has a last change that is later still. A removal breaks that
(`a` set, `a.b` set, `a.b` removed leaves no `a`), so changes before a removal are never dropped for one behind it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from leet.reading import records
from leet.reading.batch import KeyPath, SummaryChange
from leet.reading.items import Items, find_items
from leet.reading.key_table import LONGEST, Ids, KeyTable
from leet.reading.messages import Messages

_SummaryRecord = records.message_class("SummaryRecord")
_ODD = -1


class SummaryReader:
    """Follows the summary of one log; changes pile up until they are taken."""

    def __init__(self) -> None:
        self._settled: list[SummaryChange] = []
        # By number of a path: its last text, and the moment of its last change, -1 when that has been settled.
        self._numbers: dict[KeyPath, int] = {}
        self._texts: list[bytes] = []
        self._moments = np.empty(0, np.int64)
        self._now = 0
        self._keys = KeyTable(lambda path: _ODD if path is None else self._number(path))

    def take(self) -> tuple[SummaryChange, ...]:
        """The changes since the last call, in order, those that later ones make up for left out."""
        self._settle()
        changes = tuple(self._settled)
        self._settled = []
        return changes

    def read(self, messages: Messages) -> list[tuple[int, str]]:
        """Take in encoded `SummaryRecord` messages; (index, reason) of those that cannot be read."""
        items = find_items(messages)
        odd = items.rests != messages.ends
        odd[items.of[items.key_ends - items.starts > LONGEST]] = True
        items = items.without(odd)
        numbers = self._keys.numbers(messages, items.starts, items.key_ends)
        odd = items.odd.copy()
        odd[items.of[numbers == _ODD]] = True
        numbers[odd[items.of]] = _ODD

        bad: list[tuple[int, str]] = []
        done = 0
        for index in np.flatnonzero(odd).tolist():
            until = int(np.searchsorted(items.of, index))
            self._set_last(messages, items, numbers, slice(done, until))
            done = until
            try:
                self._change(messages[index])
            except (DecodeError, UnicodeDecodeError) as error:
                bad.append((index, f"bad summary record: {error}"))
        self._set_last(messages, items, numbers, slice(done, len(items)))
        return bad

    def _number(self, path: KeyPath) -> int:
        number = self._numbers.setdefault(path, len(self._texts))
        if number == len(self._texts):
            self._texts.append(b"")
        return number

    def _set_last(self, messages: Messages, items: Items, numbers: Ids, part: slice) -> None:
        """Set the paths of some items, each to its last value."""
        numbers = numbers[part]
        last = np.full(len(self._texts) + 1, -1)  # the place at the end is for the items of odd messages
        np.maximum.at(last, numbers, np.arange(len(numbers)))
        last = last[:-1]
        changed = np.flatnonzero(last >= 0)
        last = last[changed]
        if not len(changed):
            return
        self._mark(changed, last)
        data, texts = messages.data, self._texts
        starts, ends = items.value_starts[part][last].tolist(), items.ends[part][last].tolist()
        for number, start, end in zip(changed.tolist(), starts, ends, strict=True):
            texts[number] = data[start:end]

    def _change(self, encoded: bytes) -> None:
        """All changes of one message; its removals come after its updates, as every writer means them."""
        record: Any = _SummaryRecord.FromString(encoded)
        for place, item in enumerate(record.update):
            number = self._number(_path(item))
            self._texts[number] = item.value_json.encode()
            self._mark(np.array([number]), np.array([place]))
        if record.remove:
            self._settle()
            self._settled += [SummaryChange(_path(item), None) for item in record.remove]

    def _mark(self, numbers: Ids, moments: Ids) -> None:
        """Note when paths changed; `moments` are counted from now."""
        if len(self._moments) < len(self._texts):
            more = np.full(2 * len(self._texts) - len(self._moments), -1)
            self._moments = np.concatenate((self._moments, more))
        self._moments[numbers] = self._now + moments
        self._now += int(moments.max()) + 1

    def _settle(self) -> None:
        changed = np.flatnonzero(self._moments >= 0)
        if not len(changed):
            return
        order = changed[np.argsort(self._moments[changed])]
        paths = list(self._numbers)
        self._settled += [SummaryChange(paths[n], self._texts[n].decode("utf-8", "replace")) for n in order.tolist()]
        self._moments[changed] = -1


def _path(item: Any) -> KeyPath:
    return tuple(item.nested_key) or (item.key,)
