"""Charts drawn by plotext, for pipes and scripts.

plotext 6 aborts the whole process (in C++, past any exception) when a value is NaN, raises at infinities and at the
logarithm of zero, overflows near 1e308 and prints control characters of titles as they are. So it never sees values
or texts of a log here: our own scales turn every value into a share of the axis, 0 … 1, curves are split where a
value is missing, labels are our own, and titles and legends are written around the picture.

It has one figure for the whole process: `draw` is for one thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from leet.charts.curve import Curve
from leet.charts.layout import Layout, lay_out
from leet.charts.lettering import SERIES_GLYPHS, glyphs, mark_of, shorten
from leet.charts.readout import last_value, value_text
from leet.charts.scale import Scale
from leet.charts.short_names import short_names
from leet.charts.spec import Spec
from leet.charts.surround import notes
from leet.model.safe_text import clean

Floats = npt.NDArray[np.float64]

_COLORS = (6, 3, 5, 2, 1, 4, 14, 11, 13, 10, 9, 12)
"""Of the 16 colours, those that are readable on dark and light screens first."""
_MARK_COLOR = 1
_SMALLEST = (16, 4)
"""plotext's frame and labels leave nothing of less."""
_PLAIN = str.maketrans("─│┌┐└┘├┤┬┴┼╭╮╰╯", "-|+++++++++++++")
_NARROW = str.maketrans({"µ": "u", "–": "-", "…": "~", "≤": "<", "∞": "I", "°": "", "●": "*"})


def draw(spec: Spec, width: int, height: int, color: bool = False) -> str:
    """`spec` as lines of text: a title line, a legend line for several curves, then `height` rows of chart."""
    width, height = max(width, _SMALLEST[0]), max(height, _SMALLEST[1])
    # Two rows of the frame and one of labels are plotext's; the rest is plot, as in our own frame.
    layout = lay_out(spec, width, height - 1)
    lines = [_title(spec, layout, width)]
    if len(layout.curves) > 1:
        lines.append(_legend(spec, layout, width, color))
    lines += _picture(spec, layout, width, height, color) if not layout.empty else [_nothing(layout)]
    text = "\n".join(lines)
    if spec.ascii:
        text = text.translate(_PLAIN).translate(_NARROW).encode("ascii", "replace").decode("ascii")
    return text


def _title(spec: Spec, layout: Layout, width: int) -> str:
    value = last_value(spec, layout)
    note = ", ".join(filter(None, (spec.note, *notes(spec, layout))))
    note = f" ({note})" if note else ""
    room = max(width - len(value) - 2 - len(note), 8)
    title = shorten(clean(spec.title), room, glyphs(spec).ellipsis) + note
    return f"{title}{value.rjust(max(width - len(title), len(value) + 2))}".rstrip()


def _legend(spec: Spec, layout: Layout, width: int, color: bool) -> str:
    """Mark, name and last value of each curve, as many as fit into one line."""
    parts: list[str] = []
    used = 0
    names = short_names(tuple(clean(curve.label) for curve in layout.curves), 24, glyphs(spec).ellipsis)
    for place, curve in enumerate(layout.curves):
        value = value_text(float(curve.y[-1]), spec, layout) if len(curve.y) else ""
        text = f"{names[place]} {value}".rstrip()
        mark = mark_of(spec, place)
        left = len(layout.curves) - place
        if used + len(mark) + len(text) + 3 > width - (len(f"+{left}") if left > 1 else 0) and parts:
            parts.append(f"+{left}")
            break
        used += len(mark) + len(text) + 3
        if color:
            mark = f"\x1b[38;5;{_color(curve)}m{mark}\x1b[0m"
        parts.append(f"{mark} {text}")
    return "  ".join(parts)


def _nothing(layout: Layout) -> str:
    if any(curve.dropped for curve in layout.curves):
        return "  no values above 0"
    return "  no finite values" if any(len(curve.x) for curve in layout.curves) else "  no data"


def _color(curve: Curve) -> int:
    return _COLORS[curve.color % len(_COLORS)]


def _picture(spec: Spec, layout: Layout, width: int, height: int, color: bool) -> list[str]:
    import plotext

    # Otherwise the size is cut to that of the terminal, 80 × 24 in a pipe.
    plotext.terminal.limit(False, False)
    figure = plotext.figure
    figure.clear()
    figure.plot_size(width, height)
    figure.canvas("default")
    figure.theme("simple")
    figure.legend(False)
    figure.axes(style="rounded")
    for axis, scale, ticks in (("x", layout.x, layout.x_ticks), ("y", layout.y, layout.y_ticks)):
        ruler = figure.ruler(axis)
        ruler.lim(0.0, 1.0)
        ruler.ticks(_shares(scale, np.array(ticks.values)).tolist(), list(ticks.labels))
    for place, curve in enumerate(layout.curves):
        pixel = plotext.pixel(foreground=_color(curve))
        glyph = SERIES_GLYPHS[place % len(SERIES_GLYPHS)] if spec.ascii else "braille"
        for x, y in _pieces(curve, layout):
            alone = len(x) == 1 and not spec.ascii
            marker = plotext.marker(glyphs(spec).dot if alone else glyph, pixel=pixel)
            signal = figure.signal(x.tolist(), y.tolist(), marker=marker)
            figure.draw(signal.lines() if len(x) > 1 else signal)
    _draw_marks(figure, plotext, spec, layout)
    text: str = figure.build().string(colorless=not color)
    return [line.rstrip() for line in text.rstrip("\n").split("\n")]


def _pieces(curve: Curve, layout: Layout) -> Iterator[tuple[Floats, Floats]]:
    """The unbroken pieces of a curve, in shares of both axes."""
    part = curve.around(layout.x.lo, layout.x.hi)
    x, y = _shares(layout.x, curve.x[part]), _shares(layout.y, curve.height[part])
    if curve.drawn is None:
        if len(x):
            yield x, y
        return
    drawn = curve.drawn[part]
    edges = np.flatnonzero(np.diff(np.concatenate(([False], drawn, [False]))))
    for start, stop in edges.reshape(-1, 2).tolist():
        yield x[start:stop], y[start:stop]


def _shares(scale: Scale, values: Floats) -> Floats:
    """Places along an axis, 0 … 1 and finite whatever the values were."""
    shares: Floats = np.clip(np.nan_to_num(scale.dots(values, 2), nan=0.0), 0.0, 1.0)
    return shares


def _draw_marks(figure: Any, plotext: Any, spec: Spec, layout: Layout) -> None:
    """A sign at the lower or upper edge wherever a value is NaN or infinite."""
    signs = glyphs(spec)
    for curve in layout.curves:
        if not curve.nonfinite:
            continue
        for sign, wrong, height in (
            (signs.nan, np.isnan(curve.y), 0.0),
            (signs.below, curve.y == -np.inf, 0.0),
            (signs.above, curve.y == np.inf, 1.0),
        ):
            x = np.unique(np.round(_shares(layout.x, curve.x[wrong]), 3))
            if len(x):
                marker = plotext.marker(sign, pixel=plotext.pixel(foreground=_MARK_COLOR))
                figure.draw(figure.signal(x.tolist(), [height] * len(x), marker=marker))
