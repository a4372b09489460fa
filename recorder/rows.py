"""A row of history on its way into the log: values by key, already encoded.

`log()` is waited for by the training loop, so a row is encoded as it comes, without a generic encoder. An item of a
history record and an item of a summary record have the same bytes,

    0A len │ 12 len "loss" │ 82 01 len "0.25"         item { nested_key: "loss", value_json: "0.25" }

so each value is encoded once and used for both. Items are kept as str with one character per byte (latin-1):
formatting those is what Python does fastest, and one `encode` per record makes them bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from recorder import values
from recorder.notices import warn_once
from recorder.transaction_log.json_values import dump
from recorder.transaction_log.wire import varint

Key = str | tuple[str, ...]
"""A key of one level is its str, a deeper one the tuple of its parts (at least two)."""

_BYTE = [chr(i) for i in range(128)]
_NONFINITE = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
_KEYS_KEPT = 1 << 17

_HISTORY, _SUMMARY = varint(2 << 3 | 2), varint(3 << 3 | 2)  # fields of Record
_STEP = varint(2 << 3 | 2)  # HistoryRecord.step
_STEP_NUM = varint(1 << 3)  # HistoryStep.num

_prefixes: dict[Key, str] = {}
"""The bytes of an item from its key to the tag of its value, for every key that was logged."""


class Row:
    """One row: its items by key, their plain values, and what sets some of them apart."""

    __slots__ = ("items", "nested", "nones", "values")

    def __init__(self) -> None:
        self.items: dict[Key, str] = {}
        self.values: dict[Key, Any] = {}
        self.nested = False
        """Whether any key has more than one level."""
        self.nones: set[Key] = set()
        """Keys without a value (None): they stand in history and not in the summary."""

    def put(self, data: Mapping[str, Any]) -> None:
        """Adds what `log()` was given; later values of a key replace earlier ones.

        Raises TypeError for keys that are not strings, before anything was added.
        """
        items: dict[Key, str] = {}
        prefixes = _prefixes
        for key, value in data.items():
            kind = type(value)
            if kind is float:
                text = repr(value)
                if text[-1] > "9":
                    text = _NONFINITE[text]
            elif kind is int and -0x7FFFFFFF < value < 0x7FFFFFFF:
                text = str(value)
            elif kind is bool:
                text = "true" if value else "false"
            else:
                self._put_any(data)
                return
            prefix = prefixes.get(key)
            if prefix is None:
                prefix = _prefix(key)
            size = len(text)
            total = len(prefix) + size + 1
            if total < 128:
                items[key] = f"\n{_BYTE[total]}{prefix}{_BYTE[size]}{text}"
            else:
                items[key] = _item(prefix, text)
        if self.nested or self.nones or "" in items:
            self._put_any(data)
            return
        self.items.update(items)
        self.values.update(data)

    def _put_any(self, data: Mapping[str, Any]) -> None:
        """The same for values of every kind."""
        for key in data:
            if not isinstance(key, str):
                raise TypeError("the keys of what is logged must be strings")
        for key, value in data.items():
            if key:
                for path, leaf in values.leaves(_plain(key, value), (str(key),)):
                    self.set(path[0] if len(path) == 1 else path, leaf)

    def set(self, key: Key, plain: Any) -> None:
        """Sets one plain value. A value above or below it in a tree of nested keys gives way."""
        if self.nested or type(key) is tuple:
            self._make_way(key)
        self.items[key] = encode_item(key, dump(plain))
        self.values[key] = plain
        if plain is None:
            self.nones.add(key)
        elif self.nones:
            self.nones.discard(key)

    def drop(self, key: Key) -> None:
        """Takes a value out of the row, if it is there."""
        if self.items.pop(key, None) is not None:
            del self.values[key]
            self.nones.discard(key)

    def _make_way(self, key: Key) -> None:
        path = (key,) if isinstance(key, str) else key
        self.nested = self.nested or len(path) > 1
        for depth in range(1, len(path)):
            self.drop(path[0] if depth == 1 else path[:depth])
        for other in [k for k in self.items if type(k) is tuple and k != key and k[: len(path)] == path]:
            self.drop(other)


def encode_item(key: Key, text: str) -> str:
    """The bytes of one item, as latin-1."""
    return _item(_prefixes.get(key) or _prefix(key), _latin(text))


def history_record(items: Iterable[str], step: int) -> bytes:
    """A history `Record` (without its number) of encoded items."""
    number = _STEP_NUM + varint(step) if step else b""
    body = "".join(items).encode("latin-1") + _STEP + varint(len(number)) + number
    return _HISTORY + varint(len(body)) + body


def summary_record(items: Iterable[str]) -> bytes:
    """A summary `Record` (without its number) that sets encoded items."""
    body = "".join(items).encode("latin-1")
    return _SUMMARY + varint(len(body)) + body


def row_records(items: Iterable[str], step: int) -> tuple[bytes, bytes]:
    """Summary and history `Record` of a row whose items all go into both."""
    body = "".join(items).encode("latin-1")
    number = _STEP_NUM + varint(step) if step else b""
    summary = _SUMMARY + varint(len(body)) + body
    tail = _STEP + varint(len(number)) + number
    return summary, _HISTORY + varint(len(body) + len(tail)) + body + tail


def _plain(key: str, value: Any) -> Any:
    try:
        return values.history_value(value)
    except Exception as error:  # foreign objects raise anything; the row keeps its other values
        warn_once(f"{key!r} is stored as text: {error or type(error).__name__}", f"value {key}")
        try:
            return str(value)
        except Exception:  # said just above
            return f"<{type(value).__qualname__}>"


def _item(prefix: str, text: str) -> str:
    length = _length(len(text))
    return f"\n{_length(len(prefix) + len(length) + len(text))}{prefix}{length}{text}"


def _length(size: int) -> str:
    return _BYTE[size] if size < 128 else varint(size).decode("latin-1")


def _prefix(key: Key) -> str:
    parts = (key,) if isinstance(key, str) else key
    if not all(isinstance(part, str) for part in parts):
        raise TypeError("the keys of what is logged must be strings")
    if len(_prefixes) >= _KEYS_KEPT:
        _prefixes.clear()
    names = [_latin(part) for part in parts]
    prefix = "".join(f"\x12{_length(len(name))}{name}" for name in names) + "\x82\x01"
    _prefixes[key] = prefix
    return prefix


def _latin(text: str) -> str:
    """UTF-8 with one character per byte. What has no UTF-8 (half a surrogate pair) becomes U+FFFD."""
    if text.isascii():
        return text
    try:
        return text.encode().decode("latin-1")
    except UnicodeEncodeError:
        clean = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return clean.encode().decode("latin-1")
