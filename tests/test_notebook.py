"""Runs recorded in a notebook, by a real kernel."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from recorded import QUIET, environment, of_kind, printed, rows_of

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

INIT = f"import recorder as wandb\nrun = wandb.init(project='p', settings={QUIET})"


def execute(directory: Path, *cells: str) -> list[str]:
    """Runs the cells in a kernel of their own; what each of them put out."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    client = nbclient.NotebookClient(notebook, allow_errors=True, kernel_name="python3", timeout=60)
    client.execute(cwd=str(directory), env={**os.environ, **environment()})
    return ["".join(out.get("text", out.get("ename", "")) for out in cell.outputs) for cell in notebook.cells]


def logs(directory: Path) -> list[Path]:
    return sorted(directory.glob("wandb/offline-run-*/run-*.wandb"), key=lambda log: log.stat().st_ctime_ns)


def test_a_run_goes_through_cells_and_their_errors(tmp_path: Path) -> None:
    shown = execute(
        tmp_path,
        INIT + "\nprint('first')",
        "for i in range(3): wandb.log({'loss': i})\nprint('second')",
        "print('third'); 1 / 0",
        "wandb.log({'loss': 9}); import sys; print('fourth', file=sys.stderr)",
    )
    assert shown[1:3] == ["second\n", "third\nZeroDivisionError"]
    (log,) = logs(tmp_path)
    assert [row["loss"] for row in rows_of(log)] == ["0", "1", "2", "9"]
    assert printed(log, 1) == "first\nsecond\nthird\n"
    assert "fourth\n" in printed(log, 0)
    # The kernel was shut down, which is how a notebook ends.
    assert [end.exit_code for end in of_kind(log, "exit")] == [0]


def test_the_cell_that_starts_a_run_may_be_run_again(tmp_path: Path) -> None:
    execute(tmp_path, INIT, "wandb.log({'a': 1})", INIT, "wandb.log({'a': 2})\nrun.finish()", "print('after the end')")
    first, second = logs(tmp_path)
    assert [[row["a"] for row in rows_of(log)] for log in (first, second)] == [["1"], ["2"]]
    assert [len(of_kind(log, "exit")) for log in (first, second)] == [1, 1]
    assert "after the end" not in printed(second)


def test_a_run_can_be_asked_for_back(tmp_path: Path) -> None:
    again = INIT.replace("project='p'", "project='p', reinit='return_previous'")
    shown = execute(tmp_path, INIT, again.replace("run =", "back ="), "print(back is run)")
    assert shown[-1] == "True\n"
    assert len(logs(tmp_path)) == 1
