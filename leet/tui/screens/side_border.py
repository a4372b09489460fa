"""The border between two sides of a screen, dragged with the mouse."""

from __future__ import annotations

from textual import events
from textual.geometry import Region


class SideBorder:
    """Follows the mouse from where a button went down on the border to where it comes up."""

    def __init__(self) -> None:
        self._from: int | None = None
        """Columns between the pointer and the border while it is dragged."""

    def width(self, event: events.Event, side: Region) -> int | None:
        """The columns that the left side, now at `side`, is to have; None where the event is somebody else's."""
        if not isinstance(event, events.MouseDown | events.MouseMove | events.MouseUp):
            return None
        x = int(event.x)
        if isinstance(event, events.MouseDown):
            within = side.y <= event.y < side.bottom and 0 <= x - side.right + 1 <= 1
            if not (event.button == 1 and side.width and within):
                return None
            self._from = x - side.right
            return side.width
        if self._from is None:
            return None
        width = x - self._from - side.x
        if isinstance(event, events.MouseUp):
            self._from = None
        return width
