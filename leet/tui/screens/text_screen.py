"""A sheet of text over the screen: a value in full, or the help."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Static

from leet.tui.commands import bindings, keys_in_words
from leet.tui.screens.overlay import Overlay


class TextScreen(ModalScreen[None], Overlay[None]):
    """Shows `text` (plain or styled, never parsed as markup) under a title; scrolls, copies, closes."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("text")

    def __init__(self, title: str, text: str | Content) -> None:
        super().__init__()
        self._title = title
        self._text = Content(text) if isinstance(text, str) else text
        self.subtitle = f"{keys_in_words('text_close')} close · {keys_in_words('text_copy')} copy · ↑↓ scroll"

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="sheet") as sheet:
            yield from self.contents()
        sheet.border_title = Content(self._title)
        sheet.border_subtitle = Content(self.subtitle)

    def contents(self) -> Iterator[Widget]:
        """What stands on the sheet."""
        yield Static(self._text, id="sheet-text")

    def say(self, text: Content, *, from_start: bool = True) -> None:
        """Another text; from its beginning, or where one was."""
        self._text = text
        self.query_one("#sheet-text", Static).update(text)
        if from_start:
            self.query_one(VerticalScroll).scroll_home(animate=False)

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()

    def action_close(self) -> None:
        self.dismiss()

    def action_copy(self) -> None:
        self.app.copy_to_clipboard(self._text.plain)
        self.query_one(VerticalScroll).border_subtitle = Content("copied")
