"""Histograms count as numpy does."""

from __future__ import annotations

import numpy as np
import pytest

from recorder.histogram import Histogram


@pytest.mark.parametrize("values", [[1, 2, 2, 3.5], [0.25], list(range(1000)), [-5.0, 5.0]])
def test_counts_are_those_of_numpy(values: list[float]) -> None:
    made = Histogram(values, num_bins=16)
    counts, edges = np.histogram(values, bins=16)
    assert made.histogram == counts.tolist()
    assert made.bins == pytest.approx(edges.tolist())


def test_arrays_of_any_shape_and_non_finite_values() -> None:
    made = Histogram(np.array([[1.0, np.nan], [np.inf, 3.0]]), num_bins=2)
    assert made.histogram == [1, 1]


def test_ready_counts_are_kept() -> None:
    made = Histogram(np_histogram=np.histogram([1, 2, 3], bins=3))
    assert made.as_value() == {
        "_type": "histogram",
        "values": [1, 1, 1],
        "bins": pytest.approx([1, 5 / 3, 7 / 3, 3]),
    }


@pytest.mark.parametrize(
    "kwargs",
    [
        {},
        {"sequence": [1], "np_histogram": ([1], [0, 1])},
        {"sequence": [1], "num_bins": 513},
        {"np_histogram": ([1], [0])},
    ],
)
def test_wrong_input_is_refused(kwargs: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r".+"):
        Histogram(**kwargs)  # type: ignore[arg-type]
