"""Heat-maps: one band of rows per series, one column per piece of time, the value as a colour or a density."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from leet.charts.cells import Cells, Role
from leet.charts.curve import Curve, prepare
from leet.charts.layout import Layout, PlotArea, x_axis, x_scale
from leet.charts.lettering import Glyphs, glyphs, to_ascii
from leet.charts.readout import value_text, x_text
from leet.charts.scale import LARGEST, Scale
from leet.charts.short_names import short_names
from leet.charts.spec import Spec
from leet.charts.surround import clear_labels, draw_frame
from leet.charts.ticks import Ticks

Floats = npt.NDArray[np.float64]

_DENSITY = " .:-=+*#%@"
_BLOCKS = " ░▒▓█"
_LEVELS = 255
_LONGEST_LABEL = 14
_SCALE_STEPS = 10
_HELD = 2.5
"""A value is held until the next one while that comes within so many of the usual distances between samples."""


@dataclass(slots=True)
class _Band:
    """The rows of the picture that show one series, or the mean of neighbouring ones."""

    label: str
    top: int
    bottom: int
    values: Floats
    """Mean of each column, NaN where there is none."""
    wrong: npt.NDArray[np.bool_]
    """Columns with a value that is not finite."""


def draw_heatmap(spec: Spec, width: int, height: int) -> Cells:
    """The traces of `spec` as bands of `width` × `height` cells, coloured over its `y_range` (or that of the data)."""
    spec = replace(spec, log_y=False)
    cells = Cells(max(width, 1), max(height, 1))
    signs = glyphs(spec)
    layout = _lay_out(spec, width, height)
    area = layout.area
    bands = _bands(layout, spec, signs)
    low, high = _bounds(spec, bands)
    first, last = value_text(low, spec), value_text(high, spec)
    legend = f"{first} {'█' * _SCALE_STEPS} {last}"
    spec = replace(spec, value=legend, note=", ".join(filter(None, (spec.note, _averaged(layout)))))
    shown = draw_frame(cells, spec, layout, signs)
    if shown is not None:
        shares = np.linspace(0.0, 1.0, _SCALE_STEPS)
        _paint(cells, slice(0, 1), shown + len(first) + 1, shares, spec)
    names = short_names(tuple(band.label for band in bands), max(area.left - 2, 0), signs.ellipsis)
    for band, name in zip(bands, names, strict=True):
        if area.left > 2:
            text = name.ljust(area.left - 2)
            cells.put(1, area.top + (band.top + band.bottom - 1) // 2, text, Role.TICK)
        rows = slice(area.top + band.top, area.top + band.bottom)
        _paint(cells, rows, area.left, Scale(low, high).dots(band.values, 2), spec)
        for column in np.flatnonzero(band.wrong & np.isnan(band.values)).tolist():
            cells.put(area.left + column, area.top + (band.top + band.bottom - 1) // 2, signs.nan, Role.MARK)
    if not bands or all(np.isnan(band.values).all() for band in bands):
        text = "no data" if not any(len(c.x) for c in layout.curves) else "no finite values"
        if len(text) <= area.width:
            cells.put(area.left + (area.width - len(text)) // 2, area.top + area.height // 2, text, Role.NOTE)
    if spec.crosshair is not None:
        _crosshair(cells, spec, layout, bands, signs)
    if spec.ascii:
        to_ascii(cells)
    return cells


def heatmap_area(spec: Spec, width: int, height: int) -> PlotArea:
    """Where `draw_heatmap` draws the bands, with the x axis along them."""
    return _lay_out(replace(spec, log_y=False), width, height).area


def _lay_out(spec: Spec, width: int, height: int) -> Layout:
    width, height = max(width, 1), max(height, 1)
    framed = height >= 3 and width >= 8
    titled = framed or height >= 2
    side, top, bottom = int(framed), int(titled), int(framed)
    curves = prepare(spec)
    rows = height - top - bottom
    label = 0
    if framed and width >= 24 and curves:
        longest = max(len(c.label) for c in curves)
        # A band of several curves is labelled with the first and the last of them.
        longest += 0 if rows >= len(curves) else 1 + len(str(len(curves)))
        label = min(longest, _LONGEST_LABEL, width // 4) + 1
    x = x_scale(spec, curves)
    columns = width - 2 * side - label
    area = PlotArea(side + label, top, columns, rows, (x.lo, x.hi), 1)
    x_ticks = (
        x_axis(spec, curves, x, columns) if framed and (any(len(c.x) for c in curves) or spec.x_range) else Ticks()
    )
    return Layout(curves, area, x, Scale(0.0, 1.0), 1, framed, titled, Ticks(), x_ticks, 0)


def _bands(layout: Layout, spec: Spec, signs: Glyphs) -> list[_Band]:
    """A band per curve, or as many as there are rows, each the mean of neighbouring curves."""
    area, curves = layout.area, layout.curves
    if not curves or area.height < 1 or area.width < 1:
        return []
    many = min(len(curves), area.height)
    edges = [round(i * area.height / many) for i in range(many + 1)]
    shares = [round(i * len(curves) / many) for i in range(many + 1)]
    bands = []
    for i in range(many):
        group = curves[shares[i] : shares[i + 1]]
        means, wrong = zip(*(_means(curve, layout.x, area.width) for curve in group), strict=True)
        label = group[0].label if len(group) == 1 else _span_label(group[0].label, group[-1].label, signs)
        bands.append(_Band(label, edges[i], edges[i + 1], _mean(means), np.logical_or.reduce(wrong)))
    return bands


def _averaged(layout: Layout) -> str:
    """`means of 3 samples` where a column stands for several: what is short shows paler than it was."""
    inside = [(curve.x >= layout.x.lo) & (curve.x <= layout.x.hi) for curve in layout.curves]
    most = max((np.count_nonzero(there) for there in inside), default=0)
    samples = round(most / layout.area.width) if layout.area.width > 0 else 0
    told = any(curve.nonfinite for curve in layout.curves)  # how many are not finite needs the room more
    return f"means of {samples:,} samples" if samples > 1 and not told else ""


def _span_label(first: str, last: str, signs: Glyphs) -> str:
    """`GPU 0…3` for `GPU 0` and `GPU 3`."""
    common = 0
    while common < min(len(first), len(last)) and first[common] == last[common] and not first[common].isdigit():
        common += 1
    return first + signs.ellipsis + (last[common:] if common else last)


def _mean(rows: tuple[Floats, ...]) -> Floats:
    """Mean per column of what is there; NaN where nothing is."""
    if len(rows) == 1:
        return rows[0]
    stack = np.stack(rows)
    there = ~np.isnan(stack)
    counts = there.sum(axis=0)
    with np.errstate(over="ignore"):
        total = np.where(there, stack / np.maximum(counts, 1), 0.0).sum(axis=0)
    return np.where(counts > 0, np.clip(total, -LARGEST, LARGEST), np.nan)


def _means(curve: Curve, x: Scale, columns: int) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Mean of each of `columns` pieces of the x axis, and which of them hold a value that is not finite."""
    column = np.floor(np.clip(x.dots(curve.x, columns), -1.0, columns) + 0.5).astype(np.int64)
    inside = (curve.x >= x.lo) & (curve.x <= x.hi)
    fine = inside if curve.drawn is None else inside & curve.drawn
    wrong = np.zeros(columns, np.bool_)
    if curve.drawn is not None:
        wrong[column[inside & ~curve.drawn]] = True
    at, values = column[fine], curve.y[fine]
    counts = np.bincount(at, minlength=columns)
    # Divided first, as the sum of large values need not be a float; rounding may still lead out of them.
    sums = np.clip(np.bincount(at, values / np.maximum(counts, 1)[at], minlength=columns), -LARGEST, LARGEST)
    means = np.where(counts > 0, sums, np.nan)
    _hold(means, wrong, curve, x)
    return means, wrong


def _hold(means: Floats, wrong: npt.NDArray[np.bool_], curve: Curve, x: Scale) -> None:
    """Let a value last until the next sample where columns are narrower than the distance between samples."""
    filled = np.flatnonzero(~np.isnan(means) | wrong)
    if len(filled) < 2 or len(filled) == len(means):
        return
    distances = np.diff(filled)
    usual = float(np.median(distances))
    known = np.where(np.isnan(means) & ~wrong, 0, np.arange(len(means)))
    np.maximum.accumulate(known, out=known)
    after = np.minimum(np.searchsorted(filled, np.arange(len(means)), "right"), len(filled) - 1)
    empty = np.isnan(means) & ~wrong
    empty &= (np.arange(len(means)) > filled[0]) & (np.arange(len(means)) < filled[-1])
    empty &= filled[after] - known <= _HELD * usual
    means[empty] = means[known[empty]]


def _bounds(spec: Spec, bands: list[_Band]) -> tuple[float, float]:
    if spec.y_range is not None and all(map(math.isfinite, spec.y_range)) and spec.y_range[0] < spec.y_range[1]:
        return float(spec.y_range[0]), float(spec.y_range[1])
    known = [band.values[~np.isnan(band.values)] for band in bands]
    known = [values for values in known if len(values)]
    if not known:
        return 0.0, 1.0
    low, high = min(float(v.min()) for v in known), max(float(v.max()) for v in known)
    if not math.isfinite(high - low):
        return low * 0.4, high * 0.4
    return (low, high) if low < high else (low, low + (abs(low) * 0.1 or 1.0))


def _paint(cells: Cells, rows: slice, left: int, shares: Floats, spec: Spec) -> None:
    """Write one value per column, 0 … 1 over the colours, into all of `rows`; NaN stays empty."""
    there = ~np.isnan(shares)
    known = np.clip(np.where(there, shares, 0.0), 0.0, 1.0)
    if spec.ascii or spec.monochrome:
        signs = np.array([ord(c) for c in (_DENSITY if spec.ascii else _BLOCKS)], np.uint32)
        codes = signs[np.minimum((known * len(signs)).astype(np.intp), len(signs) - 1)]
    else:
        codes = np.full(len(known), ord("█"), np.uint32)
    columns = left + np.flatnonzero(there)
    cells.codes[rows, columns] = codes[there]
    cells.roles[rows, columns] = (Role.HEAT + np.rint(known[there] * _LEVELS)).astype(np.int16)


def _crosshair(cells: Cells, spec: Spec, layout: Layout, bands: list[_Band], signs: Glyphs) -> None:
    """The hairline, the value of every band beside it, and x below it."""
    assert spec.crosshair is not None
    area = layout.area
    column = area.column_of(spec.crosshair) if math.isfinite(spec.crosshair) else None
    if column is None:
        return
    place = column - area.left
    texts = []
    for band in bands:
        value = float(band.values[place])
        texts.append(
            "NaN" if band.wrong[place] and math.isnan(value) else "" if math.isnan(value) else value_text(value, spec)
        )
    texts = [f" {text} " for text in texts]
    wide = max(map(len, texts), default=0)
    left = column + 1 if column + 1 + wide <= area.left + area.width else column - wide
    for row in range(area.top, area.top + area.height):
        cells.put(column, row, signs.hairline, Role.CROSSHAIR)
    for band, text in zip(bands, texts, strict=True):
        if text.strip() and left >= area.left:
            cells.put(left, area.top + (band.top + band.bottom - 1) // 2, text.ljust(wide), Role.READOUT)
    at = f" {x_text(spec.crosshair, spec, layout)} "
    if layout.framed and len(at) <= area.width:
        start = min(max(column - len(at) // 2, area.left), area.left + area.width - len(at))
        clear_labels(cells, start, start + len(at), signs)
        cells.put(start, cells.height - 1, at, Role.READOUT)
