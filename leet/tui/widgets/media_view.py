"""How the media of a run are looked at: which sample of each series, apart from any data and any screen."""

from __future__ import annotations

from dataclasses import dataclass, field

from leet.model.media import MediaStore, Tile

FAR = 10
"""Samples of a larger step."""


@dataclass(slots=True)
class MediaView:
    """Places are rows of history, so that they hold while a series grows. None is the newest, whichever that is."""

    selected: Tile | None = None
    linked: bool = False
    """All series are at one row, and so are the charts' crosshairs."""
    row: int | None = None
    """That row, while they are linked."""
    rows: dict[str, int | None] = field(default_factory=dict)
    """The row of each series that was ever moved, while they are not."""
    overlays: bool = False
    """Masks and boxes are drawn over the pictures."""

    def place(self, key: str) -> int | None:
        """The row at which a series is."""
        return self.row if self.linked else self.rows.get(key)

    def index(self, store: MediaStore, tile: Tile) -> int | None:
        """Which of its values a tile shows: the newest at or before its row. None where that is before the first."""
        series = store.series(tile.key)
        row = self.place(tile.key)
        return len(series) - 1 if row is None else series.at_or_before(row)

    def scrub(self, store: MediaStore, tile: Tile, by: int) -> bool:
        """Move a tile by so many of its values; whether it has moved."""
        series = store.series(tile.key)
        now = self.index(store, tile)
        wanted = min(max((-1 if now is None else now) + by, 0), len(series) - 1)
        return self.go_to(store, tile, wanted)

    def go_to(self, store: MediaStore, tile: Tile, index: int) -> bool:
        """Show this value of a tile; whether it was another before. At the newest of all it stays at the newest."""
        series = store.series(tile.key)
        row = int(series.rows[index])
        newest = index == len(series) - 1
        if self.linked and newest:
            newest = all(int(store.series(t.key).rows[-1]) <= row for t in store.tiles())
        return self._place(tile.key, None if newest else row)

    def go_to_row(self, row: int | None) -> bool:
        """Bring all series to a row, where they are linked; whether they were elsewhere before."""
        return self.linked and self._place("", row)

    def link(self, store: MediaStore) -> None:
        """Link all to where the selected one is, or let each go its own way from there."""
        if self.linked:
            self.rows = {tile.key: self.row for tile in store.tiles()}
            self.linked = False
            return
        tile = self.selected
        place = self.rows.get(tile.key) if tile is not None else None
        if place is None and tile is not None:
            newest = int(store.series(tile.key).rows[-1])
            place = None if all(int(store.series(t.key).rows[-1]) <= newest for t in store.tiles()) else newest
        self.linked, self.row = True, place

    def _place(self, key: str, row: int | None) -> bool:
        if self.linked:
            moved, self.row = row != self.row, row
        else:
            moved, self.rows[key] = row != self.rows.get(key), row
        return moved
