"""The viewer as a Textual application."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.console import COLOR_SYSTEMS, RenderableType
from textual import constants, events, on
from textual.app import SystemCommand
from textual.await_complete import AwaitComplete
from textual.binding import BindingType
from textual.command import Provider
from textual.css.query import NoMatches
from textual.driver import Driver
from textual.filter import LineFilter, NoColor
from textual.screen import Screen

from leet.discovery import Found
from leet.model.safe_text import clean
from leet.settings import store
from leet.tui import preferences
from leet.tui.commands import bindings, in_place
from leet.tui.keymap import keymap
from leet.tui.screens.run_panes import RunPanes
from leet.tui.screens.run_screen import RunScreen
from leet.tui.span_update import FrameUpdate, Shown, SpanUpdate
from leet.tui.terminal import Terminal, ascii_filter
from leet.tui.themes import ANSI, THEMES, default_theme
from leet.tui.typed_ahead import TypedInOrder
from leet.tui.widgets.status_line import StatusLine

if TYPE_CHECKING:
    from leet.remote.remote_runs import RemoteRuns
    from leet.tui.screens.workspace_screen import WorkspaceScreen

SWITCH_INTERVAL = 0.0005
"""Seconds after which the reader's thread lets the screen's thread in; with Python's 0.005 a key press is felt late."""
YOUNG_OBJECTS = 10_000
"""New containers after which garbage is looked for. A picture makes ten thousand of them, one for each cell, and nearly
all go by themselves; with 700, as Python has it, looking at them took a fifth of the time of every key press."""
ENDING_SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGQUIT") if hasattr(signal, name))
ENDING_SECONDS = 3.0
"""Longest time that leaving may take after a signal: the terminal may be gone, and what is written to it stuck."""

MOST_PASTED = 10_000
"""Characters of a paste that are looked at: it is typed into one line, and acted upon with every further key."""


def palette_provider() -> type[Provider]:
    from leet.tui.palette import CommandsAndMetrics

    return CommandsAndMetrics


def pasted(text: str) -> str:
    """What a paste comes to in a field of one line: its first line, harmless, and no longer than anybody means."""
    return clean(next(iter(text[:MOST_PASTED].splitlines()), ""))


class FrameApp(TypedInOrder):
    """What every program with a screen here has: terminal, themes, keys, signals, and a frame that sends few bytes."""

    CSS_PATH = "leet.tcss"
    TITLE = "leet"
    BINDINGS: ClassVar[list[BindingType]] = bindings("app")
    COMMAND_PALETTE_BINDING = "ctrl+p"
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {palette_provider}
    ESCAPE_TO_MINIMIZE = False

    def __init__(self, *, terminal: Terminal | None = None, theme: str | None = None) -> None:
        if constants.COLOR_SYSTEM not in ("auto", *COLOR_SYSTEMS):
            # Rich answers a name that it does not know with a traceback.
            vars(constants)["COLOR_SYSTEM"] = "auto"
        super().__init__()
        self.shown = Shown()
        self.terminal = terminal if terminal is not None else Terminal()
        for ours in THEMES:
            self.register_theme(ours)
        self.asked_theme = theme
        """The theme that the command line names."""
        self._restarting = False
        self.theme = theme or preferences.theme(self.terminal) or default_theme(self.terminal)
        if changed_keys := keymap().for_textual():
            self.set_keymap(changed_keys)
        if self.no_color:
            # Textual's own choice here are greys, which are colours too. Bold and reverse remain.
            self.theme = ANSI.name
            self._filters = [f for f in self._filters if type(f).__name__ != "Monochrome"] + [NoColor()]
        if self.terminal.remote:
            self.animation_level = "none"
        # The stylesheet was made for Textual's own theme; nothing has been parsed yet.
        self.set_class(self.current_theme.dark, "-dark-mode", update=False)
        self.set_class(not self.current_theme.dark, "-light-mode", update=False)
        self._styled_with = self.get_css_variables()
        self.stylesheet.set_variables(self._styled_with)

    def get_driver_class(self) -> type[Driver]:
        if os.name == "posix" and constants.DRIVER is None:
            from leet.tui.driver import PosixDriver

            return PosixDriver
        return super().get_driver_class()

    async def on_event(self, event: events.Event) -> None:
        """Have readers give way to what a person does, and let pass what is typed after the last screen has gone."""
        if isinstance(event, events.InputEvent) and not self.screen_stack:
            return
        if isinstance(event, events.Paste):
            event.text = pasted(event.text)
        if isinstance(event, events.Key | events.MouseDown | events.MouseScrollUp | events.MouseScrollDown):
            run = getattr(self.screen, "run", None)
            if run is not None and not run.feed.loaded:
                run.feed.intake.give_way()
        await super().on_event(event)

    def refresh_css(self, animate: bool = True) -> None:
        """Style everything anew, unless no colour changed: Textual asks for it once too often at start."""
        variables = self.get_css_variables()
        if variables != self._styled_with:
            self._styled_with = variables
            super().refresh_css(animate)

    def get_line_filters(self) -> Sequence[LineFilter]:
        filters = list(super().get_line_filters())
        if self.terminal.ascii:
            filters.append(ascii_filter())
        return filters

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """The palette: the commands that the screen under it answers, those of the pane in focus, and the theme."""
        for owner in (screen, screen.focused) if screen.focused is not None else (screen,):
            place = getattr(owner, "PLACE", None)
            for command in in_place(place) if place else ():
                if command.palette:
                    keys = " ".join(command.shown_keys())
                    run = partial(owner.run_action, command.action)
                    yield SystemCommand(command.summary, f"{command.group} · {keys}", run)
        yield SystemCommand("Theme", "Colours of the frame around the charts", self.action_change_theme)

    def action_command_palette(self) -> None:
        from leet.tui.palette import Palette

        if not isinstance(self.screen, Palette):
            self.push_screen(Palette(placeholder="A command, or the name of a metric or a run"))

    def action_settings(self, name: str = "") -> None:
        """Open the editor of the settings over what is shown, at the one with this name."""
        from leet.tui.screens.config_screen import ConfigScreen

        if isinstance(self.screen, ConfigScreen):
            self.screen.go_to(name)
        else:
            self.push_screen(ConfigScreen(first=name))

    def action_restart(self) -> None:
        """Leave, so that whoever runs this starts it again."""
        self._restarting = True
        self.exit()

    def restarted(self) -> bool:
        """Whether it has been left to be started anew; then the settings have been read again."""
        if self._restarting:
            store.reload()
            gc.unfreeze()
        return self._restarting

    def tell_of_settings(self) -> None:
        """Say what is wrong with the settings, on the screen that is on top, for good."""
        if found := preferences.problems():
            for line in self.screen.query(StatusLine):
                line.say(preferences.in_short(found), str(found[0]), lasting=True)

    def search_themes(self) -> None:
        from textual.theme import ThemeProvider

        from leet.tui.palette import Palette

        self.push_screen(Palette([ThemeProvider], placeholder="Search for themes…"))

    def _handle_exception(self, error: Exception) -> None:
        """A screen that opens while one leaves finds nothing in it: Textual does not fill it any more."""
        if not (self._exit and isinstance(error, NoMatches)):
            super()._handle_exception(error)

    def pop_screen(self) -> AwaitComplete:
        """Take the screen on top away; the run stays, whoever asks."""
        return super().pop_screen() if len(self.screen_stack) > 1 else AwaitComplete()

    def on_load(self) -> None:
        """Leave by a signal as by `q`: with the terminal as it was. Before this there is nothing to put right."""
        if self.is_headless:
            return
        loop = asyncio.get_running_loop()
        for number in ENDING_SIGNALS:
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
                loop.add_signal_handler(number, self._end_by, number)

    def _end_by(self, number: int) -> None:
        status = 128 + number
        patience = threading.Timer(ENDING_SECONDS, os._exit, (status,))
        patience.daemon = True
        patience.start()
        self.exit(return_code=status)

    @on(Driver.SignalResume)
    def paint_all(self) -> None:
        """The shell has written where the screen was."""
        self.shown.forget()
        self.refresh(layout=True)

    def on_resize(self) -> None:
        self.shown.forget()

    def _display(self, screen: Screen[object], renderable: RenderableType | None) -> None:
        if not isinstance(renderable, SpanUpdate | FrameUpdate | None):
            self.shown.forget()
        super()._display(screen, renderable)

    def on_mount(self) -> None:
        sys.setswitchinterval(SWITCH_INTERVAL)

    def on_ready(self) -> None:
        if not self.is_headless:
            # What start-up made stays for good: collections need not look at it again. Without a terminal this may be
            # one of many viewers of a process, of which nothing would ever be freed.
            gc.freeze()
            gc.set_threshold(YOUNG_OBJECTS, *gc.get_threshold()[1:])
        gc.enable()
        self.tell_of_settings()


class LeetApp(FrameApp):
    """One run on one screen."""

    def __init__(
        self,
        found: Found | None,
        *,
        workspace: Path | None = None,
        remote: RemoteRuns | None = None,
        terminal: Terminal | None = None,
        theme: str | None = None,
        live: bool = True,
    ) -> None:
        """One run (`found`), or all runs below a directory (`workspace`), which `remote` makes look like a remote one.

        `live`: follow logs as they grow; otherwise read them once, to their ends.
        """
        super().__init__(terminal=terminal, theme=theme)
        self.found = found
        self.workspace = workspace
        self.remote = remote
        self.live = live

    def get_default_screen(self) -> Screen[None]:
        if self.workspace is not None:
            from leet.tui.screens.workspace_screen import WorkspaceScreen

            return WorkspaceScreen(self.workspace, self.terminal, live=self.live, remote=self.remote)
        assert self.found is not None
        return RunScreen(self.found, self.terminal, live=self.live)

    @property
    def run_screen(self) -> RunScreen:
        """The screen that shows the run, whatever lies over it."""
        return next(screen for screen in reversed(self.screen_stack) if isinstance(screen, RunScreen))

    @property
    def panes_screen(self) -> RunPanes:
        """The uppermost screen of runs, whatever lies over it."""
        return next(screen for screen in reversed(self.screen_stack) if isinstance(screen, RunPanes))

    def open_run(self, found: Found) -> None:
        """Show another run in place of the one on the screen; the filters of charts stay."""
        while self.screen is not self.run_screen:
            self.pop_screen()
        self.found = found
        screen = RunScreen(found, self.terminal, live=self.live)
        for subject in ("metrics", "system"):
            screen.filters[subject] = self.run_screen.filters[subject]
        if not self.run_screen._result_callbacks:
            # Textual takes one off every screen that is switched from, and puts none on the first.
            self.run_screen._push_result_callback(self, None)
        self.switch_screen(screen)

    def leave_run(self, screen: RunScreen) -> None:
        """Go from a run to the runs of its directory: those one came from, or found now."""
        if screen is not self.screen:
            return
        if len(self.screen_stack) > 1:
            self.pop_screen()
            return
        log: Path | None = screen.found.log
        remote = None
        if screen.found.remote is not None:
            from leet.remote.door import beside

            remote = beside(screen.found.remote)
            log = remote.place_of(screen.found.remote.address.path) if remote is not None else None
            root = remote.root if remote is not None else None
        else:
            root = screen.found.root
        if root is None or log is None:
            screen.tell("this log stands in no run directory: there are no other runs to go to")
            return
        from leet.tui.screens.workspace_screen import WorkspaceScreen

        runs = WorkspaceScreen(root, self.terminal, live=self.live, highlight=log, remote=remote)
        runs.feeds.adopt(log, screen.only)
        screen.lent = True
        if not screen._result_callbacks:
            screen._push_result_callback(self, None)
        self.switch_screen(runs)

    def run_names(self) -> list[tuple[str, str]]:
        """Key and name, fit to be printed, of every run of the directory that is shown; none where none is."""
        screen = self._runs_screen
        return screen.run_names() if screen is not None else []

    def go_to_run(self, key: str) -> None:
        """Highlight a run in the list of its directory."""
        screen = self._runs_screen
        while screen is not None and self.screen is not screen:
            self.pop_screen()
        if screen is not None:
            screen.go_to_run(key)

    @property
    def _runs_screen(self) -> WorkspaceScreen | None:
        module = sys.modules.get("leet.tui.screens.workspace_screen")  # not loaded: there is none
        if module is None:
            return None
        return next((screen for screen in self.screen_stack if isinstance(screen, module.WorkspaceScreen)), None)

    def go_to_metric(self, name: str) -> None:
        """Show the chart of a metric on the run screen."""
        while self.screen is not self.panes_screen:
            self.pop_screen()
        self.panes_screen.go_to_metric(name)


def watch(log: Path) -> int:
    """Open the viewer on one log; its exit status."""
    from leet.tui.terminal import detect

    terminal = detect(os.environ)
    app = LeetApp(Found(log), terminal=terminal)
    app.run(mouse=terminal.mouse)
    return app.return_code or 0
