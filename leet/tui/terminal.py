"""What the terminal can show, and the current time as the screen knows it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from leet.settings.store import settings
from leet.streams import speaks_utf8

if TYPE_CHECKING:
    from textual.filter import LineFilter

ColorDepth = Literal["truecolor", "256", "16", "none"]


@dataclass(frozen=True, slots=True)
class Terminal:
    """Abilities of a terminal, decided once at start."""

    depth: ColorDepth = "truecolor"
    ascii: bool = False
    """Only 7-bit characters: the locale is not UTF-8, or the person said so."""
    mouse: bool = True
    remote: bool = False
    """Reached over ssh: bytes are dear."""
    now: float | None = None
    """The clock stands still at this Unix time (pictures and goldens); None: it runs."""

    def time(self) -> float:
        return time.time() if self.now is None else self.now


def detect(environ: Mapping[str, str], *, ascii_only: bool = False, mouse: bool = True) -> Terminal:
    """Read the abilities of the terminal from the environment; less of them where the settings say so.

    `LEET_NOW` (Unix seconds) makes the clock stand still, so that a picture taken twice is the same twice.
    """
    try:
        now = float(environ["LEET_NOW"])
    except (KeyError, ValueError):
        now = None
    return Terminal(
        depth=_depth(environ),
        ascii=ascii_only or settings().toggle("ascii") or not speaks_utf8(environ) or environ.get("TERM") == "linux",
        mouse=mouse and settings().toggle("mouse"),
        remote="SSH_CONNECTION" in environ,
        now=now,
    )


def off_screen(terminal: Terminal, *, ascii_only: bool = False) -> Terminal:
    """What a picture can show: all colours and characters, whatever terminal it is taken from."""
    return replace(terminal, depth="none" if terminal.depth == "none" else "truecolor", ascii=ascii_only)


def _depth(environ: Mapping[str, str]) -> ColorDepth:
    """Rich's own rule, so that the theme is chosen for what Rich will write."""
    if "NO_COLOR" in environ:
        return "none"
    forced = environ.get("TEXTUAL_COLOR_SYSTEM", "auto").strip().lower()
    by_name: dict[str, ColorDepth] = {"truecolor": "truecolor", "256": "256", "standard": "16", "windows": "16"}
    if forced in by_name:
        return by_name[forced]
    if environ.get("COLORTERM", "").strip().lower() in ("truecolor", "24bit"):
        return "truecolor"
    term = environ.get("TERM", "").strip().lower()
    if term.endswith(("-256color", "-256", "kitty")):
        return "256"
    return "16"


_PLAIN = str.maketrans(
    {
        **dict.fromkeys("─━═╌┄┈▔▁⎯—–‐‑−", "-"),
        **dict.fromkeys("│┃║┆┊▏▕▎▌▐❘", "|"),
        **dict.fromkeys("┌┐└┘├┤┬┴┼╭╮╰╯╔╗╚╝┏┓┗┛", "+"),
        **dict.fromkeys("●◉⬤•∙▪", "*"),
        **dict.fromkeys("○◌·⋅", "."),
        **dict.fromkeys("█▓▇▆▅▄▀", "#"),
        **dict.fromkeys("░▒▂▃", ":"),
        **dict.fromkeys("▶▸►→❯›", ">"),
        **dict.fromkeys("◀◂◄←❮‹", "<"),
        **dict.fromkeys("▲▴↑", "^"),
        **dict.fromkeys("▼▾↓", "v"),
        **dict.fromkeys("“”„", '"'),
        **dict.fromkeys("‘’‚", "'"),
        "…": "~",
        "×": "x",
        "µ": "u",
        "μ": "u",
        "°": "o",
        "±": "+",
        "≤": "<",
        "≥": ">",
        "✓": "+",
        "✗": "x",
        "⟩": ">",
        "⟨": "<",
        "∞": "8",
    }
)


def to_ascii(text: str) -> str:
    """`text` in 7-bit characters of the same width: look-alikes where there are, `?` elsewhere."""
    if text.isascii():
        return text
    text = text.translate(_PLAIN)
    if text.isascii():
        return text
    from rich.cells import cell_len

    return "".join(c if c.isascii() else "?" * cell_len(c) for c in text)


def ascii_filter() -> LineFilter:
    """A filter that keeps every widget, Textual's own too, to 7-bit characters."""
    from rich.segment import Segment
    from textual.color import Color
    from textual.filter import LineFilter

    class AsciiOnly(LineFilter):
        def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
            return [s if s.text.isascii() else Segment(to_ascii(s.text), s.style, s.control) for s in segments]

    return AsciiOnly()
