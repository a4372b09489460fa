"""The text filter: which names, keys or lines are shown."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

from leet.model.time_limit import TimeLimitError, time_limit

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
ONE_SUBJECT = 0.05
"""Seconds of work after which a pattern is given up that is not through with one subject."""
TOO_LONG = "this pattern takes too long"
_MOST_TRIED = 1e7
"""Steps that are made in less time than that."""


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
        self._easy = _LONGEST
        if not any(c in _METACHARACTERS for c in text) or (mode == "glob" and not any(c in "*?[" for c in text)):
            self._needle = text.lower()
            return
        pattern = glob_to_regex(text) if mode == "glob" else text
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # "possible nested set" would be printed over the screen
                self._pattern = _compiled(pattern)
                # A star at the start of a glob says nothing: it is found anywhere.
                start = glob_to_regex(text.lstrip("*")) if mode == "glob" else _without_open_start(pattern)
                quick = _compiled(start)
                self._search = quick.search
                self._literal = "" if quick.flags & re.IGNORECASE else _literal(quick.pattern)
                self._easy = _easy_length(pattern)
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
        search = self._search
        if search is None:
            return False
        low = subject[:_LONGEST].lower()
        if len(low) <= self._easy:
            return search(low) is not None
        try:
            with time_limit(ONE_SUBJECT):
                return search(low) is not None
        except TimeLimitError:
            self._give_up()
            return False

    def _give_up(self) -> None:
        self._search = self._pattern = None
        self.error = TOO_LONG

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
        try:
            with time_limit(ONE_SUBJECT):
                matches = list(self._pattern.finditer(low[:_LONGEST]))
        except TimeLimitError:
            self._give_up()
            return []
        return [match.span() for match in matches if match.end() > match.start()]

    def among(self, names: Sequence[str], low: Sequence[str]) -> list[str]:
        """The names that pass, in their order; `low` has the same in lower case."""
        if self._needle is not None:
            needle = self._needle
            return [name for name, subject in zip(names, low, strict=True) if needle in subject]
        search, literal = self._search, self._literal
        if search is None:
            return []
        return [
            name for name, subject in zip(names, low, strict=True) if literal in subject and search(subject[:_LONGEST])
        ]

    def select(self, names: Sequence[str]) -> list[str]:
        """The names that pass, in their order. A pattern that proves too slow gets an `error` and matches nothing.

        Asked again and again about the same tuple (a person is typing) it is lowered only once.
        """
        from leet.model.name_search import NameSearch

        search = NameSearch(self, names)
        search.go_on()
        return list(search.found)


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


def _easy_length(pattern: str) -> int:
    """Characters of a subject up to which a pattern cannot take long: each repeat may end at every one of them."""
    if sre_parser is None:
        return 0
    bodies = [
        argument[2] for name, argument in _operations(sre_parser.parse(pattern, re.IGNORECASE)) if name in _REPEATS
    ]
    if any(name == "BRANCH" for body in bodies for name, _ in _operations(body)):
        return 0
    return int(_MOST_TRIED ** (1 / (len(bodies) + 1)))


def _operations(node: Any) -> Iterator[tuple[str, Any]]:
    """All operations of a parsed pattern, also those inside others: their names and arguments."""
    for operation, argument in node:
        yield str(operation), argument
        for child in _bodies(argument):
            yield from _operations(child)


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
