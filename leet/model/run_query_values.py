"""Moments and spans of time as people type them in queries, as intervals.

    2025-03-01        that day, local time; `2025` and `2025-03` that year and month; `2025-03-01T14:30` that minute
    today yesterday   those days
    2d 3h 1w          the moment that long ago (as a moment);  90s 1h30m 01:30:00   so long (as a span)

An interval is (low, high): a value v is equal to it where low <= v < high, less where v < low, greater where
v >= high. Moments have no width. That of a span is for equality alone: more than an hour is more than 3600 seconds.
"""

from __future__ import annotations

import re
import time

Interval = tuple[float, float]

_UNITS = {"w": 604800.0, "d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0}
_SPAN = re.compile(r"(?:[0-9]+(?:\.[0-9]+)?(?:w|d|h|min|m|s))+")
_SPAN_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)(w|d|h|min|m|s)")
_CLOCK = re.compile(r"(?:([0-9]+):)?([0-9]{1,2}):([0-9]{2})")
_DATE = re.compile(r"([0-9]{4})(?:-([0-9]{1,2})(?:-([0-9]{1,2})(?:[T ]([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?)?)?)?")
_COUNT = re.compile(r"([+-]?[0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?)([kKMG]?)")
_COUNTS = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}


def span(text: str) -> Interval | None:
    """Seconds; equal is what is equal in the smallest unit that was typed. None for what is no span."""
    text = text.strip().lower()
    if re.fullmatch(r"[0-9]+(?:\.[0-9]+)?", text):
        return float(text), float(text) + (0.0 if "." in text else 1.0)
    if match := _CLOCK.fullmatch(text):
        hours, minutes, seconds = (float(part or 0) for part in match.groups())
        total = hours * 3600 + minutes * 60 + seconds
        return total, total + 1.0
    if not _SPAN.fullmatch(text):
        return None
    parts = [(number, "m" if unit == "min" else unit) for number, unit in _SPAN_PART.findall(text)]
    total = sum(float(number) * _UNITS[unit] for number, unit in parts)
    width = 0.0 if "." in parts[-1][0] else min(_UNITS[unit] for _, unit in parts)
    return total, total + width


def moment(text: str, now: float) -> Interval | None:
    """Unix seconds; None for what is no moment."""
    text = text.strip()
    day = time.localtime(now)
    if text.lower() in ("now", "today", "yesterday"):
        if text.lower() == "now":
            return now, now
        back = 1 if text.lower() == "yesterday" else 0
        return _local(day.tm_year, day.tm_mon, day.tm_mday - back), _local(
            day.tm_year, day.tm_mon, day.tm_mday - back + 1
        )
    if match := _DATE.fullmatch(text):
        return _date([None if part is None else int(part) for part in match.groups()])
    ago = span(text) if text and not text.isdecimal() and ":" not in text else None
    return None if ago is None else (now - ago[0], now - ago[0])


def number(text: str) -> float | None:
    """A number, with `k`, `M` and `G` for thousands; None for what is none."""
    match = _COUNT.fullmatch(text.strip())
    return float(match[1]) * _COUNTS[match[2]] if match else None


def _date(parts: list[int | None]) -> Interval | None:
    year, month, day, hour, minute, second = parts
    assert year is not None
    if not (1 <= (month or 1) <= 12 and 1 <= (day or 1) <= 31 and (hour or 0) < 24 and (minute or 0) < 60):
        return None
    try:
        if month is None:
            return _local(year, 1, 1), _local(year + 1, 1, 1)
        if day is None:
            return _local(year, month, 1), _local(year, month + 1, 1)
        if hour is None or minute is None:
            return _local(year, month, day), _local(year, month, day + 1)
        if second is None:
            return _local(year, month, day, hour, minute), _local(year, month, day, hour, minute + 1)
        start = _local(year, month, day, hour, minute, second)
        return start, start + 1
    except (OverflowError, ValueError):
        return None


def _local(year: int, month: int, day: int, hour: int = 0, minute: int = 0, second: int = 0) -> float:
    """Unix seconds of a local time; numbers beyond a month or a day go on into the next."""
    return time.mktime((year, month, day, hour, minute, second, 0, 0, -1))
