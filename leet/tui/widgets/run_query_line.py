"""The line in which the query of the runs is typed: what is wrong with it is marked where it stands."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rich.highlighter import Highlighter
from rich.text import Text
from textual.suggester import Suggester

from leet.model.run_query import QueryError, RunQuery
from leet.model.run_query_help import EXAMPLE, completed
from leet.tui.messages import Subject
from leet.tui.widgets.filter_line import FilterLine, Mode


class _Fault(Highlighter):
    """Underlines the part of the query that cannot be understood."""

    def __init__(self) -> None:
        self.error: QueryError | None = None

    def highlight(self, text: Text) -> None:
        if self.error is not None:
            end = max(self.error.end, self.error.start + 1)
            text.stylize("bold reverse", self.error.start, min(end, len(text)))


class _Completion(Suggester):
    """Offers the rest of the field that is being typed: the right arrow takes it."""

    def __init__(self, paths: Callable[[], Iterable[str]]) -> None:
        super().__init__(use_cache=False, case_sensitive=True)  # settings and results come while one types
        self._paths = paths

    async def get_suggestion(self, value: str) -> str | None:
        return completed(value, self._paths)


class RunQueryLine(FilterLine):
    """A filter line for `RunQuery`. Whoever opened it tells it the error, if there is one, by `show_state`."""

    def __init__(
        self,
        paths: Callable[[], Iterable[str]],
        *,
        id: str | None = None,  # noqa: A002  Textual's name
    ) -> None:
        """`paths` gives the settings and results that can be asked for: `config.lr`, `summary.loss`."""
        super().__init__(id=id)
        self._fault = _Fault()
        self._paths = paths

    def on_mount(self) -> None:
        self.input.highlighter = self._fault
        self.input.suggester = _Completion(self._paths)
        self.input.placeholder = EXAMPLE

    def open(self, subject: Subject, text: str, mode: Mode) -> None:
        self._mark(None)
        super().open(subject, text, mode)

    def show_state(self, kept: int, total: int, error: QueryError | None) -> None:
        """How many runs pass, or what is wrong and where (counted from 1)."""
        self._mark(error)
        if error is None:
            self._say(f"{kept:,}/{total:,}", error=False)
        else:
            self._say(f"at {error.start + 1}: {error.message}", error=True)

    def submit(self) -> None:
        error = RunQuery.parse(self.input.value, self.mode).error
        if error is None:
            self.close()
            return
        self.show_state(0, 0, error)
        self.input.cursor_position = min(error.start, len(self.input.value))

    def _mark(self, error: QueryError | None) -> None:
        if error != self._fault.error:
            self._fault.error = error
            self.input.refresh()
