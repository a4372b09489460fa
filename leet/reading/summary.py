"""Summary records → the last change of each path.

    messages ─► find_items ─► KeyTable ─► last item of each key ─► pending changes, one a path ─► take
             └─ odd ones ─► protobuf ──────────────────────────────┘

A run writes two summary records with every row of history, each repeating the paths of the one before, so nearly all
of it is superseded before anybody can look: the keys of all items are looked up side by side, and only where the last
text of each lies is kept. It is cut out when a few buffers later nothing has taken its place. What is superseded is
not even checked for being UTF-8.

In a series of values set, the last one of each path is all that matters, whatever the order and nesting of paths: a
later change above or below a path wipes it out, and has a last change that is later still. A removal breaks that
(`a` set, `a.b` set, `a.b` removed leaves no `a`), so changes before a removal are never dropped for one behind it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from leet.reading import records
from leet.reading.batch import KeyPath, Offsets, SummaryChanges
from leet.reading.items import Items, find_items
from leet.reading.key_paths import NO_PATH, KeyPaths
from leet.reading.key_table import LONGEST, Ids
from leet.reading.messages import Messages
from leet.reading.unparsed import Json

_SummaryRecord = records.message_class("SummaryRecord")
_MOST_BUFFERS = 3
"""Buffers from which texts have not been cut out yet: a wide record and what comes before the next one."""
_IN_NONE = -1


class SummaryReader:
    """Follows the summary of one log; changes pile up until they are taken."""

    def __init__(self, paths: KeyPaths | None = None) -> None:
        self._paths = KeyPaths() if paths is None else paths
        self._settled = SummaryChanges()
        # By number of a path: its last text, and the moment of its last change, -1 when that has been settled.
        self._texts: list[bytes] = []
        self._moments = np.empty(0, np.int64)
        self._now = 0
        # Texts that have not been cut out, by number of a path: in which buffer and where.
        self._buffers: list[bytes | bytearray] = []
        self._in = np.empty(0, np.int64)
        self._starts: Offsets = np.empty(0, np.int64)
        self._ends: Offsets = np.empty(0, np.int64)

    def take(self) -> SummaryChanges:
        """The changes since the last call, in order, those that later ones make up for left out."""
        self._settle()
        changes, self._settled = self._settled, SummaryChanges()
        return changes

    def read(self, messages: Messages) -> list[tuple[int, str]]:
        """Take in encoded `SummaryRecord` messages; (index, reason) of those that cannot be read."""
        items = find_items(messages)
        odd = items.rests != messages.ends
        odd[items.of[items.key_ends - items.starts > LONGEST]] = True
        items = items.without(odd)
        numbers = self._paths.keys.numbers(messages, items.starts, items.key_ends)
        odd = items.odd.copy()
        odd[items.of[numbers == NO_PATH]] = True
        numbers[odd[items.of]] = NO_PATH

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

    def _make_room(self) -> None:
        """Room for all paths that there are."""
        count = len(self._paths)
        if count > len(self._moments):
            more = 2 * count - len(self._moments)
            self._texts += [b""] * more
            self._moments = np.append(self._moments, np.full(more, -1))
            self._in = np.append(self._in, np.full(more, _IN_NONE))
            self._starts = np.append(self._starts, np.zeros(more, np.int64))
            self._ends = np.append(self._ends, np.zeros(more, np.int64))

    def _set_last(self, messages: Messages, items: Items, numbers: Ids, part: slice) -> None:
        """Set the paths of some items, each to its last value."""
        self._make_room()
        numbers = numbers[part]
        last = np.full(len(self._paths) + 1, -1)  # the place at the end is for the items of odd messages
        last[numbers] = np.arange(len(numbers))  # of several under one number the last stays
        last = last[:-1]
        changed = np.flatnonzero(last >= 0)
        if not len(changed):
            return
        last = last[changed]
        self._in[changed] = self._buffer(messages.data)
        self._starts[changed] = items.value_starts[part][last]
        self._ends[changed] = items.ends[part][last]
        self._mark(changed, last)

    def _buffer(self, data: bytes | bytearray) -> int:
        """The number of a buffer, for which the oldest may have to go."""
        if not self._buffers or self._buffers[-1] is not data:
            if len(self._buffers) == _MOST_BUFFERS:
                self._cut_out_of_oldest()
            self._buffers.append(data)
        return len(self._buffers) - 1

    def _cut_out_of_oldest(self) -> None:
        data, texts = self._buffers.pop(0), self._texts
        which = np.flatnonzero(self._in == 0)
        bounds = zip(self._starts[which].tolist(), self._ends[which].tolist(), strict=True)
        for number, (start, end) in zip(which.tolist(), bounds, strict=True):
            texts[number] = bytes(data[start:end])
        self._in -= self._in != _IN_NONE

    def _change(self, encoded: bytes) -> None:
        """All changes of one message; its removals come after its updates, as every writer means them."""
        record: Any = _SummaryRecord.FromString(encoded)
        for place, item in enumerate(record.update):
            number = self._paths.number(_path(item))
            self._make_room()
            self._texts[number] = item.value_json.encode()
            self._in[number] = _IN_NONE
            self._mark(np.array([number]), np.array([place]))
        if record.remove:
            self._settle()
            self._settled.paths += map(_path, record.remove)
            self._settled.values += [None] * len(record.remove)

    def _mark(self, numbers: Ids, moments: Ids) -> None:
        """Note when paths changed; `moments` are counted from now."""
        self._moments[numbers] = self._now + moments
        self._now += int(moments.max()) + 1

    def _settle(self) -> None:
        while self._buffers:
            self._cut_out_of_oldest()
        changed = np.flatnonzero(self._moments >= 0)
        order = changed[np.argsort(self._moments[changed])].tolist()
        self._settled.paths += self._paths.of(order)
        self._settled.values += _decoded([self._texts[number] for number in order])
        self._moments[changed] = -1


def _decoded(texts: list[bytes]) -> list[Json]:
    together = b"\n".join(texts)
    if together.count(b"\n") == len(texts) - 1:
        return [Json(text) for text in together.decode("utf-8", "replace").split("\n")]
    return [Json(text, "utf-8", "replace") for text in texts]


def _path(item: Any) -> KeyPath:
    return tuple(item.nested_key) or (item.key,)
