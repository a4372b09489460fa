"""The settings in force: defaults, over them the file, over that the environment.

    from leet.settings import settings

    settings().toggle("console.wrap")        -> bool
    settings().choice("charts.guides")       -> str
    settings().count("system.tail_minutes")  -> int
    settings().number("top.interval")        -> float
    settings().grid("grids.run_metrics")     -> Grid | None     None: as many as the room suggests

An unknown name, or one of another kind, is a mistake of the caller (KeyError, TypeError).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from leet.settings.table import SETTINGS, VARIABLES, Grid, Value, WrongValue

Origin = Literal["default", "file", "environment"]


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is wrong with the file or a variable; what it meant to set has its default."""

    place: str
    """`config.toml:12`, or the name of the variable."""
    what: str

    def __str__(self) -> str:
        return f"{self.place}: {self.what}"


@dataclass(frozen=True, slots=True)
class Settings:
    """An unchanging picture of all settings."""

    path: Path
    """The file, which need not exist."""
    from_file: Mapping[str, Value] = field(default_factory=dict)
    from_environment: Mapping[str, Value] = field(default_factory=dict)
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The table `[keys]`: id of a command → its keys, not yet held against the table of commands."""
    key_lines: Mapping[str, int] = field(default_factory=dict)
    """Where in the file each of them stands."""
    lines: Mapping[str, int] = field(default_factory=dict)
    """The same of `from_file`."""
    problems: tuple[Problem, ...] = ()

    def __getitem__(self, name: str) -> Value:
        if name in self.from_environment:
            return self.from_environment[name]
        return self.from_file[name] if name in self.from_file else SETTINGS[name].default

    def origin(self, name: str) -> Origin:
        if name in self.from_environment:
            return "environment"
        return "file" if name in self.from_file else "default"

    def toggle(self, name: str) -> bool:
        value = self[name]
        if not isinstance(value, bool):
            raise TypeError(f"{name} is no toggle")
        return value

    def choice(self, name: str) -> str:
        value = self[name]
        if not isinstance(value, str):
            raise TypeError(f"{name} is no choice")
        return value

    def count(self, name: str) -> int:
        value = self[name]
        if not isinstance(value, int) or isinstance(value, bool):
            raise TypeError(f"{name} is no count")
        return value

    def number(self, name: str) -> float:
        value = self[name]
        if not isinstance(value, float):
            raise TypeError(f"{name} is no number")
        return value

    def grid(self, name: str) -> Grid | None:
        value = self[name]
        if value is not None and not isinstance(value, Grid):
            raise TypeError(f"{name} is no grid")
        return value


def config_path(environ: Mapping[str, str] = os.environ) -> Path:
    """`$XDG_CONFIG_HOME/leet/config.toml`."""
    base = environ.get("XDG_CONFIG_HOME", "")
    root = Path(base) if os.path.isabs(base) else Path(environ.get("HOME") or os.path.expanduser("~")) / ".config"
    return root / "leet" / "config.toml"


def load(environ: Mapping[str, str] = os.environ) -> Settings:
    """Read the file and the environment. Never raises: what is wrong is listed in `problems`."""
    path = config_path(environ)
    found = Settings(path)
    # Most people have no file; then nothing that reads one is loaded.
    if os.path.lexists(path):
        from leet.settings.toml_file import read

        found = read(path)
    values: dict[str, Value] = {}
    problems = list(found.problems)
    for variable in sorted(VARIABLES.keys() & environ.keys()):
        name = VARIABLES[variable]
        if not environ[variable].strip():
            continue
        try:
            values[name] = SETTINGS[name].parse(environ[variable])
        except WrongValue as error:
            problems.append(Problem(variable, str(error)))
    return replace(found, from_environment=MappingProxyType(values), problems=tuple(problems))


_current: Settings | None = None
_home: tuple[str | None, str | None] = None, None


def settings() -> Settings:
    """The settings in force: loaded once, and again when the home of the settings is another one."""
    if _current is None or _home != _homes():
        return reload()
    return _current


def use(wanted: Settings) -> Settings:
    """Let these be the settings in force from now on."""
    global _current, _home
    _current, _home = wanted, _homes()
    return wanted


def _homes() -> tuple[str | None, str | None]:
    """What the place of the file depends on. Asked for with every setting, so no path is made."""
    return os.environ.get("XDG_CONFIG_HOME"), os.environ.get("HOME")


def reload() -> Settings:
    """Read everything again."""
    return use(load())
