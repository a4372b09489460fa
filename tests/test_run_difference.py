"""Differences between runs: what is not the same, by how much, what is best, and of curves."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leet.model.goal import goal_of
from leet.model.run_difference import change, differing, minus
from leet.model.run_entry import RunEntry


@pytest.mark.parametrize(
    ("name", "goal"),
    [
        ("val/loss", "low"), ("train_loss", "low"), ("loss/accuracy", "high"), ("accuracy_loss", "low"),
        ("eval/F1", "high"), ("valAccuracy", "high"), ("error_rate", "low"), ("tokens_per_second", "high"),
        ("time_per_step", "low"), ("acc@1", "high"), ("reward/mean", "high"), ("learning_rate", None),
        ("grad_norm", None), ("epoch", None), ("", None), ("perplexity", "low"), ("lossy", None),
    ],
)  # fmt: skip
def test_the_name_says_what_is_good(name: str, goal: str | None) -> None:
    assert goal_of(name) == goal


@pytest.mark.parametrize(
    ("number", "base", "text"),
    [
        (0.45, 0.5, "-0.05 -10%"), (3, 0, "+3"), (2.0, 2.0, "="), (1.0, 4.0, "-3 -75%"), (None, 1.0, ""),
        (1.0, None, ""), (1.001, 1.0, "+0.001 +0.1%"), (-3.0, -2.0, "-1 -50%"), (500.0, 1.0, "+499 +49900%"),
        (1e308, -1e308, ""), (12.0, 1.0, "+11 +1100%"),
    ],
)  # fmt: skip
def test_a_change_is_told_as_such_and_in_percent(number: float | None, base: float | None, text: str) -> None:
    assert change(number, base) == text


def test_rows_are_what_differs_and_the_best_is_marked() -> None:
    runs = [
        RunEntry(str(n), Path(str(n)), config={"lr": lr, "seed": "1"}, summary={"loss": loss, "acc": 0.5, "_step": n})
        for n, (lr, loss) in enumerate((("0.1", 0.5), ("0.01", 0.25), ("0.1", 0.25)))
    ]
    (lr,) = differing(runs, "config")
    assert (lr.name, lr.texts, lr.numbers, lr.best) == ("lr", ["0.1", "0.01", "0.1"], [0.1, 0.01, 0.1], frozenset())
    (loss,) = differing(runs, "summary")
    assert loss.texts == ["0.5", "0.25", "0.25"]
    assert loss.best == {1, 2}
    assert differing(runs[1:], "summary") == []
    odd = [RunEntry("a", Path("a"), summary={"loss": "\x1b[31m"}), RunEntry("b", Path("b"), summary={"loss": 1.0})]
    (row,) = differing(odd, "summary")
    assert "\x1b" not in row.texts[0]
    assert row.numbers == [None, 1.0]
    assert row.best == frozenset()


def test_a_curve_less_another_is_their_difference_where_both_are() -> None:
    base = np.array([0.0, 10.0]), np.array([0.0, 100.0])
    x, d = minus(np.array([-1.0, 0.0, 5.0, 10.0, 11.0]), np.array([1.0, 2.0, 60.0, 90.0, 5.0]), base)
    assert x.tolist() == [0, 5, 10]
    assert d.tolist() == [2, 10, -10]


@given(st.lists(st.tuples(st.floats(-1e3, 1e3), st.floats(-1e6, 1e6)), min_size=1, max_size=30))
def test_a_curve_less_itself_is_zero(points: list[tuple[float, float]]) -> None:
    at = dict(points)
    x = np.array(sorted(at))
    y = np.array([at[value] for value in x.tolist()])
    same_x, zero = minus(x, y, (x, y))
    assert same_x.tolist() == x.tolist()
    assert not zero.any()


@given(st.lists(st.floats(), max_size=10), st.lists(st.floats(), max_size=10))
def test_any_numbers_have_finite_places(x: list[float], base: list[float]) -> None:
    n = np.array(base, float)
    found, d = minus(np.array(x, float), np.array(x, float), (n, n))
    assert len(found) == len(d) <= len(x)
    assert all(math.isfinite(value) for value in found.tolist())
