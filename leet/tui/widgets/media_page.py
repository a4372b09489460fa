"""Where the tiles of a page stand."""

from __future__ import annotations

from dataclasses import dataclass

from textual.geometry import Region

SMALLEST = 18, 8
"""Columns and rows of a tile: the grid has fewer where they would become smaller."""
GAP = 1
"""Columns between tiles."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page of tiles: `slots` in reading order, from tile number `first` on; `capacity` of a full page."""

    columns: int
    rows: int
    first: int
    slots: tuple[Region, ...]

    @property
    def capacity(self) -> int:
        return self.columns * self.rows

    def slot_at(self, x: int, y: int) -> int | None:
        """The slot at a cell."""
        return next((i for i, slot in enumerate(self.slots) if slot.contains(x, y)), None)


def lay_out(width: int, height: int, grid: tuple[int, int], count: int, chosen: int) -> Page:
    """The page with tile number `chosen` of `count`, in a grid of at most (rows, columns) tiles."""
    rows = max(1, min(grid[0], height // SMALLEST[1]))
    columns = max(1, min(grid[1], (width + GAP) // (SMALLEST[0] + GAP)))
    capacity = rows * columns
    if count < capacity:  # few tiles get all the room
        columns = max(1, min(columns, count))
        rows = max(1, min(rows, -(-count // columns)))
    first = max(0, chosen) // (rows * columns) * (rows * columns)
    shown = max(0, min(rows * columns, count - first))
    across, down = _parts(width - GAP * (columns - 1), columns), _parts(height, rows)
    slots = []
    for number in range(shown):
        row, column = divmod(number, columns)
        x = sum(across[:column]) + GAP * column
        slots.append(Region(x, sum(down[:row]), across[column], down[row]))
    return Page(columns, rows, first, tuple(slots))


def _parts(length: int, parts: int) -> list[int]:
    """`length` in so many parts, as equal as can be."""
    each, more = divmod(max(length, 0), parts)
    return [each + (i < more) for i in range(parts)]
