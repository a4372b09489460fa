"""What a chart is asked to show. Numbers come in, already cut to the window and thinned by the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from leet.charts.threshold import Threshold
from leet.model.units import NUMBER, Unit

Floats = npt.NDArray[np.float64]
AxisKind = Literal["number", "duration", "clock", "decades", "duration decades"]
"""How x is labelled: plain numbers, seconds since a start (`1h05`), Unix seconds as time of day, or the first two where
x are their decades (log10): a logarithmic axis."""


@dataclass(frozen=True, slots=True)
class Trace:
    """One curve. `x`, `y` float64 of one length; non-finite y are gaps with a mark; x need not ascend."""

    label: str
    x: Floats
    y: Floats
    color: int | None = None
    """Index of its colour in the palette; its place in the chart when None."""
    nonfinite: int | None = None
    """How many values of the whole series are NaN or infinite, where `y` is a thinned one; None counts in `y`."""
    heavy: bool = False
    """Drawn with a thicker line, to stand out among others."""
    smooth: tuple[Floats, Floats] | None = None
    """x and y of its smoothed line. That is drawn in its colour and the points faint behind it; values stay theirs."""
    band: tuple[Floats, Floats, Floats] | None = None
    """x (ascending), lowest and highest y of what lies around the curve: drawn as a thin shade behind all curves."""
    read: tuple[tuple[float, float, float], ...] = ()
    """(x under the crosshair or of the anchor, x and y of the point nearest to it), where the curve is thinned."""


@dataclass(frozen=True, slots=True)
class Spec:
    """Everything that decides how a chart looks, apart from its size and colours."""

    title: str
    traces: tuple[Trace, ...]
    unit: Unit = NUMBER
    x_label: str = ""
    x_kind: AxisKind = "number"
    x_range: tuple[float, float] | None = None
    """Window on the x axis; None fits the data."""
    y_range: tuple[float, float] | None = None
    """Fixed y axis (0–100 for percentages, which grows when a percentage exceeds it); None fits what is visible."""
    y_limits: tuple[float | None, float | None] = (None, None)
    """Ends of the y axis that were chosen, before all others; None fits what is visible. What lies beyond is marked."""
    log_y: bool = False
    crosshair: float | None = None
    """x under the crosshair; the nearest point of every trace is read out."""
    anchor: float | None = None
    """x of the place from which the crosshair tells the differences."""
    focused: bool = False
    legend: bool = False
    guides: Literal["off", "dots", "horizontal"] = "off"
    value: str = ""
    """Shown at the right of the title; empty → the last value of the traces."""
    note: str = ""
    """Appended to the title in brackets: `log`, `10 min`, `total 1.2 GiB`."""
    ascii: bool = False
    """Draw with 7-bit characters only."""
    threshold: Threshold | None = None
    """A value that is drawn as a line across the chart."""
    crossed: bool = False
    """The last value is beyond it."""
    x_lost: int = 0
    """How many points have no place on a logarithmic x axis."""
    monochrome: bool = False
    """The screen has no colours: curves carry their letter of the legend, heat is told by density."""

    @property
    def log_x(self) -> bool:
        """x are decades."""
        return self.x_kind in ("decades", "duration decades")
