"""Picks one value of a setting from a list; what is under the cursor is previewed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content
from textual.message import Message
from textual.screen import ModalScreen
from textual.strip import Strip

from leet.charts.palettes import PALETTES
from leet.settings.table import PaletteChoice, Setting
from leet.tui.commands import Place, bindings, keys_in_words
from leet.tui.screens.overlay import Overlay
from leet.tui.widgets.painted import Painted, pad, strip_of
from leet.tui.widgets.settings_list import swatches

MOST_SWATCHES = 20


class PickerList(Painted, can_focus=True):
    """The choices with a cursor."""

    DEFAULT_CSS = """
    PickerList {
        background: $surface;
        & > .picker--choice { color: $foreground; background: $surface; }
        & > .picker--quiet { color: $foreground 60%; background: $surface; }
        & > .picker--cursor { background: $block-cursor-background; color: $block-cursor-foreground; }
        &:ansi > .picker--quiet { color: ansi_default; }
        &:ansi > .picker--cursor { color: ansi_default; background: ansi_default; text-style: reverse; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"picker--choice", "picker--quiet", "picker--cursor"}

    class Clicked(Message):
        """A choice was clicked, and is under the cursor."""

    def __init__(self, setting: Setting, choices: Sequence[str], held: str) -> None:
        super().__init__()
        self.choices = choices
        self.cursor = choices.index(held) if held in choices else 0
        self._setting = setting
        self._held = held
        self._top = 0

    def move(self, by: int) -> None:
        if abs(by) == 1:
            self.cursor = (self.cursor + by) % len(self.choices)
        else:
            self.cursor = min(max(self.cursor + by, 0), len(self.choices) - 1)
        self.follow()

    def follow(self) -> None:
        height = max(1, self.size.height)
        self._top = max(0, min(self._top, self.cursor), self.cursor - height + 1)
        self.repaint()

    def on_resize(self) -> None:
        self.follow()

    def on_click(self, event: events.Click) -> None:
        if self._top + event.y < len(self.choices):
            self.cursor = self._top + event.y
            self.repaint()
            self.post_message(self.Clicked())

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.move(1)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.move(-1)

    def paint(self, width: int, height: int) -> list[Strip]:
        lines = []
        longest = max(cell_len(choice) for choice in self.choices)
        for at, choice in enumerate(self.choices[self._top : self._top + height], self._top):
            style = self.part("picker--cursor" if at == self.cursor else "picker--choice")
            quiet = self.part("picker--cursor" if at == self.cursor else "picker--quiet")
            pieces = [(f" {'*' if choice == self._held else ' '} {pad(choice, longest)} ", style)]
            note = self._note(choice)
            if isinstance(self._setting, PaletteChoice):
                colors = swatches(self, choice, self._setting.heat, MOST_SWATCHES)
                pieces += [*colors, (" " * (MOST_SWATCHES - len(colors)), quiet)]
            used = sum(cell_len(text) for text, _ in pieces)
            pieces.append((pad(f" {note}", max(0, width - used)), quiet))
            lines.append(strip_of(*pieces))
        return lines

    def _note(self, choice: str) -> str:
        default = "default" if choice == self._setting.default else ""
        if isinstance(self._setting, PaletteChoice):
            safe = "for colour-blind eyes too" if PALETTES[choice].colorblind_safe else ""
            return ", ".join(filter(None, (safe, default)))
        return default


class PickerScreen(ModalScreen[str | None], Overlay[str | None]):
    """Dismissed with the choice; None when it was left by Esc."""

    PLACE: ClassVar[Place] = "picker"
    BINDINGS: ClassVar[list[BindingType]] = bindings("picker")
    DEFAULT_CSS = """
    PickerScreen {
        & > .picker {
            width: auto; height: auto; max-width: 96%; max-height: 90%;
            background: $surface; border: round $accent; border-title-color: $accent; border-title-style: bold;
            border-subtitle-color: $foreground 60%;
        }
    }
    """

    def __init__(self, setting: Setting, choices: Sequence[str], held: str, preview: Callable[[str], None]) -> None:
        super().__init__()
        self._setting = setting
        self._preview = preview
        self.list = PickerList(setting, choices, held)

    def compose(self) -> ComposeResult:
        with Container(classes="picker") as frame:
            yield self.list
        frame.border_title = Content(self._setting.name)
        keep, cancel = keys_in_words("picker_keep"), keys_in_words("picker_cancel")
        frame.border_subtitle = Content(f"{keep} keep · {cancel} as before")

    def on_mount(self) -> None:
        wide = isinstance(self._setting, PaletteChoice)
        longest = max(len(choice) for choice in self.list.choices)
        title = max(len(self._setting.name) + 4, 30)
        self.list.styles.width = max(title, longest + (MOST_SWATCHES + 36 if wide else 14))
        self.list.styles.height = len(self.list.choices)
        self.set_focus(self.list)

    def action_move(self, by: int) -> None:
        self.list.move(by)
        self._preview(self.list.choices[self.list.cursor])

    def action_keep(self) -> None:
        self.dismiss(self.list.choices[self.list.cursor])

    def action_cancel(self) -> None:
        self.dismiss(None)

    def on_picker_list_clicked(self) -> None:
        self.action_keep()
