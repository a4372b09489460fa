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
        """By ctrl+c, or from a list or the help over it, nothing that was changed is lost without a word."""
        editor = self.screen_stack[0]
        assert isinstance(editor, ConfigScreen)
        if self.screen is editor or editor.draft.changed:
            while len(self.screen_stack) > 1:
                await self.pop_screen()
            editor.action_leave()
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
