"""Units of measure and how a number in one is written in a few columns."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Literal

Scaling = Literal["none", "si", "binary", "decimal-rate", "watt", "megahertz", "seconds"]


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: its sign, how large values are scaled, and what to multiply raw values by before that."""

    sign: str = ""
    scaling: Scaling = "si"
    factor: float = 1.0


NUMBER = Unit()
PERCENT = Unit("%", "none")
CELSIUS = Unit("°C", "none")
WATT = Unit("W", "watt")
JOULE = Unit("J", "si")
MEGAHERTZ = Unit("MHz", "megahertz")
BYTES = Unit("B", "binary")
MEBIBYTES = Unit("B", "binary", 1024.0**2)
GIBIBYTES = Unit("B", "binary", 1024.0**3)
BYTES_PER_SECOND = Unit("B/s", "decimal-rate")
BITS_PER_SECOND = Unit("bit/s", "decimal-rate")
MEGABITS_PER_SECOND = Unit("bit/s", "decimal-rate", 1e6)
SECONDS = Unit("s", "seconds")
MICROSECONDS = Unit("s", "seconds", 1e-6)

_SI = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_BINARY = ((1024.0**4, "TiB"), (1024.0**3, "GiB"), (1024.0**2, "MiB"), (1024.0, "KiB"))
_TIMES = ((86400.0, "d"), (3600.0, "h"), (60.0, "min"), (1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def _spell(value: float) -> str | None:
    """How a number that is none is written; None for a finite one."""
    if math.isfinite(value):
        return None
    return "NaN" if math.isnan(value) else "∞" if value > 0 else "-∞"


def _scale(magnitude: float, unit: Unit) -> tuple[float, str]:
    """What a value of this size (already multiplied by the factor) is divided by, and what stands behind it."""
    sign = f" {unit.sign}" if unit.sign else ""
    match unit.scaling:
        case "binary":
            for size, name in _BINARY:
                if magnitude >= size:
                    suffix = name if unit.sign == "B" else name[:-1] + unit.sign
                    return size, f" {suffix}"
        case "seconds":
            for size, name in _TIMES:
                if magnitude >= size:
                    return size, f" {name}"
            return (1.0, " s") if magnitude == 0 else (1e-9, " ns")
        case "megahertz":
            return (1e3, " GHz") if magnitude >= 1e3 else (1.0, " MHz")
        case "watt" | "decimal-rate" | "si":
            limit = 1e4 if unit.scaling == "si" and not unit.sign else 1e3
            if limit <= magnitude < 1e15:
                size, prefix = next((s, p) for s, p in _SI if magnitude >= s)
                return size, f" {prefix}{unit.sign}" if unit.sign else prefix
        case "none":
            return 1.0, unit.sign
    return 1.0, sign


def format_value(value: float, unit: Unit = NUMBER, digits: int = 4) -> str:
    """A value in a few columns: `0.001234`, `1.234e-05`, `12.35k`, `79.6 GiB`, `45.5%`, `NaN`, `∞`.

    `digits` significant digits; whole numbers without a unit are exact up to 99999. Zero has no unit.
    """
    spelled = _spell(value)
    if spelled is not None:
        return spelled
    scaled = value * unit.factor
    if scaled == 0:
        return "0"
    if not math.isfinite(scaled):
        return f"{value:.{digits}g}"
    if not unit.sign and unit.scaling == "si" and abs(scaled) < 1e5 and scaled == int(scaled):
        return str(int(scaled))
    # Rounded first: 1023.99 MiB is 1 GiB, 9999.9 is 10k.
    divisor, suffix = _scale(float(f"{abs(scaled):.{digits - 1}e}"), unit)
    shown = scaled / divisor
    # 1010 MiB in three digits is not 1.01e+03 MiB.
    whole = 10 ** (digits - 1) <= abs(shown) < 1e5
    return (f"{shown:.0f}" if whole else _trim(f"{shown:.{digits}g}")) + suffix


def _trim(text: str) -> str:
    """Without the zeros that close a decimal fraction."""
    if "." not in text or "e" in text:
        return text
    return text.rstrip("0").rstrip(".")


def format_bytes(count: float) -> str:
    """A size: `7 B`, `1.5 KiB`, `520 MiB`."""
    return format_value(count, BYTES, 3) if count else "0 B"


def format_duration(seconds: float) -> str:
    """How long something lasted: `0.4 s`, `12 s`, `2 min 05 s`, `1 h 05 min`, `3 d 4 h`."""
    if not math.isfinite(seconds):
        return _spell(seconds) or ""
    if seconds < 0:
        return "-" + format_duration(-seconds)
    if seconds < 9.95:
        return f"{_trim(f'{seconds:.1f}')} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    if whole < 86400:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
    return f"{whole // 86400} d {whole % 86400 // 3600} h"


def counted(count: int, noun: str) -> str:
    """`1 metric`, `1,200 metrics`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def ranged(first: int, last: int, count: int) -> str:
    """Which of so many are seen: `1–6 of 1,200`, `3 of 5`."""
    return f"{first:,}{f'–{last:,}' if last > first else ''} of {count:,}"


def format_time(seconds: float, form: str, utc: bool = False) -> str:
    """A moment, Unix seconds, in a form of `strftime`, in local time or UTC; the number where no calendar has it."""
    try:
        return time.strftime(form, time.gmtime(seconds) if utc else time.localtime(seconds))
    except (OverflowError, OSError, ValueError):  # which of them depends on the platform and on what is wrong
        return f"{seconds:.6g}s"


def format_age(seconds: float) -> str:
    """How long ago something was: `3 s`, `2 min`, `1.1 h`, `3 d`. Never negative: clocks differ between machines."""
    if not math.isfinite(seconds):
        return "?"
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min"
    if whole < 86400:
        return f"{_trim(f'{whole // 360 / 10:.1f}')} h"
    return f"{whole // 86400} d"
