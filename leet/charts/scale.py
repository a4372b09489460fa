"""Axes: from values to dots and back, and the bounds that show all that is visible without waste."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

LARGEST = sys.float_info.max
_OUTSIDE = 1e12
"""Points farther outside than so many times the axis count as that far; as dots they are still exact integers."""
_SNAP = 0.12
"""Bounds move out to a round value when that costs less than this share of the axis."""


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis from `lo` to `hi` (`lo < hi`, finite); both are decades (log10 of the values) when `log`."""

    lo: float
    hi: float
    log: bool = False

    def share(self, value: float) -> float:
        """Where a (transformed) value lies: 0 at `lo`, 1 at `hi`."""
        lo, hi = self.lo, self.hi
        if not math.isfinite(hi - lo):
            value, lo, hi = value * 0.5, lo * 0.5, hi * 0.5
        return min(max((value - lo) / (hi - lo), -_OUTSIDE), _OUTSIDE)

    def dots(self, values: Floats, dots: int) -> Floats:
        """Transformed values as coordinates 0 … `dots` - 1 along the axis."""
        lo, hi = self.lo, self.hi
        span = hi - lo
        if not math.isfinite(span):
            values, lo, span = values * 0.5, lo * 0.5, hi * 0.5 - lo * 0.5
        with np.errstate(over="ignore"):
            shares: Floats = np.subtract(values, lo)
            shares /= span
        np.maximum(shares, -_OUTSIDE, out=shares)
        np.minimum(shares, _OUTSIDE, out=shares)
        shares *= dots - 1
        return shares

    def value_at(self, share: float) -> float:
        """The value at a share of the axis."""
        value = min(max(self.lo * (1.0 - share) + self.hi * share, self.lo), self.hi)
        return antilog(value) if self.log else value

    def transformed(self, value: float) -> float:
        """A value in the terms of `lo` and `hi`; NaN when it has no place (log of zero or less)."""
        if not self.log:
            return value
        return math.log10(value) if value > 0 else math.nan


def antilog(decades: float) -> float:
    """10 to the power of `decades`; an axis may end a little beyond the largest number, where it is that number."""
    try:
        return float(10.0**decades)
    except OverflowError:
        return LARGEST


def rounded_antilog(decades: float) -> float:
    """10 to the power of `decades`, without the last digits, in which a whole number is none any more."""
    return float(f"{antilog(decades):.12g}")


def apart(lo: float, hi: float, pad: float = 0.1) -> tuple[float, float]:
    """Bounds with a distance: those of a constant are moved `pad` of its size to both sides."""
    if hi > lo:
        return lo, hi
    reach = abs(lo) * pad or 1.0
    low, high = max(lo - reach, -LARGEST), min(hi + reach, LARGEST)
    if not low < high:
        low, high = math.nextafter(lo, -math.inf), math.nextafter(hi, math.inf)
        low, high = max(low, -LARGEST), min(high, LARGEST)
    return low, high


def snapped(lo: float, hi: float, step: float) -> tuple[float, float]:
    """Bounds moved out to multiples of the tick step where little room is lost by it."""
    if not (math.isfinite(step) and step > 0 and math.isfinite(hi - lo)):
        return lo, hi
    room = (hi - lo) * _SNAP
    low, high = math.floor(lo / step) * step, math.ceil(hi / step) * step
    if lo >= 0 and lo <= 0.2 * (hi - lo):
        low, room_below = 0.0, math.inf
    else:
        room_below = room
    new_lo = low if lo - low <= room_below else lo
    new_hi = high if high - hi <= room else hi
    return (new_lo, new_hi) if math.isfinite(new_lo) and math.isfinite(new_hi) else (lo, hi)
