"""How console text looks, as the parameters of SGR (`1;31`), and what another SGR makes of it.

A style is written in one way only: attributes in ascending order, then foreground, then background; "" is the
terminal's own. So equal looks are equal strings, and a line with its styles is one string (see `marked`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

MARK = re.compile("\x1b\\[([0-9;]*)m")
"""Where a style begins in a marked line: it holds until the next mark, whatever held before."""

_ON = {1: 1, 2: 2, 3: 3, 4: 4, 7: 7, 9: 9, 21: 4}
"""Parameter → attribute. Blinking and concealed text is text as any other."""
_OFF = {22: {1, 2}, 23: {3}, 24: {4}, 27: {7}, 29: {9}}


def parts(style: str) -> tuple[frozenset[int], str, str]:
    """Attributes (1 bold, 2 dim, 3 italic, 4 underlined, 7 reversed, 9 struck), foreground and background.

    A colour is `31`, `97`, `38;5;N` or `38;2;R;G;B` (40–48, 100–107 for a background), "" for the terminal's own.
    """
    numbers = style.split(";") if style else []
    attributes, foreground, background = set(), "", ""
    at = 0
    while at < len(numbers):
        number = int(numbers[at])
        taken = 1
        if number in (38, 48):
            taken = 3 if numbers[at + 1] == "5" else 5
        if number < 30:
            attributes.add(number)
        elif number // 10 in (3, 9):
            foreground = ";".join(numbers[at : at + taken])
        else:
            background = ";".join(numbers[at : at + taken])
        at += taken
    return frozenset(attributes), foreground, background


@lru_cache(4096)
def restyled(style: str, parameters: str) -> str:
    """The style after `CSI parameters m`. ECMA-48 §8.3.117 and xterm's colours, with `;` or `:`; others are ignored."""
    attributes, foreground, background = parts(style)
    on = set(attributes)
    codes = parameters.split(";")
    at = 0
    while at < len(codes):
        subs = codes[at].split(":")
        code = _number(subs[0])
        at += 1
        if code == 0:
            on, foreground, background = set(), "", ""
        elif code == 4 and len(subs) > 1 and _number(subs[1]) == 0:
            on.discard(4)
        elif code in _ON:
            on.add(_ON[code])
        elif code in _OFF:
            on -= _OFF[code]
        elif code in (38, 48):
            if len(subs) > 1:
                colour = _of_colons(code, [_number(sub) for sub in subs[1:]])
            else:
                colour, taken = _of_semicolons(code, [_number(sub) for sub in codes[at : at + 4]])
                at += taken
            if code == 38:
                foreground = colour or foreground
            else:
                background = colour or background
        elif 30 <= code <= 37 or 90 <= code <= 97:
            foreground = str(code)
        elif 40 <= code <= 47 or 100 <= code <= 107:
            background = str(code)
        elif code == 39:
            foreground = ""
        elif code == 49:
            background = ""
    return ";".join([*map(str, sorted(on)), *filter(None, (foreground, background))])


def _number(text: str) -> int:
    """A missing parameter is 0; one that is no number, or far too large, means nothing."""
    if not text:
        return 0
    return int(text) if len(text) < 6 and text.isascii() and text.isdigit() else -1


def _of_semicolons(code: int, rest: list[int]) -> tuple[str, int]:
    """The colour behind 38 or 48, and how many parameters it took."""
    if rest[:1] == [5]:
        return (f"{code};5;{rest[1]}" if len(rest) > 1 and 0 <= rest[1] < 256 else ""), 2
    if rest[:1] == [2]:
        rgb = rest[1:4]
        good = len(rgb) == 3 and all(0 <= part < 256 for part in rgb)
        return (f"{code};2;{rgb[0]};{rgb[1]};{rgb[2]}" if good else ""), 4
    return "", 0


def _of_colons(code: int, rest: list[int]) -> str:
    """The colour in `38:5:N`, `38:2:R:G:B` or `38:2:SPACE:R:G:B`."""
    if len(rest) > 4 and rest[0] == 2:
        rest = [2, *rest[2:5]]
    return _of_semicolons(code, rest)[0]


def marked(runs: Iterable[tuple[str, str]]) -> str:
    """(text, style) runs as one string, with a mark wherever the style changes."""
    made, style = [], ""
    for text, wanted in runs:
        if wanted != style:
            made.append(f"\x1b[{wanted}m")
            style = wanted
        made.append(text)
    return "".join(made)


def runs_of(line: str) -> Iterator[tuple[str, str]]:
    """The (text, style) runs of a marked line."""
    if "\x1b" not in line:
        if line:
            yield line, ""
        return
    pieces = MARK.split(line)
    for text, style in zip(pieces[::2], ["", *pieces[1::2]], strict=True):
        if text:
            yield text, style


def plain(line: str) -> str:
    """A marked line (or several) without its marks."""
    return MARK.sub("", line) if "\x1b" in line else line
