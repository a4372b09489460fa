"""Artifacts: what they hold, what is refused, where the copies of their files lie, and what the record says."""

from __future__ import annotations

import base64
import hashlib
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from recorded import QUIET, log_of, of_kind, run_script

from recorder.artifact_names import all_aliases, all_tags, internal_name
from recorder.artifacts import Artifact
from recorder.errors import Error

START = f"import os, recorder as wandb\nrun = wandb.init(project='p', entity='e', id='r', settings={QUIET})\n"


def test_digests_are_those_of_the_sdk(tmp_path: Path) -> None:
    wandb = pytest.importorskip("wandb")
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "a.bin").write_bytes(bytes(range(256)) * 9000)
    (tmp_path / "d" / "empty").touch()
    mine, theirs = Artifact("a", "b"), wandb.Artifact("a", "b")
    for artifact in (mine, theirs):
        artifact.add_dir(str(tmp_path / "d"), name="sub")
        artifact.add_file(str(tmp_path / "d" / "a.bin"))
        with artifact.new_file("new.txt") as file:
            file.write("x")
        artifact.add_reference(f"file://{tmp_path}/d", name="ref")
    assert mine.digest == theirs.digest
    assert mine.size == theirs.size
    assert mine.paths == sorted(theirs.manifest.entries)


@pytest.mark.parametrize("name", ["", "a b", "a/b", "a:v1", "é", "x" * 129])
def test_names_that_artifacts_cannot_have(name: str) -> None:
    with pytest.raises(ValueError, match="name"):
        Artifact(name, "model")


@pytest.mark.parametrize("kind", ["run_table", "job", "wandb-history"])
def test_types_that_belong_to_the_run(kind: str) -> None:
    with pytest.raises(ValueError, match="type"):
        Artifact("a", kind)


def test_metadata_has_to_be_json_of_a_reasonable_size() -> None:
    assert json.loads(Artifact("a", "b", metadata={"n": float("nan"), "l": [1]}).record()["metadata"]) == {
        "n": None,
        "l": [1],
    }
    with pytest.raises(ValueError, match=r".+"):
        Artifact("a", "b", metadata={"i": float("inf")})
    with pytest.raises(ValueError, match="100"):
        Artifact("a", "b", metadata={str(i): i for i in range(101)})


@pytest.mark.parametrize("path", ["../a", "/etc/a", "a/../../b", "C:\\a", "..\\a", "", "nul\0"])
def test_paths_never_lead_out_of_an_artifact(path: str, tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.touch()
    with pytest.raises(ValueError, match="no path"):
        Artifact("a", "b").add_reference("s3://b/x", name=path or "/")
    with pytest.raises(ValueError, match="no path"):
        Artifact("a", "b").add_file(file, name=path or ".")


def test_a_place_is_taken_once(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("1")
    two.write_text("2")
    artifact = Artifact("a", "b")
    artifact.add_file(one, name="x")
    artifact.add_file(one, name="x")
    with pytest.raises(ValueError, match="another file"):
        artifact.add_file(two, name="x")
    with pytest.raises(ValueError, match="already"), artifact.new_file("x"):
        pass
    artifact.add_file(two, name="x", overwrite=True)
    assert artifact.size == 1
    artifact.remove("x")
    with pytest.raises(FileNotFoundError):
        artifact.remove("x")
    for wrong in (tmp_path / "none", tmp_path):
        with pytest.raises(ValueError, match="no file"):
            artifact.add_file(wrong)
    with pytest.raises(TypeError, match="media"):
        artifact.add("text", "x")


def test_aliases_tags_and_names_of_metrics() -> None:
    assert all_aliases("best") == ["best", "latest"]
    assert all_aliases(None) == ["latest"]
    assert all_tags(["a b", "a b", "c-d"]) == ["a b", "c-d"]
    for wrong in ("a:b", "a/b"):
        with pytest.raises(ValueError, match="alias"):
            all_aliases([wrong])
    with pytest.raises(ValueError, match="tag"):
        all_tags(["a.b"])
    internal = pytest.importorskip("wandb.sdk.artifacts._internal_artifact")
    for name in ("plain", "a/b", "é é", "run-x-Custom Chart Tables/t"):
        assert internal_name(name) == internal.sanitize_artifact_name(name)


def test_what_a_server_would_know_is_refused() -> None:
    for name in ("download", "get", "verify", "version"):
        with pytest.raises(Error, match="needs a server"):
            getattr(Artifact("a", "b"), name)
    with pytest.raises(AttributeError):
        Artifact("a", "b").something  # noqa: B018
    artifact = Artifact("a", "b")
    assert artifact.wait() is artifact


def contents(record: Any) -> dict[str, Any]:
    return {entry.path: entry for entry in record.manifest.contents}


def test_the_copies_outlive_what_the_script_does_to_its_files(tmp_path: Path) -> None:
    script = f"""
import os, tempfile, recorder as wandb
early = wandb.Artifact("early", "model")
with tempfile.TemporaryDirectory() as directory:
    path = os.path.join(directory, "w.bin")
    open(path, "w").write("weights")
    early.add_file(path)
{START}
open("c.txt", "w").write("first")
late = wandb.Artifact("late", "data")
late.add_file("c.txt")
open("c.txt", "w").write("second")
run.log_artifact(late)
run.log_artifact(early, aliases=["best"])
run.log_artifact("c.txt", name="again", type="data")
os.remove("c.txt")
run.finish()
"""
    run_script(script, tmp_path)
    log = log_of(tmp_path)
    records = {record.name: record for record in of_kind(log, "artifact")}
    found = {name: dict.fromkeys(contents(record)) for name, record in records.items()}
    assert found == {"late": {"c.txt": None}, "early": {"w.bin": None}, "again": {"c.txt": None}}
    expected = {"late": "first", "early": "weights", "again": "second"}
    for name, text in expected.items():
        (entry,) = records[name].manifest.contents
        copy = Path(entry.local_path)
        assert copy.parent == log.parent / "artifacts"
        assert copy.read_text() == text
        assert entry.digest == base64.b64encode(hashlib.md5(text.encode()).digest()).decode()
    assert list(records["early"].aliases) == ["best", "latest"]
    assert (records["late"].run_id, records["late"].project, records["late"].entity) == ("r", "p", "e")


def test_the_same_content_is_kept_once(tmp_path: Path) -> None:
    script = f"""{START}
open("w.bin", "w").write("x" * 1000)
for i in range(5):
    run.log_artifact("w.bin", name=f"checkpoint-{{i}}", type="model")
run.finish()
"""
    run_script(script, tmp_path)
    log = log_of(tmp_path)
    assert len(of_kind(log, "artifact")) == 5
    assert len(list((log.parent / "artifacts").iterdir())) == 1


def test_files_that_stay_are_not_copied(tmp_path: Path) -> None:
    script = f"""{START}
os.mkdir("artifacts")
open("artifacts/w.bin", "w").write("x")
artifact = wandb.Artifact("a", "b")
artifact.add_file("artifacts/w.bin", policy="immutable")
artifact.ttl = __import__("datetime").timedelta(days=2)
run.log_artifact(artifact)
run.finish()
"""
    run_script(script, tmp_path)
    (record,) = of_kind(log_of(tmp_path), "artifact")
    assert record.manifest.contents[0].local_path == str(tmp_path / "artifacts" / "w.bin")
    assert record.ttl_duration_seconds == timedelta(days=2).total_seconds()


def test_a_full_disk_costs_a_warning_and_the_copy(tmp_path: Path) -> None:
    script = f"""{START}
open("w.bin", "w").write("x")
open(os.path.join(run.sync_dir, "artifacts"), "w").write("in the way")
run.log_artifact("w.bin")
run.log({{"loss": 1}})
run.finish()
"""
    done = run_script(script, tmp_path)
    assert done.stderr.count("WARNING") == 1
    assert "are not copied" in done.stderr
    (record,) = of_kind(log_of(tmp_path), "artifact")
    assert record.manifest.contents[0].local_path == str(tmp_path / "w.bin")


def test_a_logged_artifact_is_closed(tmp_path: Path) -> None:
    script = f"""{START}
artifact = wandb.Artifact("a", "b")
run.log_artifact(artifact)
try:
    with artifact.new_file("x") as file: file.write("x")
except wandb.Error as error:
    print("refused", error)
run.finish()
"""
    assert "refused artifact a is logged already" in run_script(script, tmp_path).stdout


def test_several_runs_can_make_one_artifact(tmp_path: Path) -> None:
    script = f"""{START}
try:
    run.upsert_artifact(wandb.Artifact("a", "b"))
except TypeError as error:
    print("refused")
run.upsert_artifact(wandb.Artifact("a", "b"), distributed_id="all")
run.finish_artifact(wandb.Artifact("a", "b"), distributed_id="all")
run.finish()
"""
    assert "refused" in run_script(script, tmp_path).stdout
    records = of_kind(log_of(tmp_path), "artifact")
    assert [(record.distributed_id, record.finalize) for record in records] == [("all", False), ("all", True)]


def test_what_cannot_be_logged_is_refused(tmp_path: Path) -> None:
    script = f"""{START}
for wrong, kind in (("nothing.bin", ValueError), (3, TypeError)):
    try:
        run.log_artifact(wrong)
    except kind:
        print("refused")
for call in (run.use_artifact, run.use_model, run.link_model, run.restore):
    try:
        call("a:latest")
    except wandb.Error as error:
        print("refused", error)
run.finish()
"""
    assert run_script(script, tmp_path).stdout.count("refused") == 6
    assert of_kind(log_of(tmp_path), "artifact") == []


def test_code_is_what_the_sdk_takes_for_code(tmp_path: Path) -> None:
    for name in ("a.py", "sub/b.py", "Dockerfile.gpu", "requirements.txt", "data.bin", "wandb/c.py", "sub/wandb/d.py"):
        path = tmp_path / "src" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    script = f"""{START}
run.log_code("src")
run.log_code("src", name="chosen", include_fn=lambda path: path.endswith(".bin"), exclude_fn=lambda path, root: False)
print(run.log_code("src", include_fn=lambda path, root: False))
run.finish()
"""
    done = run_script(script, tmp_path)
    assert "None" in done.stdout
    assert "no code is recorded" in done.stderr
    log = log_of(tmp_path)
    code, chosen = of_kind(log, "artifact")
    assert set(contents(code)) == {"a.py", "sub/b.py", "Dockerfile.gpu", "requirements.txt", "sub/wandb/d.py"}
    assert (code.type, code.name.startswith("source-p-")) == ("code", True)
    assert set(contents(chosen)) == {"data.bin"}
    told = [item.value_json for record in of_kind(log, "config") for item in record.update if item.key == "_wandb"]
    assert [json.loads(text)["code_path"] for text in told] == [code.name, "chosen"]


def test_what_was_made_for_an_artifact_is_not_lost_with_the_first_trouble(tmp_path: Path) -> None:
    script = f"""{START}
blocked = os.path.join(run.sync_dir, "artifacts")
open(blocked, "w").write("in the way")
artifact = wandb.Artifact("a", "b")
with artifact.new_file("new.txt") as file: file.write("new")
artifact.add(wandb.Table(columns=["x"], data=[[1]]), "t")
os.remove(blocked)
run.log_artifact(artifact)
run.finish()
"""
    done = run_script(script, tmp_path)
    assert done.stderr.count("WARNING") == 1
    log = log_of(tmp_path)
    (record,) = of_kind(log, "artifact")
    assert [entry.path for entry in record.manifest.contents] == ["new.txt", "t.table.json"]
    for entry in record.manifest.contents:
        assert Path(entry.local_path).parent == log.parent / "artifacts"
        assert Path(entry.local_path).stat().st_size == entry.size
