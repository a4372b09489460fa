"""Charts that show one metric of several runs, each run a curve in its own colour.

run ─► its MetricStore ─┐
run ─► its MetricStore ─┼─► OverlaySources: names of all ─► OverlaySource per name ─► Spec with a Trace per run
run ─► its MetricStore ─┘                                        the pinned run last: on top
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from leet.charts.spec import Floats, Spec, Trace
from leet.model.metrics import AXES, Axis, MetricStore
from leet.model.natural import NaturalOrder
from leet.model.run_difference import minus
from leet.model.safe_text import clean
from leet.model.series import thinned
from leet.model.units import format_value
from leet.tui.overlay_groups import GroupLines, OverlayGroups
from leet.tui.sources import AXIS_NAMES
from leet.tui.widgets.chart_source import ALL_POINTS, DOTS, MetricSource, SmoothLine, lost_on_x, with_headroom
from leet.tui.widgets.chart_view import ChartView, Extent, Span

GROUP_POINTS = 400
"""Places on x for which the means of groups are told in figures."""
KEPT_SOURCES = 100
"""Charts of which the thinned curves are kept: more than fit on a page, of which there may be two."""


@dataclass(frozen=True, slots=True)
class OverlayRun:
    """A run as a curve: where its points are, what it is called, and the index of its colour."""

    key: str
    label: str
    """Fit to be printed."""
    color: int
    store: MetricStore
    live: Callable[[], bool]
    """Whether more points may come soon."""
    pinned: bool = False


class OverlaySource:
    """The chart of one metric over all runs that have it."""

    heatmap_capable = False

    def __init__(self, pool: OverlaySources, name: str) -> None:
        self.key = name
        self.title = clean(name)
        self._pool = pool
        self._smooth: dict[str, SmoothLine] = {}
        """Of each run."""
        self._traces: dict[str, tuple[Hashable, Trace]] = {}
        """Of each run, and of what it was made: while one of fifty runs grows, the others need not be thinned again."""
        self._grouped, self._figured = GroupLines(), GroupLines()
        """Of groups: what is drawn, and what is told in figures."""

    @property
    def _runs(self) -> list[OverlayRun]:
        """The runs that have the metric, in the order in which they are drawn."""
        return [run for run in self._pool.runs if run.store.count(self.key)]

    def let_go(self, keys: Iterable[str]) -> None:
        """Forget what was made for runs that are no longer drawn."""
        for key in keys:
            self._smooth.pop(key, None)
            self._traces.pop(key, None)
            self._grouped.let_go(key)
            self._figured.let_go(key)

    def forget(self) -> None:
        """Forget what was made, which can be made again."""
        self._smooth.clear()
        self._traces.clear()
        self._grouped.forget()
        self._figured.forget()

    def version(self) -> Hashable:
        name = self.key
        return (
            self._pool.axis,
            self._pool.groups,
            self._pool.baseline.key if self._pool.baseline is not None else "",
            tuple(
                (run.key, id(run.store), run.label, run.color, run.pinned, run.store.version(name), run.live())
                for run in self._pool.runs
                if run.store.count(name)
            ),
        )

    def extent(self) -> Extent | None:
        drawn, _ = self._drawn()
        ends = [found for run in drawn if (found := run.store.x_range(self.key)) is not None]
        if not ends:
            return None
        low, high = min(low for low, _ in ends), max(high for _, high in ends)
        return Extent.of(*(with_headroom(low, high) if any(run.live() for run in drawn) else (low, high)))

    def _drawn(self) -> tuple[list[OverlayRun], str]:
        """The runs that share the x axis of the topmost, and what keeps others away."""
        runs = self._runs
        if len(runs) < 2:
            return runs, ""
        axes = [self._axis_of(run) for run in runs]
        if all(axis == axes[-1] for axis in axes):
            return runs, ""
        drawn = [run for run, axis in zip(runs, axes, strict=True) if axis == axes[-1]]
        return drawn, f"{len(runs) - len(drawn)} without x: {clean(axes[-1][0])}"

    def _axis_of(self, run: OverlayRun) -> tuple[str, str]:
        axis = run.store.abscissa(self.key)
        return axis.label, axis.kind

    def spec(self, columns: int, view: ChartView) -> Spec:
        drawn, left_out = self._drawn()
        baseline = self._baseline(drawn)
        if baseline is not None:
            told = f"minus {baseline.label}"
        else:
            told = "the baseline has none" if self._pool.baseline is not None else ""
        note = ", ".join(part for part in (told, left_out, "log" if view.log_y else "") if part)
        if (extent := self.extent()) is None:
            lost = sum(lost_on_x(run.store, self.key) for run in drawn)
            return Spec(self.title, (), log_y=view.log_y, note=note, x_lost=lost)
        window = view.window(extent)
        self._pool.drawn(self)
        top, groups, dots = drawn[-1], self._pool.groups, columns * DOTS
        axis, value = top.store.abscissa(self.key), ""
        if groups is not None:
            traces = self._group_traces(self._grouped, groups, drawn, baseline, window, dots, view.smoothing)
            note = ", ".join(part for part in (groups.note, note) if part)
            if len(traces) == 1 and len(traces[0].y):
                value = format_value(float(traces[0].y[-1]))
        else:
            traces = [self._trace(run, window, dots, view.smoothing, len(drawn) > 1, baseline) for run in drawn]
            series = top.store.series(self.key)
            if series.count and len(drawn) == 1 and baseline is None:
                value = format_value(series.last)
        return Spec(
            title=self.title,
            traces=tuple(traces),
            x_label=clean(axis.label),
            x_kind=axis.kind,
            x_range=window,
            log_y=view.log_y,
            legend=groups is not None or len(traces) > 1,
            value=value,
            note=note,
            x_lost=sum(lost_on_x(run.store, self.key) for run in drawn),
        )

    def _baseline(self, drawn: Sequence[OverlayRun]) -> OverlayRun | None:
        """The run that is taken from all others here."""
        wanted = self._pool.baseline
        return next((run for run in drawn if wanted is not None and run.key == wanted.key), None)

    def _trace(
        self,
        run: OverlayRun,
        window: Span,
        dots: int,
        smoothing: float,
        among_others: bool,
        baseline: OverlayRun | None,
    ) -> Trace:
        heavy = run.pinned and among_others
        name, store = self.key, run.store
        against = _version(baseline, name)
        wanted = (
            id(store),
            store.version(name),
            store.axis,
            window,
            dots,
            smoothing,
            run.label,
            run.color,
            heavy,
            against,
        )
        made_of, trace = self._traces.get(run.key, (None, None))
        if against and (trace is None or made_of != wanted):
            x, y = thinned(*self._line(window, smoothing, baseline, run), window, dots)
            trace = Trace(run.label, x, y, run.color, 0, heavy)
            self._traces[run.key] = wanted, trace
        elif trace is None or made_of != wanted:
            series = store.series(name)
            x, y = series.window(store.abscissa(name), *window, dots)
            smooth = self._smooth.setdefault(run.key, SmoothLine()).line(store, name, smoothing, window, dots)
            trace = Trace(run.label, x, y, run.color, series.nonfinite, heavy, smooth)
            self._traces[run.key] = wanted, trace
        return trace

    def _group_traces(
        self,
        lines: GroupLines,
        groups: OverlayGroups,
        drawn: list[OverlayRun],
        baseline: OverlayRun | None,
        window: Span,
        dots: int,
        smoothing: float,
    ) -> list[Trace]:
        against = _version(baseline, self.key)
        versions = [
            (id(run.store), run.store.version(self.key), run.store.axis, window, smoothing, against) for run in drawn
        ]
        return lines.traces(groups, drawn, versions, partial(self._line, window, smoothing, baseline), window, dots)

    def _line(
        self, window: Span, smoothing: float, baseline: OverlayRun | None, run: OverlayRun
    ) -> tuple[Floats, Floats]:
        """All points of a run in the window and one beyond each end, as they are drawn: less the baseline's."""
        line = self._own_line(window, smoothing, run)
        return line if baseline is None else minus(*line, self._own_line(window, smoothing, baseline))

    def _own_line(self, window: Span, smoothing: float, run: OverlayRun) -> tuple[Floats, Floats]:
        """The same of the run alone; smoothed first, where curves are."""
        store = run.store
        smooth = self._smooth.setdefault(run.key, SmoothLine()).line(store, self.key, smoothing, window, ALL_POINTS)
        return smooth or store.series(self.key).window(store.abscissa(self.key), *window, ALL_POINTS)

    def points(self, window: Span) -> list[tuple[str, Floats, Floats]]:
        """(label, x, y) of every curve, the pinned run first; of groups those of their means."""
        drawn, _ = self._drawn()
        baseline, groups = self._baseline(drawn), self._pool.groups
        if groups is not None and drawn:
            traces = self._group_traces(self._figured, groups, drawn, baseline, window, GROUP_POINTS, 0.0)
            return [(trace.label, trace.x, trace.y) for trace in traces]
        return [(run.label, *self._line(window, 0.0, baseline, run)) for run in reversed(drawn)]

    def lasts(self) -> list[float]:
        """The last value of every run."""
        return [run.store.series(self.key).last for run in self._runs]

    def time_at(self, x: float) -> float | None:
        """Unix seconds of the point nearest to `x`: of the highlighted run, else of the topmost."""
        source = self._leading
        return None if source is None else source.time_at(x)

    def x_at(self, time: float) -> float | None:
        """x of that run's point that was logged nearest to `time`."""
        source = self._leading
        return None if source is None else source.x_at(time)

    @property
    def _leading(self) -> MetricSource | None:
        drawn, _ = self._drawn()
        if not drawn:
            return None
        run = next((run for run in drawn if run.key == self._pool.highlighted), drawn[-1])
        return MetricSource(run.store, self.key, run.live)


def _version(baseline: OverlayRun | None, name: str) -> Hashable:
    """Differs whenever what is taken from all curves does; () where nothing is."""
    return () if baseline is None else (baseline.key, id(baseline.store), baseline.store.version(name))


class OverlaySources:
    """The sources of all metrics of some runs; the names and the order of those of one run (`MetricSources`)."""

    def __init__(self) -> None:
        self.runs: tuple[OverlayRun, ...] = ()
        self.groups: OverlayGroups | None = None
        """Into which groups the runs are gathered; None draws each of them."""
        self.baseline: OverlayRun | None = None
        """The run of which the curves are taken from those of all; None draws values."""
        self.highlighted = ""
        """Key of the run of which the other panes tell."""
        self.names: tuple[str, ...] = ()
        self._axis: Axis = "auto"
        self._log_x = False
        self._made: dict[str, OverlaySource] = {}
        self._lately: dict[str, OverlaySource] = {}
        """Those that were drawn lately, the latest last."""
        self._order = NaturalOrder()
        self._known: set[str] = set()
        self._seen: dict[str, tuple[str, ...]] = {}

    def show(self, runs: Sequence[OverlayRun]) -> None:
        """Draw these, the last on top, over the x axis that was chosen."""
        gone = {run.key for run in self.runs} - {run.key for run in runs}
        self.runs = tuple(runs)
        for run in runs:
            run.store.axis, run.store.log_x = self._axis, self._log_x
        if gone:
            for source in self._made.values():
                source.let_go(gone)
            self._order, self._known, self._seen = NaturalOrder(), set(), {}

    def drawn(self, source: OverlaySource) -> None:
        """Told by a source when it is drawn: what those made that were drawn long ago is given up."""
        self._lately.pop(source.key, None)
        self._lately[source.key] = source
        if len(self._lately) > KEPT_SOURCES:
            self._lately.pop(next(iter(self._lately))).forget()

    @property
    def axis(self) -> Axis:
        return self._axis

    def next_axis(self, names: Sequence[str]) -> str:
        """Choose the next x axis that moves a chart of these metrics; its name in words."""
        before = self._places(names)
        at = AXES.index(self._axis)
        for axis in (*AXES[at + 1 :], *AXES[:at]):
            self.set_axis(axis)
            if self._places(names) != before:
                break
        else:
            self.set_axis(AXES[at])
        defined = any(run.store.has_step_metrics for run in self.runs)
        return AXIS_NAMES[self._axis] if self._axis != "auto" or defined else "step"

    def set_axis(self, axis: Axis) -> None:
        self._axis = axis
        for run in self.runs:
            run.store.axis = axis

    @property
    def log_x(self) -> bool:
        return self._log_x

    def set_log_x(self, on: bool) -> None:
        self._log_x = on
        for run in self.runs:
            run.store.log_x = on

    def _places(self, names: Sequence[str]) -> list[object]:
        """What tells two x axes apart."""
        return [
            (run.store.abscissa(name).label, run.store.x_range(name))
            for run in self.runs
            for name in names
            if run.store.count(name)
        ]

    def renew(self) -> bool:
        """Look for metrics that came, or went with their run; True when the names are others."""
        for run in self.runs:
            names = run.store.names()
            if self._seen.get(run.key) is not names:
                self._seen[run.key] = names
                fresh = [name for name in names if name not in self._known]
                self._known.update(fresh)
                self._order.add(fresh)
        names = self._order.names()
        if names is self.names or names == self.names:
            return False
        self.names = names
        return True

    def forget(self) -> None:
        """The log of a run was replaced: whatever it had may be gone."""
        self._made.clear()
        self._lately.clear()
        self._order, self._known, self._seen = NaturalOrder(), set(), {}

    def source(self, name: str) -> OverlaySource:
        source = self._made.get(name)
        if source is None:
            source = self._made[name] = OverlaySource(self, name)
        return source
