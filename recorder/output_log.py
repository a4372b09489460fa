"""`files/output.log`: what a terminal would show in the end of all that was printed, line by line.

Progress bars write over their lines with carriage returns, cursor movements and erasures; only what was there last is
kept. Colours stay, in front of the character that they came before.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TextIO

_TOKEN = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\\\)|[\r\n\b]|[^\x1b\r\n\b]+|\x1b")
_REACH = 32
"""Lines that a cursor movement can still reach; older ones are written."""


class _Screen:
    """The last lines of one stream. A cell is a character with the colour codes before it."""

    def __init__(self) -> None:
        self.lines: list[list[str]] = [[]]
        self._row = self._column = 0
        self._colour = ""

    def feed(self, text: str) -> list[str]:
        """Takes text; the lines that are out of reach now."""
        for token in _TOKEN.findall(text):
            if token == "\n":
                self._row, self._column = self._row + 1, 0
                if self._row == len(self.lines):
                    self.lines.append([])
            elif token == "\r":
                self._column = 0
            elif token == "\b":
                self._column = max(0, self._column - 1)
            elif token[0] != "\x1b":
                self._put(token)
            elif token[-1] == "m":
                self._colour += token
            else:
                self._move(token)
        out: list[str] = []
        while self._row >= _REACH:
            out.append("".join(self.lines.pop(0)))
            self._row -= 1
        return out

    def _put(self, text: str) -> None:
        line = self.lines[self._row]
        line += [" "] * (self._column - len(line))
        cells = list(text)
        cells[0] = self._colour + cells[0]
        self._colour = ""
        line[self._column : self._column + len(cells)] = cells
        self._column += len(cells)

    def _move(self, token: str) -> None:
        kind = token[-1]
        number = token[2:-1]
        count = int(number) if number.isdigit() else 0
        line = self.lines[self._row]
        if kind == "A":
            self._row = max(0, self._row - (count or 1))
        elif kind == "B":
            self._row = min(len(self.lines) - 1, self._row + (count or 1))
        elif kind == "C":
            self._column += min(count or 1, 4096)
        elif kind == "D":
            self._column = max(0, self._column - (count or 1))
        elif kind == "K" and count == 0:
            del line[self._column :]
        elif kind == "K" and count == 1:
            line[: self._column] = [" "] * min(self._column, len(line))
        elif kind == "K":
            line.clear()

    def rest(self) -> list[str]:
        """The lines that are still within reach."""
        lines = ["".join(line) for line in self.lines]
        if self._colour:
            lines[-1] += self._colour
        return lines[:-1] if lines[-1] == "" else lines


class OutputLog:
    """The file; it comes to be with the first line. `write` and `close` raise OSError where the disk refuses."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: TextIO | None = None
        self._screens: dict[str, _Screen] = {}
        self._stream = ""

    def write(self, stream: str, text: str) -> None:
        """Takes what was written to a stream."""
        if stream != self._stream and self._stream:
            # Streams share the terminal: what one has finished comes before what the other says next.
            before = self._screens[self._stream]
            if before.lines[-1] == []:
                self._put(before.rest())
                self._screens[self._stream] = _Screen()
        self._stream = stream
        screen = self._screens.get(stream)
        if screen is None:
            screen = self._screens[stream] = _Screen()
        self._put(screen.feed(text))

    def _put(self, lines: list[str]) -> None:
        if lines:
            if self._file is None:
                self._file = open(self.path, "a", encoding="utf-8", errors="backslashreplace", newline="")  # noqa: SIM115  open until the run ends
            self._file.write("".join(f"{line}\n" for line in lines))

    def flush(self) -> None:
        """Hands what is out of reach of the cursor to the operating system."""
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        """Writes the rest."""
        for screen in self._screens.values():
            self._put(screen.rest())
        self._screens = {}
        if self._file is not None:
            self._file.close()
            self._file = None
