"""`leet config`: the editor, and without a screen the settings one by one."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from leet.settings.store import Problem, Settings, reload
from leet.settings.table import SETTINGS, VARIABLES, Name, Setting, Value, WrongValue

USAGE = """leet config                     edit the settings
       leet config path                the file they stand in
       leet config list                every setting, its value, where it comes from
       leet config keys                every command with its keys, as the table [keys] of that file
       leet config get NAME            one value
       leet config set NAME VALUE      change one
       leet config unset NAME          back to its default"""


def main(argv: Sequence[str], prog: str = "leet config") -> int:
    """Run the command; the exit status: 0 fine, 1 it could not be done, 2 wrong usage."""
    parser = argparse.ArgumentParser(
        prog=prog,
        usage=USAGE,
        description="Look at the settings, or change them. They are kept in a TOML file, whose comments stay; "
        "variables of the environment such as LEET_CHARTS_GUIDES go before it.",
        allow_abbrev=False,
    )
    acts = ("path", "list", "keys", "get", "set", "unset")
    # What they are stands in the usage.
    parser.add_argument("act", nargs="?", choices=acts, metavar="ACT", help=argparse.SUPPRESS)
    parser.add_argument("name", nargs="?", metavar="NAME", help=argparse.SUPPRESS)
    parser.add_argument("value", nargs="?", metavar="VALUE", help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    wanted = {"get": 1, "unset": 1, "set": 2}.get(args.act, 0)
    given = sum(word is not None for word in (args.name, args.value))
    if given != wanted:
        needs = {0: "takes nothing more", 1: "takes the name of a setting", 2: "takes a name and a value"}[wanted]
        parser.error(f"{args.act or 'config'} {needs}")
    found = reload()
    if args.act == "path":
        print(found.path)
        return 0
    if args.act is None:
        return _edit()
    for problem in (
        _problems(found) if args.act == "list" or (args.act, args.name) == ("get", "theme") else found.problems
    ):
        print(f"leet: {problem}", file=sys.stderr)
    if args.act == "list":
        print("\n".join(_listed(found)))
        return 0
    if args.act == "keys":
        print("\n".join(_keys()))
        return 0
    setting = SETTINGS.get(args.name)
    if setting is None:
        from leet.settings.toml_file import unknown

        return _fail(f"{unknown(args.name)}; `leet config list` names all", 2)
    if args.act == "get":
        print(setting.shown(_in_use(found, setting)))
        return 0
    return _change(found, setting, args.value)


def _problems(found: Settings) -> Sequence[Problem]:
    """All that is wrong, also with keys and the theme, of which only the viewer knows."""
    if not found.keys and found.choice("theme") == SETTINGS["theme"].default:
        return found.problems
    from leet.tui.preferences import problems

    return problems()


def _in_use(found: Settings, setting: Setting) -> Value:
    """What is set, or the default where there is no theme called so."""
    value = found[setting.name]
    if isinstance(setting, Name) and found.origin(setting.name) != "default" and wrong_name(setting, str(value)):
        return setting.default
    return value


def _listed(found: Settings) -> list[str]:
    """`name = value`, as in the file, and where the value comes from if it is not the default."""
    lines: list[str] = []
    group = ""
    for name, setting in SETTINGS.items():
        if setting.group != group:
            group = setting.group
            lines += [*([""] if lines else []), f"# {group}"]
        value = _in_use(found, setting)
        origin = found.origin(name) if value == found[name] else "default"
        source = {"default": "", "file": "  # set in the file", "environment": f"  # set by {_variable(name)}"}[origin]
        lines.append(f"{name} = {setting.shown(value)}{source}")
    return lines


def _keys() -> list[str]:
    """The table of commands with the keys they have now; what is not the default is no comment."""
    from leet.tui import keymap
    from leet.tui.commands import by_group, shown_key

    for problem in keymap.problems():
        print(f"leet: {problem}", file=sys.stderr)
    held = keymap.keymap()
    lines = ["[keys]"]
    for group, commands in by_group().items():
        lines += ["", f"# {group}"]
        for command in commands:
            keys = ", ".join(_quoted(shown_key(key)) for key in held.keys_of(command))
            mark = "" if command.id in held.keys else "# "
            lines.append(f"{mark}{command.id} = [{keys}]  # {command.summary}")
    return lines


def _quoted(text: str) -> str:
    """As a string of TOML."""
    return f"'{text}'" if "\\" in text or '"' in text else f'"{text}"'


def _variable(name: str) -> str:
    """The variable of the environment that sets it now."""
    import os

    given = [variable for variable, target in VARIABLES.items() if target == name and os.environ.get(variable)]
    return given[-1] if given else SETTINGS[name].variable


def _change(found: Settings, setting: Setting, text: str | None) -> int:
    """Write one value, or take it out where `text` is None."""
    from leet.settings.toml_file import write

    name = setting.name
    try:
        if text is None:
            write(found.path, {}, frozenset({name}))
        else:
            value = setting.parse(text)
            if isinstance(setting, Name) and (wrong := wrong_name(setting, str(value))):
                raise WrongValue(wrong)
            write(found.path, {name: value})
    except WrongValue as error:
        return _fail(f"{name} {error}", 2)
    except OSError as error:
        return _fail(f"{found.path}: {error.strerror or error}; nothing was changed")
    if found.origin(name) == "environment":
        print(f"leet: {_variable(name)} is set and goes before the file", file=sys.stderr)
    return 0


def wrong_name(setting: Name, value: str) -> str:
    """What is wrong with the name of a theme; empty if there is one called so."""
    from leet.tui.themes import theme_names

    if setting.name != "theme" or value == "auto" or value in theme_names():
        return ""
    return f"takes auto or the name of a theme, not {value!r}; `leet --theme list` names all"


def _edit() -> int:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return _fail("this is no terminal; use `leet config list`, `get` and `set` in scripts")
    from leet.tui.config_app import edit

    return edit()


def _fail(message: str, status: int = 1) -> int:
    print(f"leet: {message}", file=sys.stderr)
    return status
