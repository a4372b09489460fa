"""The query of runs in words: what can be asked for, from the table of fields, and what a query can be gone on with."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from leet.model.run_query_fields import FIELDS, LIVE, STATES

EXAMPLE = "words, tag:x, state:running, config.lr>0.01, sort:-summary.loss"
"""What stands in a prompt where nothing has been typed."""

GRAMMAR = (
    ("word  'two words'", "in the name, id, project, notes, tags or directory; quotes make it one, whatever is in it"),
    ("FIELD:TEXT", "the text somewhere in it, as a regular expression or glob"),
    ("=  !=", "all of it, or as a number; and the opposite"),
    (">  >=  <  <=", "numbers, times, durations"),
    ("has:FIELD", "there is a value"),
    ("sort:FIELD  sort:-FIELD", "in that order; the largest first"),
    ("A B   A or B", "both; one of them; with ( ) around parts of it"),
    ("-A  not A", "all others"),
)
"""How a query is put together, and what it means."""

_BEFORE = re.compile(r"(?:^|[\s(,!-]|has:|exists:|sort:|order:)([A-Za-z_][\w./-]*)$")
"""The name that is being typed at the end of a query."""
_STATE = re.compile(r"(?:^|[\s(!-])state[:=]([a-z]+)$")


def fields_in_words() -> list[tuple[str, str]]:
    """Each field: its names, and what it is of a run."""
    return [("  ".join(field.names[:2]), field.about) for field in FIELDS]


def completed(query: str, paths: Callable[[], Iterable[str]]) -> str | None:
    """The query with the field or state at its end completed; None where there is nothing to complete.

    `paths` gives the settings and results that there are, as `config.lr` and `summary.loss`.
    """
    offered: Iterable[str] = (*STATES, LIVE)
    match = _STATE.search(query)
    if match is None:
        offered, match = _names(paths), _BEFORE.search(query)
    if match is None:
        return None
    found = next((name for name in offered if name.startswith(match[1]) and name != match[1]), None)
    return None if found is None else query[: match.start(1)] + found


def _names(paths: Callable[[], Iterable[str]]) -> Iterable[str]:
    for field in FIELDS:
        yield f"{field.names[0]}." if field.kind in ("config", "summary") else f"{field.names[0]}:"
    yield from ("sort:", "has:")
    yield from paths()
