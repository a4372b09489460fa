"""Values that stay in the log until somebody looks at them: pictures, tables, histograms and the like.

A `TypedPlace` says where the record of one begins. It is read again from there, through the same blocks, and its
leaves are put together to the object that was logged:

    img._type = "image-file", img.path = "media/…"   ─►   {"_type": "image-file", "path": "media/…"}
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any

from google.protobuf.message import DecodeError

from leet.reading import records
from leet.reading.batch import KeyPath
from leet.reading.blocks import BlockReader, RawRecord
from leet.reading.logged_values import TYPE_KEY, readable_name

LARGEST = 64 * 1024 * 1024
"""Bytes of a record beyond which it is not read again."""
_PIECE = 64 * 1024


class ValueGone(Exception):  # noqa: N818 — named for what has happened
    """The value cannot be read from the log any more; the message is one line for people."""


def read_value(log: str | os.PathLike[str], offset: int, name: str) -> dict[str, Any]:
    """The value with the dotted key `name` of the history record that begins at `offset`. Raises ValueGone."""
    try:
        record = records.parse(_record_at(log, offset))
    except OSError as error:
        raise ValueGone(f"the log cannot be read: {error.strerror or error}") from error
    except DecodeError as error:
        raise ValueGone("its record in the log is damaged") from error
    if records.kind(record) != "history":
        raise ValueGone("the log has been replaced")
    found = _named(_tree(record.history.item), (), name)
    if found is None:
        raise ValueGone("the log has been replaced")
    return found


def _tree(items: Iterable[Any]) -> dict[str, Any]:
    """All values of a record as one object; of two under one path the last counts."""
    tree: dict[str, Any] = {}
    for item in items:
        path: KeyPath = tuple(item.nested_key) or (item.key,)
        node = tree
        for part in path[:-1]:
            inner = node.get(part)
            if not isinstance(inner, dict):
                inner = node[part] = {}
            node = inner
        value = _logged(item)
        old = node.get(path[-1])
        node[path[-1]] = {**old, **value} if isinstance(old, dict) and isinstance(value, dict) else value
    return tree


def _logged(item: Any) -> Any:
    """The value of an item as Python has it; its text where that is no JSON."""
    form = item.WhichOneof("value")
    if form == "none":
        return None
    if form is not None and form != "json":
        return getattr(item, form)
    text = item.json if form else item.value_json
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _named(node: dict[str, Any], path: KeyPath, name: str) -> dict[str, Any] | None:
    """The typed object under the dotted key `name`."""
    if path and TYPE_KEY in node:
        return node if readable_name(path) == name else None
    for key, inner in node.items():
        if isinstance(inner, dict):
            found = _named(inner, (*path, key), name)
            if found is not None:
                return found
    return None


def _record_at(log: str | os.PathLike[str], offset: int) -> bytes:
    """The bytes of the record whose first chunk is at `offset`."""
    reader = BlockReader()
    reader.resume(offset, 0)
    with open(log, "rb", buffering=0) as file:
        file.seek(offset)
        while reader.next_offset - offset < LARGEST and (data := file.read(_PIECE)):
            outcomes = reader.feed(data)
            if outcomes:
                first = outcomes[0]
                if isinstance(first, RawRecord) and first.offset == offset:
                    return first.payload
                break
    raise ValueGone("its record in the log is damaged")
