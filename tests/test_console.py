"""The text a program printed: put together into lines, packed, bounded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from conftest import corpus_logs
from hypothesis import given
from hypothesis import strategies as st

from leet.model import console_lines
from leet.model.console import ConsoleLog
from leet.model.console_pieces import BLOCK, ConsolePieces
from leet.model.console_style import plain
from leet.model.run import RunModel
from leet.model.safe_text import UNSAFE
from leet.reading.batch import Batch, ConsolePiece
from leet.reading.tail import read


def log_of(*pieces: tuple[str, str], start: float = 100.0) -> ConsoleLog:
    log = ConsoleLog()
    log.append(ConsolePiece(stream, start + i, text) for i, (stream, text) in enumerate(pieces))  # type: ignore[arg-type]
    return log


def shown(log: ConsoleLog, limit: int = 10**6) -> list[tuple[str, str]]:
    return [(line.stream, line.text) for line in log.lines(limit)]


def test_pieces_become_lines_of_their_stream():
    log = log_of(("stdout", "a "), ("stderr", "oops\nno"), ("stdout", "b\nc\n"), ("stderr", "w\n"), ("stdout", "end"))
    assert shown(log) == [
        ("stdout", "a b"),
        ("stderr", "oops"),
        ("stderr", "now"),
        ("stdout", "c"),
        ("stdout", "end"),
    ]
    assert [line.timestamp for line in log.lines(100)] == [100, 101, 101, 102, 104]


def test_progress_bars_collapse_and_colours_are_kept_apart_from_the_text():
    log = log_of(
        ("stderr", "\r 10%"), ("stderr", "\r 50%"), ("stderr", "\r100%\n"), ("stdout", "\x1b[32mok\x1b[0m\r\n\n")
    )
    assert shown(log) == [("stderr", "100%"), ("stdout", "ok"), ("stdout", "")]
    assert log.kept.text(1) == "\x1b[32mok"


def test_a_bar_stays_where_it_began_while_the_other_stream_goes_on():
    log = log_of(("stderr", "\r 10%"))
    for step in range(5000):
        log.append([ConsolePiece("stdout", 200.0 + step, f"step {step}\n")])
        if step % 1000 == 0:
            log.append([ConsolePiece("stderr", 200.0 + step, f"\r {step}%")])
            log.settle()
    lines = log.lines(10**6)
    assert (lines[0].stream, lines[0].text, lines[0].timestamp) == ("stderr", " 4000%", 100.0)
    assert [line.text for line in lines[1:]] == [f"step {step}" for step in range(5000)]
    assert not log.kept.chunks[0].packed
    assert log.kept.chunks[1].packed


@given(
    st.lists(st.tuples(st.sampled_from(["stdout", "stderr"]), st.text("ab\n", max_size=6)), max_size=30),
    st.lists(st.integers(0, 30), max_size=4),
)
def test_lines_are_those_of_each_stream_however_they_are_settled(pieces, pauses: list[int]):
    log = ConsoleLog()
    for i, (stream, text) in enumerate(pieces):
        log.append([ConsolePiece(stream, float(i + 1), text)])
        if i in pauses:
            log.settle()
    lines = log.lines(10**6)
    for stream in ("stdout", "stderr"):
        whole = "".join(text for name, text in pieces if name == stream)
        expected = whole.split("\n")
        if expected[-1] == "":
            expected.pop()
        assert [line.text for line in lines if line.stream == stream] == expected
    times = [line.timestamp for line in lines]
    assert times == sorted(times)
    at_once = ConsoleLog()
    at_once.append(ConsolePiece(stream, float(i + 1), text) for i, (stream, text) in enumerate(pieces))
    assert at_once.lines(10**6) == lines
    assert at_once.lines(3) == lines[-3:]


def test_many_lines_are_packed_and_found_again():
    log = ConsoleLog()
    for k in range(0, 30_000, 1000):
        log.append(
            ConsolePiece("stderr" if i % 7 == 0 else "stdout", 1e9 + i, f"line {i} of many\n")
            for i in range(k, k + 1000)
        )
    log.settle()
    assert len(log.kept) == 30_000
    assert sum(chunk.packed for chunk in log.kept.chunks) == len(log.kept.chunks) - 1
    for number in (0, 2047, 2048, 17_777, 29_999):
        line = log.line(number)
        assert (line.stream, line.timestamp, line.text) == (
            "stderr" if number % 7 == 0 else "stdout",
            1e9 + number,
            f"line {number} of many",
        )
    assert log.kept.at_time(1e9 + 17_777.5) == 17_777
    assert log.kept.at_time(1e9 + 2047) == 2047
    assert log.kept.at_time(1e9 - 1) is None
    assert log.kept.at_time(1e12) == 29_999


def test_old_lines_are_dropped_and_their_numbers_stay(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("leet.model.console._MOST_BYTES", 5 * 2048 * console_lines._PER_LINE)
    log = ConsoleLog()
    for k in range(0, 40_000, 1000):
        log.append(ConsolePiece("stdout", 1.0 + i, f"line {i}\n") for i in range(k, k + 1000))
        log.settle()
    kept = log.kept
    assert kept.end == 40_000
    assert kept.first > 0
    assert kept.first % 2048 == 0
    assert log.line(kept.first).text == f"line {kept.first}"
    assert kept.text(0) == ""
    kept.put(0, "too late")


def test_pieces_that_nobody_looks_at_are_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("leet.model.console._MOST_BYTES", 50_000)
    log = ConsoleLog()
    log.append(ConsolePiece("stdout", 1.0, f"line {i:06}\n") for i in range(200_000))
    assert len(log) == 200_000
    dropped = log.dropped_characters
    assert 0 < dropped < 200_000 * 12
    assert log.settled < 1
    lines = log.lines(10**6)
    assert len(lines) in (len(log.kept), 10**6)
    assert lines[-1].text == "line 199999"
    assert log.settled == 1


@given(st.lists(st.integers(0, 300_000), max_size=8), st.integers(1, 3))
def test_pieces_of_any_length_come_out_in_blocks(lengths: list[int], together: int):
    pieces = [ConsolePiece("stderr" if i % 2 else "stdout", float(i), "x" * length) for i, length in enumerate(lengths)]
    queue = ConsolePieces(10**9)
    for i in range(0, len(pieces), together):
        queue.append(pieces[i : i + together])
    assert queue.waiting == sum(lengths)
    seen = {float(i): 0 for i in range(len(lengths))}
    while (block := queue.take()) is not None:
        assert len(block.text) < 2 * BLOCK
        assert len(block.text) == block.ends[-1]
        for time, stream, size in zip(block.times, block.streams, np.diff(block.ends, prepend=0), strict=True):
            assert stream == time % 2
            seen[time] += int(size)
    assert list(seen.values()) == lengths
    assert queue.waiting == 0


def test_it_is_settled_in_slices():
    log = ConsoleLog()
    log.append(ConsolePiece("stdout", 1.0, f"line {i:06}\n") for i in range(100_000))
    assert not log.settle(0)
    some = len(log.kept)
    assert 0 < some < 100_000
    assert 0 < log.settled < 1
    while not log.settle(0):
        assert len(log.kept) > some
        some = len(log.kept)
    assert len(log.kept) == 100_000


def test_what_was_shown_before_is_forgotten():
    log = log_of(("stdout", "a\n"))
    shown(log)
    generation = log.generation
    log.clear()
    assert shown(log) == []
    assert log.generation != generation
    other = log_of(("stdout", "b\n"))
    generation = log.generation
    log.take_over(other)
    assert shown(log) == [("stdout", "b")]
    assert log.generation != generation


@given(st.lists(st.tuples(st.sampled_from(["stdout", "stderr"]), st.text(max_size=40)), max_size=12))
def test_hostile_text_is_harmless(pieces):
    for line in log_of(*pieces).lines(10**6):
        assert UNSAFE.search(line.text) is None


@pytest.mark.parametrize("log", corpus_logs(), ids=lambda p: "/".join(p.parts[-4:-3] + p.parts[-1:]))
def test_real_logs(log: Path):
    model = RunModel(log)
    for piece in read(log):
        if isinstance(piece, Batch):
            model.apply(piece)
    lines = model.console.lines(10**6)
    assert all(UNSAFE.search(line.text) is None for line in lines)
    written = log.parent / "files" / "output.log"
    if not lines or not written.exists():
        return
    # The SDK's own terminal, which keeps colours and writes the streams in an order of its own.
    theirs = [plain(line.rstrip()) for line in written.read_text(errors="replace").split("\n")]
    mine = [line.text for line in lines if line.text]
    if not any(theirs):
        return
    missing = [line for line in mine if line not in theirs]
    assert len(missing) <= len(mine) // 10, (missing, theirs)
