"""Values in words: the last one, those under the crosshair, and the hairline itself."""

from __future__ import annotations

import math

import numpy as np

from leet.charts.cells import Cells, Role
from leet.charts.curve import Curve
from leet.charts.layout import Layout, PlotArea
from leet.charts.lettering import Glyphs, chart_unit, mark_of, shorten
from leet.charts.spec import Spec
from leet.model.units import format_time, format_value


def last_value(spec: Spec, layout: Layout) -> str:
    """What stands at the right of the title: the value given, the last one of a single curve, or a range of several."""
    if spec.value:
        return spec.value
    lasts = [float(c.y[-1]) for c in layout.curves if len(c.y)]
    if not lasts or (len(lasts) > 1 and layout.legend_rows):
        return ""
    finite = [v for v in lasts if math.isfinite(v)]
    if len(lasts) == 1 or not finite:
        return value_text(lasts[-1], spec, layout)
    low, high = value_text(min(finite), spec, layout), value_text(max(finite), spec, layout)
    dash = "-" if spec.ascii else "–"
    return low if low == high else f"{low} {dash} {high}"


def x_text(x: float, spec: Spec, layout: Layout) -> str:
    """A place on the x axis, as exact as one dot of it."""
    if spec.x_kind == "clock" and 0 <= x <= 253402300799.0:
        form = "%m-%d %H:%M" if layout.x.hi - layout.x.lo >= 172800 else "%H:%M:%S"
        return format_time(x, form)
    if spec.x_kind == "duration" and abs(x) < 1e12:
        sign, seconds = ("-" if x < 0 else ""), abs(x)
        if seconds < 60:
            return f"{sign}{seconds:.3g}s"
        hours, rest = divmod(round(seconds), 3600)
        return f"{sign}{hours}:{rest // 60:02}:{rest % 60:02}" if hours else f"{sign}{rest // 60}:{rest % 60:02}"
    return f"{x:,.0f}" if x == round(x) and abs(x) < 1e15 else f"{x:.6g}"


def draw_crosshair(cells: Cells, spec: Spec, layout: Layout, signs: Glyphs) -> None:
    """The hairline at `spec.crosshair`, the nearest point of every curve, and what their values are."""
    assert spec.crosshair is not None
    if not math.isfinite(spec.crosshair):
        return
    area = layout.area
    column = area.column_of(spec.crosshair)
    if column is None:
        return
    rows = slice(area.top, area.top + area.height)
    free = cells.codes[rows, column] == 32
    free |= cells.roles[rows, column] == Role.GUIDE
    cells.codes[rows, column][free] = ord(signs.hairline)
    cells.roles[rows, column][free] = Role.CROSSHAIR
    entries: list[tuple[str, str, int]] = []
    at = spec.crosshair
    for place, curve in layout.listed:
        i = curve.nearest(spec.crosshair)
        if i is None:
            continue
        at = float(curve.x[i])
        entries.append((mark_of(spec, place), _entry(curve, i, spec, layout), Role.SERIES + curve.color))
        if curve.drawn is None or curve.drawn[i]:
            _point(cells, layout, at, float(curve.height[i]), Role.SERIES + curve.color, signs.point)
    _box(cells, spec, layout, column, x_text(at if len(entries) == 1 else spec.crosshair, spec, layout), entries, signs)


def _entry(curve: Curve, i: int, spec: Spec, layout: Layout) -> str:
    value = value_text(float(curve.y[i]), spec, layout)
    return f"{shorten(curve.label, 20)} {value}" if len(spec.traces) > 1 else value


def _point(cells: Cells, layout: Layout, x: float, height: float, role: int, sign: str) -> None:
    area = layout.area
    column = area.column_of(x)
    share = layout.y.share(height)
    if column is None or not -0.01 <= share <= 1.01:
        return
    down = (1.0 - share) * (area.height * layout.down - 1)
    cells.put(column, area.top + min(max(round(down) // layout.down, 0), area.height - 1), sign, role)


def _box(
    cells: Cells,
    spec: Spec,
    layout: Layout,
    column: int,
    x: str,
    entries: list[tuple[str, str, int]],
    signs: Glyphs,
) -> None:
    """The readout beside the hairline, where it covers the least of the curves."""
    area = layout.area
    several = len(spec.traces) > 1
    lines = [("", f"x {x}", int(Role.READOUT)), *entries] if several else [("", f"{x}: {t}", r) for _, t, r in entries]
    if not lines:
        lines = [("", f"x {x}", int(Role.READOUT))]
    if len(lines) > area.height:
        lines = [*lines[: max(area.height - 1, 0)], ("", f"{signs.ellipsis} {len(lines) - area.height + 1} more", 10)]
        lines = lines[: area.height]
    sides = (column + 2, column - 1)
    wide = _width(lines)
    if not several and entries and not any(_fits(area, side, wide) for side in (sides[0], sides[1] - wide)):
        # The hairline says where, if there is room for the value alone.
        lines = [("", text, role) for _, text, role in entries]
        wide = _width(lines)
    lefts = [left for left in (sides[0], sides[1] - wide) if _fits(area, left, wide)]
    if not lefts and entries and wide <= area.width:
        # Over the hairline, which is seen above or below.
        lefts = [area.left if column >= area.left + area.width / 2 else area.left + area.width - wide]
    places = []
    for left in lefts:
        for top in (area.top, area.top + area.height - len(lines)):
            covered = cells.codes[top : top + len(lines), left : left + wide] != 32
            places.append((int(np.count_nonzero(covered)), left, top))
    if not places:
        return
    _, left, top = min(places, key=lambda place: place[0])
    for row, (mark, text, role) in enumerate(lines):
        after = cells.put(left, top + row, mark, role)
        text = (" " if mark else "") + text
        after = cells.put(after, top + row, text, Role.READOUT)
        cells.put(after, top + row, " " * (left + wide - after), Role.READOUT)


def _width(lines: list[tuple[str, str, int]]) -> int:
    return max(len(mark) + bool(mark) + len(text) for mark, text, _ in lines)


def _fits(area: PlotArea, left: int, wide: int) -> bool:
    return area.left <= left and left + wide <= area.left + area.width


def value_text(value: float, spec: Spec, layout: Layout | None = None) -> str:
    """A value with its unit: four digits, more where the labels of the axis tell values apart that agree in four."""
    if math.isinf(value) and spec.ascii:
        return "Inf" if value > 0 else "-Inf"
    digits = 4
    if layout is not None and layout.y_ticks.base and value and math.isfinite(value):
        ratio = abs(value) / max(layout.y.hi - layout.y.lo, math.ulp(value))
        digits += math.ceil(math.log10(min(max(ratio, 10.0), 1e16))) - 1
    if digits > 4 and not spec.unit.sign:
        return f"{value * spec.unit.factor:.{min(digits, 16)}g}"
    return format_value(value, chart_unit(spec), min(digits, 16))
