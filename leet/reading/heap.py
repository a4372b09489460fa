"""Memory that is freed and wanted again a moment later, with the next piece of a log."""

from __future__ import annotations

import contextlib
import ctypes

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_AS_MUCH_AS_EVER = 1 << 30


def keep_freed() -> None:
    """Have the C library keep what is freed instead of giving it back to the system.

    To have it cleared and mapped in again for every piece is a tenth of the work of reading. This is for a process that
    ends when it has read. `mallopt(3)` of glibc; elsewhere nothing happens.
    """
    with contextlib.suppress(AttributeError, OSError, TypeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_TRIM_THRESHOLD, _AS_MUCH_AS_EVER)
        mallopt(_MMAP_THRESHOLD, _AS_MUCH_AS_EVER)
