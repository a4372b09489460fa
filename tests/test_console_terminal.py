"""Console text drawn as a terminal draws it: against pyte, whatever is drawn and however it is cut into pieces."""

from __future__ import annotations

import re
import tracemalloc
from itertools import pairwise

import pyte
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from leet.model.console_style import parts, plain, restyled, runs_of
from leet.model.safe_text import UNSAFE
from leet.model.terminal_text import TerminalText

HEIGHT, WIDTH = 8, 20


class Kept:
    """All lines of one terminal, as they are numbered."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def text(self, number: int) -> str:
        return self.lines[number]

    def put(self, number: int, text: str) -> None:
        self.lines[number] = text


def drawn(*pieces: str, height: int = 64, width: int = 4096) -> list[str]:
    kept = Kept()
    terminal = TerminalText(height, width)
    for piece in pieces:
        terminal.feed(piece, kept)
        assert len(terminal.texts) == len(terminal.begins)
        assert all(0 <= begin < max(1, len(piece)) for begin in terminal.begins)
        first = len(kept.lines)
        kept.lines += terminal.texts
        terminal.number(list(range(first, len(kept.lines))))
    return kept.lines


def shown(*pieces: str) -> list[str]:
    return [plain(line) for line in drawn(*pieces)]


def by_pyte(text: str) -> list[list[tuple[str, str]]]:
    """The same by pyte: (character, style) per column of every row, also of those that scrolled out."""
    screen = pyte.HistoryScreen(WIDTH, HEIGHT, history=100_000, ratio=0.5)
    screen.set_mode(pyte.modes.LNM)
    stream = pyte.Stream(screen)
    stream.feed(text)
    rows = [*screen.history.top, *(screen.buffer[y] for y in range(HEIGHT))]
    return [[(row[x].data, _style(row[x])) for x in range(WIDTH)] for row in rows]


_NAMES = {name: code for code, name in pyte.graphics.FG_ANSI.items()} | {
    name: code for code, name in pyte.graphics.FG_AIXTERM.items()
}


def _style(cell: pyte.screens.Char) -> str:
    on = {1: cell.bold, 3: cell.italics, 4: cell.underscore, 7: cell.reverse, 9: cell.strikethrough}
    codes = [str(code) for code, wanted in on.items() if wanted]
    for name, offset in ((cell.fg, 0), (cell.bg, 10)):
        if name == "default":
            continue
        if name in _NAMES:
            codes.append(str(_NAMES[name] + offset))
        else:
            codes.append(f"{38 + offset};2;" + ";".join(str(int(name[i : i + 2], 16)) for i in (0, 2, 4)))
    return ";".join(codes)


def _in_rgb(match: re.Match[str]) -> str:
    """pyte tells the 256 colours by what they usually are."""
    shade = pyte.graphics.FG_BG_256[int(match[2])]
    return f"{match[1]};2;" + ";".join(str(int(shade[i : i + 2], 16)) for i in (0, 2, 4))


def cells_of(line: str) -> list[tuple[str, str]]:
    line = re.sub(r"([34]8);5;(\d+)", _in_rgb, line)
    cells = [(char, style) for text, style in runs_of(line) for char in text]
    return cells + [(" ", "")] * (WIDTH - len(cells))


def seen(cells: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """What can be seen: of a blank only its ground, its underline and the like."""

    def look(char: str, style: str) -> tuple[str, str]:
        if char != " ":
            return char, style
        attributes, _, background = parts(style)
        visible = attributes & {4, 7, 9}
        return char, f"{sorted(visible)}{background}" if visible or background else ""

    return [look(char, style) for char, style in cells]


def looks(*pieces: str) -> list[list[tuple[str, str]]]:
    return [seen(cells_of(line)) for line in drawn(*pieces)]


SGR = ["", "0", "1", "3", "4", "7", "9", "22", "23", "24", "27", "29", "31", "39", "44", "49", "92", "102", "1;33"]
SGR += ["38;2;1;2;3", "48;2;200;100;0;1", "38;5;196", "48;5;20", "7;38;5;9;4"]
MOVES = ["\x1b[A", "\x1b[2A", "\x1b[B", "\x1b[3C", "\x1b[2D", "\x1b[5G", "\x1b[H", "\x1b[3;4H", "\x1b[2d", "\x1b[E"]
MOVES += ["\x1b[2F", "\r", "\b", "\t", "\x1bE", "\x1b[99D", "\x1b[99C"]
# Always in pairs: without one saved, or a second time, pyte goes home and keeps its pen, which terminals do not.
SAVED = st.tuples(
    st.sampled_from([f"\x1b[{code}m" for code in SGR]), st.sampled_from(MOVES), st.text("abc█", max_size=9)
)
# Erased without a style: pyte fills with the ground of the pen, but a log has no right edge to fill up to.
ERASE = [
    f"\x1b[m{act}" for act in ("\x1b[K", "\x1b[1K", "\x1b[2K", "\x1b[J", "\x1b[1J", "\x1b[2J", "\x1b[2X", "\x1b[P")
]
STEP = st.one_of(
    st.text("abc xyz│█─", min_size=1, max_size=26),
    st.just("\n"),
    st.sampled_from([f"\x1b[{code}m" for code in SGR]),
    st.sampled_from(MOVES),
    SAVED.map(lambda between: "\x1b7" + "".join(between) + "\x1b8"),
    st.sampled_from(ERASE),
    st.sampled_from(["\x1b[?25l", "\x1b]0;title\x07", "\x1b]8;;http://x\x1b\\", "\x1b(B", "\x07"]),
)


@given(st.lists(STEP, max_size=40))
@example(["abc", "\x1b7", "\n" * 9, "\x1b8", "x"])
@example(["a" * 20, "\b", "x", "y", "z"])
@example(["a" * 20, "\x1b[D", "\x1b[K"])
def test_it_draws_what_pyte_draws(steps: list[str]) -> None:
    text = "".join(steps)
    mine = drawn(text, height=HEIGHT, width=WIDTH)
    theirs = by_pyte(text)
    blank = [(" ", "")] * WIDTH
    assert len(mine) <= len(theirs)
    for number, row in enumerate(theirs):
        line = cells_of(mine[number]) if number < len(mine) else blank
        assert seen(line) == seen(row), (number, mine)


@given(st.text("ab\n\r\t\b\x1b[]0123;mAKJ?é漢\u0301", max_size=60), st.lists(st.integers(0, 60), max_size=6))
def test_it_does_not_matter_how_text_is_cut(text: str, cuts: list[int]) -> None:
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [text[a:b] for a, b in pairwise(places)]
    assert looks(*pieces) == looks(text)


@given(st.text(max_size=200))
def test_nothing_that_a_terminal_obeys_is_left(text: str) -> None:
    for line in drawn(text, height=HEIGHT, width=WIDTH):
        assert UNSAFE.search(plain(line)) is None


@given(st.lists(st.text("ab c\té漢", max_size=12), max_size=12), st.booleans())
def test_whole_lines_are_drawn_as_one_by_one(lines: list[str], styled: bool) -> None:
    """The short cut for lines without controls, against the same lines drawn cell by cell."""
    text = ("\x1b[1;31m" if styled else "") + "".join(f"{line}\n" for line in lines)
    assert looks(text) == looks(*text)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("\r 10%\r 50%\r100%\n", ["100%"]),
        ("long line\rshort\n", ["shortline"]),
        ("\x1b[31mred\x1b[0m\r\nnext\n", ["red", "next"]),
        ("a\n\nb", ["a", "", "b"]),
        ("one\ntwo\n\x1b[2Ax", ["xne", "two"]),
        ("漢字\r\x1b[2Cx\n", ["漢x"]),
        ("漢字\rx\n", ["x 字"]),
        ("e\u0301\n", ["e\u0301"]),
        ("a\x00b\x07c\x01\n", ["abc␁"]),
        ("evil \u202egnp.exe\n", ["evil \\u202egnp.exe"]),
        ("\x1b]0;title\x07ok\x1b]52;c;YWJj\x1b\\!\n", ["ok!"]),
        ("\x1bP1;2q#0!~\x1b\\x\x1b_Gi=1;AAAA\x1b\\y\n", ["xy"]),
        ("\x9b31mc1\x9d0;t\x9c!\n", ["c1!"]),
        ("col\tb\n", ["col     b"]),
        ("\x1b[>1u\x1b[?1049hin\x1b[?1049l\n", ["in"]),
        ("\x1b[999999999999999999Cx\x1b[99999;99999Hy\n", None),
    ],
)
def test_cases(text: str, wanted: list[str] | None) -> None:
    lines = shown(text)
    if wanted is not None:
        assert lines == wanted
    assert all(len(line) <= 4096 for line in lines)


def test_bars_of_several_lines_collapse() -> None:
    """As tqdm draws them with position=1, and as rich redraws a live display."""
    tqdm = "".join(f"\router {i}\n\rinner {i * 2}\x1b[A" for i in range(5)) + "\n\n\rdone\n"
    assert shown(tqdm) == ["outer 4", "inner 8", "done"]
    rich = (
        "".join(f"\r\x1b[2K{i} of 3\n\r\x1b[2Kbar {i}" + "\r\x1b[2K\x1b[1A\x1b[2K" * (i < 3) for i in range(4)) + "\n"
    )
    assert shown(rich) == ["3 of 3", "bar 3"]


def test_an_unfinished_sequence_waits_for_its_end_but_not_for_ever() -> None:
    assert shown("a\x1b", "[3", "1mb") == ["ab"]
    assert shown("a\x1b]0;never ends", "\nnext") == ["a", "next"]
    assert shown("a\x1b]" + "x" * 100_000, "yz\nb\n")[-1] == "b"


def test_a_line_without_an_end_goes_on_in_the_next_row() -> None:
    lines = drawn("x" * 10_000)
    assert [len(line) for line in lines] == [4096, 4096, 10_000 - 8192]


def test_few_bytes_cannot_take_much_memory() -> None:
    text = "\x1b[4000Cx\n" * 2000
    tracemalloc.start()
    lines = drawn(text)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(lines) == 2000
    assert len(lines[-1]) == 4001
    assert peak < 40_000_000


def test_a_pile_of_accents_is_bounded() -> None:
    [line] = drawn("\x1b[1me" + "\u0301" * 5000)
    assert len(plain(line)) < 20


@pytest.mark.parametrize(
    ("style", "codes", "wanted"),
    [
        ("", "1;31", "1;31"),
        ("1;31", "", ""),
        ("1;31", "22;39", ""),
        ("", "38;5;300", ""),
        ("", "38;5;208;1", "1;38;5;208"),
        ("", "38:2::10:20:30", "38;2;10;20;30"),
        ("", "38:2:10:20:30", "38;2;10;20;30"),
        ("", "48:5:17", "48;5;17"),
        ("4", "4:0", ""),
        ("", "4:3", "4"),
        ("", "5;8", ""),
        ("", "38", ""),
        ("31", "999999999999;bogus;7", "7;31"),
        ("97;107", "49", "97"),
    ],
)
def test_styles(style: str, codes: str, wanted: str) -> None:
    assert restyled(style, codes) == wanted


@given(st.lists(st.integers(0, 110), max_size=12))
def test_a_style_is_written_in_one_way(codes: list[int]) -> None:
    style = restyled("", ";".join(map(str, codes)))
    attributes, foreground, background = parts(style)
    assert ";".join([*map(str, sorted(attributes)), *filter(None, (foreground, background))]) == style
    assert restyled("", style) == style
