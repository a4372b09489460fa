"""The processes of the machine as a table with a cursor."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len
from textual import events
from textual.message import Message
from textual.strip import Strip

from leet.model.processes import Branch, Process, SortKey
from leet.model.units import format_bytes
from leet.tui.widgets.painted import cut, pad, strip_of
from leet.tui.widgets.painted_list import PaintedList

_INTERPRETER = re.compile(r"(?:python|pypy|node|ruby|perl|bash|sh|Rscript|julia)[0-9.]*t?")
_WITH_VALUE = ("-X", "-W")
"""Options of interpreters before their script that take a word."""
_USER = 8
BUSY = 50.0
"""Per cent of a core from which on a process stands out."""
_FEWEST = 12
"""Columns of the command below which the owner is left out."""


class ProcessTable(PaintedList, can_focus=True):
    """Shows rows that it is given, and keeps the cursor on the process that it was put on."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "processes--heading",
        "processes--sorted",
        "processes--number",
        "processes--text",
        "processes--busy",
        "processes--tree",
        "processes--cursor",
    }
    DEFAULT_CSS = """
    ProcessTable {
        & > .processes--heading { color: $foreground 60%; text-style: bold; }
        & > .processes--sorted { color: $accent; text-style: bold; }
        & > .processes--number { color: $foreground 60%; }
        & > .processes--text { color: $foreground; }
        & > .processes--busy { color: $warning; }
        & > .processes--tree { color: $foreground 40%; }
        & > .processes--cursor { background: $block-cursor-background; color: $block-cursor-foreground; }
    }
    ProcessTable:ansi {
        & > .processes--heading, & > .processes--number, & > .processes--tree { color: ansi_default; }
        & > .processes--cursor { color: ansi_default; background: ansi_default; text-style: reverse; }
    }
    """

    class Moved(Message):
        """The cursor stands on another process, or the rows around it have changed."""

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, ProcessTable.Moved)

    class Opened(Message):
        """All about the process under the cursor is to be shown."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's name
        super().__init__(id=id)
        self._rows: Sequence[Branch] = ()
        self._sorted: SortKey = "cpu"
        self._with_gpu = False
        self._strips: dict[Branch, Strip] = {}
        """The lines of the last time, of which most are the same the next time."""
        self._painted_how: tuple[int, int, int, bool] = (0, 0, 0, False)
        self._place = 0
        self._pid: int | None = None
        """The process that the cursor follows; None: it stays at its place."""

    def show(self, rows: Sequence[Branch], sorted_by: SortKey, with_gpu: bool) -> None:
        """`with_gpu`: some hold memory of GPUs, so there is a column for it."""
        self._rows, self._sorted, self._with_gpu = rows, sorted_by, with_gpu
        if self._pid is not None:
            places = (place for place, row in enumerate(rows) if row.process.pid == self._pid)
            self._place = next(places, self._place)
        self._settle()
        self.repaint()
        self.post_message(self.Moved())

    @property
    def count(self) -> int:
        return len(self._rows)

    @property
    def length(self) -> int:
        return len(self._rows)

    @property
    def place(self) -> int:
        return self._place

    @property
    def process(self) -> Process | None:
        """The process under the cursor."""
        return self._rows[self._place].process if self._rows else None

    def _titles(self) -> int:
        return 1

    def _settle(self) -> None:
        self._place = max(0, min(self._place, len(self._rows) - 1))
        super()._settle()

    def _go(self, place: int) -> None:
        if self._rows:
            self._place = max(0, min(place, len(self._rows) - 1))
            # At the top one wants to see who is first, whoever that is.
            self._pid = self._rows[self._place].process.pid if self._place else None
        self._settle()
        self.repaint()
        self.post_message(self.Moved())

    def action_move(self, direction: str) -> None:
        if direction in ("up", "down"):
            self._go(self._place + (1 if direction == "down" else -1))

    def action_open(self) -> None:
        self.post_message(self.Opened())

    def on_click(self, event: events.Click) -> None:
        place = self._row_at(event.y)
        if place is not None:
            self._go(place)
            if event.chain == 2:
                self.action_open()

    # Painting

    def paint(self, width: int, height: int) -> list[Strip]:
        shown = self._rows[self._top : self._top + height - 1]
        digits = max(5, *(len(str(row.process.pid)) for row in self._rows)) if self._rows else 5
        used = digits + 1 + 7 + 9 + (10 if self._with_gpu else 0)
        user = _USER + 1 if width - used >= _FEWEST + _USER + 1 else 0
        how = (width, digits, user, self._with_gpu)
        if self._painted_how != how:
            self._painted_how = how
            self._strips.clear()
        # Most processes sleep: their lines are those of the sample before.
        before, self._strips = self._strips, {}
        lines = [self._heading(width, digits, user)]
        here = self._place - self._top if self.has_focus else -1
        for place, row in enumerate(shown):
            strip = before.get(row) or self._strip(row, width, digits, user)
            self._strips[row] = strip
            if place == here:
                strip = strip_of((pad(strip.text, width), self.part("processes--cursor")))
            lines.append(strip)
        return lines

    def _strip(self, row: Branch, width: int, digits: int, user: int) -> Strip:
        process = row.process
        owner = pad(process.user, user - 1) + " " if user else ""
        start = f"{process.pid:>{digits}} "
        cpu, memory = f"{_percent(process.cpu):>6} ", f"{format_bytes(process.memory):>8} "
        held = ""
        if self._with_gpu:
            bytes_held = "" if process.gpu is None else format_bytes(process.gpu) if process.gpu else "?"
            held = f"{bytes_held:>9} "
        text = self.part("processes--text")
        room = width - digits - 1 - user - len(cpu) - len(memory) - len(held)
        prefix = cut(row.prefix, room)
        command = cut(_short(process.command, room - cell_len(prefix)), room - cell_len(prefix))
        return strip_of(
            (start, self.part("processes--number")),
            (owner, text),
            (cpu, self.part("processes--busy") if process.cpu >= BUSY else text),
            (memory + held, text),
            (prefix, self.part("processes--tree")),
            (command, text),
        )

    def notify_style_update(self) -> None:
        self._strips.clear()
        super().notify_style_update()

    def _heading(self, width: int, digits: int, user: int) -> Strip:
        columns: list[tuple[str, SortKey | None]] = [
            (f"{'PID':>{digits}} ", "pid"),
            (pad("USER", user - 1) + " " if user else "", None),
            (f"{'CPU %':>6} ", "cpu"),
            (f"{'MEMORY':>8} ", "memory"),
        ]
        if self._with_gpu:
            columns.append((f"{'GPU MEM':>9} ", "gpu"))
        used = sum(len(text) for text, _ in columns)
        columns.append((cut("COMMAND", width - used), None))
        return strip_of(
            *(
                (text, self.part("processes--sorted" if key == self._sorted else "processes--heading"))
                for text, key in columns
            )
        )


def _short(command: str, room: int) -> str:
    """A command line without the directory of its program; where there is little room, what an interpreter runs."""
    program, blank, arguments = command.partition(" ")
    if program.startswith("/"):
        program = program.rpartition("/")[2]
    whole = program + blank + arguments
    if cell_len(whole) <= room or not _INTERPRETER.fullmatch(program):
        return whole
    words = arguments.split(" ")
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] not in ("-m", "-c"):
        at += 2 if words[at] in _WITH_VALUE else 1
    if at >= len(words) or words[at] == "-c":
        return whole
    if words[at] == "-m" and at + 1 < len(words):
        return " ".join(words[at + 1 :])
    return " ".join([words[at].rpartition("/")[2] or words[at], *words[at + 1 :]])


def _percent(value: float) -> str:
    return f"{value:.1f}" if value < 1000 else f"{value:.0f}"
