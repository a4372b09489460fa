"""Keys of commands as a person has set them: the table `[keys]` of the settings over the table of commands.

    [keys]
    quit = "Q"
    filter_metrics = ["/", "F3"]
    tail = []                            no key; the palette still has it

A key that is given to one command is taken from any other that had it in the same place by default.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from leet.settings.store import Problem, Settings, settings

if TYPE_CHECKING:
    from leet.tui.commands import Command

NO_KEY = "no_key"
"""The name of a key that nobody can press: Textual knows no binding without one."""
_MODIFIERS = ("ctrl", "alt", "shift", "super", "hyper", "meta")
_NAMED = {
    "esc": "escape",
    "return": "enter",
    "del": "delete",
    "ins": "insert",
    "pgup": "pageup",
    "pgdn": "pagedown",
    "pgdown": "pagedown",
    "↑": "up",
    "↓": "down",
    "←": "left",
    "→": "right",
    "+": "plus",
    "-": "minus",
    "_": "underscore",
    "/": "slash",
    "comma": "comma",
}
_PLAIN = frozenset(
    (*_NAMED.values(), "escape", "tab", "space", "backspace", "home", "end", "comma", "plus", "minus", "underscore")
) | {f"f{number}" for number in range(1, 25)}


@dataclass(frozen=True, slots=True)
class Keymap:
    """What differs from the table of commands."""

    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Id of a command → its keys, in Textual's names; only of commands that have others than by default."""
    problems: tuple[tuple[str, str], ...] = ()
    """(what stands in the file: the id, and what is wrong with it)."""

    def keys_of(self, command: Command) -> tuple[str, ...]:
        found = self.keys.get(command.id)
        return tuple(command.keys.split(",")) if found is None else found

    def for_textual(self) -> dict[str, str]:
        """As `App.set_keymap` wants it."""
        return {name: ",".join(keys) or NO_KEY for name, keys in self.keys.items()}


def textual_key(written: str) -> str | None:
    """`ctrl+/`, `?`, `PgDn` → `ctrl+slash`, `question_mark`, `pagedown`; None for what is no single key."""
    text = written.strip()
    if text == "+" or text.endswith("++"):
        text = f"{text[:-1]}plus"
    *modifiers, name = text.split("+")
    modifiers = [modifier.strip().lower() for modifier in modifiers]
    if not set(modifiers) <= set(_MODIFIERS) or len(set(modifiers)) < len(modifiers):
        return None
    name = name.strip()
    known = _NAMED.get(name.lower(), name if len(name) == 1 else name.lower())
    if len(known) == 1:
        if not known.isprintable() or known.isspace():
            return None
        from textual.keys import _character_to_key

        if modifiers and known.isalpha():
            known = known.lower()
            if modifiers == ["shift"]:
                return known.upper()
        known = _character_to_key(known)
    elif known not in _PLAIN and not _is_name(known):
        return None
    return "+".join([*sorted(modifiers, key=_MODIFIERS.index), known])


def _is_name(word: str) -> bool:
    """Whether it is the long name of a character, as `question_mark`."""
    from textual.keys import _character_to_key

    return word in {_character_to_key(chr(code)) for code in range(33, 127)}


def build(given: Mapping[str, Sequence[str]], commands: Iterable[Command]) -> Keymap:
    """Hold what a person wrote against the table. Whatever is wrong costs that one key, and is said."""
    table = {command.id: command for command in commands}
    problems: list[tuple[str, str]] = []
    wanted: dict[str, list[str]] = {}
    for name, written in given.items():
        if name not in table:
            problems.append((name, _unknown(name, table)))
            continue
        keys = [key for word in written if (key := _usable(table[name], word, problems))]
        if keys or not written:
            wanted[name] = list(dict.fromkeys(keys))
    claimed: list[tuple[str, str]] = []
    for name, keys in wanted.items():
        for key in list(keys):
            rival = next((other for taken, other in claimed if taken == key and _meet(table[name], table[other])), None)
            if rival is None:
                claimed.append((key, name))
            else:
                keys.remove(key)
                problems.append((name, f"{_shown(key)} is the key of {rival} already, which keeps it"))
    for name, command in table.items():
        if name in wanted:
            continue
        before = command.keys.split(",")
        lost = {key: other for key, other in claimed if key in before and _meet(command, table[other])}
        if lost:
            wanted[name] = [key for key in before if key not in lost]
            if not wanted[name]:
                key, other = next(iter(lost.items()))
                problems.append((other, f"{_shown(key)} was the only key of {name}, which has none now"))
    changed = {name: tuple(keys) for name, keys in wanted.items() if keys != table[name].keys.split(",")}
    return Keymap(MappingProxyType(changed), tuple(problems))


def _usable(command: Command, written: str, problems: list[tuple[str, str]]) -> str | None:
    key = textual_key(written)
    shown = "".join(char if char.isprintable() else "?" for char in written[:40])
    if key is None:
        problems.append((command.id, f"{shown} is no key; write ctrl+f, F5, pagedown or a character"))
    elif key.isdecimal() and key not in command.keys.split(","):
        problems.append((command.id, f"{shown} sets grids and shows panes; take another key"))
    elif "filter" in command.where and len(written.strip()) == 1:
        problems.append((command.id, f"{shown} would no longer be text of a filter; take another key"))
    else:
        return key
    return None


def _meet(one: Command, other: Command) -> bool:
    """Whether both answer in one place. What has priority answers everywhere."""
    return bool(one.where & other.where) or one.priority or other.priority


def _unknown(name: str, table: Mapping[str, Command]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, table, n=1)
    return "there is no such command" + (f"; did you mean {close[0]}?" if close else "; `leet config keys` lists all")


def _shown(key: str) -> str:
    from leet.tui.commands import shown_key

    return shown_key(key)


_built: tuple[Settings, Keymap] | None = None


def keymap() -> Keymap:
    """The keymap of the settings in force."""
    global _built
    held = settings()
    if _built is None or _built[0] is not held:
        if held.keys:
            from leet.tui.commands import COMMANDS

            _built = held, build(held.keys, COMMANDS)
        else:
            _built = held, Keymap()
    return _built[1]


def problems() -> list[Problem]:
    """What is wrong with the table `[keys]`, with the lines of the file."""
    held = settings()
    found = []
    for name, what in keymap().problems:
        line = held.key_lines.get(name, 0)
        found.append(Problem(f"{held.path.name}:{line}" if line else held.path.name, f"keys.{name[:60]}: {what}"))
    return found
