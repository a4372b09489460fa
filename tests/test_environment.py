"""Facts about program and machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import uuid
from pathlib import Path

import pytest
from recorded import QUIET, environment, log_of, of_kind, run_script

from recorder import environment as facts
from recorder.settings import Settings


def git(directory: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=n", "-c", "user.email=e@x", "-c", "init.defaultBranch=main"]
    done = subprocess.run(["git", *identity, *arguments], cwd=directory, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    root = tmp_path / "project"
    (root / "sub").mkdir(parents=True)
    git(root, "init", "-q")
    git(root, "commit", "-q", "--allow-empty", "-m", "first")
    git(root, "remote", "add", "origin", "https://person:secret@example.org/team/project.git")
    monkeypatch.chdir(root / "sub")
    return root


def test_the_repository_is_read_without_git(repository: Path) -> None:
    found = facts.git_repository(Settings())
    assert found["root"] == str(repository)
    assert found["commit"] == git(repository, "rev-parse", "HEAD")
    assert found["remote_url"] == "https://example.org/team/project.git"


def test_packed_and_detached_heads(repository: Path) -> None:
    commit = git(repository, "rev-parse", "HEAD")
    git(repository, "pack-refs", "--all")
    assert facts.git_repository(Settings())["commit"] == commit
    git(repository, "checkout", "-q", "--detach")
    assert facts.git_repository(Settings())["commit"] == commit


def test_a_worktree(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = repository.parent / "tree"
    git(repository, "worktree", "add", "-q", "-b", "other", str(tree))
    git(tree, "commit", "-q", "--allow-empty", "-m", "second")
    monkeypatch.chdir(tree)
    found = facts.git_repository(Settings())
    assert found["commit"] == git(tree, "rev-parse", "HEAD") != git(repository, "rev-parse", "HEAD")
    assert found["remote_url"] == "https://example.org/team/project.git"


def test_a_repository_without_a_commit_or_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    monkeypatch.chdir(tmp_path)
    assert facts.git_repository(Settings()) == {"root": str(tmp_path)}
    assert facts.git_repository(Settings(disable_git=True)) == {}


def test_the_project_is_named_after_the_repository(repository: Path) -> None:
    script = repository / "sub" / "train.py"
    script.write_text(f"import recorder\nprint(recorder.init(settings={QUIET}).project)\n")
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=True, env=environment(), cwd=repository
    )
    assert done.stdout == "project-sub\n"
    (run,) = of_kind(log_of(repository), "run")
    assert run.git.commit == git(repository, "rev-parse", "HEAD")


def test_outside_of_a_repository(tmp_path: Path) -> None:
    done = run_script(f"import recorder\nprint(recorder.init(settings={QUIET}).project)", tmp_path)
    assert done.stdout == "uncategorized\n"


def test_the_program(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(f"import recorder\nrecorder.init(project='p', settings={QUIET})\n")
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__main__.py").write_text((tmp_path / "train.py").read_text())
    started = {}
    for how in (["train.py", "--lr", "é"], ["-m", "package", "x"]):
        subprocess.run([sys.executable, *how], cwd=tmp_path, env=environment(), check=True, capture_output=True)
        log = log_of(tmp_path)
        record = of_kind(log, "environment")[0]
        started[how[0]] = record
        shutil.rmtree(tmp_path / "wandb")
    script, module = started["train.py"], started["-m"]
    assert (script.program, list(script.args)) == (str(tmp_path / "train.py"), ["--lr", "é"])
    assert script.code_path_local == "train.py"
    assert (module.program, list(module.args)) == ("-m package", ["x"])
    assert script.host == facts.host_name()
    assert script.executable == sys.executable
    assert script.python.split()[1] == sys.version.split()[0]
    assert script.root == str(tmp_path)
    assert script.started_at.seconds > 1_700_000_000
    assert uuid.UUID(script.writer_id).version == 7


def test_facts_about_the_machine_come_with_and_without_metrics(tmp_path: Path) -> None:
    for name, settings in (("with", {}), ("without", {"x_disable_stats": True}), ("none", {"x_disable_meta": True})):
        (tmp_path / name).mkdir()
        script = f"import recorder, time\nrecorder.init(project='p', settings={settings})\ntime.sleep(1.5)"
        run_script(script, tmp_path / name)
    with_metrics = of_kind(log_of(tmp_path / "with"), "environment")
    without = of_kind(log_of(tmp_path / "without"), "environment")
    assert with_metrics[1].cpu_count_logical == without[1].cpu_count_logical == os.cpu_count()
    assert with_metrics[1].memory.total == without[1].memory.total > 0
    assert with_metrics[0].writer_id == with_metrics[1].writer_id
    assert of_kind(log_of(tmp_path / "with"), "stats")
    assert not of_kind(log_of(tmp_path / "without"), "stats")
    assert not of_kind(log_of(tmp_path / "none"), "environment")


def test_settings_know_better_than_the_machine(tmp_path: Path) -> None:
    settings = {
        "x_stats_cpu_count": 99,
        "x_stats_gpu_type": "NVIDIA H200",
        "x_disable_stats": True,
        "host": "h",
        "docker": "i",
    }
    run_script(f"import recorder, time\nrecorder.init(settings={settings})\ntime.sleep(1)", tmp_path)
    first, second = of_kind(log_of(tmp_path), "environment")
    assert (second.cpu_count, second.gpu_type) == (99, "NVIDIA H200")
    assert (first.host, first.docker) == ("h", "i")


def test_slurm(tmp_path: Path) -> None:
    run_script(
        f"import recorder\nrecorder.init(settings={QUIET})",
        tmp_path,
        environ={"SLURM_JOB_ID": "7", "SLURM_PROCID": "3"},
    )
    assert dict(of_kind(log_of(tmp_path), "environment")[0].slurm) == {"job_id": "7", "procid": "3"}


def test_torchrun_and_kubernetes(tmp_path: Path) -> None:
    environ = {"RANK": "3", "WORLD_SIZE": "8", "LOCAL_RANK": "1", "MASTER_ADDR": "10.0.0.1", "SLURM_JWT": "secret"}
    environ |= {"KUBERNETES_SERVICE_HOST": "10.0.0.2", "POD_NAME": "trainer-3", "POD_NAMESPACE": "ml"}
    run_script(f"import recorder\nrecorder.init(settings={QUIET})", tmp_path, environ=environ)
    assert dict(of_kind(log_of(tmp_path), "environment")[0].slurm) == {
        "torchrun.rank": "3",
        "torchrun.world_size": "8",
        "torchrun.local_rank": "1",
        "torchrun.master_addr": "10.0.0.1",
        "kubernetes.pod_name": "trainer-3",
        "kubernetes.pod_namespace": "ml",
    }


@pytest.mark.parametrize(
    ("environ", "label"),
    [
        ({"RANK": "3", "WORLD_SIZE": "8"}, "/l:rank_3"),
        ({"SLURM_PROCID": "5", "SLURM_NTASKS": "8"}, "/l:rank_5"),
        ({"RANK": "0", "WORLD_SIZE": "1"}, ""),
        ({}, ""),
    ],
)
def test_a_label_for_the_rank(environ: dict[str, str], label: str, tmp_path: Path) -> None:
    script = "import recorder, time\nwith recorder.init(project='p', settings={'x_label': 'auto'}) as run: "
    script += "run._parts[1].wait_for_first(10); print('x')"
    run_script(script, tmp_path, environ={"WANDB_X_SAVE_REQUIREMENTS": "false", **environ})
    log = log_of(tmp_path)
    keys = {item.key for stats in of_kind(log, "stats") for item in stats.item}
    assert f"memory_percent{label}" in keys
    assert [path.name for path in (log.parent / "files").iterdir()] == [
        f"output_{label.removeprefix('/l:')}.log" if label else "output.log"
    ]


def test_requirements_name_every_package_once() -> None:
    lines = facts.requirements().splitlines()
    names = [line.partition("==")[0].lower() for line in lines]
    assert len(names) == len(set(names)) > 3
    assert names == sorted(names)
    assert all(line.partition("==")[2] for line in lines)
