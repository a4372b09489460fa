"""Python values → JSON text as W&B spells it: `NaN`, `Infinity` and `-Infinity` stand bare, text stays UTF-8.

Arrays and tensors of any library are taken by what they offer (`tolist`, `item`, `detach`, `isoformat`), so that
none has to be installed or imported here.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from json.encoder import encode_basestring
from typing import Any

_LONGEST_LIST = 32
"""Arrays of more numbers than this are logged as a histogram."""

_BINS = 32
_INT64 = range(-(1 << 63), 1 << 63)
_FLOAT_BITS = 1023


def dump(value: Any) -> str:
    """The JSON text of a value of history or of the summary.

    Integers beyond 64 bits become floats; arrays of more than 32 numbers become
    `{"_type": "histogram", "values": counts, "bins": edges}`; what JSON has no form for becomes its `str`.
    """
    spell = _SPELLINGS.get(type(value))
    if spell is not None:
        return spell(value)
    try:
        return _spell_other(value, dump)
    except RecursionError:  # deeper than the interpreter goes, or without end
        return _spell_str(_text(value))


def dump_config(value: Any) -> str:
    """The JSON text of a value of the config: NaN is `null`, integers keep all their digits, arrays all theirs.

    Integers beyond every float, which readers of JSON have no place for, become their hexadecimal text.
    """
    if isinstance(value, float) and value != value:
        return "null"
    if type(value) is int:
        return repr(value) if value.bit_length() <= _FLOAT_BITS else _spell_str(hex(value))
    spell = _PLAIN.get(type(value))
    if spell is not None:
        return spell(value)
    try:
        return _spell_other(value, dump_config)
    except RecursionError:
        return _spell_str(_text(value))


def _spell_float(value: float) -> str:
    if math.isfinite(value):
        return repr(value)
    return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"


def _spell_int(value: int) -> str:
    if value in _INT64:
        return repr(value)
    try:
        return _spell_float(float(value))
    except OverflowError:
        return "Infinity" if value > 0 else "-Infinity"


def _spell_str(value: str) -> str:
    return encode_basestring(value)


_PLAIN: dict[type, Callable[[Any], str]] = {
    float: _spell_float,
    str: _spell_str,
    bool: lambda value: "true" if value else "false",
    type(None): lambda value: "null",
}
_SPELLINGS: dict[type, Callable[[Any], str]] = {**_PLAIN, int: _spell_int}


def _spell_other(value: Any, spell: Callable[[Any], str]) -> str:
    """Everything that is no plain scalar; `spell` spells what is inside."""
    for kind in (float, bool, int, str):
        if isinstance(value, kind):  # a subclass: numpy's float64, an enum of integers or of text
            return spell(str.__str__(value) if kind is str else kind(value))
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{_spell_str(_key(k))}:{spell(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(spell, value)) + "]"
    if isinstance(value, (set, frozenset)):
        return "[" + ",".join(sorted(map(spell, value))) + "]"
    if isinstance(value, (bytes, bytearray)):
        return _spell_str(bytes(value).decode("utf-8", "replace"))
    if isinstance(value, complex):
        return _spell_str(str(value))
    if callable(getattr(value, "isoformat", None)):
        return _spell_str(str(value.isoformat()))
    return _spell_array(value, spell) or _spell_str(_text(value))


def _key(key: Any) -> str:
    return key if isinstance(key, str) else _text(key)


def _text(value: Any) -> str:
    """`str(value)`, or its type where even that fails: a log line must not end a training."""
    try:
        return str(value)
    except Exception as error:  # any class may define __str__ as it likes
        return f"<{type(value).__name__}: {type(error).__name__}>"


def _spell_array(value: Any, spell: Callable[[Any], str]) -> str | None:
    """Arrays, tensors and scalars of numpy, torch, jax and their kind; None when `value` is nothing of the sort."""
    try:
        detach = getattr(value, "detach", None)
        if callable(detach):
            value = detach().cpu()
        tolist = getattr(value, "tolist", None)
        if not callable(tolist):
            item = getattr(value, "item", None)  # TensorFlow's and mxnet's scalars
            if not callable(item):
                numpy = getattr(value, "numpy", None)
                return spell(numpy().tolist()) if callable(numpy) else None
            return spell(item())
        if spell is dump and _count(value) > _LONGEST_LIST:
            return dump(histogram(value)) if _is_numeric(value) else spell(tolist())
        plain = tolist()
        return spell(plain) if type(plain) is not type(value) else None
    except (
        Exception
    ) as error:  # a tensor on a lost device, a lazy array that fails: their library decides what it raises
        return _spell_str(f"<{type(value).__name__}: {error}>")


def _count(array: Any) -> int:
    shape = getattr(array, "shape", None)
    return math.prod(shape) if shape is not None else len(array)


def _is_numeric(array: Any) -> bool:
    return str(getattr(array, "dtype", "")).removeprefix("torch.").rstrip("0123456789") in (
        "int",
        "uint",
        "float",
        "bfloat",
        "bool",
    )


def histogram(array: Any, bins: int = _BINS) -> dict[str, Any]:
    """The finite numbers of an array counted in `bins` equal bins: `{"_type", "values" [bins], "bins" [bins + 1]}`."""
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        # numpy has no form of its own for the short floats of torch
        short = str(getattr(array, "dtype", "")).startswith(("torch.bfloat", "torch.float8"))
        flat = numpy.asarray(array.float() if short else array).reshape(-1).astype("float64")
        counts, edges = numpy.histogram(flat[numpy.isfinite(flat)], bins=bins)
        return {"_type": "histogram", "values": counts.tolist(), "bins": edges.tolist()}
    finite = [number for number in map(float, _flatten(array.tolist())) if math.isfinite(number)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
    if low == high:
        low, high = low - 0.5, high + 0.5
    counts = [0] * bins
    for number in finite:
        counts[min(int((number - low) / (high - low) * bins), bins - 1)] += 1
    return {"_type": "histogram", "values": counts, "bins": [low + (high - low) * i / bins for i in range(bins + 1)]}


def _flatten(value: Any) -> list[Any]:
    if not isinstance(value, list):
        return [value]
    return [leaf for one in value for leaf in _flatten(one)]
