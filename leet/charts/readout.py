"""Values in words: the last one, those under the crosshair, and the hairline itself."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from leet.charts.cells import Cells, Role
from leet.charts.layout import Layout, PlotArea
from leet.charts.lettering import Glyphs, chart_unit, mark_of
from leet.charts.scale import rounded_antilog
from leet.charts.short_names import short_names
from leet.charts.spec import AxisKind, Spec
from leet.model.units import format_time, format_value

_MOST_NAME = 20
"""Columns of a name beside a crosshair."""
BRIEF = 3
"""Digits of a value where there is little room."""


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
    if spec.log_x:
        kind: AxisKind = "number" if spec.x_kind == "decades" else "duration"
        return x_text(rounded_antilog(x), replace(spec, x_kind=kind), layout)
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


def x_difference(x: float, since: float, spec: Spec, layout: Layout) -> str:
    """How far `x` lies after `since`, with its sign: steps, or time."""
    if spec.log_x:
        kind: AxisKind = "number" if spec.x_kind == "decades" else "duration"
        linear = replace(spec, x_kind=kind)
        return x_difference(rounded_antilog(x), rounded_antilog(since), linear, layout)
    away = x - since
    sign = "+" if away > 0 else "-" if away < 0 else ""
    spec = replace(spec, x_kind="duration") if spec.x_kind == "clock" else spec
    return sign + x_text(abs(away), spec, layout)


def difference(value: float, since: float, spec: Spec) -> str:
    """How much `value` is above `since`, with its sign."""
    away = value - since
    return ("+" if away > 0 else "") + value_text(away, spec)


def draw_anchor(cells: Cells, spec: Spec, layout: Layout, signs: Glyphs) -> None:
    """The hairline at `spec.anchor`, and the nearest point of every curve."""
    assert spec.anchor is not None
    _hairline(cells, layout, spec.anchor, signs.anchor)
    for curve in layout.curves:
        there = curve.read(spec.anchor, spec.log_y)
        if there is not None and there.height is not None:
            _point(cells, layout, there.x, there.height, Role.SERIES + curve.color, signs.anchored)


def _hairline(cells: Cells, layout: Layout, x: float, sign: str) -> int | None:
    """A line down the chart at `x`, behind all that stands there; its column, None where it is not on the axis."""
    area = layout.area
    column = area.column_of(x) if math.isfinite(x) else None
    if column is not None:
        rows = slice(area.top, area.top + area.height)
        free = cells.codes[rows, column] == 32
        free |= cells.roles[rows, column] == Role.GUIDE
        cells.codes[rows, column][free] = ord(sign)
        cells.roles[rows, column][free] = Role.CROSSHAIR
    return column


def draw_crosshair(cells: Cells, spec: Spec, layout: Layout, signs: Glyphs) -> None:
    """The hairline at `spec.crosshair`, the nearest point of every curve, and what their values are."""
    assert spec.crosshair is not None
    column = _hairline(cells, layout, spec.crosshair, signs.hairline)
    if column is None:
        return
    anchor = spec.anchor if spec.anchor is not None and math.isfinite(spec.anchor) else None
    at, since = spec.crosshair, anchor
    entries: list[_Entry] = []
    names = short_names(tuple(curve.label for _, curve in layout.listed), _MOST_NAME, signs.ellipsis)
    for (place, curve), name in zip(layout.listed, names, strict=True):
        here = curve.read(spec.crosshair, spec.log_y)
        if here is None:
            continue
        at, value, change = here.x, here.y, ""
        if anchor is not None and (there := curve.read(anchor, spec.log_y)) is not None:
            since, change = there.x, difference(value, there.y, spec)
        role = Role.SERIES + curve.color
        text, brief = value_text(value, spec, layout), value_text(value, spec, digits=BRIEF)
        entries.append(_Entry(mark_of(spec, place), role, name, text, brief, change))
        if here.height is not None:
            _point(cells, layout, at, here.height, role, signs.point)
    if len(entries) != 1:
        at, since = spec.crosshair, anchor
    apart = "" if since is None else x_difference(at, since, spec, layout)
    told = (_of_several if len(spec.traces) > 1 or not entries else _of_one)(x_text(at, spec, layout), apart, entries)
    _box(cells, layout, column, told, signs)


class _Entry(NamedTuple):
    """What is read out of one curve."""

    mark: str
    role: int
    label: str
    value: str
    brief: str
    """The value in fewer digits."""
    change: str
    """Since the anchor; empty where there is none."""


Lines = list[tuple[str, str, int]]
"""(mark, text, role of the mark) of each line of a readout."""


Wordings = tuple[list[Lines], list[Lines]]
"""A readout in ever less room, with x and, where not even that fits, without."""


def _of_one(x: str, apart: str, entries: list[_Entry]) -> Wordings:
    """What is read out of a single curve at `x`, `apart` from the anchor: digits give way before x does."""
    _, role, _, value, brief, change = entries[0]
    with_x = [("", f"Δ {apart}: {change}", role)] if change else []
    without = [("", f"Δ {change}", role)] if change else []
    return (
        [[("", f"{x}: {text}", role), *with_x] for text in (value, brief)],
        [[("", text, role), *without] for text in (value, brief)],
    )


def _of_several(x: str, apart: str, entries: list[_Entry]) -> Wordings:
    """The same of several: digits give way first, then names; what has changed does not."""
    first = ("", f"x {x}" + (f"  Δ {apart}" if apart else ""), int(Role.READOUT))
    changed = any(entry.change for entry in entries)
    named = max((len(entry.label) for entry in entries), default=0) if changed else 0
    told: list[Lines] = []
    for values in ([e.value for e in entries], [e.brief for e in entries]):
        wide = max(map(len, values), default=0) if changed else 0
        texts = [f"{v.rjust(wide)}  Δ {e.change}" if changed else v for v, e in zip(values, entries, strict=True)]
        both = list(zip(entries, texts, strict=True))
        told.append([first, *((e.mark, f"{e.label.ljust(named)} {text}", e.role) for e, text in both)])
        if changed:
            told.append([first, *((e.mark, text, e.role) for e, text in both)])
    return told, []


def _point(cells: Cells, layout: Layout, x: float, height: float, role: int, sign: str) -> None:
    area = layout.area
    column = area.column_of(x)
    share = layout.y.share(height)
    if column is None or not -0.01 <= share <= 1.01:
        return
    down = (1.0 - share) * (area.height * layout.down - 1)
    cells.put(column, area.top + min(max(round(down) // layout.down, 0), area.height - 1), sign, role)


def _box(cells: Cells, layout: Layout, column: int, told: Wordings, signs: Glyphs) -> None:
    """The readout where it covers the least of the curves: beside the hairline, else over it, which is seen above or
    below."""
    area = layout.area
    lines, wide, lefts = told[0][0], 0, list[int]()
    for wordings in told:
        cut = [_cut(lines, area.height, signs) for lines in wordings]
        over = area.left if column >= area.left + area.width / 2 else area.left + area.width
        for lines, beside in [*((lines, True) for lines in cut), *((lines, False) for lines in cut)]:
            wide = _width(lines)
            places_x = (column + 2, column - 1 - wide) if beside else (over - wide * (over > area.left),)
            lefts = [left for left in places_x if _fits(area, left, wide)]
            if lefts:
                break
        if lefts:
            break
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


def _cut(lines: Lines, height: int, signs: Glyphs) -> Lines:
    """As many lines as fit; the last says how many do not."""
    if len(lines) <= height:
        return lines
    more = ("", f"{signs.ellipsis} {len(lines) - height + 1} more", int(Role.READOUT))
    return [*lines[: max(height - 1, 0)], more][:height]


def _width(lines: Lines) -> int:
    return max(len(mark) + bool(mark) + len(text) for mark, text, _ in lines)


def _fits(area: PlotArea, left: int, wide: int) -> bool:
    return area.left <= left and left + wide <= area.left + area.width


def value_text(value: float, spec: Spec, layout: Layout | None = None, *, digits: int = 4) -> str:
    """A value with its unit: so many digits, more where the labels of the axis tell values apart that agree in four."""
    if math.isinf(value) and spec.ascii:
        return "Inf" if value > 0 else "-Inf"
    if layout is not None and layout.y_ticks.base and value and math.isfinite(value):
        ratio = abs(value) / max(layout.y.hi - layout.y.lo, math.ulp(value))
        digits += math.ceil(math.log10(min(max(ratio, 10.0), 1e16))) - 1
    if digits > 4 and not spec.unit.sign:
        return f"{value * spec.unit.factor:.{min(digits, 16)}g}"
    return format_value(value, chart_unit(spec), min(digits, 16))
