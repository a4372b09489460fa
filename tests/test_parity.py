"""The list of docs/parity.md, held against the program."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from leet.model.system_metrics import describe
from leet.settings.table import SETTINGS
from leet.tui.commands import COMMANDS, shown_key

TESTS = Path(__file__).parent
DOCUMENT = TESTS.parent / "docs" / "parity.md"
VERDICTS = ("same", "better", "different on purpose", "missing")
NONE = "–"
COMMAND = re.compile(r"`(\w+)`:((?: `[^`]+`)+)")
TEST = re.compile(r"`tests/(test_\w+\.py)::(test_\w+)`")
QUOTED = re.compile(r"`([^`]+)`")
KEYS = {command.id: [shown_key(key) for key in command.keys.split(",")] for command in COMMANDS}


@dataclass(frozen=True)
class Line:
    """A line of a table: its cells by the titles of their columns."""

    number: int
    section: str
    cells: dict[str, str]

    def __str__(self) -> str:
        return f"{self.number}: {next(iter(self.cells.values()))}"

    @property
    def verdict(self) -> str:
        return self.cells["verdict"].partition(":")[0]

    @property
    def reason(self) -> str:
        return self.cells["verdict"].partition(":")[2].strip()


def lines() -> Iterator[Line]:
    section, titles = "", list[str]()
    for number, text in enumerate(DOCUMENT.read_text(encoding="utf-8").splitlines(), 1):
        if text.startswith("#"):
            section = text.lstrip("# ")
        if not text.startswith("|"):
            titles = []
            continue
        cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", text)[1:-1]]
        if not titles:
            titles = cells
        elif set("".join(cells)) != {"-"}:
            assert len(cells) == len(titles), f"line {number} has {len(cells)} cells of {len(titles)}"
            yield Line(number, section, dict(zip(titles, cells, strict=True)))


LINES = list(lines())


@cache
def names_in(file: str) -> frozenset[str]:
    """The tests of a file."""
    path = TESTS / file
    tree = ast.parse(path.read_text(encoding="utf-8") if path.is_file() else "")
    named = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    return frozenset(name for name in named if name.startswith("test_"))


def test_there_is_a_line_for_each_thing() -> None:
    assert len(LINES) > 300
    assert sum("key there" in line.cells for line in LINES) > 90
    sections = {line.section.partition(" ")[0].rstrip(",") for line in LINES}
    assert {f"1.{i}" for i in (1, 2, 3, 4, 5, 7)} | {f"2.{i}" for i in range(1, 10)} <= sections
    assert {"Command", "3.1", "3.2", "3.3", "3.4", "4.1", "4.2", "5", "6", "8", "9", "10"} <= sections


def test_verdicts_are_four_and_have_reasons() -> None:
    assert [str(line) for line in LINES if line.verdict not in VERDICTS] == []
    assert [str(line) for line in LINES if bool(line.reason) is (line.verdict == "same")] == []


def test_every_test_named_exists() -> None:
    wrong = []
    for line in LINES:
        cell = line.cells["test"]
        wrong += [f"{line.number}: {file}::{name}" for file, name in TEST.findall(cell) if name not in names_in(file)]
        if TEST.sub("", cell).strip() != (NONE if cell == NONE else ""):
            wrong.append(f"{line}: {cell} is no list of tests")
    assert wrong == []


def test_what_is_here_is_shown_by_a_test() -> None:
    untested = [line for line in LINES if line.cells["test"] == NONE]
    assert [str(line) for line in untested if line.verdict in ("same", "better")] == []


def test_commands_and_keys_are_those_of_the_table() -> None:
    wrong = []
    for line in LINES:
        named = [found for cell in line.cells.values() for found in COMMAND.findall(cell)]
        for name, keys in named:
            strange = set(QUOTED.findall(keys)) - set(KEYS.get(name, ()))
            if strange or name not in KEYS:
                wrong.append(f"{line.number}: {name} is not on {sorted(strange)}")
        # Under titles with keys, each line names who answers them, but where a key is one of a text or the mouse.
        if "key there" in line.cells and not named and line.section[:3] not in ("2.5", "2.6"):
            wrong += [str(line)] if "click" not in line.cells["key there"] else []
    assert wrong == []


def test_settings_are_those_of_the_table() -> None:
    of_settings = [line for line in LINES if "setting there" in line.cells]
    named = [name for line in of_settings for name in QUOTED.findall(COMMAND.sub("", line.cells["here"]))]
    assert sorted(set(named)) == sorted(SETTINGS)


def test_system_metrics_are_the_charts_named() -> None:
    wrong = []
    of_metrics = [line for line in LINES if "chart here" in line.cells]
    for line in of_metrics:
        for key in QUOTED.findall(line.cells["keys"]):
            metric = describe(key)
            if metric.title != line.cells["chart here"] or ("a rate" in line.reason) is not metric.definition.counter:
                wrong.append(f"{line.number}: {key} is {metric.title}")
    assert wrong == []
    assert len(of_metrics) > 80
