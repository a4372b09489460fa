"""Values that charts are held against: drawn, marked when crossed, told by the terminal where that was asked for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from example_run import START, ExampleRun
from hypothesis import given
from hypothesis import strategies as st
from test_memory import watching
from viewer import Viewer, viewing

from leet.charts.line import draw_chart
from leet.charts.spec import Spec, Trace
from leet.charts.threshold import Threshold
from leet.settings import store
from leet.tui.chart_memory import kept_views, view_of
from leet.tui.terminal import Terminal
from leet.tui.widgets.chart_entry import WrongEntry, threshold_of
from leet.tui.widgets.chart_view import ChartView

NAN = float("nan")


def test_what_is_typed() -> None:
    assert threshold_of(">0.9") == Threshold(True, 0.9)
    assert threshold_of(" < 1e-3 ") == Threshold(False, 1e-3)
    assert threshold_of(">=20k") == Threshold(True, 20_000)
    assert threshold_of("") is None
    for wrong, says in (("0.9", "a threshold is >0.9"), (">", "'' is no number"), ("<nan", "'nan' is no number")):
        with pytest.raises(WrongEntry, match=says):
            threshold_of(wrong)


def test_crossing() -> None:
    above, below = Threshold(True, 0.9), Threshold(False, 0.1)
    assert above.crossed([0.5, 0.91])
    assert not above.crossed([0.9, NAN])
    assert below.crossed([0.0])
    assert not below.crossed([])
    assert (above.in_words(), below.in_words(100)) == (">0.9", "<10")


def test_it_is_remembered() -> None:
    views = {"a": ChartView(threshold=Threshold(True, 0.9)), "b": ChartView(threshold=Threshold(False, -2.0), cut=True)}
    assert {key: view_of(chosen) for key, chosen in kept_views(views)} == views
    assert view_of({"over": "x"}) is None


@given(
    st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=12),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.sampled_from([(1, 1), (9, 3), (40, 10)]),
)
def test_any_values_and_thresholds_are_drawn(values: list[float], at: float, log: bool, size: tuple[int, int]) -> None:
    trace = Trace("v", np.arange(float(len(values))), np.array(values, float))
    for ascii_only in (False, True):
        spec = Spec("v", (trace,), threshold=Threshold(True, at), log_y=log, ascii=ascii_only)
        assert (cells := draw_chart(spec, *size)).width == size[0]
        assert not ascii_only or cells.text().isascii()


def growing(tmp_path: Path, *values: float) -> ExampleRun:
    run = ExampleRun(tmp_path)
    for value in values:
        run.row({"accuracy": value, "loss": 1 - value})
    run.flush()
    return run


async def set_threshold(viewer: Viewer, metric: str, text: str) -> None:
    viewer.run.go_to_metric(metric)
    await viewer.press("exclamation_mark")
    await viewer.type(text)
    await viewer.press("enter")


async def test_a_threshold_is_typed_drawn_crossed_and_kept(tmp_path: Path) -> None:
    run = growing(tmp_path, *np.linspace(0.1, 0.8, 30))
    async with watching(run.log) as viewer:
        await set_threshold(viewer, "accuracy", "0.9")
        assert "a threshold is >0.9" in viewer.lines()[-2]
        await viewer.press("home", ">", "enter")
        assert "accuracy (>0.9)" in viewer.text()
        assert "╌╌╌" in viewer.text()
        assert "! accuracy" not in viewer.text()
        run.row({"accuracy": 0.95, "loss": 0.05})
        run.flush()
        await viewer.until("accuracy (! >0.9)")
        await viewer.until("· ! accuracy")
    run.writer.close()
    async with watching(run.log) as viewer:
        assert "accuracy (! >0.9)" in viewer.text()
        viewer.run.go_to_metric("accuracy")
        await viewer.press("exclamation_mark", *["backspace"] * 4, "enter")
        assert ">0.9" not in viewer.text()
        assert "! accuracy" not in viewer.status


@pytest.mark.parametrize("how", ["off", "bell", "notification"])
async def test_the_terminal_tells_once_and_only_if_it_was_asked_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setenv("LEET_CHARTS_ALARM", how)
    store.reload()
    run = growing(tmp_path, 0.1, 0.2)
    sent: list[str] = []
    async with watching(run.log) as viewer:
        driver = viewer.app._driver
        assert driver is not None
        monkeypatch.setattr(driver, "write", sent.append)
        monkeypatch.setattr(viewer.app, "bell", lambda: sent.append("\x07"))
        await set_threshold(viewer, "loss", "<0.85")
        await set_threshold(viewer, "accuracy", ">0.9")
        assert "! loss" in viewer.status
        assert not [text for text in sent if "\x07" in text], "it was beyond when the threshold was set"
        for value in (0.95, 0.96):
            run.row({"accuracy": value, "loss": 0.1})
            run.flush()
            await viewer.until(f"{value}")
        await viewer.until("! loss, accuracy")
    told = [text for text in sent if "\x07" in text]
    assert told == {"off": [], "bell": ["\x07"], "notification": ["\x1b]9;leet: accuracy crossed\x07"]}[how]
    run.writer.close()
    monkeypatch.delenv("LEET_CHARTS_ALARM")
    store.reload()


async def test_seven_bits_at_full_size(tmp_path: Path) -> None:
    run = growing(tmp_path, *np.linspace(0.1, 0.95, 30))
    async with viewing(run.flush(), (80, 24), terminal=Terminal(now=START + 60, ascii=True, depth="none")) as viewer:
        viewer.run.go_to_metric("accuracy")
        await viewer.press("enter", "exclamation_mark", *(">", "0", "full_stop", "9"), "enter")
        text = viewer.text()
        assert text.isascii()
        assert "accuracy (! >0.9)" in text
        assert "----------" in viewer.text()
    run.writer.close()
