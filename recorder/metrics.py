"""What `define_metric` defines: x axes, hidden metrics, and what the summary keeps of a metric."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from recorder.errors import Error
from recorder.notices import warn_once
from recorder.rows import Key, Row, encode_item
from recorder.transaction_log.json_values import dump

AGGREGATES = ("min", "max", "mean", "best", "last", "first", "copy", "none")


@dataclass(slots=True)
class Metric:
    """One definition, as `define_metric` returns it."""

    name: str
    step_metric: str | None = None
    step_sync: bool | None = None
    hidden: bool | None = None
    summary: tuple[str, ...] | None = None
    goal: str | None = None
    overwrite: bool | None = None

    def record(self) -> dict[str, Any]:
        """The fields of its MetricRecord."""
        goals = {None: "GOAL_UNSET", "minimize": "GOAL_MINIMIZE", "maximize": "GOAL_MAXIMIZE"}
        return {
            "glob_name" if self.name.endswith("*") else "name": self.name,
            "step_metric": self.step_metric,
            "options": {"step_sync": bool(self.step_sync), "hidden": bool(self.hidden), "defined": True},
            "summary": dict.fromkeys(self.summary, True) if self.summary else None,
            "goal": goals[self.goal],
            "_control": {"overwrite": True} if self.overwrite else None,
        }


@dataclass(slots=True)
class _Rule:
    """What holds for one metric, all its definitions together."""

    step_metric: str | None = None
    step_sync: bool = False
    aggregates: frozenset[str] = frozenset()
    goal: str | None = None
    tracker: _Tracker = field(default_factory=lambda: _Tracker())

    def take(self, metric: Metric) -> None:
        if metric.overwrite:
            self.step_metric, self.step_sync, self.aggregates, self.goal = None, False, frozenset(), None
        self.step_metric = metric.step_metric or self.step_metric
        self.step_sync = bool(metric.step_sync) or self.step_sync
        self.aggregates |= frozenset(metric.summary or ())
        self.goal = metric.goal or self.goal
        self.tracker.aggregates = self.aggregates
        self.tracker.goal = self.goal

    def copy(self) -> _Rule:
        tracker = _Tracker(self.aggregates, self.goal)
        return _Rule(self.step_metric, self.step_sync, self.aggregates, self.goal, tracker)


class _Tracker:
    """The running aggregates of one metric."""

    __slots__ = ("aggregates", "count", "first", "goal", "high", "last", "low", "total")

    def __init__(self, aggregates: frozenset[str] = frozenset(), goal: str | None = None) -> None:
        self.aggregates = aggregates
        """Those that the summary gets; emptied when a script sets the summary itself."""
        self.goal = goal
        self.count = 0
        self.total = 0.0
        self.low = math.inf
        self.high = -math.inf
        self.first: Any = None
        self.last: Any = None

    def take(self, plain: Any) -> None:
        if self.first is None:
            self.first = plain
        self.last = plain
        if isinstance(plain, bool) or not isinstance(plain, int | float):
            return
        self.count += 1
        self.total += plain
        # A NaN stays in every aggregate, as it does in the SDK.
        if plain != plain or self.low != self.low:
            self.low = self.high = math.nan
        else:
            self.low = plain if plain < self.low else self.low
            self.high = plain if plain > self.high else self.high

    def values(self) -> dict[str, Any]:
        wanted = self.aggregates
        kept: dict[str, Any] = {}
        if self.count:
            numbers = {"min": self.low, "max": self.high, "mean": self.total / self.count}
            kept = {name: value for name, value in numbers.items() if name in wanted}
            if "best" in wanted:
                kept["best"] = self.high if self.goal == "maximize" else self.low
        if "first" in wanted:
            kept["first"] = self.first
        if "last" in wanted:
            kept["last"] = self.last
        return kept


class Definitions:
    """All definitions of a run, and what they make of a row.

    A definition for a name holds for that name, one for `prefix*` for every name that begins so and has no definition
    of its own; the longest prefix wins. Names are paths joined with dots; names with a leading `_` match no prefix.
    Aggregates count from the moment of the definition.
    """

    def __init__(self) -> None:
        self._rules: dict[str, _Rule] = {}
        self._globs: dict[str, _Rule] = {}
        self._by_key: dict[Key, _Rule | None] = {}
        self._latest: dict[str, float] = {}
        self._axes: set[str] = set()

    def define(self, metric: Metric) -> None:
        """Takes a definition; it holds from the next row on."""
        table, name = (self._globs, metric.name[:-1]) if metric.name.endswith("*") else (self._rules, metric.name)
        table.setdefault(name, _Rule()).take(metric)
        if metric.step_metric and not metric.step_metric.startswith("_"):  # those are in every row
            self._axes.add(metric.step_metric)
        self._by_key.clear()

    def __bool__(self) -> bool:
        return bool(self._rules or self._globs)

    def forget(self, key: Key) -> None:
        """The script sets this value of the summary itself: aggregates no longer replace it."""
        path = (key,) if isinstance(key, str) else key
        for name, rule in self._rules.items():
            other = tuple(name.split("."))
            if other[: len(path)] == path or path[: len(other)] == other:
                rule.tracker.aggregates = frozenset()

    def apply(self, row: Row) -> dict[Key, dict[str, Any] | None]:
        """Adds the x axes that a row lacks, and says what the summary gets instead of the value itself.

        In the answer, None leaves a key out of the summary.
        """
        self._add_axes(row)
        instead: dict[Key, dict[str, Any] | None] = {}
        for key, plain in row.values.items():
            rule = self._rule(key)
            if rule is None or not _is_path(key):
                continue
            tracker = rule.tracker
            tracker.take(plain)
            if "none" in tracker.aggregates:
                instead[key] = None
            elif tracker.aggregates - {"copy"}:
                instead[key] = tracker.values() or None
        return instead

    def _add_axes(self, row: Row) -> None:
        if not self._axes:
            return
        present = {_label(key): plain for key, plain in row.values.items()}
        for name in self._axes:
            plain = present.get(name)
            if isinstance(plain, int | float) and not isinstance(plain, bool):
                self._latest[name] = plain
        for key in list(row.values):
            rule = self._rule(key)
            if rule is None or not rule.step_sync or rule.step_metric is None:
                continue
            axis = rule.step_metric
            if axis in self._axes and axis not in present:
                present[axis] = latest = self._latest.get(axis, 0)
                parts = tuple(axis.split("."))
                row.set(parts if len(parts) > 1 else parts[0], latest)

    def _rule(self, key: Key) -> _Rule | None:
        try:
            return self._by_key[key]
        except KeyError:
            rule = self._by_key[key] = self._find(_label(key))
            return rule

    def _find(self, label: str) -> _Rule | None:
        if label in self._rules:
            return self._rules[label]
        if label.startswith("_"):
            return None
        prefixes = [prefix for prefix in self._globs if label.startswith(prefix)]
        if not prefixes:
            return None
        rule = self._rules[label] = self._globs[max(prefixes, key=len)].copy()
        return rule


def summary_items(row: Row, instead: dict[Key, dict[str, Any] | None]) -> list[str]:
    """The encoded items that the summary gets for a row."""
    items = [item for key, item in row.items.items() if key not in instead and key not in row.nones]
    items += [encode_item(key, dump(value)) for key, value in instead.items() if value is not None]
    return items


def checked(
    name: str,
    step_metric: Any,
    step_sync: bool | None,
    hidden: bool | None,
    summary: str | None,
    goal: str | None,
    overwrite: bool | None,
) -> Metric:
    """The definition that a call of `define_metric` asks for. Raises Error for what cannot be meant."""
    if not name:
        raise Error("define_metric() requires non-empty name argument")
    step_metric = step_metric.name if isinstance(step_metric, Metric) else step_metric
    for argument, value, kind in (
        ("name", name, str),
        ("step_metric", step_metric, str),
        ("step_sync", step_sync, bool),
        ("hidden", hidden, bool),
        ("summary", summary, str),
        ("overwrite", overwrite, bool),
    ):
        if value is not None and not isinstance(value, kind):
            raise Error(f"Unhandled define_metric() arg: {argument} type: {type(value).__name__}")
    if "*" in name.removesuffix("*"):
        raise Error(f"Unhandled define_metric() arg: name (glob suffixes only): {name}")
    if goal not in (None, "minimize", "maximize"):
        raise Error(f"Unhandled define_metric() arg: goal: {goal}")
    aggregates = tuple(part.strip().lower() for part in summary.split(",")) if summary else None
    for part in aggregates or ():
        if part not in AGGREGATES:
            raise Error(f"Unhandled define_metric() arg: summary op: {part}")
    if aggregates and "copy" in aggregates:
        warn_once("define_metric(summary='copy') is deprecated and keeps the last value, as it is without it")
    sync = step_sync if step_sync is not None else step_metric is not None
    return Metric(name, step_metric, sync, hidden, aggregates, goal, overwrite)


def _label(key: Key) -> str:
    return key if isinstance(key, str) else ".".join(key)


def _is_path(key: Key) -> bool:
    """Whether a definition can mean this key: names are split at their dots, so no part may hold one."""
    return "." not in key if isinstance(key, str) else not any("." in part for part in key)
