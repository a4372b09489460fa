"""The fields of a query: what each of them is of a run, and what the operators mean for it.

One table: name and aliases → kind of field → how `field op value` becomes a test, and what is sorted by.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal

import orjson

from leet.model.filter import Mode, TextFilter
from leet.model.natural import decimal_key
from leet.model.run_entry import RunEntry, Scalar
from leet.model.run_query_values import Interval, moment, number, span
from leet.model.run_query_words import QueryError, Word

Test = Callable[[RunEntry, float], bool]
"""Whether a run passes at a time (Unix seconds)."""
Order = Callable[[RunEntry, float], Any]
"""What runs are sorted by at a time; None for those without, which come last."""
Kind = Literal["text", "texts", "state", "number", "span", "moment", "config", "summary"]

OPERATORS = ("!=", ">=", "<=", ":", "=", ">", "<")
"""Longer ones first."""
STATES = ("waiting", "running", "finished", "failed", "crashed", "unreadable")
LIVE = "live"
"""Waiting or running."""
_METACHARACTERS = {"regex": frozenset(r"\.^$*+?{}[]|()"), "glob": frozenset("*?[")}


@dataclass(frozen=True, slots=True)
class Field:
    """A field: the first of its names is its own."""

    names: tuple[str, ...]
    kind: Kind
    get: Callable[[RunEntry], Any]
    about: str
    """What it is, for the help: a few words."""


FIELDS = (
    Field(("name", "run_name", "display", "display_name"), "text", lambda e: e.name, "display name"),
    Field(("key", "run_key", "path"), "text", lambda e: e.key, "path of the run directory"),
    Field(("id", "run_id"), "text", lambda e: e.run_id, "run id"),
    Field(("project",), "text", lambda e: e.project, "project"),
    Field(("entity",), "text", lambda e: e.entity, "team or user that the project belongs to"),
    Field(("group",), "text", lambda e: e.group, "group"),
    Field(("job", "job_type"), "text", lambda e: e.job_type, "job type"),
    Field(("notes", "note"), "text", lambda e: e.notes, "notes"),
    Field(("tag", "tags"), "texts", lambda e: e.tags, "any of the tags"),
    Field(("host",), "text", lambda e: e.host, "machine"),
    Field(("user",), "text", lambda e: e.user, "who started it"),
    Field(("state",), "state", lambda e: None, "running, finished, failed, crashed, …, or live"),
    Field(("exit", "exit_code"), "number", lambda e: e.exit_code, "exit code"),
    Field(("step", "steps"), "number", lambda e: e.step, "newest step; 10k is 10000"),
    Field(("parts",), "number", lambda e: len(e.earlier) + 1, "how often it was started"),
    Field(("created", "started"), "moment", lambda e: e.started, "start: 2025-03-01, today, 2d (ago)"),
    Field(("modified",), "moment", lambda e: e.modified or None, "last write, likewise"),
    Field(("duration", "runtime"), "span", lambda e: e.runtime, "how long it has run: 90s, 1h30m"),
    Field(("config", "cfg"), "config", lambda e: e.config, "any setting; config.PATH one of them"),
    Field(("summary", "sum"), "summary", lambda e: e.summary, "any last value; summary.PATH one of them"),
)
_BY_NAME = {name: field for field in FIELDS for name in field.names}


@dataclass(frozen=True, slots=True)
class FieldRef:
    """A field as it stands in a query; `path` of a config or summary, "" for all of it."""

    field: Field
    path: str

    @property
    def kind(self) -> Kind:
        return self.field.kind


def field_of(word: Word) -> FieldRef:
    """The field that a word names. Raises QueryError."""
    name, dot, path = word.text.partition(".")
    field = _BY_NAME.get(name.lower())
    if field is None or (dot and field.kind not in ("config", "summary")):
        close = get_close_matches(name.lower(), _BY_NAME, n=1, cutoff=0.6)
        some = f"name, tag, state, step, config.{word.text}, summary.{word.text}, …; quotes make it a plain word"
        hint = f"did you mean {close[0]}?" if close else f"there are {some}"
        raise word.error(f"no field {word.text}: {hint}")
    return FieldRef(field, path)


def field_names() -> Iterable[str]:
    """All names of fields."""
    return _BY_NAME


def is_field(name: str) -> bool:
    return name.partition(".")[0].lower() in _BY_NAME


def has(ref: FieldRef) -> Test:
    """Runs that have a value for the field."""
    get, path = ref.field.get, ref.path
    if ref.kind in ("config", "summary") and path:
        return lambda entry, now: _at(get(entry), path) is not _MISSING
    if ref.kind == "state":
        return lambda entry, now: entry.known
    return lambda entry, now: get(entry) not in (None, "", (), {})


def compare(ref: FieldRef, operator: str, value: Word, mode: Mode) -> Test:
    """The test of `field op value`. Raises QueryError."""
    if operator == "!=":
        equal = compare(ref, "=", value, mode)
        return lambda entry, now: not equal(entry, now)
    if not value.text and operator in (">", ">=", "<", "<="):
        raise QueryError(f"a value is missing behind {operator}", value.start, value.end)
    if not value.text and operator == ":":
        return lambda entry, now: True
    match ref.kind:
        case "state":
            return _state_test(operator, value, mode)
        case "number" | "span" | "moment":
            return _interval_test(ref, operator, value)
        case "config" | "summary":
            return _tree_test(ref, operator, value, mode)
    get = ref.field.get
    matches = _matcher(operator, value, mode)
    if ref.kind == "texts":
        return lambda entry, now: any(matches(text) for text in get(entry)) or (not value.text and not get(entry))
    return lambda entry, now: matches(get(entry))


def anywhere(value: Word, mode: Mode) -> Test:
    """The test of a bare word."""
    wanted = _filter(value, mode)
    if is_plain(value.text, mode):
        needle = value.text.lower()
        return lambda entry, now: needle in entry.sought
    return lambda entry, now: any(
        wanted.matches(text) for text in (entry.key, entry.name, entry.run_id, entry.project, entry.notes, *entry.tags)
    )


def is_plain(text: str, mode: Mode) -> bool:
    """Whether a text is sought as it is."""
    return _METACHARACTERS[mode].isdisjoint(text)


def order_by(ref: FieldRef) -> Order:
    """What runs are sorted by for this field. Numbers come before texts, which are in natural order."""
    get, path = ref.field.get, ref.path
    if ref.kind == "state":
        return lambda entry, now: (0, STATES.index(entry.state(now).name))
    if ref.kind in ("number", "span", "moment"):
        return lambda entry, now: _rank(get(entry))
    if ref.kind in ("config", "summary") and path:
        if path.endswith("]"):
            return lambda entry, now: _rank(_at(get(entry), path))

        def order(entry: RunEntry, now: float) -> Any:
            found = get(entry).get(path)
            # Nearly all are floats; only a NaN is not equal to itself.
            return (0, found) if found.__class__ is float and found == found else _rank(found)

        return order
    if ref.kind == "texts":
        return lambda entry, now: _rank(" ".join(get(entry)))
    return lambda entry, now: _rank(get(entry) if isinstance(get(entry), str) else len(get(entry)))


def _rank(value: Any) -> Any:
    if value is _MISSING or value is None or value == "":
        return None
    if isinstance(value, str):
        as_number = _number_in(value)
        return (1, decimal_key(value)) if as_number is None else (0, as_number)
    return None if math.isnan(value) else (0, value)


# Texts


def _filter(value: Word, mode: Mode) -> TextFilter:
    wanted = TextFilter(value.text, mode)
    if wanted.error is not None:
        raise value.error(wanted.error)
    return wanted


def _matcher(operator: str, value: Word, mode: Mode) -> Callable[[str], bool]:
    """The test of one text: `:` a filter, `=` equal without case (or as a number), the others by number."""
    text = value.text
    if operator == ":":
        if is_plain(text, mode):
            needle = text.lower()
            return lambda subject: needle in subject.lower()
        return _filter(value, mode).matches
    wanted = number(text)
    if operator == "=":
        low = text.lower()
        if wanted is None:
            return lambda subject: subject.lower() == low
        return lambda subject: subject.lower() == low or _number_in(subject) == wanted
    if wanted is None:
        raise value.error(f"{operator} compares numbers, and {text} is none")
    within = _within(operator, (wanted, wanted))

    def by_number(subject: str) -> bool:
        try:
            return within(float(subject))
        except ValueError:
            return False

    return by_number


def _number_in(text: str) -> float | None:
    """The number that a text spells; None where it spells none."""
    try:
        return float(text)
    except ValueError:
        return None


# States


def _state_test(operator: str, value: Word, mode: Mode) -> Test:
    if operator not in (":", "="):
        raise value.error(f"states have no order: state:{value.text}")
    text = value.text.lower()
    if text == LIVE:
        chosen = {"waiting", "running"}
    elif operator == "=":
        chosen = {text} & set(STATES)
    else:
        wanted = _filter(value, mode)
        chosen = {state for state in STATES if wanted.matches(state)}
    if not chosen:
        raise value.error(f"no state {value.text}: {', '.join(STATES)}, {LIVE}")

    def test(entry: RunEntry, now: float) -> bool:
        # Most runs have ended well, and that is known without a look at the clock.
        name = "finished" if entry.exit_code == 0 and not entry.trouble else entry.state(now).name
        return name in chosen

    return test


# Numbers, moments and spans


def _interval_test(ref: FieldRef, operator: str, value: Word) -> Test:
    get = ref.field.get
    text = value.text
    if not text:  # `exit=`: runs without one
        return lambda entry, now: get(entry) is None
    if ref.kind == "moment":
        return _moment_test(get, operator, value)
    if ref.kind == "span":
        interval = span(text)
        if interval is not None and operator not in (":", "="):
            interval = (interval[0], interval[0])
        expected = "so long: 90s, 1h30m, 01:30:00"
    else:
        exact = number(text)
        interval = None if exact is None else (exact, math.nextafter(exact, math.inf))
        expected = "a number"
    if interval is None:
        raise value.error(f"{text} is not {expected}")
    within = _within(operator, interval)

    def test(entry: RunEntry, now: float) -> bool:
        found = get(entry)
        return found is not None and within(found)

    return test


def _moment_test(get: Callable[[RunEntry], float | None], operator: str, value: Word) -> Test:
    text = value.text
    if moment(text, 0.0) is None:
        raise value.error(f"{text} is no time: 2025-03-01, 2025-03-01T14:30, today, yesterday, or 2d (two days ago)")
    relative = not text[:1].isdigit() or moment(text, 0.0) != moment(text, 1e9)
    if operator in (":", "=") and relative and text.lower() not in ("today", "yesterday"):
        operator = ">="  # `created:2d`: within the last two days

    last: list[tuple[float, Callable[[float], bool]]] = []

    def test(entry: RunEntry, now: float) -> bool:
        if not last or last[-1][0] != now:
            last[:] = [(now, _within(operator, moment(text, now) or (now, now)))]
        found = get(entry)
        return found is not None and last[-1][1](found)

    return test


def _within(operator: str, interval: Interval) -> Callable[[float], bool]:
    low, high = interval
    match operator:
        case ">":
            return (lambda value: value >= high) if high > low else (lambda value: value > low)
        case ">=":
            return lambda value: value >= low
        case "<":
            return lambda value: value < low
        case "<=":
            return (lambda value: value < high) if high > low else (lambda value: value <= low)
    return lambda value: low <= value < high or value == low


# Config and summary

_MISSING: Any = object()


def _at(values: Any, path: str) -> Any:
    """The value at a dotted path; `layers[1]` also of a list of numbers or texts, which is one value."""
    found = values.get(path, _MISSING)
    if found is _MISSING and path.endswith("]"):
        name, _, index = path[:-1].rpartition("[")
        try:
            found = orjson.loads(values.get(name, ""))[int(index)]
        except (ValueError, IndexError, TypeError):
            return _MISSING
        return found if isinstance(found, (str, int, float)) else str(found)
    return found


def value_at(values: Any, path: str) -> Any:
    """The value of a setting or result at a dotted path; None where there is none."""
    found = _at(values, path)
    return None if found is _MISSING else found


def _tree_test(ref: FieldRef, operator: str, value: Word, mode: Mode) -> Test:
    get, path = ref.field.get, ref.path
    if path:
        matches = _value_matcher(operator, value, mode)

        def test_indexed(entry: RunEntry, now: float) -> bool:
            found = _at(get(entry), path)
            return found is not _MISSING and matches(found)

        def test(entry: RunEntry, now: float) -> bool:
            found = get(entry).get(path, _MISSING)
            return found is not _MISSING and matches(found)

        return test_indexed if path.endswith("]") else test
    if operator != ":":
        raise value.error(f"{operator} needs a path: {ref.field.names[0]}.PATH{operator}{value.text}")
    text_matches = _matcher(":", value, mode)
    return lambda entry, now: any(text_matches(f"{key}={found}") for key, found in get(entry).items())


def _value_matcher(operator: str, value: Word, mode: Mode) -> Callable[[Scalar], bool]:
    """The test of a value of a config (text) or summary (any scalar)."""
    matches = _matcher(operator, value, mode)
    wanted = number(value.text)
    if operator == ":" or wanted is None:
        return lambda found: matches(found if isinstance(found, str) else spelt(found))
    within = _within(operator, (wanted, wanted))

    def test(found: Scalar) -> bool:
        if found.__class__ is float or found.__class__ is int:
            return within(found)
        return matches(found if isinstance(found, str) else spelt(found))

    return test


def spelt(value: Scalar) -> str:
    """A scalar as JSON spells it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
