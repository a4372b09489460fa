"""Figures of a chart at full size: what its curves come to within the window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from textual.strip import Strip

from leet.charts.layout import lay_out
from leet.charts.readout import value_text, x_text
from leet.charts.spec import Spec
from leet.tui.widgets.painted import Painted, cut, strip_of

Floats = npt.NDArray[np.float64]
Place = tuple[float, float]
"""x and value."""

NAMED_PLACES = 4
"""Values that are not finite, of which the place is told."""
MOST_ROWS = 8


@dataclass(frozen=True, slots=True)
class CurveFacts:
    """Figures of one curve, of its finite values where not said otherwise; None where it has none."""

    label: str
    count: int
    """Points, finite or not."""
    lowest: Place | None
    highest: Place | None
    mean: float | None
    last: Place | None
    """Of all points: a NaN at the end is what one wants to know."""
    nonfinite: int
    places: tuple[Place, ...]
    """The first of those that are not finite."""


def curve_facts(label: str, x: Floats, y: Floats, window: tuple[float, float] | None = None) -> CurveFacts:
    """Figures of the points with these `x` and `y` (float64, one length) that lie in `window`, ends included."""
    if window is not None:
        inside = (x >= window[0]) & (x <= window[1])
        x, y = x[inside], y[inside]
    finite = np.isfinite(y)
    wrong = np.flatnonzero(~finite)
    known = np.flatnonzero(finite)
    values = y[known]

    def place(i: int) -> Place:
        return float(x[i]), float(y[i])

    return CurveFacts(
        label=label,
        count=len(y),
        lowest=place(int(known[values.argmin()])) if len(known) else None,
        highest=place(int(known[values.argmax()])) if len(known) else None,
        # Scaled first: the sum of large values may not be finite.
        mean=float(np.mean(values / len(values)) * len(values)) if len(known) else None,
        last=place(-1) if len(y) else None,
        nonfinite=len(wrong),
        places=tuple(place(i) for i in wrong[:NAMED_PLACES].tolist()),
    )


class ChartFacts(Painted):
    """One row per curve: least, greatest, mean, last, count, and where values are not finite."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"facts--name", "facts--value", "facts--bad"}
    DEFAULT_CSS = """
    ChartFacts {
        background: $background;
        .facts--name { color: $foreground 60%; background: $background; }
        .facts--value { color: $foreground; background: $background; }
        .facts--bad { color: $error; background: $background; text-style: bold; }
        &:ansi .facts--name { color: ansi_default; }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._curves: Sequence[CurveFacts] = ()
        self._spec: Spec | None = None
        self.styles.height = 1

    def show(self, spec: Spec, curves: Sequence[CurveFacts]) -> None:
        """Figures in the units of `spec`, the axis of which also says how places are written."""
        self._spec, self._curves = spec, curves
        rows = min(max(1, len(curves)), MOST_ROWS)
        if self.styles.height is None or self.styles.height.value != rows:
            self.styles.height = rows
        self.repaint()

    def paint(self, width: int, height: int) -> list[Strip]:
        shown = self._curves[:height]
        if self._spec is None or not shown:
            return []
        labels = max(len(facts.label) for facts in shown) if len(self._curves) > 1 else 0
        lines = [self._line(self._spec, facts, min(labels, 20), width) for facts in shown]
        if len(self._curves) > height:
            left = f" … and {len(self._curves) - height + 1} more curves"
            lines[-1] = strip_of((cut(left, width), self.part("facts--name")))
        return lines

    def _line(self, spec: Spec, facts: CurveFacts, label_width: int, width: int) -> Strip:
        layout = lay_out(spec, width, 10)
        name, value, bad = self.part("facts--name"), self.part("facts--value"), self.part("facts--bad")
        at = " @ "
        pieces = []
        if label_width:
            pieces.append((" " + cut(facts.label, label_width).ljust(label_width), value))
        for title, place in (("min", facts.lowest), ("max", facts.highest), ("last", facts.last)):
            if place is not None:
                pieces += [(f"  {title} ", name), (value_text(place[1], spec), value)]
                pieces.append((at + x_text(place[0], spec, layout), name))
        if facts.mean is not None:
            pieces += [("  mean ", name), (value_text(facts.mean, spec), value)]
        pieces += [("  points ", name), (f"{facts.count:,}", value)]
        if facts.nonfinite:
            places = ", ".join(f"{value_text(v, spec)}{at}{x_text(x, spec, layout)}" for x, v in facts.places)
            more = ", …" if facts.nonfinite > len(facts.places) else ""
            pieces.append((f"  {facts.nonfinite:,} not finite: {places}{more}", bad))
        return strip_of(*pieces).crop(0, width)
