"""The processes of this machine: the real ones, and how they are sorted, filtered and arranged."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leet.model.filter import TextFilter
from leet.model.process_watch import ProcessWatch
from leet.model.processes import SORT_KEYS, Process, Processes, arranged
from leet.model.safe_text import clean


def make(pid: int, parent: int = 1, **more: object) -> Process:
    known: dict[str, object] = {
        "user": "ada", "cpu": 0.0, "memory": 0, "threads": 1, "started": 0.0, "command": f"program {pid}"
    }  # fmt: skip
    return Process(pid=pid, parent=parent, **(known | more))  # type: ignore[arg-type]


@pytest.fixture
def busy() -> Iterator[subprocess.Popen[bytes]]:
    """A process that does nothing but work, under a name with an escape sequence in it."""
    child = subprocess.Popen([sys.executable, "-c", "while True: pass", "evil\x1b[2J\u202e[bold]"])
    try:
        yield child
    finally:
        child.kill()
        child.wait()


@pytest.mark.parametrize("proc", ["/proc", "/nowhere"], ids=["proc", "psutil"])
def test_a_busy_process_is_seen(busy: subprocess.Popen[bytes], proc: str) -> None:
    if proc == "/proc" and not os.path.exists("/proc/self/stat"):
        pytest.skip("no /proc here")
    processes = Processes(proc)
    first = {process.pid: process for process in processes.sample()}
    assert os.getpid() in first
    end = time.monotonic() + 20
    while True:  # until it was given a processor at all
        time.sleep(0.3)
        seen = {process.pid: process for process in processes.sample({busy.pid: 5 << 20})}[busy.pid]
        if seen.cpu > 1 or time.monotonic() > end:
            break
    assert 1 < seen.cpu < 150
    assert seen.parent == os.getpid()
    assert seen.gpu == 5 << 20
    assert seen.user == clean(psutil.Process(busy.pid).username())
    assert seen.threads == 1
    assert abs(seen.started - psutil.Process(busy.pid).create_time()) < 5
    assert 0.3 < seen.memory / psutil.Process(busy.pid).memory_info().rss < 3
    assert "while True: pass" in seen.command
    assert "␛[2J" in seen.command
    assert seen.command == clean(seen.command)


def test_processes_that_end_are_gone() -> None:
    processes = Processes()
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert child.pid in {process.pid for process in processes.sample()}
    child.communicate(b"\n")
    assert child.pid not in {process.pid for process in processes.sample()}


def test_a_number_that_is_used_again_is_another_process(tmp_path: Path) -> None:
    def write(started: int, ticks: int, name: str) -> None:
        fields = ["S", "1", *["0"] * 9, str(ticks), *["0"] * 5, "3", "0", str(started), "0", "7", "0"]
        (tmp_path / "77").mkdir(exist_ok=True)
        (tmp_path / "77" / "stat").write_text(f"77 ({name}) " + " ".join(fields))
        (tmp_path / "77" / "cmdline").write_bytes(name.encode() + b"\0--flag\0")

    (tmp_path / "self").mkdir()
    (tmp_path / "self" / "stat").write_text("")
    (tmp_path / "stat").write_text(f"cpu 1 2\nbtime {int(time.time()) - 1000}\n")
    write(1000, 500, "old (name) )")
    processes = Processes(str(tmp_path))
    (old,) = processes.sample()
    assert (old.command, old.threads, old.parent) == ("old (name) ) --flag", 3, 1)
    write(2000, 4, "new")
    (new,) = processes.sample()
    assert new.command == "new --flag"
    assert new.cpu < old.cpu


def test_another_program_in_the_same_process_is_read_anew() -> None:
    shell = subprocess.Popen(["sh", "-c", "read line; exec sleep 60"], stdin=subprocess.PIPE)
    try:
        processes = Processes()
        seen = {process.pid: process.command for process in processes.sample()}
        assert "read line" in seen[shell.pid]
        assert shell.stdin is not None
        shell.stdin.write(b"\n")
        shell.stdin.flush()
        for _ in range(200):
            seen = {process.pid: process.command for process in processes.sample()}
            if seen[shell.pid] == "sleep 60":
                break
            time.sleep(0.05)
        assert seen[shell.pid] == "sleep 60"
    finally:
        shell.kill()
        shell.wait()


def test_sorting() -> None:
    processes = [
        make(5, cpu=1.0, memory=10),
        make(3, cpu=9.0, memory=5, gpu=7),
        make(4, cpu=1.0, memory=30),
        make(9, gpu=0),
    ]

    def order(key: str) -> list[int]:
        return [row.process.pid for row in arranged(processes, key)]  # type: ignore[arg-type]

    assert order("cpu") == [3, 4, 5, 9]
    assert order("memory") == [4, 5, 3, 9]
    assert order("gpu") == [3, 9, 4, 5]
    assert order("pid") == [3, 4, 5, 9]


def test_a_tree_stands_below_its_roots_the_heaviest_first() -> None:
    processes = [
        make(1, 0),
        make(10, 1, cpu=5.0),
        make(20, 1),
        make(21, 20, cpu=30.0),
        make(22, 20, cpu=40.0),
        make(30, 99, cpu=1.0),
    ]
    rows = [f"{row.prefix}{row.process.pid}" for row in arranged(processes, "cpu", tree=True)]
    assert rows == ["1", "├─ 20", "│  ├─ 22", "│  └─ 21", "└─ 10", "30"]


def test_a_filter_keeps_parents_in_a_tree_only() -> None:
    processes = [make(1, 0, command="init"), make(2, 1, command="bash"), make(3, 2, command="python train.py")]
    wanted = TextFilter("train")
    assert [row.process.pid for row in arranged(processes, "cpu", wanted)] == [3]
    assert [row.process.pid for row in arranged(processes, "cpu", wanted, tree=True)] == [1, 2, 3]
    assert [row.process.pid for row in arranged(processes, "cpu", TextFilter("ada"))] == [1, 2, 3]
    assert [row.process.pid for row in arranged(processes, "cpu", TextFilter("2"))] == [2]


@given(parents=st.lists(st.integers(0, 30), max_size=30), key=st.sampled_from(SORT_KEYS), tree=st.booleans())
def test_every_process_is_in_the_list_once(parents: list[int], key: str, tree: bool) -> None:
    """Also where the numbers of parents make circles, which only a list read while it changes can have."""
    processes = [make(pid, parent, cpu=float(pid % 3)) for pid, parent in enumerate(parents, 1)]
    rows = arranged(processes, key, tree=tree)  # type: ignore[arg-type]
    shown = [row.process.pid for row in rows]
    assert sorted(shown) == [process.pid for process in processes]


def test_the_watch_samples_until_it_is_stopped() -> None:
    told: list[int] = []
    watch = ProcessWatch(0.1, lambda: told.append(watch.samples))
    watch.start()
    for _ in range(400):
        if watch.samples >= 3:
            break
        time.sleep(0.05)
    watch.stop(5.0)
    assert watch.samples >= 3
    assert os.getpid() in {process.pid for process in watch.latest}
    assert not watch._thread.is_alive()
    assert not watch.trouble
    samples = watch.samples
    time.sleep(0.3)
    assert watch.samples == samples


def test_thousands_of_processes_are_sampled_less_often() -> None:
    watch = ProcessWatch(2.0, lambda: None)
    watch.samples = 1
    assert watch.pause(0.001) < 2.0
    watch.samples = 2
    assert watch.pause(0.001) == 2.0
    assert watch.pause(0.5) == pytest.approx(20.0)
