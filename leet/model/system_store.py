"""The system metrics of a run, arranged as charts."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leet.model.abscissa import Abscissa
from leet.model.growing import Column
from leet.model.natural import natural_key
from leet.model.safe_text import clean
from leet.model.series import Series
from leet.model.system_metrics import SystemMetric, describe
from leet.model.units import Unit, format_value
from leet.reading.batch import SystemBatch

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SystemChart:
    """One chart of system metrics: what it shows, apart from its points."""

    key: str
    """Identity, stable while the run grows."""
    title: str
    unit: Unit
    y_range: tuple[float, float] | None
    """Fixed y axis: 0–100 for percentages."""
    percentage: bool
    """All of it lies between 0 and 100, so that it can be drawn as a heat map."""
    labels: tuple[str, ...]
    """Its curves in natural order (`GPU 0`, `GPU 1`, … `GPU 10`); one empty label where there is only one."""


class _Curve:
    """The points of one key; x and y are kept apart from the other keys, as every source has its own clock."""

    __slots__ = ("_before", "label", "metric", "series", "times", "total")

    def __init__(self, metric: SystemMetric) -> None:
        self.metric = metric
        self.label = metric.series
        self.times = Column()
        self.series = Series()
        self.total = 0.0
        self._before: tuple[float, float] | None = None

    def append(self, times: Floats, values: Floats) -> None:
        definition = self.metric.definition
        if definition.mebibytes_below:
            values = np.where(np.abs(values) < definition.mebibytes_below, values * 1024.0**2, values)
        if definition.counter:
            times, values = self._rates(times, values)
        start = len(self.times)
        self.times.append(times)
        self.series.append(np.arange(start, start + len(times), dtype=np.int32), values)

    def forget_before(self, time: float) -> None:
        """Forget the points before `time`, in Unix seconds; totals stay."""
        kept = self.times.view >= time
        times, values = self.times.view[kept].copy(), self.series.values[kept].copy()
        self.times, self.series = Column(), Series()
        self.times.append(times)
        self.series.append(np.arange(len(times), dtype=np.int32), values)

    def _rates(self, times: Floats, values: Floats) -> tuple[Floats, Floats]:
        """Growth per second since the sample before. A counter that fell was reset: what it holds is new."""
        known = np.isfinite(values)
        times, values = times[known], values[known]
        if not len(values):
            return times, values
        if self._before is None:
            self.total = float(values[0]) if self.metric.definition.from_zero else 0.0
        else:
            times = np.concatenate([[self._before[0]], times])
            values = np.concatenate([[self._before[1]], values])
        with np.errstate(over="ignore"):  # counters of a log are as large as they like
            growth = np.diff(values)
            growth = np.where(growth < 0, 0.0, growth)
            seconds = np.diff(times)
            self.total += float(growth.sum())
        self._before = float(times[-1]), float(values[-1])
        # Two samples of the same instant have no rate between them; the growth is in the total.
        timed = seconds > 0
        return times[1:][timed], growth[timed] / seconds[timed]


class SystemStore:
    """Charts of system metrics. Charts come in the order of the table of `system_metrics`, curves in natural order."""

    def __init__(self) -> None:
        self.generation = 0
        self._forget()

    def _forget(self) -> None:
        self.samples = 0
        self.points = 0
        self._curves: dict[str, _Curve] = {}
        self._by_chart: dict[str, list[_Curve]] = {}
        self._charts: list[SystemChart] | None = []
        self._first = math.inf
        self._last = -math.inf

    def clear(self) -> None:
        """Forget everything."""
        self._forget()
        self.generation += 1

    def take_over(self, other: SystemStore) -> None:
        """Become what `other` is, which must not be used any more."""
        vars(self).update(vars(other), generation=self.generation + other.generation + 1)

    def append(self, batch: SystemBatch) -> set[str]:
        """Take in the next samples; the keys of the charts that changed."""
        self.samples += len(batch)
        self.points += batch.columns.points
        if len(batch):
            self._first = min(self._first, float(batch.timestamps.min()))
            self._last = max(self._last, float(batch.timestamps.max()))
        changed = set()
        for key, rows, values in batch.columns.items():
            curve = self._curves.get(key)
            if curve is None:
                curve = self._curves[key] = _Curve(describe(key))
                self._by_chart.setdefault(curve.metric.chart, []).append(curve)
                self._charts = None
            curve.append(batch.timestamps[rows], values)
            changed.add(curve.metric.chart)
        return changed

    def forget_before(self, time: float) -> None:
        """Forget the points before `time`, in Unix seconds; totals stay."""
        for curve in self._curves.values():
            curve.forget_before(time)
        self._first = max(self._first, time)
        self.generation += 1

    def charts(self) -> list[SystemChart]:
        """All charts; the same list until a new key appears."""
        if self._charts is None:
            for curves in self._by_chart.values():
                _arrange(curves)
            ordered = sorted(
                self._by_chart.items(),
                key=lambda item: (min(c.metric.rank for c in item[1]), natural_key(item[0])),
            )
            self._charts = [_chart(key, curves) for key, curves in ordered]
        return self._charts

    def __len__(self) -> int:
        return len(self._by_chart)

    @property
    def curves(self) -> int:
        """Curves of all charts."""
        return len(self._curves)

    @property
    def span(self) -> tuple[float, float] | None:
        """Unix seconds of the first and the last sample; None when there is none."""
        return (self._first, self._last) if self.samples else None

    def version(self, chart: SystemChart | str) -> int:
        """A number that grows whenever this chart would look different."""
        curves = self._of(chart)
        return (self.generation << 48) + (len(curves) << 40) + sum(curve.series.count for curve in curves)

    def traces(
        self, chart: SystemChart | str, lo: float | None = None, hi: float | None = None, columns: int = 200
    ) -> list[tuple[str, Floats, Floats]]:
        """(label, x in Unix seconds, y) of each curve in the window, thinned as `Series.window` does.

        y is raw: multiply by `chart.unit.factor`, as the formatting of units does. Curves without a point in the
        window come with empty arrays, so that every curve keeps its place and colour.
        """
        self.charts()  # puts the curves in order
        found = []
        for curve in self._of(chart):
            axis = Abscissa.plain(curve.times.view, "time", "clock", curve.times.ascending)
            found.append((curve.label, *curve.series.window(axis, lo, hi, columns)))
        return found

    def note(self, chart: SystemChart | str) -> str:
        """What stands beside the title: the totals of counters, `total 1.2 GiB received, 300 MiB sent`."""
        totals: dict[str, float] = {}
        unit = None
        for curve in self._of(chart):
            definition = curve.metric.definition
            if definition.counter:
                unit = definition.total
                direction = definition.series.removeprefix("{0} ")
                what = "" if "{" in direction else direction
                totals[what] = totals.get(what, 0.0) + curve.total
        if unit is None:
            return ""
        return "total " + ", ".join(f"{format_value(total, unit, 3)} {what}".rstrip() for what, total in totals.items())

    def last(self, chart: SystemChart | str) -> dict[str, float]:
        """Label → newest value (raw) of each curve."""
        self.charts()
        return {curve.label: curve.series.last for curve in self._of(chart)}

    def _of(self, chart: SystemChart | str) -> list[_Curve]:
        return self._by_chart.get(chart if isinstance(chart, str) else chart.key, [])


def _arrange(curves: list[_Curve]) -> None:
    """Put the curves of a chart in natural order and tell those apart by key that have one label."""
    curves.sort(key=lambda curve: (natural_key(curve.metric.series), curve.metric.key))
    labels = Counter(curve.metric.series for curve in curves)
    for curve in curves:
        series = curve.metric.series
        curve.label = series if labels[series] == 1 else f"{series} ({clean(curve.metric.key)})".lstrip()


def _chart(key: str, curves: list[_Curve]) -> SystemChart:
    definition = curves[0].metric.definition
    return SystemChart(
        key=key,
        title=curves[0].metric.title,
        unit=definition.unit,
        y_range=(0.0, 100.0) if definition.percentage else None,
        percentage=definition.percentage,
        labels=tuple(curve.label for curve in curves),
    )
