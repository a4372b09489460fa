"""Rows of nested dicts and of scalars of numpy: taken whole, they read as those that are looked at value by value."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recorder.rows import Row, plain_records


def whole(data: dict[str, Any]) -> Row:
    row = Row()
    row.put(data)
    assert row.plan is not None
    return row


def one_by_one(data: dict[str, Any]) -> Row:
    row = Row()
    row._put_any(data)
    return row


@pytest.mark.parametrize(
    "data",
    [
        {"train": {"loss": 0.5, "accuracy": 1}, "epoch": 3},
        {"a": {"b": {"c": {"d": True}}}, "a.b": "text", "empty": {}},
        {"np": np.float32(0.1), "int": np.int64(-7), "big": np.uint64(2**64 - 1), "bool": np.bool_(True)},
        {"deep": {"nan": np.float64("nan"), "inf": float("-inf"), "": 1}, "str": np.str_("é\ud800")},
    ],
)
def test_a_row_taken_whole_has_the_same_items(data: dict[str, Any]) -> None:
    row, other = whole(data), one_by_one(data)
    row.spread()
    assert row.items == other.items
    assert repr(row.values) == repr(other.values)
    assert (row.nested, row.branches) == (other.nested, other.branches)


@pytest.mark.parametrize(
    "data",
    [
        {"a": {"b": None}},
        {"a": {"b": [1, 2]}},
        {"a": {1: 0.5}},
        {"_step": {"x": 1}},
        {"": {"x": 1}},
        {"when": np.datetime64("2026-01-01")},
        {"array": np.arange(3)},
    ],
)
def test_what_is_not_plain_is_looked_at(data: dict[str, Any]) -> None:
    row = Row()
    row.put(data)
    assert row.plan is None


def test_a_dict_within_itself_is_not_followed_without_end() -> None:
    endless: dict[str, Any] = {"x": 1}
    endless["self"] = endless
    row = Row()
    row.put({"endless": endless})
    assert row.plan is None


def test_keys_of_several_parts_stay_the_recorders_own() -> None:
    whole({"a": {"b": 1}})
    with pytest.raises(TypeError, match="must be strings"):
        Row().put({("a", "b"): 1})  # type: ignore[dict-item]


def test_later_values_of_a_row_take_the_place_of_what_is_above_or_below() -> None:
    row = whole({"a": {"b": 1, "c": 2}, "d": 3})
    row.put({"a": 5, "d": {"e": 6}})
    assert row.values == {"a": 5, ("d", "e"): 6}


def test_the_records_hold_the_items() -> None:
    row = whole({"a": {"b": 1.5}})
    assert row.plan is not None
    summary, history = plain_records(row.plan, row.data, 1.0, 2.0, 3)
    item = b"\x12\x01a\x12\x01b\x82\x01\x031.5"
    assert item in summary
    assert item in history


SCRIPT = """
import recorder
run = recorder.init(mode="offline", settings=dict(silent=True, console="off", x_disable_stats=True))
run.log({"train": {"loss": 1.0, "n": {"x": 2}}, "val": 1})
run.log({"train": {"loss": 0.5}, "val": {"f1": 0.25}})
assert run.summary["train"]["loss"] == 0.5 and run.summary["train"]["n"]["x"] == 2
assert run.summary["val"]["f1"] == 0.25
run.log({"train": 7})
assert run.summary["train"] == 7
print(run.dir)
"""


def test_the_summary_follows(tmp_path: Path) -> None:
    root = str(Path(__file__).parents[1])
    command = [sys.executable, "-c", SCRIPT]
    done = subprocess.run(command, cwd=tmp_path, env={"PYTHONPATH": root, "HOME": str(tmp_path)}, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
