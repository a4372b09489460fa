"""Values → JSON text, spelt as `wandb leet inspect --json` spells it and harmless on a terminal.

Keys are sorted. Numbers are spelt as Go and JavaScript do (`1`, `1e+22`, `0.00001`), integers beyond 64 bits as
floats; NaN and the infinities, which JSON lacks, are the texts `"NaN"`, `"Infinity"`, `"-Infinity"`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from json.encoder import encode_basestring
from typing import Any

from leet.model.safe_text import UNSAFE

_INT64 = range(-(1 << 63), 1 << 63)
_LARGEST_PLAIN = 21
_SMALLEST_PLAIN = -6
_NOT_ASCII = re.compile("[^\x00-\x7f]+")
_decode = json.JSONDecoder().raw_decode
"""Like `json.loads` where no blanks surround the text, in half the time."""
_SURROGATES = re.compile("[\ud800-\udfff]")


def dump(value: Any, indent: str = "") -> str:
    """`value` as JSON text: on one line without blanks, or with one line per value, each level `indent` deeper."""
    if (text := _leaf(value)) is not None:
        return text
    # A stack of its own, for values of a log may be nested more deeply than Python can call.
    pieces: list[str] = []
    levels: list[tuple[Iterator[tuple[str, Any]], str]] = []
    newline, colon = ("\n", ": ") if indent else ("", ":")
    key, before = "", ""
    while True:
        pieces += (before, key)
        if (text := _leaf(value)) is not None:
            pieces.append(text)
        elif not value:
            pieces.append("{}" if isinstance(value, Mapping) else "[]")
        else:
            opening, closing = "{}" if isinstance(value, Mapping) else "[]"
            newline += indent
            levels.append((_entries(value, colon), closing))
            pieces.append(opening)
            key, value = next(levels[-1][0])
            before = newline
            continue
        while levels:
            if (entry := next(levels[-1][0], None)) is not None:
                key, value = entry
                before = "," + newline
                break
            newline = newline[: len(newline) - len(indent)]
            pieces += (newline, levels.pop()[1])
        else:
            return "".join(pieces)


def load(text: str) -> Any:
    """The value of JSON text as W&B writes it, with bare NaN and infinities; text that is no JSON is its own value."""
    try:
        value, end = _decode(text)
        return value if end == len(text) else json.loads(text)
    except (ValueError, RecursionError):
        return text


def escaped(text: str) -> str:
    """JSON text in ASCII alone; what is not stands in strings, so an escape can take its place."""
    return _NOT_ASCII.sub(lambda match: json.dumps(match[0])[1:-1], text)


def _leaf(value: Any) -> str | None:
    """The text of a value that holds no others; None for the rest."""
    kind = type(value)
    if kind is str:
        return _string(value)
    if kind is float:
        return number(value) if math.isfinite(value) else f'"{number(value)}"'
    if kind is int:
        return number(value)
    if kind is bool or value is None:
        return "null" if value is None else "true" if value else "false"
    return None


def _entries(value: Any, colon: str) -> Iterator[tuple[str, Any]]:
    """What an object or a list holds, each with what is written before it."""
    if isinstance(value, Mapping):
        return ((_string(key) + colon, value[key]) for key in sorted(value))
    return (("", one) for one in value)


def number(value: float) -> str:
    """A number in the spelling of Go and JavaScript; `NaN`, `Infinity`, `-Infinity` for what JSON lacks."""
    if isinstance(value, int):
        if value in _INT64:
            return repr(value)
        try:
            value = float(value)
        except OverflowError:
            value = math.inf if value > 0 else -math.inf
    if not math.isfinite(value):
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    text = repr(value)
    if "e" not in text:
        return text.removesuffix(".0")
    mantissa, _, exponent_text = text.partition("e")
    sign = "-" if mantissa[0] == "-" else ""
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    digits, exponent = whole + fraction, int(exponent_text)
    if 0 <= exponent < _LARGEST_PLAIN:
        return sign + digits.ljust(exponent + 1, "0")
    if _SMALLEST_PLAIN <= exponent < 0:
        return f"{sign}0.{'0' * (-exponent - 1)}{digits}"
    return f"{mantissa}e{'+' if exponent > 0 else ''}{exponent}"


def _string(text: str) -> str:
    quoted: str = encode_basestring(text)
    if quoted.isascii() and "\x7f" not in quoted:
        return quoted
    return UNSAFE.sub(_escape, _SURROGATES.sub("\N{REPLACEMENT CHARACTER}", quoted))


def _escape(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1] if match[0] != "\x7f" else "\\u007f"
