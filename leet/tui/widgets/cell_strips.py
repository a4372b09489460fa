"""Drawn cells become the strips that a screen is made of, with as few colour changes as can be.

    Cells (codes, roles)  ─►  visible roles  ─►  runs of one style  ─►  Strip

A blank cell shows only its background, so it joins the run before it: a curve with holes in it is one run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

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
    for y in np.flatnonzero(differ.any(axis=1)).tolist():
        columns = np.flatnonzero(differ[y])
        breaks = np.flatnonzero(np.diff(columns) > JOIN_GAP)
        firsts = columns[np.concatenate(([0], breaks + 1))].tolist()
        lasts = columns[np.concatenate((breaks, [len(columns) - 1]))].tolist()
        for first, last in zip(firsts, lasts, strict=True):
            yield y, first, last + 1


def strips(cells: Cells, rows: Iterable[int], style_of: StyleOf) -> Iterator[Strip]:
    """Strips of the given rows; `style_of` gives the style of a role and is asked once per run."""
    width = cells.width
    columns = np.arange(width)
    for y in rows:
        codes = cells.codes[y]
        roles = visible_roles(codes, cells.roles[y])
        # A blank takes the role of what stands before it, unless that paints backgrounds.
        blank = (codes == SPACE) & (roles == Role.BLANK)
        before = roles[np.maximum.accumulate(np.where(blank, 0, columns))]
        roles = np.where(blank & (before < Role.HEAT), before, roles)
        cuts = [0, *(np.flatnonzero(np.diff(roles)) + 1).tolist(), width]
        text = codes.tobytes().decode("utf-32-le")
        kinds = roles[cuts[:-1]].tolist()
        yield Strip(
            [Segment(text[a:b], style_of(role)) for a, b, role in zip(cuts, cuts[1:], kinds, strict=False) if b > a],
            width,
        )
