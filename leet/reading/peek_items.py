"""Items of configs and summaries as nearly all writers lay them out, found without taking messages apart.

    item    0A length │ path │ 82 01 │ length value        path   0A length key, or 12 length key for each of its levels

Whatever is laid out in another way is left to protobuf, and so is text that is not UTF-8, which it refuses.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:  # its module loads numpy
    from leet.reading.batch import KeyPath

_ITEM = _KEY = 0x0A
_LEVEL = 0x12
_VALUE_TAG = b"\x82\x01"
_ONE_BYTE = 0x80
"""What a length in one byte is below."""
_MOST_PATHS = 1 << 15
_MOST_SETTINGS = 1 << 13
_MOST_LAYOUTS = 256
_WORTH_A_PATTERN = 16
"""Logs with the same layout from which on a regular expression is worth being made …"""
_LONGEST_PATTERN = 4096
"""… of so many bytes of paths at most."""


class Change(NamedTuple):
    """The config or summary at `path` became the JSON value `json`, or was removed (None)."""

    path: KeyPath
    json: str | None


def usual_items(data: bytes, at: int, end: int) -> tuple[list[bytes], list[Change]] | None:
    """What the items in `data[at:end]` set, in order, and their paths as they are encoded with the tag behind them.

    None where `data[at:end]` is anything but usual items.
    """
    paths: list[bytes] = []
    changes: list[Change] = []
    new = tuple.__new__  # half the time of Change(…)
    try:
        while at < end:
            if data[at] != _ITEM:
                return None
            length, start = data[at + 1], at + 2
            if length >= _ONE_BYTE:
                length, start = long_length(data, at + 1)
            at = start + length
            tag = data.find(_VALUE_TAG, start, at)
            if at > end or tag < 0:
                return None
            encoded = data[start : tag + 2]
            path = path_in(encoded)
            length, start = data[tag + 2], tag + 3
            if length >= _ONE_BYTE:
                length, start = long_length(data, tag + 2)
            if path is None or start + length != at:
                return None
            paths.append(encoded)
            changes.append(new(Change, (path, data[start:at].decode())))
    except (IndexError, UnicodeDecodeError):
        return None
    return paths, changes


def settings_in(data: bytes) -> list[Change] | None:
    """What the items that `data` is made of set, in order; None where it is not just usual items.

    Many runs have the same settings, which are taken apart but once.
    """
    changes: list[Change] = []
    at, end = 0, len(data)
    try:
        while at < end:
            length, start = data[at + 1], at + 2
            if length >= _ONE_BYTE:
                length, start = long_length(data, at + 1)
            item = data[at : start + length]
            change = _setting(item) if length < _ONE_BYTE else _setting.__wrapped__(item)
            if change is None:
                return None
            changes.append(change)
            at = start + length
    except IndexError:
        return None
    return changes


@lru_cache(_MOST_SETTINGS)
def _setting(item: bytes) -> Change | None:
    found = usual_items(item, 0, len(item))
    return found[1][0] if found is not None else None


@lru_cache(_MOST_PATHS)  # runs of one project have the same keys
def path_in(encoded: bytes) -> KeyPath | None:
    """An encoded path with the tag of its value behind it; None where it is none, or has a very long key."""
    at, end = 0, len(encoded) - len(_VALUE_TAG)
    keys = []
    while at < end:
        tag, length, start = encoded[at], encoded[at + 1], at + 2
        if length >= _ONE_BYTE or (tag != _LEVEL and (tag != _KEY or start + length != end)):
            return None
        at = start + length
        if at > end or (tag == _KEY and start != 2):
            return None
        try:
            keys.append(encoded[start:at].decode())
        except UnicodeDecodeError:
            return None
    return tuple(keys) or None


class Layout:
    """Paths that the items of a message set in this order, each with the tag of the value behind it.

    Nearly all summary records of a log have the layout of the last one, and many logs the same layouts. To tell so by
    a regular expression takes half the time of going through the items, but it takes a while to make one.
    """

    __slots__ = ("_logs", "_paths", "fits")

    fits: Callable[[bytes, int, int], object]
    """(data, at, end): true where `data[at:end]` is items that set these paths in this order, and nothing else."""

    def __init__(self, paths: tuple[bytes, ...]) -> None:
        self._paths = paths
        self._logs = 0
        self.fits = self._compare

    @staticmethod
    @lru_cache(_MOST_LAYOUTS)
    def of(paths: tuple[bytes, ...]) -> Layout:
        """The layout with these paths, the same one for all logs."""
        return Layout(paths)

    def count(self) -> None:
        """It has been found in another log."""
        self._logs += 1
        if self._logs == _WORTH_A_PATTERN and sum(map(len, self._paths)) <= _LONGEST_PATTERN:
            length = rb"[\x80-\xff]*[\x00-\x7f]"
            # JSON has no control characters, and every tag of items and of what is removed is one.
            items = (b"\x0a" + length + re.escape(path) + length + rb"[^\x00-\x1f]*" for path in self._paths)
            self.fits = re.compile(b"".join(items)).fullmatch

    def _compare(self, data: bytes, at: int, end: int) -> bool:
        try:
            for path in self._paths:
                if data[at] != _ITEM:
                    return False
                length = data[at + 1]
                at += 2
                if length >= _ONE_BYTE:
                    length, at = long_length(data, at - 1)
                if not data.startswith(path, at):
                    return False
                at += length
        except IndexError:
            return False
        return at == end


def long_length(data: bytes, at: int) -> tuple[int, int]:
    """A length in any number of bytes, and the position behind it. Raises IndexError where it does not end."""
    length = shift = 0
    while (octet := data[at]) >= _ONE_BYTE:
        length |= (octet & 0x7F) << shift
        shift += 7
        at += 1
    return length | octet << shift, at + 1
