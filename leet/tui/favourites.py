"""Charts that a person marked: they come first, in the order in which they were marked, or are shown alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

MARK = "★"
"""Before the title of a favourite."""
MOST = 500

_Item = TypeVar("_Item")


class Favourites:
    """The keys of the charts of one grid that were marked."""

    def __init__(self) -> None:
        self._places: dict[str, None] = {}
        self.alone = False
        """Nothing else is shown."""

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, key: str) -> bool:
        return key in self._places

    @property
    def keys(self) -> list[str]:
        """In the order in which they were marked."""
        return list(self._places)

    def restore(self, keys: Iterable[str], alone: bool) -> None:
        """As they were kept."""
        self._places = dict.fromkeys(keys)
        self.alone = alone and bool(self._places)

    def toggle(self, key: str) -> bool:
        """Mark a chart, or no longer; whether it is marked now. With the last mark goes what shows them alone."""
        if key in self._places:
            del self._places[key]
            self.alone = self.alone and bool(self._places)
            return False
        if len(self._places) < MOST:
            self._places[key] = None
        return key in self._places

    def arranged(self, items: Sequence[_Item], key: Callable[[_Item], str]) -> Sequence[_Item]:
        """`items` with the favourites first; the favourites alone where that was chosen."""
        if not self._places:
            return items
        marked = {key(item): item for item in items if key(item) in self._places}
        first = [marked[name] for name in self._places if name in marked]
        if self.alone:
            return first
        return [*first, *(item for item in items if key(item) not in self._places)] if first else items
