"""Summary records → the last change of each path.

A run writes two summary records with every row of history, each repeating paths of the one before, so nearly all of
it is superseded within the batch: only the last change of each path is decoded.

One case needs every change, not just the last: a path beneath another one of the batch (`a` and `a.b`), since
setting `a.b` discards a leaf `a`, and that shows even after `a.b` is gone again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from google.protobuf.message import DecodeError

from leet.reading import records
from leet.reading.batch import KeyPath, SummaryChange
from leet.reading.messages import Messages

_SummaryRecord = records.message_class("SummaryRecord")


class SummaryReader:
    """Turns the summary records of one log into changes, batch after batch."""

    def read(self, messages: Messages) -> tuple[tuple[SummaryChange, ...], list[tuple[int, str]]]:
        """Encoded `SummaryRecord` messages as changes, and (index, reason) of those that cannot be read."""
        changes: list[SummaryChange] = []
        bad: list[tuple[int, str]] = []
        for index in range(len(messages)):
            try:
                changes += _changes(messages[index])
            except (DecodeError, UnicodeDecodeError) as error:
                bad.append((index, f"bad summary record: {error}"))
        return compact(changes), bad


def compact(changes: Iterable[SummaryChange]) -> tuple[SummaryChange, ...]:
    """The last change of each path, in order of these; all changes if a path lies beneath another."""
    changes = list(changes)
    last: dict[KeyPath, SummaryChange] = {}
    for change in changes:
        last.pop(change.path, None)
        last[change.path] = change
    return tuple(changes if _nested(last) else last.values())


def _nested(paths: Iterable[KeyPath]) -> bool:
    known = set(paths)
    return any(path[:depth] in known for path in known for depth in range(1, len(path)))


def _changes(encoded: bytes) -> Iterator[SummaryChange]:
    """Updates before removals, which is how every writer means a record that has both."""
    record: Any = _SummaryRecord.FromString(encoded)
    for item in record.update:
        yield SummaryChange(_path(item), item.value_json)
    for item in record.remove:
        yield SummaryChange(_path(item), None)


def _path(item: Any) -> KeyPath:
    nested: KeyPath = tuple(item.nested_key)
    return nested or (item.key,)
