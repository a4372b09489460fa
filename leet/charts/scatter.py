"""Points of one value against another, each with the colour of its run.

•  a point       ●  several in one cell       ◆  the chosen one
o                2 … 9, #                     @   in ASCII
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from leet.charts.cells import Cells, Role
from leet.charts.layout import Layout, PlotArea, lay_out
from leet.charts.lettering import glyphs, shorten, to_ascii
from leet.charts.scale import Scale, apart
from leet.charts.spec import Floats, Spec, Trace
from leet.charts.surround import draw_frame, draw_y_labels
from leet.charts.ticks import Ticks, log_ticks

Places = npt.NDArray[np.intp]

_MARGIN = 0.04
"""Share of the x axis on each side of the points."""
_DECADES = 1.5
"""Powers of ten that positive values span before an axis of them is logarithmic by itself."""


@dataclass(frozen=True, slots=True)
class Scatter:
    """What to draw: float64 arrays of one length, finite."""

    x: Floats
    y: Floats
    colors: tuple[int, ...]
    """Index of the colour of each point, as of a `Trace`."""
    title: str
    """What y is."""
    x_label: str
    x_names: tuple[str, ...] = ()
    """What x = 0, 1, … stand for; none: x is a number."""
    log_x: bool = False
    log_y: bool = False
    chosen: int | None = None
    value: str = ""
    """Shown at the right of the title."""
    ascii: bool = False
    monochrome: bool = False


def sensibly_logarithmic(values: Floats) -> bool:
    """Whether an axis of these shows more when it is logarithmic: all are positive and span more than 1.5 decades."""
    if len(values) < 2 or not bool((values > 0).all()):
        return False
    return math.log10(float(values.max())) - math.log10(float(values.min())) > _DECADES


def draw_scatter(scatter: Scatter, width: int, height: int) -> Cells:
    """The points in a chart of `width` × `height` cells; those that a logarithmic axis cannot show are left out."""
    cells = Cells(max(width, 1), max(height, 1))
    log_x = scatter.log_x and not scatter.x_names
    places: Places = np.arange(len(scatter.x), dtype=np.intp)
    if log_x:
        places = places[scatter.x[places] > 0]
    if scatter.log_y:
        places = places[scatter.y[places] > 0]
    x, y = scatter.x[places], scatter.y[places]
    if log_x:
        x = np.log10(x)
    layout, spec = _layout(scatter, x, y, log_x, width, height)
    signs = glyphs(spec)
    draw_frame(cells, spec, layout, signs)
    draw_y_labels(cells, spec, layout, signs)
    area = layout.area
    if not len(x):
        text = "no run has both"
        if len(text) <= area.width and area.height:
            cells.put(area.left + (area.width - len(text)) // 2, area.top + (area.height - 1) // 2, text, Role.NOTE)
    elif area.width > 0 and area.height > 0:
        _points(cells, scatter, layout, x, np.log10(y) if scatter.log_y else y, places)
    if scatter.ascii:
        to_ascii(cells)
    return cells


def _layout(scatter: Scatter, x: Floats, y: Floats, log_x: bool, width: int, height: int) -> tuple[Layout, Spec]:
    names = scatter.x_names
    if names:
        low, high = -0.5, len(names) - 0.5
    else:
        low, high = apart(float(x.min()), float(x.max())) if len(x) else (0.0, 1.0)
        reach = (high - low) * _MARGIN
        if all(map(math.isfinite, (low - reach, high + reach, high - low + 2 * reach))):
            low, high = low - reach, high + reach
    spec = Spec(
        f"{scatter.title} by {scatter.x_label}" if names else scatter.title,
        # One curve, that the axes fit; it is never drawn.
        (Trace(scatter.title, x, y),),
        x_label="" if names else scatter.x_label,
        x_range=(low, high),
        log_y=scatter.log_y,
        value=scatter.value or "–",
        note=", ".join(text for text, on in (("log x", log_x), ("log y", scatter.log_y)) if on),
        ascii=scatter.ascii,
        monochrome=scatter.monochrome,
    )
    layout = lay_out(spec, width, height)
    area = layout.area
    if names:
        room = max(1, area.width // len(names) - 2)
        layout.x_ticks = Ticks(tuple(map(float, range(len(names)))), tuple(shorten(name, room) for name in names))
    elif log_x:
        layout.x_ticks = log_ticks(low, high, max(2, area.width // 10), spec.unit)
    layout.area = replace(area, across=1)
    layout.x = Scale(low, high)
    return layout, spec


def _points(cells: Cells, scatter: Scatter, layout: Layout, x: Floats, heights: Floats, places: Places) -> None:
    area: PlotArea = layout.area
    column = area.left + np.clip(np.rint(layout.x.dots(x, area.width)), 0, area.width - 1).astype(np.intp)
    down = (area.height - 1) - layout.y.dots(heights, area.height)
    row = area.top + np.clip(np.rint(down), 0, area.height - 1).astype(np.intp)
    there = np.zeros((cells.height, cells.width), np.int64)
    np.add.at(there, (row, column), 1)
    for at, (i, j) in enumerate(zip(row.tolist(), column.tolist(), strict=True)):
        count = int(there[i, j])
        if scatter.ascii:
            sign = "o" if count == 1 else str(count) if count < 10 else "#"
        else:
            sign = "•" if count == 1 else "●"
        cells.put(j, i, sign, Role.SERIES + scatter.colors[int(places[at])])
    if scatter.chosen is not None:
        for at in np.flatnonzero(places == scatter.chosen).tolist():
            cells.put(int(column[at]), int(row[at]), "@" if scatter.ascii else "◆", Role.READOUT)
