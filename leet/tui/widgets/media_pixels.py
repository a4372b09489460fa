"""Pictures in full resolution over the blank cells of a widget.

    paint ─► leave_room: blank cells, and what is to be drawn there ─► after the frame: drawn, or taken away

A picture is on the terminal beside what Textual knows of it, so it is taken away when anything may lie over it: another
screen, another size, the pane hidden. Kitty's pictures stay where they are when text is written; sixels do not.
"""

from __future__ import annotations

from typing import ClassVar

from rich.style import Style
from textual.geometry import Region
from textual.strip import Strip

from leet.model.media_content import Content
from leet.tui.graphics import Placement, Placements, Protocol
from leet.tui.widgets.media_tile import Room, centred
from leet.tui.widgets.painted import Painted


class PixelTiles(Painted):
    """A widget whose `paint` leaves room for pictures; it begins with `begin_places` and ends with `place_later`."""

    FIRST_SLOT: ClassVar[int] = 0
    """Number of the first slot for pictures, which all widgets share."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's name
        super().__init__(id=id)
        self.protocol: Protocol | None = None
        """How the terminal draws pixels, if it does."""
        self.full_resolution = False
        self._placements: Placements | None = None
        self._places: dict[int, Placement] = {}

    def on_mount(self) -> None:
        self.app.screen_change_signal.subscribe(self, lambda _: self._another_screen())
        self.app.app_resume_signal.subscribe(self, lambda _: self._drawn_anew())

    def on_unmount(self) -> None:
        self._take_away()

    def on_hide(self) -> None:
        self._take_away()

    def on_resize(self) -> None:
        self._drawn_anew()

    @property
    def ground(self) -> Style:
        """The background."""
        return Style(bgcolor=self.background_colors[1].rich_color)

    def begin_places(self) -> None:
        """Nothing is to be drawn yet."""
        self._places = {}

    def leave_room(self, content: Content, region: Region, slot: int, room: Room) -> list[Strip]:
        """Blank cells for the picture of a tile at `region`, which is drawn over them."""
        columns, rows = min(content.cells[0], region.width), min(content.cells[1], room.body)
        left, top = (region.width - columns) // 2, (room.body - rows) // 2
        place = Region(region.x + left, region.y + room.top + top, columns, rows)
        self._places[slot] = Placement(place, content.sequence, content.sequence)
        return centred([], region.width, room.body, self.ground)

    def place_later(self) -> None:
        """Draw the pictures when the frame is on the terminal."""
        if self._places or self._placements is not None:
            self.call_after_refresh(self._place)

    def _place(self) -> None:
        if self.protocol is None or not self.is_mounted:
            return
        if self._placements is None:
            self._placements = Placements(self._write, self.protocol, self.FIRST_SLOT)
        visible = self.app.screen is self.screen and self.display and self.full_resolution and bool(self.size.width)
        corner = self.region.offset
        wanted = {}
        for slot, placement in self._places.items() if visible else ():
            sequence = placement.sequence.replace("i=0,", f"i={self._placements.number(slot)},", 1)
            wanted[slot] = Placement(placement.region.translate(corner), placement.identity, sequence)
        self._placements.show(wanted, self.ground)

    def _take_away(self) -> None:
        if self._placements is not None:
            self._placements.clear(self.ground)
            self._placements = None

    def _another_screen(self) -> None:
        if self._placements is not None:
            if self.app.screen is self.screen:
                self._placements.forget()
                self.call_after_refresh(self._place)
            else:
                self._place()

    def _drawn_anew(self) -> None:
        """The whole screen is being drawn."""
        if self._placements is not None:
            self._placements.clear(self.ground)
            self.call_after_refresh(self._place)

    def _write(self, data: str) -> None:
        driver = self.app._driver  # the one way past Textual, which knows no pictures
        if driver is not None:
            driver.write(data)
            driver.flush()
