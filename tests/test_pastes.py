"""What is pasted comes as one piece and does nothing: whatever it holds, and wherever reads cut it."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from example_run import trained
from hypothesis import given
from hypothesis import strategies as st
from terminals import viewer
from textual import events

from leet.tui.driver import PASTE_BEGINS, PASTE_ENDS, VISIBLE_ESCAPE, Keys

PIECES = ("a", "\x1b", "\x1b[A", "\x1bq", "\x03", "\n", PASTE_BEGINS, PASTE_BEGINS[:4], PASTE_ENDS[:5], "[201~", "é")
pasted = st.lists(st.sampled_from(PIECES), min_size=1, max_size=8).map("".join).filter(lambda t: PASTE_ENDS not in t)


@given(pasted, st.lists(st.integers(0, 60), max_size=4))
def test_a_paste_is_one_event_and_no_keys(text: str, cuts: list[int]) -> None:
    # The beginning is left whole: after a while, what comes of it would be the key Esc.
    whole, begins = f"{text}{PASTE_ENDS}q", f"w{PASTE_BEGINS}"
    places = [0, *sorted(min(cut, len(whole)) for cut in cuts), len(whole)]
    keys, found = Keys(), []
    for piece in (begins, *(whole[a:b] for a, b in pairwise(places))):
        found += list(keys.feed(piece))
    assert [type(event) for event in found] == [events.Key, events.Paste, events.Key]
    assert found[1].text == text.replace("\x1b", VISIBLE_ESCAPE)
    assert found[2].key == "q"


def test_a_paste_that_is_told_of_in_two_reads() -> None:
    keys = Keys()
    found = [*keys.feed("w\x1b[2"), *keys.feed("00~a\x1bq\x1b[20"), *keys.feed("1~q")]
    assert [type(event) for event in found] == [events.Key, events.Paste, events.Key]


@pytest.mark.parametrize("before", ["", "/", "\x10"], ids=["charts", "filter", "palette"])
def test_escapes_in_a_paste_press_no_keys(tmp_path: Path, before: str) -> None:
    with viewer(str(trained(tmp_path))) as terminal:
        terminal.until("finished")
        terminal.send(before)
        terminal.pump(1.0)
        terminal.send(f"{PASTE_BEGINS}lo\x1b\x1b\x1bqq\x03ss\x1b[A{PASTE_ENDS}")
        if before:
            terminal.until("lo␛␛␛qq␃ss␛")
        for _ in range(3):
            terminal.pump(0.2)
        assert not terminal._reap()
        terminal.send("\x03")
        assert terminal.end() == 0
