"""History records → what a summary says of them: how many numbers of which names, the steps, the last runtime.

    items ─► ids of names ─► count of each ─────────► names, points
         │             └──── _step, _runtime ─► read_values
         └► first and last byte of each value: a digit means a number, anything else ─► read_values

Numbers are counted and not parsed. A text of fewer than 24 bytes that begins and ends like a JSON number is taken for
one, since records are covered by checksums and their values were written as JSON. Everything else, and every message
in another layout, goes the way that `history` has for it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leet.reading.batch import Floats
from leet.reading.columns import Ids, order_by_id
from leet.reading.fast_history import ODD, read_step_numbers
from leet.reading.history import HistoryReader
from leet.reading.items import Items, find_items
from leet.reading.key_table import LONGEST
from leet.reading.messages import Messages
from leet.reading.plain_history import read_plain
from leet.reading.value_texts import looks_numeric, read_values

Bools = npt.NDArray[np.bool_]

_STEP, _RUNTIME = 0, 1
_FLAGS_AN_ITEM = 16
_LAST_RUNTIMES = 64
"""The last of so many runtimes is one that is finite, or all have to be read to find it."""


@dataclass(frozen=True, slots=True)
class SkimmedRows:
    """What some rows come to. Shapes: `steps` float64 [rows], `counts` int64 [names]: numbers under each name."""

    steps: Floats
    runtime: float | None
    """That of the last row which has a finite one."""
    counts: Ids
    bad: list[tuple[int, str]]
    """Index and reason of the messages that cannot be read."""


class HistorySkim(HistoryReader):
    """Counts what is in the history of one log."""

    def skim(self, messages: Messages) -> SkimmedRows:
        """Encoded `HistoryRecord` messages, which follow those of the last call."""
        items = find_items(messages)
        numbers, odd = read_step_numbers(messages, items.rests)
        odd[items.of[items.key_ends - items.starts > LONGEST]] = True
        items = items.without(odd)
        ids = self._fast.ids_of(self._fast.paths.keys.numbers(messages, items.starts, items.key_ends))
        is_number = looks_numeric(messages, items.value_starts, items.ends, whole=True)
        others = np.flatnonzero(~is_number)
        odd = items.odd | _with_name_twice(items, ids, len(self._names))
        if len(ids) and ids.min() == ODD:
            odd[items.of[ids == ODD]] = True
        if len(others):
            values = read_values(messages, items.value_starts[others], items.ends[others])
            is_number[others] = values.is_number
            odd[items.of[others[values.is_object]]] = True
        if odd.any():
            is_number &= ~odd[items.of]

        plain = read_plain(messages, np.flatnonzero(odd), self._names)
        numbers[plain.rows] = plain.step_numbers
        points = plain.points()
        counts = np.bincount(ids[is_number], minlength=len(self._names))
        counts += np.bincount(points.ids, minlength=len(counts))

        def read_into(column: Floats, which: Ids) -> None:
            column[items.of[which]] = read_values(messages, items.value_starts[which], items.ends[which]).numbers

        steps, runtimes = (points.of_row(name_id, len(messages)) for name_id in (_STEP, _RUNTIME))
        read_into(steps, np.flatnonzero((ids == _STEP) & is_number))
        which = np.flatnonzero((ids == _RUNTIME) & is_number)
        last = which[-_LAST_RUNTIMES:]
        read_into(runtimes, last)
        if not np.isfinite(runtimes[items.of[last]]).any():
            read_into(runtimes, which)
        known = runtimes[np.isfinite(runtimes)]
        good = np.ones(len(messages), bool)
        good[[index for index, _ in plain.bad]] = False
        return SkimmedRows(
            self._steps(steps[good], numbers[good]), float(known[-1]) if len(known) else None, counts, plain.bad
        )

    def names(self, which: Ids) -> list[str]:
        """The names with these ids."""
        return [self._names[name_id] for name_id in which.tolist()]


def _with_name_twice(items: Items, ids: Ids, names: int) -> Bools:
    """The messages in which a name comes up twice: bool [messages]."""
    twice = np.zeros(len(items.odd), bool)
    if len(twice) * names <= _FLAGS_AN_ITEM * len(ids):
        flags = np.zeros(len(twice) * names, bool)
        flags[items.of * names + np.maximum(ids, 0)] = True
        if np.count_nonzero(flags) == len(ids):
            return twice
    order = order_by_id(ids)
    ids, of = ids[order], items.of[order]
    twice[of[1:][(ids[1:] == ids[:-1]) & (of[1:] == of[:-1])]] = True
    return twice
