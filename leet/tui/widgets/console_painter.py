"""Lines of the console as the strips of a pane."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.style import Style
from textual.strip import Strip

from leet.model.console_lines import ConsoleLines
from leet.model.console_style import plain
from leet.tui.widgets.console_rows import SIGNS, Span, breaks, clock, part_of, pieces_of, strip, time_width, window


def gutter(width: int, *, timed: bool) -> int:
    """Columns in front of the text in a pane so wide: the time and the sign of the stream."""
    times = time_width(width, timed)
    return times + 2 + bool(times)


class ConsolePainter:
    """Paints lines in the styles of a widget: `part` gives them by the name of their component class."""

    def __init__(self, lines: ConsoleLines, part: Callable[[str], Style], width: int, *, timed: bool) -> None:
        self._lines, self._part, self._width = lines, part, width
        self._times = time_width(width, timed)
        self._head = gutter(width, timed=timed)

    def wrapped(self, number: int, spans: Sequence[Span], *, here: bool, found: str) -> list[Strip]:
        """The rows of a line; `here`: the cursor is on it; `found`: the style of what was searched, at `spans`."""
        line = self._lines.text(number)
        first, rest, ground, base = self._fronts(number, here)
        pieces = pieces_of(line, base, spans, self._part(found))
        text = plain(line)
        starts = breaks(text, max(1, self._width - self._head))
        return [
            strip([*(rest if at else first), *part_of(pieces, start, end)], self._width, ground)
            for at, (start, end) in enumerate(zip(starts, [*starts[1:], len(text)], strict=True))
        ]

    def cut(self, number: int, spans: Sequence[Span], left: int, *, here: bool, found: str) -> Strip:
        """The same in one row, from column `left` of the text on."""
        first, _, ground, base = self._fronts(number, here)
        pieces = pieces_of(self._lines.text(number), base, spans, self._part(found))
        room = max(1, self._width - self._head)
        text = window(pieces, left, room, ground, self._part("console--quiet"))
        return Strip.join([strip(first, self._head, ground), text])

    def _fronts(self, number: int, here: bool) -> tuple[list[tuple[str, Style]], list[tuple[str, Style]], Style, Style]:
        """What stands before the first row of a line and before the others, its ground, and the style of its text."""
        stream = self._lines.stream(number)
        ground = self._part("console--cursor" if here else "console--text")
        quiet = ground if here else self._part("console--time")
        sign_style, base = quiet, ground
        if stream != "stdout":
            sign_style = self._part(f"console--{stream}") + ground.background_style
        if stream == "stderr" and not here:
            base = self._part("console--stderr")
        sign = (f"{SIGNS[stream]} ", sign_style)
        gap = " " * bool(self._times)
        first = (clock(self._lines.time(number), self._times) + gap, quiet)
        return [first, sign], [(" " * self._times + gap, quiet), sign], ground, base

    def with_news(self, row: Strip, new: int) -> Strip:
        """A row with the mark at its right that says how many lines have come since."""
        text = f" {new:,} new line{'s' if new > 1 else ''} ↓ End "
        if len(text) > self._width:
            text = " ↓ "[: self._width]
        style = self._part("console--new")
        return Strip.join([row.crop(0, self._width - len(text)), strip([(text, style)], len(text), style)])
