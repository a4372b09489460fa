"""Facts that cross widgets and threads, by name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from textual.message import Message

Subject = Literal["metrics", "system", "overview", "logs", "media", "records", "processes", "runs"]
"""What a filter is for."""


class RecordsWaiting(Message):
    """The reader's thread has put something into the intake."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, RecordsWaiting)


@dataclass
class NewerRunFound(Message):
    """Another run has started beside the one that is shown."""

    log: Path


@dataclass
class MomentChosen(Message):
    """A line of the console or a sample of media was chosen: the charts' crosshairs go to when it was logged."""

    moment: float | None
    """Unix seconds; None takes the crosshairs away."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, MomentChosen)


class RecordsFound(Message):
    """More is known of the records of a log that are listed."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, RecordsFound)


class SettingsChanged(Message):
    """The settings in force are others now: look at them again."""


class MachineSampled(Message):
    """There is a new sample of this machine."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, MachineSampled)


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


class SectionsResized(Message):
    """A person has moved a border between sections of the overview."""


@dataclass
class RowSelected(Message):
    """The cursor of the overview stands on another row."""

    key: str
    value: str

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, RowSelected)


# Panes and the list of runs


@dataclass
class PaneNoteChanged(Message):
    """What stands at the right of a pane's heading (`1–6 of 14`) is another; `pane` is its name."""

    pane: str
    note: str

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, PaneNoteChanged) and message.pane == self.pane


class RunsFound(Message):
    """The scan of a directory has found runs, or changes of them."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, RunsFound)


@dataclass
class RunHighlighted(Message):
    """Another run of the list is highlighted; its key, empty when there is none."""

    key: str

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, RunHighlighted)


@dataclass
class RunOpened(Message):
    """A run of the list is to be shown alone."""

    key: str


@dataclass
class RunMarked(Message):
    """The mark of a run was clicked: select it, or no longer."""

    key: str


@dataclass
class RunsSorted(Message):
    """The list of runs is to be ordered by this."""

    by: str
