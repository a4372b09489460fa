"""Which settings go with a result: over some runs, how strongly each setting and the result rise and fall together.

Numbers: Spearman's rank correlation. With R the ranks of the n runs that have both (equal values share the mean of
their ranks),

    ρ = Σ (R(x) - R̄)(R(y) - R̄) / √(Σ (R(x) - R̄)² · Σ (R(y) - R̄)²)      -1 … 1

It asks only for order, so that logarithms change nothing: +1 where a larger setting always has a larger result.

Texts (`optimizer`, `true`): those with two values are 0 and 1 in natural order, and have a ρ. Those with k > 2 values
have no order; what they explain of the ranks of the result, corrected for what k groups explain by chance, is

    ε = √max(0, 1 - (n - 1)/(n - k) · Σ (R(y) - mean of its group)² / Σ (R(y) - R̄)²)      0 … 1

A setting that is the same in all runs, a text that is another one in every run, and fewer than three runs have neither.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leet.model.goal import goal_of
from leet.model.natural import natural_sorted
from leet.model.run_entry import RunEntry
from leet.model.run_value import RunValue, trees
from leet.model.safe_text import clean

Floats = npt.NDArray[np.float64]

LEAST_RUNS = 3


@dataclass(frozen=True, slots=True)
class Points:
    """A setting against a result, of the runs that have both: float64 of one length."""

    x: Floats
    y: Floats
    keys: list[str]
    """Of the runs."""
    names: tuple[str, ...] = ()
    """What x = 0, 1, … stand for where a setting is a text; fit to be printed."""


@dataclass(frozen=True, slots=True)
class Correlation:
    """How strongly a setting goes with a result."""

    value: RunValue
    points: Points
    strength: float
    """ρ, or ε for texts with more than two values; NaN where there is neither."""

    @property
    def directed(self) -> bool:
        """Its sign says in which direction."""
        return len(self.points.names) <= 2


def ranks(values: Floats) -> Floats:
    """The rank of each value from 1 on; equal values share the mean of their ranks."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(count)
    shared: Floats = ((ends - count + 1 + ends) / 2.0)[place]
    return shared


def spearman(x: Floats, y: Floats) -> float:
    """ρ of two series of one length; NaN where one of them is constant."""
    if len(x) < LEAST_RUNS:
        return math.nan
    a, b = ranks(x), ranks(y)
    a, b = a - a.mean(), b - b.mean()
    size = math.sqrt(float(a @ a) * float(b @ b))
    return min(1.0, max(-1.0, float(a @ b) / size)) if size else math.nan


def explained(groups: Floats, y: Floats) -> float:
    """ε of groups (a number for each point) for `y`; NaN where each point is a group, or all are one."""
    n, kinds = len(y), np.unique(groups)
    if not 1 < len(kinds) < n or n < LEAST_RUNS:
        return math.nan
    r = ranks(y)
    whole = float(((r - r.mean()) ** 2).sum())
    if not whole:
        return math.nan
    rest = sum(float(((r[groups == kind] - r[groups == kind].mean()) ** 2).sum()) for kind in kinds)
    return math.sqrt(max(0.0, 1.0 - (n - 1) / (n - len(kinds)) * rest / whole))


def points_of(entries: Sequence[RunEntry], setting: RunValue, result: RunValue) -> Points:
    """The runs that have both; a setting that is a number in some of them and a text in others is a text."""
    kept = [entry for entry in entries if setting.text(entry) and result.number(entry) is not None]
    y = np.array([result.number(entry) for entry in kept], np.float64)
    keys = [entry.key for entry in kept]
    numbers = [setting.number(entry) for entry in kept]
    if all(number is not None for number in numbers):
        return Points(np.array(numbers, np.float64), y, keys)
    texts = [setting.text(entry) for entry in kept]
    names = natural_sorted(set(texts))
    places = {name: at for at, name in enumerate(names)}
    return Points(np.array([places[text] for text in texts], np.float64), y, keys, tuple(map(clean, names)))


def correlations(entries: Sequence[RunEntry], result: RunValue) -> list[Correlation]:
    """Every setting that differs between the runs that have the result, the strongest first, those without last."""
    found = []
    for setting in trees(entries, "config"):
        points = points_of(entries, setting, result)
        if len(points.x) < 2 or bool((points.x == points.x[0]).all()):
            continue
        many = len(points.names) > 2
        strength = explained(points.x, points.y) if many else spearman(points.x, points.y)
        found.append(Correlation(setting, points, strength))
    return sorted(found, key=lambda one: (math.isnan(one.strength), -abs(one.strength)))


def results(entries: Sequence[RunEntry]) -> list[RunValue]:
    """Results that are numbers and differ between these runs: of those whose name says what is good first, and of
    them those of validation."""
    found = []
    for value in trees(entries, "summary"):
        numbers = {number for entry in entries if (number := value.number(entry)) is not None}
        if len(numbers) > 1:
            found.append(value)
    return sorted(found, key=lambda value: (goal_of(value.path) is None, not _is_validation(value.path)))


def _is_validation(name: str) -> bool:
    return any(word in name.lower() for word in ("val", "test", "eval"))
