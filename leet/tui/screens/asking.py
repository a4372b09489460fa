"""Screens that ask for a line of text at the bottom."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from leet.tui.span_update import SpanScreen
from leet.tui.widgets.status_line import StatusLine

if TYPE_CHECKING:
    from leet.tui.widgets.console_prompt import ConsolePrompt


class AskingScreen:
    """A mixin of screens with a status line, above which the question stands."""

    asked: ConsolePrompt | None = None
    """Made when something is first asked for."""

    async def ask(self, title: str, text: str, take: Callable[[str], str]) -> None:
        """Let `text` be changed. On Enter `take` gets it, and says in one line what is wrong with it; empty: nothing.

        Esc leaves all as it was. What had the focus has it again afterwards.
        """
        assert isinstance(self, SpanScreen)
        before = self.focused
        if self.asked is None:
            from leet.tui.widgets.console_prompt import ConsolePrompt

            self.asked = ConsolePrompt()
            await self.mount(self.asked, before=self.query_one(StatusLine))
        prompt = self.asked

        def close() -> None:
            prompt.close()
            self.set_focus(before)

        def submit() -> None:
            wrong = take(prompt.text)
            if wrong:
                prompt.remark(wrong, error=True)
            else:
                close()

        prompt.open(title, text, {"enter": submit, "escape": close}, lambda text: prompt.remark(""))

    @property
    def asking(self) -> bool:
        """The question stands there."""
        return self.asked is not None and self.asked.display
