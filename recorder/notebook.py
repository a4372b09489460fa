"""IPython around the program: a kernel behind a notebook, or a shell in a terminal."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from typing import Any


def shell() -> Any | None:
    """The interactive shell that runs the program; None where there is none."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None


def in_notebook() -> bool:
    """Whether the program is run cell by cell by a kernel: its end is not the end of what is on the screen."""
    return getattr(shell(), "kernel", None) is not None


def before_cells(call: Callable[[], None]) -> Callable[[], None]:
    """Has `call` made before each cell; returns what ends that."""
    events = getattr(shell(), "events", None)
    if events is None:
        return lambda: None

    def before(*about: object) -> None:
        call()

    events.register("pre_run_cell", before)

    def end() -> None:
        with contextlib.suppress(ValueError):  # somebody has cleared the list
            events.unregister("pre_run_cell", before)

    return end
