"""The editor of the settings: a screen of the viewer, and `leet config` as a program of its own."""

from __future__ import annotations

import os
from typing import ClassVar, Literal

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Input, Static

from leet.settings.draft import Draft
from leet.settings.store import settings, use
from leet.settings.table import SETTINGS, Choice, Name, Setting, Toggle, WrongValue
from leet.tui import preferences
from leet.tui.app import FrameApp
from leet.tui.commands import Place, bindings, hints
from leet.tui.keymap import keymap
from leet.tui.messages import SettingsChanged
from leet.tui.screens.overlay import Overlay
from leet.tui.screens.picker_screen import PickerScreen
from leet.tui.span_update import SpanScreen
from leet.tui.widgets.settings_list import SettingDetail, SettingsList
from leet.tui.widgets.settings_preview import SettingsPreview
from leet.tui.widgets.status_line import Part, StatusLine

PREVIEW_FROM = 118
"""Columns from which there is room for a preview beside the list."""


class EntryInput(Input):
    """What is typed: a filter, or a value."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("entry")

    @property
    def editor(self) -> ConfigScreen:
        screen = self.screen
        assert isinstance(screen, ConfigScreen)
        return screen

    def on_mount(self) -> None:
        self._bindings.apply_keymap(keymap().for_textual())

    async def on_key(self, event: events.Key) -> None:
        """Act on our own keys at once: what is typed behind them is meant for the list."""
        for binding in self._bindings.key_to_bindings.get(event.key, ()):
            if binding.id in ("entry_keep", "entry_cancel"):
                event.prevent_default()
                event.stop()
                await self.run_action(binding.action)

    async def action_submit(self) -> None:
        self.editor.entry_kept()

    def action_cancel(self) -> None:
        self.editor.entry_given_up()


class ConfigScreen(SpanScreen[bool], Overlay[bool]):
    """A list of settings over a draft; dismissed with whether anything was saved."""

    PLACE: ClassVar[Place] = "config"
    BINDINGS: ClassVar[list[BindingType]] = bindings("config")
    AUTO_FOCUS = None
    DEFAULT_CSS = """
    ConfigScreen {
        background: $background;
        & > #config-title { height: 1; color: $foreground 70%; padding: 0 1; }
        & > #config-body { height: 1fr; }
        & SettingsPreview { width: 44; }
        & > #config-entry { height: 1; background: $surface; display: none; }
        & > #config-entry > #entry-title { width: auto; color: $accent; background: $surface; }
        & > #config-entry > EntryInput { width: 1fr; background: $surface; border: none; padding: 0; height: 1; }
        & > #config-entry > #entry-note { width: auto; max-width: 70%; padding: 0 1; color: $foreground 70%; }
        & > #config-entry > #entry-note.-error { color: $error; }
    }
    """

    def __init__(self, draft: Draft | None = None, *, first: str = "") -> None:
        """`first`: the name of the setting to begin with."""
        super().__init__()
        self._first = first
        self.draft = Draft() if draft is None else draft
        self.list = SettingsList(self.draft)
        self.detail = SettingDetail(self.draft)
        self.preview = SettingsPreview()
        self.status = StatusLine(id="config-status")
        self._before = settings()
        self._theme = ("", "")
        """The theme that was set and the one that was seen when the editor was opened."""
        self._filter = ""
        self._entry: Literal["", "filter", "value"] = ""
        self._asked = False
        """Leaving without saving has been asked for once."""

    def compose(self) -> ComposeResult:
        yield Static(Content(f"Settings · {_short(self.draft.base.path)}"), id="config-title")
        with Horizontal(id="config-body"):
            yield self.list
            yield self.preview
        yield self.detail
        with Horizontal(id="config-entry"):
            yield Static(id="entry-title")
            yield EntryInput(id="entry", compact=True, select_on_focus=False)
            yield Static(id="entry-note")
        yield self.status

    def on_mount(self) -> None:
        self._theme = str(self.draft.value("theme")), self.app.theme
        if isinstance(self.app, FrameApp):
            self.preview.ascii = self.app.terminal.ascii
        self.set_focus(self.list)
        self.go_to(self._first)
        self._show()
        if found := preferences.problems():
            self.status.say(preferences.in_short(found), lasting=True)

    def on_resize(self) -> None:
        self.preview.display = self.size.width >= PREVIEW_FROM
        self.detail.styles.height = 5 if self.size.height >= 16 else 3 if self.size.height >= 10 else 0

    # What is shown

    @property
    def setting(self) -> Setting | None:
        return self.list.setting

    def go_to(self, name: str) -> None:
        """Stand on the setting with this name, if there is one."""
        if name in SETTINGS:
            self.list.go_to(name)

    def _show(self) -> None:
        """The draft or the cursor has changed."""
        self.list.repaint()
        self.detail.show(self.setting)
        parts = [Part("settings", "status--strong")]
        if self.draft.changed:
            parts.append(Part("not saved yet", "status--warn"))
        if self._filter:
            parts.append(Part(f"/{self._filter}/ {self.list.count}", "status--message"))
        self.status.show(parts, hints("entry" if self._entry else "config"))
        use(self.draft.preview())
        self._show_theme()
        self.preview.dress(self.setting)

    def _show_theme(self) -> None:
        """The one that is being chosen. Until another one is, what a person sees stays, wherever they have it from."""
        value, seen = self._theme
        if self.draft.value("theme") != value:
            preferences.show_theme(self.app)
        elif self.app.theme != seen:
            self.app.theme = seen

    def on_settings_list_moved(self) -> None:
        self.detail.show(self.setting)
        self.preview.dress(self.setting)

    def on_settings_list_chosen(self) -> None:
        self.action_edit()

    # Moving

    def action_move(self, direction: str) -> None:
        self._asked = False
        self.list.move(1 if direction == "down" else -1)

    def action_page(self, by: int) -> None:
        self.list.page(by)

    def action_end(self, last: bool) -> None:
        self.list.end(last)

    # Changing

    def action_change(self, by: Literal[-1, 1]) -> None:
        """The value before or after."""
        if (setting := self.setting) is None:
            return
        if isinstance(setting, Name):
            names = preferences.names_of(setting)
            held = str(self.draft.value(setting.name))
            at = names.index(held) if held in names else 0
            self.draft.set(setting.name, names[(at + by) % len(names)])
        else:
            self.draft.step(setting.name, by)
        self._changed()

    def action_switch(self) -> None:
        if isinstance(self.setting, Toggle):
            self.action_change(1)
        else:
            self.action_edit()

    def action_edit(self) -> None:
        """Toggle it, pick from a list, or type it."""
        setting = self.setting
        if setting is None:
            return
        if isinstance(setting, Toggle):
            self.action_change(1)
        elif isinstance(setting, Choice | Name):
            self._pick(setting)
        else:
            self._open("value", setting.name, setting.shown(self.draft.value(setting.name)))
            self._say_entry(setting.allowed)

    def _pick(self, setting: Choice | Name) -> None:
        name, before = setting.name, self.draft.value(setting.name)
        choices = setting.choices if isinstance(setting, Choice) else preferences.names_of(setting)

        def preview(choice: str) -> None:
            self.draft.set(name, choice)
            self._show()

        def done(choice: str | None) -> None:
            self.draft.set(name, before if choice is None else choice)
            self._changed()

        self.app.push_screen(PickerScreen(setting, choices, str(before), preview), done)

    def action_reset(self) -> None:
        if (setting := self.setting) is not None:
            self.draft.reset(setting.name)
            self._changed()
            self.status.say(f"{setting.name} has its default, {setting.shown(setting.default)}")

    def _changed(self) -> None:
        self._asked = False
        self._show()

    # What is typed

    def action_filter(self) -> None:
        self._open("filter", "filter", self._filter)
        self._say_entry(self._count)

    @property
    def _count(self) -> str:
        count = self.list.count
        return f"{count} setting{'s' * (count != 1)}"

    def _open(self, kind: Literal["filter", "value"], title: str, text: str) -> None:
        self._entry = kind
        entry = self.query_one(EntryInput)
        with entry.prevent(Input.Changed):
            entry.value = text
        entry.cursor_position = len(text)
        self.query_one("#entry-title", Static).update(Content(f" {title} › "))
        self.query_one("#config-entry").display = True
        # At once: what is typed next is meant for it.
        self.set_focus(entry)
        self._show()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if self._entry == "filter":
            self._filter = event.value.strip()
            self.list.show(self._filter)
            self._say_entry(self._count)
            self._show()
        elif self._entry == "value" and (setting := self.setting) is not None:
            wrong = _wrong(setting, event.value)
            self._say_entry(wrong or setting.allowed, error=bool(wrong))

    def entry_kept(self) -> None:
        if self._entry == "value" and (setting := self.setting) is not None:
            text = self.query_one(EntryInput).value
            if wrong := _wrong(setting, text):
                self._say_entry(wrong, error=True)
                return
            self.draft.set(setting.name, setting.parse(text))
        self._close_entry()

    def entry_given_up(self) -> None:
        if self._entry == "filter":
            self._filter = ""
            self.list.show("")
        self._close_entry()

    def _close_entry(self) -> None:
        self._entry = ""
        self.query_one("#config-entry").display = False
        self.set_focus(self.list)
        self._changed()

    def _say_entry(self, text: str, *, error: bool = False) -> None:
        note = self.query_one("#entry-note", Static)
        note.set_class(error, "-error")
        note.update(Content(text))

    # Leaving

    def action_save(self) -> None:
        """Write the file and leave."""
        try:
            self.draft.save()
        except OSError as error:
            reason = error.strerror or str(error)
            self.status.say(f"not saved: {self.draft.base.path}: {reason}", f"not saved: {reason}")
            return
        self._leave(saved=True)

    def action_leave(self) -> None:
        """Leave; a filter goes first, and what was changed is asked for."""
        if self._filter:
            self._filter = ""
            self.list.show("")
            self._show()
        elif self.draft.changed and not self._asked:
            self._asked = True
            self.status.say("not saved: s saves, the same key again leaves without", "s saves, again leaves")
        else:
            use(self._before)
            self.app.theme = self._theme[1]
            self._leave(saved=False)

    def _leave(self, *, saved: bool) -> None:
        if len(self.app.screen_stack) < 2:
            self.app.exit(return_code=0)
            return
        for screen in self.app.screen_stack[:-1]:
            screen.post_message(SettingsChanged())
        self.dismiss(saved)

    def action_help(self) -> None:
        from leet.tui.screens.help_screen import HelpScreen

        self.app.push_screen(HelpScreen("config"))


def _wrong(setting: Setting, text: str) -> str:
    try:
        setting.parse(text)
    except WrongValue as error:
        return str(error)
    return ""


def _short(path: os.PathLike[str]) -> str:
    text, home = os.fspath(path), os.path.expanduser("~")
    return f"~{text[len(home) :]}" if home != "/" and text.startswith(home + "/") else text
