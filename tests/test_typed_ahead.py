"""Keys that arrive together act in the order in which they were typed: a slow line delivers several in one packet."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_run import trained
from sweep import sweep
from terminals import viewer
from test_workspace_screen import at
from textual.app import App
from textual.widgets import Input
from viewer import Viewer, viewing

from leet.tui.driver import Keys
from leet.tui.screens.chart_screen import ChartScreen
from leet.tui.screens.config_screen import ConfigScreen
from leet.tui.screens.help_screen import HelpScreen
from leet.tui.screens.run_screen import RunScreen

EDITS = [
    ("abcX\x7fde", "abcde"),
    ("stat\x7f\x7fate:running", "state:running"),
    ("ab\x1b[Dc", "acb"),
    ("ab\x1b[D\x1b[Dc\x1b[Fd", "cabd"),
    ("ab cd\x17ef", "ab ef"),
    ("ab\x01c\x1b[3~d", "cdb"),
    ("a\x1b[200~bc\x1b[201~d", "abcd"),
]
"""What is sent in one piece, and the text that it comes to."""
PROMPTS = {
    "filter of the metrics": ("/", "filter-input"),
    "filter of the system metrics": ("\\", "filter-input"),
    "filter of the overview": ("o", "filter-input"),
    "filter of the console": ("4\x7f/", "filter-input"),
    "search in the console": ("4F", "prompt-input"),
    "range of y": ("Y", "prompt-input"),
}
"""Keys that open each, and its field."""


def packet(app: App[None], text: str) -> None:
    """What the terminal sent at once."""
    for event in Keys().feed(text):
        app.post_message(event)


async def settle(viewer: Viewer) -> None:
    for _ in range(5):
        await viewer.pilot.pause()


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trained(tmp_path_factory.mktemp("run"), metrics=20)


@pytest.mark.parametrize(("typed", "text"), EDITS)
async def test_edits_of_a_filter(log: Path, typed: str, text: str) -> None:
    async with viewing(log) as viewer:
        packet(viewer.app, f"/{typed}")
        await settle(viewer)
        assert viewer.run.filter_line is not None
        assert viewer.run.filter_line.input.value == text


@pytest.mark.parametrize("prompt", PROMPTS)
async def test_every_prompt_takes_what_was_typed_before_it_was_there(log: Path, prompt: str) -> None:
    opening, name = PROMPTS[prompt]
    async with viewing(log) as viewer:
        packet(viewer.app, f"{opening}abcX\x7fde\x1b[D\x1b[Df")
        await settle(viewer)
        (field,) = (field for field in viewer.app.screen.query(Input) if field.id == name and field.has_focus)
        assert field.value.endswith("abcfde")


async def test_keys_behind_enter_and_escape_are_for_the_pane(log: Path) -> None:
    async with viewing(log) as viewer:
        packet(viewer.app, "/lors\x7f\x7fss\r\x1b[B")
        await settle(viewer)
        assert viewer.run.filters["metrics"].text == "loss"
        assert not viewer.run.typing


async def test_a_filter_given_up_is_not_applied_afterwards(log: Path) -> None:
    from textual.events import Key

    async with viewing(log) as viewer:
        for key in ("slash", "z", "z", "escape", "v"):
            viewer.app.post_message(Key(key, key if len(key) == 1 else None))
        await settle(viewer)
        assert viewer.run.filters["metrics"].text == ""
        assert viewer.run.metrics.crosshair is not None


async def test_enter_opens_what_the_filter_before_it_left(log: Path) -> None:
    async with viewing(log) as viewer:
        packet(viewer.app, "/layers/7\r\r")
        await settle(viewer)
        screen = viewer.app.screen
        assert isinstance(screen, ChartScreen)
        assert "layers/7/grad" in viewer.text()


async def test_keys_for_screens_that_are_being_made(log: Path) -> None:
    async with viewing(log) as viewer:
        packet(viewer.app, "?/pax\x7fne")
        await settle(viewer)
        assert isinstance(viewer.app.screen, HelpScreen)
        assert viewer.app.screen.query_one(Input).value == "pane"
        packet(viewer.app, "\x03")
    async with viewing(log) as viewer:
        packet(viewer.app, ",/conx\x7fsole")
        await settle(viewer)
        assert isinstance(viewer.app.screen, ConfigScreen)
        assert viewer.app.screen.focused is not None
        assert viewer.app.screen.focused.value == "console"  # type: ignore[attr-defined]
        packet(viewer.app, "\r")
        await settle(viewer)


async def test_the_palette_takes_what_is_typed_at_once(log: Path) -> None:
    async with viewing(log) as viewer:
        packet(viewer.app, "\x10helx\x7f")
        await settle(viewer)
        field = viewer.app.screen.focused
        assert isinstance(field, Input)
        assert field.value == "hel"


async def test_a_query_of_runs_and_enter_open_the_run_that_it_found(tmp_path: Path) -> None:
    sweep(tmp_path)
    async with at(tmp_path) as place:
        wanted = place.names[-1]
        packet(place.app, f"f{wanted[:-1]}x\x7f{wanted[-1]}\r\r")
        await settle(place)
        assert isinstance(place.app.screen, RunScreen)
        assert wanted in place.text()


def test_one_packet_on_a_real_terminal(log: Path) -> None:
    with viewer(str(log)) as terminal:
        terminal.until("quit")
        terminal.send("/abcX\x7fd\x1b[De")
        terminal.until(r"filter metrics regex › abced")
        terminal.send("\x1b")
        terminal.until("quit")
        terminal.send("q")
        assert terminal.end() == 0
