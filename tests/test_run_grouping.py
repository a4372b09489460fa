"""What runs can be grouped by, under which names, and into which groups they fall."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leet.model.run_entry import RunEntry
from leet.model.run_grouping import NONE, grouping_of, offered
from leet.model.run_value import UnknownValueError, fields, trees, value_named


def entry(key: str, **facts: object) -> RunEntry:
    return RunEntry(key, Path(key), name=key, known=True, **facts)  # type: ignore[arg-type]


RUNS = (
    entry("a", config={"opt": "adam", "lr": "0.1", "seed": "1"}, tags=("new", "big"), host="x", group="g1"),
    entry("b", config={"opt": "sgd", "lr": "0.01", "seed": "2"}, tags=("new",), host="x", group="g1"),
    entry("c", config={"opt": "adam", "lr": "1e-5", "seed": "3"}, host="x", group="g2", summary={"loss": 0.5}),
    entry("d", config={"lr": "0.1", "seed": "4"}, host="x", group="g2", summary={"loss": 0.25, "_step": 3}),
)


def groups(text: str) -> dict[str, list[str]]:
    grouping = grouping_of(text, RUNS)
    assert grouping is not None
    return grouping.groups(RUNS)


def test_runs_with_one_value_are_a_group_and_those_without_come_last() -> None:
    assert groups("config.opt") == {"adam": ["a", "c"], "sgd": ["b"], NONE: ["d"]}
    assert list(groups("config.opt")) == ["adam", "sgd", NONE]
    assert groups("group") == {"g1": ["a", "b"], "g2": ["c", "d"]}


def test_numbers_are_in_the_order_of_their_size() -> None:
    assert list(groups("config.lr")) == ["1e-5", "0.01", "0.1"]


def test_a_run_is_in_the_group_of_each_of_its_tags() -> None:
    assert groups("tag") == {"big": ["a"], "new": ["a", "b"], NONE: ["c", "d"]}


def test_several_values_make_every_combination_that_there_is() -> None:
    assert groups("group, config.lr") == {
        "g1, 0.01": ["b"],
        "g1, 0.1": ["a"],
        "g2, 1e-5": ["c"],
        "g2, 0.1": ["d"],
    }
    assert grouping_of("lr,config.lr", RUNS) == grouping_of("config.lr")


def test_a_setting_or_a_result_can_be_named_without_its_tree() -> None:
    assert value_named("opt", RUNS).name == "config.opt"
    assert value_named("loss", RUNS).name == "summary.loss"
    assert value_named("JOB_TYPE").name == "job"


@pytest.mark.parametrize(
    ("text", "said"),
    [("optimiser", "config.optimiser is a setting"), ("hots", "did you mean host"), ("config", "config.PATH"),
     ("state", "another one all the time"), ("created", "another one all the time"), ("host.x", "did you mean host")],
)  # fmt: skip
def test_what_is_no_value_is_said(text: str, said: str) -> None:
    with pytest.raises(UnknownValueError, match=said):
        grouping_of(text, RUNS)


def test_what_makes_few_groups_is_offered_first_and_what_is_the_same_everywhere_is_not() -> None:
    names = [name for name, _ in offered(RUNS)]
    assert names.index("group") < names.index("host") < names.index("config.seed")
    assert {"config.lr", "config.opt"} < set(names)
    assert "user" not in names
    told = dict(offered(RUNS))
    assert told["host"] == "all x"
    assert told["config.seed"].startswith("4 groups: 1, 2, 3, 4")


def test_values_are_text_and_number() -> None:
    loss, lr = value_named("summary.loss"), value_named("config.lr")
    assert [loss.text(run) for run in RUNS] == ["", "", "0.5", "0.25"]
    assert [lr.number(run) for run in RUNS] == [0.1, 0.01, 1e-5, 0.1]
    assert value_named("config.opt").number(RUNS[0]) is None
    assert value_named("tag").text(RUNS[0]) == "new, big"
    assert value_named("created").text(entry("e", started=100.0), 160.0) == "1 min"
    assert [value.name for value in trees(RUNS, "config", "summary")] == [
        "config.lr", "config.opt", "config.seed", "summary.loss"
    ]  # fmt: skip
    assert [value.title for value in fields("host", "job")] == ["host", "job"]


@given(st.lists(st.dictionaries(st.sampled_from(["a", "b"]), st.text(max_size=3), max_size=2), max_size=8))
def test_every_run_is_in_a_group_whatever_its_values(configs: list[dict[str, str]]) -> None:
    runs = [entry(str(n), config=config) for n, config in enumerate(configs)]
    grouping = grouping_of("config.a, config.b")
    assert grouping is not None
    found = grouping.groups(runs)
    assert sorted(key for keys in found.values() for key in keys) == sorted(run.key for run in runs)
    assert all("\x1b" not in name and "\n" not in name for name in found)
    assert dict(offered(runs)).keys() <= {"config.a", "config.b"}
    assert [len(groups) for groups in (grouping.groups(runs[:1]),)] == [min(1, len(runs))]
