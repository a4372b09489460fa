"""`wandb sync` of runs of every kind: what the server gets is what was logged, field by field."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fake_backend import FakeBackend
from recorded import QUIET, environment, of_kind, printed, rows_of, run_script

INIT = (
    f"import recorder as wandb\nrun = wandb.init(project='p', entity='somebody', config={{'lr': 0.1}}, settings={QUIET}"
)
ROWS = (
    "run.define_metric('val', step_metric='epoch')\n"
    "for i in range(20): run.log({'loss': 1 / (i + 1), 'epoch': i // 5, 'deep': {'x': [i, None], 'name': 'é'}})\n"
    "run.log({'val': float('inf'), 'big': 2**60 + 1})\n"
    "run.summary['best'] = {'at': 3}\nrun.config['late'] = [1, 2]\nrun.alert('title', 'text')\nprint('printed')\n"
)
CHILD = (
    "import os, sys\n"
    "pid = os.fork()\n"
    "if pid == 0:\n"
    "    child = wandb.attach()\n"
    "    for i in range(5): child.log({'child': i})\n"
    "    os._exit(0)\n"
    "os.waitpid(pid, 0)\n"
)
KINDS = {
    "plain": [INIT + ")\n" + ROWS],
    "resumed": [INIT + ", id='again', resume='allow')\n" + ROWS] * 2,
    "forked": [INIT + ", fork_from='other?_step=7')\n" + ROWS],
    "attached": [INIT + ")\n" + CHILD + ROWS],
    "redirected": [INIT[:-1] + ", 'console': 'redirect'})\n" + ROWS],
    "failed": [INIT + ")\n" + ROWS + "import sys; sys.exit(3)\n"],
    "as wandb": [
        f"import recorder; recorder.install_as_wandb()\n{INIT.replace('recorder as wandb', 'wandb')})\n{ROWS}"
    ],
}


def sync(log: Path, wandb_command: list[str], home: Path, backend: FakeBackend) -> str:
    environ = {"WANDB_BASE_URL": backend.url, "WANDB_API_KEY": f"local-{'0' * 40}", "HOME": str(home)}
    done = subprocess.run(
        [*wandb_command, "sync", str(log.parent)],
        env=environment({**environ, "WANDB_ERROR_REPORTING": "false"}),
        cwd=home,
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.stdout + done.stderr


def nested(row: dict[str, str]) -> dict[str, Any]:
    """A row of a log as the server gets it."""
    tree: dict[str, Any] = {}
    for key, text in row.items():
        *path, last = key.split(".")
        node = tree
        for part in path:
            node = node.setdefault(part, {})
        node[last] = json.loads(text)
    return tree


@pytest.mark.parametrize("kind", KINDS)
def test_the_server_gets_what_was_logged(kind: str, wandb_command: list[str], tmp_path: Path) -> None:
    for script in KINDS[kind]:
        run_script(script, tmp_path, status=3 if kind == "failed" else 0)
    log = max(tmp_path.glob("wandb/offline-run-*/run-*.wandb"))
    with FakeBackend() as backend:
        said = sync(log, wandb_command, tmp_path, backend)
    assert "ERROR" not in said, said
    assert log.with_name(f"{log.name}.synced").exists(), said
    sent = [
        {key: value for key, value in row.items() if key not in ("_runtime", "_timestamp")}
        for row in backend.lines("wandb-history.jsonl")
    ]
    logged = [nested(row) for row in rows_of(log)]
    assert len(sent) == len(logged) == (26 if kind == "attached" else 21)
    for ours, theirs in zip(logged, sent, strict=True):
        if "val" in theirs:
            assert float(theirs.pop("val")) == ours.pop("val") == float("inf")
        assert theirs == ours
    first = {"resumed": 21, "forked": 8}.get(kind, 0)
    assert [row["_step"] for row in sent] == list(range(first, first + len(sent)))
    summary = backend.lines("wandb-summary.json")[-1]
    assert (summary["best"], summary["big"], summary["loss"]) == ({"at": 3}, 2**60 + 1, 0.05)
    config = json.loads(backend.operations("UpsertBucket")[-1]["config"])
    assert (config["lr"]["value"], config["late"]["value"]) == (0.1, [1, 2])
    assert [alert["title"] for alert in backend.operations("NotifyScriptableRunAlert")] == ["title"]
    assert printed(log, 1) == "printed\n"
    assert "printed" in "".join(map(str, backend.lines("output.log")))
    assert backend.exit_codes == [3 if kind == "failed" else 0]
    assert len(of_kind(log, "exit")) == 1


def test_system_metrics_and_files(wandb_command: list[str], tmp_path: Path) -> None:
    """Every sample arrives as an event with its values, every file with its bytes."""
    (tmp_path / "notes.txt").write_text("kept with the run\n")
    script = (
        "import time\nimport recorder as wandb\n"
        "run = wandb.init(project='p', settings={'x_stats_sampling_interval': 0.3, 'x_save_requirements': False})\n"
        "run.save('notes.txt')\n"
        "wandb.log({'page': wandb.Html('<p>page</p>'), 'table': wandb.Table(columns=['a'], data=[[1], [2]])})\n"
        "time.sleep(2)\n"
    )
    run_script(script, tmp_path)
    log = max(tmp_path.glob("wandb/offline-run-*/run-*.wandb"))
    with FakeBackend() as backend:
        said = sync(log, wandb_command, tmp_path, backend)
    assert "ERROR" not in said, said
    samples = of_kind(log, "stats")
    events = backend.lines("wandb-events.jsonl")
    assert len(events) == len(samples) > 3
    for sample, event in zip(samples, events, strict=True):
        assert {f"system.{item.key}": json.loads(item.value_json) for item in sample.item} == {
            key: value for key, value in event.items() if key.startswith("system.")
        }
    saved = [path for path in (log.parent / "files").rglob("*") if path.is_file() and path.name != "output.log"]
    names = {path.relative_to(log.parent / "files").as_posix(): path.read_bytes() for path in saved}
    assert {"notes.txt"} < set(names)
    assert sum(name.startswith("media/") for name in names) >= 2
    sent = {name: body for name, body in backend.uploads.items() if name in names}
    assert {name: sent.get(name) for name in names} == names


def test_a_recorded_command(wandb_command: list[str], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "recorder", "--", "sh", "-c", "echo out; echo err >&2; exit 4"]
    subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, timeout=60)
    (log,) = tmp_path.glob("wandb/offline-run-*/run-*.wandb")
    with FakeBackend() as backend:
        said = sync(log, wandb_command, tmp_path, backend)
    assert "ERROR" not in said, said
    console = "".join(map(str, backend.lines("output.log")))
    assert "out" in console
    assert "err" in console
    assert any("system.memory_percent" in event for event in backend.lines("wandb-events.jsonl"))
    assert backend.exit_codes == [4]
