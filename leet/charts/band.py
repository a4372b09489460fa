"""What lies around curves (the runs of a group around their mean): a shade behind all curves.

⡠⠊  a curve is drawn with all of its dots
⠡⢂  a shade has a quarter of them, so that it is told from a curve without colour too; up to four of them have
    dots of their own, so that where they overlap there are more
. :  in ASCII every second cell has a sign
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from leet.charts import raster
from leet.charts.cells import Role
from leet.charts.curve import Curve
from leet.charts.layout import Layout

_SIGNS = ".:,'"
"""What the shades of an ASCII chart are drawn with, in turn."""


def draw_bands(
    codes: npt.NDArray[np.uint32], roles: npt.NDArray[np.int16], layout: Layout, columns: int, rows: int
) -> None:
    """Shade the plot (cells of `codes` and `roles`, `columns` × `rows` dots) where curves have a band."""
    if not any(curve.band for curve in layout.curves):
        return
    dots = np.zeros(codes.shape, np.uint8)
    for place, curve in enumerate(layout.curves):
        masks = _masks(curve, layout, columns, rows)
        if masks is None:
            continue
        across, down = np.arange(columns), np.arange(rows)
        if layout.area.across == 2:
            shade = (down[:, None] + 2 * across + place) % 4 == 0
            pattern = raster.braille(raster.cell_masks(masks & shade, layout.down))
            dots |= pattern
            np.copyto(roles, np.int16(Role.FAINT + curve.color), where=pattern != 0)
        else:
            there = masks & ((down[:, None] + across + place) % 2 == 0)
            np.copyto(codes, np.uint32(ord(_SIGNS[place % len(_SIGNS)])), where=there)
            np.copyto(roles, np.int16(Role.FAINT + curve.color), where=there)
    np.copyto(codes, dots + np.uint32(0x2800), where=dots != 0)


def _masks(curve: Curve, layout: Layout, columns: int, rows: int) -> npt.NDArray[np.bool_] | None:
    """Which dots [rows, columns] lie in the band of a curve; None where none can."""
    if curve.band is None:
        return None
    low, high = curve.band
    part = high.around(layout.x.lo, layout.x.hi)
    x, tops = high.x[part], high.height[part]
    if not len(x):
        return None
    across = layout.x.dots(x, columns)
    top_drawn = None if high.drawn is None else high.drawn[part]
    top, _ = raster.spans(across, (rows - 1) - layout.y.dots(tops, rows), top_drawn, columns)
    bottoms = low.height[part]
    if low.drawn is not None:
        # What a logarithmic axis cannot show lies below it.
        bottoms = np.where(low.drawn[part], bottoms, layout.y.lo)
    _, bottom = raster.spans(across, (rows - 1) - layout.y.dots(bottoms, rows), top_drawn, columns)
    down = np.arange(rows)[:, None]
    return (down >= top) & (down <= bottom)
