"""Line charts."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from leet.charts import raster
from leet.charts.band import draw_bands
from leet.charts.cells import Cells, Role
from leet.charts.curve import Curve
from leet.charts.layout import Layout, PlotArea, lay_out, plot_area
from leet.charts.lettering import Glyphs, glyphs, mark_of, to_ascii
from leet.charts.readout import draw_anchor, draw_crosshair
from leet.charts.spec import Spec
from leet.charts.surround import draw_frame, draw_legend, draw_y_labels

__all__ = ["PlotArea", "draw_chart", "plot_area"]

_ASCII_HALVES = np.array([ord(c) for c in " '.:"], np.uint32)
"""Upper and lower dot of a cell that holds two."""


def draw_chart(spec: Spec, width: int, height: int) -> Cells:
    """`spec` as a chart of `width` × `height` cells; any size from 1 × 1 and any numbers will do."""
    cells = Cells(max(width, 1), max(height, 1))
    layout = lay_out(spec, width, height)
    signs = glyphs(spec)
    draw_frame(cells, spec, layout, signs)
    draw_y_labels(cells, spec, layout, signs)
    draw_legend(cells, spec, layout, signs)
    if layout.empty:
        _say_empty(cells, layout.area, layout)
    _guides(cells, spec, layout, signs)
    if spec.threshold is not None:
        _threshold(cells, spec, layout, signs)
    _curves(cells, spec, layout, signs)
    _lone_points(cells, layout, signs)
    if spec.y_limits != (None, None):
        _marks_beyond(cells, layout, signs)
    _marks(cells, layout, signs)
    if spec.monochrome and not spec.ascii and len(layout.curves) > 1:
        _letters(cells, spec, layout)
    if spec.anchor is not None:
        draw_anchor(cells, spec, layout, signs)
    if spec.crosshair is not None:
        draw_crosshair(cells, spec, layout, signs)
    if spec.ascii:
        to_ascii(cells)
    return cells


def _say_empty(cells: Cells, area: PlotArea, layout: Layout) -> None:
    points = sum(len(c.x) for c in layout.curves)
    text = "no finite values" if points else "no data"
    if points and any(c.dropped for c in layout.curves):
        text = "no values above 0"
    if len(text) <= area.width and area.height:
        row = area.top + (area.height - 1) // 2
        cells.put(area.left + (area.width - len(text)) // 2, row, text, Role.NOTE)


def _guides(cells: Cells, spec: Spec, layout: Layout, signs: Glyphs) -> None:
    if spec.guides == "off":
        return
    area = layout.area
    rows = sorted({_row_of(layout, value) for value in layout.y_ticks.values})
    for row in rows:
        line = slice(area.left, area.left + area.width)
        if spec.guides == "dots":
            columns = [c for v in layout.x_ticks.values if (c := area.column_of(v)) is not None]
            for column in columns:
                cells.put(column, row, "." if spec.ascii else "·", Role.GUIDE)
        else:
            cells.codes[row, line] = ord(signs.guide)
            cells.roles[row, line] = Role.GUIDE


def _threshold(cells: Cells, spec: Spec, layout: Layout, signs: Glyphs) -> None:
    """The line of the threshold, behind the curves, where it lies on the axis."""
    assert spec.threshold is not None
    height, area = layout.y.transformed(spec.threshold.value), layout.area
    if area.height > 0 and 0.0 <= layout.y.share(height) <= 1.0:
        line = _row_of(layout, height), slice(area.left, area.left + area.width)
        cells.codes[line] = ord(signs.guide)
        cells.roles[line] = Role.MARK if spec.crossed else Role.CROSSHAIR


def _row_of(layout: Layout, height: float) -> int:
    """The row of the chart where a (transformed) value lies."""
    area = layout.area
    dots = area.height * layout.down
    down = (1.0 - layout.y.share(height)) * (dots - 1)
    return area.top + min(max(round(down) // layout.down, 0), area.height - 1)


def _curves(cells: Cells, spec: Spec, layout: Layout, signs: Glyphs) -> None:
    area, down = layout.area, layout.down
    if area.width < 1 or area.height < 1:
        return
    columns, rows = area.width * area.across, area.height * down
    plot = slice(area.top, area.top + area.height), slice(area.left, area.left + area.width)
    codes, roles = cells.codes[plot], cells.roles[plot]
    painted = np.zeros((area.height, area.width), np.uint8)
    draw_bands(codes, roles, layout, columns, rows)
    if area.across == 2 and not spec.monochrome:
        _points_behind(codes, roles, layout, columns, rows)
    for place, points in enumerate(layout.curves):
        curve = points.smooth or points
        masks = _masks(curve, layout, columns, rows)
        if masks is None:
            continue
        if area.across == 2:
            pattern = raster.braille(masks)
            there = pattern != 0
            painted |= pattern
        else:
            there = masks != 0
            if down == 2:
                np.copyto(codes, _ASCII_HALVES[masks], where=there)
            else:
                np.copyto(codes, np.uint32(ord(mark_of(spec, place))), where=there)
        np.copyto(roles, np.int16(Role.SERIES + curve.color), where=there)
    if area.across == 2:
        np.copyto(codes, painted + np.uint32(0x2800), where=painted != 0)


def _points_behind(
    codes: npt.NDArray[np.uint32], roles: npt.NDArray[np.int16], layout: Layout, columns: int, rows: int
) -> None:
    """The points of curves of which the smoothed lines are drawn over them."""
    painted = np.zeros(codes.shape, np.uint8)
    for curve in layout.curves:
        if curve.smooth is not None and (masks := _masks(curve, layout, columns, rows)) is not None:
            pattern = raster.braille(masks)
            painted |= pattern
            np.copyto(roles, np.int16(Role.FAINT + curve.color), where=pattern != 0)
    np.copyto(codes, painted + np.uint32(0x2800), where=painted != 0)


def _lone_points(cells: Cells, layout: Layout, signs: Glyphs) -> None:
    """The only point of a curve is more than one braille dot."""
    for curve in layout.curves:
        places = np.flatnonzero(curve.drawn) if curve.drawn is not None else np.arange(min(len(curve.x), 2))
        if len(places) == 1:
            i = int(places[0])
            column = layout.area.column_of(float(curve.x[i]))
            if column is not None and 0.0 <= layout.y.share(float(curve.height[i])) <= 1.0:
                row = _row_of(layout, float(curve.height[i]))
                cells.put(column, row, signs.dot, Role.SERIES + curve.color)


def _masks(curve: Curve, layout: Layout, columns: int, rows: int) -> raster.Masks | None:
    part = curve.around(layout.x.lo, layout.x.hi)
    x, heights = curve.x[part], curve.height[part]
    if not len(x):
        return None
    drawn = None if curve.drawn is None else curve.drawn[part]
    across = layout.x.dots(x, columns)
    down = (rows - 1) - layout.y.dots(heights, rows)
    if curve.ascending:
        first, last = raster.spans(across, down, drawn, columns)
        if curve.heavy and layout.down > 2:
            raster.thicken(first, last, rows)
        return raster.span_masks(first, last, layout.area.height, layout.down)
    return raster.segment_masks(across, down, drawn, columns, layout.area.height, layout.down)


def _marks(cells: Cells, layout: Layout, signs: Glyphs) -> None:
    """A sign at the edge of the plot wherever a value is not finite."""
    area = layout.area
    for curve in layout.curves:
        if not curve.nonfinite:
            continue
        part = curve.within(layout.x.lo, layout.x.hi)
        x, y = curve.x[part], curve.y[part]
        for sign, wrong, row in (
            (signs.nan, np.isnan(y), area.top + area.height - 1),
            (signs.below, y == -math.inf, area.top + area.height - 1),
            (signs.above, y == math.inf, area.top),
        ):
            if not wrong.any():
                continue
            dots = np.rint(layout.x.dots(x[wrong], area.width * area.across)).astype(np.intp)
            columns = area.left + np.clip(dots // area.across, 0, area.width - 1)
            cells.codes[row, columns] = ord(sign)
            cells.roles[row, columns] = Role.MARK


def _marks_beyond(cells: Cells, layout: Layout, signs: Glyphs) -> None:
    """An arrow of the curve's colour at the edge of the plot wherever values lie beyond it."""
    area = layout.area
    if area.width < 1 or area.height < 1:
        return
    dots = area.height * layout.down
    for curve in layout.curves:
        part = curve.within(layout.x.lo, layout.x.hi)
        x, down = curve.x[part], (dots - 1) - layout.y.dots(curve.height[part], dots)
        drawn = True if curve.drawn is None else curve.drawn[part]
        for sign, beyond, row in (
            (signs.over, down < -0.5, area.top),
            (signs.under, down > dots - 0.5, area.top + area.height - 1),
        ):
            beyond &= drawn
            if beyond.any():
                across = np.rint(layout.x.dots(x[beyond], area.width * area.across)).astype(np.intp)
                columns = area.left + np.clip(across // area.across, 0, area.width - 1)
                cells.codes[row, columns] = ord(sign)
                cells.roles[row, columns] = Role.SERIES + curve.color


def _letters(cells: Cells, spec: Spec, layout: Layout) -> None:
    """The letter of each curve on it, at places that are as far from the others' as the width allows."""
    area = layout.area
    many = len(layout.curves)
    for place, curve in enumerate(layout.curves):
        part = curve.within(layout.x.lo, layout.x.hi)
        x, heights = curve.x[part], curve.height[part]
        if curve.drawn is not None:
            x, heights = x[curve.drawn[part]], heights[curve.drawn[part]]
        if not len(x):
            continue
        for share in (0.25, 0.75):
            wanted = layout.x.value_at(share + (place + 0.5) / many * 0.25)
            i = int(np.abs(x * 0.5 - wanted * 0.5).argmin())
            column = area.column_of(float(x[i]))
            if column is not None and 0.0 <= layout.y.share(float(heights[i])) <= 1.0:
                cells.put(column, _row_of(layout, float(heights[i])), mark_of(spec, place), Role.SERIES + curve.color)
