"""A test that hangs is told of, and costs no other test its run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = """
from scheduling import Scheduling

def pytest_xdist_make_scheduler(config, log):
    return Scheduling(config, log)
"""
TESTS = """
import pytest, time

@pytest.mark.parametrize("number", range(NUMBER))
def test_one(number):
    while number in HANGING: time.sleep(0.1)
"""


@pytest.mark.parametrize(
    ("number", "hanging", "workers"),
    [(4, [0], 1), (4, [2, 3], 1), (9, [0, 1, 8], 2), (12, [0, 1, 2], 3)],
    ids=["first", "last", "among workers", "all at once"],
)
def test_tests_that_hang(tmp_path: Path, number: int, hanging: list[int], workers: int) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_some.py").write_text(TESTS.replace("NUMBER", str(number)).replace("HANGING", str(hanging)))
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\nfaulthandler_timeout = 1\nfaulthandler_exit_on_timeout = true\n"
        f"pythonpath = {Path(__file__).parent}\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", str(workers), "-p", "no:asyncio", str(tmp_path)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert f"{len(hanging)} failed, {number - len(hanging)} passed" in done.stdout, done.stdout
    assert "Timeout" in done.stderr  # behind which it says where
    assert "in test_one" in done.stderr
