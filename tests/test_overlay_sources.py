"""One metric of several runs in one chart: colours, labels, order, x axes, and what is on top."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from example_run import START, ExampleRun

from leet.charts import raster
from leet.charts.cells import Role
from leet.charts.line import draw_chart
from leet.model.run import RunModel
from leet.reading.batch import Columns, HistoryBatch
from leet.reading.tail import read
from leet.tui.overlay_sources import OverlayRun, OverlaySources
from leet.tui.sources import SelectedMetrics
from leet.tui.widgets.chart_view import ChartView


def model_of(run: ExampleRun) -> RunModel:
    model = RunModel(run.log)
    for piece in read(run.log):
        model.apply(piece)
    return model


def trained(directory: Path, run_id: str, rows: int, *, scale: float = 1.0, extra: str = "") -> RunModel:
    run = ExampleRun(directory, run_id=run_id, name=f"name-{run_id}")
    for step in range(rows):
        run.row({"loss": scale / (1 + step), **({extra: step * 1.0} if extra else {})}, seconds=step * 2.0 * scale)
    run.finish()
    return model_of(run)


def drawn(key: str, model: RunModel, color: int = 0, *, pinned: bool = False, live: bool = False) -> OverlayRun:
    return OverlayRun(key, model.identity.name, color, model.metrics, lambda: live, pinned)


@pytest.fixture
def two(tmp_path: Path) -> tuple[OverlaySources, RunModel, RunModel]:
    first, second = trained(tmp_path, "a", 10, extra="zeta"), trained(tmp_path, "b", 30, scale=3.0, extra="acc2")
    sources = OverlaySources()
    sources.show([drawn("a", first, 7), drawn("b", second, 3, pinned=True)])
    sources.renew()
    return sources, first, second


def test_names_are_those_of_all_runs_in_natural_order(two: tuple[OverlaySources, RunModel, RunModel]) -> None:
    sources, first, _ = two
    assert sources.names == ("acc2", "loss", "zeta")
    assert [source.title for source in SelectedMetrics(sources, ["loss"])] == ["loss"]
    sources.show([drawn("a", first)])
    assert sources.renew()
    assert sources.names == ("loss", "zeta")
    assert not sources.renew()


def test_each_run_is_a_curve_in_its_colour_the_pinned_one_on_top(
    two: tuple[OverlaySources, RunModel, RunModel],
) -> None:
    sources, _, _ = two
    spec = sources.source("loss").spec(60, ChartView())
    assert [(trace.label, trace.color, trace.heavy) for trace in spec.traces] == [
        ("name-a", 7, False),
        ("name-b", 3, True),
    ]
    assert spec.legend
    assert spec.x_range == (0.0, 29.0)
    cells = draw_chart(spec, 60, 16)
    assert "name-b" in cells.text()
    assert cells.text().index("name-b") < cells.text().index("name-a")
    assert {Role.SERIES + 7, Role.SERIES + 3} <= set(np.unique(cells.roles).tolist())
    alone = sources.source("zeta").spec(60, ChartView())
    assert [trace.label for trace in alone.traces] == ["name-a"]
    assert not alone.legend
    assert alone.value == "9"


def test_a_heavy_curve_has_a_dot_more() -> None:
    first, last = np.array([3, 7, 1 << 60]), np.array([4, 7, -(1 << 60)])
    raster.thicken(first, last, 8)
    assert first.tolist() == [3, 6, 1 << 60]
    assert last.tolist() == [5, 7, -(1 << 60)]


def test_the_x_axis_is_one_for_all(two: tuple[OverlaySources, RunModel, RunModel]) -> None:
    sources, first, second = two
    assert sources.next_axis(["loss"]) == "time since start"
    assert first.metrics.axis == second.metrics.axis == "runtime"
    spec = sources.source("loss").spec(60, ChartView())
    assert spec.x_kind == "duration"
    assert spec.x_range == (0.0, 29 * 6.0)
    assert sources.next_axis(["loss"]) == "time of day"
    assert sources.source("loss").spec(60, ChartView()).x_kind == "clock"
    assert sources.next_axis(["loss"]) == "step"
    fresh = RunModel(None)
    sources.next_axis(["loss"])
    sources.show([*sources.runs, drawn("c", fresh)])
    assert fresh.metrics.axis == "runtime"


def test_a_run_without_the_step_metric_is_left_out_and_counted(tmp_path: Path) -> None:
    plain = trained(tmp_path, "plain", 5)
    run = ExampleRun(tmp_path, run_id="epochs")
    run.record("metric", {"name": "loss", "step_metric": "epoch"})
    for step in range(5):
        run.row({"loss": 1.0, "epoch": step / 2})
    run.finish()
    sources = OverlaySources()
    sources.show([drawn("plain", plain), drawn("epochs", model_of(run), 1)])
    spec = sources.source("loss").spec(60, ChartView())
    assert len(spec.traces) == 1
    assert spec.x_label == "epoch"
    assert spec.note == "1 without x: epoch"
    sources.next_axis(["loss"])
    assert len(sources.source("loss").spec(60, ChartView()).traces) == 2


def test_a_version_tells_points_colours_pins_and_runs_apart(two: tuple[OverlaySources, RunModel, RunModel]) -> None:
    sources, first, second = two
    source = sources.source("loss")
    versions = [source.version()]
    for runs in (
        [drawn("a", first, 7), drawn("b", second, 3)],
        [drawn("a", first, 8), drawn("b", second, 3)],
        [drawn("a", first, 8)],
        [drawn("a", first, 8, live=True)],
        [],
    ):
        sources.show(runs)
        versions.append(source.version())
    assert len(set(versions)) == len(versions)
    sources.show([drawn("a", first, 8)])
    assert source.version() == versions[3]
    assert source.extent() is not None
    sources.show([])
    assert source.extent() is None
    assert source.spec(60, ChartView()).traces == ()


def test_windows_and_points_are_those_of_every_run(two: tuple[OverlaySources, RunModel, RunModel]) -> None:
    sources, _, _ = two
    source = sources.source("loss")
    spec = source.spec(60, ChartView(x_range=(5.0, 8.0)))
    assert spec.x_range == (5.0, 8.0)
    assert [len(trace.x) for trace in spec.traces] == [6, 6]
    points = source.points((0.0, 100.0))
    assert [(label, len(x)) for label, x, _ in points] == [("name-b", 30), ("name-a", 10)]


def test_moments_are_those_of_the_highlighted_run(two: tuple[OverlaySources, RunModel, RunModel]) -> None:
    sources, _, _ = two
    source = sources.source("loss")
    assert source.time_at(9.0) == START + 54.0
    sources.highlighted = "a"
    assert source.time_at(9.0) == START + 18.0
    assert source.x_at(START + 10.0) == 5.0


def test_curves_that_did_not_change_are_not_made_again(two: tuple[OverlaySources, RunModel, RunModel]) -> None:
    sources, first, _ = two
    source, view = sources.source("loss"), ChartView()
    before = source.spec(60, view).traces
    assert all(a is b for a, b in zip(before, source.spec(60, view).traces, strict=True))
    row = HistoryBatch(
        np.array([10.0]),
        np.array([20.0]),
        np.array([START + 20]),
        Columns(("loss",), np.array([0, 1]), np.array([0], np.int32), np.array([9.5])),
    )
    first.metrics.append(row)
    after = source.spec(60, view).traces
    assert after[0] is not before[0]
    assert after[0].y[-1] == 9.5
    assert after[1] is before[1]
    for other in (ChartView(x_range=(2.0, 20.0)), ChartView(smoothing=0.9)):
        assert source.spec(60, other).traces[1] is not before[1]
    sources.forget()
    assert sources.source("loss").spec(60, view).traces[1] is not before[1]
