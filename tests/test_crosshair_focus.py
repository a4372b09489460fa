"""The crosshair can be moved wherever the focus was when it was switched on, and all charts are read at one x."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from example_run import trained
from sweep import sweep
from test_workspace_screen import at
from viewer import viewing

from leet.charts.cells import Cells
from leet.charts.line import draw_chart
from leet.charts.spec import Spec, Trace


async def test_from_the_list_of_runs_to_the_charts_and_back(tmp_path: Path) -> None:
    sweep(tmp_path)
    async with at(tmp_path) as place:
        screen = place.screen
        assert place.app.focused is screen.runs
        highlighted = screen.highlighted
        await place.press("v")
        assert screen.metrics.crosshair is not None
        before = screen.metrics.crosshair[0]
        await place.press("left")
        assert screen.metrics.crosshair[0] < before
        await place.press("D")
        assert screen.metrics.crosshair[0] > before
        await place.press("v")
        assert screen.metrics.crosshair is None
        assert place.app.focused is screen.runs
        assert screen.highlighted is highlighted
        await place.press("v", "escape")
        assert screen.metrics.crosshair is None
        assert place.app.focused is screen.runs


async def test_from_the_overview_and_the_console(tmp_path: Path) -> None:
    async with viewing(trained(tmp_path), (140, 40)) as viewer:
        await viewer.press("4")
        for name in ("overview", "logs"):
            viewer.run.focus_pane(name)
            await viewer.press("v")
            assert viewer.run.metrics.crosshair is not None
            before = viewer.run.metrics.crosshair[0]
            await viewer.press("a")
            assert viewer.run.metrics.crosshair[0] < before
            await viewer.press("escape")
            assert viewer.run.metrics.crosshair is None
            assert viewer.run.focused_name == name


async def test_who_went_elsewhere_meanwhile_is_not_taken_back(tmp_path: Path) -> None:
    async with viewing(trained(tmp_path), (140, 40)) as viewer:
        viewer.run.focus_pane("overview")
        await viewer.press("v")
        viewer.run.focus_pane("system")
        viewer.run.focus_pane("metrics")
        await viewer.press("v")
        assert viewer.run.focused_name == "overview"


async def test_hidden_charts_are_not_acted_upon_unseen(tmp_path: Path) -> None:
    async with viewing(trained(tmp_path), (140, 40)) as viewer:
        await viewer.press("1", "right_square_bracket", "v")
        assert viewer.run.metrics.crosshair is None
        assert "no charts are shown: 1 shows the metrics" in viewer.status


async def test_all_charts_are_read_at_one_x(tmp_path: Path) -> None:
    async with viewing(trained(tmp_path, rows=1500, metrics=12), (160, 45)) as viewer:
        await viewer.press("v")
        for key in ("left", "left", "left", "A", "right"):
            await viewer.press(key)
            assert viewer.run.metrics.crosshair is not None
            x = viewer.run.metrics.crosshair[0]
            charts = len(viewer.titles)
            assert charts > 5
            read = re.findall(rf"\b{x:,.0f}: ([-+.e0-9]+)", viewer.text())
            assert len(read) == charts, viewer.text()


async def test_values_under_the_crosshair_are_those_of_the_log(tmp_path: Path) -> None:
    async with viewing(trained(tmp_path, rows=1500, metrics=3), (240, 45)) as viewer:
        viewer.run.metrics.set_crosshair(707.0, "step")
        viewer.run.paint_now()
        await viewer.pilot.pause()
        series = viewer.run.model.metrics.series("train/loss")
        assert f"707: {series.values[707]:.4g}" in viewer.text()


def _text(cells: Cells) -> str:
    return "\n".join("".join(map(chr, row)) for row in cells.codes)


@pytest.mark.parametrize("width", range(24, 60))
def test_x_is_told_before_digits(width: int) -> None:
    x = np.arange(2000.0)
    spec = Spec("loss", (Trace("loss", x, 1.23456 + np.sin(x / 300)),), x_label="step", crosshair=1532.0)
    assert "1,532: " in _text(draw_chart(spec, width, 9))
