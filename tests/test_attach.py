"""Child processes that log into their parent's run."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from recorded import QUIET, log_of, of_kind, rows_of, run_script

pytestmark = pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="this system has no local sockets")

PROGRAM = f"""
import multiprocessing, sys
import recorder as wandb

def work(n):
    run = wandb.attach()
    for i in range(100):
        wandb.log({{f"child/{{n}}": i, "nan": float("nan"), "nested": {{"n": n}}}})
    run.summary["by child"] = n
    run.config.update({{f"child {{n}}": True}})

if __name__ == "__main__":
    run = wandb.init(project="p", settings={QUIET})
    context = multiprocessing.get_context(sys.argv[1])
    children = [context.Process(target=work, args=(n,)) for n in range(3)]
    for child in children: child.start()
    for child in children: child.join()
    assert [child.exitcode for child in children] == [0, 0, 0]
    wandb.log({{"parent": 1}})
"""


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_children_log_into_the_run(method: str, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    script = (
        f"import sys, runpy; sys.argv = ['program.py', {method!r}]\nrunpy.run_path('program.py', run_name='__main__')"
    )
    if method == "spawn":
        script = (
            f"import subprocess, sys; sys.exit(subprocess.run([sys.executable, 'program.py', {method!r}]).returncode)"
        )
    run_script(script, tmp_path)
    log = log_of(tmp_path)
    rows = rows_of(log)
    assert [int(row["_step"]) for row in rows] == list(range(301))
    for n in range(3):
        assert [int(row[f"child/{n}"]) for row in rows if f"child/{n}" in row] == list(range(100))
        assert {row["nested.n"] for row in rows if f"child/{n}" in row} == {str(n)}
    assert {row.get("nan", "NaN") for row in rows} == {"NaN"}
    assert {item.key for config in of_kind(log, "config") for item in config.update} == {f"child {n}" for n in range(3)}


def test_nobody_to_attach_to(tmp_path: Path) -> None:
    script = (
        "import recorder\n"
        "try: recorder.attach()\n"
        "except recorder.UsageError as error: print(error)\n"
        f"run = recorder.init(project='p', settings={QUIET})\n"
        "import os; address = os.environ['LEET_ATTACH']\n"
        "run.finish()\n"
        "assert 'LEET_ATTACH' not in os.environ\n"
        "os.environ['LEET_ATTACH'] = address\n"
        "try: recorder.attach()\n"
        "except recorder.UsageError as error: print(error)\n"
    )
    lines = run_script(script, tmp_path).stdout.splitlines()
    assert "no process that has started this one" in lines[0]
    assert "has ended" in lines[1]


def test_strangers_are_not_let_in(tmp_path: Path) -> None:
    script = (
        f"import os, recorder\nrun = recorder.init(project='p', settings={QUIET})\n"
        "run_id, secret, address = os.environ['LEET_ATTACH'].split()\n"
        "os.environ['LEET_ATTACH'] = f'{run_id} {secret[::-1]} {address}'\n"
        "child = recorder.starting.connect()\n"
        "for i in range(3): child.log({'stranger': i})\n"
        "os.environ['LEET_ATTACH'] = f'{run_id} {secret} {address}'\n"
        "child = recorder.starting.connect()\n"
        "child.log({'friend': 1}); child._send('finish'); child.log({'friend': 2})\n"
    )
    done = run_script(script, tmp_path)
    assert [row.get("friend") for row in rows_of(log_of(tmp_path))] == ["1", "2"]
    assert "no call 'finish'" in done.stderr


def test_a_child_that_outlives_the_run_goes_on(tmp_path: Path) -> None:
    script = (
        f"import recorder, time\nrun = recorder.init(project='p', settings={QUIET})\n"
        "child = recorder.starting.connect()\n"
        "child.log({'a': 1})\n"
        "run.finish()\n"
        "for i in range(100): child.log({'a': 2})\n"
        "print('goes on')\n"
    )
    done = run_script(script, tmp_path)
    assert done.stdout == "goes on\n"
    assert done.stderr.count("values are lost") == 1
    assert [row["a"] for row in rows_of(log_of(tmp_path))] == ["1"]
