"""The query: what it selects, how it sorts, and where it says that something is wrong."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from leet.model.run_entry import RunEntry
from leet.model.run_query import RunQuery
from leet.model.run_query_fields import FIELDS, field_names
from leet.model.run_query_values import moment, number, span

pytestmark = pytest.mark.usefixtures("utc")

NOW = 1_764_590_400.0
"""2025-12-01 12:00 UTC."""
DAY = 86400.0


def entry(run_id: str, **fields: Any) -> RunEntry:
    known = {"started": NOW - DAY, "modified": NOW - 10, "known": True, "begun": True, "name": run_id}
    return RunEntry(
        f"wandb/run-{run_id}", Path(f"wandb/run-{run_id}/run-{run_id}.wandb"), run_id=run_id, **known | fields
    )


RUNS = [
    entry(
        "a1",
        name="Balmy River 7",
        project="mnist",
        tags=("baseline", "long run"),
        notes="first try",
        host="node-1",
        user="ada",
        group="g1",
        config={"lr": "0.001", "optimizer.name": "adam", "layers": "[64, 32]", "a b": "x"},
        summary={"loss": 0.25, "val/acc": 0.9, "ok": True, "note": "fine", "none": None},
        exit_code=0,
        step=1200,
        runtime=5400.0,
        started=NOW - 3 * DAY,
    ),
    entry(
        "b2",
        name="calm-sea-8",
        project="mnist",
        tags=("sweep",),
        host="node-2",
        config={"lr": "0.1", "optimizer.name": "SGD"},
        summary={"loss": 1.5},
        exit_code=1,
        step=90,
        runtime=30.0,
        started=NOW - 5 * 3600,
    ),
    entry(
        "c3", project="cifar", config={"lr": "1e-3"}, summary={"loss": float("nan")}, step=20_000, started=NOW - 2 * DAY
    ),
    entry("d4", notes="don't touch", modified=NOW - DAY, step=5, runtime=3600.0, exit_code=None),
    entry("e5", known=False, begun=False, started=None, modified=0.0),
]


def chosen(query: str, mode: str = "regex") -> str:
    """First letters of the runs that pass, in the order in which they were given."""
    parsed = RunQuery.parse(query, mode)  # type: ignore[arg-type]
    assert parsed.error is None, parsed.error
    return "".join(run.run_id[0] for run in RUNS if parsed.matches(run, NOW))


@pytest.mark.parametrize(
    ("query", "runs"),
    [
        ("", "abcde"),
        ("   ", "abcde"),
        # bare words
        ("balmy", "a"),
        ("BALMY", "a"),
        ("mnist", "ab"),
        ("run-c3", "c"),
        ("first", "a"),
        ("sweep", "b"),
        ("node-1", ""),
        ("ba.*7", "a"),
        ("^calm", "b"),
        ("baseline|sweep", "ab"),
        ("'long run'", "a"),
        ("long run", "abcde"[:1]),
        ("don't", "d"),
        ('"don\'t touch"', "d"),
        # and, or, not, parentheses
        ("mnist sweep", "b"),
        ("mnist and sweep", "b"),
        ("balmy or calm", "ab"),
        ("balmy | calm", "ab"),
        ("BALMY OR calm", "ab"),
        ("not mnist", "cde"),
        ("-mnist", "cde"),
        ("!mnist", "cde"),
        ("not not mnist", "ab"),
        ("- mnist", "cde"),
        ("mnist -sweep", "a"),
        ("balmy or mnist sweep", "ab"),
        ("(balmy or mnist) sweep", "b"),
        ("-(balmy or sweep) mnist", ""),
        ("not (balmy or sweep)", "cde"),
        ("((balmy))", "a"),
        ("(balmy|calm)", "ab"),
        ("project:mnist (tag:sweep or name:balmy) not state:failed", "a"),
        ('"or"', ""),
        (r'"\(" or balmy', "a"),
        # fields and aliases
        ("name:river", "a"),
        ("display_name:river", "a"),
        ("name:(river|sea)", "ab"),
        ("name:riv", "a"),
        ("name=calm-sea-8", "b"),
        ("name=calm", ""),
        ('name="balmy river 7"', "a"),
        ("name!=calm-sea-8", "acde"),
        ("id:b2", "b"),
        ("key:run-b2", "b"),
        ("path:wandb", "abcde"),
        ("project=MNIST", "ab"),
        ("project=", "de"),
        ("tag:base", "a"),
        ("tags:base", "a"),
        ("tag=sweep", "b"),
        ("tag=", "cde"),
        ('tag:"long run"', "a"),
        ("notes:touch", "d"),
        ("note:try", "a"),
        ("host:node-1", "a"),
        ("user:ada", "a"),
        ("group=g1", "a"),
        ("exit:1", "b"),
        ("exit=", "cde"),
        # config
        ("config:adam", "a"),
        ("cfg:optimizer", "ab"),
        ("config:lr=0.1", "b"),
        ("config.optimizer.name:sgd", "b"),
        ("config.optimizer.name=sgd", "b"),
        ("config.optimizer.name!=sgd", "acde"),
        ("config.lr=0.001", "ac"),
        ("config.lr>0.01", "b"),
        ("config.lr<=0.001", "ac"),
        ("config.lr:0.0", "a"),
        ("config.optimizer.name>3", ""),
        ("config.layers[1]=32", "a"),
        ("config.layers[1]>40", ""),
        ("config.layers[9]=32", ""),
        ('config."a b"=x', "a"),
        # summary
        ("summary.loss<1", "a"),
        ("summary.loss>1", "b"),
        ("summary.loss:nan", "c"),
        ("summary.val/acc>=0.9", "a"),
        ("summary.ok=true", "a"),
        ("summary.note:fin", "a"),
        ("summary:loss", "abc"),
        # states
        ("state:running", "c"),
        ("state:finished", "a"),
        ("state:fail", "b"),
        ("state=crashed", "d"),
        ("state!=crashed", "abce"),
        ("state:waiting", "e"),
        ("state:live", "ce"),
        ("state:fin|fail", "ab"),
        # numbers, moments, spans
        ("step>1000", "ac"),
        ("step>=20k", "c"),
        ("step:90", "b"),
        ("step=90", "b"),
        ("step!=90", "acde"),
        ("parts=1", "abcde"),
        ("created>1d", "b"),
        ("created>=1d", "bd"),
        ("created<2d", "a"),
        ("created:2d12h", "bcd"),
        ("created:today", "b"),
        ("created:yesterday", "d"),
        ("created<today", "acd"),
        ("created>2025-11-29", "bd"),
        ("created>=2025-11-29", "bcd"),
        ("created<=2025-11-29", "ac"),
        ("created:2025-11-29", "c"),
        ("created:2025-11", "acd"),
        ("created:2025", "abcd"),
        ("created>2025-12-01T06:59", "b"),
        ('created="2025-12-01 07:00"', "b"),
        ("created=", "e"),
        ("modified<1h", "d"),
        ("duration>1h", "a"),
        ("duration>=1h", "ad"),
        ("duration:1h", "ad"),
        ("duration:1h30m", "a"),
        ("duration<1m", "b"),
        ("duration<01:00:01", "bd"),
        ("duration=30", "b"),
        # has
        ("has:tag", "ab"),
        ("exists:config.lr", "abc"),
        ("has:config", "abc"),
        ("-has:summary.loss", "de"),
        ("has:notes", "ad"),
        ("has:duration", "abd"),
        ("has:state", "abcd"),
        ("has:created", "abcd"),
        # while it is being typed
        ("name:", "abcde"),
        ("config.lr:", "abcde"),
        ("sort:name", "abcde"),
        ("mnist sort:name", "ab"),
    ],
)
def test_it_selects(query: str, runs: str) -> None:
    assert chosen(query) == runs


@pytest.mark.parametrize(
    ("query", "runs"), [("b*7", "a"), ("name:calm-?ea", "b"), ("name:ba.my", ""), ("tag:l[ao]ng*", "a"), ("x*", "")]
)
def test_globs(query: str, runs: str) -> None:
    assert chosen(query, "glob") == runs


def place(query: str) -> tuple[str, str]:
    """The message and the part of the query that it points to."""
    parsed = RunQuery.parse(query)
    assert parsed.error is not None
    assert not parsed.matches(RUNS[0], NOW)
    assert parsed.select(RUNS, NOW) == []
    assert "\n" not in parsed.error.message
    return parsed.error.message, query[parsed.error.start : parsed.error.end]


@pytest.mark.parametrize(
    ("query", "message", "part"),
    [
        ("a (b", "a ( without its )", "("),
        ("a b)", "a ) without its (", ")"),
        ("a ()", "nothing between ( and )", "("),
        ("a or", "nothing behind or", "or"),
        ("or b", "nothing before or", "or"),
        ("a or or b", "nothing before or", "or"),
        ("a and", "nothing behind and", "and"),
        ("and a", "nothing before and", "and"),
        ("a not", "nothing behind not", "not"),
        ("a not or b", "nothing behind not", "not"),
        ("(a and) b", "nothing behind and", "and"),
        ('a "b c', 'no closing "', '"b c'),
        ("tag:'b c", "no closing '", "'b c"),
        ("a staet:running", "no field staet: did you mean state?", "staet"),
        (
            "a lr>3",
            "no field lr: there are name, tag, state, step, config.lr, summary.lr, …; quotes make it a plain word",
            "lr",
        ),
        ("name.x:3", "no field name.x: did you mean name?", "name.x"),
        ("has:nonsense", "no field nonsense", "nonsense"),
        ("has:", "has: needs a field", ""),
        ("state:runing", "no state runing: waiting, running", "runing"),
        ("state>failed", "states have no order", "failed"),
        ("config.lr>big", "> compares numbers, and big is none", "big"),
        ("config>3", "> needs a path: config.PATH>3", "3"),
        ("step>many", "many is not a number", "many"),
        ("step>", "a value is missing behind >", ""),
        ("created>soon", "soon is no time: 2025-03-01", "soon"),
        ("created:2025-13", "2025-13 is no time", "2025-13"),
        ("duration>long", "long is not so long: 90s", "long"),
        ("name:[a", "unterminated character set", "[a"),
        ("[a", "unterminated character set", "[a"),
        ("name:(a+)+b", "could run for ever", "(a+)+b"),
        ("(sort:name)", "for the whole list", "sort:name"),
        ("not sort:name", "for the whole list", "sort:name"),
        ("a sort:", "sort: needs a field", ""),
        ("sort:name,-", "sort: needs a field", "name,-"),
        ("sort:-created,nonsense,name", "no field nonsense", "nonsense"),
        ("sort:-nonsense", "no field nonsense", "nonsense"),
        ("(" * 80 + "a" + ")" * 80, "nested too deep", "("),
    ],
)
def test_it_points_at_what_is_wrong(query: str, message: str, part: str) -> None:
    said, at = place(query)
    assert message in said
    assert at == part


def ordered(query: str) -> str:
    parsed = RunQuery.parse(query)
    assert parsed.error is None, parsed.error
    return "".join(run.run_id[0] for run in parsed.select(RUNS, NOW))


@pytest.mark.parametrize(
    ("query", "runs"),
    [
        ("", "bdcae"),
        ("sort:created", "acdbe"),
        ("sort:-created", "bdcae"),
        ("sort:name", "acbde"),
        ("sort:-name", "edbca"),
        ("sort:step", "dbace"),
        ("sort:-step", "cabde"),
        ("sort:summary.loss", "abdce"),
        ("sort:-summary.loss", "badce"),
        ("sort:config.lr,name", "acbde"),
        ("sort:project sort:-step", "cabde"),
        ("sort:project,-step", "cabde"),
        ("sort:+project,step", "cbade"),
        ("sort:duration", "bdace"),
        ("sort:state,name", "ecabd"),
        ("sort:tag", "abdce"),
        ("mnist sort:step", "ba"),
    ],
)
def test_it_sorts_with_the_newest_first_among_equals_and_those_without_last(query: str, runs: str) -> None:
    assert ordered(query) == runs


def test_what_it_does_is_told() -> None:
    assert (RunQuery("sort:name").sorts, RunQuery("sort:name").selects) == (True, False)
    assert (RunQuery("a").sorts, RunQuery("a").selects) == (False, True)
    assert not RunQuery("  ")
    assert RunQuery("sort:name")


def test_numbers_in_names_are_sorted_by_size() -> None:
    runs = [entry(f"run-{n}") for n in (10, 9, 100)]
    assert [run.run_id for run in RunQuery("sort:id").select(runs, NOW)] == ["run-9", "run-10", "run-100"]


def test_time_goes_on() -> None:
    query = RunQuery("created>1d")
    assert query.matches(RUNS[1], NOW)
    assert not query.matches(RUNS[1], NOW + DAY)
    assert RunQuery("state:running").matches(RUNS[2], NOW)
    assert not RunQuery("state:running").matches(RUNS[2], NOW + DAY)


@given(st.text(alphabet="ab()|-!\"'\\:=<>.,* \t[é", max_size=25))
@example('"\\')
@example("-(")
def test_nothing_that_is_typed_makes_it_fail(text: str) -> None:
    query = RunQuery.parse(text)
    if query.error is not None:
        assert 0 <= query.error.start <= query.error.end <= len(text)
    query.select(RUNS, NOW)


CLAUSES = [clause for field in FIELDS for clause in (f"has:{field.names[0]}", f"sort:-{field.names[0]}")]


@pytest.mark.parametrize("clause", CLAUSES)
def test_every_field_can_be_asked_for_and_sorted_by(clause: str) -> None:
    query = RunQuery.parse(clause)
    assert query.error is None
    query.select(RUNS, NOW)


def test_every_alias_is_known() -> None:
    for name in field_names():
        assert RunQuery(f"has:{name}").error is None
        assert RunQuery(f"has:{name.upper()}").error is None


query_parts = st.recursive(
    st.sampled_from(["mnist", "balmy", "state:failed", "step>100", "config.lr<1", "has:tag", "summary.loss>0"]),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda pair: ("and", *pair)),
        st.tuples(inner, inner).map(lambda pair: ("or", *pair)),
        inner.map(lambda one: ("not", one)),
    ),
    max_leaves=8,
)


def spelt(tree: Any) -> str:
    if isinstance(tree, str):
        return tree
    if tree[0] == "not":
        return f"not ({spelt(tree[1])})"
    return f"({spelt(tree[1])}) {tree[0]} ({spelt(tree[2])})"


def truth(tree: Any, run: RunEntry) -> bool:
    if isinstance(tree, str):
        return RunQuery(tree).matches(run, NOW)
    if tree[0] == "not":
        return not truth(tree[1], run)
    combine: Callable[[list[bool]], bool] = all if tree[0] == "and" else any
    return combine([truth(tree[1], run), truth(tree[2], run)])


@given(query_parts)
def test_parentheses_mean_what_they_mean(tree: Any) -> None:
    query = RunQuery(spelt(tree))
    assert query.error is None
    for run in RUNS:
        assert query.matches(run, NOW) == truth(tree, run)


@pytest.mark.parametrize(
    ("text", "interval"),
    [
        ("90", (90, 91)),
        ("90s", (90, 91)),
        ("1.5h", (5400, 5400)),
        ("1h30m", (5400, 5460)),
        ("2min", (120, 180)),
        ("1w2d", (777600, 864000)),
        ("01:30:00", (5400, 5401)),
        ("2:05", (125, 126)),
    ],
)
def test_spans(text: str, interval: tuple[float, float]) -> None:
    assert span(text) == interval


def test_what_is_no_span_moment_or_number() -> None:
    assert [span(text) for text in ("", "h", "1y", "1h!", "-1h")] == [None] * 5
    assert [moment(text, NOW) for text in ("", "x", "2025-13", "20", "2025-01-01T25:00", "12:30")] == [None] * 6
    assert [number(text) for text in ("", "k", "1.2.3", "0x10")] == [None] * 4
    assert [number(text) for text in ("1e-3", "10k", "-2.5", "3M", ".5")] == [1e-3, 1e4, -2.5, 3e6, 0.5]


def test_moments_are_local(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    low, high = moment("2025-11-02", NOW) or (0.0, 0.0)
    assert high - low == 25 * 3600  # the day on which the clocks were put back
    assert time.strftime("%H:%M", time.localtime(low)) == "00:00"
