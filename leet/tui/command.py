"""A command, where it is answered, and how its keys are written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Place = Literal[
    "app",
    "run",
    "workspace",
    "compare",
    "chart",
    "filter",
    "text",
    "records",
    "top",
    "logs",
    "config",
    "entry",
    "picker",
    "choice",
    "scatter",
    "help",
    "media",
    "media_screen",
    "table",
]
"""Who answers: the app, a screen of one run or many, a chart at full size, a filter being typed, a screen of text."""


@dataclass(frozen=True, slots=True)
class Command:
    """Something that a key does. `action` is an action of every class in `where`."""

    id: str
    keys: str
    """Textual's key names, comma between alternatives; the first is the one that is shown."""
    summary: str
    group: str
    action: str
    where: frozenset[Place]
    hint: str = ""
    """One or two words for the status line; empty: not shown there."""
    palette: bool = True
    priority: bool = False
    """Works whatever has the focus, a text input too."""

    def shown_keys(self) -> list[str]:
        """The keys as a person reads them: those of the table, unless others were set for it."""
        from leet.tui.keymap import keymap

        keys = keymap().keys_of(self)
        # Older terminals send ctrl+/ as ctrl+_: two keys of the program, one of the keyboard.
        return [shown_key(key) for key in keys if key != "ctrl+underscore" or "ctrl+slash" not in keys]


_SHOWN = {
    "question_mark": "?",
    "slash": "/",
    "colon": ":",
    "backslash": "\\",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
    "plus": "+",
    "minus": "-",
    "equals_sign": "=",
    "underscore": "_",
    "asterisk": "*",
    "exclamation_mark": "!",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "comma": ",",
    "space": "Space",
    "pagedown": "PgDn",
    "pageup": "PgUp",
    "home": "Home",
    "end": "End",
    "enter": "Enter",
    "escape": "Esc",
    "tab": "Tab",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
}


def shown_key(key: str) -> str:
    """`ctrl+backslash` → `ctrl+\\`."""
    *modifiers, name = key.split("+")
    return "+".join([*modifiers, _SHOWN.get(name, name)])
