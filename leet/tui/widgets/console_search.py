"""Search in the console: matches are marked where they are seen, and one goes from one to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from leet.model.console_selection import ConsoleSelection
from leet.model.filter import TextFilter
from leet.tui.commands import keys_in_words
from leet.tui.widgets.console_messages import Told

if TYPE_CHECKING:
    from leet.tui.widgets.console_prompt import ConsolePrompt
    from leet.tui.widgets.console_view import ConsoleView


class ConsoleSearch:
    """What is searched in a console view. Lines that pass its filters are searched, no others."""

    def __init__(self, view: ConsoleView) -> None:
        self._view = view
        self._wanted = TextFilter("")
        self._mode: Literal["regex", "glob"] = "regex"
        self._lines: ConsoleSelection | None = None
        self._before = (TextFilter(""), 0, True)
        self._prompt: ConsolePrompt | None = None
        self._sought = False
        """The nearest match has yet to be found and gone to."""

    @property
    def held(self) -> bool:
        """Something is searched."""
        return bool(self._wanted)

    @property
    def complete(self) -> bool:
        """All matches are known."""
        return self._lines is None or self._lines.complete

    def scan(self, seconds: float | None) -> bool:
        """Look for matches, for about so long; whether all are known."""
        done = self._lines is None or self._lines.scan(seconds)
        self._go_to_nearest()
        if self._prompt is not None:
            self._remark()
        return done

    def renew(self) -> None:
        """Other lines are searched."""
        self._lines = self._view.selection(self._wanted) if self._wanted else None

    def end(self) -> None:
        """Search nothing any more."""
        self._sought = False
        self._wanted = TextFilter("")
        self._lines = None

    @property
    def note(self) -> str:
        """`match 3/17`, or nothing."""
        if self._lines is None:
            return ""
        count, at = len(self._lines), self._lines.position(self._view.cursor)
        here = at < count and self._lines.number(at) == self._view.cursor
        return f"match {at + 1 if here else '–'}/{count:,}" if count or self.complete else "searching"

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where in a line something was found."""
        return self._wanted.spans(text) if self._wanted else []

    def step(self, by: int) -> None:
        """To the next line with a match (before, -1), and around."""
        lines = self._lines
        if lines is None:
            self._view.post_message(Told(f"nothing is searched: press {keys_in_words('logs_search')}"))
            return
        lines.scan()
        if not len(lines):
            self._view.post_message(Told(f"not found: {self._wanted.text}"))
            return
        self._sought = False
        here = self._view.cursor
        at = lines.position(here + 1) if by > 0 else lines.position(here) - 1
        around = not 0 <= at < len(lines)
        self._view.go_to(lines.number(at % len(lines)))
        if around:
            self._view.post_message(Told("around the end"))

    # Asking

    def ask(self, prompt: ConsolePrompt) -> None:
        """Let a person type what to search; the nearest match is shown at once."""
        self._before = (self._wanted, self._view.cursor, self._view.following)
        self._prompt = prompt
        keys = {
            "enter": self._keep,
            "escape": self._give_up,
            "tab": self._switch,
            "down": lambda: self.step(1),
            "up": lambda: self.step(-1),
        }
        prompt.open(self._title, self._wanted.text, keys, self._typed)
        self._remark()

    @property
    def _title(self) -> str:
        return f"search {self._mode}"

    def _typed(self, text: str) -> None:
        wanted = TextFilter(text, self._mode)
        if wanted.error is not None:
            assert self._prompt is not None
            self._prompt.remark(f"not a regex yet: {wanted.error}", error=True)
            return
        self._wanted = wanted
        self.renew()
        _, number, following = self._before
        self._sought = self._lines is not None
        if not self._sought:
            self._view.come_back(number, following)
        self._view.data_changed()
        self._view.repaint()
        self._remark()

    def _go_to_nearest(self) -> None:
        """From the end the last match is the nearest, from anywhere else the next one."""
        lines = self._lines
        if not self._sought or lines is None or not len(lines):
            return
        _, number, following = self._before
        if following or lines.complete:
            self._sought = False
            at = len(lines) - 1 if following else lines.position(number)
            self._view.go_to(lines.number(at % len(lines)))

    def _remark(self) -> None:
        if self._prompt is not None and self._prompt.display:
            self._prompt.remark(self.note)

    def _switch(self) -> None:
        assert self._prompt is not None
        self._mode = "glob" if self._mode == "regex" else "regex"
        self._prompt.entitle(self._title)
        self._typed(self._prompt.text)

    def _keep(self) -> None:
        assert self._prompt is not None
        # What was typed in one burst with Enter has not been told of yet.
        text = self._prompt.text
        wanted = TextFilter(text, self._mode)
        if wanted.error is not None:
            self._prompt.remark(f"not a regular expression: {wanted.error}", error=True)
            return
        if text != self._wanted.text or self._mode != self._wanted.mode:
            self._typed(text)
        self._close()

    def _give_up(self) -> None:
        self._wanted, number, following = self._before
        self._sought = False
        self.renew()
        self._close()
        self._view.come_back(number, following)

    def _close(self) -> None:
        assert self._prompt is not None
        self._prompt.close()
        self._prompt = None
        self._view.screen.set_focus(self._view)
        self._view.data_changed()
        self._view.repaint()
