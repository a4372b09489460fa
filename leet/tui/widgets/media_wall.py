"""The media pane: tiles of what a run has logged besides numbers, moved about by keys and mouse.

Actions, for the table of commands:

    scrub(±1) scrub_far(±1)      samples of the selected tile, one or ten at a time
    first_page last_page         its first and last sample
    move('left' | …)             among the tiles; next_page previous_page: pages of them
    open                         full screen; leave
    link resolution overlays     tiles and crosshairs together; pixels or half blocks; masks and boxes
    open_outside                 the system's viewer

Mouse: a click selects a tile, and a click or a drag on its slider a sample; the wheel scrubs.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import ClassVar

import numpy as np
from textual import events
from textual.binding import BindingType
from textual.geometry import Region

from leet.model.filter import TextFilter
from leet.model.media import Tile
from leet.model.media_files import NoSuchFile, find
from leet.model.media_value import medium_of
from leet.model.run import RunModel
from leet.model.safe_text import clean
from leet.reading.media_values import ValueGone, read_value
from leet.settings import settings
from leet.tui.commands import Place, bindings
from leet.tui.feed import RunFeed
from leet.tui.graphics import Protocol, detect, remote_or_multiplexed
from leet.tui.messages import MomentChosen
from leet.tui.widgets.media_pages import MediaPages
from leet.tui.widgets.media_tile import Room, index_on_slider
from leet.tui.widgets.media_view import FAR, MediaView
from leet.tui.widgets.status_line import StatusLine

MOST = 9
"""Rows and columns of the grid."""
REMEMBERED = 32
"""Runs whose views are kept."""


class MediaWall(MediaPages, can_focus=True):
    """See the module."""

    PLACE: ClassVar[Place] = "media"
    BINDINGS: ClassVar[list[BindingType]] = bindings("media")

    def __init__(
        self,
        *,
        rows: int = 1,
        columns: int = 2,
        id: str | None = None,  # noqa: A002  Textual's name
    ) -> None:
        """`rows` and `columns` of tiles at most."""
        super().__init__(grid=(rows, columns), id=id)
        self._views: dict[Path | None, MediaView] = {}
        self._sliding: Region | None = None
        """The tile whose slider is held."""

    def on_mount(self) -> None:
        held = settings()
        self.heat_palette = held.choice("colors.heat")
        if not self.app.is_headless and not self.terminal.ascii and self.terminal.depth != "none":
            self.protocol = protocol_of(held.choice("media.graphics"))
            self.full_resolution = self.protocol is not None and not self.terminal.remote

    def share(self, other: MediaWall) -> None:
        """Look at the same run as another wall, in the same way: what changes here changes there."""
        self.view, self._views, self._filter = other.view, other._views, other._filter
        self.protocol, self.full_resolution = other.protocol, other.full_resolution

    @property
    def rows(self) -> int:
        """Rows of the grid, at most."""
        return self.grid[0]

    @property
    def columns(self) -> int:
        """Columns of the grid, at most."""
        return self.grid[1]

    # The contract of panes

    def show_model(self, model: RunModel, feed: RunFeed) -> None:
        """This run from now on."""
        if model is not self.model:
            self.view = self._views.setdefault(model.path, MediaView())
            while len(self._views) > REMEMBERED:
                del self._views[next(iter(self._views))]
        super().show_model(model, feed)

    def filter(self, wanted: TextFilter | None) -> None:
        """Keep the tiles whose names match."""
        self._filter = wanted if wanted else None
        self.update()

    @property
    def count(self) -> tuple[int, int]:
        """(kept, all) tiles."""
        return len(self.tiles()), len(self.model.media.tiles()) if self.model is not None else 0

    @property
    def empty_note(self) -> str:
        """A sentence in place of tiles; empty when there are some."""
        kept, total = self.count
        if kept:
            return ""
        if total:
            return "No media match the filter"
        if self.feed is not None and not self.feed.loaded:
            return "Reading the log…"
        return "No images, tables, histograms or other media in this run"

    def show_moment(self, moment: float | None) -> None:
        """The charts' crosshairs are at `moment` (Unix seconds): while linked, so are the tiles."""
        if moment is None or self.model is None or not self.view.linked:
            return
        times = self.model.metrics.timestamps
        if not len(times):
            return
        if times.ascending:
            row = int(np.searchsorted(times.view, moment, "right")) - 1
        else:
            distance = np.abs(np.where(np.isfinite(times.view), times.view, np.inf) - moment)
            row = int(distance.argmin())
        if self.view.go_to_row(max(row, 0)):
            self.repaint()

    # Samples

    def action_scrub(self, by: int) -> None:
        tile = self.selected
        if tile is not None and self.model is not None and self.view.scrub(self.model.media, tile, by):
            self._moved()

    def action_scrub_far(self, direction: int) -> None:
        self.action_scrub(direction * FAR)

    def action_first_page(self) -> None:
        self._go_to(0)

    def action_last_page(self) -> None:
        if self.selected is not None and self.model is not None:
            self._go_to(len(self.model.media.series(self.selected.key)) - 1)

    def _go_to(self, index: int) -> None:
        tile = self.selected
        if tile is not None and self.model is not None and self.view.go_to(self.model.media, tile, index):
            self._moved()

    def _moved(self) -> None:
        self.repaint()
        if not self.view.linked or self.model is None or self.selected is None:
            return
        index = self.view.index(self.model.media, self.selected)
        times = self.model.metrics.timestamps.view
        if index is not None:
            row = int(self.model.media.series(self.selected.key).rows[index])
            if row < len(times) and np.isfinite(times[row]):
                self.post_message(MomentChosen(float(times[row])))

    def action_link(self) -> None:
        """Scrub all tiles, and the charts' crosshairs, together; or each for itself."""
        if self.model is not None and self.selected is not None:
            self.view.link(self.model.media)
            self._say("tiles and crosshairs move together" if self.view.linked else "each tile moves for itself")
            self.update()
            if self.view.linked and self.view.row is not None:
                self._moved()

    # Tiles

    def action_move(self, direction: str) -> None:
        columns = self.page.columns if self.page is not None else 1
        by = {"left": -1, "right": 1, "up": -columns, "down": columns}[direction]
        tiles = self.tiles()
        if self.selected is not None and 0 <= tiles.index(self.selected) + by < len(tiles):
            self.select(tiles[tiles.index(self.selected) + by])

    def action_next_page(self) -> None:
        self._turn(1)

    def action_previous_page(self) -> None:
        self._turn(-1)

    def _turn(self, by: int) -> None:
        tiles, page = self.tiles(), self.page
        if self.selected is not None and page is not None:
            start = tiles.index(self.selected) // page.capacity * page.capacity + by * page.capacity
            if 0 <= start < len(tiles):
                self.select(tiles[start])

    def select(self, tile: Tile) -> None:
        self.view.selected = tile
        self.update()

    def action_set_rows(self, rows: int) -> None:
        self.grid = min(max(rows, 1), MOST), self.grid[1]
        self.update()

    def action_set_columns(self, columns: int) -> None:
        self.grid = self.grid[0], min(max(columns, 1), MOST)
        self.update()

    def action_leave(self) -> bool:
        """There is no mode to leave."""
        return False

    # Ways to look at them

    def action_open(self) -> None:
        """The selected tile over the whole screen; a table as a table."""
        tile = self.selected
        if tile is None or self.model is None:
            return
        if self.model.media.series(tile.key).kind in ("table-file", "incremental-table-file"):
            self._open_table(tile)
        else:
            self._open_tile()

    def _open_tile(self) -> None:
        from leet.tui.screens.media_screen import MediaScreen

        self.app.push_screen(MediaScreen(self), lambda _: self.update())

    def _open_table(self, tile: Tile) -> None:
        from leet.tui.screens.table_screen import TableScreen

        try:
            file = self._file_of(tile)
            screen = TableScreen(file, f"{clean(tile.name)} · {self.step_text(tile)}")
        except (NoSuchFile, OSError) as error:
            self._say(clean(str(error)))
        else:
            self.app.push_screen(screen)

    def action_overlays(self) -> None:
        """Masks and boxes over the pictures, or the pictures alone."""
        self.view.overlays = not self.view.overlays
        self._say("masks and boxes are drawn" if self.view.overlays else "pictures without masks and boxes")
        self.update()

    def action_resolution(self) -> None:
        """Half blocks, or the pixels that the terminal can draw."""
        if self.protocol is None:
            self._say(f"no full resolution: {remote_or_multiplexed(os.environ)}")
            return
        self.full_resolution = not self.full_resolution
        self._say(f"pictures by {self.protocol}" if self.full_resolution else "pictures in half blocks")
        self.update()

    def action_open_outside(self) -> None:
        """The file of the selected tile in the system's viewer."""
        from leet.tui.system_viewer import NoViewer, open_file

        if self.selected is None:
            return
        try:
            file = self._file_of(self.selected)
        except NoSuchFile as error:
            self._say(clean(str(error)))
            return
        try:
            open_file(file)
            self._say(f"opened {clean(file.name)}")
        except NoViewer as error:
            # Whoever has come over ssh can fetch it by its path.
            self.app.copy_to_clipboard(str(file.absolute()))
            self._say(f"{error}; its path is in the clipboard: {clean(file.name)}", f"{error}; path copied")

    def _file_of(self, tile: Tile) -> Path:
        """The file of what a tile shows. Raises NoSuchFile."""
        assert self.model is not None
        index = self.view.index(self.model.media, tile)
        if self.model.path is None or index is None:
            raise NoSuchFile("there is nothing at this step")
        log, offset = self.record_of(tile.key, index)
        try:
            value = read_value(log, offset, tile.key)
        except ValueGone as error:
            raise NoSuchFile(str(error)) from error
        medium = medium_of(value, tile.piece)
        return find(log, medium.path if medium is not None else "")

    def _say(self, *wordings: str) -> None:
        for line in self.screen.query(StatusLine) if self.is_attached else ():  # keys of a burst outlive the screen
            line.say(*wordings)

    # Mouse

    def on_mouse_down(self, event: events.MouseDown) -> None:
        if event.button != 1 or self.page is None:
            return
        slot = self.page.slot_at(event.x, event.y)
        if slot is None:
            return
        event.stop()
        region, tile = self.page.slots[slot], self.tiles()[self.page.first + slot]
        self.select(tile)
        if Room.of(region.height).slider and event.y == region.bottom - 1 and self._slide(event.x, region):
            self._sliding = region
            self.capture_mouse()

    def _slide(self, x: int, region: Region) -> bool:
        """Go to the sample at a column of the selected tile's slider; False beside it."""
        assert self.model is not None
        assert self.selected is not None
        count = len(self.model.media.series(self.selected.key))
        index = index_on_slider(x - region.x, count, region.width)
        if index is not None:
            self._go_to(index)
        return index is not None

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._sliding is not None and self.selected is not None:
            event.stop()
            self._slide(event.x, self._sliding)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        if self._sliding is not None:
            event.stop()
            self._sliding = None
            self.release_mouse()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._wheel(event, -1)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._wheel(event, 1)

    def _wheel(self, event: events.MouseEvent, by: int) -> None:
        slot = self.page.slot_at(event.x, event.y) if self.page is not None else None
        if slot is not None and self.page is not None:
            event.stop()
            self.select(self.tiles()[self.page.first + slot])
            self.action_scrub(by)


def protocol_of(choice: str) -> Protocol | None:
    """The way of drawing pixels that the setting `media.graphics` and the terminal agree on."""
    if choice == "kitty":
        return "kitty"
    if choice == "sixel":
        return "sixel"
    return detect(os.environ) if choice == "auto" else None
