"""Many encoded protobuf messages in one buffer, so that numpy can look into all of them at once.

    data    ┌──────────┬─────────────┬───────┬ ─ ─ ─ ┐
            │ message  │ message     │ …     │ zeros │
            └──────────┴─────────────┴───────┴ ─ ─ ─ ┘
            ▲ starts[0]▲ ends[0]     ▲ ends[1]
                         starts[1]

A message may also be a part of the bytes between its neighbours: `starts` and `ends` say which.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from leet.reading.batch import Offsets

Octets = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]
Places = npt.NDArray[np.int64]
"""Indices of messages."""

VALUE_TAG = (0x82, 0x01)
"""The tag of field 16 with a length: `value_json` of items."""
PAD = bytes(256)
"""Zeros behind the last message, so that looking past any position by less never leaves the buffer."""


class Buffer:
    """Bytes that many messages lie in; `last` is the position behind the last message, where `PAD` begins."""

    def __init__(self, data: bytes | bytearray) -> None:
        self.data = data
        self.last = len(data) - len(PAD)
        self.octets: Octets = np.frombuffer(data, np.uint8)

    @cached_property
    def value_tags(self) -> Offsets:
        """Where the tag of `value_json` may be: the pairs of bytes 82 01, in order."""
        first = np.flatnonzero(self.octets == VALUE_TAG[0])
        tags: Offsets = first[self.octets.take(first + 1, mode="clip") == VALUE_TAG[1]]
        return tags


class Messages:
    """Messages in order; shapes: `starts` and `ends` int64 [messages], `octets` uint8 [bytes of the buffer]."""

    def __init__(self, data: bytes | bytearray | Buffer, starts: Offsets, ends: Offsets) -> None:
        self.buffer = data if isinstance(data, Buffer) else Buffer(data)
        self.starts = starts
        self.ends = ends

    @property
    def data(self) -> bytes | bytearray:
        return self.buffer.data

    @property
    def octets(self) -> Octets:
        return self.buffer.octets

    @classmethod
    def joined(cls, encoded: Sequence[bytes]) -> Messages:
        """One message per piece, whole."""
        bounds = _bounds(encoded)
        return cls(b"".join((*encoded, PAD)), bounds[:-1], bounds[1:])

    def and_more(self, encoded: Sequence[bytes]) -> Messages:
        """These messages and one per piece behind them, in a buffer of their own."""
        bounds = _bounds(encoded, len(self.data))
        starts, ends = np.concatenate((self.starts, bounds[:-1])), np.concatenate((self.ends, bounds[1:]))
        return Messages(b"".join((self.data, *encoded, PAD)), starts, ends)

    def cut(self, which: Places, starts: Offsets, ends: Offsets) -> Messages:
        """Those of the messages that `which` lists, cut down to the given bounds, over the same buffer."""
        return Messages(self.buffer, starts[which], ends[which])

    def part(self, first: int, last: int) -> Messages:
        """Those from one place to before another."""
        return Messages(self.buffer, self.starts[first:last], self.ends[first:last])

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, index: int) -> bytes:
        return bytes(self.data[int(self.starts[index]) : int(self.ends[index])])

    def windows(self, at: Offsets, words: int) -> Words:
        """`words` 64-bit words from each position on: uint64 little-endian [len(at), words].

        The positions need no alignment: the buffer is looked at as overlapping cells, one beginning at every byte.
        """
        cells = np.ndarray((len(self.data) - 8 * words + 1,), f"V{8 * words}", self.data, strides=(1,))
        return cells[at].view("<u8").reshape(len(at), words)


def _bounds(encoded: Sequence[bytes], start: int = 0) -> Offsets:
    return np.fromiter(accumulate(map(len, encoded), initial=start), np.int64, len(encoded) + 1)


def read_varints(octets: Octets, at: Offsets) -> tuple[Offsets, Offsets]:
    """Values below 2^28 of the varints at `at`, -1 for greater ones, and the positions behind them."""
    values = octets.take(at).astype(np.int64)
    behind = at + 1
    longer = np.flatnonzero(values >= 0x80)
    if len(longer):
        values[longer] &= 0x7F
        for shift in (7, 14, 21):
            octet = octets[behind[longer]].astype(np.int64)
            values[longer] |= (octet & 0x7F) << shift
            behind[longer] += 1
            longer = longer[octet >= 0x80]
            if not len(longer):
                break
        values[longer] = -1
    return values, behind
