"""What runs are called where several are named: two of one name are told apart by their ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from leet.model.run_entry import RunEntry
from leet.model.safe_text import clean


class RunLabels:
    """Labels of some runs, fit to be printed."""

    def __init__(self, entries: Collection[RunEntry]) -> None:
        names = Counter(entry.name for entry in entries)
        self._twins = {name for name, uses in names.items() if uses > 1}
        ids = Counter((entry.name, entry.run_id) for entry in entries if entry.name in self._twins)
        self._same = {both for both, uses in ids.items() if uses > 1}

    def of(self, entry: RunEntry) -> str:
        """The name, if no other run has it; else the id with it, or where the run lies."""
        if entry.name not in self._twins:
            return clean(entry.name) or clean(entry.key)
        if entry.name == entry.run_id or (entry.name, entry.run_id) in self._same:
            return clean(f"{entry.name} ({entry.key})")
        return clean(f"{entry.name} ({entry.run_id})")
