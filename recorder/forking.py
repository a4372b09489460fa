"""Forks wait until our threads have done their first work.

A thread that imports a module holds the lock of that module. A process that is forked at that moment has the lock and
not the thread, so the child waits for ever as soon as it imports the module itself. Our threads import what they need
when they begin, and a training that forks workers right after `init` would meet them there.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator

PATIENCE = 1.0
"""Seconds that a fork waits, once: who is not done by then hangs in something else, and is not waited for again."""


class _Gate:
    def __init__(self) -> None:
        self.inside = 0
        self.patience = PATIENCE
        self.change = threading.Condition()

    def close(self) -> None:
        """Before a fork: nobody is inside, and nobody comes in."""
        self.change.acquire()
        if self.inside and not self.change.wait_for(lambda: not self.inside, self.patience):
            self.patience = 0.0

    def open(self) -> None:
        """After it, in the parent."""
        self.change.release()


_gate = _Gate()


@contextlib.contextmanager
def first_work() -> Iterator[None]:
    """What a thread does in here may import modules; it does nothing in here that waits for long."""
    gate = _gate
    with gate.change:
        gate.inside += 1
    try:
        yield
    finally:
        with gate.change:
            gate.inside -= 1
            gate.change.notify_all()


def _begin_anew() -> None:
    """In the child there are none of the threads."""
    global _gate
    _gate = _Gate()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=lambda: _gate.close(), after_in_parent=lambda: _gate.open(), after_in_child=_begin_anew)
