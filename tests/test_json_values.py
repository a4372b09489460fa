"""How values of a training script are spelt in a log."""

from __future__ import annotations

import datetime
import decimal
import enum
import json
import math
import pathlib
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.transaction_log.json_values import dump, dump_config, histogram


class Colour(enum.IntEnum):
    RED = 3


class Name(str):
    pass


class Broken:
    def __str__(self) -> str:
        raise RuntimeError("no")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "1"),
        (1.0, "1.0"),
        (0.1, "0.1"),
        (1e300, "1e+300"),
        (True, "true"),
        (None, "null"),
        (math.nan, "NaN"),
        (-math.inf, "-Infinity"),
        ([1, math.inf, [math.nan]], "[1,Infinity,[NaN]]"),
        ((1, "a", None), '[1,"a",null]'),
        ({3, 1, 2}, "[1,2,3]"),
        ({"a": {"b": 1}, 2: "é😀"}, '{"a":{"b":1},"2":"é😀"}'),
        ('he said "hi"\n', '"he said \\"hi\\"\\n"'),
        (b"ab\xff", '"ab\ufffd"'),
        (2**63 - 1, "9223372036854775807"),
        (-(2**63), "-9223372036854775808"),
        (2**63, "9.223372036854776e+18"),
        (10**400, "Infinity"),
        (datetime.date(2025, 1, 2), '"2025-01-02"'),
        (datetime.datetime(2025, 1, 2, 3, 4), '"2025-01-02T03:04:00"'),
        (pathlib.PurePosixPath("/a/b"), '"/a/b"'),
        (decimal.Decimal("1.5"), '"1.5"'),
        (Colour.RED, "3"),
        (Name("x"), '"x"'),
        (1 + 2j, '"(1+2j)"'),
        (Broken(), '"<Broken: RuntimeError>"'),
        (np.float32(0.1), "0.10000000149011612"),
        (np.float64("nan"), "NaN"),
        (np.int64(7), "7"),
        (np.bool_(True), "true"),
        (np.array(3.5), "3.5"),
        (np.arange(3), "[0,1,2]"),
        (np.array([[1.0, np.nan]]), "[[1.0,NaN]]"),
        (np.array(["a", "b"]), '["a","b"]'),
    ],
)
def test_values(value: Any, text: str) -> None:
    assert dump(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (math.nan, "null"),
        (math.inf, "Infinity"),
        (2**70, "1180591620717411303424"),
        ({"a": [math.nan, 2**70]}, '{"a":[null,1180591620717411303424]}'),
        (True, "true"),
        (np.float64("nan"), "null"),
        (np.arange(40), str(list(range(40))).replace(" ", "")),
    ],
)
def test_config_has_another_spelling(value: Any, text: str) -> None:
    assert dump_config(value) == text


def test_long_arrays_become_histograms() -> None:
    values = np.arange(100.0)
    shown = json.loads(dump(values))
    counts, edges = np.histogram(values, bins=32)
    assert shown == {"_type": "histogram", "values": counts.tolist(), "bins": edges.tolist()}
    assert dump(np.arange(32.0)).startswith("[0.0,1.0,")


@pytest.mark.parametrize("array", [np.array([np.nan] * 50), np.array([1.0] * 20 + [np.inf] * 20), np.zeros((7, 7))])
def test_histograms_of_odd_arrays(array: Any) -> None:
    shown = json.loads(dump(array))
    assert len(shown["bins"]) == len(shown["values"]) + 1
    assert sum(shown["values"]) == np.isfinite(array).sum()


class Tensor:
    """What a tensor of torch offers of which use is made: it must leave its device before it becomes numbers."""

    def __init__(self, values: list[Any], shape: tuple[int, ...], where: str = "gpu") -> None:
        self.values, self.shape, self.where, self.dtype = values, shape, where, "torch.float32"

    def detach(self) -> Tensor:
        return self

    def cpu(self) -> Tensor:
        return Tensor(self.values, self.shape, "cpu")

    def tolist(self) -> Any:
        if self.where != "cpu":
            raise RuntimeError("not on this device")
        return self.values if self.shape else self.values[0]

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.values, dtype)


def test_tensors_are_taken_by_what_they_offer() -> None:
    assert dump(Tensor([0.5], ())) == "0.5"
    assert dump(Tensor([1, 2], (2,))) == "[1,2]"
    assert json.loads(dump(Tensor([0.0] * 40, (40,))))["_type"] == "histogram"


def test_a_tensor_that_fails_is_named_not_raised() -> None:
    class Lost(Tensor):
        def cpu(self) -> Tensor:
            raise RuntimeError("device lost")

    assert dump(Lost([1], (1,))) == '"<Lost: device lost>"'


def test_the_histogram_without_numpy_counts_the_same() -> None:
    program = """
import json, sys
from recorder.transaction_log.json_values import histogram
class Array:
    def tolist(self): return [[float(i) for i in range(50)], [float("nan"), float("inf"), 7.0]]
assert "numpy" not in sys.modules
print(json.dumps(histogram(Array())))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    values = np.array([*np.arange(50.0), np.nan, np.inf, 7.0])
    expected = histogram(values)
    shown = json.loads(done.stdout)
    assert shown["values"] == expected["values"]
    assert shown["bins"] == pytest.approx(expected["bins"])


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@given(json_values)
def test_plain_values_come_back(value: Any) -> None:
    assert json.loads(dump(value)) == value
    assert json.loads(dump_config(value)) == value
