"""Directories that are made, filled, moved and removed: what is watched ends as if it were found anew."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leet.model import workspace_directories
from leet.model.workspace_directories import Directories, Listing

PARTS = ("a", "b", "wandb")
RUNS = ("run-20250101_000000-x", "offline-run-20250102_000000-y", "run-20250103_000000-z")

paths = st.lists(st.sampled_from(PARTS), max_size=3).map("/".join)
operations = st.lists(
    st.one_of(
        st.tuples(st.just("make"), paths, st.sampled_from(RUNS)),
        st.tuples(st.just("log"), paths, st.just("run-q.wandb")),
        st.tuples(st.just("remove"), paths, st.sampled_from((*RUNS, "", "run-q.wandb"))),
        st.tuples(st.just("move"), paths, paths),
        st.tuples(st.just("link"), paths, paths),
        st.tuples(st.just("look"), st.just(""), st.just("")),
    ),
    max_size=15,
)


class Watched:
    """The run directories as the listings tell them."""

    def __init__(self, root: Path) -> None:
        self.directories = Directories(str(root))
        self.runs: dict[str, frozenset[str]] = {}
        self.take(self.directories.find())

    def take(self, listings: Iterable[Listing]) -> None:
        for listing in listings:
            self.runs[listing.path] = listing.names
            if not listing.names:
                del self.runs[listing.path]

    def look(self) -> None:
        self.take(self.directories.look())


def do(root: Path, operation: tuple[str, str, str]) -> None:
    what, path, other = operation
    here = root / path
    if what == "make":
        (here / other).mkdir(parents=True, exist_ok=True)
    elif what == "log":
        here.mkdir(parents=True, exist_ok=True)
        (here / other).touch()
    elif what == "remove":
        target = here / other
        if target.is_symlink() or target.is_file():
            target.unlink()
        elif target != root:
            shutil.rmtree(target, ignore_errors=True)
    elif what == "move" and path and other and here.is_dir() and not (root / other).exists():
        if (root / other).parent.is_dir() and not f"{other}/".startswith(f"{path}/"):
            here.rename(root / other)
    elif what == "link" and path and here.parent.is_dir() and not os.path.lexists(here):
        here.symlink_to(root / other)


@given(operations)
@settings(max_examples=150)
def test_what_is_watched_is_what_would_be_found(
    tmp_path_factory: pytest.TempPathFactory, done: list[tuple[str, str, str]]
) -> None:
    root = tmp_path_factory.mktemp("tree")
    watched = Watched(root)
    for operation in done:
        if operation[0] == "look":
            watched.look()
        else:
            with contextlib.suppress(OSError):  # a link that points nowhere or to itself
                do(root, operation)
    # A directory that has been moved or linked is known by its old name until that is looked at.
    for _ in range(3):
        watched.look()
    found = Watched(root).runs
    real = {os.path.realpath(path): names for path, names in watched.runs.items()}
    assert real == {os.path.realpath(path): names for path, names in found.items()}
    assert len(real) == len(watched.runs), "a directory is listed twice"


def test_there_are_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(30):
        (tmp_path / f"d{n:02}" / "wandb" / RUNS[0]).mkdir(parents=True)
    monkeypatch.setattr(workspace_directories, "MOST_DIRECTORIES", 41)
    assert len(Watched(tmp_path).runs) == 10
    monkeypatch.setattr(workspace_directories, "MOST_ENTRIES", 5)
    assert len(Watched(tmp_path).runs) <= 6


def test_of_very_many_directories_each_has_its_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(12):
        (tmp_path / f"d{n:02}" / "wandb" / RUNS[0]).mkdir(parents=True)
    monkeypatch.setattr(workspace_directories, "HOT", 2)
    monkeypatch.setattr(workspace_directories, "COLD", 3)
    watched = Watched(tmp_path)
    (tmp_path / "d11" / "wandb" / RUNS[1]).mkdir()
    for _ in range(12):
        watched.look()
    assert watched.runs[str(tmp_path / "d11" / "wandb")] == {RUNS[0], RUNS[1]}


def test_a_directory_that_is_moved_is_found_before_it_is_missed(tmp_path: Path) -> None:
    (tmp_path / "a" / "x" / RUNS[0]).mkdir(parents=True)
    (tmp_path / "b").mkdir()
    watched = Watched(tmp_path)
    (tmp_path / "a" / "x").rename(tmp_path / "b" / "x")
    os.utime(tmp_path / "a", ns=(0, watched.directories._known[str(tmp_path / "a")].seen))
    watched.directories._known[str(tmp_path / "a")].stamp = watched.directories._known[str(tmp_path / "a")].seen
    watched.look()
    assert watched.runs == {str(tmp_path / "b" / "x"): {RUNS[0]}}


def test_names_are_from_the_root_on_however_it_is_spelt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from leet.model.run_part import RunPart

    (tmp_path / "wandb" / RUNS[0]).mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    for root, key in ((".", f"wandb/{RUNS[0]}"), (str(tmp_path), f"wandb/{RUNS[0]}"), ("wandb", RUNS[0])):
        directories = Directories(root)
        (listing,) = directories.find()
        part = RunPart.named(root, listing.path, RUNS[0])
        assert part.entry.key == key
        assert part.entry.directory.resolve() == tmp_path / "wandb" / RUNS[0]
