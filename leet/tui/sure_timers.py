"""Timers that ring once, however busy the program is."""

from __future__ import annotations

from typing import Any

from textual.message_pump import MessagePump
from textual.timer import Timer


class SureTimers(MessagePump):
    """Textual lets every ringing fall out for which it is too late, also the only one of `set_timer`.

    It happens when another thread has the lock of Python for as long as the delay, just when the timer begins; what
    waits for it (the next look at what has been read, the next picture) would then wait for ever.
    """

    def set_timer(self, *args: Any, **kwargs: Any) -> Timer:
        """As in Textual; it begins in the next turn of the loop, so that it can be told here not to skip anything."""
        timer = super().set_timer(*args, **kwargs)
        timer._skip = False
        return timer
