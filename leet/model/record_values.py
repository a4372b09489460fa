"""Records as plain values: items of configs and summaries, and whole messages as dicts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # its module loads numpy
    from leet.reading.batch import KeyPath


def path_of(item: Any) -> KeyPath:
    """Path of a config or summary item: `nested_key` wins over `key`."""
    return tuple(item.nested_key) or (item.key,)


def loads(text: str) -> Any:
    """A JSON value as the SDK spells it, with bare NaN and Infinity; text that is no JSON stays text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def fields_of(message: Any) -> dict[str, Any]:
    """The fields of a message that are set, as plain values; `_info` and the writer's id left out."""
    found: dict[str, Any] = {}
    for descriptor, value in message.ListFields():
        if descriptor.name in ("_info", "writer_id"):
            continue
        found[descriptor.name] = _plain(descriptor, value)
    return found


def _plain(descriptor: Any, value: Any) -> Any:
    if descriptor.message_type is None:
        return list(value) if hasattr(value, "append") else value
    if descriptor.message_type.GetOptions().map_entry:
        return {key: fields_of(item) if hasattr(item, "ListFields") else item for key, item in value.items()}
    if hasattr(value, "append") or hasattr(value, "add"):
        return [fields_of(item) for item in value]
    if descriptor.message_type.name == "Timestamp":
        return value.seconds + value.nanos / 1e9
    return fields_of(value)
