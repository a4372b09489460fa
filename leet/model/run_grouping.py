"""Which runs belong together: those that have the same value of one thing, or of several.

config.optimizer            runs with adam, runs with sgd, runs without
config.optimizer, config.lr every combination that there is
tag                         a run with two tags is in both groups
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

from leet.model.natural import decimal_key
from leet.model.run_entry import RunEntry
from leet.model.run_value import RunValue, UnknownValueError, fields, trees, value_named
from leet.model.safe_text import clean

NONE = "none"
"""The group of the runs that have no value."""
_ALWAYS = ("group", "job", "tag", "host")
"""What is offered even where all runs are in one group."""
_OFTEN = ("group", "job", "tag", "host", "user", "project")


@dataclass(frozen=True, slots=True)
class Grouping:
    """What runs are grouped by."""

    values: tuple[RunValue, ...]

    @property
    def name(self) -> str:
        """As a person may type it."""
        return ", ".join(value.name for value in self.values)

    @property
    def title(self) -> str:
        return ", ".join(value.title for value in self.values)

    def of(self, entry: RunEntry) -> list[str]:
        """The groups of a run, by their names, fit to be printed; more than one where it has several tags."""
        parts = [[clean(text) or NONE for text in value.texts(entry)] or [NONE] for value in self.values]
        return list(dict.fromkeys(", ".join(chosen) for chosen in product(*parts)))

    def groups(self, entries: Iterable[RunEntry]) -> dict[str, list[str]]:
        """Name of each group → keys of its runs, groups in natural order, the one without a value last."""
        found: dict[str, list[str]] = {}
        for entry in entries:
            for name in self.of(entry):
                found.setdefault(name, []).append(entry.key)
        return dict(sorted(found.items(), key=lambda group: (NONE in group[0].split(", "), _numeric_first(group[0]))))


def _numeric_first(name: str) -> tuple[object, ...]:
    """0.001 stands before 0.01, and 1e-5 before both."""
    parts = []
    for part in name.split(", "):
        try:
            parts.append((0, float(part), ""))
        except ValueError:
            parts.append((1, 0.0, decimal_key(part)))
    return (*parts, name)


def grouping_of(text: str, entries: Sequence[RunEntry] = ()) -> Grouping | None:
    """The grouping that a text says: names of values between commas; None for an empty text.

    Raises UnknownValueError.
    """
    names = [name for name in (part.strip() for part in text.split(",")) if name]
    values = tuple(dict.fromkeys(value_named(name, entries) for name in names))
    for value in values:
        if value.field.kind in ("state", "span", "moment"):
            raise UnknownValueError(f"runs are not grouped by {value.name}: it is another one all the time")
    return Grouping(values) if values else None


def offered(entries: Sequence[RunEntry]) -> list[tuple[str, str]]:
    """(name, what the groups would be) of everything that these runs can be grouped by.

    Settings that are the same in all runs are left out. First comes what makes groups of two runs and more on the
    whole; what makes nearly as many groups as there are runs stands last.
    """
    found = []
    for value in (*fields(*_OFTEN), *trees(entries, "config")):
        groups = Grouping((value,)).groups(entries)
        always = not value.path and value.name in _ALWAYS
        if len(groups) > 1 or (always and groups and NONE not in groups):
            found.append((value.name, groups))
    found.sort(key=lambda one: (2 * len(one[1]) > len(entries), len(one[1]) == 1))
    return [(name, _told(groups)) for name, groups in found]


def _told(groups: dict[str, list[str]]) -> str:
    """`3 groups: adam, lion, sgd`."""
    if len(groups) == 1:
        return f"all {next(iter(groups))}"
    names = list(groups)
    shown = ", ".join(names[:4])
    return f"{len(names):,} groups: {shown}" + (", …" if len(names) > 4 else "")
