"""The items of many history or summary messages, found side by side.

    message 0   0A len ▒▒▒▒▒▒▒  0A len ▒▒▒▒▒   0A len ▒▒▒▒▒▒▒▒  12 len ▒▒
    message 1   0A len ▒▒▒▒▒  0A len ▒▒▒▒▒▒▒   12 len ▒▒
    message 2   0A len ▒▒▒▒▒▒▒▒  0A len ▒▒▒▒▒
                 ▲ first items     ▲ second items …               ▲ rest

One step of the walk passes the next item of every message that still has one, so its cost is that of a few numpy
calls for all of them. A message with far more items than the others is left over at the end and walked alone.

Inside an item, in the common layout (anything else makes its message an odd one, which protobuf decodes):

    12 len ▒▒▒▒  12 len ▒▒▒  82 01 len ▒▒▒▒▒▒▒▒▒▒
    ╰ nested_key, or 0A key  ╰ value_json, to the end of the item
    ▲ starts                ▲ key_ends  ▲ value_starts   ▲ ends
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leet.reading.batch import Offsets
from leet.reading.messages import Messages, Octets, Places, read_varints

_ITEM = 0x0A
_KEY, _NESTED_KEY = 0x0A, 0x12
_VALUE = (0x82, 0x01)

_TOGETHER = 64
"""Fewer messages than this are walked one by one: below, a step for all costs more than a loop over each."""
_DEEPEST = 16
"""Most parts of a nested key in the common layout."""


@dataclass(frozen=True, slots=True)
class Items:
    """Items by message, in the order in which they lie in the buffer.

    Shapes: `of` (index of the message), `starts`, `key_ends`, `value_starts`, `ends` are int64 [items];
    `rests` is int64 [messages], where the items end; `odd` is bool [messages], the messages of another layout:
    their items are left out.
    """

    of: Places
    starts: Offsets
    key_ends: Offsets
    value_starts: Offsets
    ends: Offsets
    rests: Offsets
    odd: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.of)

    def without(self, odd: npt.NDArray[np.bool_]) -> Items:
        """The items of all other messages."""
        if not odd.any():
            return self
        odd = self.odd | odd
        keep = ~odd[self.of]
        return Items(
            self.of[keep],
            self.starts[keep],
            self.key_ends[keep],
            self.value_starts[keep],
            self.ends[keep],
            self.rests,
            odd,
        )


def find_items(messages: Messages) -> Items:
    """Walk the field 1, the items, of every message, and take each item apart."""
    octets = messages.octets
    walk = _Walk(messages)
    of, tags_at, ends = walk.in_order()
    starts = read_varints(octets, tags_at + 1)[1]
    odd = walk.odd
    key_ends = _key_ends(octets, starts, ends)
    lengths, value_starts = read_varints(octets, key_ends + 2)
    bad = (octets.take(key_ends) != _VALUE[0]) | (octets.take(key_ends + 1) != _VALUE[1])
    bad |= (value_starts + lengths != ends) | (lengths <= 0)
    odd[of[bad]] = True
    items = Items(of, starts, key_ends, value_starts, ends, walk.rests, odd)
    return items.without(odd)


class _Walk:
    def __init__(self, messages: Messages) -> None:
        self._messages = messages
        self.rests = messages.starts.copy()
        self.odd = np.zeros(len(messages), bool)
        self._counts = np.zeros(len(messages), np.int64)
        self._steps: list[tuple[Places, Offsets, Offsets]] = []  # message, position of the item, its end
        alone = self._together()
        self._singles = {index: self._alone(index) for index in alone.tolist()}

    def _together(self) -> Places:
        """Step through all messages until few have items left; those."""
        octets = self._messages.octets
        going = np.arange(len(self._messages))
        at, limits = self._messages.starts, self._messages.ends
        while len(going) >= _TOGETHER:
            more = (at < limits) & (octets[at] == _ITEM)
            if not more.all():
                self.rests[going[~more]] = at[~more]
                going, at, limits = going[more], at[more], limits[more]
            lengths, behind = read_varints(octets, at + 1)
            ends = behind + lengths
            wrong = (ends > limits) | (lengths < 0)
            if wrong.any():
                self.odd[going[wrong]] = True
                right = ~wrong
                going, at, limits, ends = going[right], at[right], limits[right], ends[right]
            self._steps.append((going, at, ends))
            self._counts[going] += 1
            at = ends
        self.rests[going] = at
        return going

    def _alone(self, index: int) -> list[int]:
        """Positions of the items of one message that are left."""
        data, at, limit = self._messages.data, int(self.rests[index]), int(self._messages.ends[index])
        found: list[int] = []
        add = found.append
        while at < limit and data[at] == _ITEM:
            length = data[at + 1]
            if length < 0x80:
                end = at + 2 + length
            else:
                (long,), (behind,) = read_varints(self._messages.octets, np.array([at + 1]))
                end = int(behind + long) if long >= 0 else limit + 1
            if end > limit:
                self.odd[index] = True
                return []
            add(at)
            at = end
        self.rests[index] = at
        self._counts[index] += len(found)
        return found

    def in_order(self) -> tuple[Places, Offsets, Offsets]:
        """Message, position and end of all items, in the order of the buffer."""
        firsts = np.cumsum(self._counts) - self._counts
        total = int(self._counts.sum())
        at, ends = np.empty(total, np.int64), np.empty(total, np.int64)
        for step, (going, positions, their_ends) in enumerate(self._steps):
            at[firsts[going] + step] = positions
            ends[firsts[going] + step] = their_ends
        for index, found in self._singles.items():
            place = int(firsts[index] + self._counts[index])
            at[place - len(found) : place] = found
            ends[place - len(found) : place] = [*found[1:], int(self.rests[index])] if found else []
        return np.repeat(np.arange(len(self._counts)), self._counts), at, ends


def _key_ends(octets: Octets, starts: Offsets, ends: Offsets) -> Offsets:
    """Where the fields of the key end, which is the start where there are none."""
    at = starts.copy()
    going = np.arange(len(at))
    for _ in range(_DEEPEST):
        here = at[going]
        tags, lengths = octets.take(here), octets.take(here + 1)
        keys = ((tags == _NESTED_KEY) | (tags == _KEY)) & (lengths < 0x80) & (here < ends[going])
        going = going[keys]
        if not len(going):
            break
        at[going] = here[keys] + lengths[keys] + 2
    return at
