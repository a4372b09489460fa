"""Console text on its way into the log, and rendered into a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from recorded import QUIET, log_of, of_kind, printed, run_script

from recorder.output_log import OutputLog
from recorder.transcript import Transcript

START = f"import recorder as wandb\nrun = wandb.init(project='p', settings={QUIET})\n"


def rendered(path: Path, *pieces: tuple[str, str]) -> list[str]:
    log = OutputLog(path)
    for stream, text in pieces:
        log.write(stream, text)
    log.close()
    return path.read_text().split("\n")[:-1] if path.exists() else []


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("one\ntwo", ["one", "two"]),
        ("a\n\nb\n", ["a", "", "b"]),
        ("\r 10%\r 50%\r100%\ndone\n", ["100%", "done"]),
        ("long line\rshort\n", ["shortline"]),
        ("long line\r\x1b[Kshort\n", ["short"]),
        ("\x1b[31mred\x1b[0m plain\n", ["\x1b[31mred\x1b[0m plain"]),
        ("a\nb\n\x1b[2Ax\n\ny", ["x", "b", "y"]),
        ("ab\bc\n", ["ac"]),
        ("x\x1b[3Cy\n", ["x   y"]),
        ("é😀\n", ["é😀"]),
        ("\x1b", []),
    ],
)
def test_what_is_left_on_the_screen(text: str, lines: list[str], tmp_path: Path) -> None:
    assert rendered(tmp_path / "whole", ("stdout", text)) == lines
    assert rendered(tmp_path / "apart", *(("stdout", c) for c in text if "\x1b" not in text)) == (
        [] if "\x1b" in text else lines
    )


def test_long_output_keeps_every_line(tmp_path: Path) -> None:
    pieces = [("stdout", f"{i}\n") for i in range(1000)]
    assert rendered(tmp_path / "log", *pieces) == [str(i) for i in range(1000)]


def test_streams_keep_the_order_of_their_lines(tmp_path: Path) -> None:
    pieces = [("stdout", "a\n"), ("stderr", "b\n"), ("stdout", "c\n")]
    assert rendered(tmp_path / "log", *pieces) == ["a", "b", "c"]


def test_pieces_are_joined_and_no_byte_is_lost() -> None:
    found: list[tuple[str, str]] = []
    transcript = Transcript(lambda stream, moment, text: found.append((stream, text)), None)
    for i in range(100):
        transcript.add("stdout", f"{i} ")
        transcript.add("stdout", "\n")
    transcript.add("stderr", "x")
    transcript.stop()
    assert len(found) <= 20
    assert "".join(text for stream, text in found if stream == "stdout") == "".join(f"{i} \n" for i in range(100))
    assert found[-1] == ("stderr", "x")


def test_a_run_has_few_records_and_a_rendered_file(tmp_path: Path) -> None:
    script = START + (
        "import sys\n"
        "for i in range(0, 101, 10): print(f'\\r{i}%', end='')\n"
        "print()\n"
        "print('a', 'b', 'c', sep='|')\n"
        "run.write_logs('explicit')\n"
        "print('\\x1b[31mlast\\x1b[0m', end='')\n"
    )
    run_script(script, tmp_path)
    log = log_of(tmp_path)
    bar = "".join(f"\r{i}%" for i in range(0, 101, 10))
    assert printed(log, 1) == f"{bar}\na|b|c\n\x1b[31mlast\x1b[0m"
    assert len(of_kind(log, "output_raw")) < 20
    assert (log.parent / "files" / "output.log").read_text() == "100%\na|b|c\nexplicit\n\x1b[31mlast\x1b[0m\n"


def test_a_rank_has_a_file_of_its_own(tmp_path: Path) -> None:
    run_script(START + "print('x')", tmp_path, environ={"WANDB_X_LABEL": "rank_3"})
    assert (log_of(tmp_path).parent / "files" / "output_rank_3.log").read_text() == "x\n"
