"""Facts that cross widgets and threads, by name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from textual.message import Message

Subject = Literal["metrics", "system", "overview"]
"""What a filter is for."""


class RecordsWaiting(Message):
    """The reader's thread has put something into the intake."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, RecordsWaiting)


@dataclass
class NewerRunFound(Message):
    """Another run has started beside the one that is shown."""

    log: Path


class RunLoaded(Message):
    """The log has been read to its present end for the first time."""


@dataclass
class FilterChanged(Message):
    """A filter is being typed: show what it would keep."""

    subject: Subject
    text: str
    mode: Literal["regex", "glob"]

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, FilterChanged) and message.subject == self.subject


@dataclass
class FilterClosed(Message):
    """The filter line is done with; what is to hold from now on was sent as a FilterChanged before."""

    subject: Subject


@dataclass
class ValueOpened(Message):
    """A row of the overview is to be shown in full."""

    key: str
    value: str


@dataclass
class RowSelected(Message):
    """The cursor of the overview stands on another row."""

    key: str
    value: str

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, RowSelected)
