"""Natural order of names: `layer.2` before `layer.10`, whatever the case."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

_DIGITS = re.compile(r"([0-9]+)")
_NUMBER = re.compile(r"([0-9]+)((?:\.[0-9]+)*)(e[-+]?[0-9]+(?![a-z0-9]))?")
_VERSION = re.compile(r"(?:(?<![a-z])v|\.)$")
"""What stands before a number whose points divide parts of it."""
_LONGEST_EXPONENT = len("e-308")
_MANY = 64
"""Names from which on it is worth making their keys together."""
_VERY_MANY = 4096
"""Names from which on their text is worth an array, and loading what makes arrays."""


class _Sized(dict[str, str]):
    """A run of digits → its length as one character, and the digits without leading zeros."""

    def __missing__(self, digits: str) -> str:
        number = digits.lstrip("0")
        sized = chr(0x30 + len(number)) + number
        if len(digits) <= 4:  # those come again and again; there are few enough to remember
            self[digits] = sized
        return sized


_SIZED = _Sized()


def natural_key(name: str) -> str:
    """A text that sorts as a person would sort `name`: runs of digits by their number, letters without case.

    A run of digits becomes its length (as one character) and the digits without leading zeros, so that plain
    comparison of texts, which is as fast as sorting gets in Python, orders numbers by size. Names that differ only
    in case or in leading zeros have the same key: sort by `(natural_key(name), name)`.
    """
    return _DIGITS.sub(lambda match: _SIZED[match[0]], _folded(name))


def natural_keys(names: Sequence[str]) -> list[str]:
    """The keys of many names, made in one go over all of their text."""
    joined = "\n".join(names)
    if len(names) < _MANY or joined.count("\n") != len(names) - 1:
        return [natural_key(name) for name in names]
    joined = _folded(joined)
    pieces = _DIGITS.split(joined)
    pieces[1::2] = map(_SIZED.__getitem__, pieces[1::2])
    return "".join(pieces).split("\n")


def natural_positions(names: Sequence[str]) -> list[int]:
    """The positions in `names` of the first in natural order, of the second, …; equal names stay as they are."""
    if len(names) >= _VERY_MANY:
        joined = "\n".join(names)
        if joined.count("\n") == len(names) - 1 and (positions := _positions_of_many(joined)):
            return list(positions)
    # Texts of a key, a zero and the name sort as pairs of the two do, several times as fast.
    places = [f"{key}\0{name}" for key, name in zip(natural_keys(names), names, strict=True)]
    return sorted(range(len(names)), key=places.__getitem__)


@lru_cache(1)
def _positions_of_many(joined: str) -> list[int]:
    """The positions of very many names, one a line; empty where there is no faster way to find them.

    Remembered because the newest part of a log has the names of all of it, as a rule, and comes shortly before it.
    """
    from leet.reading.natural_arrays import positions_of_many

    return positions_of_many(joined)


@lru_cache(1 << 14)
def decimal_key(name: str) -> str:
    """A text that sorts as a person would sort names in which there may be decimals: of runs, not of metrics.

    `lr-0.001` stands before `lr-0.01`, `lr-1e-4` before both. Numbers with more than one point, or a `v` before them,
    are versions: `v1.9` before `v1.10`. In the names of metrics numbers with a point are indices (`layer1.10.weight`),
    which is why they have another order.
    """
    return _NUMBER.sub(_ordered, _folded(name))


def _ordered(match: re.Match[str]) -> str:
    """A number: its whole part as `_Sized` has it, its fraction, and a sign that is less than any other."""
    whole, rest, exponent = match.groups("")
    before = match.string[: match.start()]
    if rest.count(".") > 1 or (rest and _VERSION.search(before)):
        return ".".join(_SIZED[part] + "\1" for part in (whole, *rest[1:].split("."))) + exponent
    if exponent:
        if len(exponent) > _LONGEST_EXPONENT:
            return f"{_SIZED[whole]}{rest[1:].rstrip('0')}\1{exponent}"
        from decimal import Decimal  # takes a while to load, and such names are few

        whole, _, fraction = format(Decimal(match[0]), "f").partition(".")
    else:
        fraction = rest[1:]
    return f"{_SIZED[whole]}{fraction.rstrip('0')}\1"


def natural_sorted(names: Iterable[str]) -> list[str]:
    """The names in natural order."""
    return sorted(names, key=lambda name: (natural_key(name), name))


class NaturalOrder:
    """Names kept in natural order while more of them arrive."""

    __slots__ = ("_fresh", "_names")

    def __init__(self) -> None:
        self._fresh: list[str] = []
        self._names: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self._names) + len(self._fresh)

    def add(self, names: Iterable[str]) -> None:
        """Take names that are not here yet."""
        self._fresh.extend(names)

    def names(self) -> tuple[str, ...]:
        """All names in order: the same object until a name is added."""
        if self._fresh:
            every = [*self._names, *self._fresh]
            self._names = tuple(map(every.__getitem__, natural_positions(every)))
            self._fresh.clear()
        return self._names


def _folded(text: str) -> str:
    """In lower case, and without the zeros that end keys in `natural_positions`."""
    return text.lower().replace("\0", "\1")
