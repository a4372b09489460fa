"""The last lines that a program printed, as they were written: of a line drawn over itself only the last state."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace

_LONGEST = 64 * 1024
"""Characters kept of a line that does not end."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line; `time` is that of its beginning, Unix (seconds, nanoseconds), None where the log has none."""

    stream: str
    time: tuple[int, int] | None
    text: str
    begun: int = 0
    """How many pieces of output came before its beginning."""


class ConsoleTail:
    """Takes pieces of output and keeps the last lines of all streams, in the order in which they began."""

    def __init__(self, kept: int) -> None:
        self._lines: deque[Line] = deque(maxlen=kept)
        self._kept = kept
        self._ended = 0
        self._pieces = 0
        self._open: dict[str, Line] = {}

    def write(self, stream: str, time: tuple[int, int] | None, text: str) -> None:
        """Takes what was written to a stream at once: any number of lines, or a part of one."""
        if not text:
            return
        line = self._open.pop(stream, None) or Line(stream, time, "", self._pieces)
        *ended, rest = text.split("\n")
        for part in ended:
            self._lines.append(replace(line, text=drawn(line.text + part)))
            line = Line(stream, time, "", self._pieces)
        self._ended += len(ended)
        self._pieces += 1
        if rest := line.text + rest:
            # A bar that is drawn over itself would otherwise grow with every step.
            self._open[stream] = replace(line, text=rest[rest.rstrip("\r").rfind("\r") + 1 :][-_LONGEST:])

    def __len__(self) -> int:
        """All lines so far, also those that are kept no more."""
        return self._ended + len(self._open)

    def lines(self) -> list[Line]:
        """The last lines."""
        lines = [*self._lines, *(replace(line, text=drawn(line.text)) for line in self._open.values())]
        return sorted(lines[-self._kept :], key=lambda line: line.begun)


def drawn(line: str) -> str:
    """What is left of a line when each carriage return has begun it anew.

    The cursor-up that progress bars of several lines end with is dropped: here is nothing that it could go up to.
    """
    return line.rstrip("\r").rpartition("\r")[2].replace("\x1b[A", "")
