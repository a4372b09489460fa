"""What is headless stays headless, and what is light stays light: each module in a process of its own."""

from __future__ import annotations

import json
import os
import pkgutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import leet
import recorder

ROOT = Path(__file__).parents[1]
SCREEN = {"textual"}
HEAVY = {"wandb", "pandas", "plotext"}
RECORDER_FOREIGN = {"numpy", "textual", "rich", "google", "wandb", "pandas", "leet", "psutil", "pynvml"}


def modules(package: object, prefix: str) -> list[str]:
    path = package.__path__  # type: ignore[attr-defined]
    return sorted(m.name for m in pkgutil.walk_packages(path, prefix) if not m.name.endswith("__main__"))


HEADLESS = [
    name
    for name in modules(leet, "leet.")
    if name.startswith(
        (
            "leet.reading",
            "leet.model",
            "leet.charts",
            "leet.output",
            "leet.settings",
            "leet.discovery",
            "leet.cli",
            "leet.remote",
        )
    )
]


FORKS = """
import json, os, sys
ahead, names = json.loads(sys.stdin.read())
for name in ahead:
    __import__(name)
for name in names:
    sys.stdout.flush()
    if not os.fork():
        __import__(name)
        print(json.dumps([name, sorted({m.partition(".")[0] for m in sys.modules})]), flush=True)
        os._exit(0)
    if os.wait()[1]:
        sys.exit(f"{name} cannot be imported")
"""


@cache
def loaded_by(names: tuple[str, ...], ahead: tuple[str, ...] = ()) -> dict[str, set[str]]:
    """Module → top-level packages in memory after it was imported by a process that had loaded those `ahead` only."""
    if not hasattr(os, "fork"):
        pytest.skip("this system has no fork")
    ended = subprocess.run(
        [sys.executable, "-c", FORKS],
        input=json.dumps([ahead, names]),
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ended.returncode == 0, ended.stderr
    return {name: set(loaded) for name, loaded in map(json.loads, ended.stdout.splitlines())}


def loaded_after(code: str) -> set[str]:
    """Top-level packages in memory after `code` ran in a fresh process."""
    script = f"import sys, json\n{code}\nprint(json.dumps(sorted({{m.partition('.')[0] for m in sys.modules}})))"
    ended = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ended.returncode == 0, ended.stderr
    return set(json.loads(ended.stdout.splitlines()[-1]))


def test_there_is_something_to_look_at() -> None:
    assert {"leet.reading.batch", "leet.charts.spec", "leet.discovery"} <= set(HEADLESS)


@pytest.mark.parametrize("name", HEADLESS)
def test_headless_modules_know_no_screen(name: str) -> None:
    loaded = loaded_by(tuple(HEADLESS), ahead=("numpy",))[name]
    assert "leet" in loaded
    assert not loaded & (SCREEN | HEAVY)


@pytest.mark.parametrize("name", ["leet.cli", "leet.discovery"])
def test_the_front_door_is_light(name: str) -> None:
    assert not loaded_after(f"import {name}") & {"numpy", "google", "rich", "psutil", "orjson", "asyncio"}


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["inspect", "--help"], ["plot", "--help"]])
def test_help_loads_no_screen(arguments: list[str]) -> None:
    code = f"from leet.cli import main\ntry:\n    main({arguments!r})\nexcept SystemExit:\n    pass"
    assert not loaded_after(code) & (SCREEN | HEAVY)


def test_inspecting_loads_no_screen(corpus: Path) -> None:
    logs = sorted((corpus / "minimal").glob("**/run-*.wandb"))
    code = f"from leet.cli import main\nmain(['inspect', {str(logs[0])!r}, '--json'])"
    assert not loaded_after(code) & (SCREEN | HEAVY)


def test_the_viewer_starts_without_what_it_does_not_need() -> None:
    code = "import leet.tui.app"
    assert not loaded_after(code) & (HEAVY | {"psutil", "pynvml"})


RECORDER = ("recorder", *modules(recorder, "recorder."))


@pytest.mark.parametrize("name", RECORDER)
def test_the_recorder_needs_the_standard_library_only(name: str) -> None:
    loaded = loaded_by(RECORDER)[name]
    assert "recorder" in loaded
    assert not loaded & RECORDER_FOREIGN
