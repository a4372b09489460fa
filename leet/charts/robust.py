"""The range in which nearly all values lie: what is left of an axis without its outliers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from leet.charts.scale import antilog
from leet.charts.ticks import round_step

Floats = npt.NDArray[np.float64]

SAMPLE = 20_000
"""Values that are looked at of a curve with more of them, spread evenly."""
FEWEST = 5
"""Values below which none can be told to be an outlier."""
FENCE = 3.0
"""Values beyond the quartiles by more than so many times their distance are outliers."""
TAILS = (1.0, 99.0)
"""Percentiles of the others at which the range ends."""
MARGIN = 0.05
"""Of the range, added at both ends."""
NEAR = 0.25
"""The range goes on to the least or greatest value where that takes no more than this share of it."""
_GOLDEN = 0.6180339887498949


def robust_range(curves: Sequence[Floats], *, log: bool = False) -> tuple[float, float] | None:
    """(lowest, highest) value to show of curves, float64 [n] each, so that outliers do not flatten the rest.

    Every curve is looked at by itself, so that one of few points is not an outlier of one with many. NaN and
    infinities count for nothing, nor does what a logarithmic axis cannot show. None where there is nothing to cut off.
    """
    ranges = [found for values in curves if (found := _of_one(values, log)) is not None]
    if not ranges or not any(cut for _, _, cut in ranges):
        return None
    low, high = min(low for low, _, _ in ranges), max(high for _, high, _ in ranges)
    return (antilog(low), antilog(high)) if log else (low, high)


def _of_one(values: Floats, log: bool) -> tuple[float, float, bool] | None:
    """The range of one curve (decades when `log`), and whether anything lies beyond."""
    values = values[np.isfinite(values) & (values > 0)] if log else values[np.isfinite(values)]
    if not len(values):
        return None
    # Of all values: a single spike may be none of those that are looked at.
    ends, values = np.array([values.min(), values.max()]), _spread(values)
    if log:
        ends, values = np.log10(ends), np.log10(values)
    least, greatest = map(float, ends)
    if len(values) < FEWEST or not np.isfinite(greatest - least):
        return least, greatest, False
    lower, upper = np.percentile(values, (25.0, 75.0))
    reach = FENCE * (upper - lower)
    if reach > 0:
        values = values[(values >= lower - reach) & (values <= upper + reach)]
    low, high = map(float, np.percentile(values, TAILS))
    span = high - low
    if span <= 0:
        # Nearly all are the same: those that are not are what one wants to see.
        return least, greatest, False
    kept_least, kept_greatest = low - least <= NEAR * span, greatest - high <= NEAR * span
    step = _step(span)
    # Round ends stay where they are while points come in.
    new_low = least if kept_least else float(np.floor((low - MARGIN * span) / step) * step)
    new_high = greatest if kept_greatest else float(np.ceil((high + MARGIN * span) / step) * step)
    if not log and least >= 0:
        new_low = max(new_low, 0.0)
    return max(new_low, least), min(new_high, greatest), not (kept_least and kept_greatest)


def _step(span: float) -> float:
    mantissa, exponent = round_step(span, 20)
    return float(f"{mantissa}e{exponent}") or span


def _spread(values: Floats) -> Floats:
    """At most `SAMPLE` of the values; those of a rhythm are not met more often than others."""
    if len(values) <= SAMPLE:
        return values
    places = (np.arange(SAMPLE) * _GOLDEN % 1.0 * len(values)).astype(np.int64)
    return values[places]
