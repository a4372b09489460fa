"""`leet config` as a program of its own."""

from __future__ import annotations

import os

from textual.screen import Screen

from leet.settings.store import settings
from leet.tui.app import FrameApp
from leet.tui.screens.config_screen import ConfigScreen


class ConfigApp(FrameApp):
    """`leet config`."""

    def get_default_screen(self) -> Screen[None]:
        screen: Screen[None] = ConfigScreen()  # type: ignore[assignment]  # it is never dismissed here
        return screen

    async def action_quit(self) -> None:
        """By ctrl+c too nothing that was changed is lost without a word."""
        if isinstance(self.screen, ConfigScreen):
            self.screen.action_leave()
        else:
            await super().action_quit()


def edit() -> int:
    """Run the editor on this terminal; its exit status."""
    from leet.tui.terminal import detect

    held = settings()
    terminal = detect(os.environ, ascii_only=held.toggle("ascii"), mouse=held.toggle("mouse"))
    app = ConfigApp(terminal=terminal)
    app.run(mouse=terminal.mouse)
    return app.return_code or 0
