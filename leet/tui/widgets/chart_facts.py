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
from leet.charts.short_names import short_names
from leet.charts.spec import Spec
from leet.tui.widgets.painted import Painted, cut, pad, strip_of

Floats = npt.NDArray[np.float64]
Place = tuple[float, float]
"""x and value."""
Cell = list[tuple[str, Style]]
"""A figure: its title, its value, and where there is one, its place."""

NAMED_PLACES = 4
"""Values that are not finite, of which the place is told."""
MOST_ROWS = 8
MOST_NAME = 20
"""Cells of the name of a curve."""
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
        layout = lay_out(self._spec, width, 10)
        rows: list[list[Cell]] = []
        for detail in DETAILS:
            rows = _in_columns([self._cells(self._spec, facts, detail, layout) for facts in shown])
            if len(shown) > 1:
                names = _names(shown)
                rows = [[[(name, self.part("facts--value"))], *row] for name, row in zip(names, rows, strict=True)]
            if max(map(_width_of, rows)) <= width:
                break
        lines = [strip_of(*(piece for cell in row for piece in cell)).crop(0, width) for row in rows]
        if len(self._curves) > height:
            left = f" … and {len(self._curves) - height + 1} more curves"
            lines[-1] = strip_of((cut(left, width), self.part("facts--name")))
        return lines

    def _cells(self, spec: Spec, facts: CurveFacts, detail: frozenset[str], layout: Layout) -> list[Cell]:
        """The figures of one curve: a cell for each that is told, empty where the curve has none."""
        name, value, bad = self.part("facts--name"), self.part("facts--value"), self.part("facts--bad")
        at = " @ "
        cells: list[Cell] = []
        for title, place in (("min", facts.lowest), ("max", facts.highest), ("last", facts.last)):
            if title not in detail:
                continue
            cells.append([])
            if place is not None:
                cells[-1] += [(f"  {title} ", name), (value_text(place[1], spec), value)]
                if "places" in detail:
                    cells[-1].append((at + x_text(place[0], spec, layout), name))
        if "mean" in detail:
            mean = facts.mean
            cells.append([] if mean is None else [("  mean ", name), (value_text(mean, spec), value)])
        if "points" in detail:
            cells.append([("  points ", name), (f"{facts.count:,}", value)])
        if facts.nonfinite:
            places = ", ".join(f"{value_text(v, spec)}{at}{x_text(x, spec, layout)}" for x, v in facts.places)
            more = ", …" if facts.nonfinite > len(facts.places) else ""
            which = f": {places}{more}" if "nonfinite" in detail else ""
            cells.append([(f"  {facts.nonfinite:,} not finite{which}", bad)])
        return cells


def _names(shown: Sequence[CurveFacts]) -> list[str]:
    """The names of the curves, in a column of their own."""
    labels = tuple(facts.label for facts in shown)
    if all(cell_len(label) == len(label) for label in labels):
        labels = short_names(labels, MOST_NAME)
    wide = min(max(map(cell_len, labels)), MOST_NAME)
    return [" " + pad(cut(label, wide), wide) for label in labels]


def _in_columns(rows: list[list[Cell]]) -> list[list[Cell]]:
    """The cells with blanks, so that title, value and place of each stand below those of the row above."""
    for i in range(max(map(len, rows))):
        column = [row[i] for row in rows if i < len(row)]
        for part in range(max(map(len, column))):
            wide = max(cell_len(cell[part][0]) for cell in column if part < len(cell))
            for cell in column:
                text, style = cell[part] if part < len(cell) else ("", Style())
                cell[part:] = [(text.rjust(wide) if part == 1 else pad(text, wide), style), *cell[part + 1 :]]
    return rows


def _width_of(row: list[Cell]) -> int:
    return sum(cell_len(text) for cell in row for text, _ in cell)
