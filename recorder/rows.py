"""A row of history on its way into the log: values by key, already encoded.

`log()` is waited for by the training loop, so a row of plain scalars is only copied there, and encoded on the thread
of the writer. An item of a history record and an item of a summary record have the same bytes,

    0A len │ 12 len "loss" │ 82 01 len "0.25"         item { nested_key: "loss", value_json: "0.25" }

so each value is encoded once and used for both. Items are kept as str with one character per byte (latin-1):
formatting those is what Python does fastest, and one `encode` per record makes them bytes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from recorder import limits, values
from recorder.notices import reason, warn_once
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

_OWN = frozenset(("", "_step", "_runtime", "_timestamp"))
"""Keys that a row treats in its own way."""

_LONGEST_NUMBER = 24  # -2.2250738585072014e-308
_NUMBERS = frozenset((float, int))
_SCALARS = frozenset((float, int, bool, str))
_BRIEF = frozenset((float, int, bool))
_INT64 = range(-(1 << 63), 1 << 63)

_prefixes: dict[Key, str] = {}
"""The bytes of an item from its key to the tag of its value, for every key that was logged."""


class _Plan:
    """What is known about the rows of one set of keys: the prefixes of the items, and how long they are."""

    __slots__ = ("branches", "own", "prefixes", "short", "sizes")

    def __init__(self, keys: tuple[Key, ...]) -> None:
        self.prefixes = [_prefixes.get(key) or _prefix(key) for key in keys]
        self.sizes = [len(prefix) + 1 for prefix in self.prefixes]
        self.short = max(self.sizes, default=0) + _LONGEST_NUMBER < 128
        """Whether the length of every item with a number fits into one byte."""
        self.own = not _OWN.isdisjoint(keys)
        self.branches = {key[:depth] for key in keys if type(key) is tuple for depth in range(1, len(key))}
        """The paths that keys of several levels lie below."""


_PLANS_KEPT = 256
_plans: dict[tuple[str, ...], _Plan] = {}
_plans_of_flat: dict[tuple[Key, ...], _Plan] = {}


class Row:
    """One row: its items by key, their plain values, and what sets some of them apart.

    A row that came in one piece and holds numbers, bools and strings only, in nested dicts or not, stays as it came,
    in `plan` and `data`, until somebody asks for its items one by one with `spread`.
    """

    __slots__ = ("branches", "data", "items", "media", "nested", "nones", "plan", "values")

    def __init__(self, media: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None) -> None:
        """`media` writes the media among values that are not plain, and puts objects in their place."""
        self.media = media
        self.plan: _Plan | None = None
        """How `data` is encoded, where it is all of the row."""
        self.data: dict[Key, Any] = {}
        self.items: dict[Key, str] = {}
        self.values: dict[Key, Any] = {}
        self.nested = False
        """Whether any key has more than one level."""
        self.branches: set[tuple[str, ...]] = set()
        """Paths that have, or had, keys below them."""
        self.nones: set[Key] = set()
        """Keys without a value (None): they stand in history and not in the summary."""

    def put(self, data: Mapping[str, Any]) -> None:
        """Adds what `log()` was given; later values of a key replace earlier ones.

        Raises TypeError for keys that are not strings, before anything was added.
        """
        plan = _plan(data)
        if self.plan is None and not self.items:
            if plan is not None:
                self.plan, self.data = plan, {}
                self.data.update(data)
                return
            flat = _flat(data)
            if flat:
                self.plan, self.data = _plan_of_flat(tuple(flat)), flat
                return
        self.spread()
        if plan is None or self.nested or self.nones:
            self._put_any(data)
        else:
            self.items.update(zip(data, _encode(plan, data), strict=True))
            self.values.update(data)

    def spread(self) -> None:
        """Fills `items` and `values`, where the row is still as it came."""
        if self.plan is not None:
            self.items = dict(zip(self.data, _encode(self.plan, self.data), strict=True))
            self.values = {}
            self.values.update(self.data)
            self.branches |= self.plan.branches
            self.nested = self.nested or bool(self.branches)
            self.plan = None

    def _put_any(self, data: Mapping[str, Any]) -> None:
        """The same for values of every kind."""
        if self.media is not None:
            data = self.media(data)
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
            self.branches.add(path[:depth])
        if path in self.branches:
            for other in [k for k in self.items if type(k) is tuple and k != key and k[: len(path)] == path]:
                self.drop(other)


_DEEPEST = 16
"""Levels of nested dicts that are looked through here; deeper ones are looked at value by value."""


def _flat(data: Mapping[str, Any]) -> dict[Key, Any] | None:
    """Plain scalars by key of nested dicts, and of scalars of numpy; None where there is anything else among them."""
    numpy = sys.modules.get("numpy")
    found: dict[Key, Any] = {}

    def walk(level: Mapping[str, Any], above: tuple[str, ...]) -> bool:
        for key, value in level.items():
            if type(key) is not str or (key in _OWN and not above):
                return False
            kind = type(value)
            if kind is dict:
                if len(above) >= _DEEPEST or not walk(value, (*above, key)):
                    return False
                continue
            if numpy is not None and isinstance(value, numpy.generic):
                value = value.item()
                kind = type(value)
            if kind not in _SCALARS:
                return False
            found[(*above, key) if above else key] = value
        return True

    return found if walk(data, ()) else None


def _plan_of_flat(keys: tuple[Key, ...]) -> _Plan:
    plan = _plans_of_flat.get(keys)
    if plan is None:
        if len(_plans_of_flat) >= _PLANS_KEPT:
            _plans_of_flat.clear()
        plan = _plans_of_flat[keys] = _Plan(keys)
    return plan


def _plan(data: Mapping[str, Any]) -> _Plan | None:
    """How a row of plain scalars is encoded; None for a row that needs to be looked at value by value.

    Nearly every row of a training comes here, so the work is left to functions that loop in C.
    """
    keys = tuple(data)
    plan = _plans.get(keys)
    if plan is None:
        for key in keys:
            if not isinstance(key, str):
                raise TypeError(f"the keys of what is logged must be strings, not {key!r:.80}")
        if len(_plans) >= _PLANS_KEPT:
            _plans.clear()
        plan = _plans[keys] = _Plan(keys)
    return plan if not plan.own and _SCALARS.issuperset(map(type, data.values())) else None


def _encode(plan: _Plan, data: Mapping[Any, Any]) -> list[str]:
    """The items of a row of plain scalars, all at once."""
    values = data.values()
    kinds = set(map(type, values))
    if not _NUMBERS.issuperset(kinds) or (
        int in kinds and not all(value in _INT64 for value in values if type(value) is int)
    ):
        return [_item(prefix, _latin(dump(value))) for prefix, value in zip(plan.prefixes, values, strict=True)]
    texts = list(map(repr, values))
    if float in kinds and "n" in "".join(texts):
        texts = [_NONFINITE.get(text, text) for text in texts]
    if not plan.short:
        return [_item(prefix, text) for prefix, text in zip(plan.prefixes, texts, strict=True)]
    byte = _BYTE
    return [
        f"\n{byte[size + len(text)]}{prefix}{byte[len(text)]}{text}"
        for prefix, size, text in zip(plan.prefixes, plan.sizes, texts, strict=True)
    ]


def size_of(data: Mapping[Any, Any]) -> int:
    """About how many bytes the records of plain scalars will have. Part of every `log()`: it has to be quick."""
    size = 128 * (len(data) + 3)
    values = data.values()
    if not _BRIEF.issuperset(map(type, values)):
        size += 2 * sum(len(value) for value in values if type(value) is str)
    return size


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


def own_items(runtime: float, moment: float, step: int) -> list[str]:
    """The items that every row has: seconds since the beginning, Unix seconds, the step."""
    texts = repr(runtime), repr(moment), str(step)
    byte = _BYTE
    return [
        f"\n{byte[len(prefix) + 1 + len(text)]}{prefix}{byte[len(text)]}{text}"
        for prefix, text in zip(_OWN_PREFIXES, texts, strict=True)
    ]


def plain_records(
    plan: _Plan, data: Mapping[Key, Any], runtime: float, moment: float, step: int
) -> tuple[bytes, bytes]:
    """Summary and history `Record` of a row of plain scalars."""
    items = _encode(plan, data)
    items += own_items(runtime, moment, step)
    body = "".join(items).encode("latin-1")
    number = _STEP_NUM + varint(step) if step else b""
    summary = _SUMMARY + varint(len(body)) + body
    if len(body) > limits.VALUE:
        limits.look_at_row(zip(data, map(len, items), strict=False), len(body))
    tail = _STEP + varint(len(number)) + number
    return summary, _HISTORY + varint(len(body) + len(tail)) + body + tail


def _plain(key: str, value: Any) -> Any:
    try:
        return values.history_value(value)
    except Exception as error:  # foreign objects raise anything; the row keeps its other values
        warn_once(f"{key!r} is stored as text: {reason(error)}", f"value {key}")
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
    if len(_prefixes) >= _KEYS_KEPT:
        _prefixes.clear()
    names = [_latin(part) for part in parts]
    prefix = "".join(f"\x12{_length(len(name))}{name}" for name in names) + "\x82\x01"
    _prefixes[key] = prefix
    if len(_prefixes) == limits.METRICS:
        limits.too_many_metrics()
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


_OWN_PREFIXES = [_prefix(key) for key in ("_runtime", "_timestamp", "_step")]
