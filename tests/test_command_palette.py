"""What the command palette finds among very many metrics and runs."""

from __future__ import annotations

from leet.tui.palette import MOST, TIER, PlainMatcher, found

NAMES = [f"group_{i // 50}/metric_{i}" for i in range(100_000)]


def listed(query: str) -> list[tuple[float, str]]:
    direct = [name for name in NAMES if query in name][:MOST]
    return list(found(NAMES, direct, str, PlainMatcher(query), TIER))


def test_what_nearly_all_names_hold_lists_no_more_than_a_screen_can_take() -> None:
    assert [name for _, name in listed("metric")] == NAMES[:MOST]


def test_letters_in_order_fill_the_list_behind_what_holds_the_text() -> None:
    hits = listed("ic_777")
    direct = [name for score, name in hits if score > TIER]
    assert direct == [name for name in NAMES if "ic_777" in name]
    assert len(direct) < len(hits) <= MOST
    others = [score for score, _ in hits[len(direct) :]]
    assert others == sorted(others, reverse=True)
    assert min(others) > 0


def test_the_best_of_the_others_come_first() -> None:
    hits = listed("gm9")
    assert len(hits) == MOST
    assert all(0 < score < TIER for score, _ in hits)
    best = max(NAMES[:2000], key=PlainMatcher("gm9").match)
    assert PlainMatcher("gm9").match(best) == hits[0][0]
