"""Very many names put in natural order side by side: nearly all of the work is numpy's, and threads go on meanwhile.

text      l 9 \\n l 1 0 \\n …              lower case, one name a line
sized     l 1 9 \\n l 2 1 0 \\n …          every run of digits behind its length
words     [l19·····] [l210····] …          8 octets at a time, zeros behind the end, the first octet weighing most
positions numpy.lexsort of the words; names with the same key by themselves
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Octets = npt.NDArray[np.uint8]

_ZERO = 0x30
_LONGEST_RUN = 0x7F - _ZERO
"""Digits whose number is still one octet of ASCII."""
_LONGEST = 256
"""Octets of a key up to which this is worth it: the words of all keys are as many as those of the longest."""
_NEWLINE = 0x0A
_MASKS = np.array([(1 << 64) - (1 << 8 * (8 - octets)) for octets in range(9)], np.uint64)
"""What a word keeps of which so many octets count."""


def positions_of_many(joined: str) -> list[int]:
    """What `natural_positions` gives for names, one a line in `joined`; empty where it cannot be had this way."""
    text = joined.lower().replace("\0", "\1")  # no name has the zeros that stand behind the end of its words
    if not text.isascii():
        return []
    octets = _with_sizes(text.encode())
    ends = np.append(np.flatnonzero(octets == _NEWLINE), len(octets))
    starts = np.append(0, ends[:-1] + 1)
    lengths = ends - starts
    if not len(octets) or lengths.max() > _LONGEST:
        return []
    windows = np.lib.stride_tricks.sliding_window_view(np.append(octets, np.zeros(_LONGEST + 8, np.uint8)), 8)
    words = []
    for place in range(0, int(lengths.max()), 8):
        word = windows[starts + place].view(">u8")[:, 0].astype(np.uint64)
        words.append(word & _MASKS.take(lengths - place, mode="clip"))
    order = np.lexsort(words[::-1]) if words else np.arange(len(ends))
    alike = np.ones(len(ends) - 1, bool)
    for word in words:
        alike &= np.diff(word[order]) == 0
    positions = order.tolist()
    return _by_name(positions, np.flatnonzero(alike).tolist(), joined.split("\n")) if alike.any() else positions


def _by_name(positions: list[int], alike: Sequence[int], names: Sequence[str]) -> list[int]:
    """`positions` with those put in order by name whose key is that of the next one, which are listed in `alike`."""
    first = 0
    while first < len(alike):
        last = first
        while last + 1 < len(alike) and alike[last + 1] == alike[last] + 1:
            last += 1
        part = slice(alike[first], alike[last] + 2)
        positions[part] = sorted(positions[part], key=names.__getitem__)
        first = last + 1
    return positions


def _with_sizes(text: bytes) -> Octets:
    """ASCII text with every run of digits as `_Sized` has it; empty where one of them is too long for that.

    x 0 4 2 / 7          x 2 4 2 / 1 7
      ╰─── run ╰ run       ╰ its length without zeros, put before it
    """
    octets = np.frombuffer(text, np.uint8)
    digits = octets - np.uint8(_ZERO) < 10
    edges = np.flatnonzero(np.diff(digits, prepend=False, append=False))
    starts, ends = edges[::2], edges[1::2]
    padded = np.flatnonzero(octets[starts] == _ZERO)
    if len(padded):
        numbers = np.append(np.flatnonzero(octets != _ZERO), len(octets))
        begins = starts.copy()
        begins[padded] = np.minimum(numbers[np.searchsorted(numbers, starts[padded])], ends[padded])
        zeros = begins - starts
        before = np.cumsum(zeros)  # of all zeros that go, those up to and with each run
        places = np.arange(before[-1]) + np.repeat(begins - before, zeros)
        octets = np.delete(octets, places)
        starts, ends = begins - before, ends - before
    sizes = ends - starts
    if sizes.max(initial=0) > _LONGEST_RUN:
        return np.empty(0, np.uint8)
    return np.insert(octets, starts, (sizes + _ZERO).astype(np.uint8))
