"""A run that was resumed, as whoever is shown or told one of its parts sees it."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot
from viewer import NOW, Viewer, happened

from leet.discovery import Found, locate
from leet.output import export, inspect, plot
from leet.run_parts import parts_of
from leet.tui.app import LeetApp
from leet.tui.screens.workspace_screen import WorkspaceScreen
from leet.tui.terminal import Terminal
from recorder.transaction_log.framing import HEADER, frame
from recorder.transaction_log.wire import encode, history_record, summary_record


def part(wandb: Path, stamp: str, first: int, rows: int, run_id: str = "abc") -> Path:
    """A finished part of a run whose loss is its step; its log."""
    records = [encode("Record", {"run": {"run_id": run_id, "start_time": {"seconds": 1_764_500_000 + first}}})]
    for step in range(first, first + rows):
        items = [(("loss",), str(float(step))), (("_step",), str(step)), (("_runtime",), str(1.5 * step))]
        records += [history_record(items, step), summary_record(items)]
    records.append(encode("Record", {"exit": {"exit_code": 0, "runtime": first + rows}}))
    pieces, offset = [HEADER], len(HEADER)
    for record in records:
        pieces.append(frame(record, offset))
        offset += len(pieces[-1])
    log = wandb / f"offline-run-{stamp}-{run_id}" / f"run-{run_id}.wandb"
    log.parent.mkdir(parents=True)
    log.write_bytes(b"".join(pieces))
    return log


@pytest.fixture
def parts(tmp_path: Path) -> tuple[Path, Path]:
    """Two parts of a run, and another run, older than both, whose id ends as theirs does."""
    wandb = tmp_path / "wandb"
    part(wandb, "20251130_080000", 0, 3, "x-abc")
    logs = part(wandb, "20251130_090000", 0, 5), part(wandb, "20251130_100000", 5, 7)
    (wandb / "latest-run").symlink_to(logs[1].parent.name)
    return logs


def test_parts_are_found(parts: tuple[Path, Path], tmp_path: Path) -> None:
    first, second = parts
    assert parts_of(first) == parts_of(second) == parts
    through_link = tmp_path / "wandb" / "latest-run" / second.name
    assert [p.resolve() for p in parts_of(through_link)] == [p.resolve() for p in parts]
    alone = next((tmp_path / "wandb").glob("*-x-abc")) / "run-x-abc.wandb"
    assert parts_of(alone) == (alone,)
    copy = tmp_path / "copy.wandb"
    copy.write_bytes(first.read_bytes())
    assert parts_of(copy) == (copy,)


def test_parts_of_a_run_are_not_other_runs(parts: tuple[Path, Path], tmp_path: Path) -> None:
    assert locate(str(tmp_path)).others == 1


async def opened(pilot: Pilot[object], app: LeetApp) -> Viewer:
    await happened(app.run_screen.loaded)
    await pilot.pause()
    app.run_screen.paint_now()
    await pilot.pause()
    return Viewer(app, pilot)


@pytest.mark.parametrize("how", ["directory", "run directory", "log"])
async def test_a_resumed_run_is_shown_whole(parts: tuple[Path, Path], tmp_path: Path, how: str) -> None:
    asked = {"directory": tmp_path, "run directory": parts[1].parent, "log": parts[1]}[how]
    app = LeetApp(locate(str(asked)), terminal=Terminal(now=NOW), live=False)
    async with app.run_test(size=(120, 40)) as pilot:
        viewer = await opened(pilot, app)
        assert viewer.run.model.metrics.series("loss").values.tolist() == [float(n) for n in range(12)]
        assert "2 logs (resumed)" in viewer.text()
        assert "2 parts" in viewer.status
        await viewer.press("escape")
        await viewer.pilot.pause()
        assert isinstance(app.screen, WorkspaceScreen)


async def test_an_earlier_part_says_that_it_is_one(parts: tuple[Path, Path]) -> None:
    app = LeetApp(Found(parts[0]), terminal=Terminal(now=NOW), live=False)
    async with app.run_test(size=(120, 40)) as pilot:
        viewer = await opened(pilot, app)
        assert len(viewer.run.model.metrics.series("loss").values) == 5
        assert "part 1 of 2: Esc lists the whole run" in viewer.status
        await viewer.press("escape")
        screen = app.screen
        assert isinstance(screen, WorkspaceScreen)
        await happened(screen.loaded)
        await viewer.press("enter")
        await happened(app.run_screen.loaded)
        assert len(app.run_screen.model.metrics.series("loss").values) == 12


@pytest.mark.parametrize(
    ("command", "arguments"), [(inspect.main, ["--summary"]), (plot.main, ["loss"]), (export.main, [])]
)
def test_commands_say_that_they_speak_of_a_part(
    parts: tuple[Path, Path], capsys: pytest.CaptureFixture[str], command: object, arguments: list[str]
) -> None:
    for number, log in enumerate(parts, 1):
        order = [*arguments, str(log)] if command is not plot.main else [str(log), *arguments]
        assert command(order) == 0  # type: ignore[operator]
        told = capsys.readouterr().err
        assert f"{log} is part {number} of 2 of a resumed run; without {parts[2 - number]}" in told


def test_nothing_is_said_of_the_only_part(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = part(tmp_path / "wandb", "20251130_080000", 0, 3)
    assert inspect.main(["--summary", str(log)]) == 0
    assert "part" not in capsys.readouterr().err
