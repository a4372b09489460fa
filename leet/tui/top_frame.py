"""The application around the live view of the machine."""

from __future__ import annotations

from textual.screen import Screen

from leet.tui.app import FrameApp
from leet.tui.screens.top_screen import TopScreen
from leet.tui.terminal import Terminal


class TopApp(FrameApp):
    """One screen, of this machine."""

    def __init__(
        self,
        terminal: Terminal,
        interval: float,
        directory: str = ".",
        *,
        record: bool = False,
        theme: str | None = None,
        kept: bool = True,
    ) -> None:
        """As `TopScreen`."""
        super().__init__(terminal=terminal, theme=theme)
        self.top_screen = TopScreen(terminal, interval, directory, record=record, kept=kept)

    def get_default_screen(self) -> Screen[None]:
        return self.top_screen

    @property
    def last_recording(self) -> str:
        """Where the run is that was recorded last; empty without one."""
        return self.top_screen.recording.last
