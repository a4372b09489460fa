"""Pictures: well-formed, without anything from elsewhere, and every shape where its cell is."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

from example_run import trained
from rich.segment import Segment
from rich.style import Style
from rich.terminal_theme import SVG_EXPORT_THEME
from textual.strip import Strip
from viewer import viewing

from leet.tui.picture import BASELINE, HEIGHT, WIDTH, svg
from leet.tui.screenshot import svg_of

SPACE = "{http://www.w3.org/2000/svg}"


def drawn(*lines: list[tuple[str, str]], ground: str = "#000000") -> ElementTree.Element:
    strips = [Strip([Segment(text, Style.parse(style)) for text, style in line]) for line in lines]
    return ElementTree.fromstring(svg(strips, (20, len(lines)), SVG_EXPORT_THEME, ground))


def paths(root: ElementTree.Element) -> list[str]:
    return [path.attrib["d"] for path in root.iter(f"{SPACE}path")]


def test_words_stand_at_their_cells() -> None:
    root = drawn([("ab  cd", "red"), (" 日x", "blue")], [("", "")])
    found = [(t.text, t.get("x"), t.get("y"), t.get("textLength")) for t in root.iter(f"{SPACE}text")]
    y = str(BASELINE)
    assert found == [("ab", "0", y, str(2 * WIDTH)), ("cd", str(4 * WIDTH), y, str(2 * WIDTH)),
                     ("日x", str(7 * WIDTH), y, str(3 * WIDTH))]  # fmt: skip


def test_braille_is_dots() -> None:
    assert paths(drawn([("⠁⢀", "red")])) == ["m2.5 2.75h0m15 16.5h0"]
    assert sum(path.count("h0") for path in paths(drawn([("⣿⣿", "red")]))) == 16


def test_lines_are_joined() -> None:
    middle = HEIGHT / 2
    assert paths(drawn([("───", "red")])) == [f"M0 {middle:g}H{3 * WIDTH}"]
    assert paths(drawn([("│", "red")], [("┤", "red")], [("│", "red")])) == [
        f"M0 {HEIGHT + middle:g}H5M5 0V{3 * HEIGHT}"
    ]


def test_grounds_are_merged_and_blocks_drawn() -> None:
    root = drawn([("ab", "white on red"), ("c", "white")], [("  ", "white on red")], [("▄", "#00ff00")])
    rectangles = [
        tuple(rect.get(name) for name in ("x", "y", "width", "height")) for rect in root.iter(f"{SPACE}rect")
    ][1:]
    assert (("0", "0", str(2 * WIDTH), str(2 * HEIGHT))) in rectangles
    assert ("0", f"{2.5 * HEIGHT:g}", str(WIDTH), f"{HEIGHT / 2:g}") in rectangles
    assert len(rectangles) == 2


def test_what_xml_cannot_say_is_replaced() -> None:
    root = drawn([("<&>\x00]]>", "")])
    assert "".join(text.text or "" for text in root.iter(f"{SPACE}text")) == "<&>\ufffd]]>"


async def test_the_viewer_as_a_picture(tmp_path: Path) -> None:
    async with viewing(trained(tmp_path)) as viewer:
        picture = svg_of(viewer.app)
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|@font-face|@import|url\(", picture)
    root = ElementTree.fromstring(picture)
    words = [text.text for text in root.iter(f"{SPACE}text")]
    assert {"Metrics", "grad_norm", "finished"} <= set(words)
    assert max(path.count("h0") for path in paths(root)) > 200
    assert len(picture) < 100_000
