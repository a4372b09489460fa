"""The text filter."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leet.model.filter import TextFilter

NAMES = ("train/loss", "val/loss", "train/acc@5", "lr", "layers.10.grad[0]", "LOSS_total", "a.b", "axb")


def chosen(text: str, mode: str = "regex") -> list[str]:
    found = TextFilter(text, mode)  # type: ignore[arg-type]
    names = found.select(NAMES)
    assert names == [name for name in NAMES if found.matches(name)]
    return names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", list(NAMES)),
        ("loss", ["train/loss", "val/loss", "LOSS_total"]),
        ("LoSS", ["train/loss", "val/loss", "LOSS_total"]),
        ("^l", ["lr", "layers.10.grad[0]", "LOSS_total"]),
        ("loss$", ["train/loss", "val/loss"]),
        ("train|lr", ["train/loss", "train/acc@5", "lr"]),
        (r"\d+", ["train/acc@5", "layers.10.grad[0]"]),
        (r"\S{11}", ["train/acc@5", "layers.10.grad[0]"]),
        (r"\bLR\b", ["lr"]),
        ("a.b", ["a.b", "axb"]),
        (r"a\.b", ["a.b"]),
        ("[X-Z]b", ["axb"]),
        ("(?P<Name>ACC)@", ["train/acc@5"]),
        (r"^\Wx", []),
    ],
)
def test_regex(text: str, names: list[str]):
    assert chosen(text) == names
    assert TextFilter(text).error is None


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("tr*LOSS", ["train/loss"]),
        ("l?s", ["train/loss", "val/loss", "LOSS_total"]),
        ("a.b", ["a.b"]),
        ("a[.]b", ["a.b"]),
        ("a[!.]b", ["axb"]),
        ("grad[[]", ["layers.10.grad[0]"]),
        ("grad[", ["layers.10.grad[0]"]),
        ("*", list(NAMES)),
        ("/*5", ["train/acc@5"]),
        ("^", []),
        ("[0-9][0-9]", ["layers.10.grad[0]"]),
    ],
)
def test_glob(text: str, names: list[str]):
    assert chosen(text, "glob") == names


@pytest.mark.parametrize("text", ["(", "[a", "*", "a{2,1}", "(?P<x", r"\1", "(?z)"])
def test_wrong_syntax_says_so_and_matches_nothing(text: str):
    found = TextFilter(text)
    assert found.error
    assert found.select(NAMES) == []
    assert not found.matches("anything")


@pytest.mark.parametrize("text", ["(a+)+$", "(a*)*b", "((a|b)+c?)+", "(.*,){20,}", "(?:x+|y)*z"])
def test_patterns_that_could_run_for_ever_are_refused(text: str):
    found = TextFilter(text)
    assert found.error is not None
    assert "repeat" in found.error
    assert found.select(["a" * 5000]) == []


@pytest.mark.parametrize("text", ["(ab)+c+", "(a+b?){2}", "a+b+c*", "(loss|acc)+"])
def test_harmless_repeats_are_not(text: str):
    assert TextFilter(text).error is None


@given(st.text(), st.lists(st.text()))
def test_any_text_is_a_filter(text: str, names: list[str]):
    for mode in ("regex", "glob"):
        found = TextFilter(text, mode)
        selected = found.select(names)
        assert selected == [name for name in names if found.matches(name)]
        assert not (found.error and selected)


@given(st.text(st.characters(codec="ascii", exclude_characters="*?[")), st.text(st.characters(codec="ascii")))
def test_a_glob_without_wild_cards_is_a_substring(text: str, name: str):
    assert TextFilter(text, "glob").matches(name) == (text.lower() in name.lower())


@given(st.text("ab*?[]!-c"), st.lists(st.text("abc-]"), max_size=8))
def test_a_glob_matches_as_a_plain_translation_does(text: str, names: list[str]):
    """The atomic groups of the real translation must not lose a match that backtracking would find."""
    plain, i = "", 0
    while i < len(text):
        c = text[i]
        close = text.find("]", i + 2 + text.startswith("!", i + 1)) if c == "[" else -1
        if close > 0:
            body = text[i + 1 : close]
            plain += "[" + ("^" if body[0] == "!" else "") + re.escape(body.removeprefix("!")).replace(r"\-", "-") + "]"
            i = close
        else:
            plain += {"*": "(?s:.)*", "?": "."}.get(c, re.escape(c))
        i += 1
    try:
        reference = re.compile(plain, re.IGNORECASE)
    except re.error:
        assert TextFilter(text, "glob").error
        return
    assert TextFilter(text, "glob").select(names) == [name for name in names if reference.search(name)]


def test_the_same_names_are_asked_again_and_again():
    names = tuple(f"Layer.{i}" for i in range(50))
    assert TextFilter("layer.1").select(names) == TextFilter("LAYER.1").select(list(names))
    assert TextFilter("er.49").select(names) == ["Layer.49"]
    assert TextFilter("er.49").select(names[:49]) == []


_PIECES = st.sampled_from(
    [".*", ".*?", "a", "b", "ab", "c.", "[^a]", "^", "$", "|", "(a|b)", "(?:c)", "x?", "b*", "/", "[ab]", "\n"]
)


@given(st.lists(_PIECES, max_size=6).map("".join), st.lists(st.text("abcx/\n", max_size=12), max_size=8))
def test_short_cuts_find_what_the_pattern_finds(text: str, names: list[str]):
    found = TextFilter(text)
    if not found.error:
        reference = re.compile(text)
        expected = [name for name in names if reference.search(name)]
        assert found.select(names) == expected
        assert [name for name in names if found.matches(name)] == expected
