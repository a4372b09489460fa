"""The record inspector as a program of its own: `leet inspect PATH` on a terminal."""

from __future__ import annotations

import os
from pathlib import Path

from textual.screen import Screen

from leet.tui.app import FrameApp
from leet.tui.screens.records_screen import RecordsScreen
from leet.tui.terminal import Terminal, detect


class RecordsApp(FrameApp):
    """The records of one log."""

    def __init__(self, log: Path, *, terminal: Terminal | None = None, live: bool = True) -> None:
        super().__init__(terminal=terminal)
        self._log_path = log
        self._live = live

    def get_default_screen(self) -> Screen[None]:
        return RecordsScreen(self._log_path, live=self._live)


def browse(log: Path) -> int:
    """Show the records of a log until the person leaves; the exit status."""
    terminal = detect(os.environ)
    app = RecordsApp(log, terminal=terminal)
    app.run(mouse=terminal.mouse)
    return browse(log) if app.restarted() else app.return_code or 0
