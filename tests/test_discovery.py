"""From what a person types to the log of a run."""

from __future__ import annotations

from pathlib import Path

import pytest
from sweep import sweep

from leet.cli import main
from leet.discovery import Found, NoRun, WorkspaceRoot, find_run, locate, open_target
from leet.model.workspace_directories import Directories


def run_directory(root: Path, name: str, log: bool = True) -> Path:
    directory = root / name
    directory.mkdir(parents=True)
    if log:
        (directory / f"run-{name.rpartition('-')[2]}.wandb").write_bytes(b":W&B\xbeeb"[:7])
    return directory


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with wandb/ and two runs, the older of which was linked as the latest."""
    old = run_directory(tmp_path / "wandb", "offline-run-20250101_000000-old")
    run_directory(tmp_path / "wandb", "run-20250301_000000-new")
    (tmp_path / "wandb" / "latest-run").symlink_to(old.name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_without_a_path_the_latest_run_of_wandb_is_meant(project: Path) -> None:
    found = locate(None, {})
    assert found.log.name == "run-old.wandb"
    assert found.others == 1


def test_a_broken_link_gives_way_to_the_newest_directory(project: Path) -> None:
    (project / "wandb" / "latest-run").unlink()
    (project / "wandb" / "latest-run").symlink_to("offline-run-20240101_000000-gone")
    for path in (None, "wandb", "wandb/latest-run", "."):
        assert find_run(path, {}).name == "run-new.wandb", path


def test_without_a_link_the_newest_directory_is_meant(project: Path) -> None:
    (project / "wandb" / "latest-run").unlink()
    assert find_run("wandb").name == "run-new.wandb"


def test_the_newest_run_that_has_a_log_is_meant(project: Path) -> None:
    (project / "wandb" / "latest-run").unlink()
    run_directory(project / "wandb", "run-20250401_000000-empty", log=False)
    assert find_run("wandb").name == "run-new.wandb"


def test_a_recording_of_the_machine_is_meant_only_where_there_is_no_other_run(tmp_path: Path) -> None:
    directory = run_directory(tmp_path / "wandb", "offline-run-20250401_000000-monitor-a1b2c3d4")
    assert find_run(str(tmp_path)).parent == directory
    training = run_directory(tmp_path / "wandb", "run-20250301_000000-new")
    assert find_run(str(tmp_path)).parent == training
    (tmp_path / "wandb" / "latest-run").symlink_to(directory.name)
    assert find_run(str(tmp_path)).parent == training
    assert find_run(str(directory)).parent == directory
    run_directory(tmp_path / "wandb", "run-20250302_000000-monitor-mine")
    assert find_run(str(tmp_path)).parent.name.endswith("monitor-mine")


@pytest.mark.parametrize(
    "path",
    [
        "wandb/run-20250301_000000-new",
        "wandb/run-20250301_000000-new/run-new.wandb",
        "wandb/../wandb/run-20250301_000000-new/",
    ],
)
def test_a_run_directory_and_its_file_are_the_run(project: Path, path: str) -> None:
    assert find_run(path).name == "run-new.wandb"
    assert locate(path).others == 0


def test_standing_in_a_run_directory(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project / "wandb" / "run-20250301_000000-new")
    assert find_run(None, {}).name == "run-new.wandb"


def test_standing_in_the_wandb_directory(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project / "wandb")
    assert find_run(None, {}).name == "run-old.wandb"


def test_the_variable_names_a_directory_that_is_or_holds_wandb(
    project: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert find_run(None, {"WANDB_DIR": str(project)}).name == "run-old.wandb"
    assert find_run(None, {"WANDB_DIR": str(project / "wandb")}).name == "run-old.wandb"


def test_a_path_wins_over_the_variable(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    assert find_run("wandb", {"WANDB_DIR": str(elsewhere)}).name == "run-old.wandb"


def refusal(path: str | None, environ: dict[str, str] | None = None) -> str:
    with pytest.raises(NoRun) as caught:
        find_run(path, environ or {})
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_refusals_say_what_is_wrong_and_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "give a PATH" in refusal(None)
    assert "no such file" in refusal("nowhere")
    assert "unset it or give a PATH" in refusal(None, {"WANDB_DIR": "/no/such/place"})
    (tmp_path / "notes.txt").write_text("hello")
    assert "not a run log" in refusal("notes.txt")
    (tmp_path / "empty").mkdir()
    assert "no runs here" in refusal("empty")
    (tmp_path / "wandb").mkdir()
    assert "no runs yet" in refusal(None)
    run_directory(tmp_path / "wandb", "run-20250301_000000-new", log=False)
    assert "none holds" in refusal("wandb")
    assert "without its" in refusal("wandb/run-20250301_000000-new")


def test_runs_further_below_are_said_to_be_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_directory(tmp_path / "b" / "wandb", "run-20250301_000000-new")
    assert refusal(".") == ".: no runs here, but further below; give b"
    run_directory(tmp_path / "a" / ".wandb", "run-20250301_000000-new")
    (tmp_path / "c").mkdir()
    assert refusal(".").endswith("further below; give a, or another of 2 such directories")
    assert refusal(str(tmp_path)).endswith(f"give {tmp_path / 'a'}, or another of 2 such directories")


def test_two_logs_in_one_directory_must_be_told_apart(tmp_path: Path) -> None:
    directory = run_directory(tmp_path, "run-20250301_000000-a")
    (directory / "run-b.wandb").write_bytes(b"")
    assert "run-a.wandb, run-b.wandb" in refusal(str(directory))


def test_a_misspelt_name_gets_a_hint(project: Path) -> None:
    assert "did you mean wandb/run-20250301_000000-new" in refusal("wandb/run-20250301_000000-nex")


def test_every_run_of_the_corpus_is_found(corpus: Path) -> None:
    for case in corpus.iterdir():
        if (case / "wandb").is_dir():
            log = find_run(str(case))
            assert log.suffix == ".wandb"
            assert log.is_file()


@pytest.mark.parametrize("path", [".", "wandb", "empty", "wandb/../wandb"])
def test_a_directory_of_runs_is_opened_as_such(project: Path, path: str) -> None:
    (project / "empty").mkdir()
    assert open_target(path, {}) == WorkspaceRoot(Path(path))


def test_several_directories_of_runs_below_are_opened_by_what_holds_them(project: Path) -> None:
    run_directory(project / "sweep" / "wandb", "run-20250301_000000-other")
    assert open_target(str(project), {}) == WorkspaceRoot(project)
    assert open_target("sweep", {}) == WorkspaceRoot(Path("sweep"))


@pytest.mark.parametrize(
    ("path", "name"),
    [
        (None, "run-old.wandb"),
        ("wandb/latest-run", "run-old.wandb"),
        ("wandb/run-20250301_000000-new", "run-new.wandb"),
        ("wandb/run-20250301_000000-new/run-new.wandb", "run-new.wandb"),
    ],
)
def test_one_run_is_opened_and_knows_where_the_others_are(project: Path, path: str | None, name: str) -> None:
    found = open_target(path, {})
    assert isinstance(found, Found)
    assert found.log.name == name
    assert found.root is not None
    assert found.root.resolve() == project / "wandb"


def test_in_a_run_directory_others_are_beside_it(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project / "wandb" / "run-20250301_000000-new")
    for path in (None, ".", "run-new.wandb"):
        found = open_target(path, {})
        assert isinstance(found, Found)
        assert found.root == project / "wandb"


def test_a_log_that_lies_alone_has_no_others(tmp_path: Path) -> None:
    (tmp_path / "run-x.wandb").write_bytes(b"")
    assert locate(str(tmp_path / "run-x.wandb")).root is None


def test_what_cannot_be_opened_says_why_in_both_ways(project: Path) -> None:
    run_directory(project / "wandb", "run-20250501_000000-none", log=False)
    for path in ("nowhere", "wandb/run-20250501_000000-none"):
        with pytest.raises(NoRun) as caught:
            open_target(path, {})
        assert str(caught.value) == refusal(path)


@pytest.mark.parametrize("odd", ["new\nline", "end\n", "\x1b[2J", "é", "a b", "\udcff"])
def test_run_directories_of_any_name_are_found(tmp_path: Path, odd: str) -> None:
    directory = run_directory(tmp_path / "wandb", f"run-20250101_000000-{odd}")
    assert find_run(str(tmp_path), {}).parent == directory
    assert [listing.names for listing in Directories(str(tmp_path)).find()] == [{directory.name}]


@pytest.mark.parametrize("command", [["plot"], ["export"], ["inspect", "--summary"]], ids=lambda words: words[0])
def test_commands_say_which_of_many_runs_they_took(
    tmp_path: Path, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    wandb = sweep(tmp_path, 3)
    assert main([*command, str(wandb)]) == 0
    newest = locate(str(wandb)).log
    assert capsys.readouterr().err.splitlines()[0] == f"leet {command[0]}: {newest} is the newest of 3 runs"
    assert main([*command, str(newest)]) == 0
    assert not capsys.readouterr().err
