"""Histograms as values of a row: `run.log({"gradients": Histogram(values)})`."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

MAX_BINS = 512


class Histogram:
    """Counts of values in bins of equal width.

    Args:
        sequence: the values; nested sequences and arrays of any shape are flattened. NaN and infinities are left out.
        np_histogram: counts and edges that are there already, as `numpy.histogram` returns them:
            (counts [n], edges [n + 1]).
        num_bins: number of bins for `sequence`.

    Raises:
        ValueError: more than 512 bins, neither or both kinds of input, or counts and edges that do not fit.
    """

    def __init__(
        self,
        sequence: Iterable[Any] | None = None,
        np_histogram: tuple[Any, Any] | None = None,
        num_bins: int = 64,
    ) -> None:
        if (sequence is None) == (np_histogram is None):
            raise ValueError("Histogram takes either a sequence or np_histogram")
        if np_histogram is not None:
            counts, edges = (_flat(part) for part in np_histogram)
            if len(edges) != len(counts) + 1:
                raise ValueError(f"np_histogram needs one edge more than counts, got {len(edges)} and {len(counts)}")
        else:
            assert sequence is not None
            if not 0 < num_bins <= MAX_BINS:
                raise ValueError(f"num_bins must be 1 … {MAX_BINS}")
            counts, edges = _count([v for v in _flat(sequence) if math.isfinite(v)], num_bins)
        if len(counts) > MAX_BINS:
            raise ValueError(f"a histogram has at most {MAX_BINS} bins, got {len(counts)}")
        self.histogram = counts
        self.bins = edges

    def as_value(self) -> dict[str, Any]:
        """The JSON object that stands for it in a history record (wandb-format: `_type`, `values`, `bins`)."""
        return {"_type": "histogram", "values": self.histogram, "bins": self.bins}


def _flat(values: Any) -> list[float]:
    """All numbers in nested sequences and arrays, in order."""
    if hasattr(values, "detach"):  # a torch tensor, perhaps on a device
        values = values.detach().cpu()
    if hasattr(values, "tolist"):
        values = values.tolist()
    if isinstance(values, Iterable) and not isinstance(values, str | bytes):
        return [number for value in values for number in _flat(value)]
    return [float(values) if not isinstance(values, int) else values]


def _count(values: list[float], bins: int) -> tuple[list[float], list[float]]:
    """Counts and edges of equal bins between the extremes; one unit wide around a single value, as numpy has it."""
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    if low == high:
        low, high = low - 0.5, high + 0.5
    width = (high - low) / bins
    counts: list[float] = [0] * bins
    for value in values:
        counts[min(int((value - low) / width), bins - 1)] += 1
    return counts, [low + i * width for i in range(bins)] + [high]
