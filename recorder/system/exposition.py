"""The text format in which Prometheus exporters tell their metrics, of which gauges and counters are read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

Labels = tuple[tuple[str, str], ...]
"""Name and value of each label, sorted by name: what tells one series of a metric from another."""

_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*"((?:[^"\\]|\\.)*)"')
_SAMPLE = re.compile(r'([a-zA-Z_:][a-zA-Z0-9_:]*)\s*(?:\{((?:[^"}]|"(?:[^"\\]|\\.)*")*)\})?\s*(\S+)')
_ESCAPED = re.compile(r"\\(.)")


@dataclass(frozen=True, slots=True)
class Reading:
    """One line of a page: the metric's name exactly as it stands there, the labels, the value."""

    name: str
    labels: Labels
    value: float


def read_page(text: str) -> Iterator[Reading]:
    """
    The gauges and counters of a page, in its order; other types, and lines that cannot be read, are left out.

    OpenMetrics pages declare a counter `x` whose line is `x_total`; Prometheus pages declare the line's own name.
    """
    types: dict[str, str] = {}
    for line in text.split("\n"):  # splitlines would also break at characters that a label may hold
        if line.startswith("#"):
            words = line.split(None, 3)
            if len(words) == 4 and words[1] == "TYPE":
                types[words[2]] = words[3].strip()
            continue
        found = _SAMPLE.match(line.lstrip())
        if found is None:
            continue
        name, labels, number = found.groups()
        kind = types.get(name) or ("counter" if types.get(name.removesuffix("_total")) == "counter" else "")
        if kind not in ("gauge", "counter"):
            continue
        try:
            value = float(number)
        except ValueError:
            continue
        yield Reading(name, _labels(labels) if labels else (), value)


def _labels(text: str) -> Labels:
    return tuple(sorted((name, _unescape(value)) for name, value in _LABEL.findall(text)))


def _unescape(value: str) -> str:
    if "\\" not in value:
        return value
    return _ESCAPED.sub(lambda found: "\n" if found[1] == "n" else found[1], value)
