"""Columns of x values as their logarithms to the base of ten, for logarithmic x axes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from leet.model.growing import Growing

Floats = npt.NDArray[np.float64]


class Decades:
    """log10 of columns that only grow, each value taken once; -inf for 0 and less, which have none."""

    def __init__(self) -> None:
        self._kept: dict[str, Growing[np.float64]] = {}

    def of(self, name: str, values: Floats) -> Floats:
        """The decades of the column called `name`, which has these `values` now. Shape [n]; ascends where they do."""
        kept = self._kept.get(name)
        if kept is None or kept.count > len(values):
            kept = self._kept[name] = Growing(np.float64)
        fresh = values[kept.count :]
        if len(fresh):
            decades = np.full(len(fresh), -np.inf)
            np.log10(fresh, out=decades, where=~(fresh <= 0))
            kept.append(decades)
        return kept.view
