"""Child processes that log into their parent's run."""

from __future__ import annotations

import json
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
        "import json; place = json.loads(os.environ['LEET_ATTACH'])\n"
        "os.environ['LEET_ATTACH'] = json.dumps({**place, 'secret': place['secret'][::-1]})\n"
        "child = recorder.starting.connect()\n"
        "for i in range(3): child.log({'stranger': i})\n"
        "os.environ['LEET_ATTACH'] = json.dumps(place)\n"
        "child = recorder.starting.connect()\n"
        "child.log({'friend': 1}); child._send('finish'); child._send('record', 'exit', {'exit_code': 7})\n"
        "child.log({'friend': 2})\n"
    )
    done = run_script(script, tmp_path)
    assert [row.get("friend") for row in rows_of(log_of(tmp_path))] == ["1", "2"]
    assert "no call 'finish'" in done.stderr
    assert [end.exit_code for end in of_kind(log_of(tmp_path), "exit")] == [0]


def test_children_log_media(tmp_path: Path) -> None:
    script = (
        f"import os, recorder as wandb\nrun = wandb.init(project='p', settings={QUIET})\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    child = wandb.attach()\n"
        "    child.log({'page': wandb.Html('<p>1</p>'), 'deep': {'h': wandb.Histogram([1, 2, 3])}})\n"
        "    child.log({'table': wandb.Table(columns=['a'], data=[[1]])})\n"
        "    os._exit(0)\n"
        "os.waitpid(pid, 0)\n"
    )
    done = run_script(script, tmp_path)
    assert "stored as text" not in done.stderr
    log = log_of(tmp_path)
    first, second = rows_of(log)
    assert (first["page._type"], first["deep.h._type"]) == ('"html-file"', '"histogram"')
    paths = [json.loads(first["page.path"]), json.loads(second["table.path"])]
    assert all((log.parent / "files" / path).is_file() for path in paths)
    assert set(paths) <= {file.path for files in of_kind(log, "files") for file in files.files}
    assert [artifact.type for artifact in of_kind(log, "artifact")] == ["run_table"]


def test_what_children_cannot_do_is_said(tmp_path: Path) -> None:
    script = (
        f"import recorder\nrun = recorder.init(project='p', settings={QUIET})\n"
        "child = recorder.starting.connect()\n"
        "for name in ('save', 'log_artifact', 'watch'):\n"
        "    try: getattr(child, name)('x')\n"
        "    except recorder.UsageError as error: print(error)\n"
        "print(hasattr(child, 'no_such_thing'))\n"
    )
    lines = run_script(script, tmp_path).stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["save", "log_artifact", "watch", "False"]
    assert "the process that called init()" in lines[0]


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
