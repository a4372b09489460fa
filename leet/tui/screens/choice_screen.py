"""Choosing by name from a list that may be long: typing finds, and what is not in the list can be typed in full."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
from textual.widgets import Input, Static

from leet.model.safe_text import clean
from leet.tui.commands import Place, bindings, in_place, keys_in_words
from leet.tui.keymap import keymap
from leet.tui.screens.overlay import Overlay
from leet.tui.widgets.painted import cut, pad, strip_of
from leet.tui.widgets.painted_list import PaintedList

MOST_ROWS = 16
_WIDEST_NAME = 40


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the list: what it is called, what is said of it, and how it is shown where not by its name."""

    name: str
    note: str = ""
    shown: str = ""

    @property
    def label(self) -> str:
        return self.shown or clean(self.name)


class ChoiceList(PaintedList):
    """The choices that fit what is typed, with a cursor. `held`: names of those taken, in their order."""

    can_focus = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {"choice--name", "choice--quiet", "choice--cursor"}
    DEFAULT_CSS = """
    ChoiceList {
        background: $surface; height: auto;
        & > .choice--name { color: $foreground; background: $surface; }
        & > .choice--quiet { color: $foreground 60%; background: $surface; }
        & > .choice--cursor { background: $block-cursor-background; color: $block-cursor-foreground; }
        &:ansi > .choice--quiet { color: ansi_default; }
        &:ansi > .choice--cursor { color: ansi_default; background: ansi_default; text-style: reverse; }
    }
    """

    class Clicked(Message):
        """A choice was clicked, and is under the cursor."""

    def __init__(self, choices: Sequence[Choice], held: list[str]) -> None:
        super().__init__()
        self.choices = choices
        self.held = held
        self._cursor = next((at for at, choice in enumerate(choices) if choice.name in held), 0)

    @property
    def length(self) -> int:
        return len(self.choices)

    @property
    def place(self) -> int:
        return self._cursor

    @property
    def choice(self) -> Choice | None:
        return self.choices[self._cursor] if self._cursor < len(self.choices) else None

    def show(self, choices: Sequence[Choice]) -> None:
        self.choices, self._cursor, self._top = choices, 0, 0
        self.repaint()

    def move(self, by: int) -> None:
        count = max(1, len(self.choices))
        self._go((self._cursor + by) % count if abs(by) == 1 else self._cursor + by)

    def _go(self, place: int) -> None:
        self._cursor = max(0, min(place, len(self.choices) - 1))
        self._settle()
        self.repaint()

    def on_click(self, event: events.Click) -> None:
        place = self._row_at(event.y)
        if place is not None:
            self._go(place)
            self.post_message(self.Clicked())

    def paint(self, width: int, height: int) -> list[Strip]:
        if not self.choices:
            return [strip_of((pad("  nothing is called so", width), self.part("choice--quiet")))]
        lines = []
        seen = self.choices[self._top : self._top + height]
        widest = min(_WIDEST_NAME, max(cell_len(choice.label) for choice in self.choices), max(8, width - 8))
        for at, choice in enumerate(seen, self._top):
            here = at == self._cursor
            name = self.part("choice--cursor" if here else "choice--name")
            quiet = self.part("choice--cursor" if here else "choice--quiet")
            sign = "*" if choice.name in self.held else " "
            first = f" {sign} {pad(choice.label, widest)}  "
            rest = width - cell_len(first)
            lines.append(strip_of((cut(first, width), name), (pad(choice.note, rest) if rest > 0 else "", quiet)))
        return lines


class ChoiceInput(Input):
    """What is typed; its keys act on the screen."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("choice")

    def on_mount(self) -> None:
        self._bindings.apply_keymap(keymap().for_textual())

    async def on_key(self, event: events.Key) -> None:
        """Act on the keys of the table at once: what is typed in a burst must not overtake them."""
        for binding in self._bindings.key_to_bindings.get(event.key, ()):
            if binding.id in _OWN:
                event.prevent_default()
                event.stop()
                await self.run_action(binding.action)

    @property
    def _chooser(self) -> ChoiceScreen:
        assert isinstance(self.screen, ChoiceScreen)
        return self.screen

    def action_move(self, by: int) -> None:
        self._chooser.list.move(by)

    def action_mark(self) -> None:
        self._chooser.mark()

    def action_keep(self) -> None:
        self._chooser.keep()

    def action_cancel(self) -> None:
        self._chooser.dismiss(None)


_OWN = frozenset(command.id for command in in_place("choice"))


class ChoiceScreen(ModalScreen[list[str] | None], Overlay[list[str] | None]):
    """Dismissed with the names that were chosen, in the order in which they were; None when it was left by Esc."""

    PLACE: ClassVar[Place] = "choice"
    DEFAULT_CSS = """
    ChoiceScreen {
        align: center middle;
        & > .choices {
            width: 90%; height: auto; max-width: 100; max-height: 96%;
            background: $surface; border: round $accent; border-title-color: $accent; border-title-style: bold;
            border-subtitle-color: $foreground 60%;
        }
        & Input { height: 1; border: none; padding: 0 1; background: $surface; }
        & Static { height: 1; padding: 0 1; color: $error; background: $surface; display: none; }
    }
    """

    def __init__(
        self,
        title: str,
        choices: Sequence[Choice],
        held: Sequence[str] = (),
        *,
        several: bool = False,
        check: Callable[[str], str] = lambda name: "",
    ) -> None:
        """`several`: any number can be taken. `check`: why a name that was typed cannot be; "" where it can."""
        super().__init__()
        self._title = title
        self._several = several
        self._check = check
        self._all = choices
        self.list = ChoiceList(choices, list(held))

    def compose(self) -> ComposeResult:
        with Container(classes="choices") as frame:
            yield self.list
            yield Static(id="choice-error")
            yield ChoiceInput(compact=True, select_on_focus=False, placeholder="type to find, or a name in full")
        frame.border_title = Content(self._title)
        words = [f"{keys_in_words('choice_keep')} {'done' if self._several else 'takes it'}"]
        if self._several:
            words.insert(0, f"{keys_in_words('choice_mark')} on or off")
        words.append(f"{keys_in_words('choice_cancel')} as before")
        frame.border_subtitle = Content(" · ".join(words))

    def on_mount(self) -> None:
        self._fit()
        self.set_focus(self.query_one(ChoiceInput))

    def on_resize(self) -> None:
        self._fit()

    def _fit(self) -> None:
        self.list.styles.height = max(1, min(MOST_ROWS, len(self._all), self.size.height - 6))

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        wanted = event.value.strip().casefold()
        self._say("")
        self.list.show([choice for choice in self._all if wanted in choice.label.casefold()] if wanted else self._all)

    def on_choice_list_clicked(self, event: ChoiceList.Clicked) -> None:
        event.stop()
        if self._several:
            self.mark()
        else:
            self.keep()

    def mark(self) -> None:
        """Take the choice under the cursor (or what is typed, where nothing is called so), or no longer."""
        if not self._several:
            self.keep()
            return
        name = self._chosen_name()
        if name is not None:
            held = self.list.held
            if name in held:
                held.remove(name)
            else:
                held.append(name)
            line = self.query_one(ChoiceInput)
            if line.value:
                if name not in {choice.name for choice in self._all}:
                    self._all = [Choice(name, "as typed"), *self._all]
                line.value = ""
            self.list.repaint()

    def keep(self) -> None:
        if self._several:
            if self.query_one(ChoiceInput).value.strip():
                self.mark()
                if self.query_one(ChoiceInput).value:
                    return
            self.dismiss(list(self.list.held))
            return
        name = self._chosen_name()
        if name is not None:
            self.dismiss([name])

    def _chosen_name(self) -> str | None:
        """What is chosen now; None, said why, where it cannot be."""
        choice, typed = self.list.choice, self.query_one(ChoiceInput).value.strip()
        if choice is not None:
            return choice.name
        error = self._check(typed)
        self._say(error)
        return None if error or not typed else typed

    def _say(self, error: str) -> None:
        line = self.query_one("#choice-error", Static)
        line.display = bool(error)
        line.update(Content(error))
