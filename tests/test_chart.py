"""Line charts: pictures kept as text, and no numbers or sizes that they cannot take."""

from __future__ import annotations

import numpy as np
import pytest
from chart_specs import GPU, NAN, NUMBERS, SPECS, STEPS, gpus
from hypothesis import given, settings
from hypothesis import strategies as st

from leet.charts.cells import Cells, Role
from leet.charts.layout import plot_area
from leet.charts.lettering import shorten
from leet.charts.line import draw_chart
from leet.charts.spec import Spec, Trace
from leet.model import units

pytestmark = pytest.mark.usefixtures("utc")
INF = float("inf")


def trace(y, x=None, label="value", **options):
    y = np.asarray(y, float)
    return Trace(label, np.arange(float(len(y))) if x is None else np.asarray(x, float), y, **options)


def loss():
    wave = np.sin(STEPS * 1.7) * 0.02 + np.sin(STEPS * 0.31) * 0.02
    return 2.3 * np.exp(-STEPS / 80) + 0.05 + wave


def broken_loss():
    y = loss()
    y[120:150] = NAN
    y[250], y[300] = INF, -INF
    return y


CIRCLE = np.linspace(0, 2 * np.pi, 200)
LONG = "train/encoder/layers/11/self_attention/gradient_norm"

PICTURES = {
    "loss": (Spec("train/loss", (trace(loss()),)), 60, 14),
    "loss_focused_log_guides": (
        Spec("train/loss", (trace(loss()),), log_y=True, focused=True, guides="horizontal", x_label="step"),
        60,
        14,
    ),
    "loss_dots": (Spec("train/loss", (trace(loss()),), guides="dots"), 50, 10),
    "loss_not_finite": (Spec("train/loss", (trace(broken_loss()),)), 60, 12),
    "loss_not_finite_ascii": (Spec("train/loss", (trace(broken_loss()),), ascii=True), 60, 12),
    "loss_crosshair_left": (Spec("train/loss", (trace(loss()),), crosshair=60.2), 60, 10),
    "loss_crosshair_right": (Spec("train/loss", (trace(loss()),), crosshair=390.0), 60, 10),
    "loss_anchor": (Spec("train/loss", (trace(loss()),), crosshair=240.0, anchor=60.0), 60, 10),
    "loss_anchor_ascii": (Spec("train/loss", (trace(loss()),), crosshair=240.0, anchor=60.0, ascii=True), 60, 10),
    "loss_anchor_narrow": (Spec("train/loss", (trace(loss()),), crosshair=240.0, anchor=60.0), 28, 7),
    "anchor_of_several": (
        Spec(
            "loss",
            (trace(loss(), label="balmy-river-7"), trace(loss() * 0.8 + 0.3, label="calm-lake-8")),
            crosshair=240.0,
            anchor=60.0,
            legend=True,
        ),
        60,
        14,
    ),
    "loss_crosshair_at_nan": (Spec("train/loss", (trace(broken_loss()),), crosshair=130.0), 60, 10),
    "zoomed": (Spec("train/loss", (trace(loss()),), x_range=(100.0, 180.0)), 60, 10),
    "zoomed_between_points": (Spec("slope", (trace([0, 10]),), x_range=(0.4, 0.6)), 40, 8),
    "outliers_cut": (Spec("train/loss", (trace(broken_loss()),), y_limits=(0.2, 1.5), note="y cut"), 60, 12),
    "outliers_cut_ascii": (
        Spec("train/loss", (trace(broken_loss()),), y_limits=(0.2, 1.5), note="y cut", ascii=True),
        60,
        12,
    ),
    "y_limit_above_all": (Spec("train/loss", (trace(loss()),), y_limits=(None, 10.0), note="y ..10"), 50, 10),
    "y_limits_log": (Spec("train/loss", (trace(loss()),), y_limits=(0.1, 1.0), log_y=True, note="y 0.1..1"), 50, 10),
    "log_x": (
        Spec(
            "lr",
            (trace(np.arange(1, 2000) ** -0.5, np.log10(np.arange(1.0, 2000))),),
            x_kind="decades",
            x_lost=1,
            x_label="log step",
            crosshair=2.0,
        ),
        60,
        10,
    ),
    "log_x_time": (
        Spec("lr", (trace(np.arange(200.0), np.linspace(-2, 5, 200)),), x_kind="duration decades", x_lost=2),
        50,
        8,
    ),
    "log_with_zeros": (Spec("loss", (trace([1, 0.1, 0, -3, 0.01, 0.001, 0.1, 10]),), log_y=True), 44, 10),
    "log_without_positives": (Spec("loss", (trace([-1, 0, -3]),), log_y=True), 44, 8),
    "log_short": (Spec("loss", (trace(np.linspace(2, 40, 50)),), log_y=True), 44, 12),
    "log_narrow": (Spec("loss", (trace(np.linspace(4.1, 4.6, 50)),), log_y=True), 44, 10),
    "gpus": (Spec("GPU Utilization", gpus(), legend=True, **GPU), 64, 14),
    "gpus_crosshair": (Spec("GPU Utilization", gpus(), legend=True, crosshair=1.7e9 + 150, **GPU), 64, 14),
    "gpus_eight_narrow": (Spec("GPU Utilization", gpus(8), legend=True, **GPU), 38, 10),
    "gpus_no_legend": (Spec("GPU Utilization", gpus(), **GPU), 38, 6),
    "gpus_ascii": (Spec("GPU Utilization", gpus(), legend=True, ascii=True, **GPU), 64, 14),
    "gpus_monochrome": (Spec("GPU Utilization", gpus(3), legend=True, monochrome=True, **GPU), 64, 14),
    "percent_beyond_100": (Spec("Process CPU", (trace([90, 390, 410, 100]),), units.PERCENT, y_range=(0, 100)), 40, 8),
    "memory": (Spec("GPU Memory", (trace(np.linspace(2, 72, 50) * 2**30),), unit=units.BYTES), 44, 10),
    "temperature_ascii": (Spec("GPU Temp", (trace(40 + STEPS / 12),), unit=units.CELSIUS, ascii=True), 44, 8),
    "duration": (Spec("loss", (trace(loss(), STEPS * 40),), x_kind="duration", crosshair=3725), 60, 9),
    "circle": (Spec("circle", (trace(np.sin(CIRCLE), np.cos(CIRCLE)),)), 44, 14),
    "circle_ascii": (Spec("circle", (trace(np.sin(CIRCLE), np.cos(CIRCLE)),), ascii=True), 44, 14),
    "long_title": (Spec(LONG, (trace(loss()),), note="10 min"), 40, 6),
    "value_and_note": (Spec("Network", (trace(loss()),), value="1.2 MB/s", note="total 3 GiB"), 50, 6),
    "few_points": (Spec("val/accuracy", (trace([0.52, 0.71, 0.78, 0.8], [100, 200, 300, 400]),)), 50, 9),
    "one_point": (Spec("one", (trace([5], [3]),)), 40, 8),
    "constant": (Spec("constant", (trace([0.25] * 9),)), 40, 8),
    "zero": (Spec("zero", (trace([0] * 9),)), 40, 8),
    "all_nan": (Spec("nan", (trace([NAN] * 9),)), 40, 8),
    "all_inf": (Spec("inf", (trace([INF, -INF, INF]),)), 40, 8),
    "empty": (Spec("empty", ()), 40, 6),
    "no_points": (Spec("no points", (trace([]),)), 40, 6),
    "huge": (Spec("huge", (trace([1e308, -1e308, 1.7e308]),)), 44, 9),
    "denormal": (Spec("denormal", (trace([5e-324, 1e-322, 0]),)), 44, 9),
    "far_from_zero": (Spec("offset", (trace(1e9 + np.arange(10) * 1e-4),)), 44, 9),
    "negative": (Spec("negative", (trace(-(STEPS**2)),)), 44, 9),
    "boolean": (Spec("flag", (trace((STEPS // 50) % 2),)), 44, 6),
    "hostile": (Spec("\x1b[31mred\u202e宽\n", (trace([1, 2], label="\x07"), trace([2, 1])), legend=True), 44, 8),
    "hostile_ascii": (Spec("naïve µ …", (trace([1, 2]),), ascii=True, unit=units.MICROSECONDS), 44, 6),
    "sidebar": (Spec("GPU Utilization", gpus(1), **GPU), 24, 6),
}


@pytest.mark.parametrize("name", PICTURES)
def test_picture(name, golden):
    spec, width, height = PICTURES[name]
    cells = draw_chart(spec, width, height)
    assert (cells.width, cells.height) == (width, height)
    golden(f"charts/{name}", cells.text())


def test_small_sizes(golden):
    spec = PICTURES["loss"][0]
    pictures = [
        f"{width} × {height}\n{draw_chart(spec, width, height).text()}"
        for width, height in ((24, 5), (18, 4), (18, 3), (18, 2), (18, 1), (8, 3), (7, 5), (1, 1))
    ]
    golden("charts/small_sizes", "\n\n".join(pictures))


@given(SPECS, st.integers(1, 90), st.integers(1, 30))
@settings(max_examples=400, deadline=None)
def test_any_numbers_at_any_size_give_a_picture(spec, width, height):
    with np.errstate(all="raise", under="ignore"):
        cells = draw_chart(spec, width, height)
    assert cells.codes.shape == cells.roles.shape == (height, width)
    text = cells.text()
    assert all(char.isprintable() or char == "\n" for char in text)
    if spec.ascii:
        assert text.isascii()
    area = plot_area(spec, width, height)
    for column in range(area.left, area.left + area.width):
        x = area.x_at(column)
        assert area.x_range[0] <= x <= area.x_range[1]


@given(st.integers(1, 60), st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
@settings(deadline=None)
def test_columns_and_x_lead_back_to_each_other(width, lo, span):
    spec = Spec("x", (trace([1, 2], [lo, lo + span]),))
    area = plot_area(spec, width, 8)
    for column in range(area.left, area.left + area.width):
        assert area.column_of(area.x_at(column)) == column
    assert area.column_of(lo) == area.left
    assert area.column_of(lo + span) == area.left + area.width - 1
    assert area.column_of(lo - span) is None


def roles_of(cells: Cells, role: int) -> int:
    return int(np.count_nonzero(cells.roles == role))


def test_a_spike_of_one_sample_reaches_the_top():
    y = np.zeros(100_000)
    y[31_415] = 1.0
    spec = Spec("spike", (trace(y),))
    area = plot_area(spec, 60, 12)
    column = area.column_of(31_415.0)
    cells = draw_chart(spec, 60, 12)
    assert cells.roles[area.top, column] == Role.SERIES
    assert roles_of(cells, Role.SERIES) < area.width + 12


def test_marks_stand_where_values_are_not_finite():
    y = np.ones(101)
    y[20], y[50], y[80] = NAN, INF, -INF
    spec = Spec("x", (trace(y),))
    area, cells = plot_area(spec, 60, 10), draw_chart(spec, 60, 10)
    bottom = area.top + area.height - 1
    assert chr(cells.codes[bottom, area.column_of(20)]) == "×"
    assert chr(cells.codes[area.top, area.column_of(50)]) == "▲"
    assert chr(cells.codes[bottom, area.column_of(80)]) == "▼"
    assert roles_of(cells, Role.MARK) == 3
    assert "3 NaN/Inf" in cells.row(0)


def test_the_count_of_a_thinned_series_is_that_of_the_whole():
    cells = draw_chart(Spec("x", (trace([1, NAN, 2], nonfinite=1234),)), 60, 10)
    assert "1234 NaN" in cells.row(0)


def test_later_series_are_on_top_and_keep_their_colours():
    cells = draw_chart(Spec("x", (trace([1, 1], color=7), trace([1, 1], color=3))), 30, 8)
    assert roles_of(cells, Role.SERIES + 3)
    assert not roles_of(cells, Role.SERIES + 7)


def test_focus_changes_roles_only():
    plain, focused = (draw_chart(Spec("x", (trace([1, 2]),), focused=f), 30, 8) for f in (False, True))
    assert plain.text() == focused.text()
    assert roles_of(focused, Role.FRAME_FOCUSED)
    assert roles_of(focused, Role.TITLE_FOCUSED)
    assert not roles_of(plain, Role.FRAME_FOCUSED)


@given(st.lists(NUMBERS, min_size=1, max_size=20), st.integers(0, 19), st.booleans())
@settings(deadline=None)
def test_the_readout_never_hides_the_hairline(values, at, several):
    traces = (trace(values), trace(values[::-1])) if several else (trace(values),)
    spec = Spec("x", traces, crosshair=float(min(at, len(values) - 1)))
    area, cells = plot_area(spec, 60, 12), draw_chart(spec, 60, 12)
    column = area.column_of(spec.crosshair)
    assert not np.any(cells.roles[area.top : area.top + area.height, column] == Role.READOUT)


@pytest.mark.parametrize(
    ("text", "width", "short"),
    [
        ("train/loss", 10, "train/loss"),
        ("train/loss", 8, "tr…/loss"),
        (LONG, 30, "train/encode…/gradient_norm"),
        ("abcdefghij", 5, "ab…ij"),
        ("abcdefghij", 2, "ab"),
        ("abcdefghij", 0, ""),
    ],
)
def test_titles_are_cut_in_the_middle(text, width, short):
    assert len(shorten(text, width)) <= width
    assert shorten(text, width) == short or (len(shorten(text, width)) == width and text == LONG)


def test_text_is_cut_at_the_edges_and_takes_one_column_per_character():
    cells = Cells(6, 2)
    assert cells.put(-2, 0, "abcdef", Role.TITLE) == 4
    assert cells.put(4, 1, "xyz", Role.TICK) == 7
    assert cells.put(0, 5, "nowhere", Role.TICK) == 7
    assert cells.text() == "cdef\n    xy"
    cells.put(0, 0, "a\x1b宽e\u0301é", Role.TITLE)
    assert cells.row(0) == "a··e·é"
    assert list(cells.runs(1)) == [("    ", Role.BLANK), ("xy", Role.TICK)]


@pytest.mark.parametrize("label", ["a", "wide-1e-3-cosine", "a-name-that-is-longer-than-any-chart-is-wide"])
@pytest.mark.parametrize("many", [2, 3, 15])
def test_the_legend_stays_within_the_frame_and_says_how_many_there_are(label: str, many: int) -> None:
    x = np.arange(20.0)
    traces = tuple(Trace(f"{label}{i or ''}", x, x * 123.456 + i) for i in range(many))
    for width in range(16, 70):
        lines = draw_chart(Spec("loss", traces, legend=True), width, 9).text().splitlines()
        assert {line[0] + line[-1] for line in lines[1:-1]} == {"││"}
        assert lines[1][-2] == " "
        named = lines[1].count("●")
        assert 1 <= named <= many
        assert (f"  +{many - named} " in lines[1]) is (named < many)
