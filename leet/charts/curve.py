"""A trace made ready to draw: finite x, transformed y, and what of it lies in the window."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from leet.charts.spec import Spec, Trace

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


class Reading(NamedTuple):
    """What a curve is at a place."""

    x: float
    y: float
    height: float | None
    """Where it is drawn; None where it has no place."""


@dataclass(slots=True)
class Curve:
    """One trace. All arrays have the length of `x`."""

    label: str
    color: int
    x: Floats
    y: Floats
    """Values as given."""
    height: Floats
    """What is drawn: `y`, or its log10."""
    drawn: Flags | None
    """Which points have a place; None: all."""
    ascending: bool
    dropped: int
    """Finite values that a log axis cannot show."""
    nonfinite: int
    heavy: bool = False
    smooth: Curve | None = None
    """Its smoothed line."""
    band: tuple[Curve, Curve] | None = None
    """The lower and the upper end of what lies around it, of the same x."""
    known: tuple[tuple[float, float, float], ...] = ()
    """(x, x and y of the point nearest to it), also of points that are not among those of the curve."""

    def within(self, lo: float, hi: float) -> slice | Flags:
        """The points with lo ≤ x ≤ hi."""
        if self.ascending:
            return slice(int(self.x.searchsorted(lo)), int(self.x.searchsorted(hi, "right")))
        flags: Flags = (self.x >= lo) & (self.x <= hi)
        return flags

    def around(self, lo: float, hi: float) -> slice:
        """The points of the window and, of an ascending curve, one more at each side to lead the line out of it."""
        if not self.ascending:
            return slice(0, len(self.x))
        return slice(max(int(self.x.searchsorted(lo)) - 1, 0), int(self.x.searchsorted(hi, "right")) + 1)

    def crossings(self, lo: float, hi: float) -> list[float]:
        """Heights at which an ascending curve runs into and out of the window."""
        if not self.ascending:
            return []
        heights = []
        for edge, right in ((lo, int(self.x.searchsorted(lo))), (hi, int(self.x.searchsorted(hi, "right")))):
            left = right - 1
            if not 0 < right < len(self.x) or (self.drawn is not None and not (self.drawn[left] and self.drawn[right])):
                continue
            before, after = float(self.x[left]), float(self.x[right])
            share = (edge * 0.5 - before * 0.5) / (after * 0.5 - before * 0.5) if after > before else 0.0
            heights.append(float(self.height[left]) * (1.0 - share) + float(self.height[right]) * share)
        return heights

    def nearest(self, x: float) -> int | None:
        """Index of the point nearest to `x`; the last of several."""
        n = len(self.x)
        if not n:
            return None
        if not self.ascending:
            distance = np.abs(self.x * 0.5 - x * 0.5)
            return n - 1 - int(distance[::-1].argmin())
        right = int(self.x.searchsorted(x))
        if right == n:
            return n - 1
        if right == 0 or self.x[right] - x < x - self.x[right - 1]:
            return int(self.x.searchsorted(self.x[right], "right")) - 1
        return right - 1

    def read(self, x: float, log: bool) -> Reading | None:
        """The point nearest to `x`, on a logarithmic axis or another; None without points."""
        for asked, at, value in self.known:
            if asked == x:
                there = math.isfinite(value) and (not log or value > 0)
                return Reading(at, value, (math.log10(value) if log else value) if there else None)
        i = self.nearest(x)
        if i is None:
            return None
        there = self.drawn is None or bool(self.drawn[i])
        return Reading(float(self.x[i]), float(self.y[i]), float(self.height[i]) if there else None)


def prepare(spec: Spec) -> list[Curve]:
    """The traces of a chart in the order in which they are drawn, the last on top."""
    curves = []
    for i, trace in enumerate(spec.traces):
        curve = _curve(trace, i, spec.log_y)
        if trace.smooth is not None:
            x, y = trace.smooth
            curve.smooth = _curve(replace(trace, x=x, y=y, nonfinite=0, smooth=None), i, spec.log_y)
        if trace.band is not None:
            x, *ends = trace.band
            low, high = (_curve(replace(trace, x=x, y=y, nonfinite=0), i, spec.log_y) for y in ends)
            curve.band = low, high
        curves.append(curve)
    return curves


def _curve(trace: Trace, place: int, log: bool) -> Curve:
    x, y = np.asarray(trace.x, np.float64), np.asarray(trace.y, np.float64)
    n = min(len(x), len(y))
    x, y = x[:n], y[:n]
    known = np.isfinite(x)
    if not known.all():
        x, y = x[known], y[known]
    ascending = bool((x[1:] >= x[:-1]).all())
    height, dropped = y, 0
    drawn: Flags | None = np.isfinite(y)
    assert drawn is not None
    finite = int(np.count_nonzero(drawn))
    nonfinite = len(y) - finite
    if log:
        drawn &= y > 0
        dropped = finite - int(np.count_nonzero(drawn))
        height = np.zeros(len(y))
        np.log10(y, out=height, where=drawn)
    if nonfinite or dropped:
        height = np.where(drawn, height, 0.0)
    else:
        drawn = None
    if trace.nonfinite is not None:
        nonfinite = max(trace.nonfinite, nonfinite)
    color = place if trace.color is None else trace.color
    curve = Curve(trace.label, color, x, y, height, drawn, ascending, dropped, nonfinite, trace.heavy)
    curve.known = trace.read
    return curve
