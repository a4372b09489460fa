"""A limit of time for one call that nothing else can interrupt: a regular expression at work."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNAL = getattr(signal, "SIGVTALRM", None)
_armed = False


class TimeLimitError(Exception):
    """The limit has been reached."""


def _ring(number: int, frame: FrameType | None) -> None:
    global _armed  # lowered here as well: who is interrupted while he lowers it must not be interrupted again
    if _armed:
        _armed = False
        raise TimeLimitError


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise `TimeLimitError` in what is done here after so many seconds of work of this process.

    Python's `re` looks for signals while it backtracks, so that this ends patterns that would run for ever. Only the
    main thread gets signals: elsewhere, and on systems without this timer, there is no limit.
    """
    global _armed
    if _SIGNAL is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    if signal.getsignal(_SIGNAL) is not _ring:
        signal.signal(_SIGNAL, _ring)
    _armed = True
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        _armed = False
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
