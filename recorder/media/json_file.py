"""JSON in files of media: compact, as the SDK writes them, with every array in full."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recorder import values
from recorder.media.content import Content
from recorder.transaction_log import json_values


def json_content(value: Any, extension: str) -> Content:
    """A file of JSON. NaN and infinities stand bare, as everywhere in the SDK's files."""
    return Content(json_values.dump(plain(value)).encode("utf-8", "replace"), extension=extension)


def plain(value: Any) -> Any:
    """Plain data, arrays as lists however long they are, and what JSON has no form for as its text."""
    if isinstance(value, bool | int | float | str | None):
        return value
    if isinstance(value, Mapping):
        return {str(plain(key)): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset | range):
        return [plain(item) for item in value]
    if hasattr(value, "detach"):
        value = value.detach().cpu()
    if hasattr(value, "tolist") and not str(getattr(value, "dtype", "")).startswith("datetime64"):
        return plain(value.tolist())
    try:
        return values.history_value(value)
    except values.UnknownValueError:
        return str(value)
