"""What can be asked for is told: in the help, in `leet --help`, in the prompt."""

from __future__ import annotations

import re

import pytest

from leet.cli import EPILOG
from leet.model.run_query import RunQuery
from leet.model.run_query_fields import FIELDS
from leet.model.run_query_help import EXAMPLE, completed
from leet.tui.screens.help_screen import help_text


def test_every_field_is_named_in_both_helps() -> None:
    shown = help_text("workspace").plain
    for field in FIELDS:
        assert re.search(rf"^  {field.names[0]}\b.*{re.escape(field.about)}", shown, re.MULTILINE)
        assert re.search(rf"\b{field.names[0]}\b", EPILOG)
    assert max(map(len, EPILOG.splitlines())) <= 100


def test_the_help_is_found_by_its_words() -> None:
    found = help_text("workspace", wanted="query").plain
    assert "sort:FIELD" in found
    assert "config" in found
    assert "how long it has run" in help_text("run", wanted="duration").plain
    assert "Fields of the query" not in help_text("run").plain


def test_what_stands_in_the_prompt_is_a_query() -> None:
    for part in EXAMPLE.split(", "):
        assert RunQuery.parse(part).error is None


@pytest.mark.parametrize(
    ("typed", "whole"),
    [
        ("sta", "state:"),
        ("a (dur", "a (duration:"),
        ("state:run", "state:running"),
        ("config.l", "config.lr"),
        ("a sort:-summary.lo", "a sort:-summary.loss"),
        ("conf", "config."),
        ("nothing", None),
        ("'sta", None),
        ("lr", None),
        ("", None),
    ],
)
def test_names_are_completed(typed: str, whole: str | None) -> None:
    assert completed(typed, lambda: ["config.lr", "config.seed", "summary.loss"]) == whole
