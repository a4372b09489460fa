"""Groups of runs as curves: the mean of each, with a band around it.

run ─► its points in the window ─► a row on the grid of the chart ─┐
run ─► …                                                          ─┼─► group_curve ─► Trace with a band
                                   kept until the run grows       ─┘
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from leet.charts.spec import Floats, Trace
from leet.model.group_curve import Band, Grid, GroupCurve, bins, grid_for, group_curve, on_grid
from leet.tui.widgets.chart_view import Span

if TYPE_CHECKING:
    from leet.tui.overlay_sources import OverlayRun

Line = tuple[Floats, Floats]


@dataclass(frozen=True, slots=True)
class OverlayGroup:
    """A group as a curve: which runs are in it, what it is called, and the index of its colour."""

    label: str
    """Fit to be printed."""
    color: int
    runs: frozenset[str]
    """Keys of its runs, whether they are drawn or not."""


@dataclass(frozen=True, slots=True)
class OverlayGroups:
    """Into which groups runs are gathered, the last on top; and what the band around each mean is."""

    title: str
    """What they are grouped by, fit to be printed."""
    groups: tuple[OverlayGroup, ...]
    band: Band = "range"

    @property
    def note(self) -> str:
        return {"range": "mean, min–max", "deviation": "mean ± sd", "off": "mean"}[self.band]


class GroupLines:
    """The curves of the groups in one chart. What was made of each run is kept for as long as it is the same."""

    def __init__(self) -> None:
        self._grid: Grid | None = None
        self._grid_of: Hashable = None
        self._rows: dict[str, tuple[Hashable, Floats]] = {}
        self._traces: dict[OverlayGroup, tuple[Hashable, Trace]] = {}

    def forget(self) -> None:
        self._grid, self._grid_of = None, None
        self._rows.clear()
        self._traces.clear()

    def let_go(self, key: str) -> None:
        """Forget what was made of a run."""
        self._rows.pop(key, None)

    def traces(
        self,
        look: OverlayGroups,
        drawn: Sequence[OverlayRun],
        versions: Sequence[Hashable],
        line: Callable[[OverlayRun], Line],
        window: Span,
        columns: int,
    ) -> list[Trace]:
        """A curve for each group that any of the drawn runs is in.

        `versions` differ for each run whenever its `line` (x and y with all points of the window, and one beyond each
        end of it) does.
        """
        grid = self._grid_for(drawn, versions, line, window, columns)
        for run, version in zip(drawn, versions, strict=True):
            made_of = (version, id(grid))
            if self._rows.get(run.key, (None,))[0] != made_of:
                self._rows[run.key] = made_of, on_grid(line(run), grid)
        traces = []
        for group in look.groups:
            members = [(run, version) for run, version in zip(drawn, versions, strict=True) if run.key in group.runs]
            if not members:
                continue
            drawn_from = (look.band, id(grid), tuple((run.key, version) for run, version in members))
            if group not in self._traces or self._traces[group][0] != drawn_from:
                curve = group_curve([self._rows[run.key][1] for run, _ in members], grid, look.band)
                self._traces[group] = drawn_from, _trace(group, curve, len(members), look.band)
            traces.append(self._traces[group][1])
        for group in self._traces.keys() - set(look.groups):
            del self._traces[group]
        return traces

    def _grid_for(
        self,
        drawn: Sequence[OverlayRun],
        versions: Sequence[Hashable],
        line: Callable[[OverlayRun], Line],
        window: Span,
        columns: int,
    ) -> Grid:
        """The grid of the chart: the same object for as long as it is the same."""
        wanted = (tuple(zip((run.key for run in drawn), versions, strict=True)), window, columns)
        if self._grid is not None and wanted == self._grid_of:
            return self._grid
        lines: list[Floats] = []
        many = False
        for run in drawn:
            x, _ = line(run)
            many = bool(np.count_nonzero((x >= window[0]) & (x <= window[1])) > columns)
            if many:
                break
            lines.append(x)
        grid = bins(*window, columns) if many and window[1] > window[0] else grid_for(lines, *window, columns)
        if self._grid is None or not grid.same_as(self._grid):
            self._grid = grid
        self._grid_of = wanted
        return self._grid


def _trace(group: OverlayGroup, curve: GroupCurve, runs: int, band: Band) -> Trace:
    around = None if band == "off" or runs < 2 else (curve.x, curve.low, curve.high)
    return Trace(f"{group.label} ({runs})", curve.x, curve.mean, group.color, 0, band=around)
