"""Text that a log, or a person, brings along: none of it is markup, and none of it is obeyed by the terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_run import ExampleRun
from textual import events
from viewer import viewing

from leet.model.safe_text import UNSAFE
from leet.tui.app import MOST_PASTED


@pytest.mark.parametrize("name", ["[red]x[/red]", "[/]", "[bold", "[@click=app.quit]q[/]", "\\[x]", "İİİİx"])
async def test_palette_names_metrics_as_they_are(tmp_path: Path, name: str) -> None:
    run = ExampleRun(tmp_path, name=f"run {name}")
    run.row({name: 1.0, "behind [/] it": 2.0})
    async with viewing(run.finish()) as viewer:
        await viewer.press("ctrl+p")
        end = name[-3:]
        await viewer.type(end)
        await viewer.until(f"  {name}\n  Go to this chart")
        await viewer.press(*["backspace"] * len(end))
        await viewer.type("logarithmic")
        await viewer.until("Logarithmic y")


@pytest.mark.parametrize("key", ["slash", "ctrl+p", "4 F", "comma slash", "question_mark slash", "i colon", "i slash"])
async def test_what_is_pasted_is_harmless_and_short(tmp_path: Path, key: str) -> None:
    run = ExampleRun(tmp_path)
    run.train(3)
    async with viewing(run.finish()) as viewer:
        await viewer.press(*key.split())
        await viewer.pilot.pause(0.2)
        for text in ("\x1b[2J\u202eabc\nq", "\n", "\0\r", "x" * 10 * MOST_PASTED):
            viewer.app.post_message(events.Paste(text))
            await viewer.pilot.pause()
            assert not UNSAFE.search(viewer.text().replace("\n", ""))
        assert len(getattr(viewer.app.focused, "value", "")) < 2 * MOST_PASTED
