"""What used to be cut or blank in eighty columns."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_run import START, ExampleRun, trained
from ssh_server import SshServer
from terminals import viewer
from viewer import viewing

from leet.tui.widgets.process_table import _short
from leet.tui.widgets.record_text import _wrapped


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("/usr/bin/python3 /root/build/deep/below/train.py --lr 3", "train.py --lr 3"),
        ("python3.11 -u -X faulthandler /root/build/deep/below/train.py", "train.py"),
        ("/opt/venv/bin/python -m torch.distributed.run --nproc 8", "torch.distributed.run --nproc 8"),
        ("python -c import_this_and_that_and_more_of_it", "python -c import_this_and_that_and_more_of_it"),
        ("bash /home/someone/with/a/long/name/run.sh", "run.sh"),
        ("/usr/lib/postgresql/16/bin/postgres -D /var/lib/postgresql", "postgres -D /var/lib/postgresql"),
        ("python3", "python3"),
    ],
)
def test_a_narrow_column_names_what_an_interpreter_runs(command: str, shown: str) -> None:
    assert _short(command, 16) == shown


def test_a_wide_column_names_the_interpreter_too() -> None:
    assert _short("/usr/bin/python3 /a/train.py", 80) == "python3 /a/train.py"


@pytest.mark.parametrize("text", ["x" * 100, "word " * 30, "é" * 90])
def test_long_values_go_on_below_values(text: str) -> None:
    rows = [row for row, _ in _wrapped([f"config.lr    {text}", "  indented " + text], 40)]
    assert rows[0].startswith("config.lr    ")
    assert all(len(row) <= 40 for row in rows)
    at = next(i for i, row in enumerate(rows) if row.startswith("  indented"))
    assert all(row.startswith(" " * 13) for row in rows[1:at])
    assert "".join(row[13:] for row in rows[:at]) == text


async def test_stderr_alone_leaves_no_blank_rows_above_its_lines(tmp_path: Path) -> None:
    run = ExampleRun(tmp_path)
    run.train(3)
    for number in range(60):
        kind = 0 if number in (3, 4) else 1
        when = {"seconds": int(START) + number}
        run.record("output_raw", {"output_type": kind, "timestamp": when, "line": f"line {number}\n"})
    async with viewing(run.finish(), (80, 24)) as viewer:
        await viewer.press("4")
        for keys in ((), ("up",), ("home",), ("home", "down", "down", "down", "down")):
            await viewer.press(*keys, "E")
            rows = [line for line in viewer.lines() if "line 3" in line or "line 4" in line]
            assert len(rows) == 2, viewer.text()
            await viewer.press("E")


def test_connecting_is_said(tmp_path: Path, server: SshServer) -> None:
    log = trained(tmp_path)
    with viewer(f"box:{log}", LEET_SSH=server.command()) as terminal:
        terminal.until("finished")
        before = bytes(terminal.raw).partition(b"\x1b[?1049h")[0]
        assert "connecting to box…".encode() in before
        terminal.send("q")
        assert terminal.end() == 0
