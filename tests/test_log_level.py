"""Levels of console lines, and the pane that shows those of some and above."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_run import ExampleRun
from hypothesis import given
from hypothesis import strategies as st
from test_console_view import heading, logs, rows, say

from leet.model.console_lines import SIZE, ConsoleLines
from leet.model.console_selection import ConsoleSelection
from leet.model.log_level import LEVELS, level_of, levels_of

NONE, DEBUG, INFO, WARNING, ERROR, CRITICAL = range(6)

LINES = [
    ("INFO:root:started", INFO),
    ("DEBUG:a.b:x", DEBUG),
    ("2025-11-30 10:53:20,123 - my.name - ERROR - it broke", ERROR),
    ("2025-11-30 10:53:20.123 | WARNING  | module:func:12 - slow", WARNING),
    ("[INFO] ready", INFO),
    ("[2025-11-30 10:53:20,123][hydra][CRITICAL] - gone", CRITICAL),
    ("[WARNING|trainer.py:803] 2025-11-30 10:53:20,123 >> odd", WARNING),
    ("2025-11-30 10:53:20,123\tERROR worker.py:12 -- died", ERROR),
    ("25/11/30 10:53:20 WARN SparkContext: deprecated", WARNING),
    ("[2025-11-30T10:53:20Z INFO  mycrate] up", INFO),
    ("I1130 10:53:20.123456 4711 file.cc:12] fine", INFO),
    ("W1130 10:53:20.123456 4711 file.cc:12] hm", WARNING),
    ("E20251130 10:53:20.123456 4711 file.cc:12] no", ERROR),
    ("F1130 10:53:20.123456 4711 file.cc:12] dead", CRITICAL),
    ("[rank0]:[W1130 10:53:20.12 ProcessGroupNCCL.cpp:3] Warning: leak", WARNING),
    ('{"time": 1, "level": "warn", "msg": "INFO"}', WARNING),
    ('{"severity":"ERROR","message":"x"}', ERROR),
    ('{"msg": "x", "levelname": "DEBUG"}', DEBUG),
    ("time=2025-11-30T10:53:20Z level=error msg=boom", ERROR),
    ("2025-11-30 10:53:20 [info     ] event key=1", INFO),
    ("wandb: WARNING something is odd", WARNING),
    ("ERROR: Could not find a version", ERROR),
    ("/a/b.py:12: UserWarning: lr is large", WARNING),
    ("Traceback (most recent call last):", ERROR),
    ("", NONE),
    ("epoch 3 loss 0.5", NONE),
    ("there is no ERROR here", NONE),
    ("INFORMATION about it", NONE),
    ("  raise ValueError('INFO')", NONE),
    ("MY_ERROR: x", NONE),
    ("I have 1130 10:53:20", NONE),
    ('{"level": 3, "msg": "x"}', NONE),
]


@pytest.mark.parametrize(("text", "level"), LINES, ids=[text[:40] for text, _ in LINES])
def test_common_formats(text: str, level: int) -> None:
    if text.startswith("  raise"):
        assert level_of("  raise ValueError(INFO_x)") == NONE
    else:
        assert level_of(text) == level


@given(st.text(max_size=200))
def test_any_text_has_a_level_or_none(text: str) -> None:
    assert 0 <= level_of(text) < len(LEVELS)


def test_lines_without_one_have_that_of_the_line_above_in_their_stream() -> None:
    texts = ["hello", "ERROR:root:broke", "  details", "stdout all the while", "INFO:root:on", "more"]
    above: dict[int, int] = {}
    assert levels_of(texts, [1, 0, 0, 1, 0, 0], above) == [INFO, ERROR, ERROR, INFO, INFO, INFO]
    assert above == {0: INFO}


def kept(lines: ConsoleLines, least: int) -> list[int]:
    chosen = ConsoleSelection(lines, least=least)
    assert chosen.scan()
    return [chosen.number(at) for at in range(len(chosen))]


def test_a_level_reaches_over_the_edges_of_chunks() -> None:
    lines = ConsoleLines(1 << 30)
    texts = ["x"] * (3 * SIZE)
    texts[SIZE - 1] = "ERROR:root:broke"
    texts[2 * SIZE - 2] = "INFO:root:on"
    lines.append(texts, [0.0] * len(texts), [0] * len(texts))
    assert kept(lines, ERROR) == list(range(SIZE - 1, 2 * SIZE - 2))
    assert len(kept(lines, INFO)) == len(texts)
    assert kept(lines, CRITICAL) == []


def test_new_lines_are_looked_at_as_they_come() -> None:
    lines = ConsoleLines(1 << 30)
    chosen = ConsoleSelection(lines, least=WARNING)
    for at, text in enumerate(["a", "WARNING:x:y", "b", "INFO:x:y", "c"]):
        lines.append([text], [0.0], [0])
        chosen.scan()
        assert len(chosen) == (0, 1, 2, 2, 2)[at]


async def test_the_key_turns_through_levels_and_tracebacks_stay_whole(tmp_path: Path) -> None:
    run = ExampleRun(tmp_path)
    run.train(3)
    say(run, "loading\n", 0)
    say(run, "\x1b[32mINFO:root:started\x1b[0m\n", 1)
    say(run, "WARNING:root:slow\n", 2)
    say(run, 'ERROR:root:broke\nTraceback (most recent call last):\n  File "a.py"\nValueError: no\n', 3)
    say(run, "DEBUG:root:again\n", 4)
    async with logs(run, (120, 40)) as viewer:

        def texts() -> list[str]:
            return [row[11:] for row in rows(viewer) if row]

        assert len(texts()) == 8
        await viewer.press("e")
        assert "INFO and above" in heading(viewer)
        assert texts()[0] == "loading"
        assert len(texts()) == 7
        await viewer.press("e")
        assert texts()[0] == "WARNING:root:slow"
        await viewer.press("e")
        broke = ["ERROR:root:broke", "Traceback (most recent call last):", '  File "a.py"', "ValueError: no"]
        assert texts() == broke
        await viewer.press("slash", *"value", "enter")
        assert texts() == ["ValueError: no"]
        await viewer.press("ctrl+l", "e")
        assert "CRITICAL and above" in heading(viewer)
        assert rows(viewer)[0] == " No line passes"
        await viewer.press("e")
        assert len(texts()) == 8
        assert "above" not in heading(viewer)


@given(st.lists(st.sampled_from([text for text, _ in LINES]), max_size=30))
def test_many_lines_at_once_are_what_each_is(texts: list[str]) -> None:
    expected, level = [], INFO
    for text in texts:
        level = level_of(text) or level
        expected.append(level)
    assert levels_of(texts, [0] * len(texts), {}) == expected
