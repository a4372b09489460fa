"""Which lines pass filters, and which rows of them are seen: against doing it the plain way."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from leet.model.console import ConsoleLog
from leet.model.console_selection import ConsoleSelection
from leet.model.filter import TextFilter
from leet.reading.batch import ConsolePiece
from leet.tui.widgets.console_rows import breaks, clock, time_width
from leet.tui.widgets.console_window import ConsoleWindow

Said = list[tuple[bool, str]]
SAID = st.lists(st.tuples(st.booleans(), st.text("ab漢", max_size=25)), max_size=25)


def log_of(said: Said, repeated: int = 1) -> ConsoleLog:
    log = ConsoleLog()
    for i, (error, text) in enumerate(said * repeated):
        log.append([ConsolePiece("stderr" if error else "stdout", float(i + 1), text + "\n")])
    log.settle()
    return log


@given(SAID, st.sampled_from(["", "a", "ab", "b.a", "^a*$"]), st.booleans(), st.sampled_from([1, 300]))
def test_lines_that_pass_are_those_that_pass(said: Said, pattern: str, errors: bool, repeated: int) -> None:
    log = log_of(said, repeated)
    wanted = TextFilter(pattern)
    expected = [
        number
        for number, (error, text) in enumerate(said * repeated)
        if (error or not errors) and (not pattern or wanted.matches(text))
    ]
    chosen = ConsoleSelection(log.kept, wanted, errors_only=errors)
    while not chosen.scan(0):
        # Found from the newest back, so what is known is always the end.
        known = [chosen.number(at) for at in range(len(chosen))]
        assert known == expected[len(expected) - len(known) :]
    assert [chosen.number(at) for at in range(len(chosen))] == expected
    assert [number for block in chosen.blocks() for number in block] == expected
    for number in range(0, len(said) * repeated + 1, max(1, repeated // 7)):
        assert chosen.position(number) == sum(1 for other in expected if other < number)


def test_lines_that_change_and_come_are_looked_at_again() -> None:
    log = log_of([(False, "one"), (False, "two")])
    log.append([ConsolePiece("stdout", 9.0, "\r 10% busy")])
    log.settle()
    chosen = ConsoleSelection(log.kept, TextFilter("busy|one"))
    chosen.scan()
    assert [chosen.number(at) for at in range(len(chosen))] == [0, 2]
    log.append([ConsolePiece("stdout", 10.0, "\r100% over\none more\n")])
    log.settle()
    chosen.scan()
    assert [chosen.number(at) for at in range(len(chosen))] == [0, 3]


def rows_by_hand(window: ConsoleWindow) -> list[tuple[int, int]]:
    """Every (line, row) there is."""
    numbers = [window.chosen.number(at) for at in range(len(window))]
    return [(number, row) for number in numbers for row in range(window.rows_of(number))]


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("go"), st.integers(-3, 30)),
        st.tuples(st.just("scroll"), st.integers(-9, 9)),
        st.tuples(st.just("page"), st.integers(-2, 2)),
        st.tuples(st.just("follow"), st.just(0)),
        st.tuples(st.just("wrap"), st.just(0)),
        st.tuples(st.just("width"), st.integers(1, 12)),
        st.tuples(st.just("height"), st.integers(1, 6)),
    ),
    max_size=12,
)


@given(SAID, st.booleans(), STEPS)
def test_cursor_and_top_are_always_among_the_rows(said: Said, wrapped: bool, steps: list[tuple[str, int]]) -> None:
    log = log_of(said)
    window = ConsoleWindow(log.kept, ConsoleSelection(log.kept), wrapped=wrapped)
    window.resize(7, 4)
    for act, value in [("follow", 0), *steps]:
        if act == "wrap":
            window.wrapped = not window.wrapped
            window.reveal()
        elif act == "width":
            window.resize(value, window.height)
        elif act == "height":
            window.resize(window.width, value)
        elif act == "follow":
            window.follow()
        elif len(window):
            getattr(window, act)(value)
        window.arrange()
        rows = rows_by_hand(window)
        if not rows:
            continue
        assert window.top in rows
        at = rows.index(window.top)
        seen = rows[at : at + window.height]
        # No room is wasted below the last line while there are lines above.
        assert len(seen) == window.height or at == 0
        assert window.cursor in [number for number, _ in seen]
        if window.following:
            assert seen[-1] == rows[-1]
            assert window.cursor == rows[-1][0]


@given(st.text("ab c漢e\u0301", max_size=60), st.integers(2, 15))
def test_wrapped_rows_fit_and_lose_nothing(text: str, width: int) -> None:
    starts = breaks(text, width)
    rows = [text[a:b] for a, b in zip(starts, [*starts[1:], len(text)], strict=True)]
    assert "".join(rows) == text
    assert all(cell_len(row) <= width for row in rows)
    assert len(rows) == 1 or all(rows)


@pytest.mark.usefixtures("utc")
def test_times_that_are_none_are_blank() -> None:
    assert clock(1_764_500_000.0, 8) == "10:53:20"
    assert clock(1_764_500_000.0, 5) == "10:53"
    for damaged in (0.0, -5.0, float("nan"), float("inf"), 1e300):
        assert clock(damaged, 8) == " " * 8
    assert [time_width(width) for width in (20, 40, 80)] == [0, 5, 8]
    assert time_width(80, shown=False) == 0
