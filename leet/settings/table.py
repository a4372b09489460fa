"""Every setting, once: the file, the environment, `leet config`, the editor and the documentation are made from this.

Names are dotted; the part before the last dot is the table of the file it stands in:

    [console]
    wrap = false            console.wrap, overridden by the environment variable LEET_CONSOLE_WRAP
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, TypeAlias


class WrongValue(ValueError):  # noqa: N818 - it is the value that is wrong
    """A value that a setting does not take; says which it takes."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Rows and columns of charts on one page, 1 to 9 each. Written `4x3`."""

    rows: int
    columns: int

    MOST: ClassVar[int] = 9

    def __str__(self) -> str:
        return f"{self.rows}x{self.columns}"


Value: TypeAlias = bool | int | float | str | Grid | None
"""What a setting holds; None is a grid that follows the room."""
Stored: TypeAlias = bool | int | float | str
"""What stands for it in the file."""

_YES = ("on", "yes", "true", "1")
_NO = ("off", "no", "false", "0")


class Setting:
    """What all kinds have in common. Nothing of it changes once it is made."""

    # Plain classes: dataclasses of eight kinds would be made anew at every start, which takes longer than the rest.

    default: Value

    def __init__(self, name: str, default: Value, about: str, group: str) -> None:
        """`name` is dotted, `about` one sentence without a full stop."""
        self.name = name
        self.default = default
        self.about = about
        self.group = group

    @property
    def variable(self) -> str:
        """The environment variable that overrides it."""
        return "LEET_" + self.name.upper().replace(".", "_")

    def read(self, stored: object) -> Value:
        """The value that `stored`, from TOML, stands for. WrongValue when it stands for none."""
        raise NotImplementedError

    def parse(self, text: str) -> Value:
        """The same from what a person typed or put into the environment."""
        return self.read(text.strip())

    def stored(self, value: Value) -> Stored:
        """The form of a value in the file."""
        return str(value) if isinstance(value, Grid) else "auto" if value is None else value

    def shown(self, value: Value) -> str:
        """A value as people read and type it."""
        stored = self.stored(value)
        return ("off", "on")[stored] if isinstance(stored, bool) else str(stored)

    @property
    def allowed(self) -> str:
        """The values it takes, in words."""
        raise NotImplementedError


class Toggle(Setting):
    """On or off."""

    default: bool

    @property
    def allowed(self) -> str:
        return "true or false"

    def read(self, stored: object) -> bool:
        if isinstance(stored, bool):
            return stored
        raise WrongValue(f"takes {self.allowed}, not {_quoted(stored)}")

    def parse(self, text: str) -> bool:
        word = text.strip().lower()
        if word in _YES + _NO:
            return word in _YES
        raise WrongValue(f"takes on or off, not {_quoted(text)}")


class Choice(Setting):
    """One word of several."""

    default: str

    def __init__(self, name: str, default: str, about: str, group: str, choices: tuple[str, ...]) -> None:
        super().__init__(name, default, about, group)
        self.choices = choices

    @property
    def allowed(self) -> str:
        return ", ".join(self.choices)

    def read(self, stored: object) -> str:
        # A file may well say 0.9 or false where the words are numbers or off.
        word = "off" if stored is False else str(stored) if isinstance(stored, str | float) else ""
        if word in self.choices:
            return word
        raise WrongValue(f"takes {self.allowed}, not {_quoted(stored)}")


class PaletteChoice(Choice):
    """The name of a palette; those for `heat` are ordered from low to high."""

    def __init__(
        self, name: str, default: str, about: str, group: str, choices: tuple[str, ...], *, heat: bool = False
    ) -> None:
        super().__init__(name, default, about, group, choices)
        self.heat = heat


class Name(Setting):
    """A word whose choices only the screen knows, such as a theme; `words` says which."""

    default: str

    def __init__(self, name: str, default: str, about: str, group: str, words: str = "a name") -> None:
        super().__init__(name, default, about, group)
        self._words = words

    @property
    def allowed(self) -> str:
        return self._words

    def read(self, stored: object) -> str:
        if isinstance(stored, str) and stored and stored.isprintable() and len(stored) <= 80:
            return stored
        raise WrongValue(f"takes {self.allowed}, not {_quoted(stored)}")


class Count(Setting):
    """A whole number from `least` to `most`."""

    default: int

    def __init__(self, name: str, default: int, about: str, group: str, least: int, most: int, unit: str = "") -> None:
        super().__init__(name, default, about, group)
        self.least, self.most, self.unit = least, most, unit

    @property
    def allowed(self) -> str:
        return f"{self.least} to {self.most}" + (f" {self.unit}" if self.unit else "")

    def read(self, stored: object) -> int:
        if isinstance(stored, int) and not isinstance(stored, bool) and self.least <= stored <= self.most:
            return stored
        raise WrongValue(f"takes {self.allowed}, not {_quoted(stored)}")

    def parse(self, text: str) -> int:
        word = text.strip()
        if len(word) < 20 and word.isascii() and word.removeprefix("-").isdecimal():
            return self.read(int(word))
        return self.read(text)


class Number(Setting):
    """A number from `least` to `most`."""

    default: float

    def __init__(
        self, name: str, default: float, about: str, group: str, least: float, most: float, unit: str = ""
    ) -> None:
        super().__init__(name, default, about, group)
        self.least, self.most, self.unit = least, most, unit

    @property
    def allowed(self) -> str:
        return f"{self.least:g} to {self.most:g}" + (f" {self.unit}" if self.unit else "")

    def read(self, stored: object) -> float:
        if isinstance(stored, int | float) and not isinstance(stored, bool) and self.least <= stored <= self.most:
            return float(stored)
        raise WrongValue(f"takes {self.allowed}, not {_quoted(stored)}")

    def parse(self, text: str) -> float:
        try:
            return self.read(float(text))
        except (ValueError, OverflowError):
            raise WrongValue(f"takes {self.allowed}, not {_quoted(text)}") from None

    def shown(self, value: Value) -> str:
        return f"{value:g}"


class GridSize(Setting):
    """Rows by columns, or None: as many as the room suggests."""

    default: Grid | None

    @property
    def allowed(self) -> str:
        return "auto, or rows x columns such as 4x3 (1 to 9 each)"

    def read(self, stored: object) -> Grid | None:
        if stored == "auto":
            return None
        if isinstance(stored, str):
            rows, _, columns = stored.lower().replace("×", "x").replace(" ", "").partition("x")
            digits = "123456789"
            if len(rows) == len(columns) == 1 and rows in digits and columns in digits:
                return Grid(int(rows), int(columns))
        raise WrongValue(f"takes {self.allowed}, not {_quoted(stored)}")


def _quoted(value: object) -> str:
    """A value of the file in an error, of bounded length and without control characters."""
    text = ("false", "true")[value] if isinstance(value, bool) else repr(value)
    text = "".join(char if char.isprintable() else "?" for char in text)
    return text if len(text) <= 60 else text[:59] + "…"


SERIES_PALETTES = (
    "meadow",
    "harbour",
    "market",
    "okabe-ito",
    "beacon",
    "strand",
    "ember",
    "orchard",
    "delta",
    "signal",
)
HEAT_PALETTES = ("viridis", "plasma", "inferno", "magma", "cividis")
"""The names; the colours stand in `leet/charts/palettes.py`, and a test holds one against the other."""
_ALL_PALETTES = SERIES_PALETTES + HEAT_PALETTES


def _rows() -> tuple[Setting, ...]:
    start, looks, colours, charts = "Start", "Looks", "Colours", "Charts"
    grids, run, workspace, monitor = "Grids", "Panes of a run", "Panes of the workspace", "Monitor"
    text, media, storage = "Console logs", "Media", "Storage"
    by_series = ("per_series", "per_plot")

    def colors(name: str, default: str, about: str) -> PaletteChoice:
        return PaletteChoice(f"colors.{name}", default, about, colours, _ALL_PALETTES)

    return (
        Choice("startup", "latest-run", "What `leet` without a path opens", start, ("latest-run", "workspace")),
        Toggle("mouse", True, "Use the mouse; off leaves it to the terminal (from the next start on)", start),
        Name("theme", "auto", "Colours of the frame around the charts", looks, "auto or the name of a theme"),
        Toggle("ascii", False, "Draw with 7-bit characters only, wherever (from the next start on)", looks),

        colors("runs", "meadow", "Runs and series in metric charts"),
        colors("tags", "meadow", "Tags of runs"),
        Choice("colors.single_run_mode", "per_series", "In a single run: a colour for each series, or for each chart",
               colours, by_series),
        colors("charts", "ember", "Charts of a single run, where each has its own colour"),
        colors("system", "meadow", "System metrics"),
        Choice("colors.system_mode", "per_series", "System metrics: a colour for each series, or for each chart",
               colours, by_series),
        PaletteChoice("colors.heat", "viridis", "Heat maps", colours, HEAT_PALETTES, heat=True),

        Choice("charts.guides", "off", "Guides behind the curves", charts, ("off", "dots", "horizontal")),
        Choice("charts.x_axis", "auto", "x axis of metric charts; auto is what the run defines, else the step", charts,
               ("auto", "step", "runtime", "clock")),
        Choice("charts.alarm", "off", "What the terminal does when a value crosses the threshold of its chart", charts,
               ("off", "bell", "notification")),
        Choice("smoothing", "off", "Smoothing of metric charts: weight of the debiased exponential mean", charts,
               ("off", "0.6", "0.9", "0.99")),
        Count("system.tail_minutes", 10, "Last minutes that system charts show while a run goes on; 0 is all", charts,
              0, 1440, "minutes"),

        GridSize("grids.run_metrics", None, "Metric charts of a run", grids),
        GridSize("grids.run_system", None, "System charts of a run", grids),
        GridSize("grids.run_media", Grid(1, 2), "Media of a run", grids),
        GridSize("grids.workspace_metrics", None, "Metric charts of the workspace", grids),
        GridSize("grids.workspace_system", None, "System charts of the workspace", grids),
        GridSize("grids.workspace_media", Grid(1, 2), "Media of the workspace", grids),
        GridSize("grids.top", None, "Charts of `leet top`", grids),

        Toggle("panes.run.overview", True, "Overview, where there is room", run),
        Toggle("panes.run.metrics", True, "Metrics", run),
        Toggle("panes.run.system", True, "System metrics, where there are any and there is room", run),
        Toggle("panes.run.media", False, "Media", run),
        Toggle("panes.run.logs", False, "Console logs", run),

        Toggle("panes.workspace.runs", True, "List of runs, where there is room", workspace),
        Toggle("panes.workspace.overview", True, "Overview, where there is room", workspace),
        Toggle("panes.workspace.metrics", True, "Metrics", workspace),
        Toggle("panes.workspace.system", False, "System metrics", workspace),
        Toggle("panes.workspace.media", False, "Media", workspace),
        Toggle("panes.workspace.logs", False, "Console logs", workspace),

        Toggle("panes.top.vitals", True, "Vitals and processes beside the charts", monitor),
        Number("top.interval", 2.0, "Seconds between two samples of `leet top`", monitor, 0.1, 3600.0, "seconds"),

        Toggle("console.wrap", True, "Wrap long lines", text),
        Toggle("console.times", True, "Show when a line was written", text),

        Choice("media.graphics", "auto", "How pictures are drawn; auto asks the terminal", media,
               ("auto", "kitty", "sixel", "blocks")),

        Toggle("cache.enabled", True, "Keep the decoded columns of big logs for the next time", storage),
        Count("cache.size", 2048, "Most that all kept columns may take together", storage, 16, 1_048_576, "MiB"),
    )  # fmt: skip


SETTINGS: Mapping[str, Setting] = {setting.name: setting for setting in _rows()}
"""Name → setting, in the order in which the editor and `leet config list` show them."""

VARIABLES: Mapping[str, str] = {
    **{setting.variable: setting.name for setting in SETTINGS.values()},
    "LEET_CACHE": "cache.enabled",
}
"""Environment variable → the setting that it overrides."""


def groups() -> dict[str, list[Setting]]:
    """Group → its settings, in order."""
    grouped: dict[str, list[Setting]] = {}
    for setting in SETTINGS.values():
        grouped.setdefault(setting.group, []).append(setting)
    return grouped
