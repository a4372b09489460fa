"""What is remembered of a directory: in the state folder, never in the directory, and never at the cost of the view."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from leet.settings import ViewState, view_state


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "wandb").mkdir()
    return tmp_path / "wandb"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state"


def test_what_is_saved_is_there_the_next_time(directory: Path, folder: Path) -> None:
    state = ViewState(directory, folder=folder)
    assert state.get("filter", "none") == "none"
    state.set("filter", {"text": "loss", "mode": "glob"})
    state.save()
    assert ViewState(directory, folder=folder).get("filter") == {"text": "loss", "mode": "glob"}
    assert json.loads(state.file.read_text())["directory"] == str(directory)
    assert list(directory.iterdir()) == []


def test_it_is_written_by_itself_a_moment_after_a_change(
    directory: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view_state, "SAVE_SECONDS", 0.05)
    state = ViewState(directory, folder=folder)
    state.set("a", 1)
    state.set("b", 2)
    assert not state.file.exists()
    for _ in range(200):
        if state.file.exists():
            break
        time.sleep(0.05)
    assert json.loads(state.file.read_text())["values"] == {"a": 1, "b": 2}


def test_it_is_written_when_the_program_ends(directory: Path, folder: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from leet.settings.view_state import ViewState\n"
        "ViewState(Path(sys.argv[1]), folder=Path(sys.argv[2])).set('a', 1)"
    )
    root = Path(__file__).parents[1]
    subprocess.run(
        [sys.executable, "-c", code, str(directory), str(folder)],
        check=True,
        env={**os.environ, "PYTHONPATH": str(root)},
        timeout=60,
    )
    assert ViewState(directory, folder=folder).get("a") == 1


def test_two_viewers_of_one_directory_keep_each_others_changes(directory: Path, folder: Path) -> None:
    one, other = ViewState(directory, folder=folder), ViewState(directory, folder=folder)
    one.set("a", 1)
    other.set("b", 2)
    one.save()
    other.save()
    kept = ViewState(directory, folder=folder)
    assert (kept.get("a"), kept.get("b")) == (1, 2)
    one.set("a", None)
    one.save()
    assert ViewState(directory, folder=folder).get("a") is None


def test_another_name_of_a_directory_is_the_same_directory(directory: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(directory)
    assert ViewState.of(directory) is ViewState.of(tmp_path / "link")
    assert ViewState.of(directory) is not ViewState.of(tmp_path)


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b'{"values": 3}', b"\xff\xfe", b"[" * 100_000])
def test_a_damaged_file_counts_as_none(directory: Path, folder: Path, raw: bytes) -> None:
    state = ViewState(directory, folder=folder)
    folder.mkdir()
    state.file.write_bytes(raw)
    again = ViewState(directory, folder=folder)
    assert again.get("a") is None
    again.set("a", 1)
    again.save()
    assert ViewState(directory, folder=folder).get("a") == 1


def test_where_nothing_can_be_written_it_works_without_and_says_so(directory: Path, folder: Path) -> None:
    folder.write_text("in the way")
    state = ViewState(directory, folder=folder)
    state.set("a", 1)
    state.save()
    assert state.get("a") == 1
    assert state.note.startswith("the view is not remembered: ")
    assert "\n" not in state.note


def test_pictures_remember_nothing(directory: Path, folder: Path) -> None:
    ViewState(directory, folder=folder).set("a", 1)
    state = ViewState(directory, folder=folder, kept=False)
    state.set("b", 2)
    state.save()
    assert state.get("a") is None
    assert state.get("b") == 2
    assert not folder.exists()


def test_what_json_cannot_hold_is_refused_at_once(directory: Path, folder: Path) -> None:
    state = ViewState(directory, folder=folder)
    with pytest.raises(TypeError):
        state.set("a", {1, 2})
    state.set("b", 1)
    state.save()
    assert ViewState(directory, folder=folder).get("b") == 1


def test_the_directories_changed_longest_ago_are_forgotten(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view_state, "MOST_FILES", 3)
    states = []
    for number in range(5):
        state = ViewState(tmp_path / str(number), folder=folder)
        state.set("a", number)
        state.save()
        os.utime(state.file, (number, number))
        states.append(state)
    assert [state.file.exists() for state in states] == [False, False, True, True, True]
    assert not [path for path in folder.iterdir() if path.suffix != ".json"]


def test_names_of_directories_may_be_no_text(tmp_path: Path, folder: Path) -> None:
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe"))
    state = ViewState(odd, folder=folder)
    state.set("a", 1)
    state.save()
    assert ViewState(odd, folder=folder).get("a") == 1
