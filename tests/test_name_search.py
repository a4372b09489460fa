"""Filters over very many names, a moment at a time, and patterns that would take for ever."""

from __future__ import annotations

import re
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leet.model import name_search
from leet.model.filter import TextFilter
from leet.model.name_search import NameSearch
from leet.model.time_limit import TimeLimitError, time_limit

ENDLESS = r"(\w|\d\d)+:"
"""Doubles its work with every two digits of a name that has no colon behind them."""
DIGITS = "12345678901234567890" * 3


def in_slices(wanted: TextFilter, names: tuple[str, ...]) -> list[str]:
    search = NameSearch(wanted, names)
    known = list(search.found)
    while not search.done:
        search.go_on(0.0002)
        if wanted.error is None:
            assert list(search.found[: len(known)]) == known, "what is known so far stays"
        known = list(search.found)
    return known


@pytest.mark.parametrize(
    ("text", "mode"),
    [("", "regex"), ("7", "regex"), ("r_.*9$", "regex"), ("^GROUP", "regex"), (r"\d\d/", "regex"), ("*o*1?9", "glob")],
)
def test_slices_find_what_one_go_finds(text: str, mode: str) -> None:
    names = tuple(f"Group_{i // 100}/layer_{i}" for i in range(5000))
    wanted = TextFilter(text, mode)  # type: ignore[arg-type]
    expected = [name for name in names if wanted.matches(name)]
    assert expected
    assert in_slices(wanted, names) == wanted.select(names) == expected


_PIECES = st.sampled_from(
    [
        ".*",
        ".+?",
        "a",
        "B",
        "ab",
        "c.",
        "[^a]",
        "^",
        "$",
        "|",
        "(a|b)",
        "(?:c)",
        "x?",
        "b{2}",
        "/",
        r"\d",
        r"\S",
        r"\W",
        "é",
    ]
)
_NAMES = st.lists(st.text("abcxABé/1 \n_İ", max_size=12), max_size=12).map(tuple)


@given(st.lists(_PIECES, max_size=6).map("".join), st.sampled_from(["regex", "glob"]), _NAMES)
def test_every_pattern_finds_the_same_in_slices_as_by_itself(text: str, mode: str, names: tuple[str, ...]) -> None:
    wanted = TextFilter(text, mode)  # type: ignore[arg-type]
    if wanted.error:
        return
    assert in_slices(wanted, names) == [name for name in names if wanted.matches(name)]
    if mode == "regex":
        assert wanted.select(names) == [name for name in names if re.search(text, name.lower(), re.IGNORECASE)]


def test_a_pattern_that_takes_for_ever_is_given_up() -> None:
    wanted = TextFilter(ENDLESS)
    assert wanted.error is None
    names = tuple(f":layer_{i}/{DIGITS}" for i in range(1000))
    began = time.thread_time()
    assert in_slices(wanted, names) == []
    assert wanted.error == "this pattern takes too long"
    assert time.thread_time() - began < 5, "the work of a moment: not that of 2^30 steps"


def test_so_is_one_that_takes_for_ever_with_a_single_subject() -> None:
    for asked in (TextFilter(ENDLESS), TextFilter("(.*)(.*)(.*)(.*)(.*)(.*):$")):
        assert not asked.matches("x" * 2000)
        assert asked.error == "this pattern takes too long"
        assert not asked.matches("a:"), "it holds for nothing any more"
    marked = TextFilter(ENDLESS)
    assert marked.spans(":" + DIGITS) == []
    assert marked.error


def test_a_name_that_is_slow_does_not_condemn_its_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many names that are each done in time may be too many for one slice."""
    slow = {"n70", "n71", "n72"}
    limit = name_search.ONE_SUBJECT

    class Slow(TextFilter):
        def among(self, names, low):  # type: ignore[no-untyped-def]
            end = time.thread_time() + sum(name in slow for name in names) * 0.6 * limit
            while time.thread_time() < end:
                pass
            return list(names)

    names = tuple(f"n{i}" for i in range(200))
    wanted = Slow("n")
    assert in_slices(wanted, names) == list(names)
    assert wanted.error is None


def test_too_many_names_for_a_slow_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(name_search, "PATIENCE", 0.0)
    wanted = TextFilter("a.*b")
    search = NameSearch(wanted, ("ab", "a_b", "acb"))
    assert search.go_on()
    assert wanted.error
    assert search.found == []


def test_the_limit_ends_work_and_nothing_else() -> None:
    with pytest.raises(TimeLimitError), time_limit(0.02):
        re.search(r"(a|aa)+$", "a" * 60 + "b")
    with time_limit(0.02):
        pass
    end = time.thread_time() + 0.06
    while time.thread_time() < end:  # the timer of the limit before must not ring here
        pass


def test_in_other_threads_there_is_no_limit() -> None:
    found: list[bool] = []

    def work() -> None:
        with time_limit(0.001):
            end = time.thread_time() + 0.03
            while time.thread_time() < end:
                pass
        found.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [True]
