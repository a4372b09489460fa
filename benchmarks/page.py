"""A page of 12 live charts at 200 × 50: CPU time and bytes of a repaint, and both over time in a pseudo-terminal.

python -m benchmarks.page [--points 5000] [--rounds 100] [--seconds 20] [--rows-per-second 16.7]
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time

import numpy as np
from textual.app import App, ComposeResult

from benchmarks.terminal import Terminal
from leet.model.metrics import MetricStore
from leet.reading.batch import Columns, HistoryBatch
from leet.tui.span_update import SpanScreen
from leet.tui.widgets.chart_grid import ChartGrid
from leet.tui.widgets.chart_source import MetricSource

CHARTS = 12
SIZE = (200, 50)


class PageApp(App[None]):
    """Twelve random walks, `rate` new points a second in each; 0: only when told."""

    def __init__(self, points: int, rate: float) -> None:
        super().__init__()
        self.store = MetricStore()
        self.grid = ChartGrid(rows=4, columns=3)
        self._random = np.random.default_rng(7)
        self._level = np.zeros(CHARTS)
        self._rate = rate
        self.grow(points)

    def get_default_screen(self) -> SpanScreen[None]:
        return SpanScreen(id="_default")

    def compose(self) -> ComposeResult:
        yield self.grid

    def on_mount(self) -> None:
        self.grid.show([MetricSource(self.store, name, lambda: True) for name in self.store.names()])
        if self._rate:
            self.set_interval(0.25, self._more)

    def grow(self, count: int) -> None:
        """`count` more points in every metric."""
        walks = self._level[:, None] + np.cumsum(self._random.normal(0, 0.05, (CHARTS, count)), axis=1)
        self._level = walks[:, -1]
        steps = self.store.rows + np.arange(count, dtype=float)
        columns = Columns(
            tuple(f"train/metric_{k}" for k in range(CHARTS)),
            np.arange(CHARTS + 1, dtype=np.int64) * count,
            np.tile(np.arange(count, dtype=np.int32), CHARTS),
            walks.ravel(),
        )
        self.store.append(HistoryBatch(steps, steps, steps, columns))

    def _more(self) -> None:
        self.grow(max(1, round(self._rate / 4)))
        self.grid.data_changed()


async def repaints(points: int, rounds: int, more: int) -> tuple[list[float], list[int]]:
    """CPU milliseconds and bytes of frames, each after `more` points in every chart; from data to escape sequences."""
    app = PageApp(points, 0)
    times, sizes = [], []
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        compositor = app.screen._compositor
        for _ in range(rounds):
            app.grow(more)
            start = time.process_time_ns()
            app.grid.paint_now()
            compositor.update_widgets({app.grid})
            update = compositor.render_partial_update()
            sequence = update.render_segments(app.console) if update else ""
            times.append((time.process_time_ns() - start) / 1e6)
            sizes.append(len(sequence.encode()))
    return times, sizes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--rows-per-second", type=float, default=1000 / 60)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        PageApp(args.points, args.rows_per_second).run()
        return
    for title, points, more in (("a few points more", args.points, 4), ("every dot different", 500, 500)):
        times, sizes = asyncio.run(repaints(points, args.rounds, more))
        print(
            f"{title:<20} {np.median(times):5.1f} ms (least {min(times):.1f})  "
            f"{np.median(sizes) / 1000:5.1f} kB (mean {np.mean(sizes) / 1000:.1f})"
        )
    terminal = Terminal([sys.executable, "-m", "benchmarks.page", "--child", "--points", str(args.points)], SIZE)
    while terminal.elapsed < 3:
        terminal.pump(0.05)
    cpu, sent, began = terminal.sample(), terminal.sent, terminal.elapsed
    while terminal.elapsed < began + args.seconds:
        terminal.pump(0.05)
    cpu, sent = terminal.sample() - cpu, terminal.sent - sent
    terminal.close()
    print(
        f"live in a terminal   {cpu / args.seconds:5.1%} of a core  {sent / args.seconds / 1000:5.1f} kB/s "
        f"at {args.rows_per_second:.1f} rows/s, {args.points} points before"
    )


if __name__ == "__main__":
    main()
