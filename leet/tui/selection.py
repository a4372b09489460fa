"""Which runs of a workspace are drawn, and which of them is pinned: drawn on top."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class Selection:
    """Keys of runs, in the order in which they were selected; the pinned one is always among them."""

    def __init__(self) -> None:
        self._keys: dict[str, None] = {}
        self._pinned = ""

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def __len__(self) -> int:
        return len(self._keys)

    @property
    def keys(self) -> list[str]:
        """All, the latest last."""
        return list(self._keys)

    @property
    def pinned(self) -> str:
        """The pinned run; empty when there is none."""
        return self._pinned

    def in_drawing_order(self) -> list[str]:
        """All, the pinned one last: what is drawn later is on top."""
        return sorted(self._keys, key=lambda key: key == self._pinned)

    def by_urgency(self, first: str = "") -> list[str]:
        """All, in the order in which one waits for them: `first`, the pinned one, then from the latest on."""
        latest_first = self.keys[::-1]
        return sorted(latest_first, key=lambda key: (key != first, key != self._pinned))

    def select(self, *keys: str) -> None:
        for key in keys:
            self._keys.setdefault(key, None)

    def toggle(self, key: str) -> bool:
        """Select it, or no longer; whether it is selected now. A pin goes with its run."""
        if key in self._keys:
            self.drop([key])
            return False
        self._keys[key] = None
        return True

    def pin(self, key: str) -> bool:
        """Pin it (selected then, in place of another) or unpin it; whether it is pinned now."""
        if key == self._pinned:
            self._pinned = ""
            return False
        self.select(key)
        self._pinned = key
        return True

    def keep_pinned(self) -> int:
        """Drop all but the pinned run; how many went."""
        gone = [key for key in self._keys if key != self._pinned]
        self.drop(gone)
        return len(gone)

    def rename(self, old: str, new: str) -> None:
        """A run is called by another key now."""
        self._keys = dict.fromkeys(new if key == old else key for key in self._keys)
        if self._pinned == old:
            self._pinned = new

    def drop(self, keys: Iterable[str]) -> None:
        for key in keys:
            self._keys.pop(key, None)
            if key == self._pinned:
                self._pinned = ""

    def restore(self, keys: Sequence[str], pinned: str) -> None:
        """As it was left at another time."""
        self._keys = dict.fromkeys(keys)
        self._pinned = pinned if pinned in self._keys else ""
