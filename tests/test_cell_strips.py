from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from rich.style import Style

from leet.charts.cells import Cells, Role
from leet.tui.widgets.cell_strips import JOIN_GAP, changed_spans, strips

STYLES = {
    role: Style(color=f"color({role % 255})", bgcolor="black")
    for role in (*range(13), *range(100, 110), *range(1000, 1256))
}


def grid(*rows: str, role: int = Role.SERIES) -> Cells:
    cells = Cells(max(map(len, rows)), len(rows))
    for y, row in enumerate(rows):
        cells.put(0, y, row, role)
    return cells


def spans(before: Cells, after: Cells) -> list[tuple[int, int, int]]:
    return list(changed_spans(before.codes, before.roles, after))


def test_strips_say_what_the_cells_say() -> None:
    cells = grid("ab  cd", "⠁⠂⠄ ⡀")
    lines = list(strips(cells, range(2), STYLES.__getitem__))
    assert [line.text for line in lines] == ["ab  cd", "⠁⠂⠄ ⡀ "]
    assert all(line.cell_length == cells.width for line in lines)
    assert lines == [line.simplify() for line in lines]


def test_blanks_join_the_curve_before_them() -> None:
    cells = Cells(9, 1)
    cells.put(1, 0, "⠁", Role.SERIES)
    cells.put(4, 0, "⠁", Role.SERIES)
    cells.put(7, 0, "x", Role.MARK)
    (line,) = strips(cells, [0], STYLES.__getitem__)
    assert [segment.text for segment in line] == [" ", "⠁  ⠁  ", "x "]


def test_blanks_in_a_heat_map_keep_their_own_colour() -> None:
    cells = Cells(4, 1)
    cells.put(0, 0, "  ", Role.HEAT + 200)
    (line,) = strips(cells, [0], STYLES.__getitem__)
    assert [(s.text, s.style) for s in line] == [("  ", STYLES[Role.HEAT + 200]), ("  ", STYLES[Role.BLANK])]


def test_equal_grids_have_no_spans() -> None:
    assert spans(grid("abc"), grid("abc")) == []
    assert spans(grid("a c"), grid("a c", role=Role.SERIES)) == []


def test_a_blank_that_changes_its_role_is_no_change() -> None:
    before, after = Cells(5, 1), Cells(5, 1)
    after.roles[0, 2] = Role.SERIES
    assert spans(before, after) == []
    after.roles[0, 2] = Role.HEAT
    assert spans(before, after) == [(0, 2, 3)]


def test_near_changes_are_one_span() -> None:
    before = grid("." * 40)
    after = grid("." * 40)
    after.put(3, 0, "x", Role.SERIES)
    after.put(3 + JOIN_GAP, 0, "x", Role.SERIES)
    after.put(30, 0, "x", Role.MARK)
    assert spans(before, after) == [(0, 3, 4 + JOIN_GAP), (0, 30, 31)]


@given(st.data())
def test_repainting_the_spans_makes_the_new_picture(data: st.DataObject) -> None:
    width, height = data.draw(st.integers(1, 30)), data.draw(st.integers(1, 4))
    size = width * height

    def some() -> Cells:
        cells = Cells(width, height)
        codes = data.draw(st.lists(st.sampled_from([32, 65, 0x2801]), min_size=size, max_size=size))
        roles = data.draw(st.lists(st.sampled_from(sorted(STYLES)[::7]), min_size=size, max_size=size))
        cells.codes[:] = np.reshape(codes, (height, width))
        cells.roles[:] = np.reshape(roles, (height, width))
        return cells

    before, after = some(), some()
    shown = [list(_cells(line)) for line in strips(before, range(height), STYLES.__getitem__)]
    wanted = [list(_cells(line)) for line in strips(after, range(height), STYLES.__getitem__)]
    for y, first, end in spans(before, after):
        shown[y][first:end] = wanted[y][first:end]
    assert shown == wanted


def _cells(line):  # type: ignore[no-untyped-def]
    """(character, colour if it has ink, background) of each cell of a strip."""
    for text, style, _ in line:
        for char in text:
            yield char, style.color if char != " " else None, style.bgcolor
