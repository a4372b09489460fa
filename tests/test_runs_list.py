"""The list of runs: rows, marks, moving, the mouse, and what only ten thousand of them show."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual import events
from textual.app import App, ComposeResult
from textual.message import Message
from textual.pilot import Pilot

from leet.model.run_entry import RunEntry
from leet.tui.messages import RunHighlighted, RunMarked, RunOpened, RunsSorted
from leet.tui.run_labels import RunLabels
from leet.tui.widgets.run_columns import Columns, Mark
from leet.tui.widgets.runs_list import RunsList

NOW = 1_764_500_900.0


def entry(number: int, **facts: object) -> RunEntry:
    key = f"run-20251130_105320-r{number:05}"
    made: dict[str, object] = {
        "started": NOW - 60.0 * number,
        "run_id": f"r{number:05}",
        "name": f"trial-{number}",
        "step": 100 * number,
        "exit_code": 0,
        "known": True,
        "begun": True,
        "modified": NOW - 5,
        "size": 4000,
        **facts,
    }
    return RunEntry(key, Path(key) / "x.wandb", **made)  # type: ignore[arg-type]


class Host(App[None]):
    CSS = "RunsList { height: 1fr; width: 1fr; }"

    def __init__(self, entries: list[RunEntry], marks: dict[str, Mark]) -> None:
        super().__init__()
        self.list = RunsList(mark=lambda key: marks.get(key, Mark()), clock=lambda: NOW, id="runs")
        self.runs = entries
        self.told: list[Message] = []

    def compose(self) -> ComposeResult:
        yield self.list

    def on_mount(self) -> None:
        self.list.focus()
        self.list.show(self.runs, len(self.runs))

    def on_run_highlighted(self, event: RunHighlighted) -> None:
        self.told.append(event)

    def on_run_opened(self, event: RunOpened) -> None:
        self.told.append(event)

    def on_run_marked(self, event: RunMarked) -> None:
        self.told.append(event)

    def on_runs_sorted(self, event: RunsSorted) -> None:
        self.told.append(event)

    def lines(self) -> list[str]:
        strips = self.screen._compositor.render_strips()
        return ["".join(segment.text for segment in line).rstrip() for line in strips[: self.size.height]]


@asynccontextmanager
async def listing(
    entries: list[RunEntry], size: tuple[int, int] = (60, 12), marks: dict[str, Mark] | None = None
) -> AsyncIterator[tuple[Host, Pilot[None]]]:
    app = Host(entries, marks or {})
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        yield app, pilot


async def test_a_row_tells_name_state_age_and_step() -> None:
    runs = [
        entry(1, name="first", tags=("a", "b")),
        entry(2, exit_code=3),
        entry(3, exit_code=None),
        entry(4, name="r00004", known=False, started=None, step=None),
        entry(5, exit_code=None, modified=NOW - 900),
    ]
    marks = {runs[0].key: Mark(True, True, "#ff0000"), runs[1].key: Mark(True, False, "#00ff00")}
    async with listing(runs, (100, 12), marks) as (app, _):
        lines = app.lines()
        assert lines[0].split() == ["name", "state", "age↓", "step", "tags"]
        assert lines[1].split() == ["▶", "first", "✓", "finished", "1", "min", "100", "a,", "b"]
        assert lines[2].split() == ["●", "trial-2", "✗", "failed", "2", "min", "200"]
        assert lines[3].split() == ["○", "trial-3", "●", "running", "3", "min", "300"]
        assert lines[4].split() == ["○", "r00004", "·"]
        assert "✗ crashed" in lines[5]


async def test_a_mark_has_the_colour_of_its_curves() -> None:
    runs = [entry(1)]
    async with listing(runs, marks={runs[0].key: Mark(True, True, "#123456")}) as (app, _):
        [line] = [line for line in app.screen._compositor.render_strips() if "▶" in "".join(s.text for s in line)]
        [mark] = [segment for segment in line if "▶" in segment.text]
        assert mark.style is not None
        assert mark.style.color is not None
        assert mark.style.color.name == "#123456"


@pytest.mark.parametrize("width", [8, 14, 20, 31, 40, 47, 64, 80, 120])
def test_columns_fill_every_width(width: int) -> None:
    columns = Columns.share(width)
    used = sum((columns.name, columns.sign, columns.word, columns.age, columns.step, columns.tags))
    assert used == width - 3
    assert columns.name >= 5
    assert bool(columns.age) is (width >= 26)
    assert bool(columns.tags) is (width >= 80)


async def test_moves_go_around_and_pages_stop() -> None:
    runs = [entry(n) for n in range(25)]
    async with listing(runs, (60, 11)) as (app, pilot):
        assert app.list.entry is runs[0]
        app.list.action_move("up")
        assert app.list.entry is runs[24]
        app.list.action_move("down")
        assert app.list.entry is runs[0]
        app.list.action_next_page()
        assert app.list.entry is runs[10]
        app.list.action_move("right")
        app.list.action_move("right")
        assert app.list.entry is runs[24]
        app.list.action_previous_page()
        assert app.list.entry is runs[14]
        app.list.action_first_page()
        assert app.list.entry is runs[0]
        app.list.action_last_page()
        await pilot.pause()
        assert app.list.entry is runs[24]
        assert "trial-24" in app.lines()[10]
        assert app.list.note == "25/25 runs"
        keys = [event.key for event in app.told if isinstance(event, RunHighlighted)]
        assert keys[0] == runs[0].key
        assert keys[-1] == runs[24].key


async def test_the_mouse_highlights_opens_selects_and_sorts() -> None:
    runs = [entry(n) for n in range(5)]
    async with listing(runs) as (app, pilot):
        app.told.clear()
        await pilot.click(app.list, offset=(8, 3))
        assert app.list.entry is runs[2]
        assert not [event for event in app.told if isinstance(event, RunOpened)]
        await pilot.pause(0.6)
        await pilot.click(app.list, offset=(8, 3))
        assert [event.key for event in app.told if isinstance(event, RunOpened)] == [runs[2].key]
        await pilot.click(app.list, offset=(9, 5), times=2)
        assert [event.key for event in app.told if isinstance(event, RunOpened)][1:] == [runs[4].key]
        await pilot.click(app.list, offset=(1, 4))
        assert [event.key for event in app.told if isinstance(event, RunMarked)] == [runs[3].key]
        assert app.list.entry is runs[4]
        await pilot.click(app.list, offset=(4, 0))
        await pilot.click(app.list, offset=(58, 0))
        assert [event.by for event in app.told if isinstance(event, RunsSorted)] == ["name", "step"]


async def test_the_wheel_looks_elsewhere_and_the_highlight_stays() -> None:
    runs = [entry(n) for n in range(50)]
    async with listing(runs) as (app, pilot):
        await pilot._post_mouse_events([events.MouseScrollDown], app.list)
        await pilot.pause()
        assert app.list.entry is runs[0]
        assert "trial-3" in app.lines()[1]


async def test_the_highlight_stays_with_its_run() -> None:
    runs = [entry(n) for n in range(10)]
    async with listing(runs) as (app, pilot):
        app.list.highlight(runs[4].key)
        newer = entry(100, started=NOW)
        app.list.show([newer, *runs], 11)
        assert app.list.entry is runs[4]
        rest = [newer, *runs[:4], *runs[5:]]
        app.list.show(rest, 10)
        assert app.list.entry is runs[5]
        app.list.show([], 10)
        assert app.list.entry is None
        await pilot.pause()
        assert app.list.note == "0 of 10 runs"
        app.list.action_move("down")
        app.list.action_open()
        await pilot.pause()
        assert not [event for event in app.told if isinstance(event, RunOpened)]


async def test_of_ten_thousand_runs_only_those_that_are_seen_are_made() -> None:
    asked: list[str] = []

    class Asked(RunEntry):
        def state(self, now: float):  # type: ignore[no-untyped-def]
            asked.append(self.key)
            return super().state(now)

    runs: list[RunEntry] = []
    for n in range(10_000):
        key = f"run-{n}"
        runs.append(Asked(key, Path(key), name=key, known=True, begun=True, exit_code=0, started=NOW - n))
    async with listing(runs, (60, 12)) as (app, pilot):
        asked.clear()
        app.list.action_last_page()
        await pilot.pause()
        assert set(asked) == {run.key for run in runs[-11:]}
        assert app.list.note == "10,000/10,000 runs"


async def test_a_live_run_beats_only_while_it_is_seen() -> None:
    runs = [entry(0, exit_code=None), *(entry(n) for n in range(1, 60))]
    async with listing(runs) as (app, pilot):
        timer = app.list._pulse_timer
        assert timer is not None
        assert timer._active.is_set()
        before = app.list._lines[1]
        app.list._beat()
        assert app.list._lines[1] != before
        app.list.action_last_page()
        await pilot.pause()
        assert not timer._active.is_set()


async def test_the_titles_say_how_it_is_sorted() -> None:
    runs = [entry(n) for n in range(3)]
    async with listing(runs) as (app, pilot):
        app.list.show(runs, 3, "name")
        await pilot.pause()
        assert app.lines()[0].split() == ["name↑", "state", "age", "step"]
        app.list.show(runs, 3, "step")
        await pilot.pause()
        assert app.lines()[0].split() == ["name", "state", "age", "step↓"]


async def test_a_moved_cursor_repaints_two_rows() -> None:
    runs = [entry(n) for n in range(10)]
    async with listing(runs) as (app, pilot):
        regions = []
        refresh = app.list.refresh
        app.list.refresh = lambda *r, **k: (regions.extend(r), refresh(*r, **k))[1]  # type: ignore[method-assign]
        app.list.action_move("down")
        await pilot.pause()
        assert sorted(region.y for region in regions) == [1, 2]


async def test_names_of_a_log_cannot_act_on_the_terminal() -> None:
    evil = "\x1b[31mred\x1b]0;x\x07[bold]b[/]\u202e"
    async with listing([entry(1, name=evil, tags=(evil,))], (110, 8)) as (app, _):
        assert not any(ord(c) < 32 or c == "\u202e" for line in app.lines() for c in line)
        assert "[bold]b" in app.lines()[1]


def test_runs_of_one_name_are_told_apart_as_well_as_can_be() -> None:
    alone, first, second = entry(1, name="alone"), entry(2, name="same", run_id="a"), entry(3, name="same", run_id="b")
    labels = RunLabels([alone, first, second])
    assert [labels.of(run) for run in (alone, first, second)] == ["alone", "same (a)", "same (b)"]
    third, fourth = entry(4, name="x", run_id="x"), entry(5, name="x", run_id="x")
    labels = RunLabels([third, fourth])
    assert [labels.of(run) for run in (third, fourth)] == [f"x ({third.key})", f"x ({fourth.key})"]
