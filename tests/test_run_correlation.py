"""Which settings go with a result: the formulas, written out by hand, and what is ranked."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leet.model.run_correlation import correlations, explained, points_of, ranks, results, spearman
from leet.model.run_entry import RunEntry
from leet.model.run_value import value_named

values = st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=20)


def runs(*facts: tuple[dict[str, str], dict[str, object]]) -> list[RunEntry]:
    return [
        RunEntry(str(n), Path(str(n)), config=config, summary=summary)  # type: ignore[arg-type]
        for n, (config, summary) in enumerate(facts)
    ]


def test_equal_values_share_the_mean_of_their_ranks() -> None:
    assert ranks(np.array([10.0, 30.0, 20.0, 20.0])).tolist() == [1, 4, 2.5, 2.5]


def test_rho_of_a_known_example() -> None:
    """IQ and hours of television, the example of many textbooks: ρ = -29/165."""
    iq = np.array([106, 100, 86, 101, 99, 103, 97, 113, 112, 110], float)
    hours = np.array([7, 27, 2, 50, 28, 29, 20, 12, 6, 17], float)
    assert spearman(iq, hours) == pytest.approx(-29 / 165)


@given(values, st.data())
def test_rho_is_bounded_symmetric_and_knows_only_order(x: list[float], data: st.DataObject) -> None:
    y = np.array(data.draw(st.lists(st.floats(-1e6, 1e6), min_size=len(x), max_size=len(x))))
    a = np.array(x)
    rho = spearman(a, y)
    if math.isnan(rho):
        assert len(set(x)) == 1 or len(set(y.tolist())) == 1
        return
    assert -1 <= rho <= 1
    assert spearman(y, a) == pytest.approx(rho)
    assert spearman(a, -y) == pytest.approx(-rho)
    assert spearman(ranks(a) ** 3, y) == pytest.approx(rho)
    assert spearman(a, a) == pytest.approx(1)


@given(st.lists(st.integers(0, 3), min_size=3, max_size=20), st.data())
def test_what_groups_explain_is_bounded(groups: list[int], data: st.DataObject) -> None:
    y = np.array(data.draw(st.lists(st.floats(-1e6, 1e6), min_size=len(groups), max_size=len(groups))))
    found = explained(np.array(groups, float), y)
    assert math.isnan(found) or 0 <= found <= 1


def test_groups_that_say_all_or_nothing() -> None:
    groups = np.array([0, 0, 1, 1, 2, 2], float)
    assert explained(groups, np.array([1, 1, 2, 2, 3, 3], float)) == pytest.approx(1)
    assert explained(groups, np.array([1, 2, 1, 2, 1, 2], float)) == 0
    assert math.isnan(explained(np.arange(6.0), np.arange(6.0)))


def test_the_strongest_setting_stands_first_and_what_says_nothing_last() -> None:
    found = runs(
        *(
            (
                {"lr": f"{10.0**-n}", "warm": "true" if n > 2 else "false", "name": f"run {n}", "same": "1",
                 "mixed": "auto" if n == 0 else "3", "noise": str((n * 5) % 7)},
                {"val/loss": n * 0.1},
            )
            for n in range(6)
        ),
        ({"lr": "7"}, {}),
    )  # fmt: skip
    ranked = correlations(found, value_named("summary.val/loss"))
    by_name = {one.value.path: one for one in ranked}
    assert next(one.value.path for one in ranked) == "lr"
    assert by_name["lr"].strength == pytest.approx(-1)
    assert by_name["lr"].points.keys == [str(n) for n in range(6)]
    assert by_name["warm"].strength > 0.8
    assert by_name["warm"].points.names == ("false", "true")
    assert by_name["warm"].directed
    assert ranked[-1].value.path == "name"
    assert math.isnan(ranked[-1].strength)
    assert not ranked[-1].directed
    assert by_name["mixed"].points.names == ("3", "auto")
    assert "same" not in by_name


def test_results_of_validation_come_first() -> None:
    found = runs(*(({}, {"grad_norm": n, "train/loss": n, "val/loss": n, "same": 1, "_step": n, "text": str(n) + "x"})
                   for n in range(3)))  # fmt: skip
    assert [value.path for value in results(found)] == ["val/loss", "train/loss", "grad_norm"]


def test_values_that_are_not_finite_have_no_place() -> None:
    found = runs(({"a": "1"}, {"r": math.nan}), ({"a": "inf"}, {"r": 1.0}), ({"a": "2"}, {"r": 2.0}))
    points = points_of(found, value_named("config.a"), value_named("summary.r"))
    assert points.keys == ["1", "2"]
    assert points.names == ("2", "inf")
    assert correlations([], value_named("summary.r")) == []
