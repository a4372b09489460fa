"""Curves to dots: which dots of a braille or character grid a curve touches.

A cell holds `across` × `down` dots: 2 × 4 for braille, 1 × 1 or 1 × 2 for ASCII. Coordinates are dots from the
left and from the top. A curve that runs from left to right is a span of rows per dot column: from the smallest
to the largest value in the column, so that a spike of one sample stays visible however many samples share the
column, and joined with the spans beside it, so that it is one line. A curve that turns back (a parametric one)
is drawn segment by segment.

Coordinates are finite and less than 2^53, also those of points that are not drawn.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Masks = npt.NDArray[np.uint8]
"""[cell rows, dot columns]: bit *k* is the *k*-th dot from the top of the cell."""

_NOTHING = 1 << 60
"""Top of the span of an empty column; no row reaches it."""
_LEFT = np.array(
    [sum(bit for k, bit in enumerate((0x01, 0x02, 0x04, 0x40)) if m >> k & 1) for m in range(16)], np.uint8
)
_RIGHT = np.array(
    [sum(bit for k, bit in enumerate((0x08, 0x10, 0x20, 0x80)) if m >> k & 1) for m in range(16)], np.uint8
)
_FROM = np.array([(0xF << k) & 0xF for k in range(5)], np.uint8)
"""Dots from the *k*-th on down."""
_UPTO = np.array([0xF >> (4 - k) for k in range(5)], np.uint8)
"""The first *k* dots."""
_SEGMENTS_AT_ONCE = 1 << 21


def spans(across: Floats, down: Floats, drawn: npt.NDArray[np.bool_] | None, columns: int) -> tuple[Ints, Ints]:
    """First and last row of a curve in each of `columns` dot columns; first > last where there is none.

    `across` and `down` are the points in dots (across ascending; points beyond both edges only lead the line
    there), `drawn` says which points exist (None: all). A segment is drawn when both of its ends exist.
    """
    first = np.full(columns, _NOTHING, np.int64)
    last = np.full(columns, -_NOTHING, np.int64)
    if not len(across):
        return first, last
    column = np.rint(across).astype(np.int64)
    inside = slice(int(column.searchsorted(0)), int(column.searchsorted(columns)))
    kept, rows = column[inside], np.rint(down[inside]).astype(np.int64)
    if drawn is not None:
        there = drawn[inside]
        kept, rows = kept[there], rows[there]
    if len(kept):
        starts = np.concatenate(([0], np.flatnonzero(kept[1:] != kept[:-1]) + 1))
        at = kept[starts]
        first[at] = np.minimum.reduceat(rows, starts)
        last[at] = np.maximum.reduceat(rows, starts)
    _interpolate(first, last, across, down, drawn)
    _join(first, last, column, drawn)
    return first, last


def _interpolate(first: Ints, last: Ints, across: Floats, down: Floats, drawn: npt.NDArray[np.bool_] | None) -> None:
    """Fill the columns without a point that a segment passes over."""
    empty = np.flatnonzero(first > last)
    if not len(empty):
        return
    right = across.searchsorted(empty)
    passed = (right > 0) & (right < len(across))
    empty, right = empty[passed], right[passed]
    if drawn is not None:
        passed = drawn[right - 1] & drawn[right]
        empty, right = empty[passed], right[passed]
    if not len(empty):
        return
    left = right - 1
    share = (empty - across[left]) / (across[right] - across[left])
    rows = np.rint(down[left] + (down[right] - down[left]) * share).astype(np.int64)
    first[empty] = rows
    last[empty] = rows


def _join(first: Ints, last: Ints, column: Ints, drawn: npt.NDArray[np.bool_] | None) -> None:
    """Let the spans of neighbouring columns meet half-way wherever a segment runs between them."""
    filled = first <= last
    a, b = int(filled.argmax()), len(filled) - int(filled[::-1].argmax())
    if b - a < 2 or not filled[a]:
        return
    # Where the right span begins below the left one, and where it ends above; elsewhere these change nothing.
    falls = (last[a : b - 1] + first[a + 1 : b]) >> 1
    rises = (last[a + 1 : b] + first[a : b - 1]) >> 1
    falls_from, rises_from = falls + 1, rises + 1
    if drawn is not None:
        right = column.searchsorted(np.arange(a + 1, b))
        joined = (right > 0) & (right < len(column)) & filled[a : b - 1] & filled[a + 1 : b]
        right = np.where(joined, right, 1)
        apart = ~(joined & drawn[right] & drawn[right - 1])
        falls[apart] = rises[apart] = -_NOTHING
        falls_from[apart] = rises_from[apart] = _NOTHING
    np.maximum(last[a : b - 1], falls, out=last[a : b - 1])
    np.minimum(first[a + 1 : b], falls_from, out=first[a + 1 : b])
    np.minimum(first[a : b - 1], rises_from, out=first[a : b - 1])
    np.maximum(last[a + 1 : b], rises, out=last[a + 1 : b])


def thicken(first: Ints, last: Ints, rows: int) -> None:
    """One dot more below every span, above where there is none below."""
    there = first <= last
    room = last < rows - 1
    last[there & room] += 1
    first[there & ~room] -= 1


def span_masks(first: Ints, last: Ints, cell_rows: int, down: int) -> Masks:
    """The dots of spans, as masks of cells with `down` ≤ 4 dots one below the other."""
    base = np.arange(0, cell_rows * down, down)[:, None]
    begin = np.minimum(np.maximum(first - base, 0), down)
    end = np.minimum(np.maximum(last + 1 - base, 0), down)
    masks: Masks = _FROM[begin] & _UPTO[end]
    return masks


def cell_masks(dots: npt.NDArray[np.bool_], per_cell: int) -> Masks:
    """Dots [rows, columns] as masks of cells with `per_cell` dots one below the other."""
    masks = np.zeros((len(dots) // per_cell, dots.shape[1]), np.uint8)
    for k in range(per_cell):
        masks |= dots[k::per_cell].view(np.uint8) << np.uint8(k)
    return masks


def segment_masks(
    across: Floats, down: Floats, drawn: npt.NDArray[np.bool_] | None, columns: int, cell_rows: int, per_cell: int
) -> Masks:
    """The dots of a curve whose points may go anywhere, joined in the order in which they come."""
    rows = cell_rows * per_cell
    dots = np.zeros((rows, columns), np.bool_)
    if len(across):
        there = np.ones(len(across), np.bool_) if drawn is None else drawn
        alone = there & (across > -0.5) & (across < columns - 0.5) & (down > -0.5) & (down < rows - 0.5)
        dots[np.rint(down[alone]).astype(np.intp), np.rint(across[alone]).astype(np.intp)] = True
        pairs = there[1:] & there[:-1]
        ends = _cut(across[:-1][pairs], down[:-1][pairs], across[1:][pairs], down[1:][pairs], columns, rows)
        at_once = max(1, _SEGMENTS_AT_ONCE // (columns + rows))
        for start in range(0, len(ends[0]), at_once):
            _walk(dots, *(end[start : start + at_once] for end in ends))
    return cell_masks(dots, per_cell)


def _cut(
    x0: Floats, y0: Floats, x1: Floats, y1: Floats, columns: int, rows: int
) -> tuple[Floats, Floats, Floats, Floats]:
    """Cut segments at the edges of the grid (Liang and Barsky); those outside fall away."""
    dx, dy = x1 - x0, y1 - y0
    enter, leave = np.zeros(len(x0)), np.ones(len(x0))
    for delta, gap in (
        (-dx, x0 + 0.5),
        (dx, columns - 0.5 - x0),
        (-dy, y0 + 0.5),
        (dy, rows - 0.5 - y0),
    ):
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            share = gap / delta
        enter = np.where(delta < 0, np.maximum(enter, share), enter)
        leave = np.where(delta > 0, np.minimum(leave, share), leave)
        leave = np.where((delta == 0) & (gap < 0), -1.0, leave)
    kept = enter <= leave
    x0, y0, dx, dy, enter, leave = x0[kept], y0[kept], dx[kept], dy[kept], enter[kept], leave[kept]
    return x0 + dx * enter, y0 + dy * enter, x0 + dx * leave, y0 + dy * leave


def _walk(dots: npt.NDArray[np.bool_], x0: Floats, y0: Floats, x1: Floats, y1: Floats) -> None:
    """Set the dots from (x0, y0) to (x1, y1) of every segment, in steps of less than one dot."""
    steps = np.floor(np.maximum(np.abs(x1 - x0), np.abs(y1 - y0))).astype(np.int64) + 1
    counts = steps + 1
    ends = np.cumsum(counts)
    place = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - counts, counts)
    share = place / np.repeat(steps, counts)
    across = np.repeat(x0, counts) + np.repeat(x1 - x0, counts) * share
    down = np.repeat(y0, counts) + np.repeat(y1 - y0, counts) * share
    rows, columns = dots.shape
    row = np.clip(np.floor(down + 0.5), 0, rows - 1).astype(np.intp)
    column = np.clip(np.floor(across + 0.5), 0, columns - 1).astype(np.intp)
    dots[row, column] = True


def braille(masks: Masks) -> Masks:
    """Braille patterns [cell rows, dot columns / 2], to be added to U+2800."""
    patterns: Masks = _LEFT[masks[:, 0::2]] | _RIGHT[masks[:, 1::2]]
    return patterns
