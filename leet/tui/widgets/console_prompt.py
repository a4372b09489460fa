"""The line under the console in which something is asked for: what to search, where to save."""

from __future__ import annotations

from collections.abc import Callable

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Input, Static

from leet.tui.widgets.remark import remark_on


class PromptInput(Input):
    """The text itself; the keys that `ConsolePrompt.open` was told of act at once, before what is typed behind them."""

    async def on_key(self, event: events.Key) -> None:
        prompt = self.parent
        assert isinstance(prompt, ConsolePrompt)
        if not prompt.display:
            # Typed behind the key that closed it: meant for the pane.
            event.prevent_default()
        elif prompt.take(event.key):
            event.prevent_default()
            event.stop()


class ConsolePrompt(Horizontal):
    """Hidden until `open`."""

    def __init__(self) -> None:
        super().__init__()
        self.display = False
        self._keys: dict[str, Callable[[], None]] = {}
        self._changed: Callable[[str], None] | None = None

    def compose(self) -> ComposeResult:
        yield Static(id="prompt-title")
        yield PromptInput(id="prompt-input", compact=True, select_on_focus=False)
        yield Static(id="prompt-remark")

    def open(
        self,
        title: str,
        text: str,
        keys: dict[str, Callable[[], None]],
        changed: Callable[[str], None] | None = None,
    ) -> None:
        """Ask: `keys` says what Enter, Esc and others do; `changed` is called with the text as it is typed."""
        self._keys, self._changed = keys, changed
        entry = self.entry
        with entry.prevent(Input.Changed):
            entry.value = text
        entry.cursor_position = len(text)
        self.entitle(title)
        self.remark("")
        self.display = True
        # At once: `focus()` would wait for a turn of the loop, and what is typed meanwhile went to the pane.
        self.screen.set_focus(entry)

    @property
    def entry(self) -> PromptInput:
        return self.query_one(PromptInput)

    @property
    def text(self) -> str:
        """What is typed."""
        return self.entry.value

    def entitle(self, title: str) -> None:
        """What is asked for."""
        self.query_one("#prompt-title", Static).update(Content.assemble((f" {title} ", "$text-muted"), "› "))

    def remark(self, text: str, *, error: bool = False) -> None:
        """What there is to say about the text."""
        remark_on(self, self.query_one("#prompt-remark", Static), text, error=error)

    def close(self) -> None:
        self.display = False
        self._changed = None

    def take(self, key: str) -> bool:
        """Act on a key, if it is one that was told of."""
        act = self._keys.get(key)
        if act is not None:
            act()
        return act is not None

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if self._changed is not None:
            self._changed(event.value)
