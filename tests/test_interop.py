"""What the recorder writes, read by the real `wandb` 0.31: `leet inspect`, and `wandb sync` to a server beside it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fake_backend import FakeBackend

ROOT = Path(__file__).resolve().parents[1]

SCRIPT = """
import sys, time
import recorder as wandb

run = wandb.init(
    project="interop", entity="somebody", name="a name", id="interop1", tags=["one", "two"], notes="note\\nwith lines",
    group="g", job_type="train", config={"lr": 3e-4, "net": {"layers": [64, 10], "act": "relu"}},
    settings={"x_stats_sampling_interval": 0.2},
)
run.define_metric("val/*", step_metric="epoch")
run.define_metric("loss", summary="min,max")
for i in range(300):
    wandb.log({"loss": 2.0 / (i + 1), "acc": i / 300, "epoch": i // 100, "flag": i % 2 == 0})
wandb.log({"val/f1": 0.5, "nested": {"deep": {"x": 1}}, "text": "é😀 \\x1b[31m", "nan": float("nan"), "none": None})
wandb.log({"big": 2**53 + 1, "list": [1, float("inf")], "held": 1}, step=400)
print("to stdout")
print("to stderr", file=sys.stderr)
wandb.config.update({"late": True})
wandb.summary["best"] = {"epoch": 2}
wandb.summary["gone"] = 1
del wandb.summary["gone"]
run.alert("look", "at this", level="WARN")
time.sleep(1)
"""


@pytest.fixture(scope="module")
def run_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("interop")
    environ = {name: value for name, value in os.environ.items() if not name.startswith("WANDB_")}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=directory,
        env={**environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    (found,) = directory.glob("wandb/offline-run-*-interop1")
    return found


def inspect(wandb_command: list[str], *arguments: str, cwd: Path | None = None) -> str:
    done = subprocess.run(
        [*wandb_command, "leet", "inspect", *arguments], cwd=cwd, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert "skipped" not in done.stderr
    assert "incomplete" not in done.stderr
    return done.stdout


def test_inspect_reads_every_record(run_directory: Path, wandb_command: list[str]) -> None:
    log = run_directory / "run-interop1.wandb"
    records = [json.loads(line) for line in inspect(wandb_command, "--json", str(log)).splitlines()]
    assert [record["num"] for record in records] == list(range(1, len(records) + 1))
    kinds = [record["type"] for record in records]
    # What the machine is comes in a second environment record, whenever it is known.
    assert [kind for i, kind in enumerate(kinds) if i < 3 or kind == "telemetry"][:4] == [
        "header",
        "run",
        "environment",
        "telemetry",
    ]
    assert kinds[-1] == "exit"
    assert "unknown" not in kinds
    assert {"stats", "files", "metric", "config", "alert", "output_raw"} <= set(kinds)

    rows = [record["history"] for record in records if record["type"] == "history"]
    assert len(rows) == 302
    for i, row in enumerate(rows[:300]):
        values = row["item"]
        assert values["_step"] == i == row["step"]["num"]
        assert (values["loss"], values["acc"]) == (2.0 / (i + 1), i / 300)
        assert (values["epoch"], values["flag"]) == (i // 100, i % 2 == 0)
    assert [row["item"]["_timestamp"] for row in rows] == sorted(row["item"]["_timestamp"] for row in rows)
    odd = rows[300]["item"]
    assert (odd["val/f1"], odd["epoch"], odd["nested.deep.x"]) == (0.5, 2, 1)
    assert (odd["text"], odd["nan"], odd["none"]) == ("é😀 \x1b[31m", "NaN", None)
    assert (rows[301]["item"]["big"], rows[301]["item"]["list"]) == (2**53 + 1, [1, "Infinity"])
    assert rows[301]["step"]["num"] == 400


def test_inspect_summarises_the_run(run_directory: Path, wandb_command: list[str]) -> None:
    found = json.loads(inspect(wandb_command, "--summary", "--json", cwd=run_directory.parents[1]))
    assert found["run_id"] == "interop1"
    assert found["state"] == "finished"
    assert found["project"] == "interop"
    assert found["name"] == "a name"
    assert found["config"] == {"lr": 3e-4, "net": {"layers": [64, 10], "act": "relu"}, "late": True}
    assert [line["line"] for line in found["console"]] == ["to stdout", "to stderr"]
    assert found["summary"]["loss"] == {"min": 2.0 / 300, "max": 2.0}
    assert "gone" not in found["summary"]


def test_sync_uploads_everything(run_directory: Path, wandb_command: list[str], tmp_path: Path) -> None:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("WANDB_")}
    with FakeBackend() as backend:
        environ |= {"WANDB_BASE_URL": backend.url, "WANDB_API_KEY": f"local-{'0' * 40}", "HOME": str(tmp_path)}
        environ |= {"WANDB_ERROR_REPORTING": "false"}
        done = subprocess.run(
            [*wandb_command, "sync", str(run_directory)],
            env=environ,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
        )
        said = done.stdout + done.stderr
    assert "ERROR" not in said, said
    assert (run_directory / "run-interop1.wandb.synced").exists(), said

    rows = backend.lines("wandb-history.jsonl")
    assert len(rows) == 302
    assert [row["_step"] for row in rows] == [*range(301), 400]
    assert [row["loss"] for row in rows[:300]] == [2.0 / (i + 1) for i in range(300)]
    assert rows[300]["nested"] == {"deep": {"x": 1}}
    assert rows[300]["nan"] == "NaN" or rows[300]["nan"] != rows[300]["nan"]
    assert rows[301]["big"] == 2**53 + 1

    summary = backend.lines("wandb-summary.json")[-1]
    assert summary["loss"] == {"min": 2.0 / 300, "max": 2.0}
    assert summary["best"] == {"epoch": 2}
    assert "gone" not in summary

    events = backend.lines("wandb-events.jsonl")
    assert len(events) >= 2
    assert any("system.proc.memory.rssMB" in event for event in events)
    assert all(0 <= event["_runtime"] < 60 for event in events)

    console = "".join(map(str, backend.lines("output.log")))
    assert "to stdout" in console
    assert "to stderr" in console
    assert backend.exit_codes == [0]
    check_identity(backend)


def check_identity(backend: FakeBackend) -> None:
    buckets = backend.operations("UpsertBucket")
    first = buckets[0]
    assert (first["name"], first["project"], first["entity"]) == ("interop1", "interop", "somebody")
    assert first["displayName"] == "a name"
    assert first["tags"] == ["one", "two"]
    assert (first["groupName"], first["jobType"], first["notes"]) == ("g", "train", "note\nwith lines")
    config: dict[str, Any] = json.loads(buckets[-1]["config"])
    assert config["lr"]["value"] == 3e-4
    assert config["net"]["value"] == {"layers": [64, 10], "act": "relu"}
    assert config["late"]["value"] is True
    assert {"config.yaml", "wandb-summary.json", "wandb-metadata.json", "requirements.txt"} <= set(backend.uploads)
    metadata = json.loads(backend.uploads["wandb-metadata.json"])
    assert metadata["cpu_count" if "cpu_count" in metadata else "cpuCount"] >= 1
    (alert,) = backend.operations("NotifyScriptableRunAlert")
    assert (alert["title"], alert["text"], alert["severity"]) == ("look", "at this", "WARN")
