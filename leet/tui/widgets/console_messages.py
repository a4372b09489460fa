"""What the console pane tells others."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message


@dataclass
class Told(Message):
    """Something that was done, or why it was not: one line for a person."""

    text: str
