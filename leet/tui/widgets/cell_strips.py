"""Drawn cells become the strips that a screen is made of, with as few colour changes as can be.

    Cells (codes, roles)  ─►  visible roles  ─►  runs of one style  ─►  Strip

A blank cell shows only its background, so it joins the run before it: a curve with holes in it is one run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from leet.charts.cells import Cells, Role

Roles = npt.NDArray[np.int16]
Codes = npt.NDArray[np.uint32]
StyleOf = Callable[[int], Style]

SPACE = 32
JOIN_GAP = 6
"""Unchanged cells between two changed spans that cost less to send again than to step over."""


def visible_roles(codes: Codes, roles: Roles) -> Roles:
    """`roles` with blank cells as `Role.BLANK`, unless their background is what they show. [height, width]."""
    return np.where((codes == SPACE) & (roles < Role.HEAT), np.int16(Role.BLANK), roles)


def changed_spans(codes: Codes, roles: Roles, cells: Cells) -> Iterator[tuple[int, int, int]]:
    """Where `cells` look different from what was there before: (row, first column, column after the last)."""
    differ = codes != cells.codes
    differ |= visible_roles(codes, roles) != visible_roles(cells.codes, cells.roles)
    places = np.flatnonzero(differ)
    if not len(places):
        return
    rows, columns = np.divmod(places, cells.width)
    breaks = np.flatnonzero((np.diff(rows) > 0) | (np.diff(columns) > JOIN_GAP))
    firsts, lasts = np.append(0, breaks + 1), np.append(breaks, len(places) - 1)
    yield from zip(rows[firsts].tolist(), columns[firsts].tolist(), (columns[lasts] + 1).tolist(), strict=True)


def strips(cells: Cells, rows: Sequence[int], style_of: StyleOf) -> Iterator[Strip]:
    """Strips of the given rows; `style_of` gives the style of a role and is asked once per run."""
    width = cells.width
    if not width:
        return
    codes = cells.codes[rows]
    roles = visible_roles(codes, cells.roles[rows])
    # A blank takes the role of what stands before it, unless that paints backgrounds.
    blank = (codes == SPACE) & (roles == Role.BLANK)
    inked = np.maximum.accumulate(np.where(blank, 0, np.arange(width)), axis=1)
    before = np.take_along_axis(roles, inked, axis=1)
    roles = np.where(blank & (before < Role.HEAT), before, roles)
    cuts = np.ones(roles.shape, np.bool_)
    np.not_equal(roles[:, 1:], roles[:, :-1], out=cuts[:, 1:])
    starts = np.flatnonzero(cuts)
    kinds = roles.ravel()[starts].tolist()
    text = codes.tobytes().decode("utf-32-le")
    ends = np.append(starts[1:], len(text)).tolist()
    runs = zip(starts.tolist(), ends, kinds, strict=True)
    line: list[Segment] = []
    for start, end, kind in runs:
        line.append(Segment(text[start:end], style_of(kind)))
        if end % width == 0:
            yield Strip(line, width)
            line = []
