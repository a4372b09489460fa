"""A run from its beginning to every kind of end, in real processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from recorded import QUIET, end, environment, log_of, of_kind, printed, records_of, rows_of, run_script

import recorder
from leet.reading import records

START = f"import recorder as wandb\nrun = wandb.init(project='p', settings={QUIET})\n"


def exit_code(directory: Path) -> int:
    (last,) = of_kind(log_of(directory), "exit")
    assert records.kind(records_of(log_of(directory))[-1]) == "exit"
    return int(last.exit_code)


def test_a_script_that_just_ends(tmp_path: Path) -> None:
    run_script(START + "wandb.log({'loss': 1})\nwandb.log({'held': 1}, commit=False)\n", tmp_path)
    assert exit_code(tmp_path) == 0
    assert rows_of(log_of(tmp_path)) == [{"loss": "1", "_step": "0"}, {"held": "1", "_step": "1"}]


@pytest.mark.parametrize(
    ("script", "status"),
    [
        ("raise RuntimeError('boom')", 1),
        ("import sys; sys.exit(3)", 3),
        ("import sys; sys.exit('words')", 1),
        ("import sys; sys.exit()", 0),
        ("wandb.finish(exit_code=4)", 4),
        ("with run: pass", 0),
        ("import sys\nwith run: sys.exit(5)", 5),
        ("import sys; sys.exit(-1)", 255),
        ("import sys; sys.exit(256)", 0),
        ("import sys; sys.exit(10**30)", 255),
        ("with run: raise SystemExit(-2)", 254),
    ],
)
def test_exit_code(script: str, status: int, tmp_path: Path) -> None:
    run_script(START + script, tmp_path, status=0 if "finish" in script else status)
    assert exit_code(tmp_path) == status


def test_the_traceback_of_an_exception_is_in_the_log(tmp_path: Path) -> None:
    done = run_script(START + "def inner(): raise RuntimeError('boom')\ninner()", tmp_path, status=1)
    assert done.stderr.count("RuntimeError: boom") == 1
    assert printed(log_of(tmp_path), 0).endswith("RuntimeError: boom\n")
    assert "in inner" in printed(log_of(tmp_path), 0)


def test_the_traceback_of_a_with_block_is_in_the_log_once(tmp_path: Path) -> None:
    done = run_script(START + "with run: raise RuntimeError('boom')", tmp_path, status=1)
    assert done.stderr.count("RuntimeError: boom") == 1
    assert printed(log_of(tmp_path), 0).count("RuntimeError: boom") == 1
    assert exit_code(tmp_path) == 1


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 255), (signal.SIGTERM, 128 + signal.SIGTERM), (signal.SIGHUP, 129)]
)
def test_a_signal_saves_the_run(number: int, code: int, tmp_path: Path) -> None:
    script = START + (
        "import threading, time\n"
        "def more():\n"
        "    i = 0\n"
        "    while True: wandb.log({'i': i}); i += 1; time.sleep(0.0005)\n"
        "threading.Thread(target=more, daemon=True).start()\n"
        "print('ready', flush=True)\n"
        "while True: wandb.log({'main': 1})\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        time.sleep(0.2)
        process.send_signal(number)
        assert process.wait(20) == -number
        process.stdout.close()
    finally:
        end(process)
    assert exit_code(tmp_path) == code


def test_a_second_ctrl_c_ends_at_once_with_everything_saved(tmp_path: Path) -> None:
    script = START + (
        "import time\n"
        "class Slow:\n"
        "    def stop(self):\n"
        "        print('stopping', flush=True)\n"
        "        while True: time.sleep(0.1)  # a signal just before one long sleep would wait for its end\n"
        "run._parts.append(Slow())\n"
        "wandb.log({'a': 1}); wandb.log({'held': 1}, commit=False)\n"
        "print('ready', flush=True)\n"
        "while True: time.sleep(0.1)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert process.stdout is not None
        for line in (b"ready\n", b"stopping\n"):
            assert process.stdout.readline() == line
            process.send_signal(signal.SIGINT)
        assert process.wait(20) == -signal.SIGINT
        process.stdout.close()
    finally:
        end(process)
    assert rows_of(log_of(tmp_path)) == [{"a": "1", "_step": "0"}, {"held": "1", "_step": "1"}]
    assert exit_code(tmp_path) == 255


def test_somebody_elses_signal_handler_stays(tmp_path: Path) -> None:
    script = (
        "import signal, os\n"
        "signal.signal(signal.SIGTERM, lambda *_: print('mine'))\n" + START + "os.kill(os.getpid(), signal.SIGTERM)\n"
        "wandb.log({'after': 1})\n"
    )
    assert run_script(script, tmp_path).stdout == "mine\n"
    assert len(rows_of(log_of(tmp_path))) == 1
    assert exit_code(tmp_path) == 0


def test_kill_loses_at_most_the_last_second(tmp_path: Path) -> None:
    script = START + "import time\nwandb.log({'a': 1})\nprint('x', flush=True)\ntime.sleep(60)"
    process = subprocess.Popen(
        [sys.executable, "-c", script], cwd=tmp_path, env=environment(), stderr=subprocess.DEVNULL
    )
    try:
        deadline = time.monotonic() + 20
        while not (list(tmp_path.glob("wandb/offline*/run-*.wandb")) and rows_of(log_of(tmp_path))):
            assert time.monotonic() < deadline
            time.sleep(0.05)
    finally:
        end(process)
    assert rows_of(log_of(tmp_path)) == [{"a": "1", "_step": "0"}]


def test_sixteen_threads(tmp_path: Path) -> None:
    script = START + (
        "import threading\n"
        "def work(n):\n"
        "    for i in range(200): wandb.log({f'thread/{n}': i, 'n': n})\n"
        "threads = [threading.Thread(target=work, args=(n,)) for n in range(16)]\n"
        "[t.start() for t in threads]; [t.join() for t in threads]\n"
    )
    run_script(script, tmp_path)
    rows = rows_of(log_of(tmp_path))
    assert [int(row["_step"]) for row in rows] == list(range(3200))
    for n in range(16):
        values = [int(row[f"thread/{n}"]) for row in rows if row["n"] == str(n)]
        assert values == list(range(200))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_leaves_the_log_alone(tmp_path: Path) -> None:
    script = START + (
        "import os, sys\n"
        "wandb.log({'parent': 0})\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    print('from the child')\n"
        "    run.log({'child': 1}); run.config.update({'child': 1}); run.summary['child'] = 1\n"
        "    sys.exit(9)\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 9\n"
        "wandb.log({'parent': 1})\n"
    )
    done = run_script(script, tmp_path)
    assert done.stderr.count("belongs to the parent") == 1
    log = log_of(tmp_path)
    assert [row["parent"] for row in rows_of(log)] == ["0", "1"]
    assert printed(log, 1) == ""
    assert exit_code(tmp_path) == 0
    assert not of_kind(log, "config")


def test_a_child_can_have_a_run_of_its_own(tmp_path: Path) -> None:
    script = START + (
        "import multiprocessing\n"
        "def work():\n"
        f"    with wandb.init(project='p', id='child', settings={QUIET}) as own: own.log({{'child': 1}})\n"
        "p = multiprocessing.get_context('fork').Process(target=work); p.start(); p.join()\n"
        "assert p.exitcode == 0\n"
        "wandb.log({'parent': 1})\n"
    )
    run_script(script, tmp_path)
    (child,) = tmp_path.glob("wandb/offline-*-child/run-child.wandb")
    assert rows_of(child) == [{"child": "1", "_step": "0"}]
    (parent,) = (path for path in tmp_path.glob("wandb/offline-*/run-*.wandb") if path != child)
    assert rows_of(parent) == [{"parent": "1", "_step": "0"}]


def test_the_directory(tmp_path: Path) -> None:
    script = (
        "import recorder\nfor i in range(3): recorder.init(project='p', id='same', settings={}).finish()\n".replace(
            "{}", QUIET
        )
    )
    run_script(script, tmp_path)
    runs = sorted(tmp_path.glob("wandb/offline-run-*"))
    assert len(runs) == 3
    assert all(path.name.endswith("-same") and (path / "run-same.wandb").is_file() for path in runs)
    assert all((path / "files").is_dir() for path in runs)
    assert os.readlink(tmp_path / "wandb" / "latest-run") == runs[-1].name
    assert not list(tmp_path.glob("wandb/.latest*"))


def test_a_directory_that_cannot_be_written_falls_back(tmp_path: Path) -> None:
    (tmp_path / "wandb").write_text("in the way")
    (tmp_path / "tmp").mkdir()
    run_script(START + "wandb.log({'a': 1})", tmp_path, environ={"TMPDIR": str(tmp_path / "tmp")})
    assert rows_of(log_of(tmp_path / "tmp")) == [{"a": "1", "_step": "0"}]


def test_nothing_can_be_written_and_the_training_goes_on(tmp_path: Path) -> None:
    (tmp_path / "wandb").write_text("in the way")
    (tmp_path / "tmp").mkdir()
    (tmp_path / "tmp" / "wandb").write_text("in the way")
    script = START + "wandb.log({'a': 1}); print(wandb.summary['a'], run.disabled)"
    done = run_script(script, tmp_path, environ={"TMPDIR": str(tmp_path / "tmp")})
    assert done.stdout == "1 True\n"
    assert "nothing is recorded" in done.stderr


def test_disabled_writes_nothing(tmp_path: Path) -> None:
    script = "import recorder as wandb\nrun = wandb.init(mode='disabled', config={'a': 1})\n" + (
        "wandb.log({'x': 1}, step=3); wandb.summary['y'] = 2; wandb.config.b = 3\n"
        "wandb.define_metric('x', summary='max'); run.name = 'n'\n"
        "print(wandb.config.a, wandb.config.b, wandb.summary['y'], run.disabled)\n"
        "wandb.finish()\n"
    )
    done = run_script(script, tmp_path)
    assert done.stdout == "1 3 2 True\n"
    assert done.stderr == ""
    assert list(tmp_path.iterdir()) == []


def test_online_is_recorded_and_says_once_how_to_upload(tmp_path: Path) -> None:
    script = START + "run.finish()\nwandb.init(settings=dict(x_disable_stats=True, x_save_requirements=False)).finish()"
    done = run_script(script, tmp_path, environ={"WANDB_MODE": "online"})
    assert done.stderr.count("not uploaded") == 1
    assert "wandb sync " in done.stderr


def test_another_init_gives_the_active_run_back(tmp_path: Path) -> None:
    script = START + (
        "assert wandb.init() is run\n"
        "new = wandb.init(reinit='create_new', settings={})\n"
        "assert new is not run and wandb.run is run\n"
        "third = wandb.init(reinit=True, settings={})\n"
        "assert run.exit_code == 0 and new.exit_code == 0 and wandb.run is third\n"
    ).replace("{}", QUIET)
    run_script(script, tmp_path)
    assert len(list(tmp_path.glob("wandb/offline-run-*"))) == 3


def test_before_and_after_a_run(tmp_path: Path) -> None:
    script = START.replace("run =", "assert wandb.run is None\nrun =") + (
        "assert wandb.run is run\n"
        "from recorder.run import Run\n"
        "assert isinstance(wandb.run, Run) and wandb.config is run.config and wandb.summary is run.summary\n"
        "wandb.finish()\n"
        "assert wandb.run is None\n"
        "for call in (lambda: wandb.log({}), lambda: wandb.config.x, lambda: wandb.summary['x']):\n"
        "    try: call()\n"
        "    except wandb.Error as error: print(error)\n"
        "try: run.log({'a': 1})\n"
        "except wandb.UsageError as error: print(error)\n"
        "wandb.finish()\n"
    )
    lines = run_script(script, tmp_path).stdout.splitlines()
    assert len(lines) == 4
    assert all("init()" in line for line in lines[:3])
    assert "is finished" in lines[3]


def test_config_and_summary_are_there_before_a_run_and_of_no_use() -> None:
    for name in ("config", "summary"):
        assert hasattr(recorder, name)
        place = getattr(recorder, name)
        assert not hasattr(place, "lr")
        assert name in repr(place)
        for kind, call in (
            (AttributeError, lambda place=place: place.lr),
            (AttributeError, lambda place=place: setattr(place, "lr", 1)),
            (AttributeError, lambda place=place: place.update({"lr": 1})),
            (KeyError, lambda place=place: place["lr"]),
            (recorder.Error, lambda place=place: dict(place)),
            (recorder.Error, lambda place=place: "lr" in place),
            (recorder.Error, lambda place=place: len(place)),
        ):
            with pytest.raises(kind, match=r"^You must call init\(\) before ") as caught:
                call()
            assert isinstance(caught.value, recorder.Error)


def test_values_that_are_none_of_json_are_stored_as_text(tmp_path: Path) -> None:
    script = START + (
        "class Odd:\n"
        "    def __repr__(self): return 'odd!'\n"
        "class Bad:\n"
        "    def __repr__(self): raise ValueError('no')\n"
        "for i in range(3): wandb.log({'odd': Odd(), 'bad': Bad(), 'good': i, 'bytes': b'\\xff'})\n"
        "loop = []; loop.append(loop)\n"
        "round = {}; round['a'] = round['b'] = round\n"
        "deep = {}\n"
        "for i in range(5000): deep = {'a': deep}\n"
        "class Silent:\n"
        "    def __getattr__(self, name): raise ValueError\n"
        "wandb.log({'loop': loop, 'good': 3, 'round': round, 'deep': deep, 'silent': Silent()})\n"
        "wandb.summary['round'] = round; wandb.summary['deep'] = deep\n"
        "wandb.summary['odd'] = Odd(); wandb.config['odd'] = Odd()\n"
    )
    done = run_script(script, tmp_path)
    assert done.stderr.count("'odd' is stored as text") == 2  # of a row, and of the summary
    assert done.stderr.count("'bad' is stored as text") == 1
    rows = rows_of(log_of(tmp_path))
    assert [row["good"] for row in rows] == ["0", "1", "2", "3"]
    assert rows[0]["odd"] == '"odd!"'
    assert "Bad" in rows[0]["bad"]
    assert {"loop", "round", "deep", "silent"} <= set(rows[3])
    assert "'silent' is stored as text: ValueError\n" in done.stderr
    assert done.stderr.count("contains itself, or is too deep") == 5


def test_no_value_of_the_config_is_in_the_way_of_what_follows(tmp_path: Path) -> None:
    script = START + (
        "class Bad:\n"
        "    def __getattr__(self, name): raise RuntimeError('no ' + name)\n"
        "    def __repr__(self): raise RuntimeError('no text')\n"
        "class Half(float):\n"
        "    def __float__(self): raise ValueError('no')\n"
        "loop = {}; loop['a'] = loop\n"
        "deep = []\n"
        "for i in range(5000): deep = [deep]\n"
        "half = {}\n"
        "for i in range(300): half = {'a': half}\n"
        "values = {'huge': 10**5000, 'in': {'huge': [-(10**5000)]}, 'loop': loop, 'deep': deep, 'half': half,\n"
        "          'bad': Bad(), 'float': Half(1), 'fine': 1}\n"
        "for key, value in values.items(): run.config[key] = value\n"
        "try: run.config['huge'] = 1\n"
        "except wandb.Error as error: print('refused')\n"
        "run.name = 'named'\n"
        "run.log({'a': 1})\n"
    )
    done = run_script(script, tmp_path)
    assert done.stdout == "refused\n"
    assert 0 < done.stderr.count("WARNING") <= 5
    run = of_kind(log_of(tmp_path), "run")[-1]
    config = {item.key: json.loads(item.value_json) for item in run.config.update}
    assert run.display_name == "named"
    assert config["fine"] == 1
    assert config["huge"] == hex(10**5000)
    assert {"in", "loop", "deep", "half", "bad", "float"} <= set(config)
    assert exit_code(tmp_path) == 0


def test_steps_beyond_64_bits(tmp_path: Path) -> None:
    script = START + (
        "run.log({'a': 1}, step=10**30); run.log({'a': 2}, step=2**63); run.log({'a': 3}); run.log({'a': 4})\n"
        "run.log({'a': 5}, step=2**63 - 1); run.log({'a': 6}); run.log({'a': 7}); run.log({'a': 8})\n"
    )
    done = run_script(script, tmp_path)
    assert done.stderr.count("WARNING") == 2
    assert rows_of(log_of(tmp_path)) == [
        {"a": "3", "_step": "0"},
        {"a": "4", "_step": "1"},
        {"a": "6", "_step": str(2**63 - 1)},
    ]
    assert [row.step.num for row in of_kind(log_of(tmp_path), "history")] == [0, 1, 2**63 - 1]


def test_big_values_in_quick_succession_are_all_there(tmp_path: Path) -> None:
    script = START + (
        "for i in range(3): run.log({'text': 'x' * 30_000_000, 'list': [1]})\n"
        "for i in range(3): run.log({'text': 'x' * 30_000_000})\n"
    )
    done = run_script(script, tmp_path)
    assert "missing" not in done.stderr
    assert len(of_kind(log_of(tmp_path), "history")) == 6
    assert exit_code(tmp_path) == 0


def test_arguments_that_cannot_be_meant(tmp_path: Path) -> None:
    script = START + (
        "nan = float('nan')\n"
        "for call in (lambda: run.alert('t', 'x', wait_duration=nan), lambda: run.alert('t', 'x', wait_duration='x'),\n"
        "             lambda: setattr(run, 'tags', None), lambda: run.log({('a', 'b'): 1}), lambda: run.log({1: 2}),\n"
        "             lambda: wandb.init(settings=5), lambda: wandb.init(id='..', reinit='create_new')):\n"
        "    try: call()\n"
        "    except (TypeError, wandb.UsageError) as error: print(error)\n"
        "run.alert(5, None, wait_duration=1e300)\n"
    )
    lines = run_script(script, tmp_path).stdout.splitlines()
    assert len(lines) == 7
    words = ["not nan", "not 'x'", "not None", "not ('a', 'b')", "not 1", "not 5", "run_id"]
    assert [word in line for word, line in zip(words, lines, strict=True)] == [True] * 7
    (alert,) = of_kind(log_of(tmp_path), "alert")
    assert (alert.title, alert.text) == ("5", "None")
    assert not of_kind(log_of(tmp_path), "history")


@pytest.mark.parametrize("bad", ["3", "None", "[1]", "{1: 2}", "{'a': 1}, step='3'", "{'a': 1}, step=1.5"])
def test_calls_that_cannot_be_meant_raise(bad: str, tmp_path: Path) -> None:
    script = START + f"try: wandb.log({bad})\nexcept TypeError as error: print('refused')\nwandb.log({{'a': 1}})"
    assert run_script(script, tmp_path).stdout == "refused\n"
    assert rows_of(log_of(tmp_path)) == [{"a": "1", "_step": "0"}]


def test_a_full_disk_does_not_stop_the_training(tmp_path: Path) -> None:
    script = START + (
        "import resource, signal\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20000, resource.RLIM_INFINITY))\n"
        "import time\n"
        "for i in range(900): wandb.log({'a': i})\n"
        "time.sleep(1.5)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))\n"
        "wandb.log({'a': 900})\n"
    )
    done = run_script(script, tmp_path)
    assert done.stderr.count("WARNING") == 1
    assert [int(row["a"]) for row in rows_of(log_of(tmp_path))] == list(range(901))
    assert exit_code(tmp_path) == 0


def test_the_first_records(tmp_path: Path) -> None:
    script = "import recorder\nrecorder.init(project='p', name='n', tags=['t'], config={'a': {'b': 1}}, group='g', "
    script += "job_type='j', notes='o', entity='e', resume='allow', id='x').finish()"
    run_script(script, tmp_path)
    found = records_of(log_of(tmp_path))
    assert [records.kind(record) for record in found[:3]] == ["header", "run", "environment"]
    assert [record.num for record in found] == list(range(1, len(found) + 1))
    run = found[1].run
    assert (run.run_id, run.display_name, run.project, run.entity) == ("x", "n", "p", "e")
    assert (run.run_group, run.job_type, run.notes, list(run.tags), run.resume) == ("g", "j", "o", ["t"], True)
    assert {item.key: item.value_json for item in run.config.update} == {"_wandb": "{}", "a": '{"b":1}'}
    assert abs(run.start_time.seconds - log_of(tmp_path).stat().st_mtime) < 60
    assert (log_of(tmp_path).parent / "files" / "requirements.txt").read_text().count("==") > 3
    kinds = {records.kind(record) for record in found}
    assert {"environment", "files", "telemetry", "summary", "exit"} <= kinds


def test_the_face_is_light() -> None:
    script = "import sys, recorder; print(len(sys.modules), [m for m in ('json', 'asyncio', 'psutil', 'numpy', "
    script += "'subprocess', 'threading', 'dataclasses') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], env=environment(), capture_output=True, text=True, check=True)
    assert done.stdout.split(" ", 1)[1].strip() == "[]"


def test_what_the_face_offers() -> None:
    assert recorder.Histogram is not None
    assert recorder.AlertLevel.WARN.value == "WARN"
    assert issubclass(recorder.UsageError, recorder.Error)
    assert recorder.run is None
    assert recorder.login() is False
    with pytest.raises(AttributeError):
        _ = recorder.no_such_thing
