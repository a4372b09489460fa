"""Guidance at the published limits of the servers that runs are uploaded to: one warning each, nothing is refused."""

from __future__ import annotations

from collections.abc import Iterable

from recorder.notices import warn_once

VALUE = 1 << 20
"""Bytes of one logged value."""

CALL = 25 << 20
"""Bytes of one `log()` call."""

CONFIG = 10 << 20
"""Bytes of the config."""

CALLS = 1_000
"""`log()` calls in a minute."""

VALUES = 100_000
"""Values logged in a minute."""

METRICS = 100_000
"""Metrics with different names."""

_MINUTE = 60.0
_GOES_ON = "It is recorded all the same."


class Rate:
    """How often a run logs, and how much; minutes are counted from the first row of each."""

    __slots__ = ("_calls", "_end", "_said_calls", "_said_values", "_values")

    def __init__(self) -> None:
        self._end = 0.0
        self._calls = self._values = 0
        self._said_calls = self._said_values = False

    def count(self, moment: float, values: int) -> None:
        """A row of so many values at this moment (Unix seconds). Part of every `log()`: it has to be quick."""
        if moment >= self._end:
            self._end = moment + _MINUTE
            self._calls = self._values = 0
        self._calls += 1
        self._values += values
        if self._calls > CALLS and not self._said_calls:
            self._said_calls = True
            warn_once(
                f"log() was called more than {CALLS:,} times within a minute, which servers recommend as the limit; "
                f"log less often, or several metrics in one call. {_GOES_ON}",
                "limit: calls",
            )
        if self._values > VALUES and not self._said_values:
            self._said_values = True
            warn_once(
                f"{self._values:,} values were logged within a minute, and servers recommend at most {VALUES:,}; "
                f"log less often, or fewer metrics. {_GOES_ON}",
                "limit: values",
            )


def look_at_row(sizes: Iterable[tuple[object, int]], size: int) -> None:
    """A row with more than `VALUE` bytes: the size of its values by key, and of all of it."""
    for key, length in sizes:
        if length > VALUE:
            name = key if isinstance(key, str) else ".".join(map(str, key)) if isinstance(key, tuple) else str(key)
            warn_once(
                f"the value of {name!r} has {_size(length)}, and servers recommend at most {_size(VALUE)} for one "
                f"value. {_GOES_ON}",
                f"limit: value {name}",
            )
    if size > CALL:
        warn_once(
            f"one log() call has {_size(size)}, and servers recommend at most {_size(CALL)}. {_GOES_ON}", "limit: call"
        )


def look_at_config(sizes: Iterable[tuple[str, int]]) -> None:
    """The size of the values of the config by key, in bytes."""
    found = dict(sizes)
    total = sum(found.values())
    if total > CONFIG:
        largest = max(found, key=found.__getitem__)
        warn_once(
            f"the config has {_size(total)}, most of it in {largest!r} ({_size(found[largest])}), and servers "
            f"recommend at most {_size(CONFIG)}. {_GOES_ON}",
            "limit: config",
        )


def too_many_metrics() -> None:
    """This process has logged `METRICS` different names."""
    warn_once(
        f"{METRICS:,} metrics with different names were logged, the most that servers recommend for a whole project; "
        f"fewer names, not fewer steps, make a slow project quick again. {_GOES_ON}",
        "limit: metrics",
    )


def _size(size: int) -> str:
    return f"{size / (1 << 20):.3g} MB"
