"""A run that starts while another one is on the screen."""

from __future__ import annotations

from pathlib import Path

from example_run import ExampleRun, trained
from viewer import NOW, happened

from leet.discovery import locate
from leet.tui.app import LeetApp
from leet.tui.messages import NewerRunFound
from leet.tui.newer_run import NewerRun
from leet.tui.terminal import Terminal


def test_it_is_told_of_once_and_when_its_log_is_there(tmp_path: Path) -> None:
    trained(tmp_path)
    found = locate(str(tmp_path))
    assert found.directory is not None
    told: list[Path] = []
    watch = NewerRun(found.directory, found.log, told.append)
    assert watch.look() is None
    later = found.directory / "offline-run-20251130_120000-later"
    later.mkdir()
    assert watch.look() is None
    log = later / "run-later.wandb"
    log.write_bytes(b"")
    assert watch.look() == log
    assert watch.look() is None
    (found.directory / "latest-run").symlink_to(later.name)
    assert watch.look() is None


def test_a_directory_that_goes_away_ends_nothing(tmp_path: Path) -> None:
    assert NewerRun(tmp_path / "gone", tmp_path / "a.wandb", lambda log: None).look() is None


async def test_it_is_said_and_opened_by_its_key(tmp_path: Path) -> None:
    trained(tmp_path)
    found = locate(str(tmp_path / "wandb"))
    other = ExampleRun(tmp_path / "elsewhere", run_id="later", name="brave-hill-8")
    other.train(3)
    other.flush()
    app = LeetApp(found, terminal=Terminal(now=NOW))
    async with app.run_test(size=(120, 40)) as pilot:
        await happened(app.run_screen.loaded)
        await pilot.press("L")
        assert app.run_screen.found is found
        assert app.run_screen.status.message == "no newer run has started here"
        app.run_screen.status.say()
        app.run_screen.post_message(NewerRunFound(other.log))
        await pilot.press("enter")
        await pilot.pause()
        assert app.run_screen.status.message == "a newer run has started: later — press L to open it"
        before = app.run_screen
        await pilot.press("L")
        await pilot.pause()
        await happened(app.run_screen.loaded)
        await pilot.pause()
        assert app.run_screen is not before
        assert app.screen is app.run_screen
        assert app.run_screen.model.identity.display_name == "brave-hill-8"
        assert app._exception is None
