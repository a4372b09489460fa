"""One stream of console output, drawn as a terminal would draw it.

    text ─► lines without controls ──────────────► whole lines at once
         ─► lines with colours, CR, cursor, erase ─► cells of the rows they touch

The last 64 rows can still change, as on a screen: there progress bars draw over themselves. What scrolls out of them
stays as it is. Lines live with whoever keeps them (`Lines`); here is only which of them the rows are.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

from leet.model.console_style import marked, restyled
from leet.model.safe_text import clean
from leet.model.terminal_row import NARROW, PER_CELL, TerminalRow, cells_of, char_width, shows_blanks, trimmed

HEIGHT = 64
"""Rows that can be drawn over."""
WIDTH = 4096
"""Columns after which a line goes on in the next row."""
_LONGEST_ESCAPE = 4096
"""Characters of an unfinished escape sequence that are waited with for its end."""

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_STYLED = re.compile("[^\x00-\x1f\x7f-\x9f]*(?:\x1b\\[[0-9;:]*m[^\x00-\x1f\x7f-\x9f]*)*\r?\n")
_SGR = re.compile("\x1b\\[([0-9;:]*)m")
_TOKEN = re.compile(
    "(?P<text>[^\x00-\x1f\x7f-\x9f]+)"
    "|(?P<sgr>(?:\x1b\\[|\x9b)[0-9;:]*m)"
    "|(?P<control>[\b\t\n\x0b\x0c\r])"
    "|(?P<csi>(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]?)"
    "|(?P<string>(?:\x1b[\\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\\\|\x9c)?)"
    "|(?P<escape>\x1b[ -/]*[0-~]?)"
    "|(?P<other>[\x00-\x1f\x7f-\x9f])"
)
_UNFINISHED = re.compile(
    "(?:\x1b(?:\\[[0-?]*[ -/]*|[\\]PX^_][^\x07\x1b\x9c\n]*\x1b?|[ -/]*)"
    "|\x9b[0-?]*[ -/]*|[\x90\x98\x9d-\x9f][^\x07\x1b\x9c\n]*\x1b?)\\Z"
)


class Lines(Protocol):
    """Where the lines of the window are kept once they have a number."""

    def text(self, number: int) -> str:
        """The marked line."""

    def put(self, number: int, text: str) -> None:
        """Another text for a line."""


class TerminalText:
    """A terminal without an end to its right, whose rows are lines of `lines`.

    `feed` hands out new lines with negative numbers; whoever keeps them says by `number` what they are called.
    """

    def __init__(self, height: int = HEIGHT, width: int = WIDTH) -> None:
        self._height, self._width = height, width
        self._rows: list[int] = []
        self._y = self._x = 0
        self._style = ""
        self._saved = (0, 0, "")
        self._held = ""
        self._cells: dict[int, TerminalRow] = {}
        self._lines: Lines
        self.texts: list[str] = []
        """The new lines of the last `feed`, marked."""
        self.begins: list[int] = []
        """Where in what was fed each of them began."""
        self._at = 0

    @property
    def rows(self) -> list[int]:
        """Numbers of the lines that can still change."""
        return self._rows

    def number(self, first: list[int]) -> None:
        """The lines of the last `feed` are called so, in their order."""
        self._rows = [row if row >= 0 else first[~row] for row in self._rows]
        self.texts, self.begins = [], []

    def feed(self, text: str, lines: Lines) -> None:
        """Draw what was printed next; new lines are in `texts` and `begins` until `number` is called."""
        self._lines = lines
        self.texts, self.begins = [], []
        held = len(self._held)
        if held:
            text, self._held = self._held + text, ""
        self._at = 0
        if _CONTROL.search(text) is None:
            self._plain(text, 0)
        else:
            self._busy(self._hold_back(text))
        self._finish_rows()
        if held:
            self.begins = [max(0, begin - held) for begin in self.begins]

    def _finish_rows(self) -> None:
        """Rows that were drawn on become lines again."""
        for row, cells in self._cells.items():
            if row < 0:
                self.texts[~row] = cells.line()
            else:
                self._lines.put(row, cells.line())
        self._cells.clear()

    def _hold_back(self, text: str) -> str:
        """The text without the escape sequence at its end that has not ended yet."""
        tail = max(len(text) - _LONGEST_ESCAPE, 0)
        unfinished = _UNFINISHED.search(text, tail)
        if unfinished is None:
            return text
        self._held = unfinished[0]
        return text[: unfinished.start()]

    def _busy(self, text: str) -> None:
        at = 0
        while (control := _CONTROL.search(text, at)) is not None:
            start = text.rfind("\n", at, control.start()) + 1 or at
            if at < start:
                self._plain(text[at:start], at)
            at = text.find("\n", control.start()) + 1 or len(text)
            self._busy_line(text, start, at)
        if at < len(text):
            self._plain(text[at:], at)

    def _busy_line(self, text: str, start: int, end: int) -> None:
        """A line with controls: one that is only coloured is put together without a cell."""
        fresh = not self._x and self._y == len(self._rows)
        if fresh and end - start < self._width and _STYLED.fullmatch(text, start, end):
            self.texts.append(self._styled(text[start:end].rstrip("\r\n")))
            self.begins.append(start)
            self._rows.append(~(len(self.texts) - 1))
            if len(self._rows) >= self._height:
                del self._rows[0]
            self._y = len(self._rows)
        else:
            self._tokens(text, start, end)

    def _styled(self, line: str) -> str:
        """A line whose only controls are SGR, marked."""
        pieces = _SGR.split(line)
        runs = []
        style = self._style
        for i in range(0, len(pieces), 2):
            if i:
                style = restyled(style, pieces[i - 1])
            if text := pieces[i]:
                runs.append((text if text.isprintable() else clean(text), style))
        self._style = style
        return marked(trimmed(runs))

    # Lines without controls

    def _plain(self, text: str, at: int) -> None:
        """Text whose only controls are LF and tab."""
        *lines, rest = text.split("\n")
        first = 0
        # On top of what is there already, line by line.
        while first < len(lines) and (self._x or self._y < len(self._rows)):
            self._at = at
            self._tabbed(lines[first])
            self._line_feed()
            at += len(lines[first]) + 1
            first += 1
        if first < len(lines):
            self._whole(lines[first:] if first else lines, at)
            at += sum(map(len, lines[first:])) + len(lines) - first
        if rest:
            self._at = at
            self._tabbed(rest)

    def _tabbed(self, text: str) -> None:
        for i, part in enumerate(text.split("\t")):
            if i:
                self._tab()
            if part:
                self._draw(part)

    def _whole(self, lines: list[str], at: int) -> None:
        """Lines that each begin a row of their own below all others."""
        begins = [at]
        begins += [at := at + len(line) + 1 for line in lines]
        begins.pop()
        block = "\n".join(lines)
        ascii_only = block.isascii()
        if max(map(len, lines)) > self._width // 8 or ("\t" in block and not ascii_only):
            for begin, line in zip(begins, lines, strict=True):
                self._at = begin
                self._tabbed(line)
                self._line_feed()
            return
        if not ascii_only and not block.isprintable():
            lines = clean(block, keep_newlines=True).split("\n")
        elif "\t" in block:
            lines = block.expandtabs(8).split("\n")
        if " \n" in block or block.endswith(" ") or "\t" in block:
            lines = [line.rstrip(" ") for line in lines]
        if self._style:
            style = self._style
            if shows_blanks(style):
                for begin, line in zip(begins, block.expandtabs(8).split("\n"), strict=True):
                    self._at = begin
                    self._draw(clean(line))
                    self._line_feed()
                return
            lines = [f"\x1b[{style}m{line}" if line else line for line in lines]
        count = len(self.texts)
        self.texts += lines
        self.begins += begins
        self._rows += range(~count, ~(count + len(lines)), -1)
        if len(self._rows) >= self._height:
            del self._rows[: len(self._rows) - self._height + 1]
        self._y = len(self._rows)

    # Everything else

    def _tokens(self, text: str, start: int, end: int) -> None:
        for token in _TOKEN.finditer(text, start, end):
            kind = token.lastgroup
            if kind == "text":
                self._at = token.start()
                self._draw(token[0])
            elif kind == "sgr":
                self._style = restyled(
                    self._style, token[0][token[0].find("[") + 1 if token[0][0] == "\x1b" else 1 : -1]
                )
            elif kind == "control":
                self._at = token.start()
                _CONTROLS[token[0]](self)
            elif kind == "csi":
                self._at = token.start()
                self._control_sequence(token[0])
            elif kind == "escape":
                self._at = token.start()
                self._escape(token[0][1:])
            elif kind == "other" and token[0] not in "\x00\x07\x0e\x0f\x7f":
                self._at = token.start()
                self._draw(token[0])

    def _row(self, y: int) -> TerminalRow:
        """The cells of a row; rows up to it come into being."""
        self._reach(y)
        number = self._rows[y]
        cells = self._cells.get(number)
        if cells is None:
            line = self.texts[~number] if number < 0 else self._lines.text(number)
            cells = self._cells[number] = TerminalRow(line)
        return cells

    def _existing(self, y: int) -> TerminalRow | None:
        return self._row(y) if y < len(self._rows) else None

    def _reach(self, y: int) -> None:
        while len(self._rows) <= y:
            self._rows.append(~len(self.texts))
            self.texts.append("")
            self.begins.append(self._at)

    def _draw(self, text: str) -> None:
        if NARROW.fullmatch(text):
            self._put(text)
            return
        cells = cells_of(clean(text))
        first = 0
        # What combines with a character that was drawn before.
        leading = clean(text[:PER_CELL])
        while first < len(leading) and char_width(leading[first]) == 0:
            if self._x and (row := self._existing(self._y)) is not None:
                row.combine(self._x, leading[first])
            first += 1
        if cells:
            self._put(cells)

    def _put(self, cells: str | list[str]) -> None:
        room = self._width - self._x
        while len(cells) > room:
            if room > 0 and cells[room] == "":
                room -= 1
            if room > 0:
                self._row(self._y).write(self._x, cells[:room], self._style)
            cells = cells[room:] if room > 0 else cells
            self._line_feed()
            room = self._width
        self._row(self._y).write(self._x, cells, self._style)
        self._x += len(cells)

    def _line_feed(self) -> None:
        self._reach(self._y)
        self._x = 0
        self._down()

    def _down(self) -> None:
        if self._y == self._height - 1:
            self._reach(self._y)
            del self._rows[0]
            if len(self._cells) > 2 * self._height:
                # A few bytes can make a row of thousands of cells; those that have scrolled out are wanted no more.
                self._finish_rows()
        else:
            self._y += 1

    def _up(self) -> None:
        """The row above; at the top nothing is scrolled back, for what scrolled out is no longer here."""
        self._y = max(0, self._y - 1)

    def _carriage_return(self) -> None:
        self._x = 0

    def _backspace(self) -> None:
        self._x = max(0, min(self._x, self._width - 1) - 1)

    def _tab(self) -> None:
        self._x = max(self._x, min((self._x // 8 + 1) * 8, self._width - 1))

    def _escape(self, text: str) -> None:
        if text == "7":
            self._saved = (self._y, self._x, self._style)
        elif text == "8":
            self._restore()
        elif text == "D":
            self._down()
        elif text == "E":
            self._line_feed()
        elif text == "M":
            self._up()
        elif text == "c":
            self._style, self._y, self._x = "", 0, 0
            self._erase_rows(0, len(self._rows))

    def _restore(self) -> None:
        self._y, self._x, self._style = self._saved

    def _control_sequence(self, sequence: str) -> None:
        body = sequence[2:-1] if sequence[0] == "\x1b" else sequence[1:-1]
        act = _SEQUENCES.get(sequence[-1])
        if act is None or not all(char in "0123456789;" for char in body):
            return
        numbers = [int(part[:6]) if part else 0 for part in body.split(";")]
        act(self, numbers)

    def _move(self, by_y: int, by_x: int) -> None:
        self._y = max(0, min(self._y + by_y, self._height - 1))
        if by_x:
            x = min(self._x, self._width - 1) if by_x < 0 else self._x
            self._x = max(0, min(x + by_x, self._width - 1))

    def _move_to_start(self, by_y: int) -> None:
        self._move(by_y, 0)
        self._x = 0

    def _go(self, y: int | None, x: int | None) -> None:
        if y is not None:
            self._y = max(0, min(y - 1, self._height - 1))
        if x is not None:
            self._x = max(0, min(x - 1, self._width - 1))

    def _erase_in_line(self, numbers: list[int]) -> None:
        row = self._existing(self._y)
        if row is None:
            return
        how, x = numbers[0], self._x
        if how == 0:
            row.erase(x, self._width)
        elif how == 1:
            row.erase(0, x + 1)
        elif how == 2:
            row.erase(0, self._width)

    def _erase_in_display(self, numbers: list[int]) -> None:
        how = numbers[0]
        if how == 0:
            self._erase_in_line([0])
            self._erase_rows(self._y + 1, len(self._rows))
        elif how == 1:
            self._erase_rows(0, min(self._y, len(self._rows)))
            self._erase_in_line([1])
        elif how == 2:
            self._erase_rows(0, len(self._rows))

    def _erase_rows(self, start: int, end: int) -> None:
        for y in range(start, end):
            self._row(y).erase(0, self._width)

    def _insert_rows(self, count: int) -> None:
        """Rows from the cursor on go down; those that leave the window are lost, as on a screen."""
        self._x = 0
        for y in range(min(len(self._rows) - 1 + count, self._height - 1), self._y - 1, -1):
            self._copy_row(y - count if y - count >= self._y else None, y)

    def _delete_rows(self, count: int) -> None:
        self._x = 0
        for y in range(self._y, len(self._rows)):
            self._copy_row(y + count if y + count < len(self._rows) else None, y)

    def _copy_row(self, source: int | None, target: int) -> None:
        into = self._row(target)
        if source is None:
            into.chars, into.styles = [], []
        else:
            row = self._row(source)
            into.chars, into.styles = list(row.chars), list(row.styles)

    def _in_row(self, act: str, numbers: list[int]) -> None:
        row = self._existing(self._y)
        count = min(max(1, numbers[0]), self._width)
        x = self._x
        if row is None or x >= self._width:
            return
        if act == "erase":
            row.erase(x, x + count)
        elif act == "insert":
            row.insert(x, count, self._width)
        else:
            row.delete(x, count)


_CONTROLS: dict[str, Callable[[TerminalText], None]] = {
    "\b": TerminalText._backspace,
    "\t": TerminalText._tab,
    "\n": TerminalText._line_feed,
    "\x0b": TerminalText._line_feed,
    "\x0c": TerminalText._line_feed,
    "\r": TerminalText._carriage_return,
}


def _some(numbers: list[int]) -> int:
    return max(1, numbers[0])


_SEQUENCES: dict[str, Callable[[TerminalText, list[int]], None]] = {
    "A": lambda t, n: t._move(-_some(n), 0),
    "B": lambda t, n: t._move(_some(n), 0),
    "C": lambda t, n: t._move(0, _some(n)),
    "D": lambda t, n: t._move(0, -_some(n)),
    "E": lambda t, n: t._move_to_start(_some(n)),
    "F": lambda t, n: t._move_to_start(-_some(n)),
    "G": lambda t, n: t._go(None, _some(n)),
    "`": lambda t, n: t._go(None, _some(n)),
    "H": lambda t, n: t._go(_some(n), max(1, n[1]) if len(n) > 1 else 1),
    "f": lambda t, n: t._go(_some(n), max(1, n[1]) if len(n) > 1 else 1),
    "d": lambda t, n: t._go(_some(n), None),
    "J": lambda t, n: t._erase_in_display(n),
    "K": lambda t, n: t._erase_in_line(n),
    "L": lambda t, n: t._insert_rows(_some(n)),
    "M": lambda t, n: t._delete_rows(_some(n)),
    "@": lambda t, n: t._in_row("insert", n),
    "P": lambda t, n: t._in_row("delete", n),
    "X": lambda t, n: t._in_row("erase", n),
    "s": lambda t, n: t._escape("7"),
    "u": lambda t, n: t._restore(),
}
