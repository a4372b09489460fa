"""Keys as a person has set them: read leniently, and shown wherever keys are shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_run import trained
from hypothesis import given
from hypothesis import strategies as st
from viewer import viewing

from leet.settings import store
from leet.tui.commands import COMMANDS, keys_in_words, shown_key
from leet.tui.keymap import NO_KEY, build, keymap, textual_key
from leet.tui.screens.config_screen import ConfigScreen
from leet.tui.screens.help_screen import HelpScreen, help_text
from leet.tui.screens.text_screen import TextScreen


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return trained(tmp_path, rows=20, metrics=40)


@pytest.fixture
def keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Writes the table `[keys]`."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))

    def put(text: str) -> None:
        path = tmp_path / "config" / "leet" / "config.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"[keys]\n{text}\n", encoding="utf-8")
        store.reload()

    return put


# Names of keys


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("q", "q"),
        ("Q", "Q"),
        ("?", "question_mark"),
        ("question_mark", "question_mark"),
        ("/", "slash"),
        ("ctrl+/", "ctrl+slash"),
        ("Ctrl+F", "ctrl+f"),
        ("shift+a", "A"),
        ("alt+ctrl+x", "ctrl+alt+x"),
        ("+", "plus"),
        ("ctrl++", "ctrl+plus"),
        ("F5", "f5"),
        ("PgDn", "pagedown"),
        ("Esc", "escape"),
        ("↑", "up"),
        ("space", "space"),
        ("ü", "ü"),
        (",", "comma"),
    ],
)
def test_keys_are_read_as_people_write_them(written: str, key: str) -> None:
    assert textual_key(written) == key


@pytest.mark.parametrize("written", ["", "  ", "foo", "ctrl+", "ctrl", "ctrl+ctrl+a", "qq", "f25", "\x1b", "shift+"])
def test_what_is_no_key_is_none(written: str) -> None:
    assert textual_key(written) is None


@pytest.mark.parametrize("command", COMMANDS, ids=lambda c: c.id)
def test_what_the_help_shows_can_be_written(command) -> None:  # type: ignore[no-untyped-def]
    for key in command.keys.split(","):
        assert textual_key(shown_key(key)) == key
        assert textual_key(key) == key


# The table


def test_a_key_goes_to_who_is_given_it() -> None:
    found = build({"filter_metrics": ("n",)}, COMMANDS)
    assert found.problems == ()
    assert found.keys == {"filter_metrics": ("n",), "next_page": ("pagedown",)}


def test_a_command_may_have_no_key() -> None:
    found = build({"tail": ()}, COMMANDS)
    assert found.keys == {"tail": ()}
    assert found.for_textual() == {"tail": NO_KEY}


def test_what_is_wrong_is_said_and_costs_nothing_else() -> None:
    found = build(
        {
            "quitt": ("Q",),
            "quit": ("foo", "Q"),
            "help": ("Q",),
            "scale": ("7",),
            "filter_mode": ("a",),
            "smoothing": ("home",),
            "first": ("ctrl+home",),
            "zoom_in": ("minus",),
        },
        COMMANDS,
    )
    assert found.problems == (
        ("quitt", "there is no such command; did you mean quit?"),
        ("quit", "foo is no key; write ctrl+f, F5, pagedown or a character"),
        ("scale", "7 sets grids and shows panes; take another key"),
        ("filter_mode", "a would no longer be text of a filter; take another key"),
        ("help", "Q is the key of quit already, which keeps it"),
        ("zoom_in", "- was the only key of zoom_out, which has none now"),
    )
    assert found.keys["quit"] == ("Q",)
    assert found.keys["help"] == ()
    assert found.keys["smoothing"] == ("home",)
    assert "scale" not in found.keys


def test_the_same_key_may_serve_in_two_places() -> None:
    assert build({"text_copy": ("n",)}, COMMANDS).keys == {"text_copy": ("n",)}


def test_setting_what_is_the_default_changes_nothing() -> None:
    assert build({command.id: tuple(command.keys.split(",")) for command in COMMANDS}, COMMANDS).keys == {}


@given(
    st.dictionaries(
        st.sampled_from([c.id for c in COMMANDS]) | st.text(max_size=8),
        st.lists(st.text(max_size=6) | st.sampled_from(["q", "ctrl+c", "tab", "/", "1", "esc"]), max_size=3).map(tuple),
        max_size=6,
    )
)
def test_no_key_ever_means_two_things_in_one_place(given_keys) -> None:  # type: ignore[no-untyped-def]
    found = build(given_keys, COMMANDS)
    for place in {place for command in COMMANDS for place in command.where}:
        taken = [key for command in COMMANDS if place in command.where for key in found.keys_of(command)]
        assert len(taken) == len(set(taken))
    assert all(text.isprintable() for _, text in found.problems)


# On the screen


async def test_the_viewer_answers_the_keys_that_were_set(log: Path, keys) -> None:  # type: ignore[no-untyped-def]
    keys('help = "f1"\nnext_page = ["ctrl+n", "J"]\nfilter_metrics = "F"')
    async with viewing(log) as viewer:
        assert "F1 help" in viewer.status or "f1 help" in viewer.status
        await viewer.press("question_mark")
        assert viewer.app.screen is viewer.run
        first = viewer.titles
        await viewer.press("n")
        assert viewer.titles == first
        await viewer.press("J")
        assert viewer.titles != first
        await viewer.press("F")
        await viewer.type("loss")
        assert "filter metrics" in viewer.text()
        await viewer.press("enter", "f1")
        assert isinstance(viewer.app.screen, HelpScreen)
        text = help_text().plain
        assert "  f1 " in text
        assert "ctrl+n  J" in text


async def test_keys_of_the_filter_line_too(log: Path, keys) -> None:  # type: ignore[no-untyped-def]
    keys('filter_cancel = "f2"\nfilter_apply = ["enter", "ctrl+j"]')
    async with viewing(log) as viewer:
        await viewer.press("slash")
        await viewer.type("zzz")
        assert len(viewer.titles) == 0
        assert viewer.run.filter_line is not None
        assert viewer.run.filter_line.display
        await viewer.press("f2")
        assert not viewer.run.filter_line.display
        assert len(viewer.titles) > 0


async def test_the_palette_shows_them(log: Path, keys) -> None:  # type: ignore[no-untyped-def]
    keys('scale = "ctrl+y"')
    async with viewing(log) as viewer:
        shown = {c.title: c.help for c in viewer.app.get_system_commands(viewer.run)}
        assert shown["Logarithmic y; heat map for percentages"] == "Charts · ctrl+y"


async def test_what_is_wrong_stays_on_the_screen(log: Path, keys) -> None:  # type: ignore[no-untyped-def]
    keys('quitt = "Q"\nhelp = "foo"')
    async with viewing(log, (200, 40)) as viewer:
        await viewer.until("config.toml:2: keys.quitt: there is no such command; did you mean quit?")
        await viewer.press("question_mark")
        assert isinstance(viewer.app.screen, HelpScreen)


def test_words_for_a_command_without_a_key(keys) -> None:  # type: ignore[no-untyped-def]
    keys("open_newer = []")
    assert keymap().keys == {"open_newer": ()}
    assert keys_in_words("open_newer").startswith("palette: ")
    assert keys_in_words("quit") == "q"


# The help


async def test_the_help_is_searched_by_typing(log: Path) -> None:
    async with viewing(log, size=(80, 24)) as viewer:
        await viewer.press("question_mark", "slash")
        await viewer.type("crosshair")
        text = viewer.text()
        assert "Crosshair by larger steps" in text
        assert "Filter the metrics" not in text
        await viewer.press("escape")
        assert "All keys" in viewer.text()
        await viewer.press("slash")
        await viewer.type("no such thing")
        assert "No key does that." in viewer.text()
        await viewer.press("escape", "escape")
        assert viewer.app.screen is viewer.run


async def test_the_help_scrolls_while_it_is_searched(log: Path) -> None:
    async with viewing(log, size=(80, 24)) as viewer:
        await viewer.press("question_mark", "slash", "pagedown", "pagedown")
        assert "All keys" not in viewer.text()


async def test_what_a_key_does_is_broken_beside_the_key(log: Path) -> None:
    async with viewing(log, size=(60, 24)) as viewer:
        await viewer.press("question_mark", "slash")
        await viewer.type("alt+r")
        await viewer.pilot.pause()
        lines = viewer.text().splitlines()
        row = next(n for n, line in enumerate(lines) if " alt+r  " in line and "Start anew" in line)
        start = lines[row].index("Start anew")
        assert lines[row + 1][:start].strip(" │") == ""
        assert lines[row + 1][start] != " "


async def test_words_that_the_help_offers_are_those_of_the_keymap(log: Path, keys) -> None:  # type: ignore[no-untyped-def]
    keys('text_close = "f3"\nhelp_search = "f4"')
    async with viewing(log) as viewer:
        await viewer.press("question_mark")
        assert "f4 search · f3 close" in viewer.text()
        await viewer.press("f3")
        assert not isinstance(viewer.app.screen, TextScreen)


async def test_the_settings_open_from_the_viewer(log: Path) -> None:
    async with viewing(log) as viewer:
        await viewer.press("comma")
        assert isinstance(viewer.app.screen, ConfigScreen)
        await viewer.press("q")
        assert viewer.app.screen is viewer.run
