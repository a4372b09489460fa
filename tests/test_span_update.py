from __future__ import annotations

import io

import pyte
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate
from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.strip import Strip
from textual.widgets import Static

from leet.tui.span_update import FrameUpdate, Shown, SpanScreen, SpanUpdate, Writer, send

WIDTH, HEIGHT = 24, 3
STYLES = [
    None,
    Style(color="#ff8800", bgcolor="#101318"),
    Style(color="#00ff88", bgcolor="#101318"),
    Style(color="#00ff88", bgcolor="#101318", bold=True),
    Style(color="#00ff88", bgcolor="#303030", underline=True),
    Style(color="red", reverse=True),
    Style(bgcolor="blue"),
    Style(italic=True),
]

console = Console(file=io.StringIO(), color_system="truecolor", force_terminal=True, width=WIDTH)

segments = st.lists(
    st.tuples(st.sampled_from(["a", "  ", "⠁⠂", "xyz ", " "]), st.sampled_from(STYLES)), min_size=1, max_size=9
)


def strip(parts: list[tuple[str, Style | None]], width: int) -> Strip:
    return Strip([Segment(text, style) for text, style in parts]).adjust_cell_length(width, STYLES[1])


def cells(data: str) -> list[list[pyte.screens.Char]]:
    """What a terminal shows; a blank has only the ink that shows on it."""
    screen = pyte.Screen(WIDTH, HEIGHT)
    pyte.Stream(screen).feed(data)
    rows = [[screen.buffer[y][x] for x in range(WIDTH)] for y in range(HEIGHT)]
    return [
        [
            c._replace(fg="default", bold=False, italics=False)
            if c.data == " " and not c.reverse and not c.underscore
            else c
            for c in row
        ]
        for row in rows
    ]


def update(lines: list[list[Strip]], spans: list[tuple[int, int, int]]) -> tuple[str, str]:
    chops, ends = [], []
    for line in lines:
        at, chop = 0, {}
        for piece in line:
            chop[at] = piece
            at += piece.cell_length
        chops.append(chop)
        ends.append([*list(chop)[1:], at])
    return (
        ChopsUpdate(chops, spans, ends).render_segments(console),
        SpanUpdate(chops, spans, ends).render_segments(console),
    )


@settings(deadline=None)
@given(left=st.lists(segments, min_size=HEIGHT, max_size=HEIGHT), right=segments)
def test_whole_lines_look_as_textual_writes_them(left: list, right: list) -> None:
    lines = [[strip(parts, 10), strip(right, WIDTH - 10)] for parts in left]
    theirs, ours = update(lines, [(y, 0, WIDTH) for y in range(HEIGHT)])
    assert cells(ours) == cells(theirs)


@settings(deadline=None)
@given(
    line=segments,
    spans=st.lists(
        st.tuples(st.integers(0, HEIGHT - 1), st.integers(0, WIDTH - 2), st.integers(1, 12)), min_size=1, max_size=4
    ),
)
def test_a_span_is_written_where_it_belongs_and_nowhere_else(line: list, spans: list) -> None:
    whole = strip(line, WIDTH)
    lines = [[whole.crop(0, 9), whole.crop(9, WIDTH)] for _ in range(HEIGHT)]
    bounds = sorted({(y, x, min(WIDTH, x + size)) for y, x, size in spans})
    apart = [b for i, b in enumerate(bounds) if i == 0 or bounds[i - 1][0] != b[0] or bounds[i - 1][2] <= b[1]]
    full, _ = update(lines, [(y, 0, WIDTH) for y in range(HEIGHT)])
    _, ours = update(lines, apart)
    shown, blank = cells(ours), cells("")
    for y in range(HEIGHT):
        for x in range(WIDTH):
            inside = any(row == y and a <= x < b for row, a, b in apart)
            assert shown[y][x] == (cells(full)[y][x] if inside else blank[y][x])


frames = st.lists(segments, min_size=HEIGHT, max_size=HEIGHT)
spans = st.lists(
    st.tuples(st.integers(0, HEIGHT - 1), st.integers(0, WIDTH - 2), st.integers(1, 12), segments),
    min_size=1,
    max_size=4,
)


@settings(deadline=None)
@given(st.lists(st.one_of(frames, spans), min_size=1, max_size=5))
def test_what_is_there_already_is_not_sent_and_the_screen_is_the_same(steps: list) -> None:
    """The same whole frames and spans with and without a memory of what the terminal shows."""
    shown = Shown()
    plain = remembering = ""
    for step in steps:
        if isinstance(step[0], tuple) and len(step[0]) == 4:
            for y, x, size, parts in step:
                piece = strip(parts, min(size, WIDTH - x))
                for memory in (None, shown):
                    writer = Writer(console)
                    send(writer, memory, x, y, piece, piece.cell_length)
                    plain += writer.text() if memory is None else ""
                    remembering += writer.text() if memory is shown else ""
        else:
            lines = [[strip(parts, WIDTH)] for parts in step]
            frame = FrameUpdate(lines, Region(0, 0, WIDTH, HEIGHT))
            plain += frame.render_segments(console)
            frame.shown = shown
            remembering += frame.render_segments(console)
            assert frame.render_segments(console) == "", "the same frame again"
    assert cells(remembering) == cells(plain)
    assert len(remembering) <= len(plain)


def test_wide_characters_are_sent_whole() -> None:
    shown = Shown()
    shown.put(0, 0, [Segment("ab", STYLES[1])])
    assert shown.put(0, 0, [Segment("語", STYLES[1])]) == (0, 2)
    assert shown.put(0, 0, [Segment("語", STYLES[1])]) is None
    assert shown.put(0, 0, [Segment("本", STYLES[1])]) == (0, 2)


def test_after_others_have_written_all_is_sent_again() -> None:
    shown = Shown()
    frame = FrameUpdate([[strip([("abc", STYLES[1])], WIDTH)]], Region(0, 0, WIDTH, 1))
    frame.shown = shown
    first = frame.render_segments(console)
    shown.forget()
    assert frame.render_segments(console) == first


def test_a_dot_costs_a_dozen_bytes_not_a_line() -> None:
    chart = [strip([("⠁" * 40, STYLES[1]), ("⠂" * 40, STYLES[2])], 80)]
    theirs, ours = update([chart, chart], [(0, 70, 71), (1, 70, 71)])
    assert len(ours.encode()) < len(theirs.encode()) / 4


@pytest.mark.parametrize("system", ["256", "standard"])
def test_fewer_colours_are_written_as_such(system: str) -> None:
    poor = Console(file=io.StringIO(), color_system=system, force_terminal=True)  # type: ignore[arg-type]
    line = [strip([("abc", STYLES[1])], 3)]
    written = SpanUpdate([{0: line[0]}], [(0, 0, 3)], [[3]]).render_segments(poor)
    assert "38;2" not in written
    assert "abc" in written


class Counted(Static):
    asked = 0

    def render_lines(self, crop: Region) -> list[Strip]:
        self.asked += 1
        return super().render_lines(crop)


class Corners(App[None]):
    """Four widgets; the first and the last change."""

    CSS = "Screen { layout: grid; grid-size: 2 2; } Static { height: 1fr; }"

    def get_default_screen(self) -> SpanScreen[None]:
        return SpanScreen(id="_default")

    def compose(self) -> ComposeResult:
        for k in range(4):
            yield Counted(f"text {k}", id=f"w{k}")


async def test_only_widgets_that_changed_are_asked() -> None:
    app = Corners()
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.pause()
        widgets = list(app.query(Counted))
        for widget in widgets:
            widget.asked = 0
        widgets[0].update("new")
        widgets[3].update("newer")
        await pilot.pause()
        assert [bool(widget.asked) for widget in widgets] == [True, False, False, True]
        shown = [strip.text for strip in app.screen._compositor.render_strips()]
        assert shown[0].startswith("new ")
        assert "text 1" in shown[0]
        assert "newer" in shown[5]
