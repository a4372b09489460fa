"""Where the charts of a page stand."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from textual.geometry import Region, Size

MOST = 9
"""Rows or columns of a page, at most."""


@dataclass(frozen=True, slots=True)
class PageLayout:
    """A page of `rows` × `columns` places that cover `size` without gaps, filled row by row."""

    size: Size
    rows: int
    columns: int

    @property
    def capacity(self) -> int:
        return self.rows * self.columns

    def region(self, place: int) -> Region:
        """Of the place counted from 0; spare columns and lines are spread over the page."""
        row, column = divmod(place, self.columns)
        x, right = (i * self.size.width // self.columns for i in (column, column + 1))
        y, bottom = (i * self.size.height // self.rows for i in (row, row + 1))
        return Region(x, y, right - x, bottom - y)

    def place_at(self, x: int, y: int) -> int | None:
        """The place that covers a cell."""
        if not (0 <= x < self.size.width and 0 <= y < self.size.height):
            return None
        lefts = [i * self.size.width // self.columns for i in range(self.columns)]
        tops = [i * self.size.height // self.rows for i in range(self.rows)]
        return (bisect_right(tops, y) - 1) * self.columns + bisect_right(lefts, x) - 1


def lay_out(size: Size, rows: int, columns: int, count: int, smallest: Size) -> PageLayout:
    """The wished grid, shrunk to charts not smaller than `smallest`, and to what `count` charts need."""
    columns = max(1, min(columns, MOST, size.width // max(1, smallest.width)))
    rows = max(1, min(rows, MOST, size.height // max(1, smallest.height)))
    if 0 < count < rows * columns:
        columns = min(columns, count)
        rows = -(-count // columns)
    return PageLayout(size, rows, columns)
