"""Windows of a few cells: nothing of use can be drawn there, and nothing breaks."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import product
from pathlib import Path

import pytest
from example_run import ExampleRun
from sweep import sweep
from textual.app import App
from textual.pilot import Pilot
from viewer import happened

from leet.discovery import Found
from leet.tui.app import LeetApp
from leet.tui.terminal import Terminal
from leet.tui.widgets.painted import Painted

SIZES = ((1, 40), (2, 24), (1, 1), (3, 2), (10, 3), (80, 1), (2, 200), (80, 24))


@asynccontextmanager
async def shrinking(app: App[None], keys: str) -> AsyncIterator[Pilot[None]]:
    """The app with these keys pressed; made tiny in every way when the block ends.

    Widgets are also painted in sizes that a window has only for a moment, while it is laid out anew.
    """
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.pause(0.1)
        for key in keys.split():
            await pilot.press(key)
            await pilot.pause(0.05)
        yield pilot
        for widget in app.screen.query(Painted):
            for width, height in product(range(4), range(3)):
                assert len(widget._fresh(width, height)) == height
        for size in SIZES:
            await pilot.resize_terminal(*size)
            await pilot.pause()
            await pilot.press("down", "end", "right")
        await pilot.pause()
        assert app._exception is None
        assert app.is_running


def odd_run(directory: Path) -> Path:
    run = ExampleRun(directory, name="名前" * 20)
    run.train(5)
    run.row({"words": "漢字 and letters " * 20, "hist": {"_type": "histogram", "values": [1, 2], "bins": [0, 1, 2]}})
    run.record("output_raw", {"output_type": "STDOUT", "line": "漢字\x1b[1mbold\x1b[0m" * 30 + "\n"})
    run.sample(3)
    return run.finish()


@pytest.mark.parametrize(
    "keys",
    ["", "question_mark", "ctrl+p l", "comma", "i end", "i J end", "i R end", "enter", "4", "4 tab W", "3 tab enter"],
)
async def test_a_run_in_a_tiny_window(tmp_path: Path, keys: str) -> None:
    app = LeetApp(Found(odd_run(tmp_path)), terminal=Terminal(), live=False)
    async with shrinking(app, keys):
        await happened(app.run_screen.loaded)


@pytest.mark.parametrize("keys", ["", "down space C", "f t r", "enter", "question_mark"])
async def test_runs_in_a_tiny_window(tmp_path: Path, keys: str) -> None:
    app = LeetApp(None, workspace=sweep(tmp_path, 3), terminal=Terminal(), live=False)
    async with shrinking(app, keys) as pilot:
        await pilot.pause(0.3)
