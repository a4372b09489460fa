"""Which rows the overview shows: a filter over few and over many of them, and rows that change under it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from leet.tui.widgets import overview_sections
from leet.tui.widgets.overview_sections import FEW, SOME, Row, Section, ShownSections


class Clock:
    """Time that passes only while rows are looked at, and as far as a test lets it."""

    def __init__(self) -> None:
        self.now = 100.0
        self.seconds_per_row = 0.0
        self.looked_at: list[str] = []

    def __call__(self) -> float:
        return self.now

    def even(self, row: Row) -> bool:
        """A filter that takes its time and keeps every second row."""
        self.now += self.seconds_per_row
        self.looked_at.append(row.key)
        return int(row.key) % 2 == 0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(overview_sections, "monotonic", made)
    return made


def rows(count: int, value: str = "1") -> list[Row]:
    return [Row(str(number), value) for number in range(count)]


def keys(shown: Sequence[Row]) -> list[int]:
    return [int(row.key) for row in shown]


def test_without_a_filter_every_row_is_shown() -> None:
    sections = ShownSections()
    many = rows(2 * FEW)
    sections.show([Section("", rows(3)), Section("Config", many)])
    assert len(sections) == 2
    assert [shown.section.title for shown in sections] == ["", "Config"]
    assert sections[1].rows is many
    assert sections.count == (3 + 2 * FEW, 3 + 2 * FEW)
    assert not sections.left
    assert sections.late is None


def test_few_rows_are_filtered_in_one_go_however_long_it_takes(clock: Clock) -> None:
    sections = ShownSections()
    sections.show([Section("", rows(3)), Section("Config", rows(FEW))])
    clock.seconds_per_row = 1.0
    sections.filter(clock.even)
    assert not sections.left
    assert sections.count == (2 + FEW // 2, 3 + FEW)
    assert keys(sections[1].rows) == list(range(0, FEW, 2))


def test_many_rows_are_filtered_in_slices(clock: Clock) -> None:
    total = FEW + 10 * SOME + 1
    sections = ShownSections()
    sections.show([Section("", rows(3)), Section("Summary", rows(total))])
    clock.seconds_per_row = 0.001
    sections.filter(clock.even)
    # A section of few rows is done; of the other so many are as there is time for before the first picture.
    assert keys(sections[0].rows) == [0, 2]
    assert len(clock.looked_at) == 3 + SOME
    assert keys(sections[1].rows) == list(range(0, SOME, 2))
    assert sections.left
    assert sections.count == (2 + SOME // 2, 3 + total)
    sections.sift(2.5 * SOME * clock.seconds_per_row)
    assert len(clock.looked_at) == 3 + 4 * SOME
    assert keys(sections[1].rows) == list(range(0, 4 * SOME, 2))
    slices = 0
    while sections.left:
        sections.sift(0.0)
        slices += 1
    assert slices == -(-total // SOME) - 4
    assert len(clock.looked_at) == 3 + total
    assert keys(sections[1].rows) == list(range(0, total, 2))


def test_another_filter_begins_anew_and_none_shows_all(clock: Clock) -> None:
    many = rows(2 * FEW)
    sections = ShownSections()
    sections.show([Section("", many)])
    sections[0].top = 40
    clock.seconds_per_row = 1.0
    sections.filter(clock.even)
    assert sections[0].top == 0
    assert sections.left
    clock.seconds_per_row = 0.0
    sections.filter(lambda row: row.key.endswith("7"))
    assert not sections.left
    assert keys(sections[0].rows) == list(range(7, 2 * FEW, 10))
    sections.filter(None)
    assert sections[0].rows is many
    assert sections.count == (2 * FEW, 2 * FEW)


def test_few_rows_that_change_are_filtered_again_at_once(clock: Clock) -> None:
    sections = ShownSections()
    sections.show([Section("Config", rows(10))])
    sections.filter(clock.even)
    sections[0].top = 2
    sections.show([Section("Config", rows(14, "2"))])
    assert [(row.key, row.value) for row in sections[0].rows] == [(str(key), "2") for key in range(0, 14, 2)]
    assert sections.count == (7, 14)
    assert sections[0].top == 2
    assert sections.late is None


def test_many_rows_that_change_wait_and_those_before_stay_meanwhile(clock: Clock) -> None:
    sections = ShownSections()
    sections.show([Section("Summary", rows(2 * FEW))])
    clock.seconds_per_row = 0.001
    began = clock.now
    sections.filter(clock.even)
    newer = [Section("Summary", rows(2 * FEW + 2, "2"))]
    # While rows are sought, and for a time in proportion to it, what comes newer is held back.
    sections.show(newer)
    assert sections.late is newer
    while sections.left:
        sections.sift(0.01)
    assert sections.wait == pytest.approx(overview_sections.AGAIN_AFTER * (clock.now - began))
    sections[0].top = 5
    before = sections[0].rows
    sections.show(newer)
    assert sections.late is newer
    assert sections[0].rows is before
    # Then it is gone through, with what passed before on the screen until it is done.
    clock.now += sections.wait + 0.001
    sections.show(newer)
    assert sections.late is None
    assert sections.left
    assert sections[0].rows is before
    assert sections.count == (FEW, 2 * FEW + 2)
    while sections.left:
        assert sections[0].rows is before
        sections.sift(0.01)
    assert keys(sections[0].rows) == list(range(0, 2 * FEW + 2, 2))
    assert {row.value for row in sections[0].rows} == {"2"}
    assert sections[0].top == 5


def test_rows_that_are_the_same_are_not_filtered_again(clock: Clock) -> None:
    shown = [Section("Summary", rows(2 * FEW))]
    sections = ShownSections()
    sections.show(shown)
    sections.filter(clock.even)
    looked_at = len(clock.looked_at)
    clock.now += 1000.0
    sections.show(shown)
    assert len(clock.looked_at) == looked_at == 2 * FEW
    assert sections.late is None
    assert sections.count == (FEW, 2 * FEW)
