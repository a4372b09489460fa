"""The debiased exponential mean, as TensorBoard and the pages of W&B smooth curves.

    m[k] = w·m[k-1] + (1-w)·v[k]     m[-1] = 0
    s[k] = m[k] / (1 - w^(k+1))      so that the first values count in full

Values that are not finite are skipped: they have no mean and change none.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from leet.model.series import Series

Floats = npt.NDArray[np.float64]

_SMALLEST_POWER = 1e-30
"""How far powers of the weight fall within a block: their inverse times a value must stay a float64."""
_LARGEST = 1e250
"""Values beyond are scaled down while their means are taken, for the same reason."""


def means(values: Floats, weight: float, before: float = 0.0) -> Floats:
    """m of all values, float64 [n], `before` being m of the value before the first. 0 < weight < 1.

    No loop over points: within blocks the recurrence is a cumulative sum of values over falling powers of the weight,
    and the ends of the blocks are themselves a series of means, with the power of the weight that spans a block.
    """
    count = len(values)
    if count == 0:
        return np.empty(0)
    block = max(1, min(count, int(math.log(_SMALLEST_POWER) / math.log(weight))))
    scale = max(float(np.abs(values).max()), abs(before))
    if scale > _LARGEST:
        return means(values / scale, weight, before / scale) * scale
    rows = -(-count // block)
    padded = np.zeros(rows * block)
    padded[:count] = values
    powers = weight ** np.arange(1, block + 1)
    inside = np.cumsum(padded.reshape(rows, block) * ((1.0 - weight) / powers), axis=1) * powers
    carried = np.empty(rows)
    carried[0] = before
    carried[1:] = _chain(inside[:-1, -1], float(powers[-1]), before)
    inside += carried[:, None] * powers
    result: Floats = inside.reshape(-1)[:count]
    return result


def _chain(ends: Floats, power: float, before: float) -> Floats:
    """What each block carries into the next: c[k] = ends[k] + power · c[k-1]."""
    if len(ends) == 0:
        return ends
    # Two blocks back nothing is left that a float64 beside it could hold.
    carried = ends.copy()
    carried[1:] += power * ends[:-1]
    carried[0] += power * before
    return carried


class Smoothed:
    """The smoothed curve of a series, which is taken on as the series grows."""

    def __init__(self, series: Series, weight: float) -> None:
        """0 < `weight` < 1: how much of the mean before each value keeps."""
        self.source = series
        self.weight = weight
        self.series = Series()
        """The finite points with their smoothed values, on the same rows."""
        self._seen = 0
        self._mean = 0.0

    def renewed(self) -> Series:
        """The smoothed series up to the newest point."""
        values, rows = self.source.values[self._seen :], self.source.rows[self._seen :]
        if len(values):
            finite = np.isfinite(values)
            if not finite.all():
                values, rows = values[finite], rows[finite]
            self._seen = self.source.count
        if len(values):
            plain = means(values, self.weight, self._mean)
            self._mean = float(plain[-1])
            done = self.series.count
            self.series.append(
                rows, plain / -np.expm1(np.arange(done + 1, done + len(plain) + 1) * math.log(self.weight))
            )
        return self.series
