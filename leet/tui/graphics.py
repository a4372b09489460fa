"""Pictures in full resolution: whether the terminal has them, and putting them over the cells that were left for them.

Cells stay what they are to everybody else: blank. A picture is written over them behind the frame that blanked them,
and taken away when its cells are needed for something else. Nothing is ever asked of the terminal: an answer would
arrive among the keys, and a terminal that does not know the question might print it. The environment tells.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from rich.style import Style
from textual.geometry import Region

from leet.model.picture_codes import kitty_removed

Protocol = Literal["kitty", "sixel"]

USUAL_CELL = (10, 20)
"""Pixels of a cell where the terminal does not tell."""
_KITTY_PROGRAMS = ("ghostty", "WezTerm")
_SIXEL_PROGRAMS = ("iTerm.app", "mintty")
_SIXEL_TERMS = ("foot", "mlterm", "yaft", "contour", "xterm-sixel", "vt340")
_FIRST_NUMBER = 41_000


def detect(environ: Mapping[str, str]) -> Protocol | None:
    """The protocol that the terminal speaks, as far as it says who it is; None inside of multiplexers."""
    term, program = environ.get("TERM", ""), environ.get("TERM_PROGRAM", "")
    if any(environ.get(name) for name in ("TMUX", "STY", "ZELLIJ")) or term.startswith(("screen", "tmux")):
        return None
    if term in ("xterm-kitty", "xterm-ghostty") or environ.get("KITTY_WINDOW_ID") or program in _KITTY_PROGRAMS:
        return "kitty"
    konsole = environ.get("KONSOLE_VERSION", "")
    if environ.get("WEZTERM_PANE") or (konsole.isdigit() and int(konsole) >= 220400):
        return "kitty"
    if program in _SIXEL_PROGRAMS or term.startswith(_SIXEL_TERMS) or environ.get("WT_SESSION"):
        return "sixel"
    return None


def cell_pixels() -> tuple[int, int]:
    """Width and height of a cell in pixels, as the kernel was told by the terminal."""
    try:
        import fcntl
        import struct
        import termios

        for stream in (1, 0, 2):
            try:
                answer = fcntl.ioctl(stream, termios.TIOCGWINSZ, bytes(8))
            except OSError:
                continue
            rows, columns, width, height = struct.unpack("HHHH", answer)
            if rows and columns and width >= columns and height >= rows:
                return width // columns, height // rows
    except ImportError:
        pass
    return USUAL_CELL


def remote_or_multiplexed(environ: Mapping[str, str] = os.environ) -> str:
    """Why there is no full resolution, in a few words."""
    if environ.get("TMUX") or environ.get("STY") or environ.get("ZELLIJ"):
        return "not inside tmux or screen"
    return "this terminal does not say that it can"


@dataclass(frozen=True, slots=True)
class Placement:
    """A picture on the screen: its cells, what it is (equal: the same picture), and the sequence that draws it."""

    region: Region
    identity: object
    sequence: str


class Placements:
    """The pictures that are on the terminal now."""

    def __init__(self, write: Callable[[str], None], protocol: Protocol, base: int = 0) -> None:
        self._write = write
        self.protocol: Protocol = protocol
        self._base = base
        self._there: dict[int, Placement] = {}

    def number(self, slot: int) -> int:
        """The number of the picture in a slot, by which Kitty knows it."""
        return _FIRST_NUMBER + self._base + slot

    def show(self, wanted: Mapping[int, Placement], ground: Style) -> None:
        """Have these on the screen, by slot, and no others."""
        parts = []
        for slot, placement in list(self._there.items()):
            now = wanted.get(slot)
            if now is None or (now.region, now.identity) != (placement.region, placement.identity):
                parts.append(self._removed(slot, placement, ground))
                del self._there[slot]
        for slot, placement in wanted.items():
            if slot not in self._there:
                x, y = placement.region.x, placement.region.y
                parts.append(f"\x1b7\x1b[{y + 1};{x + 1}H{placement.sequence}\x1b8")
                self._there[slot] = placement
        if parts:
            self._write("".join(parts))

    def clear(self, ground: Style) -> None:
        self.show({}, ground)

    def forget(self) -> None:
        """Somebody else has cleared the screen."""
        self._there.clear()

    def _removed(self, slot: int, placement: Placement, ground: Style) -> str:
        if self.protocol == "kitty":
            return kitty_removed(self.number(slot))
        # A sixel is gone when its cells are written.
        codes = ";".join(ground.bgcolor.get_ansi_codes(foreground=False)) if ground.bgcolor is not None else "49"
        region = placement.region
        blanks = " " * region.width
        lines = [f"\x1b[{y + 1};{region.x + 1}H{blanks}" for y in range(region.y, region.bottom)]
        return f"\x1b7\x1b[0;{codes}m{''.join(lines)}\x1b[0m\x1b8"
