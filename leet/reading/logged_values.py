"""What one logged value is: a number, which is drawn, or the JSON text of anything else, which is shown.

A history item carries its value in one of these forms, and the first that is there wins:

    HistoryItem 3…8   none, boolean, integer, number, text, json      typed, since 0.31
    HistoryItem 16    value_json                                      JSON, with bare NaN and Infinity

Objects are taken apart: `{"a": {"b": 1}}` logged as `x` is the value 1 of `("x", "a", "b")`, as newer writers
send it in the first place. Booleans are numbers (0 and 1), and so are texts that spell a number.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:  # its module loads numpy, which a single value has no use for
    from leet.reading.batch import KeyPath

Logged = float | str
"""A number, or the JSON text of what is no number."""

TYPE_KEY = "_type"
"""The leaf that says its siblings describe a picture, a histogram, a table, …: they are no curves."""

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
CONSTANTS = {"true": 1.0, "false": 0.0, "NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_SPELT_NON_FINITE = frozenset({"NaN", "Infinity", "-Infinity"})
_BLANK = " \t\r\n"
_MOST_PIECES = 10_000


def number_of(text: str) -> float | None:
    """The number that a JSON text stands for: a number, a boolean, or a string that spells a number."""
    text = text.strip(_BLANK)
    if (constant := CONSTANTS.get(text)) is not None:
        return constant
    if text[:1] == '"':
        return _number_in_string(text)
    return float(text) if _NUMBER.fullmatch(text) else None


class Typed(NamedTuple):
    """A value that is no curve but a picture, a table, a histogram, …: its dotted key, what it says that it is, and
    how many pieces a list has (1 for anything else)."""

    name: str
    kind: str
    pieces: int


def item_values(items: Iterable[Any]) -> dict[str, Logged]:
    """Dotted key → value of the items of one history record; of two values under one key the last counts."""
    return values_and_typed(items)[0]


def values_and_typed(items: Iterable[Any]) -> tuple[dict[str, Logged], list[Typed]]:
    """The same, and the typed values that some of these keys are leaves of."""
    leaves: list[tuple[KeyPath, Logged]] = []
    media: set[KeyPath] = set()
    for item in items:
        nested = item.nested_key
        path: KeyPath = tuple(nested) if nested else (item.key,)
        for leaf, value in _values(path, item):
            leaves.append((leaf, value))
            if leaf[-1] == TYPE_KEY and len(leaf) > 1:
                media.add(leaf[:-1])
    typed: list[Typed] = []
    if media:
        typed = _typed(dict(leaves), media)
        leaves = [(path, _as_text(value) if _within(path, media) else value) for path, value in leaves]
    return {readable_name(path): value for path, value in leaves}, typed


def _typed(leaves: dict[KeyPath, Logged], media: set[KeyPath]) -> list[Typed]:
    """The outermost typed values: the mask of a picture is a part of it."""
    found = []
    for path in (path for path in leaves if path[-1] == TYPE_KEY and path[:-1] in media):
        kind = _text_of(leaves[path])
        if kind and not _within(path[:-1], media):
            count = leaves.get((*path[:-1], "count"), 1.0)
            many = int(count) if isinstance(count, float) and 0 <= count < _MOST_PIECES else 1
            found.append(Typed(readable_name(path[:-1]), kind, many))
    return found


def _text_of(value: Logged) -> str:
    """The text that a JSON text spells; empty for anything else."""
    try:
        found = json.loads(value) if isinstance(value, str) else ""
    except ValueError:
        return ""
    return found if isinstance(found, str) and _encodable(found) else ""


def readable_name(path: KeyPath) -> str:
    """A path joined with dots; a lone surrogate, which no terminal can print, becomes a question mark."""
    name = ".".join(path)
    return name if name.isascii() else name.encode("utf-8", "replace").decode()


def readable_names(paths: Sequence[KeyPath]) -> list[str]:
    """`readable_name` of many paths."""
    names = list(map(".".join, paths))
    return names if "".join(names).isascii() else list(map(readable_name, paths))


def _values(path: KeyPath, item: Any) -> Iterator[tuple[KeyPath, Logged]]:
    form = item.WhichOneof("value")
    if form is None or form == "json":
        text = item.json if form else item.value_json
        if text:
            yield from _json_values(path, text)
    elif form == "none":
        yield path, "null"
    elif form == "text":
        number = _number_spelt(item.text)
        yield path, json.dumps(item.text, ensure_ascii=False) if number is None else number
    else:
        yield path, float(getattr(item, form))


def _json_values(path: KeyPath, text: str) -> Iterator[tuple[KeyPath, Logged]]:
    if text.lstrip(_BLANK)[:1] == "{":
        try:
            yield from list(_flatten(path, json.loads(text)))
        except (ValueError, RecursionError):  # not JSON, or nested too deep: shown as it stands
            yield path, text
        return
    number = number_of(text)
    yield path, text if number is None else number


def _flatten(path: KeyPath, value: Any) -> Iterator[tuple[KeyPath, Logged]]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _flatten((*path, key), inner)
    elif isinstance(value, bool | float):
        yield path, float(value)
    elif isinstance(value, int):
        yield path, _float_of(value)
    else:
        number = _number_spelt(value) if isinstance(value, str) else None
        yield path, _dump(value) if number is None else number


def _float_of(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _number_in_string(text: str) -> float | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return _number_spelt(value) if isinstance(value, str) else None


def _number_spelt(text: str) -> float | None:
    if text in _SPELT_NON_FINITE:
        return CONSTANTS[text]
    return float(text) if _NUMBER.fullmatch(text) else None


def _within(path: KeyPath, prefixes: set[KeyPath]) -> bool:
    return any(path[:depth] in prefixes for depth in range(1, len(path)))


def _as_text(value: Logged) -> str:
    return _dump(value) if isinstance(value, float) else value


def _dump(value: Any) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isascii() or _encodable(text) else json.dumps(value)


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
