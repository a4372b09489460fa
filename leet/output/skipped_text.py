"""What is said of the parts of a log that could not be read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from leet.reading.blocks import UNFINISHED


class Piece(Protocol):
    """A range of the log, and why it could not be read."""

    @property
    def offset(self) -> int: ...
    @property
    def length(self) -> int: ...
    @property
    def reason(self) -> str: ...


def skipped_text(skipped: Sequence[Piece], done: str) -> str:
    """One line on the parts that were skipped; `done` is what is not done to an unfinished end: `exported`."""
    size = sum(piece.length for piece in skipped)
    first = min(skipped, key=lambda piece: piece.offset)
    if len(skipped) == 1 and first.reason == UNFINISHED:
        return f"the log ends inside a record: its last {size} bytes are not {done}"
    parts = "1 part of the log was" if len(skipped) == 1 else f"{len(skipped)} parts of the log were"
    return f"{parts} skipped, {size} bytes, the first at {first.offset}: {first.reason}"
