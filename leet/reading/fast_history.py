"""History records in the common layout → points and texts, all records side by side.

    messages ─► find_items    where each key and each value lies
             ─► KeyPaths      key ─► path ─► id of its name
             ─► read_values   text of the value ─► number

A message is left to `plain_history` when it has another layout, an object among its values, a name twice, a
media value (whose leaves are no curves), or a text that is no UTF-8.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import compress

import numpy as np
import numpy.typing as npt

from leet.reading.batch import Floats, Offsets
from leet.reading.columns import ROW_COLUMNS, Ids, Names, Points, order_by_id
from leet.reading.items import Items, find_items
from leet.reading.key_paths import NO_PATH, KeyPaths
from leet.reading.key_table import LONGEST
from leet.reading.logged_values import TYPE_KEY, readable_names
from leet.reading.messages import Messages, read_varints
from leet.reading.plain_history import Texts
from leet.reading.value_texts import read_values

_STEP, _STEP_NUM = 0x12, 0x08
ODD = -1
"""Id of a path that makes its message an odd one."""
_UNSEEN = -2


@dataclass(frozen=True, slots=True)
class FastRows:
    """Rows read side by side; a row is known by the index of its message.

    Shapes: `step_numbers` float64 [messages] (`HistoryStep.num`, NaN where there is none), `odd` bool [messages]:
    the messages that are left to the plain way, of which there is nothing here.
    """

    points: Points
    texts: Texts
    step_numbers: Floats
    odd: npt.NDArray[np.bool_]


def all_odd(messages: int) -> FastRows:
    """What is read side by side where nothing is."""
    return FastRows(Points.listed((), (), ()), {}, np.full(messages, np.nan), np.ones(messages, bool))


class FastHistory:
    """Reads the history of one log and remembers its keys, which whoever reads a part of it ahead may know already."""

    def __init__(self) -> None:
        self.names = Names(ROW_COLUMNS)
        """The names of values; those of the row columns come first."""
        self.paths = KeyPaths()
        self._ids = np.empty(0, np.int64)  # by number of a path: the id of its name, ODD or _UNSEEN

    def ids_of(self, numbers: Ids) -> Ids:
        """The ids of the names of paths, given by their numbers."""
        more = len(self.paths) - len(self._ids)
        if more > 0:
            self._ids = np.append(self._ids, np.full(more + len(self.paths), _UNSEEN))
        known = numbers != NO_PATH
        ids = self._ids.take(numbers, mode="clip")
        if (self._ids[: len(self.paths)] == _UNSEEN).any() and len(new := np.flatnonzero((ids == _UNSEEN) & known)):
            fresh = list(dict.fromkeys(numbers[new].tolist()))  # in the order in which they came
            paths = self.paths.of(fresh)
            plain = [len(path) < 2 or path[-1] != TYPE_KEY for path in paths]
            if not all(plain):
                self._ids[fresh] = ODD
                fresh, paths = list(compress(fresh, plain)), list(compress(paths, plain))
            self._ids[fresh] = self.names.ids_of(readable_names(paths))
            ids = self._ids.take(numbers, mode="clip")
        ids[~known] = ODD
        return ids

    def read(self, messages: Messages) -> FastRows:
        items = find_items(messages)
        step_numbers, odd = read_step_numbers(messages, items.rests)
        odd[items.of[items.key_ends - items.starts > LONGEST]] = True
        items = items.without(odd)
        ids = self.ids_of(self.paths.keys.numbers(messages, items.starts, items.key_ends))
        values = read_values(messages, items.value_starts, items.ends)
        order = order_by_id(ids)
        odd = items.odd | self._odd_messages(items, ids, values.is_object, order)
        keep = ~odd[items.of]

        numbers = order[(values.is_number & keep)[order]]
        points = Points(ids[numbers], items.of[numbers].astype(np.int32), values.numbers[numbers])
        texts = _last_texts(messages, items, ids, np.flatnonzero(keep & ~values.is_number))
        return FastRows(points, texts, step_numbers, odd)

    def _odd_messages(
        self, items: Items, ids: Ids, is_object: npt.NDArray[np.bool_], order: Ids
    ) -> npt.NDArray[np.bool_]:
        odd = np.zeros(len(items.odd), bool)
        odd[items.of[(ids == ODD) | is_object]] = True
        ids, of = ids[order], items.of[order]
        odd[of[1:][(ids[1:] == ids[:-1]) & (of[1:] == of[:-1])]] = True
        return odd


def _last_texts(messages: Messages, items: Items, ids: Ids, which: Ids) -> Texts:
    """The last text of each name among the items that `which` lists."""
    last = dict(zip(ids[which].tolist(), which.tolist(), strict=True))
    return {
        name_id: (int(items.of[item]), messages.data[items.value_starts[item] : items.ends[item]].decode())
        for name_id, item in last.items()
    }


def read_step_numbers(messages: Messages, rests: Offsets) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """`HistoryStep.num` of each message, which alone may follow its items; and the messages where more does.

    12 00          step 0
    12 len 08 ▒▒   any other step
    """
    octets, ends = messages.octets, messages.ends
    numbers, behind = read_varints(octets, rests + 3)
    lengths = octets[rests + 1].astype(np.int64)
    stepped = (octets[rests] == _STEP) & (rests + 2 + lengths == ends)
    zero = stepped & (lengths == 0)
    stepped &= (octets[rests + 2] == _STEP_NUM) & (behind == ends) & (numbers >= 0)
    steps = np.where(zero, 0.0, np.where(stepped, numbers.astype(np.float64), np.nan))
    return steps, (rests != ends) & ~zero & ~stepped
