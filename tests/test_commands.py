"""One table of commands: bindings, help, hints and palette are made from it and cannot say anything else."""

from __future__ import annotations

from collections import Counter

import pytest
from textual.binding import Binding
from textual.keys import KEY_NAME_REPLACEMENTS, _character_to_key

from leet.tui.app import LeetApp
from leet.tui.commands import COMMANDS, DIGITS, Place, bindings, by_group, hints, in_place, shown_key
from leet.tui.screens.chart_screen import ChartScreen
from leet.tui.screens.choice_screen import ChoiceInput
from leet.tui.screens.compare_screen import CompareScreen, CompareTable
from leet.tui.screens.config_screen import ConfigScreen, EntryInput
from leet.tui.screens.help_screen import HelpScreen, help_text
from leet.tui.screens.media_screen import MediaScreen
from leet.tui.screens.picker_screen import PickerScreen
from leet.tui.screens.records_screen import RecordsScreen
from leet.tui.screens.run_screen import RunScreen
from leet.tui.screens.scatter_screen import ScatterScreen, SettingsList
from leet.tui.screens.table_screen import TableScreen
from leet.tui.screens.text_screen import TextScreen
from leet.tui.screens.top_screen import TopScreen
from leet.tui.screens.workspace_screen import WorkspaceScreen
from leet.tui.widgets.chart_grid import ChartGrid
from leet.tui.widgets.console_view import ConsoleView
from leet.tui.widgets.filter_line import FilterInput
from leet.tui.widgets.media_wall import MediaWall
from leet.tui.widgets.overview import Overview
from leet.tui.widgets.process_table import ProcessTable
from leet.tui.widgets.record_list import RecordList
from leet.tui.widgets.record_text import RecordText

CLASSES: dict[Place, type] = {
    "app": LeetApp,
    "run": RunScreen,
    "workspace": WorkspaceScreen,
    "compare": CompareScreen,
    "chart": ChartScreen,
    "filter": FilterInput,
    "text": TextScreen,
    "logs": ConsoleView,
    "media": MediaWall,
    "media_screen": MediaScreen,
    "table": TableScreen,
    "records": RecordsScreen,
    "top": TopScreen,
    "config": ConfigScreen,
    "entry": EntryInput,
    "picker": PickerScreen,
    "choice": ChoiceInput,
    "scatter": ScatterScreen,
    "help": HelpScreen,
}

PANES: dict[Place, list[type]] = {
    "run": [ChartGrid, Overview],
    "records": [RecordList, RecordText],
    "top": [ChartGrid, ProcessTable],
    "compare": [CompareTable],
    "scatter": [SettingsList],
}


@pytest.mark.parametrize("place", list(CLASSES))
def test_each_class_binds_exactly_its_commands(place: Place) -> None:
    bound = [b for b in CLASSES[place].BINDINGS if isinstance(b, Binding) and b.id]
    assert [(b.id, b.key, b.action) for b in bound] == [(c.id, c.keys, c.action) for c in in_place(place)]
    unnamed = [b for b in CLASSES[place].BINDINGS if not (isinstance(b, Binding) and b.id)]
    assert len(unnamed) == (len(DIGITS) if place in ("run", "workspace") else 9 if place == "top" else 0)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda c: c.id)
def test_every_action_exists_where_it_is_bound(command) -> None:  # type: ignore[no-untyped-def]
    for place in command.where:
        owner = LeetApp if command.action.startswith("app.") else CLASSES[place]
        name, _, arguments = command.action.removeprefix("app.").partition("(")
        assert callable(getattr(owner, f"action_{name}", None)), (place, command.action)
        if name == "pane":
            act = arguments.split("'")[1]
            owners = PANES.get(place, [ChartGrid])
            assert any(hasattr(pane, f"action_{act}") for pane in owners), command.action


def test_no_key_means_two_things_in_one_place() -> None:
    for place in CLASSES:
        keys = Counter(key for command in in_place(place) for key in command.keys.split(","))
        assert [key for key, uses in keys.items() if uses > 1] == []


def test_keys_are_names_that_textual_knows() -> None:
    """A misspelt key name would be a binding that never fires."""
    known = set(KEY_NAME_REPLACEMENTS.values()) | {_character_to_key(chr(c)) for c in range(33, 127)}
    known |= {"enter", "escape", "tab", "up", "down", "left", "right", "home", "end", "pageup", "pagedown", "minus"}
    known |= {"space"}
    for command in COMMANDS:
        for key in command.keys.split(","):
            name = key.rpartition("+")[2]
            assert name in known or len(name) == 1, (command.id, key)


def test_help_lists_every_command_with_all_its_keys() -> None:
    lines = help_text().plain.splitlines()
    for command in COMMANDS:
        keys = "  ".join(command.shown_keys())
        start, end = f"  {keys} ", f" {command.summary}"
        assert any(line.startswith(start) and line.endswith(end) for line in lines), command.id
    assert list(by_group()) == [line for line in lines if line in by_group()]


def test_ids_and_summaries_are_distinct() -> None:
    assert len({command.id for command in COMMANDS}) == len(COMMANDS)


def test_hints_are_commands_of_their_place() -> None:
    for place in ("run", "chart", "filter", "text"):
        for key, word in hints(place):  # type: ignore[arg-type]
            assert word
            assert any(key in command.shown_keys() for command in in_place(place))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("key", "shown"),
    [
        ("ctrl+backslash", "ctrl+\\"),
        ("question_mark", "?"),
        ("pagedown", "PgDn"),
        ("N", "N"),
        ("ctrl+underscore", "ctrl+_"),
    ],
)
def test_keys_are_shown_as_a_person_reads_them(key: str, shown: str) -> None:
    assert shown_key(key) == shown


def test_bindings_keep_their_ids() -> None:
    assert all(b.id for b in bindings("chart") if isinstance(b, Binding))
