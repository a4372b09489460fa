"""The JSON texts of many values → numbers, side by side.

    buffer   … 82 01 12 0.0812345678901234 0A …  82 01 02 17 0A …
    cells    0.0812345678901234     ,│17                     ,│…        24 bytes each, blanks between
    orjson   [0.0812345678901234, 17, …]                               one call for thousands of them

Only texts that begin like a JSON number go this way. If one of a call turns out to be something else, the texts of
that call are looked at one by one, like constants, strings and lists.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import orjson

from leet.reading.batch import Floats, Offsets
from leet.reading.logged_values import CONSTANTS, number_of
from leet.reading.messages import Messages, Places, Words

_CELL_WORDS = 3
_CELL = 8 * _CELL_WORDS
_TOGETHER = 4096
"""Texts of one call: few enough that other threads are not kept waiting for more than half a millisecond."""

# What a cell with a text of n bytes keeps of the buffer, and what is put into the rest of it.
_KEEP = np.array([[255] * n + [0] * (_CELL - n) for n in range(_CELL)], np.uint8).view("<u8")
_FILL = np.array([[0] * n + [*b" " * (_CELL - 1 - n), *b","] for n in range(_CELL)], np.uint8).view("<u8")

_DIGIT = np.isin(np.arange(256), list(b"0123456789"))
_MINUS = ord("-")
_CONSTANTS = {text.encode(): number for text, number in CONSTANTS.items()}
_OBJECT = frozenset(b"{ \t\r\n")
"""What an object begins with, or the blanks that no writer puts before a value."""
_STRING_OF_NUMBER = frozenset(b"0123456789+-.NI\\")
"""What a string that spells a number begins with; the backslash of `"\\u0031"` is one, too."""


@dataclass(frozen=True, slots=True)
class Values:
    """What many texts mean. Shapes: `numbers` float64, `is_number` and `is_object` bool, all [texts].

    `is_object` marks what only protobuf and a JSON parser can tell: objects, and texts that are no UTF-8.
    """

    numbers: Floats
    is_number: npt.NDArray[np.bool_]
    is_object: npt.NDArray[np.bool_]


def read_values(messages: Messages, starts: Offsets, ends: Offsets) -> Values:
    """The values between the given bounds of the buffer, none of them empty."""
    lengths = ends - starts
    numeric = looks_numeric(messages, starts, ends)
    values = Values(np.full(len(starts), np.nan), numeric, np.zeros(len(starts), bool))
    others = np.flatnonzero(~numeric)
    if len(others):
        which: Places | slice = np.flatnonzero(numeric)
        starts_there, lengths = starts[which], lengths[which]
    else:
        which, starts_there = slice(None), starts
    cells = messages.windows(starts_there, _CELL_WORDS)
    cells &= _KEEP.take(lengths, axis=0)
    cells |= _FILL.take(lengths, axis=0)
    numbers, unread = _parse(cells)
    values.numbers[which] = numbers
    if len(unread):
        others = np.concatenate((others, np.arange(len(starts))[which][unread]))
    for index in others.tolist():
        _read_one(bytes(messages.data[starts[index] : ends[index]]), index, values)
    return values


def looks_numeric(messages: Messages, starts: Offsets, ends: Offsets, *, whole: bool = False) -> npt.NDArray[np.bool_]:
    """Which texts are short and begin like a JSON number, and end like one too if it is the `whole` that counts."""
    octets = messages.octets
    first = octets.take(starts)
    numeric = _DIGIT.take(first)
    negative = np.flatnonzero(first == _MINUS)
    numeric[negative] = _DIGIT[octets[starts[negative] + 1]]
    numeric &= ends - starts < _CELL
    if whole:
        numeric &= _DIGIT.take(octets.take(ends - 1))
    return numeric


def _parse(cells: Words) -> tuple[Floats, Places]:
    """The numbers in cells of text, and the places of those in calls that did not consist of numbers alone."""
    numbers = np.zeros(len(cells))
    unread: list[Places] = []
    whole = struct.Struct(f"{_TOGETHER}d")
    for start in range(0, len(cells), _TOGETHER):
        part = cells[start : start + _TOGETHER]
        packing = whole if len(part) == _TOGETHER else struct.Struct(f"{len(part)}d")
        # Every text begins with a digit, so a comma inside one shows in the count, and brackets in the types.
        try:
            packing.pack_into(numbers.data, 8 * start, *orjson.loads(b"[%b]" % part.tobytes()[:-1]))
        except (ValueError, struct.error, OverflowError):
            numbers[start : start + len(part)] = 0.0
            unread.append(np.arange(start, start + len(part)))
    return numbers, np.concatenate(unread) if unread else np.empty(0, np.int64)


def _read_one(text: bytes, index: int, values: Values) -> None:
    number = _CONSTANTS.get(text)
    if number is None:
        try:
            decoded = text.decode()
        except UnicodeDecodeError:
            values.is_object[index] = True
            return
        if text[0] in _OBJECT:
            values.is_object[index] = True
        elif not _surely_text(text):
            number = number_of(decoded)
    values.is_number[index] = number is not None
    values.numbers[index] = np.nan if number is None else number


def _surely_text(text: bytes) -> bool:
    """A list, or a string that cannot spell a number."""
    return text[:1] == b"[" or (text[:1] == b'"' and not _STRING_OF_NUMBER.intersection(text[1:2]))
