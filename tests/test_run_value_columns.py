"""Columns of the list of runs that were chosen: how wide they are, what stands in them, and which of them go first."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from leet.model.run_entry import RunEntry
from leet.model.run_value import value_named
from leet.tui.widgets.run_columns import MARK_WIDTH, Columns
from leet.tui.widgets.run_value_columns import GAP, MOST, value_columns


def runs(name: str, *values: object) -> list[RunEntry]:
    return [
        RunEntry(str(n), Path(str(n)), known=True, summary={} if value is None else {name: value})  # type: ignore[dict-item]
        for n, value in enumerate(values)
    ]


def column(*values: object) -> list[str]:
    entries = runs("loss", *values)
    (made,) = value_columns([value_named("summary.loss")], entries, 0.0)
    return [made.cell(entry, 0.0) for entry in entries]


def test_points_of_numbers_stand_below_each_other() -> None:
    assert column(0.5336, 12.1, 3, None) == ["   0.5336", "  12.1   ", "   3     ", "         "]


def test_numbers_with_exponents_stand_at_the_right() -> None:
    assert column(1.5e-9, 2) == ["  1.5e-09", "        2"]


def test_texts_stand_at_the_left_and_are_cut() -> None:
    first, second = column("adam", "a very long name of an optimizer")
    assert first == "  adam" + " " * (MOST - 4)
    assert second.endswith("…")
    assert cell_len(second) == MOST + GAP


def test_the_title_has_room_for_the_arrow() -> None:
    (made,) = value_columns([value_named("summary.loss")], runs("loss", 1), 0.0)
    assert made.head("") == "   loss"
    assert made.head("↑") == "  loss↑"
    (wide,) = value_columns([value_named("summary.a/very/long/name/of/a/metric")], [], 0.0)
    assert len(wide.head("↓")) == wide.width == MOST + GAP


def test_the_last_columns_that_were_chosen_go_first_and_all_others_before_them() -> None:
    widths = [8, 10, 6]
    shown = [Columns.share(width, widths) for width in range(1, 121)]
    counts = [len(columns.values) for columns in shown]
    assert counts == sorted(counts)
    assert counts[-1] == 3
    for width, columns in enumerate(shown, 1):
        taken = columns.name + columns.sign + columns.word + columns.age + columns.step + columns.tags
        assert taken + sum(columns.values) + MARK_WIDTH + 1 == max(width, MARK_WIDTH + 1)
        if columns.values:
            assert columns.name >= 12
        assert columns.values == tuple(widths[: len(columns.values)])
    assert shown[27].values == (8,)
    assert shown[27].age == 0
    assert shown[119].age
    assert shown[119].word


@given(st.lists(st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30), max_size=12))
def test_every_cell_is_as_wide_as_its_column(values: list[object]) -> None:
    entries = runs("loss", *values)
    (made,) = value_columns([value_named("summary.loss")], entries, 0.0)
    assert GAP < made.width <= MOST + GAP
    assert cell_len(made.head("↑")) == made.width
    for entry in entries:
        text = made.cell(entry, 0.0)
        assert cell_len(text) == made.width
        assert not any(char < " " for char in text)
