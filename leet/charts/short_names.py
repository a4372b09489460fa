"""Names cut to a width among each other: what tells them apart stays, and what they have in common gives way.

lr-0.001-a-rather-long-name        lr-0.001-a-rathe…
lr-0.01-a-rather-long-name    →    lr-0.01-a-rather…
lr-0.1-a-rather-long-name          lr-0.1-a-rather-…
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection
from functools import lru_cache

from leet.charts.lettering import shorten

_WORD = re.compile(r"[^\W_.]|(?<=[0-9])\.(?=[0-9])")
"""A character inside a word or a number, which is not cut there."""


@lru_cache(256)
def short_names(names: tuple[str, ...], width: int, ellipsis: str = "…") -> tuple[str, ...]:
    """Each of the names in at most `width` columns; different ones stay different where the width allows it."""
    if max(map(len, names), default=0) <= width:
        return names
    short = _short({name for name in names if len(name) > width}, width, ellipsis)
    return tuple([short.get(name, name) for name in names])


def _short(names: Collection[str], width: int, ellipsis: str) -> dict[str, str]:
    """Name → what is shown of it, of names that are all too long."""
    if len(names) == 1 or width <= 2 * len(ellipsis) + 1:
        return {name: shorten(name, width, ellipsis) for name in names}
    before, after = _common(names), _common([name[::-1] for name in names])
    made = {name: _cut(name, before, after, width, ellipsis) for name in names}
    same = defaultdict(list)
    for name, shown in made.items():
        same[shown].append(name)
    for group in same.values():
        if 1 < len(group) < len(names):
            made |= _short(group, width, ellipsis)
    return made


def _common(names: Collection[str]) -> int:
    """Characters with which all names begin."""
    first, last = min(names), max(names)
    return next((i for i, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first))


def _cut(name: str, before: int, after: int, width: int, ellipsis: str) -> str:
    """A name in which so many characters of the beginning and of the end are those of all others."""
    after = min(after, len(name) - before)
    for start, end in (_word_around(name, before, len(name) - after), (before, len(name) - after)):
        if end + len(ellipsis) <= width:
            return name[: width - len(ellipsis)] + ellipsis
        more = ellipsis if end < len(name) else ""
        room = width - (end - start) - len(ellipsis) - len(more)
        if room >= 0:
            return ellipsis + name[max(start - room, 0) : end] + more
    first, last = ellipsis if before else "", ellipsis if after else ""
    piece = name[before : len(name) - after]
    return first + shorten(piece, width - len(first) - len(last), ellipsis) + last


def _word_around(name: str, start: int, end: int) -> tuple[int, int]:
    """The place from `start` to `end`, widened to whole words."""
    while start > 0 and _WORD.match(name, start - 1):
        start -= 1
    while end < len(name) and _WORD.match(name, end):
        end += 1
    return start, end
