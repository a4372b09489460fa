"""The settings as a list with headings, and the one under the cursor in full."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip

from leet.charts import palettes
from leet.settings.draft import Draft
from leet.settings.table import SETTINGS, PaletteChoice, Setting, Toggle, groups
from leet.tui.widgets.painted import Painted, cut, pad, strip_of

NAME_WIDTH = 26
VALUE_WIDTH = 14
SWATCHES = 10
SOURCES = {"default": "default", "file": "", "changed": "changed"}


def swatches(widget: Painted, name: str, heat: bool, most: int = SWATCHES) -> list[tuple[str, Style]]:
    """Some colours of a palette as pieces of a line; nothing where there are no colours to show."""
    app = widget.app
    if app.no_color or app.native_ansi_color:
        return []
    dark = app.current_theme.dark
    if heat:
        colors: Sequence[str] = palettes.heat(name, most)
    else:
        palette = palettes.PALETTES[name]
        colors = (palette.dark if dark else palette.light)[:most]
    ground = widget.rich_style
    return [("█", ground + Style(color=color)) for color in colors]


class SettingsList(Painted, can_focus=True):
    """Groups of settings with one cursor. It holds no values: those are in the draft."""

    DEFAULT_CSS = """
    SettingsList {
        width: 1fr;
        height: 1fr;
        & > .settings--group { color: $accent; text-style: bold; }
        & > .settings--name { color: $foreground; }
        & > .settings--value { color: $foreground; text-style: bold; }
        & > .settings--quiet { color: $foreground 60%; }
        & > .settings--changed { color: $warning; text-style: bold; }
        & > .settings--cursor { background: $block-cursor-background; color: $block-cursor-foreground; }
        &:ansi > .settings--quiet { color: ansi_default; }
        &:ansi > .settings--cursor { color: ansi_default; background: ansi_default; text-style: reverse; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "settings--group",
        "settings--name",
        "settings--value",
        "settings--quiet",
        "settings--changed",
        "settings--cursor",
    }

    class Moved(Message):
        """The cursor stands on another setting."""

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, SettingsList.Moved)

    class Chosen(Message):
        """The setting under the cursor was clicked."""

    def __init__(self, draft: Draft) -> None:
        super().__init__(id="settings")
        self._draft = draft
        self._rows: list[str | Setting] = []
        """Headings and settings."""
        self._cursor = 0
        self._top = 0
        self.show("")

    @property
    def setting(self) -> Setting | None:
        """The one under the cursor; None where the filter keeps none."""
        row = self._rows[self._cursor] if self._cursor < len(self._rows) else None
        return row if isinstance(row, Setting) else None

    @property
    def count(self) -> int:
        return sum(isinstance(row, Setting) for row in self._rows)

    def show(self, wanted: str) -> None:
        """Only the settings whose name, group, description or values contain all words of `wanted`."""
        held = self.setting
        words = wanted.lower().split()
        self._rows = []
        for group, members in groups().items():
            kept = [s for s in members if all(word in _searched(s) for word in words)]
            if kept:
                self._rows += [group, *kept]
        self._cursor = self._rows.index(held) if held in self._rows else self._settled(0, 1)
        self._top = 0
        self._follow()

    def go_to(self, name: str) -> None:
        if SETTINGS[name] in self._rows:
            self._cursor = self._rows.index(SETTINGS[name])
            self._follow()

    def move(self, by: int) -> None:
        """By rows, around at the ends for single steps."""
        if not self.count:
            return
        target = self._cursor + by
        if abs(by) == 1:
            target %= len(self._rows)
        self._cursor = self._settled(min(max(target, 0), len(self._rows) - 1), 1 if by > 0 else -1)
        self._follow()

    def page(self, by: int) -> None:
        self.move(by * max(2, self.size.height - 2))

    def end(self, last: bool) -> None:
        self.move(len(self._rows) if last else -len(self._rows))

    def _settled(self, at: int, by: int) -> int:
        """The nearest row that is no heading, in this direction, around the ends."""
        for _ in range(len(self._rows)):
            if isinstance(self._rows[at], Setting):
                return at
            at = (at + by) % len(self._rows)
        return 0

    def _follow(self) -> None:
        """Scroll so that the cursor is seen, with the heading over it where that stands right above."""
        height = self.size.height
        if not height:  # not laid out yet
            return
        first = self._cursor - 1 if self._cursor and not isinstance(self._rows[self._cursor - 1], Setting) else None
        self._top = min(self._top, self._cursor if first is None or height < 2 else first)
        self._top = max(self._top, self._cursor - height + 1)
        self._top = max(0, min(self._top, len(self._rows) - height))
        if self.is_attached:
            self.post_message(self.Moved())
            self.repaint()

    def on_resize(self) -> None:
        self._follow()

    # Mouse

    def on_click(self, event: events.Click) -> None:
        row = self._top + event.y
        if row < len(self._rows) and isinstance(self._rows[row], Setting):
            again = row == self._cursor
            self._cursor = row
            self._follow()
            if again:
                self.post_message(self.Chosen())

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._scroll(event, 3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._scroll(event, -3)

    def _scroll(self, event: events.MouseEvent, by: int) -> None:
        event.stop()
        self._top = max(0, min(self._top + by, len(self._rows) - self.size.height))
        self.repaint()

    # Painting

    def paint(self, width: int, height: int) -> list[Strip]:
        return [
            self._line(row, at == self._cursor, width)
            for at, row in enumerate(self._rows[self._top : self._top + height], self._top)
        ] or [strip_of((" no setting is called so", self.part("settings--quiet")))]

    def _line(self, row: str | Setting, under_cursor: bool, width: int) -> Strip:
        if isinstance(row, str):
            return strip_of((f" {row}", self.part("settings--group")))
        draft = self._draft
        source = draft.source(row.name)
        tone = "settings--cursor" if under_cursor else None
        quiet = self.part(tone or "settings--quiet")
        value = row.shown(draft.value(row.name))
        if isinstance(row, Toggle):
            value = f"[{'x' if draft.value(row.name) else ' '}] {value}"
        name = pad(row.name, min(NAME_WIDTH, max(12, width // 3)))
        mark = self.part(tone or "settings--changed") if source == "changed" else quiet
        pieces = [
            ("* " if source == "changed" else "  ", mark),
            (f"{name} ", self.part(tone or "settings--name")),
            (pad(value, VALUE_WIDTH), self.part(tone or "settings--value")),
        ]
        origin = "environment" if draft.overridden(row.name) else SOURCES[source]
        used = sum(cell_len(text) for text, _ in pieces)
        if isinstance(row, PaletteChoice) and width - used > SWATCHES + 12:
            pieces.append((" ", quiet))
            shown = swatches(self, str(draft.value(row.name)), row.heat)
            # Where there are no more than 16 colours, or none, a palette changes nothing: that is said in its place.
            none = "" if shown else "no colours" if self.app.no_color else "16 colours"
            pieces += [*shown, (pad(none, SWATCHES - len(shown)), quiet)]
        else:
            pieces.append((" " * (SWATCHES + 1), quiet))
        used = sum(cell_len(text) for text, _ in pieces)
        pieces.append((pad(f" {cut(origin, max(0, width - used - 1))}", max(0, width - used)), quiet))
        return strip_of(*pieces)


def _searched(setting: Setting) -> str:
    return f"{setting.name} {setting.group} {setting.about} {setting.allowed}".lower()


@dataclass(frozen=True, slots=True)
class Detail:
    """What is said about one setting."""

    setting: Setting | None
    note: str = ""


class SettingDetail(Painted):
    """What the setting under the cursor does and takes."""

    DEFAULT_CSS = """
    SettingDetail {
        height: 5;
        background: $surface;
        & > .setting--name { color: $accent; text-style: bold; background: $surface; }
        & > .setting--text { color: $foreground; background: $surface; }
        & > .setting--quiet { color: $foreground 65%; background: $surface; }
        &:ansi > .setting--quiet { color: ansi_default; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"setting--name", "setting--text", "setting--quiet"}

    def __init__(self, draft: Draft) -> None:
        super().__init__(id="setting")
        self._draft = draft
        self._setting: Setting | None = None

    def show(self, setting: Setting | None) -> None:
        self._setting = setting
        self.repaint()

    def paint(self, width: int, height: int) -> list[Strip]:
        setting = self._setting
        if setting is None:
            return []
        name, text, quiet = (self.part(f"setting--{part}") for part in ("name", "text", "quiet"))
        variable = f"Variable {setting.variable}"
        if self._draft.overridden(setting.name):
            now = setting.shown(self._draft.base[setting.name])
            variable = f"{setting.variable} is set to {now} and goes before the file"
        lines = [
            strip_of((f" {setting.name}", name)),
            strip_of((f" {cut(setting.about, width - 2)}", text)),
            *(strip_of((f" {line}", quiet)) for line in _wrapped(f"Takes {setting.allowed}", width - 2, 2)),
            strip_of((f" {cut(f'Default {setting.shown(setting.default)} · {variable}', width - 2)}", quiet)),
        ]
        if isinstance(setting, PaletteChoice):
            pieces = swatches(self, str(self._draft.value(setting.name)), setting.heat, max(4, min(32, width - 30)))
            lines[0] = strip_of((f" {setting.name}  ", name), *pieces)
        return lines


def _wrapped(text: str, width: int, most: int) -> list[str]:
    """Words in at most `most` lines; the last one is cut."""
    lines = [""]
    words = text.split(" ")
    for place, word in enumerate(words):
        if len(lines[-1]) + 1 + len(word) > width and lines[-1]:
            if len(lines) == most:
                lines[-1] = cut(lines[-1] + " " + " ".join(words[place:]), width)
                break
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines
