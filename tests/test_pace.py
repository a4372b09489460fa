"""How often the screen follows the data."""

from __future__ import annotations

import itertools

import pytest

from leet.tui.pace import Pace, beat
from leet.tui.widgets.chart_grid_pace import next_after


@pytest.mark.parametrize(
    ("moment", "interval", "expected"), [(0.0, 1.0, 0.0), (0.1, 1.0, 1.0), (7.0, 1.0, 7.0), (7.1, 0.25, 7.25)]
)
def test_beats(moment: float, interval: float, expected: float) -> None:
    assert beat(moment, interval) == pytest.approx(expected)


def test_what_is_always_behind_is_painted_once_per_interval_and_together() -> None:
    pace = Pace({"charts": 0.25, "overview": 2.0, "status": 1.0})
    painted: list[tuple[float, list[str]]] = []
    for tick in range(1200):
        now = 1000.3 + tick / 100
        pace.mark("charts", "overview", "status")
        if due := pace.due(now):
            painted.append((now, due))
    counts = {part: sum(part in due for _, due in painted) for part in ("charts", "overview", "status")}
    assert counts == {"charts": 49, "overview": 7, "status": 13}
    assert len(painted) == counts["charts"], "what is slower is painted when the quicker is"
    moments = [now for now, due in painted if "status" in due]
    assert all(0.7 <= after - before <= 1.5 for before, after in itertools.pairwise(moments))


def test_something_new_after_a_while_is_painted_at_once() -> None:
    pace = Pace({"status": 1.0})
    pace.mark("status")
    assert pace.due(10.5) == ["status"]
    assert pace.wait(10.6) is None
    pace.mark("status")
    assert pace.wait(30.2) == 0.0


def test_charts_that_cost_much_are_painted_on_beats() -> None:
    assert next_after(100.3, 0.0, 0) == pytest.approx(100.55)
    assert next_after(100.3, 0.006, 10) == pytest.approx(102.0)
    assert next_after(100.3, 0.5, 10) == pytest.approx(103.0)


def test_keys_have_more_time_than_charts_that_take_very_long() -> None:
    assert next_after(100.3, 9.0, 10) == pytest.approx(128.0)
