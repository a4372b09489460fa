"""Nothing that a terminal obeys or hides is left in a cleaned text."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from leet.model.safe_text import clean, plain_line, strip_escapes

ANYTHING = st.text(st.characters(codec=None, categories=None))
ESCAPES = st.lists(
    st.sampled_from(
        [
            "\x1b[2J",
            "\x1b]0;title\x07",
            "\x1b]8;;http://x\x1b\\",
            "\x9b1m",
            "\x1bP+q\x1b\\",
            "\x1b",
            "\r",
            "\b",
            "\t",
            "a",
            *("\u202e", "\u2066", "\u200b", "\ud800", "\n", "é", "界", "\x7f", "\x85"),
        ]
    )
).map("".join)


def is_safe(text: str, allowed: str = "") -> bool:
    return all(c in allowed or unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Zl", "Zp") for c in text)


def test_everything_unseen_becomes_visible():
    assert clean("loss\x1b[31m") == "loss␛[31m"
    assert clean("a\nb\tc\x7f") == "a␊b␉c␡"
    assert clean("abc\u202etxt") == "abc\\u202etxt"
    assert clean("\x9b2J") == "\\x9b2J"
    assert clean("a\u200bb\ufeff") == "a\\u200bb\\ufeff"
    assert clean("x\ud83dy") == "x\ufffdy"
    assert clean("\U000e0041") == "\\U000e0041"
    assert clean("one\ntwo\tthree\x1b", keep_newlines=True) == "one\ntwo    three␛"


def test_harmless_text_is_not_touched():
    for text in ("train/loss", "Größe 界 é 🚀", ""):
        assert clean(text) is text or clean(text) == text


@given(ANYTHING | ESCAPES)
def test_cleaned_text_is_safe_and_stays_as_it_is(text: str):
    cleaned = clean(text)
    assert is_safe(cleaned)
    assert clean(cleaned) == cleaned
    cleaned.encode()
    lines = clean(text, keep_newlines=True)
    assert is_safe(lines, allowed="\n")
    assert lines.count("\n") == text.count("\n")


@given(
    st.lists(
        st.sampled_from(["\x1b[31m", "\x1b[0;1m", "\x1b[2K", "\x1b]0;t\x07", "\x1b(B", "\x1b]8;;u\x1b\\", "word", " "])
    )
)
def test_escapes_are_cut_out_whole(parts: list[str]):
    assert strip_escapes("".join(parts)) == "".join(p for p in parts if p in ("word", " "))


def test_a_line_as_it_ended_up():
    assert plain_line("10%\r50%\r100%") == "100%"
    assert plain_line("100%\r") == "100%"
    assert plain_line("\x1b[32mok\x1b[0m") == "ok"
    assert plain_line("abc\b\bX") == "aX"
    assert plain_line("a\tb") == "a    b"
    assert plain_line("x\r\x1b[K") == ""


@given(ANYTHING | ESCAPES)
def test_a_line_is_safe(text: str):
    assert is_safe(plain_line(text))
