"""A value that a chart is held against: a line across it, and whether the last value has crossed it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Threshold:
    """Crossed by values above `value`, or below it."""

    above: bool
    value: float

    def crossed(self, lasts: Iterable[float]) -> bool:
        """Whether any of the last values of curves is beyond it; NaN is not."""
        return any(last > self.value if self.above else last < self.value for last in lasts)

    def in_words(self, factor: float = 1.0) -> str:
        """`>0.9`, in the numbers that the axis shows."""
        return f"{'>' if self.above else '<'}{self.value * (factor or 1.0):.6g}"
