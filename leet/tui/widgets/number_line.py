"""The line in which the number or the offset of a record is typed."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static


class NumberInput(Input):
    """The number itself."""

    async def on_key(self, event: events.Key) -> None:
        """Enter and Esc act at once: what is typed behind them is meant for the list."""
        if event.key in ("enter", "escape"):
            event.prevent_default()
            event.stop()
            line = self.parent
            assert isinstance(line, NumberLine)
            line.give(self.value if event.key == "enter" else "")


class NumberLine(Horizontal):
    """Hidden until `open`; posts `Given` at the end, with an empty text where it was given up."""

    DEFAULT_CSS = """
    NumberLine {
        height: 1; background: $surface;
        & > #number-title { width: auto; }
        & > NumberInput { width: 1fr; background: $surface; color: $foreground; border: none; padding: 0; height: 1; }
    }
    """

    @dataclass
    class Given(Message):
        """What was typed."""

        text: str

    def compose(self) -> ComposeResult:
        yield Static(
            Content.assemble((" go to record, or @offset ", "$text-muted"), ("› ", "$text-muted")), id="number-title"
        )
        yield NumberInput(compact=True, select_on_focus=False)

    def open(self) -> None:
        field = self.query_one(NumberInput)
        field.value = ""
        self.display = True
        # At once: `focus()` would wait for a turn of the loop, and what is typed meanwhile went to the list.
        self.screen.set_focus(field)

    def give(self, text: str) -> None:
        self.display = False
        self.post_message(self.Given(text))
