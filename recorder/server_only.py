"""What the SDK offers and a recorder cannot: all of it needs a server, and each says what to do instead."""

from __future__ import annotations

from typing import Any

from recorder.filing import refuse


class Api:
    """The SDK's way to read runs from a server. Making one raises Error."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        refuse("Api", "`leet` shows recorded runs, and `leet export` writes their values as CSV, JSON Lines or Parquet")


def sweep(*args: Any, **kwargs: Any) -> str:
    """Raises Error."""
    refuse("sweep", "start one recorded run for each set of values, and name their group with init(group=…)")


def agent(*args: Any, **kwargs: Any) -> None:
    """Raises Error."""
    refuse("agent", "call the function for each set of values, with init(group=…, config=…)")


def controller(*args: Any, **kwargs: Any) -> None:
    """Raises Error."""
    refuse("controller", "choose the values in the program, and record each run with init(group=…)")
