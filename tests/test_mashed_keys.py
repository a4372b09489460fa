"""Keys in any order and faster than the screen follows: nothing that a person can type ends the viewer but `q`."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest
from example_run import trained
from textual import events
from viewer import happened, viewing

from leet.discovery import Found
from leet.tui.app import LeetApp
from leet.tui.screens.help_screen import HelpScreen
from leet.tui.screens.run_panes import RunPanes
from leet.tui.screens.text_screen import TextScreen
from leet.tui.terminal import Terminal

KEYS = [
    "question_mark", "slash", "backslash", "left_square_bracket", "right_square_bracket",
    "n", "N", "w", "a", "s", "d", "c", "r", "1", "2", "9", "plus", "minus", "left_curly_bracket",
    "right_curly_bracket", "equals_sign", "v", "y", "x", "t", "o", "h", "tab", "shift+tab", "up", "down", "left",
    "right", "enter", "enter", "enter", "escape", "escape", "escape", "pageup", "pagedown", "home", "end",
    "ctrl+p", "ctrl+l", "ctrl+backslash", "backspace", "ctrl+u", "space", "e", "l", "full_stop",
    "delete", "asterisk", "left_parenthesis",
    "0", "3", "4", "f", "p", "i", "k", "m", "g", "b", "u", "comma", "F", "C", "D", "E", "J", "R", "S", "W", "X", "T",
    "greater_than_sign", "less_than_sign", "ctrl+a", "ctrl+f", "ctrl+s", "ctrl+left", "alt+up", "colon",
]  # fmt: skip
SIZES = ((120, 40), (20, 5), (1, 1), (200, 60), (80, 24))


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trained(tmp_path_factory.mktemp("run"), metrics=20)


@pytest.mark.parametrize("seed", range(6))
async def test_any_keys_in_any_order(log: Path, seed: int) -> None:
    chance = random.Random(seed)
    async with viewing(log, SIZES[-1]) as viewer:
        app = viewer.app
        for _ in range(60):
            # A burst is in the queues before the first of its keys has been acted upon.
            for _ in range(chance.randint(1, 6)):
                key = chance.choice(KEYS)
                app.post_message(events.Key(key, key if len(key) == 1 else None))
            if chance.random() < 0.1:
                await viewer.pilot.resize_terminal(*chance.choice(SIZES))
            if chance.random() < 0.5:
                await viewer.pilot.pause()
        await viewer.pilot.pause()
        assert app._exception is None
        assert app._exit or isinstance(app.screen_stack[0], RunPanes)  # "Quit" stands in the palette


async def test_a_screen_is_left_once(log: Path) -> None:
    async with viewing(log) as viewer:
        text = TextScreen("a", "b")
        viewer.app.push_screen(text)
        await viewer.pilot.pause()
        for _ in range(3):
            text.dismiss()
        await viewer.pilot.pause()
        assert viewer.app.screen_stack == [viewer.run]


async def test_a_screen_is_not_left_from_below_another(log: Path) -> None:
    async with viewing(log) as viewer:
        text, keys = TextScreen("a", "b"), HelpScreen()
        viewer.app.push_screen(text)
        viewer.app.push_screen(keys)
        await viewer.pilot.pause()
        text.dismiss()
        await viewer.pilot.pause()
        assert viewer.app.screen is keys
        keys.dismiss()
        await viewer.pilot.pause()
        assert viewer.app.screen is text


@pytest.mark.parametrize("turns", range(6))
async def test_leaving_while_a_screen_opens_is_no_fault(log: Path, turns: int) -> None:
    app = LeetApp(Found(log), terminal=Terminal(), live=False)
    async with app.run_test(size=(80, 24)) as pilot:
        await happened(app.run_screen.loaded)
        await pilot.pause()
        app.push_screen(HelpScreen())
        for _ in range(turns):
            await asyncio.sleep(0)
        app.exit()
    assert app.return_code == 0


async def test_the_run_stays_whoever_takes_screens_away(log: Path) -> None:
    async with viewing(log) as viewer:
        viewer.app.pop_screen()
        viewer.app.pop_screen()
        await viewer.press("n")
        assert viewer.app.screen is viewer.run


async def test_pages_of_a_palette_that_has_not_been_laid_out(log: Path) -> None:
    async with viewing(log, (20, 5)) as viewer:
        viewer.app.action_command_palette()
        palette = viewer.app.screen
        from textual.command import Command, CommandList, DiscoveryHit

        from leet.tui.palette import Palette

        assert isinstance(palette, Palette)
        await viewer.pilot.pause()
        commands = palette.query_one(CommandList)
        commands.display = False
        commands.clear_options().add_options([Command("a", DiscoveryHit("a", lambda: None)) for _ in range(3)])
        commands.highlighted = 1
        commands._clear_caches()
        palette._action_command_list("page_up")
        palette._action_command_list("page_down")
        await viewer.press("escape")
        assert viewer.app.screen is viewer.run


async def test_a_search_that_ends_when_the_palette_is_being_left(log: Path) -> None:
    from textual.command import Command, CommandList, DiscoveryHit

    from leet.tui.palette import Palette

    async with viewing(log) as viewer:
        viewer.app.action_command_palette()
        await viewer.pilot.pause()
        palette = viewer.app.screen
        assert isinstance(palette, Palette)
        commands = palette.query_one(CommandList)
        palette._list_visible = False
        await commands.remove()
        palette._refresh_command_list(commands, [Command("a", DiscoveryHit("a", lambda: None))], True)
        await viewer.press("escape")
        assert viewer.app.screen is viewer.run


async def test_a_palette_that_has_gone_answers_what_was_typed_last(log: Path) -> None:
    async with viewing(log) as viewer:
        viewer.app.action_command_palette()
        palette = viewer.app.screen
        from leet.tui.palette import Palette

        assert isinstance(palette, Palette)
        await viewer.pilot.pause()
        await palette.query("*").remove()
        palette._list_visible = not palette._list_visible
        await viewer.press("escape")
        assert viewer.app.screen is viewer.run
