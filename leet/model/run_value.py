"""What every run of a directory may have one of, by name: a field of a query, a setting, a result.

    host    group    tag    config.optimizer.lr    summary.loss

The names are those of the query (`run_query_fields.FIELDS`). Runs are grouped by such values, the list of runs has
columns of them, and one is drawn against another.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from leet.model.natural import natural_sorted
from leet.model.run_entry import RunEntry, Scalar
from leet.model.run_query_fields import FIELDS, Field, FieldRef, Order, order_by, spelt, value_at
from leet.model.safe_text import clean
from leet.model.units import format_age, format_value

_BY_NAME = {name: field for field in FIELDS for name in field.names}
_NUMBERS = ("number", "span", "moment")


class UnknownValueError(ValueError):
    """No run has a value of that name; the text says what there is."""


@dataclass(frozen=True, slots=True)
class RunValue:
    """A value that runs may have."""

    field: Field
    path: str = ""
    """Of a setting or result: `optimizer.lr`."""

    @property
    def name(self) -> str:
        """As it is typed: `config.optimizer.lr`."""
        return f"{self.field.names[0]}.{self.path}" if self.path else self.field.names[0]

    @property
    def title(self) -> str:
        """As it stands over a column, fit to be printed."""
        return clean(self.path or self.field.names[0])

    def of(self, entry: RunEntry) -> Scalar | tuple[str, ...]:
        """The value of a run; None (or an empty text) where it has none. Moments and spans are seconds."""
        if self.field.kind == "state":
            return None
        found = self.field.get(entry)
        known: Scalar | tuple[str, ...] = value_at(found, self.path) if self.path else found
        return known

    def number(self, entry: RunEntry) -> float | None:
        """The value as a finite number; None where it is none. `true` and `false` are texts."""
        found = self.of(entry)
        if isinstance(found, bool) or found is None or isinstance(found, tuple):
            return None
        try:
            number = float(found)
        except (ValueError, OverflowError):
            return None
        return number if math.isfinite(number) else None

    def text(self, entry: RunEntry, now: float | None = None) -> str:
        """The value as it is shown, fit to be printed; "" where there is none. Moments are shown as ages at `now`."""
        found = self.of(entry)
        if found is None:
            return ""
        if isinstance(found, tuple):
            return clean(", ".join(found))
        if isinstance(found, str):
            return clean(found)
        if self.field.kind in ("moment", "span"):
            span = float(found) if self.field.kind == "span" or now is None else now - float(found)
            return format_age(span)
        return format_value(found) if isinstance(found, float) else spelt(found)

    def texts(self, entry: RunEntry) -> tuple[str, ...]:
        """Every value of a run that has several (tags); else the one it has. Not fit to be printed."""
        found = self.of(entry)
        if isinstance(found, tuple):
            return found
        if found is None or found == "":
            return ()
        return (found,) if isinstance(found, str) else (self.text(entry),)

    @property
    def order(self) -> Order:
        """What runs are sorted by for it."""
        return order_by(FieldRef(self.field, self.path))


def value_named(name: str, entries: Iterable[RunEntry] = ()) -> RunValue:
    """The value of that name. A setting or result may be named without `config.` where one of `entries` has it.

    Raises UnknownValueError, with a sentence for the person who typed the name.
    """
    name = name.strip()
    first, dot, path = name.partition(".")
    field = _BY_NAME.get(first.lower())
    if field is not None and (field.kind in ("config", "summary")) is bool(dot and path):
        return RunValue(field, path)
    if name:
        for entry in entries:
            for tree in ("config", "summary"):
                if value_at(_BY_NAME[tree].get(entry), name) is not None:
                    return RunValue(_BY_NAME[tree], name)
    if field is not None and field.kind in ("config", "summary"):
        raise UnknownValueError(f"{first} needs a path: {first}.PATH")
    close = get_close_matches(first.lower(), _BY_NAME, n=1, cutoff=0.6)
    hint = f"did you mean {close[0]}?" if close else f"config.{name} is a setting, summary.{name} a result"
    raise UnknownValueError(f"no value is called {clean(name)}: {clean(hint)}")


def trees(entries: Sequence[RunEntry], *names: str) -> list[RunValue]:
    """Every setting (`config`) or result (`summary`) that any of the runs has, in natural order."""
    found = []
    for name in names:
        field = _BY_NAME[name]
        paths = {path for entry in entries for path in field.get(entry)}
        hidden = name == "summary"
        found += [RunValue(field, path) for path in natural_sorted(paths) if not (hidden and path.startswith("_"))]
    return found


def fields(*names: str) -> list[RunValue]:
    """Fields of every run, by name."""
    return [RunValue(_BY_NAME[name]) for name in names]
