"""What stands around the curves: the frame with title, value and x labels in it, y labels, the legend."""

from __future__ import annotations

from leet.charts.cells import Cells, Role
from leet.charts.layout import Layout
from leet.charts.lettering import Glyphs, mark_of, shorten
from leet.charts.readout import last_value, value_text
from leet.charts.short_names import short_names
from leet.charts.spec import Spec

_SHIFT = 2
"""Columns by which an x label may stand beside its place, where it would touch the name of the axis."""
_LEAST_NAME, _MOST_NAME = 6, 24
"""Columns of a name in the legend, below which its value is left out, and in which it has to fit."""


def draw_frame(cells: Cells, spec: Spec, layout: Layout, signs: Glyphs) -> int | None:
    """The border, the title and the last value in the upper one, the x labels in the lower one.

    Returns the column where the value begins; None when there is no room for it.
    """
    width, height = cells.width, cells.height
    role = Role.FRAME_FOCUSED if spec.focused else Role.FRAME
    if not layout.framed:
        return _title(cells, spec, layout, signs, 0, width, "") if layout.titled else None
    for row, left in ((0, 0), (height - 1, 2)):
        cells.codes[row, 1:-1] = ord(signs.horizontal)
        cells.codes[row, 0], cells.codes[row, -1] = ord(signs.corners[left]), ord(signs.corners[left + 1])
        cells.roles[row] = role
    cells.codes[1:-1, [0, -1]] = ord(signs.vertical)
    cells.roles[1:-1, [0, -1]] = role
    _x_labels(cells, spec, layout, signs)
    return _title(cells, spec, layout, signs, 1, width - 1, signs.horizontal)


def _title(cells: Cells, spec: Spec, layout: Layout, signs: Glyphs, left: int, right: int, line: str) -> int | None:
    """Title, notes and value between two columns; the value goes first when there is little room."""
    space = " " if line else ""
    value = last_value(spec, layout)
    room = right - left - 2 * len(space)
    shown = None
    # The border shows between title and value.
    if value and room - len(value) - 2 - len(line) >= min(len(spec.title), max(6, room // 3)):
        text = space + value + space
        cells.put(right - len(text), 0, text, Role.VALUE)
        shown = right - len(text) + len(space)
        room -= len(value) + 2 + len(line)
    told = [note for note in (*spec.note.split(", "), *notes(spec, layout)) if note]
    # As many as there is room for, the first before the others.
    while told and len(", ".join(told)) + 3 > room - min(len(spec.title), max(8, room // 3)):
        told.pop()
    note = f" ({', '.join(told)})" if told else ""
    title = shorten(spec.title, room - len(note), signs.ellipsis)
    if title:
        after = cells.put(left, 0, space + title, Role.TITLE_FOCUSED if spec.focused else Role.TITLE)
        after = cells.put(after, 0, note, Role.NOTE)
        cells.put(after, 0, space, Role.NOTE)
    return shown


def notes(spec: Spec, layout: Layout) -> list[str]:
    """What the picture does not show by itself: log axis, values without a place, the number that labels leave out."""
    found = []
    if spec.log_y and "log" not in spec.note:
        found.append("log")
    dropped = sum(c.dropped for c in layout.curves)
    if dropped:
        found.append(f"{dropped} <= 0" if spec.ascii else f"{dropped} ≤ 0")
    if spec.threshold is not None:
        found.append(f"{'! ' if spec.crossed else ''}{spec.threshold.in_words(spec.unit.factor)}")
    if spec.x_lost:
        found.append(f"{spec.x_lost} at x {'<=' if spec.ascii else '≤'} 0")
    wrong = sum(c.nonfinite for c in layout.curves)
    if wrong:
        nan = any((c.y != c.y).any() for c in layout.curves)
        infinite = any((abs(c.y) == float("inf")).any() for c in layout.curves)
        found.append(f"{wrong} " + ("NaN/Inf" if nan and infinite else "Inf" if infinite else "NaN"))
    if layout.y_ticks.base:
        found.append(f"y from {layout.y_ticks.base}")
    if layout.x_ticks.base:
        found.append(f"x from {layout.x_ticks.base}")
    return found


def _x_labels(cells: Cells, spec: Spec, layout: Layout, signs: Glyphs) -> None:
    row = cells.height - 1
    area = layout.area
    if layout.y_ticks.labels:
        cells.put(area.left - 1, row, signs.foot, cells.roles[row, 0])
    end = cells.width - 1
    # Times look like times.
    name = f" {spec.x_label} " if spec.x_label and spec.x_kind in ("number", "decades") else ""
    named = bool(name) and len(spec.x_label) + 2 <= area.width // 4
    # The border shows between the last label and the name of the axis.
    ticks = _placed(cells, layout, end - len(name) - 2 if named else end)
    if named and len(ticks) < 2 and len(everywhere := _placed(cells, layout, end)) > len(ticks):
        ticks, named = everywhere, False
    for left, text in ticks:
        cells.put(left, row, text, Role.TICK)
    if named:
        cells.put(end - len(name) - 1, row, name, Role.TICK)


def _placed(cells: Cells, layout: Layout, end: int) -> list[tuple[int, str]]:
    """(first column, text) of the x labels that fit before the column `end`: all, or every second, third, …"""
    labels = []
    for value, label in zip(layout.x_ticks.values, layout.x_ticks.labels, strict=True):
        column = layout.area.column_of(min(max(value, layout.x.lo), layout.x.hi))
        if column is not None:
            labels.append((column, f" {label} "))
    for stride in range(1, len(labels) + 1):
        placed = _side_by_side(labels[::stride], cells.width, end)
        if placed is not None:
            return placed
    return []


def _side_by_side(labels: list[tuple[int, str]], width: int, end: int) -> list[tuple[int, str]] | None:
    """Where labels about these columns go, without those beyond `end`; None when two of them would touch."""
    placed: list[tuple[int, str]] = []
    after = 1
    for column, text in labels:
        left = max(1, min(column - len(text) // 2, width - 1 - len(text)))
        if 0 < left + len(text) - end <= _SHIFT:
            left = end - len(text)
        if placed and left == after:
            left += 1  # the border shows between two labels
        if left + len(text) > end:
            break
        if left < after:
            return None
        placed.append((left, text))
        after = left + len(text)
    return placed


def clear_labels(cells: Cells, left: int, right: int, signs: Glyphs) -> None:
    """Take the x labels that reach into the columns `left` … `right` out of the lower border."""
    labels = cells.roles[-1] == Role.TICK
    while left > 0 and labels[left - 1]:
        left -= 1
    while right < cells.width and labels[right]:
        right += 1
    labels[:left] = labels[right:] = False
    cells.codes[-1, labels] = ord(signs.horizontal)
    cells.roles[-1, labels] = cells.roles[-1, 0]


def draw_y_labels(cells: Cells, spec: Spec, layout: Layout, signs: Glyphs) -> None:
    ticks, area = layout.y_ticks, layout.area
    if not ticks.labels:
        return
    axis = area.left - 1
    rows = slice(area.top, area.top + area.height)
    cells.codes[rows, axis] = ord(signs.vertical)
    cells.roles[rows, axis] = Role.AXIS
    width = ticks.width
    dots = area.height * layout.down
    used: set[int] = set()
    for value, label in zip(ticks.values, ticks.labels, strict=True):
        share = layout.y.share(value)
        if not -1e-6 <= share <= 1 + 1e-6:
            continue
        row = area.top + min(max(round((1.0 - share) * (dots - 1)) // layout.down, 0), area.height - 1)
        if row in used:
            continue
        used.add(row)
        cells.put(axis - width, row, label.rjust(width), Role.TICK)
        cells.put(axis, row, signs.tick, Role.AXIS)


def draw_legend(cells: Cells, spec: Spec, layout: Layout, signs: Glyphs) -> None:
    """A mark, the name and the last value of every curve, as many as fit; how many do not is said."""
    if not layout.legend_rows:
        return
    right = cells.width - 2
    row, column = 1, 2
    names = tuple(curve.label for _, curve in layout.listed)
    short = short_names(names, _MOST_NAME, signs.ellipsis)
    valued = not _names_first(spec, layout, right - 2)
    for count, (place, curve) in enumerate(layout.listed):
        value = value_text(float(curve.y[-1]), spec) if len(curve.y) and valued else ""
        mark = mark_of(spec, place)
        name = short[count]
        wide = len(mark) + 1 + len(name) + (1 + len(value) if value else 0)
        last_row = row == layout.legend_rows
        more = len(layout.curves) - count
        reserve = len(f"  +{more - 1}") if last_row and more > 1 else 0
        if column + wide + reserve > right and not last_row and column > 2:
            row, column = row + 1, 2
            last_row = row == layout.legend_rows
            reserve = len(f"  +{more - 1}") if last_row and more > 1 else 0
        if column + wide + reserve > right and last_row and column > 2:
            cells.put(column, row, f"+{more}", Role.NOTE)
            return
        if column == 2:
            # The first of a row is there whatever the room is: its name gives way, then its value.
            room = right - column - reserve - len(mark) - 1
            if room - len(value) - 1 < min(_LEAST_NAME, len(curve.label)):
                value = ""
            name = short_names(names, max(0, min(_MOST_NAME, room - len(value) - bool(value))), signs.ellipsis)[count]
        column = cells.put(column, row, mark, Role.SERIES + curve.color)
        column = cells.put(column, row, f" {name}"[: max(right - column, 0)], Role.TITLE)
        if value:
            column = cells.put(column, row, f" {value}"[: max(right - column, 0)], Role.VALUE)
        column += 2


def _names_first(spec: Spec, layout: Layout, width: int) -> bool:
    """Whether values are left out of the legend: of groups of runs, where not all names fit with them."""
    if not any(curve.band for curve in layout.curves):
        return False
    rows, used = 1, 0
    for curve in layout.curves:
        value = value_text(float(curve.y[-1]), spec) if len(curve.y) else ""
        wide = len(f"* {curve.label[:_MOST_NAME]} {value}")
        if used and used + 2 + wide > width:
            rows, used = rows + 1, 0
        used += wide + 2 * bool(used)
    return rows > layout.legend_rows
