"""One tile of media over the whole screen."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from leet.tui.commands import Place, bindings, hints
from leet.tui.messages import MomentChosen, PaneNoteChanged
from leet.tui.screens.overlay import Overlay
from leet.tui.span_update import SpanScreen
from leet.tui.widgets.media_wall import MediaWall
from leet.tui.widgets.status_line import Part, StatusLine


class LargeTile(MediaWall):
    """A wall of one tile."""

    FIRST_SLOT: ClassVar[int] = 100


class MediaScreen(SpanScreen[None], Overlay[None]):
    """The tiles of a pane one at a time. What is chosen here is chosen in the pane too: both have the same view."""

    PLACE: ClassVar[Place] = "media_screen"
    BINDINGS: ClassVar[list[BindingType]] = bindings("media_screen")

    def __init__(self, origin: MediaWall) -> None:
        super().__init__()
        self._origin = origin
        self.wall = LargeTile(rows=1, columns=1, id="media-large")

    def compose(self) -> ComposeResult:
        yield self.wall
        yield StatusLine(id="status")

    def on_mount(self) -> None:
        origin = self._origin
        self.wall.share(origin)
        if origin.model is not None and origin.feed is not None:
            self.wall.show_model(origin.model, origin.feed)
        self.wall.focus()
        self._show_status()
        self.set_interval(0.25, self.wall.data_changed)

    def paint_now(self) -> None:
        self.wall.paint_now()

    def _show_status(self) -> None:
        tiles, tile = self.wall.tiles(), self.wall.selected
        place = f"{tiles.index(tile) + 1} of {len(tiles)}" if tile is not None else ""
        linked = [Part("linked", "status--message")] if self.wall.view.linked else []
        self.query_one(StatusLine).show(
            [Part(f"media {place}", "status--text"), *linked],
            [("Esc", "back"), *hints("media_screen"), *(hint for hint in hints("media") if hint[1] != "open")],
        )

    def on_pane_note_changed(self, event: PaneNoteChanged) -> None:
        event.stop()
        self._show_status()

    def on_moment_chosen(self, event: MomentChosen) -> None:
        """The charts are under this screen, and follow there."""
        event.stop()
        self._origin.post_message(MomentChosen(event.moment))

    def action_back(self) -> None:
        self.dismiss()

    def action_help(self) -> None:
        from leet.tui.screens.help_screen import HelpScreen

        self.app.push_screen(HelpScreen(self.PLACE, "media"))
