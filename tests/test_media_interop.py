"""The same script under the recorder and under the real SDK 0.31: the same rows, files, artifacts and config."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import WandbInspect
from fake_backend import FakeBackend
from media_run import Recorded, record

OF_THE_SDK = ("cli_version", "m", "python_version", "t")


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory, wandb_inspect: WandbInspect) -> Recorded:
    pytest.importorskip("PIL")
    return record("recorder", tmp_path_factory.mktemp("ours"), wandb_inspect)


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory, wandb_inspect: WandbInspect) -> Recorded:
    pytest.importorskip("PIL")
    return record("wandb", tmp_path_factory.mktemp("theirs"), wandb_inspect)


def test_rows_are_those_of_the_sdk(ours: Recorded, theirs: Recorded) -> None:
    assert len(ours.rows) == len(theirs.rows) == 15
    for mine, other in zip(ours.rows, theirs.rows, strict=True):
        assert mine == other


def test_files_have_the_names_and_content_of_the_sdk(ours: Recorded, theirs: Recorded) -> None:
    assert ours.files == theirs.files
    assert len(ours.files) > 40
    for name in ours.files:
        assert (ours.directory / "files" / name).read_bytes() == (theirs.directory / "files" / name).read_bytes(), name


def test_every_file_is_recorded_once_and_with_its_policy(ours: Recorded, theirs: Recorded) -> None:
    assert recorded_files(ours) == recorded_files(theirs)
    assert {item["path"] for item in recorded_files(ours)} == ours.files


def recorded_files(run: Recorded) -> list[dict[str, str]]:
    return [item for record in run.of_kind("files") for item in record["files"]]


def test_artifacts_are_those_of_the_sdk(ours: Recorded, theirs: Recorded) -> None:
    mine, others = ours.artifacts(), theirs.artifacts()
    assert list(mine) == list(others)
    for name, artifact in mine.items():
        other = others[name]
        for part in (artifact, other):
            part["aliases"].sort()
        assert contents(artifact) == contents(other), name
        if name.endswith("arrays"):  # the columns of arrays have files with the time in them
            continue
        assert without(artifact, "contents") == without(other, "contents")


def contents(artifact: dict[str, Any]) -> dict[str, Any]:
    """Path → digest and size; a reference has its address, a file a copy that is there and is right."""
    found = {}
    for path, entry in artifact["contents"].items():
        if "local_path" in entry:
            assert Path(entry["local_path"]).stat().st_size == int(entry.get("size", 0))
        else:
            assert entry["ref"].startswith("file:///")
        drawn_apart = "serialized_data" in path or path.startswith("arrays")
        found["npz" if "serialized_data" in path else path] = None if drawn_apart else entry["digest"]
    return found


def without(value: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: item for name, item in value.items() if name not in names}


def test_the_config_describes_labels_charts_and_code_as_the_sdk_does(ours: Recorded, theirs: Recorded) -> None:
    assert described(ours) == described(theirs)
    assert {"mask/class_labels", "bounding_box/class_labels"} & set(described(ours)["_wandb"])
    assert len([name for name in described(ours) if name.startswith("_wandb.visualize")]) == 9


def described(run: Recorded) -> dict[str, Any]:
    found: dict[str, Any] = {"_wandb": {}}
    for config in run.of_kind("config"):
        for key, value in config["update"].items():
            if key == "_wandb":
                found["_wandb"].update(without(value, *OF_THE_SDK))
            else:
                found[key] = value
    return found


def test_media_in_the_summary_are_those_of_the_sdk(ours: Recorded, theirs: Recorded) -> None:
    assert last_summary(ours, "simg") == last_summary(theirs, "simg") != {}
    assert last_summary(ours, "stable") == last_summary(theirs, "stable") != {}


def last_summary(run: Recorded, key: str) -> Any:
    found = [record["update"][key] for record in run.of_kind("summary") if key in record.get("update", {})]
    return found[-1] if found else {}


def test_sync_uploads_every_file_and_artifact(ours: Recorded, wandb_command: list[str], tmp_path: Path) -> None:
    with FakeBackend() as backend:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("WANDB_")}
        done = subprocess.run(
            [*wandb_command, "sync", str(ours.directory)],
            env={
                **clean,
                "WANDB_BASE_URL": backend.url,
                "WANDB_API_KEY": f"local-{'0' * 40}",
                "WANDB_ERROR_REPORTING": "false",
                "HOME": str(tmp_path),
            },
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
        )
        said = done.stdout + done.stderr
    assert "ERROR" not in said, said
    assert (ours.directory / "run-media.wandb.synced").exists(), said
    for name in ours.files:
        assert backend.uploads[name] == (ours.directory / "files" / name).read_bytes()

    sent = uploaded_artifacts(backend)
    for name, artifact in ours.artifacts().items():
        files = {path for path, entry in artifact["contents"].items() if "local_path" in entry}
        assert (artifact["digest"], files) in sent, name
    assert len(backend.operations("CommitArtifact")) == len(ours.artifacts())
    rows = backend.lines("wandb-history.jsonl")
    assert rows[0]["img"]["path"] in backend.uploads
    assert rows[0]["deep"]["k"]["_type"] == "image-file"
    config = json.loads(backend.operations("UpsertBucket")[-1]["config"])["_wandb"]["value"]
    assert set(config["visualize"]) >= {"line", "series", "confusion", "nested.p"}


def uploaded_artifacts(backend: FakeBackend) -> list[tuple[str, set[str]]]:
    """Digest and files of each artifact that the server was sent."""
    created = [variables["input"] for variables in backend.operations("CreateArtifact")]
    sent: dict[str, set[str]] = {}
    for name in backend.uploads:
        artifact, _, path = name.partition("/")
        if artifact.startswith("artifact"):
            sent.setdefault(artifact, set()).add(path)
    digests = {f"artifact{number}": variables["digest"] for number, variables in numbered(backend)}
    assert len(created) == len(digests)
    return [(digests[artifact], files) for artifact, files in sent.items()]


def numbered(backend: FakeBackend) -> list[tuple[int, dict[str, Any]]]:
    """The calls that made artifacts, by the number that the server gave them."""
    calls = enumerate(backend.graphql, start=1)
    return [(number, variables["input"]) for number, (name, variables) in calls if name == "CreateArtifact"]
