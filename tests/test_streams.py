"""What the command line prints to, whatever the environment has done to it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from recorder.transaction_log.wire import encode, history_record
from recorder.transaction_log.writer import LogWriter

ROOT = Path(__file__).parents[1]
COMMANDS = ["inspect", "inspect --json", "inspect --summary", "plot", "export", "doctor", "--version"]


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("odd") / "run-é.wandb"
    writer = LogWriter(path)
    writer.append(encode("Record", {"run": {"run_id": "é", "project": "漢"}}))
    for step in range(3):
        writer.append(history_record([(("löss",), str(step))], step))
    writer.close()
    return path


def shell(line: str, *arguments: object, **environ: str) -> subprocess.CompletedProcess[bytes]:
    """`line` in bash; `leet` is the program, and `$1`, `$2`, … are the arguments."""
    return subprocess.run(
        [
            "bash",
            "-c",
            f'leet() {{ "{sys.executable}" -m leet "$@"; }}; {line}',
            "bash",
            *map(os.fsencode, map(str, arguments)),
        ],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environ},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
    )


def told(ended: subprocess.CompletedProcess[bytes]) -> str:
    """The one line that is said of a failure; it is nothing else than one line."""
    assert ended.returncode == 1, ended.stderr.decode()
    lines = [line for line in ended.stderr.decode().splitlines() if "--all prints" not in line]
    assert len(lines) == 1, lines
    return lines[0]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_a_full_disk_is_one_line(command: str, log: Path) -> None:
    arguments = "" if command == "--version" else '"$1"'
    assert (
        told(shell(f"leet {command} {arguments} > /dev/full", log)) == "leet: standard output: No space left on device"
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_a_closed_output_is_one_line(command: str, log: Path) -> None:
    arguments = "" if command == "--version" else '"$1"'
    assert told(shell(f"leet {command} {arguments} >&-", log)).startswith("leet: standard output: ")


@pytest.mark.parametrize("where", [">&-", "> /dev/full"])
def test_a_file_is_written_though_nothing_can_be_printed(where: str, log: Path, tmp_path: Path) -> None:
    ended = shell(f'leet export "$1" -o "$2" {where}', log, tmp_path / "table.csv")
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert len((tmp_path / "table.csv").read_text().splitlines()) == 4


@pytest.mark.parametrize("where", ["2>&-", "2>/dev/full", "<&-", "<&- >/dev/null 2>&-"])
def test_errors_that_nobody_can_be_told_leave_the_status(where: str, tmp_path: Path) -> None:
    assert shell(f'leet inspect "$1" {where}', tmp_path / "none").returncode == 1
    assert shell(f'leet "$1" {where}', tmp_path / "none").returncode == 1


@pytest.mark.parametrize("command", COMMANDS[:-1])
def test_a_narrow_encoding_shows_escapes(command: str, log: Path) -> None:
    ended = shell(f'leet {command} "$1"', log, PYTHONIOENCODING="ascii")
    assert ended.returncode == 0, ended.stderr.decode()
    if command != "export":  # whose tables are UTF-8 wherever they go
        assert ended.stdout.isascii()
    assert ended.stderr.isascii()


@pytest.mark.parametrize("command", [*COMMANDS[:-1], "--screenshot x.txt", ""])
@pytest.mark.parametrize("arguments", ['"$1"', '"$2" "$1"', '--nonsense="$1"'])
def test_nothing_that_was_typed_reaches_the_terminal_raw(command: str, arguments: str, log: Path) -> None:
    evil = os.fsdecode(b"/\x1b[31m\x07\r\xc2\x9b\xff")
    ended = shell(f"leet {command} {arguments}", evil, log)
    assert ended.returncode in (1, 2)
    said = ended.stderr.decode()
    assert said.replace("\n", "").isprintable(), said


def test_what_is_no_log_gives_no_picture(tmp_path: Path) -> None:
    for name, content, says in (("a", b"hello world", "not a W&B log"), ("b", b":W&B\xe1\xbe\x01", "version 1")):
        (tmp_path / f"run-{name}.wandb").write_bytes(content)
        picture = tmp_path / f"{name}.txt"
        assert says in told(shell('leet "$1" --screenshot "$2"', tmp_path / f"run-{name}.wandb", picture))
        assert not picture.exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["plott", "x"], "no command plott; did you mean plot?"),
        (["Inspect"], "no command Inspect; did you mean inspect?"),
        (["frobnicate", "x"], "no command frobnicate; `leet --help` names all"),
    ],
)
def test_a_mistyped_command_is_named(words: list[str], says: str, tmp_path: Path) -> None:
    ended = shell('cd "$1"; shift; leet "$@"', tmp_path, *words)
    assert (ended.returncode, ended.stderr.decode()) == (2, f"leet: {says}\n")


def test_a_path_that_looks_like_a_command_is_a_path(tmp_path: Path) -> None:
    (tmp_path / "plott").mkdir()
    ended = shell('cd "$1"; leet plott', tmp_path)
    assert "this is no terminal" in told(ended)  # the viewer was about to show the directory


@pytest.mark.parametrize(
    "line", ['leet "$1"', 'leet inspect "$1"', 'leet doctor "$1"', 'WANDB_DIR="$1" leet', 'WANDB_DIR="$1" leet doctor']
)
def test_the_home_of_nobody_is_a_name_of_a_file(line: str) -> None:
    assert "~nobody-of-that-name/x" in told(shell(line, "~nobody-of-that-name/x"))


@pytest.mark.parametrize("command", ["plot", "plot --system", "plot --log", "doctor", "export", "inspect --summary"])
def test_numbers_of_any_size_and_depth_are_no_matter_for_warnings(command: str, tmp_path: Path) -> None:
    writer = LogWriter(tmp_path / "run-big.wandb")
    deep = '{"a":' * 900 + "1" + "}" * 900
    for step in range(60):
        value = "-1.7e308" if step % 2 else "1.7e308"
        row = [(("big",), value), (("_timestamp",), value), (("_runtime",), value), (("deep",), deep)]
        writer.append(history_record(row, step))
        keys = ("cpu", "network.sent", "gpu.0.temp")
        stats = {"timestamp": {"seconds": step}, "item": [{"key": key, "value_json": value} for key in keys]}
        writer.append(encode("Record", {"stats": stats}))
    writer.close()
    ended = shell(f'leet {command} "$1"', tmp_path / "run-big.wandb")
    assert (ended.returncode, ended.stderr.decode()) == (0, "")
