"""What is not the same in some runs, and by how much they differ from one of them, the baseline.

    value of a run minus value of the baseline, and that divided by the size of the baseline's
    0.45 of 0.5        -0.05 -10%

Curves: d(x) = y(x) - b(x) at every point of the run, where b(x) is the straight line between the two points of the
baseline around x. Points before the first and behind the last point of the baseline have no difference.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leet.model.goal import goal_of
from leet.model.group_curve import Grid, on_grid
from leet.model.run_entry import RunEntry
from leet.model.run_value import RunValue, trees
from leet.model.safe_text import clean
from leet.model.units import format_value

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class DifferingRow:
    """A setting or result that is not the same in all runs. All lists are in the order of the runs."""

    name: str
    """Fit to be printed."""
    texts: list[str]
    """Fit to be printed; "" where a run has none."""
    numbers: list[float | None]
    best: frozenset[int]
    """Which runs have the best value, where the name says what is good."""


def differing(entries: Sequence[RunEntry], tree: str) -> list[DifferingRow]:
    """The rows of `config` or `summary` that are not the same in all of these runs, in natural order."""
    rows = []
    for value in trees(entries, tree):
        texts = [_text(value, entry) for entry in entries]
        if len(set(texts)) > 1:
            numbers = [value.number(entry) for entry in entries]
            best = _best(value.path, numbers) if tree == "summary" else frozenset[int]()
            rows.append(DifferingRow(clean(value.path), texts, numbers, best))
    return rows


def _text(value: RunValue, entry: RunEntry) -> str:
    found = value.of(entry)
    if found is None:
        return ""
    return format_value(found) if isinstance(found, float) else clean(str(found))


def _best(name: str, numbers: Sequence[float | None]) -> frozenset[int]:
    known = [number for number in numbers if number is not None]
    goal = goal_of(name)
    if goal is None or len(known) < 2:
        return frozenset()
    best = min(known) if goal == "low" else max(known)
    return frozenset(at for at, number in enumerate(numbers) if number == best)


def change(number: float | None, base: float | None) -> str:
    """How far a value is from that of the baseline: `-0.05 -10%`, `+3`; "" where one of them is none."""
    if number is None or base is None:
        return ""
    by = number - base
    if not math.isfinite(by):
        return ""
    if by == 0:
        return "="
    sign = "+" if by > 0 else "-"
    text = sign + format_value(abs(by), digits=3)
    if base:
        share = abs(by / base)
        if math.isfinite(share):
            text += f" {sign}{_percent(share)}"
    return text


def _percent(share: float) -> str:
    """`10%`, `0.25%`, `1200%`, `25k%`."""
    if share >= 100:
        return f"{format_value(share * 100, digits=3)}%"
    percent = share * 100
    return f"{percent:.0f}%" if percent >= 9.95 else f"{percent:.2g}%"


def minus(x: Floats, y: Floats, base: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """x and d(x) of a curve at those of its points where the baseline (its x and y) is known."""
    below = on_grid(base, Grid(x))
    known = np.isfinite(below) & np.isfinite(x)
    return x[known], y[known] - below[known]
