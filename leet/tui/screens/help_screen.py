"""The keys, from the table of commands."""

from __future__ import annotations

from rich.cells import cell_len
from textual.content import Content

from leet.tui.commands import by_group
from leet.tui.screens.text_screen import TextScreen

KEYS_WIDTH = 18


class HelpScreen(TextScreen):
    """Every command with its keys, in groups."""

    def __init__(self) -> None:
        super().__init__("Keys", help_text())


def help_text() -> Content:
    """The table of commands as a page of text."""
    lines: list[Content] = []
    for group, commands in by_group().items():
        lines += [Content(), Content.styled(group, "bold $accent")]
        for command in commands:
            keys = "  ".join(command.shown_keys())
            gap = " " * max(1, KEYS_WIDTH - cell_len(keys))
            lines.append(Content.assemble("  ", (keys, "bold"), gap, command.summary))
    lines += [
        Content(),
        Content.styled("Mouse", "bold $accent"),
        *(
            Content.assemble("  ", (act, "bold"), " " * (KEYS_WIDTH - len(act)), effect)
            for act, effect in (
                ("click", "Focus a chart or a row (twice: the value in full)"),
                ("wheel", "Zoom about the pointer; scroll a list"),
                ("drag", "Pan a zoomed chart"),
                ("hover", "Values under the pointer"),
                ("right or alt+drag", "The same on every chart"),
                ("shift+drag", "Select text, by the terminal itself"),
            )
        ),
    ]
    return Content("\n").join(lines[1:])
