"""The summary of a run: one value per metric, the last one unless a definition or the script says otherwise."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from recorder import values
from recorder.notices import reason, warn_once
from recorder.rows import Key

Path = tuple[str, ...]


class Branch(dict[str, Any]):
    """A level of the tree. A plain dict in its place is a value of its own: a leaf."""


class Tree:
    """The values by path. Setting a deeper path first discards a leaf that is in the way, and the other way round."""

    def __init__(self) -> None:
        self.root = Branch()

    def merge(self, key: Key, value: Any) -> None:
        """Sets the value of a key as logging does: no value leaves the old one in place."""
        if value is not None:
            self.set(key, value)

    def set(self, key: Key, value: Any) -> None:
        """Sets the value of a key; None takes it away."""
        if value is None:
            self.remove(key)
        elif isinstance(key, str):
            self.root[key] = value
        else:
            node = self.root
            for part in key[:-1]:
                child = node.get(part)
                if not isinstance(child, Branch):
                    child = node[part] = Branch()
                node = child
            node[key[-1]] = value

    def remove(self, key: Key) -> None:
        """Takes a value or a branch away, and branches that are empty then."""
        path = (key,) if isinstance(key, str) else key
        nodes: list[Any] = [self.root]
        for part in path[:-1]:
            nodes.append(nodes[-1].get(part))
            if not isinstance(nodes[-1], dict):
                return
        nodes[-1].pop(path[-1], None)
        for depth in range(len(path) - 1, 0, -1):
            if not nodes[depth]:
                nodes[depth - 1].pop(path[depth - 1], None)


Publish = Callable[[list[tuple[Path, Any]], list[Path]], None]
"""Writes changed values (path, plain value) and removed paths."""

PutMedia = Callable[[Mapping[str, Any], str], Mapping[str, Any]]
"""Writes the media among values, and puts objects in their place; the second argument is part of their names."""


class SummaryLevel(Mapping[str, Any]):
    """A level of the summary: read and set items or attributes; what is nested comes as a level too."""

    def __init__(self, summary: Summary, path: Path) -> None:
        object.__setattr__(self, "_summary", summary)
        object.__setattr__(self, "_path", path)

    def _node(self) -> dict[str, Any]:
        node: Any = self._summary._tree.root
        for part in self._path:
            node = node.get(part)
            if not isinstance(node, dict):
                return {}
        found: dict[str, Any] = node
        return found

    def __getitem__(self, key: str) -> Any:
        value = self._node()[key]
        return SummaryLevel(self._summary, (*self._path, key)) if isinstance(value, dict) else value

    def __getattr__(self, key: str) -> Any:
        try:
            return self[key]
        except KeyError:
            raise AttributeError(f"the summary has no value {key!r}") from None

    def __setitem__(self, key: str, value: Any) -> None:
        self.update({key: value})

    __setattr__ = __setitem__

    def __delitem__(self, key: str) -> None:
        self._summary._change([], [(*self._path, key)])

    __delattr__ = __delitem__

    def update(self, other: Mapping[str, Any] | None = None, /, **named: Any) -> None:
        """Sets several values."""
        new = {**(other or {}), **named}
        self._summary._change([((*self._path, str(key)), value) for key, value in new.items()], [])

    def __iter__(self) -> Iterator[str]:
        return iter([key for key in self._node() if key != "_wandb"])

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return repr(self._as_dict())

    def _as_dict(self) -> dict[str, Any]:
        return dict(self._node())


class Summary(SummaryLevel):
    """`run.summary`: one value per metric.

    Logging sets it; the script may set values of its own, nested ones too (`run.summary["best"]["epoch"] = 3`), and
    remove them (`del run.summary["x"]`).
    """

    def __init__(self, publish: Publish, media: PutMedia | None = None) -> None:
        super().__init__(self, ())
        object.__setattr__(self, "_tree", Tree())
        object.__setattr__(self, "_publish", publish)
        object.__setattr__(self, "_media", media)

    def _with_media(self, new: list[tuple[Path, Any]]) -> list[tuple[Path, Any]]:
        if self._media is None:
            return new
        found = []
        for path, value in new:
            name = ".".join(path)
            kept = self._media({name: value}, "summary")
            if name in kept:
                found.append((path, kept[name]))
        return found

    def _change(self, new: list[tuple[Path, Any]], removed: list[Path]) -> None:
        plain = [(path, _plain(path, value)) for path, value in self._with_media(new)]
        for path, value in plain:
            self._tree.set(path[0] if len(path) == 1 else path, value)
        for path in removed:
            self._tree.remove(path)
        self._publish(plain, removed)


def _plain(path: Path, value: Any) -> Any:
    try:
        return values.summary_value(value)
    except Exception as error:  # foreign objects raise anything; the training goes on
        name = ".".join(path)
        warn_once(f"summary {name!r} is stored as text: {reason(error)}", f"summary {name}")
        with contextlib.suppress(Exception):  # said just above
            return str(value)
        return f"<{type(value).__qualname__}>"
