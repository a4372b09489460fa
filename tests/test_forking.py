"""Processes forked while our threads begin."""

from __future__ import annotations

import os
import threading
import time

import pytest

from recorder import forking

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


def child_status() -> int:
    pid = os.fork()
    if pid == 0:
        with forking.first_work():
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_a_fork_waits_for_the_first_work_of_threads() -> None:
    inside, done = threading.Event(), threading.Event()

    def work() -> None:
        with forking.first_work():
            inside.set()
            time.sleep(0.2)
            done.set()

    thread = threading.Thread(target=work)
    thread.start()
    inside.wait()
    assert child_status() == 0
    assert done.is_set()
    thread.join()


def test_work_that_hangs_is_not_waited_for_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forking._gate, "patience", 0.05)
    inside, release = threading.Event(), threading.Event()

    def hang() -> None:
        with forking.first_work():
            inside.set()
            release.wait()

    thread = threading.Thread(target=hang)
    thread.start()
    inside.wait()
    assert child_status() == 0
    assert forking._gate.patience == 0.0
    assert child_status() == 0
    release.set()
    thread.join()
