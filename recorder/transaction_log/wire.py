"""Records → bytes: the protobuf wire format, written straight from the table in `schema`.

Nothing here needs a protobuf package, so that a training script may pin any version of it, or none.

A field on the wire is a tag, which is the varint `number << 3 | type`, followed by its value: a varint (type 0),
eight bytes little-endian (type 1), or a varint length and so many bytes (type 2: strings, sub-messages, maps).
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from recorder.transaction_log import schema

KeyPath = Sequence[str]
"""Path of a value in history or summary: `("val", "loss")`."""

_MASK = (1 << 64) - 1
_BYTE = [bytes((i,)) for i in range(256)]
_double = struct.Struct("<d").pack

Put = Callable[[list[bytes], Any], None]
"""Appends one field (tag and value) to the pieces of its message."""


def varint(value: int) -> bytes:
    """A non-negative integer below 2**64 in groups of seven bits, the lowest first.

    Raises ValueError for any other number: there is no room for it, and what follows would be read wrongly.
    """
    if 0 <= value < 0x80:
        return _BYTE[value]
    if not 0 <= value <= _MASK:
        raise ValueError("a number beyond 64 bits does not fit in a varint")
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def encode(message: str, value: Mapping[str, Any]) -> bytes:
    """The bytes of `message` (a name of the table) with the fields of `value`.

    Repeated fields take sequences, maps and sub-messages take mappings (`{}` is written as present but empty),
    enums take numbers or names. None leaves a field out, and so does the default of a field without presence.

    Raises KeyError for a field that the table does not know, TypeError or ValueError for a value of another kind.
    """
    fields = _fields(message)
    pieces: list[bytes] = []
    for name, content in value.items():
        if content is not None:
            fields[name](pieces, content)
    return b"".join(pieces)


def timestamp(seconds: float) -> dict[str, int]:
    """Unix seconds as the value of a `Timestamp` field, to the microsecond."""
    micros = round(seconds * 1e6)
    whole, rest = divmod(micros, 1_000_000)
    return {"seconds": whole, "nanos": rest * 1000}


@cache
def _fields(message: str) -> dict[str, Put]:
    return {field.name: _field(field) for field in schema.messages()[message]}


def _field(field: schema.Field) -> Put:
    if field.map_key is not None:
        return _map_field(field)
    put = _single(field)
    if not field.repeated:
        return put

    def put_all(pieces: list[bytes], content: Any) -> None:
        for one in content:
            put(pieces, one)

    return put_all


def _map_field(field: schema.Field) -> Put:
    tag = varint(field.number << 3 | 2)
    put_key = _single(schema.Field(1, "key", field.map_key or "string"))
    put_value = _single(schema.Field(2, "value", field.kind))

    def put(pieces: list[bytes], content: Any) -> None:
        for key, value in content.items():
            entry: list[bytes] = []
            put_key(entry, key)
            put_value(entry, value)
            body = b"".join(entry)
            pieces += (tag, varint(len(body)), body)

    return put


def _single(field: schema.Field) -> Put:
    """How one value of a field is put; a default is left out unless the field can tell absent from default."""
    kind = field.kind
    keeps_default = field.optional or field.oneof is not None or field.repeated
    if kind in schema.messages():
        return _message_field(field.number, kind)
    if kind in ("string", "bytes"):
        return _text_field(field.number, keeps_default)
    if kind == "double":
        return _double_field(field.number, keeps_default)
    return _varint_field(field.number, _to_varint(kind), keeps_default)


def _message_field(number: int, kind: str) -> Put:
    tag = varint(number << 3 | 2)

    def put(pieces: list[bytes], content: Any) -> None:
        body = encode(kind, content)
        pieces += (tag, varint(len(body)), body)

    return put


def _text_field(number: int, keeps_default: bool) -> Put:
    tag = varint(number << 3 | 2)

    def put(pieces: list[bytes], content: Any) -> None:
        # A lone surrogate has no UTF-8, and readers drop the whole record for one invalid byte.
        if isinstance(content, str):
            body = content.encode("utf-8", "replace")
        elif isinstance(content, (bytes, bytearray, memoryview)):
            body = bytes(content)
        else:
            raise TypeError(f"a {type(content).__name__} is no text")
        if body or keeps_default:
            pieces += (tag, varint(len(body)), body)

    return put


def _double_field(number: int, keeps_default: bool) -> Put:
    tag = varint(number << 3 | 1)

    def put(pieces: list[bytes], content: Any) -> None:
        number = float(content)
        if number or math.copysign(1.0, number) < 0 or keeps_default:
            pieces += (tag, _double(number))

    return put


def _varint_field(number: int, convert: Callable[[Any], int], keeps_default: bool) -> Put:
    tag = varint(number << 3)

    def put(pieces: list[bytes], content: Any) -> None:
        value = convert(content)
        if value or keeps_default:
            pieces += (tag, varint(value))

    return put


_RANGES = {
    "int32": (-(1 << 31), (1 << 31) - 1),
    "int64": (-(1 << 63), (1 << 63) - 1),
    "sint64": (-(1 << 63), (1 << 63) - 1),
    "uint32": (0, (1 << 32) - 1),
    "uint64": (0, _MASK),
}


def _to_varint(kind: str) -> Callable[[Any], int]:
    if kind == "bool":
        return lambda value: int(bool(value))
    if kind in schema.ENUMS:
        names = schema.ENUMS[kind]
        plain = _to_varint("int32")
        return lambda value: names[value] if isinstance(value, str) else plain(value)
    low, high = _RANGES[kind]

    def convert(value: Any) -> int:
        number = int(value)
        if not low <= number <= high:
            raise ValueError(f"a number of {number.bit_length()} bits does not fit in {kind}")
        if kind == "sint64":
            return (number << 1) ^ (number >> 63)
        return number & _MASK

    return convert


# History and summary records are nearly all of a log, and `log()` waits for them, so they have a path of their own.

_KEY, _NESTED_KEY, _VALUE = varint(1 << 3 | 2), varint(2 << 3 | 2), varint(16 << 3 | 2)
_HISTORY, _SUMMARY = varint(2 << 3 | 2), varint(3 << 3 | 2)
_ITEM, _REMOVE = varint(1 << 3 | 2), varint(2 << 3 | 2)
_STEP = varint(2 << 3 | 2)
_STEP_NUM = varint(1 << 3)

_KEYS_KEPT = 1 << 17
_keys: dict[KeyPath, bytes] = {}


def history_record(items: Iterable[tuple[KeyPath, str]], step: int | None) -> bytes:
    """A `Record` holding one row of history: each value is JSON text under its path. No step in shared mode."""
    body = _items(items, _ITEM)
    if step is not None:
        number = _STEP_NUM + varint(_step(step)) if step else b""
        body += _STEP + varint(len(number)) + number
    return _HISTORY + varint(len(body)) + body


_step = _to_varint("int64")


def summary_record(items: Iterable[tuple[KeyPath, str]], removed: Iterable[KeyPath] = ()) -> bytes:
    """A `Record` that sets values of the summary, each JSON text under its path, and removes others."""
    body = _items(items, _ITEM)
    for path in removed:
        key = _path(path)
        body += _REMOVE + varint(len(key)) + key
    return _SUMMARY + varint(len(body)) + body


def _items(items: Iterable[tuple[KeyPath, str]], tag: bytes) -> bytes:
    pieces: list[bytes] = []
    add = pieces.append
    known = _keys
    for path, text in items:
        key = known.get(path) or _path(path)
        value = text.encode("utf-8", "replace")
        size = len(value)
        length = _BYTE[size] if size < 0x80 else varint(size)
        size += len(key) + 2 + len(length)
        add(tag)
        add(_BYTE[size] if size < 0x80 else varint(size))
        add(key)
        add(_VALUE)
        add(length)
        add(value)
    return b"".join(pieces)


def _path(path: KeyPath) -> bytes:
    """The key fields of one item; kept, because every row names the same ones."""
    if len(_keys) >= _KEYS_KEPT:
        _keys.clear()
    parts = [part.encode("utf-8", "replace") for part in path]
    encoded = b"".join(_NESTED_KEY + varint(len(part)) + part for part in parts)
    _keys[path] = encoded
    return encoded
