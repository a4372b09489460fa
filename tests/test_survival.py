"""Runs killed at random moments: every survivor is read by this project, and by the SDK.

`LEET_TEST_KILLS=1000 pytest -n0 -o faulthandler_timeout=0 tests/test_survival.py` kills more of them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import WandbInspect
from fake_backend import FakeBackend
from recorded import ROOT, environment

ROUNDS = int(os.environ.get("LEET_TEST_KILLS", "50"))
PATIENCE = 300 + 2 * ROUNDS

KILL = """
import json, sys
from pathlib import Path
from benchmarks.survival import kill_runs
for run in kill_runs({rounds}, Path(sys.argv[1])):
    print(json.dumps([str(run.log or ""), run.logged, run.recorded, run.trouble]))
"""


@pytest.fixture(scope="module")
def survivors(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, int, int, str]]:
    """The log (or nothing), rows logged, rows recorded, what is wrong."""
    if not hasattr(os, "fork"):
        pytest.skip("this system has no fork")
    import json

    done = subprocess.run(
        [sys.executable, "-c", KILL.format(rounds=ROUNDS), str(tmp_path_factory.mktemp("killed"))],
        env=environment(),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    return [tuple(json.loads(line)) for line in done.stdout.splitlines()]


def test_every_log_is_whole_up_to_its_end(survivors: list[tuple[str, int, int, str]]) -> None:
    assert len(survivors) == ROUNDS
    assert [trouble for *_, trouble in survivors if trouble] == []
    assert sum(1 for log, *_ in survivors if log) > ROUNDS / 2
    recorded = sum(rows for _, _, rows, _ in survivors)
    assert recorded > sum(logged for _, logged, _, _ in survivors) / 3
    assert all(rows <= logged + 1 for _, logged, rows, _ in survivors)


def test_the_sdk_reads_them(survivors: list[tuple[str, int, int, str]], wandb_inspect: WandbInspect) -> None:
    left = [(log, rows) for log, _, rows, _ in survivors if log]
    with ThreadPoolExecutor(4) as pool:
        for done, (_, rows) in zip(pool.map(wandb_inspect, (log for log, _ in left)), left, strict=True):
            assert b"skipped" not in done.stderr
            assert done.stdout.count(b'"type":"history"') == rows


def test_the_server_gets_them(
    survivors: list[tuple[str, int, int, str]], wandb_command: list[str], tmp_path: Path
) -> None:
    rows = {Path(log): rows for log, _, rows, _ in survivors if rows}
    with FakeBackend() as backend:
        environ = {"WANDB_BASE_URL": backend.url, "WANDB_API_KEY": f"local-{'0' * 40}", "HOME": str(tmp_path)}
        said = subprocess.run(
            [*wandb_command, "sync", *(str(log.parent) for log in rows)],
            env=environment({**environ, "WANDB_ERROR_REPORTING": "false"}),
            cwd=tmp_path,
            capture_output=True,
            timeout=PATIENCE,
        )
        for log, expected in rows.items():
            run = log.stem.removeprefix("run-")
            assert len(backend.lines("wandb-history.jsonl", run)) == expected, said
