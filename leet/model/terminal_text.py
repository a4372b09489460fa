"""One stream of console output, drawn as a terminal would draw it.

    text ─► lines without controls ──────────────► whole lines at once
         ─► lines with colours, CR, cursor, erase ─► cells of the rows they touch

The last 64 rows can still change, as on a screen: there progress bars draw over themselves. What scrolls out of them
stays as it is. Lines live with whoever keeps them (`Lines`); here is only which of them the rows are.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from leet.model.console_style import marked, restyled
from leet.model.safe_text import clean
from leet.model.terminal_row import shows_blanks, trimmed
from leet.model.terminal_rows import HEIGHT, WIDTH, Lines, TerminalRows

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


class TerminalText(TerminalRows):
    """A terminal without an end to its right, whose rows are lines of `lines`.

    `feed` hands out new lines with negative numbers; whoever keeps them says by `number` what they are called.
    """

    def __init__(self, height: int = HEIGHT, width: int = WIDTH) -> None:
        super().__init__(height, width)
        self._held = ""

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

    def _control_sequence(self, sequence: str) -> None:
        body = sequence[2:-1] if sequence[0] == "\x1b" else sequence[1:-1]
        act = _SEQUENCES.get(sequence[-1])
        if act is None or not all(char in "0123456789;" for char in body):
            return
        numbers = [int(part[:6]) if part else 0 for part in body.split(";")]
        act(self, numbers)


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
