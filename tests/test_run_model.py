"""The model of a run: what its records add up to."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import WandbInspect, corpus_logs
from hypothesis import given
from hypothesis import strategies as st

from leet.model.run import RunModel
from leet.reading.batch import (
    Batch,
    Columns,
    ConsolePiece,
    Entry,
    HistoryBatch,
    Notice,
    Skipped,
    SummaryChanges,
    SystemBatch,
)
from leet.reading.records import message_class
from leet.reading.tail import read
from leet.reading.unparsed import Json
from recorder.transaction_log.wire import encode

NOW = 1_800_000_000.0
LOG = "/somewhere/wandb/offline-run-20260101_000000-abc123/run-abc123.wandb"


def message(kind: str, /, **fields: Any) -> Any:
    return message_class(kind).FromString(encode(kind, fields))


def config(**values: Any) -> Any:
    return message("ConfigRecord", **config_fields(**values))


def config_fields(**values: Any) -> dict[str, Any]:
    return {"update": [{"key": key, "value_json": json.dumps(value)} for key, value in values.items()]}


def batch(*entries: tuple[str, Any], **fields: Any) -> Batch:
    kept = tuple(Entry(i, 100 * i, kind, record) for i, (kind, record) in enumerate(entries, 1))
    return Batch(**({"end": 1000, "size": 1000, "modified": NOW, "records": len(kept)} | fields), entries=kept)


def rows(count: int = 1, first: int = 0, **metrics: float) -> HistoryBatch:
    names = tuple(metrics)
    starts = np.arange(0, len(names) * count + 1, count)
    values = np.repeat(np.array(list(metrics.values()), float), count)
    places = np.tile(np.arange(count, dtype=np.int32), len(names))
    steps = np.arange(first, first + count, dtype=float)
    return HistoryBatch(steps, steps * 2, steps + NOW, Columns(names, starts, places, values))


def system(time: float, **metrics: float) -> SystemBatch:
    count = len(metrics)
    values = np.array(list(metrics.values()), float)
    return SystemBatch(
        np.array([time]), Columns(tuple(metrics), np.arange(count + 1), np.zeros(count, np.int32), values)
    )


def test_a_run_waits_then_runs_then_ends():
    model = RunModel(LOG)
    assert model.identity.run_id == "abc123"
    assert str(model.state(NOW)) == "waiting (0 B so far)"
    model.apply(batch(end=7, size=7))
    assert str(model.state(NOW)) == "waiting (7 B so far)"
    assert model.last_step is None
    assert model.runtime is None
    change = model.apply(batch(("run", message("RunRecord", run_id="abc123", display_name="first try"))))
    assert change.overview
    assert not change.new_metrics
    assert model.state(NOW).name == "running"
    assert model.state(NOW + 599).name == "running"
    assert str(model.state(NOW + 660)) == "crashed (silent for 11 min)"
    change = model.apply(batch(history=rows(loss=0.5), modified=NOW + 700))
    assert change.metrics == ("loss",)
    assert change.new_metrics
    assert model.state(NOW + 701).name == "running"
    model.apply(batch(("exit", message("RunExitRecord", exit_code=0, runtime=90))))
    assert model.state(NOW + 10**6).name == "finished"
    assert model.runtime == 90


def test_data_after_the_exit_record_is_kept():
    model = RunModel(LOG)
    model.apply(batch(("exit", message("RunExitRecord", exit_code=3))))
    assert str(model.state(NOW)) == "failed (exit code 3)"
    model.apply(batch(history=rows(2, loss=1.0), summary=SummaryChanges([("loss",)], [Json("1")])))
    assert model.rows == 2
    assert model.summary.to_dict() == {"loss": 1}
    assert model.state(NOW).name == "failed"


def test_a_log_that_is_still_being_read_is_not_called_crashed():
    model = RunModel(LOG)
    model.apply(batch(("run", message("RunRecord", run_id="a")), end=100_000, size=10**9))
    assert str(model.state(NOW + 10**6)) == "reading"
    assert model.state(NOW + 10**6, loading=False).name == "crashed"
    model.apply(batch(end=10**9 - 5000, size=10**9))
    assert model.state(NOW + 10**6).name == "crashed"


def test_scalars_of_a_second_run_record_replace_and_its_config_is_merged():
    model = RunModel(LOG)
    first = message(
        "RunRecord",
        run_id="abc123",
        project="p",
        display_name="one",
        tags=["x", "y"],
        notes="n",
        start_time={"seconds": 10, "nanos": 500_000_000},
        git={"remote_url": "r", "commit": "c"},
        config=config_fields(lr=1, opt={"name": "adam", "eps": 1e-8}),
        summary={"update": [{"key": "best", "value_json": "3"}]},
    )
    model.apply(batch(("header", message("HeaderRecord", version_info={"producer": "0.31.0"})), ("run", first)))
    identity = model.identity
    assert (identity.name, identity.project, identity.tags, identity.start_time) == ("one", "p", ("x", "y"), 10.5)
    assert (identity.git_remote, identity.git_commit, identity.writer) == ("r", "c", "0.31.0")
    assert model.summary.to_dict() == {"best": 3}
    second = message(
        "RunRecord", run_id="abc123", display_name="two", tags=["z"], config=config_fields(opt={"name": "sgd"})
    )
    model.apply(batch(("run", second), ("config", config(lr=2))))
    assert (identity.name, identity.project, identity.tags, identity.notes) == ("two", "", ("z",), "")
    assert identity.start_time == 10.5
    assert model.config.to_dict() == {"lr": 2, "opt": {"name": "sgd", "eps": 1e-8}}


def test_a_run_without_a_name_is_called_by_its_id():
    model = RunModel("odd-file-name.wandb")
    assert model.identity.name == ""
    model.apply(batch(("run", message("RunRecord", run_id="xyz"))))
    assert model.identity.name == "xyz"


def test_forks_and_resumes_are_told():
    model = RunModel(LOG)
    branch = {"run": "parent", "metric": "_step", "value": 200.0}
    model.apply(batch(("run", message("RunRecord", run_id="a", branch_point=branch, resumed=True, starting_step=201))))
    assert model.identity.forked_from == "parent at _step = 200"
    assert model.identity.resumed
    assert model.identity.starting_step == 201


def test_config_can_be_removed_and_hold_what_is_no_json():
    model = RunModel(LOG)
    model.apply(batch(("config", config(a=1, b={"c": 2, "d": 3}))))
    removal = message("ConfigRecord", remove=[{"key": "a"}, {"nested_key": ["b", "c"]}])
    odd = message("ConfigRecord", update=[{"key": "x", "value_json": "{oops"}, {"key": "n", "value_json": "NaN"}])
    model.apply(batch(("config", removal), ("config", odd)))
    found = model.config.to_dict()
    assert math.isnan(found.pop("n"))
    assert found == {"b": {"d": 3}, "x": "{oops"}


def test_summary_changes_are_leaves_and_null_means_absent():
    model = RunModel(LOG)
    for path, text in (
        (("loss",), '{"min": 1, "last": 2}'),
        (("deep",), '{"x": 1}'),
        (("deep", "a", "b"), "1"),
        (("gone",), "1"),
        (("gone",), None),
        (("absent",), "1"),
        (("absent",), "null"),
        (("_wandb", "runtime"), "77"),
        (("inf",), "-Infinity"),
    ):
        change = model.apply(batch(summary=SummaryChanges([path], [None if text is None else Json(text)])))
        assert change.overview
    assert model.summary.to_dict() == {
        "loss": {"min": 1, "last": 2},
        "deep": {"a": {"b": 1}},
        "_wandb": {"runtime": 77},
        "inf": -math.inf,
    }
    assert [key for key, _ in model.summary.rows()] == ["deep.a.b", "inf", "loss.last", "loss.min"]
    assert model.runtime == 77


def test_environment_records_are_merged():
    model = RunModel(LOG)
    first = message("EnvironmentRecord", os="Linux", args=["--lr", "0.1 x"], started_at={"seconds": 1_700_000_000})
    gpu = {"name": "H200", "memory_total": 150 * 2**30}
    second = message(
        "EnvironmentRecord",
        os="Linux 6",
        cpu_count=4,
        memory={"total": 2**34},
        disk={"/": {"total": 2**40, "used": 2**39}},
        gpu_nvidia=[gpu, gpu],
        slurm={"job_id": "7"},
        writer_id="w",
    )
    model.apply(batch(("environment", first), ("environment", second), ("environment", first)))
    shown = dict(model.environment.rows())
    assert shown["os"] == "Linux"
    assert shown["args"] == "--lr '0.1 x'"
    assert shown["started_at"].startswith("2023-11-1")
    assert shown["memory.total"] == "16 GiB"
    assert shown["disk./.used"] == "512 GiB"
    assert shown["gpu_nvidia[1].memory_total"] == "150 GiB"
    assert shown["slurm.job_id"] == "7"
    assert "writer_id" not in shown
    assert model.environment.get("memory", "total") == 2**34
    gpus = message("EnvironmentRecord", gpu_nvidia=[{"name": "H100"}])
    model.apply(batch(("environment", gpus)))
    assert [g["name"] for g in model.environment.get("gpu_nvidia")] == ["H200", "H200", "H100"]


def test_the_other_records_are_counted_or_kept():
    model = RunModel(LOG)
    model.apply(
        batch(
            ("alert", message("AlertRecord", title="T", text="body", level="WARN")),
            ("preempting", message("RunPreemptingRecord")),
            ("files", message("FilesRecord", files=[{"path": "a"}, {"path": "b"}])),
            ("artifact", message("ArtifactRecord", name="m")),
            ("use_artifact", message("UseArtifactRecord", name="m")),
            ("telemetry", message("TelemetryRecord", cli_version="0.31.0")),
            ("final", message("FinalRecord")),
            ("unknown", None),
        )
    )
    assert [(a.title, a.text, a.level, a.ordinal) for a in model.alerts] == [("T", "body", "WARN", 1)]
    assert (model.files, model.artifacts_logged, model.artifacts_used, model.preempting) == (2, 1, 1, True)
    assert model.telemetry["cli_version"] == "0.31.0"
    assert model.records == 8


def test_console_system_and_texts():
    model = RunModel(LOG)
    piece = ConsolePiece("stdout", NOW, "hello\n")
    history = HistoryBatch(*[np.array([5.0])] * 3, rows().columns, {"note": (0, '"text"')})
    change = model.apply(batch(console=(piece,), system=system(NOW, cpu=5.0), history=history))
    assert change.console
    assert change.system == {"Process CPU"}
    assert change.new_system
    assert [line.text for line in model.console.lines(5)] == ["hello"]
    assert model.texts == {"note": (0, '"text"')}
    change = model.apply(batch(system=system(NOW + 15, cpu=6.0)))
    assert not change.new_system
    assert not change.console
    assert model.apply(batch(system=system(NOW + 30, **{"cpu/l:x": 6.0}))).new_system


def test_definitions_reach_the_metrics():
    model = RunModel(LOG)
    metric = message("MetricRecord", name="loss", step_metric="epoch")
    change = model.apply(batch(("metric", metric), history=rows(3, loss=1.0, epoch=4.0)))
    assert change.definitions
    assert model.metrics.x_of("loss")[0] == "epoch"


def test_runtime_is_that_of_the_newest_thing():
    model = RunModel(LOG)
    model.apply(batch(history=rows(3, a=1.0)))
    assert model.runtime == 4
    assert model.last_step == 2
    model.apply(batch(("run", message("RunRecord", run_id="a", start_time={"seconds": int(NOW)}))))
    model.apply(batch(system=system(NOW + 60, cpu=1.0)))
    assert model.runtime == 60


def test_damage_is_counted_and_bounded():
    model = RunModel(LOG)
    model.apply(batch(skipped=tuple(Skipped(i * 10, 5, "bad crc") for i in range(12_000))))
    assert model.skipped_bytes == 60_000
    assert len(model.skipped) == 10_000


def test_notices_are_passed_on():
    model = RunModel(LOG)
    change = model.apply(Notice("removed", "the log was removed"))
    assert (change.notice, model.notice, model.removed) == ("the log was removed", "the log was removed", True)
    model.apply(batch(history=rows(a=1.0)))
    assert not model.removed


def test_a_replaced_log_starts_afresh():
    model = RunModel(LOG)
    full = batch(
        ("run", message("RunRecord", run_id="old", config=config_fields(lr=1))),
        ("exit", message("RunExitRecord", exit_code=1)),
        ("alert", message("AlertRecord", title="T")),
        history=rows(5, old=1.0),
        system=system(NOW, cpu=1.0),
        summary=SummaryChanges([("old",)], [Json("1")]),
        console=(ConsolePiece("stdout", NOW, "old\n"),),
        skipped=(Skipped(0, 5, "bad"),),
    )
    model.apply(full)
    metrics, version = model.metrics, model.metrics.version("old")
    change = model.apply(batch(reset=True, history=rows(1, old=9.0)))
    assert change.reset
    assert change.new_metrics
    assert model.metrics is metrics
    assert model.metrics.series("old").values.tolist() == [9.0]
    assert model.metrics.version("old") > version
    assert model.identity.run_id == "abc123"
    assert model.state(NOW).name == "running"
    assert (model.alerts, model.skipped, model.skipped_bytes, model.exit_code) == ([], [], 0, None)
    assert not model.config
    assert not model.summary
    assert not model.console.lines(5)
    assert not model.system.charts()


@given(st.lists(st.integers(1, 6), max_size=6), st.integers(0, 3))
def test_how_a_log_is_cut_into_batches_does_not_matter(cuts: list[int], extra: int):
    whole, pieces = RunModel(LOG), RunModel(LOG)
    total = sum(cuts) + extra
    if total:
        whole.apply(batch(history=rows(total, a=1.0, b=2.0)))
    at = 0
    for size in [*cuts, extra]:
        if size:
            pieces.apply(batch(history=rows(size, first=at, a=1.0, b=2.0)))
            at += size
    assert whole.rows == pieces.rows
    assert whole.points == pieces.points
    for name in whole.metrics.names():
        for one, other in zip(whole.metrics.x_of(name), pieces.metrics.x_of(name), strict=True):
            assert np.array_equal(one, other)


@pytest.mark.parametrize("log", corpus_logs(), ids=lambda path: f"{path.parents[2].name}-{path.parent.name[-8:]}")
def test_real_logs_are_understood_as_wandb_does(log: Path, wandb_inspect: WandbInspect):
    model = RunModel(log)
    for piece in read(log):
        model.apply(piece)
    theirs = json.loads(wandb_inspect(log, "--summary").stdout, parse_int=whole_number)
    if "old_0.17.5_core" in str(log):
        # LEET cannot read blocks shifted by 7 bytes: it loses the exit record and most of the rest.
        assert model.state(NOW).name == "finished"
        assert model.last_step == 20
        return
    if not model.started:
        assert theirs["state"] == "unknown"
        return
    assert model.state(time.time(), loading=False).name == theirs["state"]
    assert model.last_step == theirs["step"] if "step" in theirs else model.last_step is None
    assert spelled(model.config.to_dict()) == (theirs.get("config") or {})
    assert spelled(model.summary.to_dict()) == (theirs.get("summary") or {})
    assert model.identity.run_id == theirs["run_id"]
    assert (model.identity.project, model.identity.notes) == (theirs["project"], theirs["notes"])
    assert list(model.identity.tags) == theirs["tags"]


def whole_number(digits: str) -> int | float:
    """Go spells large floats without an exponent."""
    return int(digits) if abs(int(digits)) < 2**63 else float(digits)


def spelled(tree: Any) -> Any:
    """As LEET prints it: no internal keys, non-finite numbers as words."""
    if isinstance(tree, dict):
        return {key: spelled(value) for key, value in tree.items() if key != "_wandb"}
    if isinstance(tree, list):
        return [spelled(value) for value in tree]
    if isinstance(tree, float) and not math.isfinite(tree):
        return "NaN" if math.isnan(tree) else "Infinity" if tree > 0 else "-Infinity"
    return tree
