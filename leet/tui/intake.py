"""Batches on their way from the reader's thread to the main loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic, sleep

from leet.model.mailbox import Mailbox
from leet.model.run import RunModel
from leet.reading.batch import Batch, Newest, Notice


@dataclass(frozen=True, slots=True)
class Ready:
    """A model that has been filled already, to be shown in place of what there was."""

    model: RunModel


Piece = Batch | Newest | Notice | Ready

GIVE_WAY = 0.06
"""Longest time for which the reader lets a key be answered first, in seconds: it holds Python's lock half of the time,
so that with it at work all would take twice as long."""


class Intake(Mailbox[Piece]):
    """A bounded queue: a reader that is faster than the screen waits, and memory stays flat."""

    def __init__(self, capacity: int = 8) -> None:
        super().__init__(capacity)
        self._way_until = 0.0
        self.finished = False
        """The reader has delivered all that it will ever deliver."""

    def deliver(self, piece: Piece) -> None:
        """Hand a piece on, a large one in portions; waits while the queue is full (reader's thread)."""
        for portion in piece.portions() if isinstance(piece, Batch) else (piece,):
            self.rest()
            self.put(portion)

    def rest(self) -> None:
        """Let somebody who has pressed a key go first (reader's thread)."""
        if (rest := self._way_until - monotonic()) > 0:
            sleep(min(rest, GIVE_WAY))

    def give_way(self) -> None:
        """Somebody has pressed a key: let the reader rest a moment before its next piece (main loop)."""
        self._way_until = monotonic() + GIVE_WAY

    def finish(self) -> None:
        """Nothing more will come (reader's thread)."""
        self.finished = True
        self.tell()

    def listen(self, announce: Callable[[], None]) -> None:
        """As of every mailbox; who begins late is told as well that all has come."""
        super().listen(announce)
        if self.finished:
            self.tell()
