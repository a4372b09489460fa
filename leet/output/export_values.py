"""The exact value of what was logged: integers with all their digits, floats, texts, lists; nothing is rounded.

Curves are drawn from float64, which holds integers up to 2^53; a table that leaves the program must hold them all, so
values are read anew from the text in the log. The names are those that the viewer shows: objects are taken apart, and
`{"a": {"b": 1}}` logged as `x` is the value 1 of `x.a.b`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from typing import Any

from leet.model.json_text import dump
from leet.reading.logged_values import number_of, readable_name

Value = Any
"""int, float, bool, str, None, or a list of these; an object only where it is empty."""

_CONSTANTS: dict[bytes, Value] = {
    b"true": True,
    b"false": False,
    b"null": None,
    b"NaN": math.nan,
    b"Infinity": math.inf,
    b"-Infinity": -math.inf,
    b"-0": -0.0,  # how Go spells the negative zero
}


def value_of(encoded: bytes) -> Value:
    """The value of JSON text as W&B writes it; text that is no JSON is its own value.

    Raises UnicodeDecodeError for what is no UTF-8.
    """
    if encoded in _CONSTANTS:
        return _CONSTANTS[encoded]
    text = encoded.decode()
    try:
        return json.loads(text, parse_int=_integer)
    except (ValueError, RecursionError):
        number = number_of(text)
        return text if number is None or math.isinf(number) else number


def logged_leaves(items: Iterable[Any]) -> Iterator[tuple[str, Value, int]]:
    """(Name, value, bytes in the log) of each value among the items of one history record, objects taken apart."""
    for item in items:
        path = tuple(item.nested_key) or (item.key,)
        form = item.WhichOneof("value")
        if form is None or form == "json":
            encoded = (item.json if form else item.value_json).encode()
            if not encoded:
                continue
            value, size = value_of(encoded), len(encoded)
        else:
            value = None if form == "none" else getattr(item, form)
            size = len(item.text.encode()) if form == "text" else 8
        if isinstance(value, dict) and value:
            try:
                leaves = [(leaf, inner, len(_compact(inner))) for leaf, inner in _flatten(path, value)]
            except RecursionError:  # nested too deep: it is left as it stands, as by the viewer
                leaves = [(path, encoded.decode(), size)]
            for leaf, inner, length in leaves:
                yield readable_name(leaf), inner, length
        else:
            yield readable_name(path), value, size


def spell(value: Value) -> str:
    """A value as the text of a cell: numbers as Python spells them, `NaN`, `Infinity`, `true`, lists as short JSON."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if value is None:
        return ""
    return _compact(value)


def _compact(value: Value) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        text = dump(value)
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _flatten(path: tuple[str, ...], value: dict[str, Any]) -> Iterator[tuple[tuple[str, ...], Value]]:
    for key, inner in value.items():
        if isinstance(inner, dict) and inner:
            yield from _flatten((*path, key), inner)
        else:
            yield (*path, key), inner


def _integer(digits: str) -> int | float:
    return -0.0 if digits == "-0" else int(digits)
