"""Screens that lie over the run and can be left."""

from __future__ import annotations

from textual.await_complete import AwaitComplete
from textual.screen import Screen, ScreenResultType


class Overlay(Screen[ScreenResultType]):
    """Is left once, and only while it is on top.

    On a busy machine keys queue up: a second Esc, or the answer to an Enter typed before it, comes to a screen that has
    been left already. Textual would take whatever is on top then, and the run itself in the end.

    The last of the bases of a screen: Textual looks for styles along the first of them only.
    """

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """Leave this screen, unless it was left before or something lies over it."""
        stack = self.app.screen_stack
        if len(stack) < 2 or stack[-1] is not self:
            return AwaitComplete()
        return super().dismiss(result)
