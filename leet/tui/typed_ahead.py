"""What is typed, acted upon in the order in which it was typed.

Textual hands a key to the widget in focus and looks for its binding when the key has come back to the app, through one
queue after another. Several keys at once (a slow line delivers them in one packet; tmux, a quick hand) then overtake
each other: text is inserted before the Backspace that was typed in front of it, and what is typed for a prompt that
is being opened goes to the pane behind it. Here a key goes all its way before the next sets out.
"""

from __future__ import annotations

import asyncio
import contextlib

from textual._callback import invoke
from textual._context import active_message_pump
from textual.app import App, ScreenStackError
from textual.dom import DOMNode
from textual.events import Event, Key, Paste
from textual.widget import Widget

OPENING_SECONDS = 2.0
"""Longest that a key waits for the screen it is meant for to be made."""
SETTLING_TURNS = 40
"""Most turns of the loop that a key waits for what the one before it has brought about."""


class TypedInOrder(App[None]):
    """An app that takes keys and pastes one after another."""

    async def on_event(self, event: Event) -> None:
        if not isinstance(event, Key | Paste) or event.is_forwarded:
            await super().on_event(event)
            return
        await self._settled()
        if not self.screen_stack:
            return
        # Nobody below hands it on: it is brought to everybody that it concerns from here.
        target = self.focused or self.screen
        if isinstance(event, Paste):
            await self._bring(event, target)
            return
        self.app_focus = True
        screen = self.screen
        if screen.maximized is not None and event.key == "escape" and self.escape_to_minimize:
            screen.minimize()
            return
        screen._clear_tooltip()
        if not await self._check_bindings(event.key, priority=True):
            await self._bring(event, target)

    async def _bring(self, event: Key | Paste, target: Widget) -> None:
        """To the widget in focus, those around it, the screen, and the app, until one of them stops it."""
        event._set_forwarded()
        nodes: list[DOMNode] = [node for node in target.ancestors_with_self if node is not self]
        for node in nodes:
            if not node.check_message_enabled(event) or not node.is_running:
                return
            held = active_message_pump.set(node)
            try:
                for _, method in node._get_dispatch_methods(event.handler_name, event):
                    await invoke(method, event)
            finally:
                active_message_pump.reset(held)
            if event._stop_propagation:
                return
        # The key itself is looked up among the bindings here; whoever is in focus by now has a say.
        await super().on_event(event)

    async def _settled(self) -> None:
        """Wait until what the keys before brought about has happened: a screen is made, a filter is applied."""
        with contextlib.suppress(ScreenStackError):
            made: asyncio.Event = self.screen._mounted_event
            if not made.is_set():
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(made.wait(), OPENING_SECONDS)
            for _ in range(SETTLING_TURNS):
                screen = self.screen
                chain = (screen.focused or screen).ancestors_with_self
                pumps: list[DOMNode] = [node for node in chain if node is not self]
                if all(pump._message_queue.empty() for pump in pumps):
                    return
                await asyncio.sleep(0)
