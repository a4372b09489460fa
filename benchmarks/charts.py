"""CPU time of a page of charts: 4 × 3 of them at 200 × 50, drawn and made into strips.

python benchmarks/charts.py [--points 2000] [--rounds 200]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from rich.style import Style
from textual.strip import Strip

from leet.charts.cells import Cells
from leet.charts.line import draw_chart
from leet.charts.spec import Spec, Trace
from leet.model.units import Unit
from leet.tui.widgets.cell_strips import strips

WIDTH, HEIGHT = 50, 16


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


def wall(charts: list[Cells]) -> Cells:
    """Twelve charts side by side: 3 rows of 4."""
    whole = Cells(4 * WIDTH, 3 * HEIGHT)
    for i, cells in enumerate(charts):
        top, left = i // 4 * HEIGHT, i % 4 * WIDTH
        whole.codes[top : top + HEIGHT, left : left + WIDTH] = cells.codes
        whole.roles[top : top + HEIGHT, left : left + WIDTH] = cells.roles
    return whole


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=200)
    options = parser.parse_args()
    styles: dict[int, Style] = {}
    for series in (1, 4, 8):
        specs = page(options.points, series)

        def draw(specs: list[Spec] = specs) -> Cells:
            return wall([draw_chart(spec, WIDTH, HEIGHT) for spec in specs])

        whole = draw()

        def convert(whole: Cells = whole) -> list[Strip]:
            return list(strips(whole, range(whole.height), lambda role: styles.setdefault(role, Style())))

        drawing, conversion = milliseconds(draw, options.rounds), milliseconds(convert, options.rounds)
        pieces = sum(len(list(strip)) for strip in convert())
        print(
            f"{series} series x {options.points} points: 12 charts drawn in {drawing[0]:.2f} ms "
            f"(median {drawing[1]:.2f}), made {pieces} segments in {conversion[0]:.2f} ms (median {conversion[1]:.2f})"
        )


if __name__ == "__main__":
    main()
