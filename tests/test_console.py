"""The text a program printed: put together into lines, bounded."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leet.model.console import ConsoleLog
from leet.reading.batch import ConsolePiece


def log_of(*pieces: tuple[str, str], start: float = 100.0) -> ConsoleLog:
    log = ConsoleLog()
    log.append(ConsolePiece(stream, start + i, text) for i, (stream, text) in enumerate(pieces))  # type: ignore[arg-type]
    return log


def shown(log: ConsoleLog, limit: int = 100) -> list[tuple[str, str]]:
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


def test_progress_bars_collapse_and_colours_go():
    log = log_of(
        ("stderr", "\r 10%"), ("stderr", "\r 50%"), ("stderr", "\r100%\n"), ("stdout", "\x1b[32mok\x1b[0m\r\n\n")
    )
    assert shown(log) == [("stderr", "100%"), ("stdout", "ok"), ("stdout", "")]


@given(
    st.lists(st.tuples(st.sampled_from(["stdout", "stderr"]), st.text("ab\n", max_size=6)), max_size=30),
    st.integers(0, 12),
)
def test_the_last_lines_are_those_of_all_lines(pieces, limit: int):
    log = log_of(*pieces)
    lines = shown(log, 10**6)
    for stream in ("stdout", "stderr"):
        whole = "".join(text for name, text in pieces if name == stream)
        expected = whole.split("\n")
        if expected[-1] == "":
            expected.pop()
        assert [text for name, text in lines if name == stream] == expected
    last = shown(log, limit)
    assert len(last) == min(limit, len(lines))
    for stream in ("stdout", "stderr"):
        mine = [text for name, text in last if name == stream]
        whole = [text for name, text in lines if name == stream]
        # The oldest of them may have begun before the part that is looked at.
        assert whole[len(whole) - len(mine) + 1 :] == mine[1:]
        assert not mine or whole[len(whole) - len(mine)].endswith(mine[0])


def test_old_pieces_are_dropped_and_counted(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("leet.model.console._MOST_PIECES", 10)
    log = log_of(*(("stdout", f"{i}\n") for i in range(25)))
    assert len(log) == 10
    assert log.dropped_pieces == 15
    assert log.dropped_characters == sum(len(f"{i}\n") for i in range(15))
    assert shown(log, 2) == [("stdout", "23"), ("stdout", "24")]


def test_much_text_is_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("leet.model.console._MOST_CHARACTERS", 1000)
    log = log_of(("stdout", "x" * 5000), ("stdout", "y" * 700 + "\n"), ("stderr", "z" * 700))
    assert sum(len(piece.text) for piece in log.pieces) <= 1000
    assert log.dropped_characters == 4000 + 1000 + 701
    assert shown(log) == [("stderr", "z" * 700)]


def test_lines_are_asked_for_at_every_paint():
    log = log_of(("stdout", "a\n"))
    assert log.lines(5) is log.lines(5)
    log.append([ConsolePiece("stdout", 1.0, "b")])
    assert shown(log, 5) == [("stdout", "a"), ("stdout", "b")]
    log.clear()
    assert shown(log) == []
