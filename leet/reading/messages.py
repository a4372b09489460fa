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
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from leet.reading.batch import Offsets

Octets = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]
Places = npt.NDArray[np.int64]
"""Indices of messages."""

_PAD = bytes(64)
"""Zeros behind the last message, so that looking a few words past any position never leaves the buffer."""


@dataclass(frozen=True)
class Messages:
    """Messages in order; shapes: `starts` and `ends` int64 [messages]."""

    data: bytes
    starts: Offsets
    ends: Offsets

    @classmethod
    def joined(cls, encoded: Sequence[bytes]) -> Messages:
        """One message per piece, whole."""
        ends = np.fromiter(accumulate(map(len, encoded)), np.int64, len(encoded))
        starts = np.zeros_like(ends)
        starts[1:] = ends[:-1]
        return cls(b"".join((*encoded, _PAD)), starts, ends)

    def cut(self, which: Places, starts: Offsets, ends: Offsets) -> Messages:
        """Those of the messages that `which` lists, cut down to the given bounds, over the same buffer."""
        view = Messages(self.data, starts[which], ends[which])
        for name in ("octets", "words"):
            if name in self.__dict__:
                view.__dict__[name] = self.__dict__[name]
        return view

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, index: int) -> bytes:
        return self.data[int(self.starts[index]) : int(self.ends[index])]

    @cached_property
    def octets(self) -> Octets:
        """Every byte of the buffer."""
        return np.frombuffer(self.data, np.uint8)

    @cached_property
    def words(self) -> Words:
        """The buffer as little-endian 64-bit words, counted from its first byte."""
        return np.frombuffer(self.data, "<u8", len(self.data) // 8)
