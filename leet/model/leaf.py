"""Leaves of configs and summaries: JSON values, and how they are shown in one line."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from leet.model.json_text import load
from leet.model.safe_text import clean
from leet.model.units import counted
from leet.reading.unparsed import Json

_LONGEST = 500
"""Characters of a value that are shown in a row."""
_DEEPEST = 64


TYPE_KEY = "_type"
"""What an object has that is a picture, a histogram, a table, …: it is shown in one line."""


def parsed(value: Any) -> Any:
    """A leaf as a value: JSON text parsed (also `NaN` and `Infinity`), text that is no JSON as it is."""
    if not isinstance(value, Json):
        return value
    found = load(value)
    return str(value) if found is value else found


COMPOUND = ("{", "[")
"""What the JSON text of an object or a list begins with."""


def is_compound(value: Any) -> bool:
    """Whether a leaf is an object or a list, parsed or not."""
    return value[:1] in COMPOUND if isinstance(value, Json) else isinstance(value, (dict, list))


def flat(key: str, value: Any, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """The rows of a leaf: dotted keys and values. What lies very deep is one row."""
    value = parsed(value)
    if depth >= _DEEPEST:
        yield key, value
    elif isinstance(value, dict) and value and not _is_media(value):
        for name, below in value.items():
            yield from flat(f"{key}.{clean(name)}", below, depth + 1)
    elif isinstance(value, list) and any(isinstance(item, (dict, list)) for item in value):
        for i, item in enumerate(value):
            yield from flat(f"{key}[{i}]", item, depth + 1)
    else:
        yield key, value


def _is_media(value: Mapping[str, Any]) -> bool:
    return isinstance(value.get(TYPE_KEY), str)


def display(value: Any) -> str:
    """A value in one short line, safe to print."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            # Beyond 4300 digits Python refuses to spell an integer.
            return str(value) if value.bit_length() < 512 else f"{value:#x}"[:_LONGEST]
        case float():
            return _number(value)
        case str():
            return _short(value)
        case dict() if _is_media(value):
            return _media(value)
        case dict() | list():
            if isinstance(value, list) and len(value) > _LONGEST:
                value = value[:_LONGEST]
            return _short(json_text(value))
    return _short(str(value))


def json_text(value: Any, indent: int | None = None) -> str:
    """A value as JSON; one that is nested too deeply to be spelled is an ellipsis."""
    try:
        return json.dumps(value, indent=indent, ensure_ascii=False)
    except RecursionError:
        return "…"


def _number(value: float) -> str:
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.6g}"


def _short(text: str) -> str:
    text = clean(text)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _media(value: Mapping[str, Any]) -> str:
    """A media value or histogram: its type and what tells it from others, never its data."""
    kind = value[TYPE_KEY]
    facts = []
    if isinstance(value.get("bins"), list):
        bins = value["bins"]
        facts.append(f"{max(0, len(bins) - 1)} bins")
        ends = [edge for edge in (bins[:1] + bins[-1:]) if isinstance(edge, (int, float))]
        if len(ends) == 2:
            facts.append(f"{display(ends[0])} … {display(ends[1])}")
    elif "packedBins" in value:
        facts.append("packed bins")
    if isinstance(value.get("filenames"), list):
        facts.append(counted(len(value["filenames"]), "file"))
    if "width" in value and "height" in value:
        facts.append(f"{display(value['width'])}×{display(value['height'])}")
    if "nrows" in value or "ncols" in value:
        facts.append(f"{display(value.get('nrows', '?'))}×{display(value.get('ncols', '?'))} cells")
    if isinstance(value.get("path"), str):
        facts.append(value["path"])
    return _short(" · ".join([kind, *facts]))
