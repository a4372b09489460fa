"""The items of many history or summary messages, found side by side.

    message     0A len 12 len ▒▒▒▒ 82 01 len ░░░░░  0A len 12 len ▒▒▒ 82 01 len ░░░  12 len ▒▒
                                   ▲ tag                              ▲ tag          ╰ rest

In the common layout every item ends with its value, so the tag of the value, two bytes that hardly ever come up
elsewhere, and the length behind it tell where an item ends and the next one begins. All tags of a buffer are looked
up in one go, and then each item is held against what the tags say:

    12 len ▒▒▒▒  12 len ▒▒▒  82 01 len ░░░░░░░░░░
    ╰ nested_key, or 0A key  ╰ value_json, to the end of the item
    ▲ starts                 ▲ key_ends  ▲ value_starts  ▲ ends

A message that does not agree is walked, one item after the other. If that finds another layout in it, the message is
an odd one, which protobuf decodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from leet.reading.batch import Offsets
from leet.reading.messages import VALUE_TAG, Messages, Octets, Places, read_varints

_ITEM = 0x0A
_KEY, _NESTED_KEY = 0x0A, 0x12
_IS_KEY = np.isin(np.arange(256), (_KEY, _NESTED_KEY))
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
        return self._of_items(np.flatnonzero(~odd[self.of]), odd)

    def merged(self, other: Items) -> Items:
        """These items and those of other ones of the same messages; what is odd is so for either."""
        of = np.concatenate((self.of, other.of))
        both = Items(
            of,
            np.concatenate((self.starts, other.starts)),
            np.concatenate((self.key_ends, other.key_ends)),
            np.concatenate((self.value_starts, other.value_starts)),
            np.concatenate((self.ends, other.ends)),
            np.maximum(self.rests, other.rests),
            self.odd | other.odd,
        )
        return both._of_items(np.argsort(of, kind="stable"), both.odd)

    def _of_items(self, which: Places, odd: npt.NDArray[np.bool_]) -> Items:
        return Items(
            self.of[which],
            self.starts[which],
            self.key_ends[which],
            self.value_starts[which],
            self.ends[which],
            self.rests,
            odd,
        )


def find_items(messages: Messages) -> Items:
    """Find the field 1, the items, of every message, and take each item apart."""
    items, unlike = _by_value_tags(messages)
    if not unlike.any():
        return items
    agreeing = items.without(unlike)
    agreeing = Items(
        agreeing.of,
        agreeing.starts,
        agreeing.key_ends,
        agreeing.value_starts,
        agreeing.ends,
        np.where(unlike, messages.starts, items.rests),
        np.zeros(len(messages), bool),
    )
    return agreeing.merged(_by_walking(messages, np.flatnonzero(unlike)))


def _by_value_tags(messages: Messages) -> tuple[Items, npt.NDArray[np.bool_]]:
    """The items as the tags have them, and the messages that do not agree with that."""
    octets, limits = messages.octets, messages.ends
    tags = messages.buffer.value_tags
    first = np.searchsorted(tags, messages.starts)
    counts = np.searchsorted(tags, limits) - first
    of = np.repeat(np.arange(len(messages)), counts)
    behind = np.cumsum(counts)
    aside = first - behind + counts
    if aside.any() or len(of) < len(tags):  # there are others between these messages, or they are in another order
        tags = tags[np.arange(len(of)) + aside[of]]

    lengths, value_starts = read_varints(octets, tags + 2)
    told = value_starts + lengths
    ends = np.minimum(told, messages.buffer.last)
    begins = np.empty_like(ends)
    begins[1:] = ends[:-1]
    filled = np.flatnonzero(counts)
    begins[(behind - counts)[filled]] = messages.starts[filled]
    rests = messages.starts.copy()
    rests[filled] = ends[behind[filled] - 1]

    lengths, starts = read_varints(octets, begins + 1)
    bad = (octets.take(begins) != _ITEM) | (starts + lengths != told) | (value_starts >= ends) | (told > ends)
    # Most keys are of one part, and only the others are passed part by part.
    one_part = (octets.take(starts + 1) + (starts + 2) == tags) & _IS_KEY.take(octets.take(starts))
    if not one_part.all():
        parted = np.flatnonzero(~one_part)
        bad[parted] |= _key_ends(octets, starts[parted], ends[parted]) != tags[parted]

    unlike = (rests > limits) | ((rests < limits) & (octets.take(rests) == _ITEM))
    unlike[of[bad]] = True
    return Items(of, starts, tags, value_starts, ends, rests, np.zeros(len(messages), bool)), unlike


def _by_walking(messages: Messages, which: Places) -> Items:
    """The items of those of the messages that `which` lists."""
    octets = messages.octets
    rests, odd = messages.starts.copy(), np.zeros(len(messages), bool)
    places: list[int] = []
    bounds: list[tuple[int, int]] = []
    for index in which.tolist():
        found = _walk(messages, index)
        if found is None:
            odd[index] = True
            continue
        places += [index] * (len(found) - 1)
        bounds += pairwise(found)
        rests[index] = found[-1]
    of, begins, ends = np.array(places, np.int64), *np.array(bounds, np.int64).reshape(-1, 2).T
    starts = read_varints(octets, begins + 1)[1]
    key_ends = _key_ends(octets, starts, ends)
    lengths, value_starts = read_varints(octets, key_ends + 2)
    bad = (octets.take(key_ends) != VALUE_TAG[0]) | (octets.take(key_ends + 1) != VALUE_TAG[1])
    bad |= (value_starts + lengths != ends) | (lengths <= 0)
    wrong = odd.copy()
    wrong[of[bad]] = True
    return Items(of, starts, key_ends, value_starts, ends, rests, odd).without(wrong)


def _walk(messages: Messages, index: int) -> list[int] | None:
    """Where each item of one message begins, and where the last one ends; None where one has no end."""
    data, at, limit = messages.data, int(messages.starts[index]), int(messages.ends[index])
    found = [at]
    while at < limit and data[at] == _ITEM:
        length = data[at + 1]
        if length < 0x80:
            at += 2 + length
        else:
            (long,), (behind,) = read_varints(messages.octets, np.array([at + 1]))
            at = int(behind + long) if long >= 0 else limit + 1
        if at > limit:
            return None
        found.append(at)
    return found


def _key_ends(octets: Octets, starts: Offsets, ends: Offsets) -> Offsets:
    """Where the fields of the key end, which is the start where there are none."""
    at = starts.copy()
    going = np.arange(len(at))
    for _ in range(_DEEPEST):
        here = at[going]
        tags, lengths = octets.take(here), octets.take(here + 1)
        keys = _IS_KEY.take(tags) & (lengths < 0x80) & (here < ends[going])
        going = going[keys]
        if not len(going):
            break
        at[going] = here[keys] + lengths[keys] + 2
    return at
