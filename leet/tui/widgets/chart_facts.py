"""Figures of a chart at full size: what its curves come to within the window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from rich.cells import cell_len
from rich.style import Style
from textual.strip import Strip

from leet.charts.layout import Layout, lay_out
from leet.charts.readout import value_text, x_text
from leet.charts.spec import Spec
from leet.tui.widgets.painted import Painted, cut, strip_of

Floats = npt.NDArray[np.float64]
Place = tuple[float, float]
"""x and value."""

NAMED_PLACES = 4
"""Values that are not finite, of which the place is told."""
MOST_ROWS = 8
_GIVEN_UP = ("nonfinite", "points", "mean", "places", "min", "max", "last")
DETAILS = tuple(frozenset(_GIVEN_UP[n:]) for n in range(len(_GIVEN_UP) + 1))
"""What a row tells where there is room for all, for less, …: first to go is where values are not finite."""


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
        """The figures of one curve: whole ones, the most telling that there is room for."""
        pieces: list[tuple[str, Style]] = []
        for detail in DETAILS:
            pieces = self._figures(spec, facts, label_width, detail, lay_out(spec, width, 10))
            if sum(cell_len(text) for text, _ in pieces) <= width:
                return strip_of(*pieces)
        return strip_of(*pieces).crop(0, width)

    def _figures(
        self, spec: Spec, facts: CurveFacts, label_width: int, detail: frozenset[str], layout: Layout
    ) -> list[tuple[str, Style]]:
        name, value, bad = self.part("facts--name"), self.part("facts--value"), self.part("facts--bad")
        at = " @ "
        pieces = []
        if label_width:
            pieces.append((" " + cut(facts.label, label_width).ljust(label_width), value))
        for title, place in (("min", facts.lowest), ("max", facts.highest), ("last", facts.last)):
            if place is not None and title in detail:
                pieces += [(f"  {title} ", name), (value_text(place[1], spec), value)]
                if "places" in detail:
                    pieces.append((at + x_text(place[0], spec, layout), name))
        if facts.mean is not None and "mean" in detail:
            pieces += [("  mean ", name), (value_text(facts.mean, spec), value)]
        if "points" in detail:
            pieces += [("  points ", name), (f"{facts.count:,}", value)]
        if facts.nonfinite:
            places = ", ".join(f"{value_text(v, spec)}{at}{x_text(x, spec, layout)}" for x, v in facts.places)
            more = ", …" if facts.nonfinite > len(facts.places) else ""
            which = f": {places}{more}" if "nonfinite" in detail else ""
            pieces.append((f"  {facts.nonfinite:,} not finite{which}", bad))
        return pieces
