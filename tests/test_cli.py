"""The command line: what it accepts, what it says, and how it ends."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import leet
from leet import cli

ROOT = Path(__file__).parents[1]


def leet_command(*arguments: str, cwd: Path | None = None, **environ: str) -> subprocess.CompletedProcess[str]:
    """The real program in a process of its own, without a terminal."""
    return subprocess.run(
        [sys.executable, "-m", "leet", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environ},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_the_version_is_the_one_of_the_project() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        assert tomllib.load(file)["project"]["version"] == leet.__version__
    shown = leet_command("--version")
    assert (shown.returncode, shown.stdout) == (0, f"leet {leet.__version__}\n")


def test_help_names_every_command_and_nothing_that_is_not_there() -> None:
    shown = leet_command("--help")
    assert shown.returncode == 0
    for name, command in cli.COMMANDS.items():
        assert f"  {name:<9} {command.summary}" in shown.stdout


@pytest.mark.parametrize("name", list(cli.COMMANDS))
def test_every_command_has_help_under_its_own_name(name: str) -> None:
    shown = leet_command(name, "--help")
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.startswith(f"usage: leet {name}")


def test_no_run_is_one_line_and_status_1(tmp_path: Path) -> None:
    ended = leet_command(cwd=tmp_path)
    assert ended.returncode == 1
    assert ended.stderr.startswith("leet: no ./wandb here")
    assert ended.stderr.count("\n") == 1


def test_without_a_terminal_the_viewer_says_what_to_use_instead(corpus: Path) -> None:
    ended = leet_command(str(corpus / "scalars"))
    assert ended.returncode == 1
    assert "--screenshot" in ended.stderr


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--nonsense"], "unrecognized arguments"),
        (["--size", "80x24"], "belong to --screenshot"),
        (["--screenshot", "x.png"], "neither"),
        (["--screenshot", "x.txt", "--size", "80"], "no size"),
        (["--screenshot", "x.txt", "--size", "2x2"], "from 20x6"),
    ],
)
def test_wrong_usage_is_status_2(arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)
    assert ended.value.code == 2
    assert complaint in capsys.readouterr().err


def test_a_theme_that_is_not_there_is_status_2(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [str(corpus / "minimal"), "--theme", "mauve", "--screenshot", "x.txt"]
    assert cli.main(arguments) == 2
    assert "--theme list" in capsys.readouterr().err


def test_themes_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--theme", "list"]) == 0
    assert "leet-dark" in capsys.readouterr().out.split()


def test_a_path_named_like_a_command_is_reached_with_a_dot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "record").write_text("a name that a command has as well")
    monkeypatch.chdir(tmp_path)
    for arguments in (["./record"], ["run", "record"]):
        assert cli.main(arguments) == 1
        assert "record: not a run log" in capsys.readouterr().err


def test_a_reader_that_goes_away_is_no_error(corpus: Path) -> None:
    program = f"{sys.executable} -m leet inspect {corpus / 'scalars'} --json | head -c 10 > {os.devnull}"
    ended = subprocess.run(
        ["bash", "-c", program],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ended.stderr == ""


def test_a_picture_is_written(corpus: Path, tmp_path: Path) -> None:
    ended = leet_command(
        str(corpus / "scalars"), "--screenshot", "frame.txt", "--size", "120x40", cwd=tmp_path, LEET_NOW="1764500000"
    )
    assert ended.returncode == 0, ended.stderr
    lines = (tmp_path / "frame.txt").read_text().splitlines()
    assert len(lines) == 40
    assert "Metrics" in lines[0]


def test_a_picture_that_cannot_be_written_is_one_line(corpus: Path, tmp_path: Path) -> None:
    ended = leet_command(str(corpus / "minimal"), "--screenshot", str(tmp_path / "no" / "frame.svg"))
    assert ended.returncode == 1
    assert ended.stderr.count("\n") == 1
    assert "No such file" in ended.stderr


def test_an_unknown_key_is_wrong_usage(corpus: Path, tmp_path: Path) -> None:
    ended = leet_command(str(corpus / "minimal"), "--screenshot", "frame.txt", "--keys", "<hyper>", cwd=tmp_path)
    assert ended.returncode == 2
    assert "no key is called <hyper>" in ended.stderr


def test_programs_that_are_run_keep_their_environment(tmp_path: Path) -> None:
    environ = {key: value for key, value in os.environ.items() if key != "OPENBLAS_NUM_THREADS"}
    look = "import os; print('threads', os.environ.get('OPENBLAS_NUM_THREADS'))"
    ran = subprocess.run(
        [sys.executable, "-m", "leet", "record", "--", sys.executable, "-c", look],
        env={**environ, "PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "threads None" in ran.stdout
