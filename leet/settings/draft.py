"""Settings that are being edited: what was changed so far, and nothing written yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from leet.settings.store import Settings, load, use
from leet.settings.table import SETTINGS, Choice, Count, Grid, GridSize, Number, Setting, Toggle, Value

Source = Literal["default", "file", "environment", "changed"]
_FIRST_GRID = Grid(4, 3)
"""Where the steps begin from a grid that follows the room."""


class Draft:
    """Changes over the settings of the file. The environment is left out of it: it goes before the file anyhow."""

    def __init__(self, base: Settings | None = None) -> None:
        self.base = load() if base is None else base
        self._changed: dict[str, Value] = {}
        self._reset: set[str] = set()

    def value(self, name: str) -> Value:
        """What the file would say, or its absence."""
        if name in self._changed:
            return self._changed[name]
        if name in self._reset or name not in self.base.from_file:
            return SETTINGS[name].default
        return self.base.from_file[name]

    def source(self, name: str) -> Source:
        if name in self._changed or name in self._reset:
            return "changed"
        return "file" if name in self.base.from_file else "default"

    def overridden(self, name: str) -> bool:
        """Whether a variable of the environment goes before what is edited here."""
        return name in self.base.from_environment

    @property
    def changed(self) -> bool:
        return bool(self._changed or self._reset)

    def set(self, name: str, value: Value) -> None:
        """Choose a value. What stood in the file already is no change."""
        self._reset.discard(name)
        self._changed.pop(name, None)
        if name in self.base.from_file:
            if self.base.from_file[name] != value:
                self._changed[name] = value
        elif SETTINGS[name].default != value:
            self._changed[name] = value

    def reset(self, name: str) -> None:
        """Take it out of the file."""
        self._changed.pop(name, None)
        if name in self.base.from_file:
            self._reset.add(name)

    def step(self, name: str, by: Literal[-1, 1]) -> None:
        """The value next to the one that holds: around for choices, to the ends for numbers, columns for grids."""
        self.set(name, _stepped(SETTINGS[name], self.value(name), by))

    def preview(self) -> Settings:
        """The settings as they would be."""
        held = {n: v for n, v in self.base.from_file.items() if n not in self._reset}
        return replace(self.base, from_file={**held, **self._changed})

    def save(self) -> Settings:
        """Write what was changed, and let it hold from now on. OSError where it cannot be written."""
        if self.changed:
            from leet.settings.toml_file import write

            write(self.base.path, self._changed, frozenset(self._reset))
        self.base = use(load())
        self._changed.clear()
        self._reset.clear()
        return self.base


def _stepped(setting: Setting, value: Value, by: int) -> Value:
    if isinstance(setting, Toggle):
        return not value
    if isinstance(setting, Choice):
        return _next(setting.choices, value, by)
    if isinstance(setting, Count) and isinstance(value, int):
        return min(max(value + by, setting.least), setting.most)
    if isinstance(setting, Number) and isinstance(value, float):
        size = 0.1 if value < 1 or (value == 1 and by < 0) else 0.5 if value < 10 or (value == 10 and by < 0) else 5.0
        return round(min(max(value + by * size, setting.least), setting.most), 6)
    if isinstance(setting, GridSize):
        if not isinstance(value, Grid):
            return _FIRST_GRID
        columns = value.columns + by
        return Grid(value.rows, columns) if 1 <= columns <= Grid.MOST else None
    return value


def _next(choices: Sequence[str], value: Value, by: int) -> str:
    at = choices.index(str(value)) if value in choices else 0
    return choices[(at + by) % len(choices)]
