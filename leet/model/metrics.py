"""All metrics that a run has logged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from leet.model.abscissa import Abscissa, AxisKind
from leet.model.decades import Decades
from leet.model.growing import Column, is_ascending
from leet.model.natural import NaturalOrder
from leet.model.series import Series
from leet.model.short_series import ShortSeries
from leet.reading.batch import Columns, HistoryBatch

Floats = npt.NDArray[np.float64]
Axis = Literal["auto", "step", "runtime", "clock"]
"""What x is: the metric's own step metric where it has one and else the step; always the step; time since the start
of the run; time of day."""

AXES: tuple[Axis, ...] = ("auto", "step", "runtime", "clock")

_WIDE = 64
"""Metrics in a batch from which on it may be kept as a whole, where they have but a few points each."""
_FEW = 16

_ROW_AXES: dict[str, Axis] = {"_step": "step", "_runtime": "runtime", "_timestamp": "clock"}


@dataclass(frozen=True, slots=True)
class Definition:
    """What `define_metric` said of a metric or of all that begin so."""

    step_metric: str = ""
    hidden: bool = False
    """Kept for who asks; hidden metrics are drawn all the same (as LEET does): someone looks at a log because
    something is wrong, and the filter can take away what is too much."""


class MetricStore:
    """Metrics as columns: a `Series` for each, and the row columns step, runtime and timestamp once for all.

    `axis` chooses what x is, at no cost. Keys that begin with `_` are kept (they may be step metrics) but not named.
    """

    def __init__(self) -> None:
        self.axis: Axis = "auto"
        self.log_x = False
        """x is given by its decades: of steps, step metrics and time since the start, but not of the time of day."""
        self.generation = 0
        """Counts how often all was forgotten: a log that was replaced."""
        self._forget()

    def _forget(self) -> None:
        self.steps = Column()
        self.runtimes = Column()
        self.timestamps = Column()
        self.points = 0
        self._ids: dict[str, int] = {}
        self._last_names: Sequence[str] | None = None
        self._last_ids = np.empty(0, np.int32)
        self._own: list[Series | None] = []
        self._counts = np.zeros(0, np.int64)
        self._shared = np.zeros(0, np.bool_)
        self._short = ShortSeries()
        self._ascents: dict[str, tuple[int, bool]] = {}
        self._order = NaturalOrder()
        self._exact: dict[str, Definition] = {}
        self._prefixes: dict[str, Definition] = {}
        self._definitions = 0
        self._decades = Decades()

    def clear(self) -> None:
        """Forget everything but the chosen axis."""
        self._forget()
        self.generation += 1

    def take_over(self, other: MetricStore) -> None:
        """Become what `other` is, which must not be used any more; the chosen axis stays."""
        vars(self).update(
            vars(other), axis=self.axis, log_x=self.log_x, generation=self.generation + other.generation + 1
        )

    @property
    def rows(self) -> int:
        """Rows of history so far."""
        return len(self.steps)

    def append(self, batch: HistoryBatch) -> bool:
        """Take in the next rows; True when metrics appeared that were not there before."""
        base = np.int32(self.rows)
        self.steps.append(batch.steps)
        self.runtimes.append(batch.runtimes)
        self.timestamps.append(batch.timestamps)
        self.points += batch.columns.points
        columns = batch.columns
        known = len(self._ids)
        ids = self._ids_of(columns.names)
        if len(ids) >= _WIDE and columns.points < _FEW * len(ids):
            self._append_wide(ids, columns, base)
        else:
            for series, (_, rows, values) in zip(ids.tolist(), columns.items(), strict=True):
                self._with_own(series).append(rows + base, values)
                self._counts[series] += len(values)
        return len(self._ids) > known

    def _ids_of(self, names: Sequence[str]) -> npt.NDArray[np.int32]:
        """The numbers of these metrics; new ones get the next. Batches with the same metrics share their names."""
        if names is self._last_names:
            return self._last_ids
        ids = self._ids
        fresh = [name for name in names if name not in ids] if ids else names
        if fresh:
            ids.update(zip(fresh, range(len(ids), len(ids) + len(fresh)), strict=True))
            self._own += [None] * (len(ids) - len(self._own))
            room = len(ids) - len(self._counts)
            if room > 0:
                room += len(ids)
                self._counts = np.concatenate([self._counts, np.zeros(room, np.int64)])
                self._shared = np.concatenate([self._shared, np.ones(room, np.bool_)])
            self._order.add([name for name in fresh if name[:1] != "_"])
        self._last_names = names
        if len(fresh) == len(names):
            self._last_ids = np.arange(len(ids) - len(names), len(ids), dtype=np.int32)
        else:
            self._last_ids = np.fromiter(map(ids.__getitem__, names), np.int32, len(names))
        return self._last_ids

    def _with_own(self, series: int) -> Series:
        """The series with all of its points, to which those that come are added from now on."""
        own = self._own[series]
        if own is None:
            own = self._own[series] = Series()
        if self._shared[series]:
            self._shared[series] = False
            if self._counts[series] > own.count:
                own.append(*self._short.take(series))
        return own

    def _append_wide(self, ids: npt.NDArray[np.int32], columns: Columns, base: np.int32) -> None:
        """A few points of many metrics: kept as they came, but for those that somebody has looked at lately."""
        sizes = np.diff(columns.starts)
        rows, values = columns.rows + base, columns.values
        short = self._shared[ids]
        if short.all():
            self._short.append(ids, columns.starts, rows, values, self._shared)
        else:
            for at in np.flatnonzero(~short).tolist():
                part = slice(int(columns.starts[at]), int(columns.starts[at + 1]))
                self._with_own(int(ids[at])).append(rows[part], values[part])
            if short.any():
                points = np.repeat(short, sizes)
                starts = np.concatenate([[0], np.cumsum(sizes[short])])
                self._short.append(ids[short], starts, rows[points], values[points], self._shared)
        self._counts[ids] += sizes
        if self._short.set_aside(self._shared):
            self._shared[:] = True
        for series, own_rows, own_values in self._short.leave():
            own = self._own[series]
            if own is None:
                own = self._own[series] = Series()
            own.append(own_rows, own_values)

    def define(self, record: Any) -> None:
        """Take in a MetricRecord: by name or by a glob, whose `*` stands at the end.

        A second definition of the same name adds to the first unless it says `overwrite`. Dots in names of single
        keys are written `\\.` there; in a log read by us both look alike.
        """
        glob = record.glob_name
        name = (glob or record.name).replace("\\.", ".")
        table = self._prefixes if glob.endswith("*") else self._exact
        name = name.rstrip("*") if glob.endswith("*") else name
        old = Definition() if record._control.overwrite else table.get(name, Definition())
        step_metric = record.step_metric.replace("\\.", ".") or old.step_metric
        table[name] = Definition(step_metric, record.options.hidden or old.hidden)
        self._definitions += 1

    def definition(self, name: str) -> Definition:
        """What was defined for this metric: under its name, else by the longest glob that fits."""
        exact = self._exact.get(name)
        fitting = [prefix for prefix in self._prefixes if name.startswith(prefix)]
        if not fitting:
            return exact or Definition()
        wide = self._prefixes[max(fitting, key=len)]
        if exact is None:
            return wide
        return Definition(exact.step_metric or wide.step_metric, exact.hidden or wide.hidden)

    @property
    def has_step_metrics(self) -> bool:
        """Whether any metric was defined over another one."""
        return any(d.step_metric for table in (self._exact, self._prefixes) for d in table.values())

    def names(self) -> tuple[str, ...]:
        """The plotted metrics in natural order; the same object until a new one appears."""
        return self._order.names()

    def __contains__(self, name: str) -> bool:
        return name in self._ids

    def series(self, name: str) -> Series:
        """The points of a metric; KeyError for one that is not there."""
        return self._with_own(self._ids[name])

    def count(self, name: str) -> int:
        """How many points a metric has; 0 for one that is not there."""
        series = self._ids.get(name)
        return int(self._counts[series]) if series is not None else 0

    def version(self, name: str) -> int:
        """A number that grows whenever the chart of this metric would look different (the axis apart)."""
        step_metric = self._step_metric(name)
        shared = self.count(step_metric) if step_metric else 0
        looks = (self.generation << 48) + self.count(name) + shared + (self._definitions << 32)
        return looks + (self.log_x << 80)

    def _step_metric(self, name: str) -> str:
        """The metric that gives x, or an axis of rows (`_step`, …); empty for the step."""
        if self.axis != "auto" or not self._definitions:
            return ""
        step_metric = self.definition(name).step_metric
        if step_metric == name:
            return ""
        return step_metric if step_metric in _ROW_AXES or self.count(step_metric) else ""

    def abscissa(self, name: str) -> Abscissa:
        """Where the points of a metric lie on the x axis."""
        return self.abscissa_of(name, self.series(name).rows)

    def abscissa_of(self, name: str, rows: npt.NDArray[np.int32]) -> Abscissa:
        """The same for some of its points, given by their rows, which ascend."""
        axis = self._linear(name, rows)
        if not self.log_x or axis.kind == "clock":
            return axis
        # Steps and step metrics of all names are other columns, also where they are called alike.
        column = f"{axis.label} {'rows' if axis.grid_rows is None else 'own'}"
        kind: AxisKind = "decades" if axis.kind == "number" else "duration decades"
        return replace(axis, label=f"log {axis.label}", kind=kind, grid=self._decades.of(column, axis.grid))

    def _linear(self, name: str, rows: npt.NDArray[np.int32]) -> Abscissa:
        step_metric = self._step_metric(name)
        axis = _ROW_AXES.get(step_metric, self.axis)
        if step_metric and step_metric not in _ROW_AXES:
            x = self.series(step_metric)
            return Abscissa(step_metric, "number", x.values, self._ascends(step_metric), rows, x.rows)
        if axis == "runtime":
            return self._row_axis("runtime", "duration", self.runtimes, rows)
        if axis == "clock":
            return self._row_axis("time", "clock", self.timestamps, rows)
        return self._row_axis("step", "number", self.steps, rows)

    def _row_axis(self, label: str, kind: AxisKind, column: Column, rows: npt.NDArray[np.int32]) -> Abscissa:
        return Abscissa(label, kind, column.view, column.ascending, rows)

    def _ascends(self, name: str) -> bool:
        """Whether a step metric never falls; looked at once per point."""
        values = self.series(name).values
        seen, ascends = self._ascents.get(name, (0, True))
        if ascends and seen < len(values):
            ascends = is_ascending(values[max(0, seen - 1) :])
        self._ascents[name] = len(values), ascends
        return ascends

    def x_of(self, name: str) -> tuple[str, AxisKind, Floats]:
        """Label of the x axis, its kind, and x of every point (float64 [count], aligned with the series)."""
        abscissa = self.abscissa(name)
        return abscissa.label, abscissa.kind, abscissa.array()

    def x_range(self, name: str) -> tuple[float, float] | None:
        """Smallest and largest x of a metric's points; None when it has none."""
        return self.abscissa(name).ends()

    def trace(self, name: str, lo: float | None, hi: float | None, columns: int) -> tuple[Floats, Floats]:
        """x and y of a metric in a window, thinned for `columns` columns of dots: see `Series.window`.

        Costs the same for a million points as for a thousand as long as x ascends.
        """
        return self.series(name).window(self.abscissa(name), lo, hi, columns)
