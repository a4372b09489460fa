"""Config and summary: nested values that are changed leaf by leaf, and their flat list for people."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from leet.model.natural import natural_key
from leet.model.safe_text import clean

if TYPE_CHECKING:  # its module loads numpy, which a tree has no use for
    from leet.reading.batch import KeyPath

_LONGEST = 500
"""Characters of a value in the flat list."""


class Json(str):
    """JSON text that has not been parsed yet: a leaf of a summary, which is parsed only when somebody looks."""

    __slots__ = ()


class Tree:
    """Nested values under paths. A leaf is any JSON value, also an object that was set as a whole.

    Rules as in the SDK's core: `assign` puts a leaf (summaries), discarding a leaf or a subtree that is in the way;
    `merge` lets an object value update the old tree leaf by leaf, so that old keys stay (configs).
    """

    def __init__(self) -> None:
        self._root: dict[str, Any] = {}
        self._rows: list[tuple[str, str]] | None = None
        self.version = 0

    def __bool__(self) -> bool:
        return bool(self._root)

    def clear(self) -> None:
        """Forget everything."""
        self._root.clear()
        self._touch()

    def _touch(self) -> None:
        self._rows = None
        self.version += 1

    def assign(self, path: KeyPath, value: Any) -> None:
        """Set the leaf at `path` (JSON text as `Json`, or a value)."""
        if not path:
            return
        node = self._root
        for key in path[:-1]:
            below = node.get(key)
            if not isinstance(below, _Branch):
                below = node[key] = _Branch()
            node = below
        node[path[-1]] = value
        self._touch()

    def merge(self, path: KeyPath, value: Any) -> None:
        """Set `path`; an object updates what is there leaf by leaf, anything else replaces it."""
        if not isinstance(value, dict) or (not value and not self._has_branch(path)):
            self.assign(path, value)
            return
        for key, below in value.items():
            self.merge((*path, key), below)

    def _has_branch(self, path: KeyPath) -> bool:
        node: Any = self._root
        for key in path:
            node = node.get(key)
            if not isinstance(node, _Branch):
                return False
        return True

    def remove(self, path: KeyPath) -> None:
        """Remove a leaf or a subtree; branches that are left empty go as well."""
        nodes = [self._root]
        for key in path[:-1]:
            below = nodes[-1].get(key)
            if not isinstance(below, _Branch):
                return
            nodes.append(below)
        if not path or path[-1] not in nodes[-1]:
            return
        del nodes[-1][path[-1]]
        for depth in range(len(path) - 1, 0, -1):
            if nodes[depth]:
                break
            del nodes[depth - 1][path[depth - 1]]
        self._touch()

    def get(self, *path: str) -> Any:
        """The value at a path (a dict for a subtree), parsed; None where there is none."""
        node: Any = self._root
        for i, key in enumerate(path):
            if not isinstance(node, _Branch) and i:
                # Inside a leaf that is an object.
                node = parsed(node)
            if not isinstance(node, dict) or key not in node:
                return None
            node = node[key]
        return _plain(node)

    def to_dict(self) -> dict[str, Any]:
        """Everything as nested dicts and parsed values."""
        return {key: _plain(value) for key, value in self._root.items()}

    def rows(self) -> list[tuple[str, str]]:
        """(dotted key, display text) of every leaf in natural order; the same list until something changes.

        Objects and lists of objects are flattened with dots and `[i]`; media and histograms are one line each;
        keys whose first part begins with `_` are internal and left out. All of it is safe to print.
        """
        if self._rows is None:
            rows = [
                row
                for key, value in self._root.items()
                if not key.startswith("_")
                for row in self._flat(clean(key), value)
            ]
            rows.sort(key=lambda row: (natural_key(row[0]), row[0]))
            self._rows = rows
        return self._rows

    def text(self, key: str, value: Any) -> str:
        """How the value of a row is shown: one line, safe to print."""
        return display(value)

    def _flat(self, key: str, value: Any) -> Iterator[tuple[str, str]]:
        value = parsed(value)
        if isinstance(value, dict) and value and not _is_media(value):
            for name, below in value.items():
                yield from self._flat(f"{key}.{clean(name)}", below)
        elif isinstance(value, list) and any(isinstance(item, (dict, list)) for item in value):
            for i, item in enumerate(value):
                yield from self._flat(f"{key}[{i}]", item)
        else:
            yield key, self.text(key, value)

    def __len__(self) -> int:
        return len(self.rows())

    def full(self, dotted: str) -> str:
        """The whole value of a row as indented JSON, safe to print; empty when there is no such row."""
        for key, value in self._root.items():
            if dotted == clean(key) or dotted.startswith((clean(key) + ".", clean(key) + "[")):
                found = _find(clean(key), value, dotted)
                if found is not _MISSING:
                    text = found if isinstance(found, str) else json.dumps(found, indent=2, ensure_ascii=False)
                    return clean(text, keep_newlines=True)
        return ""


class _Branch(dict[str, Any]):
    """A level of the tree, as opposed to a leaf that happens to be an object."""


_MISSING = object()


def parsed(value: Any) -> Any:
    """A leaf as a value: JSON text parsed (also `NaN` and `Infinity`), text that is no JSON as it is."""
    if isinstance(value, Json):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return str(value)
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, _Branch):
        return {key: _plain(below) for key, below in value.items()}
    return parsed(value)


def _find(key: str, value: Any, dotted: str) -> Any:
    value = parsed(value)
    if key == dotted:
        return _plain(value)
    if isinstance(value, dict):
        for name, below in value.items():
            path = f"{key}.{clean(name)}"
            if dotted == path or dotted.startswith((path + ".", path + "[")):
                found = _find(path, below, dotted)
                if found is not _MISSING:
                    return found
    elif isinstance(value, list) and dotted.startswith(key + "["):
        index, _, _ = dotted[len(key) + 1 :].partition("]")
        if index.isdecimal() and int(index) < len(value):
            return _find(f"{key}[{index}]", value[int(index)], dotted)
    return _MISSING


def _is_media(value: Mapping[str, Any]) -> bool:
    return isinstance(value.get("_type"), str)


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
            return _short(json.dumps(value, ensure_ascii=False))
    return _short(str(value))


def _number(value: float) -> str:
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.6g}"


def _short(text: str) -> str:
    text = clean(text)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _media(value: Mapping[str, Any]) -> str:
    """A media value or histogram: its type and what tells it from others, never its data."""
    kind = value["_type"]
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
        facts.append(f"{len(value['filenames'])} files")
    if "width" in value and "height" in value:
        facts.append(f"{display(value['width'])}×{display(value['height'])}")
    if "nrows" in value or "ncols" in value:
        facts.append(f"{display(value.get('nrows', '?'))}×{display(value.get('ncols', '?'))} cells")
    if isinstance(value.get("path"), str):
        facts.append(value["path"])
    return _short(" · ".join([kind, *facts]))
