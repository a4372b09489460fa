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
from leet.reading.key_table import LONGEST, KeyTable
from leet.reading.messages import Messages

_SummaryRecord = records.message_class("SummaryRecord")
_ODD = -1


class SummaryReader:
    """Follows the summary of one log; changes pile up until they are taken."""

    def __init__(self) -> None:
        self._settled: list[SummaryChange] = []
        self._pending: dict[KeyPath, bytes] = {}  # in the order of the last change
        self._paths: list[KeyPath] = []  # by the number that `KeyTable` knows them by
        self._keys = KeyTable(self._number)

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

    def _number(self, path: KeyPath | None) -> int:
        if path is None:
            return _ODD
        self._paths.append(path)
        return len(self._paths) - 1

    def _set_last(self, messages: Messages, items: Items, numbers: np.ndarray[Any, Any], part: slice) -> None:
        """Set the paths of some items, each to its last value."""
        numbers = numbers[part]
        if not len(numbers):
            return
        last = np.full(len(self._paths) + 1, -1)
        np.maximum.at(last, numbers, np.arange(len(numbers)))
        last = np.sort(last[:-1])  # the last place is that of items of odd messages
        last = last[np.searchsorted(last, 0) :]
        data = messages.data
        starts, ends = items.value_starts[part][last].tolist(), items.ends[part][last].tolist()
        for number, start, end in zip(numbers[last].tolist(), starts, ends, strict=True):
            self._set(self._paths[number], data[start:end])

    def _change(self, encoded: bytes) -> None:
        """All changes of one message; its removals come after its updates, as every writer means them."""
        record: Any = _SummaryRecord.FromString(encoded)
        for item in record.update:
            self._set(tuple(item.nested_key) or (item.key,), item.value_json.encode())
        for item in record.remove:
            self._settle()
            self._settled.append(SummaryChange(tuple(item.nested_key) or (item.key,), None))

    def _set(self, path: KeyPath, text: bytes) -> None:
        self._pending.pop(path, None)
        self._pending[path] = text

    def _settle(self) -> None:
        for path, text in self._pending.items():
            self._settled.append(SummaryChange(path, text.decode("utf-8", "replace")))
        self._pending = {}
