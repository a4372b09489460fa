"""What can be chosen of the values that runs have: named, and told by some of the values."""

from __future__ import annotations

from collections.abc import Sequence

from leet.model.run_entry import RunEntry
from leet.model.run_value import RunValue, fields, trees
from leet.tui.screens.choice_screen import Choice

_FIELDS = ("duration", "group", "job", "host", "user", "project", "entity", "id", "exit", "parts", "notes")
_SEEN = 200
"""Runs from which the values come that are told."""
_TOLD = 4


def column_choices(entries: Sequence[RunEntry], held: Sequence[str]) -> list[Choice]:
    """Results, settings and fields; those that are held stand first, then those that differ between the runs."""
    seen = entries[:_SEEN]
    values = [*trees(entries, "summary", "config"), *fields(*_FIELDS)]
    found: dict[str, tuple[bool, Choice]] = {}
    for value in values:
        texts = dict.fromkeys(text for entry in seen if (text := value.text(entry)))
        found[value.name] = len(texts) > 1, Choice(value.name, _told(value, list(texts)))
    differs = [choice for several, choice in found.values() if several and choice.name not in held]
    same = [choice for several, choice in found.values() if not several and choice.name not in held]
    first = [found[name][1] if name in found else Choice(name, "no run has it") for name in held]
    return [*first, *differs, *same]


def _told(value: RunValue, texts: Sequence[str]) -> str:
    if not texts:
        return "no run has it"
    shown = ", ".join(texts[:_TOLD])
    return shown + (", …" if len(texts) > _TOLD else "")
