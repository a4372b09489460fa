"""Waiting until the app has nothing more to do, for the tests that press its keys.

Textual's own way sleeps for 20 ms and looks whether the process has been at work meanwhile: two of these after every
key are most of what pressing keys takes. Here a look is taken every 5 ms, and the wait is over early where nothing
could have come of the rest of the 20 ms: no timer of the loop is due in them, and every other thread waits for work.
"""

from __future__ import annotations

import asyncio
import queue
import selectors
import sys
import threading
from collections.abc import Iterable
from time import monotonic, process_time
from typing import Any

SPAN = 0.02
LOOK = 0.005
QUIET = 0.05
"""Share of the time that a process may be at work and count as idle; Textual's."""
WAITING = {threading.__file__, queue.__file__, selectors.__file__}

_from_outside: set[int] = set()


def ignore_threads_of_now() -> None:
    """Threads that the test runner has begun say nothing about the app."""
    _from_outside.update(thread.ident for thread in threading.enumerate() if thread.ident is not None)


async def until_idle(min_sleep: float = SPAN, max_sleep: float = 1) -> None:
    """Return when the app is idle, or after `max_sleep` seconds."""
    loop: Any = asyncio.get_running_loop()
    begun = monotonic()
    looks = 0
    while True:
        worked = process_time()
        before = monotonic()
        await asyncio.sleep(LOOK)
        now = monotonic()
        if now - begun >= max_sleep:
            return
        quiet = process_time() - worked < (now - before) * QUIET
        looks = looks + 1 if quiet else 0
        if looks * LOOK >= SPAN:
            return
        if looks >= 2 and now - begun >= min_sleep and not due(loop._scheduled, begun + SPAN) and others_wait():
            return


def due(timers: Iterable[asyncio.TimerHandle], before: float) -> bool:
    """Whether a timer rings before this moment of the loop's clock."""
    return any(timer.when() < before and not timer.cancelled() for timer in timers)


def others_wait() -> bool:
    """Whether every other thread of the app waits for something to do; one that reads or computes does not."""
    own = threading.get_ident()
    return all(
        frame.f_code.co_filename in WAITING
        for ident, frame in sys._current_frames().items()
        if ident != own and ident not in _from_outside
    )
