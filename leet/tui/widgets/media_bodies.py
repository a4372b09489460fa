"""What was made of a value, as lines of cells: the middle of a tile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from rich.style import Style
from textual.strip import Strip

from leet.charts.distribution import Distribution, Histogram, distribution_area, draw_distribution
from leet.charts.readout import value_text
from leet.charts.spec import Spec
from leet.model.media_content import Content, Facts, Histograms, Sheet, Trouble
from leet.model.metrics import MetricStore
from leet.model.picture_file import Picture
from leet.model.safe_text import clean
from leet.tui.commands import keys_in_words
from leet.tui.widgets.cell_strips import strips
from leet.tui.widgets.image_cells import Means, image_strips
from leet.tui.widgets.media_tile import TileStyles, facts_strips, said, sheet_strips

LEAST_HISTOGRAMS, MOST_HISTOGRAMS = 32, 200
"""Of a series, in one picture."""
LEAST_ROWS = 3
"""Rows of colours below which a series of histograms is told in words."""
KEPT = 100
"""Pictures of either kind that are kept drawn; a page has 81 tiles at most."""


@dataclass(frozen=True, slots=True)
class Ink:
    """How things are drawn on this terminal."""

    styles: TileStyles
    role_style: Callable[[int], Style]
    means: Means
    ascii: bool
    monochrome: bool
    dark: bool

    @property
    def looks(self) -> tuple[object, ...]:
        """What decides how a picture looks."""
        return self.means, self.dark, self.styles.ground


@dataclass(slots=True)
class HistogramAxis:
    """The steps of histograms, and where one looks: for the x axis of their picture."""

    steps: tuple[float, ...]
    at: float | None


class Drawings:
    """Lines of pictures that are on the page: painting anew costs nothing while they are the same."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[Picture, Ink, list[Strip]]] = {}

    def of(self, picture: Picture, ink: Ink) -> list[Strip]:
        known = self._made.get(id(picture))
        if known is not None and known[0] is picture and known[1].looks == ink.looks:
            return known[2]
        if len(self._made) > KEPT:
            self._made.clear()
        made = image_strips(picture.pixels, ink.means, ink.styles.ground, dark=ink.dark)
        self._made[id(picture)] = picture, ink, made
        return made


class Distributions:
    """Histograms put in order for drawing; made once for each set of them that is looked at."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[Histograms, Distribution]] = {}

    def of(
        self,
        found: Histograms,
        rows: np.ndarray[tuple[int], np.dtype[np.int32]],
        steps: np.ndarray[tuple[int], np.dtype[np.float64]],
    ) -> Distribution:
        """`rows` are those of the whole series, `steps` those of all rows of history."""
        known = self._made.get(id(found))
        if known is not None and known[0] is found:
            return known[1]
        x, histograms = [], []
        for index, bins in zip(found.indices, found.values, strict=True):
            histogram = Histogram.of(bins[0].tolist(), bins[1].tolist()) if bins is not None else None
            if histogram is not None and index < len(rows):
                x.append(float(steps[rows[index]]))
                histograms.append(histogram)
        order = np.argsort(np.array(x), kind="stable")
        made = Distribution(np.array(x)[order], tuple(histograms[i] for i in order.tolist()))
        if len(self._made) > KEPT:
            self._made.clear()
        self._made[id(found)] = found, made
        return made


def body_of(content: Content | None, width: int, height: int, ink: Ink, drawings: Drawings) -> list[Strip]:
    """Lines for everything but histograms, which know their place on the x axis."""
    styles = ink.styles
    if content is None:
        return said("…", width, height, styles.quiet)
    shown = content.shown
    if isinstance(shown, Picture):
        return drawings.of(shown, ink)
    if isinstance(shown, Sheet):
        return sheet_strips(shown, width, height, styles)
    if isinstance(shown, Facts):
        return facts_strips(shown, width, styles)
    if isinstance(shown, Trouble):
        return said(clean(shown.text), width, height, styles.bad)
    return []


def histogram_body(
    found: Distribution, metrics: MetricStore, at: float | None, width: int, height: int, ink: Ink
) -> list[Strip]:
    """The heat map of a series of histograms."""
    steps = metrics.steps.view
    last = float(steps[-1]) if len(steps) else 0.0
    first = float(found.x[0]) if len(found.x) else 0.0
    spec = Spec(
        "",
        (),
        x_label="step",
        x_range=(first, max(last, first)) if last > first else None,
        crosshair=at,
        ascii=ink.ascii,
        monochrome=ink.monochrome,
    )
    if found.histograms and distribution_area(spec, found, width, height).height < LEAST_ROWS:
        return said(_in_words(spec, found, at), width, height, ink.styles.quiet)
    cells = draw_distribution(spec, found, width, height)
    return list(strips(cells, range(cells.height), ink.role_style))


def _in_words(spec: Spec, found: Distribution, at: float | None) -> str:
    """What the histogram of a moment comes to, where a picture of it would be a bar."""
    index = found.index_at(at) if at is not None else len(found.x) - 1
    chosen = found.histograms[index if index is not None else 0]
    n, mean = value_text(chosen.total, spec), value_text(chosen.mean, spec)
    span = chosen.span()
    between = f", from {value_text(span[0], spec)} to {value_text(span[1], spec)}" if span is not None else ""
    return f"n {n}, mean {mean}{between}. Too low for a picture: {keys_in_words('media_open')} shows it whole."
