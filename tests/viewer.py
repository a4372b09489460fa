"""The viewer in a test: the real app on a real log, without a terminal."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from textual import events
from textual.keys import _character_to_key
from textual.pilot import Pilot

from leet.discovery import Found
from leet.tui.app import LeetApp
from leet.tui.screens.run_screen import RunScreen
from leet.tui.screenshot import text_of
from leet.tui.terminal import Terminal

NOW = 1_764_500_900.0


class Viewer:
    """What a test does with the app: press keys, look at the screen."""

    def __init__(self, app: LeetApp, pilot: Pilot[object]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def run(self) -> RunScreen:
        return self.app.run_screen

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def type(self, text: str) -> None:
        """Press the keys of a text one upon the other."""
        assert self.app._driver is not None
        for char in text:
            event = events.Key(_character_to_key(char), char)
            event.set_sender(self.app)
            self.app._driver.send_message(event)
        await self.pilot.pause()
        await self.pilot.pause()

    def text(self) -> str:
        return text_of(self.app)

    def lines(self) -> list[str]:
        return self.text().splitlines()

    @property
    def status(self) -> str:
        return self.lines()[-1]

    @property
    def titles(self) -> list[str]:
        """Titles of the metric charts on the page."""
        grid = self.run.metrics
        first, last, _ = grid.page
        return [source.title for source in grid.sources[first - 1 : last]]

    async def until(self, wanted: str, *, gone: bool = False, seconds: float = 20.0) -> None:
        """Wait until the screen says `wanted`, or no longer does."""
        for _ in range(int(seconds / 0.05)):
            if (wanted in self.text()) is not gone:
                return
            await self.pilot.pause(0.05)
        raise AssertionError(f"{wanted!r} did not {'go from' if gone else 'appear on'}\n{self.text()}")


async def happened(event: asyncio.Event) -> None:
    """Wait for it; a minute at most, for an app that has ended in between never tells."""
    await asyncio.wait_for(event.wait(), 60)


@asynccontextmanager
async def viewing(
    log: Path,
    size: tuple[int, int] = (120, 40),
    *,
    live: bool = False,
    others: int = 0,
    terminal: Terminal | None = None,
    theme: str | None = None,
) -> AsyncIterator[Viewer]:
    """The app on `log`, when it has been read to its end."""
    app = LeetApp(Found(log, others), terminal=terminal or Terminal(now=NOW), live=live, theme=theme)
    async with app.run_test(size=size) as pilot:
        await happened(app.run_screen.loaded)
        await pilot.pause()
        app.run_screen.paint_now()
        await pilot.pause()
        yield Viewer(app, pilot)
