"""The last lines that a program printed, as they were written: of a line drawn over itself only the last state."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

_LONGEST = 64 * 1024
"""Characters kept of a line that does not end."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line; `time` is that of its beginning, Unix (seconds, nanoseconds), None where the log has none."""

    stream: str
    time: tuple[int, int] | None
    text: str


class ConsoleTail:
    """Takes pieces of output and keeps the last lines of both streams, in the order in which they ended."""

    def __init__(self, kept: int) -> None:
        self._lines: deque[Line] = deque(maxlen=kept)
        self._kept = kept
        self._ended = 0
        self._open: dict[str, tuple[tuple[int, int] | None, str]] = {}

    def write(self, stream: str, time: tuple[int, int] | None, text: str) -> None:
        """Takes what was written to a stream at once: any number of lines, or a part of one."""
        if not text:
            return
        begun, before = self._open.pop(stream, (time, ""))
        *ended, rest = text.split("\n")
        for line in ended:
            self._lines.append(Line(stream, begun, drawn(before + line)))
            begun, before = time, ""
        self._ended += len(ended)
        if rest := before + rest:
            # A bar that is drawn over itself would otherwise grow with every step.
            self._open[stream] = begun, rest[rest.rstrip("\r").rfind("\r") + 1 :][-_LONGEST:]

    def __len__(self) -> int:
        """All lines so far, also those that are kept no more."""
        return self._ended + len(self._open)

    def lines(self) -> list[Line]:
        """The last lines, those that have not ended behind the others."""
        open_lines = [Line(stream, time, drawn(text)) for stream, (time, text) in self._open.items()]
        return [*self._lines, *open_lines][-self._kept :]


def drawn(line: str) -> str:
    """What is left of a line when each carriage return has begun it anew.

    The cursor-up that progress bars of several lines end with is dropped: here is nothing that it could go up to.
    """
    return line.rstrip("\r").rpartition("\r")[2].replace("\x1b[A", "")
