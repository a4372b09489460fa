"""What charts look like with the settings as they are being edited."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

import numpy as np

from leet.charts.spec import Floats, Spec, Trace
from leet.model.smoothing import means
from leet.model.units import PERCENT
from leet.settings.store import settings
from leet.settings.table import PaletteChoice, Setting
from leet.tui import preferences
from leet.tui.widgets.chart_grid_wall import ChartWall
from leet.tui.widgets.chart_view import ChartView, Extent, Span

POINTS = 240
RUNS = 4
SYSTEM = 3


class SampleSource:
    """A chart of made-up curves."""

    heatmap_capable = True

    def __init__(self, key: str, title: str, curves: list[Floats], *, heat: bool = False) -> None:
        self.key = key
        self.title = title
        self._curves = curves
        self._heat = heat

    def version(self) -> Hashable:
        return 0

    def extent(self) -> Extent | None:
        return Extent.of(0.0, POINTS - 1.0)

    def spec(self, columns: int, view: ChartView) -> Spec:
        x = np.arange(POINTS, dtype=np.float64)
        traces = tuple(
            Trace(f"{self.title} {i + 1}", x, y, smooth=_smooth(x, y, 0.0 if self._heat else view.smoothing))
            for i, y in enumerate(self._curves)
        )
        spec = Spec(self.title, traces, x_label="step", legend=len(traces) > 1 and not self._heat)
        return replace(spec, unit=PERCENT, y_range=(0.0, 100.0)) if self._heat else spec

    def points(self, window: Span) -> list[tuple[str, Floats, Floats]]:
        return [(self.title, np.arange(POINTS, dtype=np.float64), y) for y in self._curves]


def _smooth(x: Floats, y: Floats, weight: float) -> tuple[Floats, Floats] | None:
    return (x, means(y, weight) / (1.0 - weight ** (x + 1.0))) if weight else None


def samples() -> list[SampleSource]:
    """Losses of a few runs, the one metric of a single run, a busy machine, and that as heat."""
    random = np.random.default_rng(7)
    x = np.linspace(0.0, 1.0, POINTS)
    runs = [np.exp(-(2.0 + i) * x) + 0.12 * i + random.normal(0.0, 0.025, POINTS) for i in range(RUNS)]
    loss = np.exp(-3.0 * x) + random.normal(0.0, 0.06, POINTS)
    busy = [
        50 + 40 * np.sin(6.0 * x * (i + 1)) * (1 - 0.2 * i) + random.normal(0.0, 4.0, POINTS) for i in range(SYSTEM)
    ]
    cores = [np.clip(curve, 0.0, 100.0) for curve in busy]
    return [
        SampleSource("runs", "run", runs),
        SampleSource("loss", "loss", [loss]),
        SampleSource("system", "gpu", cores),
        SampleSource("heat", "heat", cores, heat=True),
    ]


class SettingsPreview(ChartWall):
    """Four sample charts."""

    can_focus = False

    def __init__(self, *, ascii: bool = False) -> None:  # noqa: A002 - named like the setting
        super().__init__(rows=4, columns=1, ascii=ascii, id="preview")

    def on_mount(self) -> None:
        super().on_mount()
        self.views["heat"] = ChartView(heat=True)
        self.show(samples())

    def dress(self, setting: Setting | None) -> None:
        """The settings in force have changed, or another one is looked at: series have the palette that it sets."""
        preferences.dress(self, "metrics", single=False)
        name = "" if setting is None else setting.name
        if isinstance(setting, PaletteChoice) and not setting.heat:
            self.palette = settings().choice(name)
        elif name in preferences.MODES and settings().choice(name) == "per_plot":
            self.palette = settings().choice("colors.charts")
        self.per_plot = name == "colors.charts" or (name in preferences.MODES and settings().choice(name) == "per_plot")
