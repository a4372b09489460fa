"""`leet plot`, run as the program that it is, on logs that hold what logs hold."""

from __future__ import annotations

import math
import os
import pty
import re
import subprocess
import sys

import numpy as np
import pytest
from example_run import START, ExampleRun
from hypothesis import given, settings
from hypothesis import strategies as st

from leet.charts.spec import Spec, Trace
from leet.output.plotext_adapter import draw

NAN, INF = math.nan, math.inf


def plot(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "leet", "plot", *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "TZ": "UTC", **environment},
    )


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """Curves that have undone other programs, and some that have not."""
    run = ExampleRun(tmp_path_factory.mktemp("run"))
    for s in range(120):
        values = {
            "train/loss": 2.3 * math.exp(-s / 30) + 0.1,
            "train/epoch": s // 10,
            "odd/all_nan": NAN,
            "odd/constant": 0.25,
            "odd/huge": 1e308 * (-1) ** s,
            "odd/infinite": INF if s % 2 else -INF,
            "odd/gaps": NAN if 40 <= s < 60 else math.sin(s / 9),
            "odd/zeros": 0.0 if s % 5 == 0 else 10.0 ** (-s / 20),
            "odd/\x1b[31mred\u202e": s,
        }
        if s == 7:
            values["odd/single"] = 42
        run.row(values)
    for i in range(30):
        run.record(
            "stats",
            {
                "stats_type": "SYSTEM",
                "timestamp": {"seconds": int(START) + 15 * i, "nanos": 0},
                "item": [{"key": f"gpu.{k}.gpu", "value_json": str(50 + 40 * math.sin(i / 5 + k))} for k in range(3)]
                + [{"key": "proc.memory.rssMB", "value_json": str(100 + i)}],
            },
        )
    run.writer.close()
    return run.log


@pytest.fixture(scope="module")
def everything(log):
    return plot(log, "--all")


def chart(text, title):
    """The lines of one chart of the output."""
    return next(part for part in text.split("\n\n") if part.startswith(title)).split("\n")


def test_all_charts_are_printed_and_nothing_dies(everything):
    assert everything.returncode == 0
    assert everything.stderr == ""
    assert len(everything.stdout.rstrip().split("\n\n")) == 10
    assert "\x1b" not in everything.stdout
    assert "\u202e" not in everything.stdout
    assert "nan" not in everything.stdout.lower().replace("all_nan", "").replace("nan)", "").replace(" nan\n", "\n")


def test_a_chart_has_a_title_a_value_and_the_size_asked_for(log):
    lines = plot(log, "train/loss", "--width", 60, "--height", 12).stdout.rstrip("\n").split("\n")
    assert lines[0].startswith("train/loss")
    assert lines[0].endswith(f" {2.3 * math.exp(-119 / 30) + 0.1:.4g}")
    assert len(lines) == 13
    assert max(map(len, lines)) == 60
    assert any(0x2800 < ord(c) < 0x2900 for line in lines for c in line)
    assert lines[-1].split() == ["0", "20", "40", "60", "80", "100", "120"]


def test_gaps_are_gaps_with_a_mark(everything):
    lines = chart(everything.stdout, "odd/gaps")
    assert "(20 NaN)" in lines[0]
    left = lines[1].index("╭")
    body = [line[left:] for line in lines[2:-2]]
    width = max(map(len, body))
    middle = {line.ljust(width)[c] for line in body for c in range(int(width * 0.36), int(width * 0.47))}
    assert middle == {" ", "×"}


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("odd/all_nan", "no finite values"),
        ("odd/infinite", "no finite values"),
        ("odd/single", "42"),
        ("odd/constant", "0.25"),
        ("odd/huge", "1.0e308"),
    ],
)
def test_strange_metrics_say_something_sensible(everything, title, text):
    assert text in "\n".join(chart(everything.stdout, title))


def test_a_log_axis_drops_what_has_no_place_on_it(log):
    text = plot(log, "odd/zeros", "odd/all_nan", "--log").stdout
    assert "log, 24 ≤ 0" in text
    assert re.search(r"^ *1┤|^ *1e0┤|^0\.1┤|1e-2┤", text, re.MULTILINE)


def test_last_takes_the_last_points(log):
    text = plot(log, "train/loss", "--last", 20).stdout
    ticks = [int(word) for word in text.rstrip().split("\n")[-1].split()]
    assert min(ticks) >= 100


def test_ascii_is_seven_bits(log):
    done = plot(log, "--ascii", "--all")
    assert done.returncode == 0
    assert done.stdout.isascii()
    assert "*" in done.stdout
    assert plot(log, "train/loss", LC_ALL="C").stdout.isascii()
    by_locale = plot(log, "train/loss", PYTHONIOENCODING="ascii")
    assert by_locale.returncode == 0
    assert by_locale.stdout.isascii()


def test_patterns_are_regular_expressions_and_any_may_match(log):
    text = plot(log, "LOSS$", "epoch").stdout
    assert [part.split("\n")[0].split()[0] for part in text.split("\n\n")] == ["train/epoch", "train/loss"]


def test_eight_charts_unless_all(log):
    done = plot(log)
    assert len(done.stdout.rstrip().split("\n\n")) == 8
    assert "8 of 10 charts; --all prints all of them" in done.stderr


def test_system_metrics(log):
    done = plot(log, "--system")
    assert done.returncode == 0
    gpu = chart(done.stdout, "GPU Utilization")
    assert gpu[1].count("●") == 3
    assert "GPU 0" in gpu[1]
    assert gpu[3].startswith("100%┤")
    assert "MiB" in chart(done.stdout, "Process Memory")[0]


@pytest.mark.parametrize(
    ("arguments", "status", "text"),
    [
        (("no-such-metric",), 1, "no metric matches no-such-metric; there are odd/"),
        (("(",), 2, "no regular expression"),
        (("--width", "3"), 2, "from 16 to 1000"),
        (("--last", "x"), 2, "no number"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(log, arguments, status, text):
    done = plot(log, *arguments)
    assert done.returncode == status
    assert text in done.stderr
    assert "Traceback" not in done.stderr
    if status == 1:
        assert done.stderr.count("\n") == 1


def test_an_unfinished_end_is_told_from_damage(log, tmp_path):
    cut = tmp_path / log.name
    data = bytearray(log.read_bytes())
    cut.write_bytes(data[:-5])
    assert "leet plot: the log ends inside a record: its last" in plot(cut).stderr
    data[len(data) // 2] ^= 0x55
    cut.write_bytes(data)
    assert "leet plot: 1 part of the log was skipped" in plot(cut).stderr


def test_no_run_and_no_log(tmp_path):
    assert plot(tmp_path / "nothing").returncode == 1
    bad = tmp_path / "run-bad.wandb"
    bad.write_bytes(b"this is no log at all, whatever its name says" * 10)
    done = plot(bad)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1


def test_a_metric_without_a_path_is_told_where_the_path_goes(log, tmp_path, monkeypatch):
    monkeypatch.chdir(log.parent)
    done = plot("train/loss", "a b")
    assert done.returncode == 1
    assert done.stderr.endswith(
        "no such file or directory; a path comes before metrics: leet plot . train/loss 'a b'\n"
    )
    assert "comes before" not in plot("/no/such/place").stderr
    monkeypatch.chdir(tmp_path.parent)
    assert "comes before" not in plot("train/loss").stderr, "there is no run here"


def test_colour_only_on_a_terminal(log):
    def in_terminal(**environment):
        ours, theirs = pty.openpty()
        environment = {**os.environ, "TERM": "xterm-256color", **environment}
        process = subprocess.Popen(
            [sys.executable, "-m", "leet", "plot", str(log), "train/loss"], stdout=theirs, env=environment
        )
        os.close(theirs)
        data = b""
        try:
            while piece := os.read(ours, 65536):
                data += piece
        except OSError:
            pass  # the other end of a pseudo-terminal is closed
        os.close(ours)
        assert process.wait(60) == 0
        return data.decode()

    assert "\x1b[38;5;" in in_terminal()
    assert "\x1b" not in in_terminal(NO_COLOR="1")
    assert "\x1b" not in in_terminal(TERM="dumb")


def test_a_closed_pipe_is_no_error(log):
    done = subprocess.run(
        f"{sys.executable} -m leet plot {log} --all | head -1", shell=True, capture_output=True, text=True, timeout=60
    )
    assert done.stderr == ""
    assert done.stdout.count("\n") == 1


def test_plotext_is_loaded_only_to_plot():
    code = (
        "import sys, contextlib, io\n"
        "from leet.output import plot\n"
        "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):\n"
        "    plot.main(['--help'])\n"
        "print(sorted({'plotext', 'textual', 'numpy', 'google', 'wandb'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]"


NUMBERS = st.floats(width=64)


@given(
    st.lists(st.lists(st.tuples(NUMBERS, NUMBERS), max_size=8), max_size=3),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.integers(1, 100),
    st.integers(1, 30),
)
@settings(max_examples=100, deadline=None)
def test_the_adapter_takes_any_numbers(points, log_y, ascii_only, color, width, height):
    # A value that plotext cannot take would end this process.
    traces = tuple(Trace("t", np.array([x for x, _ in curve]), np.array([y for _, y in curve])) for curve in points)
    text = draw(Spec("title", traces, log_y=log_y, ascii=ascii_only), width, height, color)
    assert text.startswith("title")
    if ascii_only:
        assert text.isascii()
    if not color:
        assert "\x1b" not in text
