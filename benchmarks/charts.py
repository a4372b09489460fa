"""CPU time of a page of charts: 4 × 3 of them at 200 × 50, drawn and cut into styled pieces.

python benchmarks/charts.py [--points 2000] [--rounds 200]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

from leet.charts.line import draw_chart
from leet.charts.spec import Spec, Trace
from leet.model.units import Unit


def page(points: int, series: int = 1) -> list[Spec]:
    """Twelve charts of noisy curves."""
    noise = np.random.default_rng(7)
    x = np.arange(float(points))
    specs = []
    for k in range(12):
        traces = tuple(
            Trace(f"GPU {i}", x, (k + 1) * np.exp(-x / points * 3) + i + noise.normal(0, 0.05, points))
            for i in range(series)
        )
        unit = Unit("%", "none") if series > 1 else Unit()
        specs.append(Spec(f"train/metric_{k}", traces, unit=unit, legend=series > 1))
    return specs


def milliseconds(work: Callable[[], object], rounds: int) -> tuple[float, float]:
    """Least and median CPU time of one call."""
    times = []
    for _ in range(rounds):
        start = time.process_time_ns()
        work()
        times.append((time.process_time_ns() - start) / 1e6)
    return min(times), sorted(times)[len(times) // 2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=200)
    options = parser.parse_args()
    for series in (1, 4, 8):
        specs = page(options.points, series)
        width, height = 50, 16
        drawn = [draw_chart(spec, width, height) for spec in specs]
        draw = milliseconds(lambda specs=specs: [draw_chart(s, width, height) for s in specs], options.rounds)
        cut = milliseconds(lambda drawn=drawn: [cells.lines() for cells in drawn], options.rounds)
        pieces = sum(len(line) for cells in drawn for line in cells.lines())
        print(
            f"{series} series x {options.points} points: 12 charts drawn in {draw[0]:.2f} ms (median {draw[1]:.2f}), "
            f"cut into {pieces} pieces in {cut[0]:.2f} ms (median {cut[1]:.2f})"
        )


if __name__ == "__main__":
    main()
