"""Config and summary: nested values that are changed leaf by leaf, and their flat list for people."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

from leet.model.leaf import COMPOUND, TYPE_KEY, display, flat, is_compound, json_text, parsed
from leet.model.natural import natural_positions
from leet.model.safe_text import clean
from leet.reading.unparsed import Json

if TYPE_CHECKING:  # its module loads numpy, which a tree has no use for
    from leet.reading.batch import KeyPath

__all__ = ["Json", "Rows", "Tree", "display"]

_MISSING = object()
_DEEPEST = 64
"""Levels of a tree; what lies deeper stays a leaf or is one key, so that no log can exhaust the stack."""


class Tree:
    """Nested values under paths. A leaf is any JSON value, also an object that was set as a whole.

    Rules as in the SDK's core: `assign` puts a leaf (summaries), discarding a leaf or a subtree that is in the way;
    `merge` lets an object value update the old tree leaf by leaf, so that old keys stay (configs).
    """

    def __init__(self) -> None:
        self._root: dict[str, Any] = {}
        self._order: _Order | None = None
        self._rows: Rows | None = None
        self.version = 0

    def __bool__(self) -> bool:
        return bool(self._root)

    def clear(self) -> None:
        """Forget everything."""
        self._root.clear()
        self._touch(shape=True)

    def take_over(self, other: Tree) -> None:
        """Become what `other` is, which must not be used any more."""
        version = self.version + other.version
        vars(self).update(vars(other), version=version)
        self._touch(shape=False)

    def _touch(self, shape: bool) -> None:
        """Something changed; `shape`: not only the value of a leaf, but which rows there are."""
        self._rows = None
        if shape:
            self._order = None
        self.version += 1

    def assign(self, path: KeyPath, value: Any) -> None:
        """Set the leaf at `path` (JSON text as `Json`, or a value)."""
        if not path:
            return
        path = _bounded(path)
        node = self._root
        discarded = False
        for key in path[:-1]:
            below = node.get(key, _MISSING)
            if not isinstance(below, _Branch):
                discarded |= below is not _MISSING
                below = node[key] = _Branch()
            node = below
        old = node.get(path[-1], _MISSING)
        was_media = path[-1] == TYPE_KEY and _is_media(node)
        node[path[-1]] = value
        # What becomes a media value, or joins one, is folded into its row.
        discarded |= path[-1] == TYPE_KEY and was_media != _is_media(node)
        discarded |= old is _MISSING and len(path) > 1 and self._in_media(path)
        if old is _MISSING and not discarded:
            self._touch(shape=False)
            if self._order is not None:
                self._order.add(path, node, value)
        else:
            self._touch(discarded or isinstance(old, _Branch) or is_compound(old) != is_compound(value))

    def change(self, changes: Iterable[tuple[KeyPath, Json | None]]) -> None:
        """Change many leaves of a summary, each as `assign` does; None and the text `null` remove one."""
        root = self._root
        for path, value in changes:
            if value is None or value == "null":
                self.remove(path)
                continue
            # Nearly all of a long summary: leaves at the top, new where nobody has seen the rows, or plain ones.
            key = path[0] if len(path) == 1 else TYPE_KEY
            old = root.get(key, _MISSING)
            plain = type(old) is Json and old[:1] not in COMPOUND and value[:1] not in COMPOUND
            if key != TYPE_KEY and (plain or (old is _MISSING and self._order is None)):
                root[key] = value
            else:
                self.assign(path, value)
        self._touch(shape=False)

    def merge(self, path: KeyPath, value: Any) -> None:
        """Set `path`; an object updates what is there leaf by leaf, anything else replaces it."""
        if not isinstance(value, dict) or len(path) >= _DEEPEST or (not value and not self._has_branch(path)):
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

    def _in_media(self, path: KeyPath) -> bool:
        node: Any = self._root
        for key in path[:-1]:
            node = node[key]
            if _is_media(node):
                return True
        return False

    def remove(self, path: KeyPath) -> None:
        """Remove a leaf or a subtree; branches that are left empty go as well."""
        path = _bounded(path)
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
        self._touch(shape=True)

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

    def rows(self) -> Rows:
        """(dotted key, display text) of every leaf in natural order; the same object until something changes.

        Objects and lists of objects are flattened with dots and `[i]`; media and histograms are one line each;
        keys whose first part begins with `_` are internal and left out. All of it is safe to print.
        A text is made when it is looked at, so that a summary of a hundred thousand metrics costs next to nothing
        while it changes.
        """
        if self._rows is None:
            if self._order is None:
                self._order = _Order(self._root)
            entries = self._order.plain()
            if left_out := self.left_out():
                entries = [entry for entry in entries if _dotted([entry])[0] not in left_out]
            if self._order.compound:
                entries = _in_order(
                    [
                        *entries,
                        *(
                            (key, [value], 0)
                            for dotted, node, name in self._order.compound
                            for key, value in flat(dotted, node[name])
                        ),
                    ]
                )
            self._rows = Rows(self._root, entries, self.text)
        return self._rows

    def left_out(self) -> frozenset[str]:
        """Dotted keys of leaves that have no row, for they say what another one says."""
        return frozenset()

    def text(self, key: str, value: Any) -> str:
        """How the value of a row is shown: one line, safe to print."""
        return display(value)

    def __len__(self) -> int:
        return len(self.rows())

    def full(self, dotted: str) -> str:
        """The whole value of a row as indented JSON, safe to print; empty when there is no such row."""
        for key, value in self._root.items():
            if dotted == clean(key) or dotted.startswith((clean(key) + ".", clean(key) + "[")):
                found = _find(clean(key), value, dotted)
                if found is not _MISSING:
                    text = found if isinstance(found, str) else json_text(found, indent=2)
                    return clean(text, keep_newlines=True)
        return ""


def _bounded(path: KeyPath) -> KeyPath:
    return path if len(path) <= _DEEPEST else (*path[: _DEEPEST - 1], ".".join(path[_DEEPEST - 1 :]))


_Leaf = str | tuple[str, Any, Any]
"""Dotted key of a row, and where its value is: a container and the key or index in it.

Of a leaf at the top its key says both, if it is shown as it is: of those there may be a hundred thousand.
"""


def _dotted(leaves: Sequence[_Leaf]) -> list[str]:
    return [leaf if isinstance(leaf, str) else leaf[0] for leaf in leaves]


def _in_order(leaves: Sequence[_Leaf]) -> list[_Leaf]:
    return list(map(leaves.__getitem__, natural_positions(_dotted(leaves))))


class Rows(Sequence[tuple[str, str]]):
    """(dotted key, display text) of the leaves of a tree; texts are made when they are looked at."""

    def __init__(self, root: dict[str, Any], entries: list[_Leaf], text: Callable[[str, Any], str]) -> None:
        self._root = root
        self._entries = entries
        self._text = text

    def __len__(self) -> int:
        return len(self._entries)

    @overload
    def __getitem__(self, index: int) -> tuple[str, str]: ...
    @overload
    def __getitem__(self, index: slice) -> list[tuple[str, str]]: ...
    def __getitem__(self, index: int | slice) -> tuple[str, str] | list[tuple[str, str]]:
        if isinstance(index, slice):
            return [self._row(entry) for entry in self._entries[index]]
        return self._row(self._entries[index])

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return map(self._row, self._entries)

    def dotted_keys(self) -> list[str]:
        """The dotted keys alone, without making a text."""
        return _dotted(self._entries)

    def _row(self, entry: _Leaf) -> tuple[str, str]:
        dotted, holder, key = (entry, self._root, entry) if isinstance(entry, str) else entry
        try:
            value = holder[key]
        except KeyError:  # removed since these rows were made
            return dotted, ""
        if isinstance(value, _Branch) and not _is_media(value):  # it has taken the place of a leaf
            return dotted, ""
        return dotted, self._text(dotted, _plain(value))


class _Order:
    """The leaves of a tree in natural order: plain ones, and those whose rows depend on their value."""

    def __init__(self, root: dict[str, Any]) -> None:
        self._plain: list[_Leaf] = []
        self._fresh: list[_Leaf] = []
        self.compound: list[tuple[str, dict[str, Any], str]] = []
        self._walk("", root)

    def plain(self) -> list[_Leaf]:
        """The leaves with one row each; the list is not changed any more."""
        if self._fresh:
            self._plain = _in_order(self._plain + self._fresh)
            self._fresh = []
        return self._plain

    def add(self, path: KeyPath, node: dict[str, Any], value: Any) -> None:
        """A leaf that was not there before."""
        if not path[0].startswith("_"):
            self._put(".".join(map(clean, path)), node, path[-1], value)

    def _walk(self, prefix: str, node: dict[str, Any]) -> None:
        keys = "".join(node)
        safe = keys.isascii() and keys.isprintable()
        plain: list[str] = []
        if safe and not prefix:
            plain = [
                key
                for key, value in node.items()
                if type(value) is Json and value[:1] not in COMPOUND and key[:1] != "_"
            ]
            self._fresh += plain
        done = frozenset(plain) if len(plain) < len(node) else node
        for key, value in node.items() if done is not node else ():
            if key in done or (not prefix and key[:1] == "_"):
                continue
            dotted = prefix + (key if safe else clean(key))
            if isinstance(value, _Branch) and not _is_media(value):
                self._walk(dotted + ".", value)
            else:
                self._put(dotted, node, key, value)

    def _put(self, dotted: str, node: dict[str, Any], key: str, value: Any) -> None:
        if is_compound(value) and not isinstance(value, _Branch):
            self.compound.append((dotted, node, key))
        else:
            self._fresh.append((dotted, node, key))


class _Branch(dict[str, Any]):
    """A level of the tree, as opposed to a leaf that happens to be an object."""


def _is_media(node: Any) -> bool:
    """Whether this level is a picture, a histogram, … that its writer has taken apart: one row, as those left whole."""
    kind = node.get(TYPE_KEY) if isinstance(node, _Branch) else None
    return kind[:1] == '"' if isinstance(kind, Json) else isinstance(kind, str)


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
