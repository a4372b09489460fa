"""Natural order: numbers by size, letters without case, stable for any names."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from leet.model.natural import NaturalOrder, decimal_key, natural_key, natural_keys, natural_positions, natural_sorted


def test_numbers_sort_by_size():
    assert natural_sorted(["l10", "l9", "l2", "L1", "l"]) == ["l", "L1", "l2", "l9", "l10"]
    assert natural_sorted(["GPU 10 · a", "GPU 2 · b", "GPU 2 · a"]) == ["GPU 2 · a", "GPU 2 · b", "GPU 10 · a"]
    assert natural_sorted(["v1.10.0", "v1.9.12", "v1.9.2"]) == ["v1.9.2", "v1.9.12", "v1.10.0"]
    assert natural_sorted(["b", "A", "a", "B"]) == ["A", "a", "B", "b"]


def test_names_of_runs_have_decimals_in_them():
    for names in (
        [
            "lr-1e-5",
            "lr-0.0003",
            "lr-0.001",
            "lr-0.003",
            "lr-0.01",
            "lr-0.03",
            "lr-0.1",
            "lr-0.1a",
            "lr-0.15",
            "lr-1",
            "lr-1.5",
            "lr-10",
        ],
        ["run", "run-2", "run-2_a", "run-2.5", "run-10", "run-10-b"],
        ["v1.9", "v1.9.2", "v1.10", "v1.10.0", "v2"],
        ["1.9.2", "1.9.12", "1.10.0"],
        ["l.2", "l.10", "l.10.9", "l.10.10"],
        ["seed1-lr0.01", "seed1-lr0.1", "seed2-lr0.001"],
        ["a-2e4", "a-3e4", "b-1e99999", "b-2e99999"],
    ):
        assert sorted(names, key=decimal_key) == names
    assert decimal_key("x0.10") == decimal_key("X00.1")


@given(st.integers(0, 10**30), st.integers(0, 10**30), st.integers(0, 3))
def test_a_number_sorts_like_its_value(a: int, b: int, zeros: int):
    left, right = natural_key(f"x{'0' * zeros}{a}y"), natural_key(f"x{b}y")
    assert (left < right) == (a < b)
    assert (left == right) == (a == b)


@given(st.lists(st.lists(st.text(max_size=6), max_size=5), max_size=5))
def test_names_that_come_in_pieces_end_in_the_order_of_all(pieces: list[list[str]]):
    order, seen = NaturalOrder(), set()
    for piece in pieces:
        fresh = list(dict.fromkeys(name for name in piece if name not in seen))
        seen.update(fresh)
        order.add(fresh)
        assert list(order.names()) == natural_sorted(seen)
        assert order.names() is order.names()
        assert len(order) == len(seen)


@given(st.lists(st.text(max_size=8) | st.from_regex(r"[A-Z0-9Σİ_/.]{0,9}", fullmatch=True), max_size=100))
def test_keys_made_together_are_those_made_one_by_one(names: list[str]):
    assert natural_keys(names) == [natural_key(name) for name in names]
    many = [*names, *(f"Σ{n:03}/x" for n in range(64))]
    assert natural_keys(many) == [natural_key(name) for name in many]


def test_names_with_zeros_and_ones():
    order = NaturalOrder()
    order.add(names := ["\0b", "\1a", "\0", "\1", "a\0", "a"])
    assert list(order.names()) == natural_sorted(names)


@settings(max_examples=20)
@given(st.lists(st.from_regex(r"[A-Z0_/.\x00é]{0,3}[0-9]{0,9}/?[0-9]{0,90}", fullmatch=True), max_size=50))
def test_very_many_names_are_put_in_order_as_a_few_are(names: list[str]):
    for filling in ("/x", "/X", "é", "\n"):  # the last two go another way
        many = [*names, *(f"{n % 1500:03}{filling}{n * n % 7:07}" for n in range(4096)), *names]
        assert [many[at] for at in natural_positions(many)] == natural_sorted(many)


def test_equal_names_stay_as_they_are():
    many = [f"a/{n % 2000:05}" for n in range(5000)]
    assert natural_positions(many) == sorted(range(5000), key=lambda at: (many[at], at))
