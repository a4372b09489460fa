"""The line in which a filter is typed."""

from __future__ import annotations

from typing import ClassVar, Literal

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Input, Static

from leet.model.filter import TOO_LONG, TextFilter
from leet.tui.commands import bindings, in_place
from leet.tui.keymap import keymap
from leet.tui.messages import FilterChanged, FilterClosed, Subject
from leet.tui.widgets.remark import remark_on

Mode = Literal["regex", "glob"]
TITLES: dict[Subject, str] = {
    "metrics": "metrics",
    "system": "system metrics",
    "overview": "overview",
    "logs": "console lines",
    "media": "media",
    "runs": "runs",
    "records": "records",
    "processes": "processes",
}


class FilterInput(Input):
    """The text itself; its keys act on the line that holds it."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("filter")

    @property
    def line(self) -> FilterLine:
        parent = self.parent
        assert isinstance(parent, FilterLine)
        return parent

    def on_mount(self) -> None:
        self._bindings.apply_keymap(keymap().for_textual())

    async def on_key(self, event: events.Key) -> None:
        """Act on the keys of the table here, and leave what is typed behind the end of a filter to the pane."""
        if not self.line.display:
            event.prevent_default()
            return
        for binding in self._bindings.key_to_bindings.get(event.key, ()):
            if binding.id in _OWN:
                event.prevent_default()
                event.stop()
                await self.run_action(binding.action)

    async def action_submit(self) -> None:
        self.line.submit()

    def action_cancel(self) -> None:
        self.line.cancel()

    def action_switch_mode(self) -> None:
        self.line.switch_mode()


_OWN = frozenset(command.id for command in in_place("filter"))


class FilterLine(Horizontal):
    """Hidden until `open`; posts FilterChanged for every keystroke and FilterClosed at the end."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's name
        super().__init__(id=id)
        self.subject: Subject = "metrics"
        self.mode: Mode = "regex"
        self._before: tuple[str, Mode] = ("", "regex")
        self.display = False

    def compose(self) -> ComposeResult:
        yield Static(id="filter-title")
        yield FilterInput(id="filter-input", compact=True, select_on_focus=False)
        yield Static(id="filter-count")

    @property
    def input(self) -> FilterInput:
        return self.query_one(FilterInput)

    def open(self, subject: Subject, text: str, mode: Mode) -> None:
        """Type a filter for `subject`, beginning with the one that holds."""
        self.subject, self.mode, self._before = subject, mode, (text, mode)
        with self.input.prevent(Input.Changed):
            self.input.value = text
        self.input.cursor_position = len(text)
        self._show_title()
        self.display = True
        # At once: `focus()` would wait for a turn of the loop, and what is typed meanwhile went to the pane.
        self.screen.set_focus(self.input)

    def show_count(self, kept: int, total: int, error: str | None, *, more: bool = False) -> None:
        """How many names pass, at least (`more`) or in all, or why the expression is none."""
        if error is None:
            self._say(f"{kept:,}{'+' * more}/{total:,}", error=False)
        else:
            self._say(error if error == TOO_LONG else f"not a regex yet: {error}", error=True)

    def _say(self, text: str, *, error: bool) -> None:
        remark_on(self, self.query_one("#filter-count", Static), text, error=error)

    def clear(self) -> None:
        self.input.value = ""

    def submit(self) -> None:
        """Keep what is typed, if it is an expression; otherwise stay and say why not."""
        error = TextFilter(self.input.value, self.mode).error
        if error is None:
            self._changed()
            self.close()
        else:
            self._say(f"not a regular expression: {error}", error=True)

    def cancel(self) -> None:
        """Back to the filter that held before."""
        self.post_message(FilterChanged(self.subject, *self._before))
        self.close()

    def switch_mode(self) -> None:
        self.mode = "glob" if self.mode == "regex" else "regex"
        self._show_title()
        self._changed()

    def close(self) -> None:
        self.display = False
        self.post_message(FilterClosed(self.subject))

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if self.display:  # otherwise it is given up, or told of already
            self._changed()

    def _changed(self) -> None:
        self.post_message(FilterChanged(self.subject, self.input.value, self.mode))

    def _show_title(self) -> None:
        self.query_one("#filter-title", Static).update(
            Content.assemble(
                (f" filter {TITLES[self.subject]} ", "$text-muted"), (self.mode, "bold $accent"), (" › ", "$text-muted")
            )
        )
