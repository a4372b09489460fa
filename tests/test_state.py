"""What a log tells about the state of its run."""

from __future__ import annotations

import pytest

from leet.model.state import SILENCE, judge

NOW = 1_800_000_000.0


def state(**facts: object) -> str:
    base = {"now": NOW, "modified": NOW - 5, "size": 4096, "started": True, "exit_code": None}
    return str(judge(**(base | facts)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        ({}, "running"),
        ({"exit_code": 0}, "finished"),
        ({"exit_code": 3}, "failed (exit code 3)"),
        ({"exit_code": -9}, "failed (exit code -9)"),
        ({"exit_code": 254}, "crashed (exit code 254)"),
        ({"modified": NOW - 59}, "running"),
        ({"modified": NOW - 180}, "running?, silent for 3 min"),
        ({"modified": NOW - 180, "usual_gap": 44.0}, "running?, silent for 3 min"),
        ({"modified": NOW - 180, "usual_gap": 46.0}, "running"),
        ({"modified": NOW - SILENCE + 1}, "running?, silent for 9 min"),
        ({"modified": NOW - SILENCE}, "crashed (silent for 10 min)"),
        ({"modified": NOW - 7200}, "crashed (silent for 2 h)"),
        ({"modified": NOW + 3600}, "running"),
        ({"modified": 0.0}, "running"),
        ({"started": False, "size": 7}, "waiting (7 B so far)"),
        ({"started": False, "size": 0}, "waiting (0 B so far)"),
        ({"started": False, "size": 0, "loading": True}, "reading"),
        ({"started": False, "size": 7, "modified": NOW - 3600}, "waiting (7 B so far, silent for 1 h)"),
        ({"modified": NOW - 7200, "loading": True}, "reading"),
        ({"loading": True}, "reading"),
        ({"exit_code": 0, "modified": NOW - 86400 * 30, "loading": True}, "finished"),
        ({"exit_code": 0, "modified": NOW - 86400 * 30}, "finished"),
    ],
)
def test_states(facts: dict[str, object], text: str):
    assert state(**facts) == text


def test_waiting_reading_and_running_are_live():
    live = {
        name: judge(now=NOW, modified=NOW - age, size=0, started=started, exit_code=code, loading=loading).live
        for name, age, started, code, loading in (
            ("waiting", 0, False, None, False),
            ("reading", SILENCE, True, None, True),
            ("running", 0, True, None, False),
            ("crashed", SILENCE, True, None, False),
            ("finished", 0, True, 0, False),
            ("failed", 0, True, 1, False),
        )
    }
    assert [name for name, is_live in live.items() if is_live] == ["waiting", "reading", "running"]
