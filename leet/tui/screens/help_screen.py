"""The keys, from the table of commands; searched by typing."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from textwrap import wrap
from typing import ClassVar

from rich.cells import cell_len
from textual import events
from textual.actions import SkipAction
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input

from leet.tui.commands import COMMANDS, Command, Place, bindings, by_group, keys_in_words
from leet.tui.screens.text_screen import TextScreen

FIRST = "Everywhere"
"""The group that comes first whatever was left."""
KEYS_WIDTH = 18
LEAST_WORDS = 16
"""Columns beside the keys below which a summary is not broken but goes on from the left edge."""
MOUSE = (
    ("click", "Focus a chart or a row (twice: the value in full)"),
    ("wheel", "Zoom about the pointer; scroll a list"),
    ("drag", "Pan a zoomed chart; move the border of a pane"),
    ("hover", "Values under the pointer"),
    ("right or alt+drag", "The same on every chart"),
    ("shift+drag", "Select text, by the terminal itself"),
)
"""What the mouse does; a key does each of it too."""


class HelpScreen(TextScreen):
    """Every command with its keys, in groups, those that the screen that was left answers first."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("help")
    DEFAULT_CSS = """
    SearchInput { dock: top; display: none; height: 1; border: none; padding: 0; background: $surface; color: $accent; }
    """

    def __init__(self, *places: Place) -> None:
        """`places`: the screen that was left, and the pane of it that has the focus, whose keys come first."""
        self._places = places
        self._wanted = ""
        self._width = 0
        super().__init__("Keys", help_text(*places))
        self.subtitle = f"{keys_in_words('help_search')} search · {self.subtitle}"

    def contents(self) -> Iterator[Widget]:
        yield SearchInput(id="help-search", compact=True, select_on_focus=False, placeholder="search")
        yield from super().contents()

    def action_search(self) -> None:
        line = self.query_one(SearchInput)
        line.display = True
        self.set_focus(line)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._say(event.value)

    def _say(self, wanted: str) -> None:
        self._wanted = wanted
        self.say(help_text(*self._places, wanted=wanted, width=self._width))

    def on_resize(self) -> None:
        self.call_after_refresh(self._suit_width)

    def _suit_width(self) -> None:
        """Break lines that are too long where their words begin."""
        width = self.query_one(VerticalScroll).scrollable_content_region.width
        if width != self._width:
            self._width = width
            text = help_text(*self._places, wanted=self._wanted, width=width)
            if text != self._text:
                self.say(text, from_start=False)  # the same text: one may have scrolled already

    def end_search(self) -> None:
        """Esc in the line: all keys again."""
        line = self.query_one(SearchInput)
        line.value = ""
        line.display = False
        self.set_focus(self.query_one(VerticalScroll))
        self._say("")


class SearchInput(Input):
    """What is searched for. Esc empties it, and leaves the help when it is empty; arrows scroll the keys."""

    async def on_key(self, event: events.Key) -> None:
        screen = self.screen
        assert isinstance(screen, HelpScreen)
        sheet = screen.query_one(VerticalScroll)
        acts: dict[str, Callable[[], object]] = {
            "up": sheet.action_scroll_up,
            "down": sheet.action_scroll_down,
            "pageup": sheet.action_page_up,
            "pagedown": sheet.action_page_down,
            "escape": screen.end_search,
            "enter": lambda: screen.set_focus(sheet),
        }
        if event.key in acts:
            event.prevent_default()
            event.stop()
            with contextlib.suppress(SkipAction):  # there is nothing to scroll
                acts[event.key]()


def help_text(*places: Place, wanted: str = "", width: int = 0) -> Content:
    """The table of commands as a page of text, and what runs can be asked for: lines with all words of `wanted`.

    `width` in columns breaks summaries that do not fit; 0 leaves each on one line.
    """
    words = wanted.lower().split()
    lines: list[Content] = []
    for group, commands in _ordered(*places).items():
        rows = [("  ".join(command.shown_keys()), command.summary) for command in commands]
        lines += _section(group, rows, words, width)
    if words or not places or "workspace" in places:
        from leet.model.run_query_help import GRAMMAR, fields_in_words

        key = keys_in_words("filter_runs")
        lines += _section(f"Query of runs ({key})", GRAMMAR, words, width)
        lines += _section(f"Fields of the query of runs ({key})", fields_in_words(), words, width)
    lines += _section("Mouse", MOUSE, words, width)
    return Content("\n").join(lines[1:]) if lines else Content("No key does that.")


def _ordered(*places: Place) -> dict[str, list[Command]]:
    """Groups of the table; first what `places` answer, and apart from that what others of the same groups do."""
    if not places:
        return by_group()
    answering = {*places, "app"}
    here = by_group(command for command in COMMANDS if answering & command.where)
    elsewhere = by_group(command for command in COMMANDS if not answering & command.where)
    # What every view has, what this one has alone, what it has in common with some.
    ordered = sorted(here, key=lambda group: (group != FIRST, any(not c.where <= answering for c in here[group])))
    named = {f"{group}, in other views" if group in here else group: held for group, held in elsewhere.items()}
    return {group: here[group] for group in ordered} | named


def _section(title: str, rows: Sequence[tuple[str, str]], words: list[str], width: int) -> list[Content]:
    """A heading and its rows, as far as they are wanted; nothing where none is."""
    kept = [row for row in rows if all(word in f"{title} {row[0]} {row[1]}".lower() for word in words)]
    if not kept:
        return []
    lines = [Content(), Content.styled(title, "bold $accent")]
    for keys, summary in kept:
        gap = " " * max(1, KEYS_WIDTH - cell_len(keys))
        indent = 2 + cell_len(keys) + len(gap)
        first, *more = wrap(summary, width - indent) if width - indent >= LEAST_WORDS else [summary]
        lines.append(Content.assemble("  ", (keys, "bold"), gap, first))
        lines += [Content(" " * indent + words_left) for words_left in more]
    return lines
