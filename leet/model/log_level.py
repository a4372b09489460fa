"""Levels of the lines that programs log, as common formats write them.

    INFO:root:…                          Python's logging
    2025-11-30 10:53:20,123 - a.b - ERROR - …    2025-11-30 10:53:20 | WARNING  | …    [INFO] …    [INFO|a.py:12] …
    I1130 10:53:20.123456 4711 file.cc:12] …     absl, glog; after `[rank0]:[`, PyTorch
    {"level": "info", …}    level=warn …    [info     ] …
    a.py:3: UserWarning: …    Traceback (most recent call last):

A line without a level belongs to the one above it in the same stream: what is logged may have several lines.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

LEVELS = ("all", "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
"""By their numbers; 0 stands for no level."""
INFO = LEVELS.index("INFO")
"""What a line counts as that no level stands above of: printed, as results are."""
_NUMBERS = {"TRACE": 1, "DEBUG": 1, "INFO": 2, "NOTICE": 2, "WARN": 3, "WARNING": 3, "ERROR": 4, "ERR": 4}
_NUMBERS |= {"CRITICAL": 5, "FATAL": 5, "EMERGENCY": 5}
_LETTERS = {"V": 1, "D": 1, "I": 2, "W": 3, "E": 4, "F": 5}
_FAR = 160
"""Characters of a line in which a level is looked for."""
_GLOG = re.compile(r"(?:\[\w+\]:? ?)?\[?([VDIWEF])(?:\d{4}|\d{8}) \d\d:\d\d:\d\d")
_WORD = re.compile(
    r"(?:TRACE|DEBUG|INFO|NOTICE|WARNING|WARN|ERROR|CRITICAL|FATAL)(?!\w)"
    r"|\"(?:level|levelname|severity|lvl|log_level)\": ?\"(?P<json>\w+)\""
    r"|level=\"?(?P<logfmt>[A-Za-z]+)"
    r"|\[(?P<bracket>trace|debug|info|notice|warning|warn|error|critical|fatal) *\]"
    r"|Warning: |Traceback \(most recent call last\):"
)
_OPENS = frozenset("[|(<:-\t\"'")
_BEFORE_SPACE = frozenset("]|)>:-,.Z0123456789")
_GLOG_STARTS = frozenset("VDIWEF[")
_SIGNS = (
    *("TRACE", "DEBUG", "INFO", "NOTICE", "WARN", "ERROR", "CRITICAL", "FATAL", "Warning: ", "Traceback", "level="),
    *('"level', '"severity"', '"lvl"', '"log_level"', "[trace", "[debug", "[info", "[notice", "[warn", "[error"),
    *("[critical", "[fatal"),
)
"""One of which is in every line that says its level, but for those that begin as glog's do."""
_CLOSES = frozenset("]|)>:-\t \"',")


def level_of(text: str, start: int = 0) -> int:
    """The number of the level that a line (without colours) says itself; 0 where it says none. No word that is one
    stands before `start`."""
    if text[:1] in _GLOG_STARTS and (match := _GLOG.match(text)):
        return _LETTERS[match[1]]
    for match in _WORD.finditer(text, start, _FAR):
        named = match["json"] or match["logfmt"] or match["bracket"]
        if named:
            if number := _NUMBERS.get(named.upper(), 0):
                return number
        elif match[0] == "Warning: ":
            if match.start() and text[match.start() - 1].isalnum():
                return _NUMBERS["WARNING"]
        elif match[0][0] == "T" and match[0] != "TRACE":
            return _NUMBERS["ERROR"] if match.start() == 0 else 0
        elif _stands_alone(text, match.start(), match.end()):
            return _NUMBERS[match[0]]
    return 0


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether a word is the level of its line, and not part of what the line tells."""
    if text[end : end + 1] not in _CLOSES and end < len(text):
        return False
    if not start or text[start - 1] in _OPENS:
        return True
    before = text[:start].rstrip(" ")
    return text[start - 1] == " " and (not before or before[-1] in _BEFORE_SPACE)


def levels_of(texts: Sequence[str], streams: Sequence[int], above: dict[int, int]) -> list[int]:
    """The number of every line's level, that of the line above where it has none. `above`: of each stream the last
    level before these lines, and after them when this returns."""
    found = []
    # Most lines of most programs say no level: those are told by what they do not hold, which is quickly seen.
    together = "\n".join(texts)
    signs = [sign for sign in _SIGNS if sign in together]
    for text, stream in zip(texts, streams, strict=True):
        places = [place for sign in signs if (place := text.find(sign)) >= 0]
        number = level_of(text, min(places, default=_FAR)) if places or text[:1] in _GLOG_STARTS else 0
        if number:
            above[stream] = number
        else:
            number = above.get(stream, INFO)
        found.append(number)
    return found
