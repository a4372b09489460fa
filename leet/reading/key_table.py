"""Which key an item has: the encoded key fields of many items looked up in one go.

    key fields   12 04 l o s s            8 bytes at a time, zeros behind the end; a lone 0A counts as 12
                 └──── word 0 ────┘       a key of 20 bytes has words 0, 1 and 2
    hash         sum of the length and all words, each times an odd number of its place
    slots        hash ─► id of a key, or -1: open addressing, at most half full
    known words  id ─► the words of that key, compared in full with those of the item

An item is found when length and all words are those of the key in its slot, else the next slot is tried. What is
left at an empty slot is new: one of each kind is added, and the rest are looked up again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from leet.reading.batch import KeyPath, Offsets
from leet.reading.messages import Messages, Words

Ids = npt.NDArray[np.int64]

LONGEST = 128
"""Longest key fields that the table takes, in bytes."""
_LONGEST_WORDS = LONGEST // 8
_NEW = -1
_KEY, _NESTED_KEY = 0x0A, 0x12
_KEY_TO_NESTED = np.uint64(_KEY ^ _NESTED_KEY)

_MULTIPLIER = 0x9E3779B97F4A7C15  # 2^64 / golden ratio: spreads neighbouring numbers over the upper bits
_MULTIPLIERS = [np.uint64(pow(_MULTIPLIER, place + 1, 1 << 64)) for place in range(_LONGEST_WORDS + 1)]
_MASKS = np.array([(1 << 8 * octets) - 1 for octets in range(9)], np.uint64)


def key_path(fields: bytes) -> KeyPath | None:
    """The path that encoded key fields stand for, None where they are no UTF-8."""
    single, nested, at = "", [], 0
    try:
        if len(fields) > 1 and len(fields) == fields[1] + 2:
            return (fields[2:].decode(),)
        while at < len(fields):
            part = fields[at + 2 : at + 2 + fields[at + 1]].decode()
            if fields[at] == _NESTED_KEY:
                nested.append(part)
            else:
                single = part
            at += 2 + fields[at + 1]
    except UnicodeDecodeError:
        return None
    return tuple(nested) if nested else (single,)


def _key_paths(messages: Messages, starts: Offsets, lengths: Offsets) -> list[KeyPath | None]:
    """`key_path` of many key fields."""
    data, ends = messages.data, starts + lengths
    one_part = (lengths > 1) & (messages.octets.take(starts + 1).astype(np.int64) + 2 == lengths)
    if one_part.all():
        parts = [data[a:b] for a, b in zip((starts + 2).tolist(), ends.tolist(), strict=True)]
        joined = b"\n".join(parts)
        if joined.isascii() and joined.count(b"\n") == len(parts) - 1:
            return list(zip(joined.decode().split("\n")))  # one decoded text is had much sooner than many
        with contextlib.suppress(UnicodeDecodeError):
            return [(part.decode(),) for part in parts]
    return [key_path(bytes(data[a:b])) for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]


class KeyTable:
    """Keys seen so far, each with a number that its owner gives it."""

    def __init__(self, numbers: Callable[[Sequence[KeyPath | None]], Sequence[int]]) -> None:
        """`numbers` gives new keys their numbers; it is handed None for one that is no UTF-8."""
        self._numbers_of = numbers
        self._count = 0
        self._slots = np.full(64, _NEW, np.int32)
        self._numbers = np.empty(32, np.int64)
        self._lengths = np.empty(32, np.int64)
        self._hashes = np.empty(32, np.uint64)
        self._words: list[Words] = []

    def numbers(self, messages: Messages, starts: Offsets, ends: Offsets) -> Ids:
        """The numbers of the keys in the given bounds, none longer than `LONGEST`: int64 [len(starts)]."""
        keys = _Keys(messages, starts, ends)
        ids = self._find(keys)
        while len(missing := np.flatnonzero(ids == _NEW)):
            first, added = self._count, self._add(messages, keys, missing)
            all_unlike = added == len(missing)
            ids[missing] = np.arange(first, self._count) if all_unlike else self._find(keys.of(missing))
        return self._numbers.take(ids)

    def _find(self, keys: _Keys) -> Ids:
        slots = self._first_slots(keys.hashes)
        ids = self._slots.take(slots).astype(np.int64)
        going = np.flatnonzero(self._differ(keys, ids))
        while len(going):
            slots[going] = (slots[going] + 1) & (len(self._slots) - 1)
            ids[going] = self._slots[slots[going]]
            going = going[self._differ(keys.of(going), ids[going])]
        return ids

    def _first_slots(self, hashes: Words) -> Ids:
        return (hashes >> np.uint64(64 - len(self._slots).bit_length() + 1)).view(np.int64)

    def _differ(self, keys: _Keys, ids: Ids) -> npt.NDArray[np.bool_]:
        """Which keys are not the ones with these ids, though there is one in their slot."""
        if not self._count or not len(ids):
            return np.zeros(len(ids), bool)
        differ: npt.NDArray[np.bool_] = self._lengths.take(ids) != keys.lengths
        for known, (which, words) in zip(self._words, keys.words, strict=False):
            differ[which] |= known.take(ids[which]) != words
        if ids.min() == _NEW:
            differ &= ids != _NEW
        return differ

    def _add(self, messages: Messages, keys: _Keys, missing: Ids) -> int:
        """Add one key of each hash among the missing ones, in their order; how many these are."""
        hashes = keys.hashes[missing]
        order = np.argsort(hashes, kind="stable")
        first = order[np.append(True, np.diff(hashes[order]) != 0)]
        new = missing[np.sort(first)]  # in the order in which they came, which is that of their numbers
        count = self._count + len(new)
        while count > len(self._numbers):
            self._grow()
        added = slice(self._count, count)
        self._numbers[added] = self._numbers_of(_key_paths(messages, keys.starts[new], keys.lengths[new]))
        self._lengths[added] = keys.lengths[new]
        self._hashes[added] = keys.hashes[new]
        for place, (_, words) in enumerate(keys.of(new).words):
            if place == len(self._words):
                self._words.append(np.zeros(len(self._numbers), np.uint64))
            self._words[place][added] = words
        self._count = count
        self._place(np.arange(added.start, added.stop))
        return len(new)

    def _grow(self) -> None:
        double = 2 * len(self._numbers)
        for name in ("_numbers", "_lengths", "_hashes"):
            setattr(self, name, np.resize(getattr(self, name), double))
        self._words = [np.concatenate((words, np.zeros_like(words))) for words in self._words]
        self._slots = np.full(2 * double, _NEW, np.int32)
        self._place(np.arange(self._count))

    def _place(self, ids: Ids) -> None:
        """Give each id the first free slot from that of its hash on."""
        slots = self._first_slots(self._hashes[ids])
        while len(ids):
            free = self._slots[slots] == _NEW
            self._slots[slots[free]] = ids[free]
            left = self._slots[slots] != ids
            ids, slots = ids[left], (slots[left] + 1) & (len(self._slots) - 1)


def _nest(words: Words, lengths: Ids) -> None:
    """Make the first words of a `key` alone those of the `nested_key` of one part that means the same."""
    is_key = words & np.uint64(0xFF) == _KEY
    if is_key.any():
        parts = words >> np.uint64(8) & np.uint64(0xFF)
        words ^= (is_key & (parts.view(np.int64) + 2 == lengths)) * _KEY_TO_NESTED


class _Keys:
    """Key fields of many items as words and a hash of each."""

    def __init__(self, messages: Messages, starts: Offsets, ends: Offsets) -> None:
        self.starts = starts
        self.lengths = ends - starts
        self.words: list[tuple[Ids | slice, Words]] = []
        """For each place of a word: keys among which are all that reach there, and their words."""
        self.hashes = self.lengths.astype(np.uint64) * _MULTIPLIERS[-1]
        longest = int(self.lengths.max()) if len(starts) else 0
        which: Ids | slice = slice(None)
        for place in range(-(-longest // 8)):
            left = self.lengths[which] - 8 * place
            reach = left > 0
            if 2 * np.count_nonzero(reach) < len(reach):
                which = np.flatnonzero(reach) if isinstance(which, slice) else which[reach]
                left = left[reach]
            words = messages.windows(starts[which] + 8 * place, 1)[:, 0]
            words &= _MASKS.take(left, mode="clip")
            if not place:
                _nest(words, self.lengths[which])
            self.words.append((which, words))
            self.hashes[which] += words * _MULTIPLIERS[place]

    def of(self, which: Ids) -> _Keys:
        """Some of the keys."""
        some = _Keys.__new__(_Keys)
        some.starts, some.lengths, some.hashes = self.starts[which], self.lengths[which], self.hashes[which]
        some.words = []
        for reach, words in self.words:
            every = np.zeros(len(self.starts), np.uint64)
            every[reach] = words
            some.words.append((slice(None), every[which]))
        return some
