"""The text filter: which names, keys or lines are shown."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable, Sequence
from itertools import compress
from typing import Any, Literal

try:  # the parser of `re` is private since Python 3.11, but the only way to look at a pattern before running it
    from re import _parser as sre_parser  # type: ignore[attr-defined]
except ImportError:  # pragma: no cover - another implementation of Python
    sre_parser = None

Mode = Literal["regex", "glob"]

_METACHARACTERS = frozenset(r"\.^$*+?{}[]|()")
_REPEATS = frozenset({"MAX_REPEAT", "MIN_REPEAT"})
_MANY = 16
"""Repeats allowed up to this often may be nested without harm."""
_CASED = re.compile(r"\\[^dswb\W]|\(\?[A-Za-z]")
"""What must not be put into lower case: escapes other than `\\d \\s \\w \\b` and of signs, flags, names of groups."""
_WORDS = re.compile("[a-z]{2,}")
_LOOKS_BACK = re.compile(r"\||\\[0-9]|\(\?[P(]")
"""Branches, of which one alone begins with what the pattern begins with, and what names or numbers a group."""
_LONGEST = 2000
"""Characters of a subject that are looked at."""
_PATIENCE = 2.0
"""Seconds after which a pattern is given up as too slow."""


class TextFilter:
    """A filter typed by a person: case-insensitive, found anywhere in the subject; an empty text matches all.

    `regex`: Python's `re`; a text without metacharacters is a plain substring. `glob`: `*`, `?`, `[abc]`, `[!abc]`;
    `/` is an ordinary character. A text that cannot be used (wrong syntax, or a repeat inside a repeat, which could
    run for ever) has its reason in `error` and matches nothing: callers keep what they showed before.
    """

    def __init__(self, text: str = "", mode: Mode = "regex") -> None:
        self.text = text
        self.mode: Mode = mode
        self.error: str | None = None
        self._needle: str | None = None
        self._search: Callable[[str], Any] | None = None
        self._pattern: re.Pattern[str] | None = None
        self._literal = ""
        if not any(c in _METACHARACTERS for c in text) or (mode == "glob" and not any(c in "*?[" for c in text)):
            self._needle = text.lower()
            return
        pattern = glob_to_regex(text) if mode == "glob" else text
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # "possible nested set" would be printed over the screen
                self._pattern = _compiled(pattern)
                quick = _compiled(_without_open_start(pattern))
                self._search = quick.search
                self._literal = "" if quick.flags & re.IGNORECASE else _literal(quick.pattern)
                if mode == "regex" and _may_explode(pattern):
                    self._search = self._pattern = None
                    self.error = "a repeat inside a repeat could run for ever"
        except re.error as e:
            self.error = e.msg if e.pos is None else f"{e.msg} at {e.pos + 1}"
        except (OverflowError, RecursionError) as e:
            self.error = str(e) or type(e).__name__

    def __bool__(self) -> bool:
        return bool(self.text)

    def __repr__(self) -> str:
        return f"TextFilter({self.text!r}, {self.mode!r})"

    @property
    def words(self) -> list[str]:
        """Runs of ASCII letters in lower case that every subject has which matches; none where that is not known."""
        return _WORDS.findall(self._needle) if self._needle is not None else []

    def matches(self, subject: str) -> bool:
        """Whether the subject passes."""
        if self._needle is not None:
            return self._needle in subject.lower()
        return self._search is not None and self._search(subject[:_LONGEST].lower()) is not None

    def spans(self, subject: str) -> list[tuple[int, int]]:
        """Where in the subject it is found: (first character, the one after the last), ascending and apart."""
        low = subject.lower()
        if len(low) != len(subject):
            return []  # a letter whose lower case is two
        if self._needle is not None:
            width = len(self._needle)
            starts, at = [], low.find(self._needle) if width else -1
            while at >= 0:
                starts.append(at)
                at = low.find(self._needle, at + width)
            return [(start, start + width) for start in starts]
        if self._pattern is None:
            return []
        return [match.span() for match in self._pattern.finditer(low[:_LONGEST]) if match.end() > match.start()]

    def select(self, names: Sequence[str]) -> list[str]:
        """The names that pass, in their order. A pattern that proves too slow gets an `error` and matches nothing.

        Asked again and again about the same tuple (a person is typing) it is lowered only once.
        """
        if not self.text:
            return list(names)
        low = _lowered(names)
        if self._needle is not None:
            needle = self._needle
            return [name for name, subject in zip(names, low, strict=True) if needle in subject]
        search = self._search
        if search is None:
            return []
        chosen: list[str] = []
        deadline = time.monotonic() + _PATIENCE
        if literal := self._literal:
            possible = [literal in subject for subject in low]
            if 2 * sum(possible) < len(low):
                names, low = list(compress(names, possible)), list(compress(low, possible))
        for start in range(0, len(names), 256):
            part = slice(start, start + 256)
            chosen += [name for name, subject in zip(names[part], low[part], strict=True) if search(subject[:_LONGEST])]
            if time.monotonic() > deadline:
                self.error = "too slow for so many names"
                return []
        return chosen


def _compiled(pattern: str) -> re.Pattern[str]:
    """The pattern for subjects in lower case.

    Matching without case costs Python's `re` most of its short cuts, so the pattern is lowered as well where that
    keeps its meaning; not where a letter after a backslash or in `(?P<name>)` would change it.
    """
    insensitive = re.compile(pattern, re.IGNORECASE)
    if not _CASED.search(pattern):
        try:
            return re.compile(pattern.lower(), insensitive.flags & ~re.IGNORECASE)
        except re.error:
            pass
    return insensitive


def _without_open_start(pattern: str) -> str:
    """A pattern that is found in the same subjects, without a `.*` at its start.

    With it every place of a subject is tried, and from each all the rest of the subject.
    """
    if not pattern.startswith(".*") or pattern[2:3] in ("*", "+", "?", "{") or _LOOKS_BACK.search(pattern):
        return pattern
    return pattern[2:]


def _literal(pattern: str) -> str:
    """The longest text that every subject of a pattern has; empty where that is not known."""
    if sre_parser is None:
        return ""
    runs = [""]
    for operation, argument in sre_parser.parse(pattern):
        if str(operation) == "LITERAL":
            runs[-1] += chr(argument)
        else:
            runs.append("")
    return max(runs, key=len)


_last: tuple[Sequence[str], list[str]] = ((), [])


def _lowered(names: Sequence[str]) -> list[str]:
    """The names in lower case; those of the last tuple are remembered."""
    global _last  # one entry, for the list that the user is filtering at this moment
    if _last[0] is names:
        return _last[1]
    low = [name.lower() for name in names]
    if isinstance(names, tuple):
        _last = (names, low)
    return low


def glob_to_regex(pattern: str) -> str:
    """The regular expression of a glob that may match anywhere.

    Each part after a `*` is sought at its first place and never tried again (atomic groups), which is enough
    for a pattern without an end and keeps the time linear in the subject.
    """
    parts: list[str] = [""]
    i = 0
    while i < len(pattern):
        c = pattern[i]
        i += 1
        if c == "*":
            if parts[-1]:
                parts.append("")
        elif c == "?":
            parts[-1] += "."
        elif c == "[":
            close = pattern.find("]", i + 1 + pattern.startswith("!", i))
            if close < 0:
                parts[-1] += r"\["
                continue
            members = pattern[i:close]
            negated = members.startswith("!")
            members = members.removeprefix("!")
            body = re.sub(r"([\\\[\]^&|~])", r"\\\1", members)
            parts[-1] += f"[{'^' if negated else ''}{body}]"
            i = close + 1
        else:
            parts[-1] += re.escape(c)
    return "".join([parts[0]] + [f"(?>(?s:.)*?{part})" for part in parts[1:] if part])


def _may_explode(pattern: str) -> bool:
    """Whether a repeat without a small limit holds another one, as in `(a+)+`: such a pattern can take for ever."""
    return sre_parser is not None and _nested(sre_parser.parse(pattern, re.IGNORECASE), inside=False)


def _nested(node: Any, inside: bool) -> bool:
    for operation, argument in node:
        name = str(operation)
        if name in _REPEATS:
            _, most, body = argument
            many = int(most) > _MANY
            if (many and inside) or _nested(body, inside or many):
                return True
        else:
            for child in _bodies(argument):
                if _nested(child, inside):
                    return True
    return False


def _bodies(argument: Any) -> list[Any]:
    """The patterns inside the argument of an operation: groups, branches, look-arounds."""
    if sre_parser is not None and isinstance(argument, sre_parser.SubPattern):
        return [argument]
    if isinstance(argument, (tuple, list)):
        return [body for item in argument for body in _bodies(item)]
    return []
