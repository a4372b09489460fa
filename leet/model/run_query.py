"""The query that says which runs are listed, and in which order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from leet.model.filter import Mode, TextFilter
from leet.model.run_entry import RunEntry


@dataclass(frozen=True, slots=True)
class QueryError:
    """What is wrong with a query, one line for people, and the place: `text[start:end]`."""

    message: str
    start: int
    end: int

    def __str__(self) -> str:
        return self.message


class RunQuery:
    """A query typed by a person; an empty one matches all, newest first.

    One with an `error` matches nothing: callers keep what they showed before.
    """

    def __init__(self, text: str = "", mode: Mode = "regex") -> None:
        self.text = text
        self.mode: Mode = mode
        self.error: QueryError | None = None
        self._words = [TextFilter(word, mode) for word in text.split()]

    @classmethod
    def parse(cls, text: str, mode: Mode = "regex") -> RunQuery:
        return cls(text, mode)

    def __bool__(self) -> bool:
        return bool(self.text.strip())

    def matches(self, entry: RunEntry, now: float) -> bool:
        """Whether a run passes at `now` (Unix seconds)."""
        subject = "\n".join((entry.key, entry.name, entry.run_id, entry.project, entry.notes, *entry.tags))
        return all(word.matches(subject) for word in self._words)

    def sorted(self, entries: Iterable[RunEntry], now: float) -> list[RunEntry]:
        """In the order that the query asks for: newest first where it says nothing."""
        return sorted(entries, key=lambda entry: (entry.started or 0.0, entry.key), reverse=True)

    def select(self, entries: Iterable[RunEntry], now: float) -> list[RunEntry]:
        """Those that pass, in order."""
        return self.sorted((entry for entry in entries if self.matches(entry, now)), now)
