"""A screen looks as the settings say, and as its directory was left; nothing is written into the directory."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from example_run import trained
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from viewer import NOW, Viewer, happened

from leet.discovery import Found
from leet.settings import ViewState, store
from leet.settings.table import Grid
from leet.settings.toml_file import write
from leet.settings.view_state import state_folder
from leet.tui.app import LeetApp
from leet.tui.terminal import Terminal


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return trained(tmp_path, rows=60, metrics=20, samples=10)


@pytest.fixture
def state(log: Path) -> ViewState:
    return ViewState.of(log.parent.parent)


@pytest.fixture
def put(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    """Writes settings."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))

    def change(**values: object) -> None:
        named = {name.replace("__", "."): value for name, value in values.items()}
        write(tmp_path / "config" / "leet" / "config.toml", named)  # type: ignore[arg-type]
        store.reload()

    return change


@asynccontextmanager
async def watching(log: Path, size: tuple[int, int] = (140, 40)) -> AsyncIterator[Viewer]:
    """The viewer as it is used: following, and remembering."""
    app = LeetApp(Found(log), terminal=Terminal(now=NOW), live=True)
    async with app.run_test(size=size) as pilot:
        await happened(app.run_screen.loaded)
        await pilot.pause()
        app.run_screen.paint_now()
        await pilot.pause()
        yield Viewer(app, pilot)


async def test_what_was_chosen_is_there_the_next_time(log: Path, state: ViewState) -> None:
    before = sorted(log.parent.parent.rglob("*"))
    async with watching(log) as viewer:
        await viewer.press("slash")
        await viewer.type("grad")
        await viewer.press("tab", "enter", "c", "2", "r", "3", "g", "m", "x", "4", "left_square_bracket")
        await viewer.press("ctrl+up")
        kept = dict(viewer.run.shares)
        axis = viewer.run.metric_sources.axis
        assert axis != "auto"
    state.save()
    assert sorted(log.parent.parent.rglob("*")) == before
    async with watching(log) as viewer:
        run = viewer.run
        assert (run.filters["metrics"].text, run.filters["metrics"].mode) == ("grad", "glob")
        assert (run.metrics.rows, run.metrics.columns) == (3, 2)
        assert (run.metrics.guides, run.metrics.smoothing) == ("dots", 0.6)
        assert run.metric_sources.axis == axis
        assert run.shows("logs")
        assert not run.shows("overview")
        assert run.shares == pytest.approx(kept, abs=1e-3)


async def test_what_is_as_usual_again_is_forgotten(log: Path, state: ViewState) -> None:
    async with watching(log) as viewer:
        await viewer.press("g", "m", "slash")
        await viewer.type("loss")
        await viewer.press("enter", "4")
        assert state.get("run.guides") == "dots"
        assert state.get("run.filters") == [["metrics", ["loss", "regex"]]]
        await viewer.press("g", "g", "m", "m", "m", "4", "ctrl+l")
        for key in ("guides", "smoothing", "panes", "filters", "grids", "shares", "axis"):
            assert state.get(f"run.{key}") is None, key


async def test_the_settings_decide_what_nobody_chose(log: Path, put) -> None:  # type: ignore[no-untyped-def]
    put(
        panes__run__logs=True,
        panes__run__overview=False,
        grids__run_metrics=Grid(2, 2),
        charts__guides="dots",
        smoothing="0.9",
        charts__x_axis="runtime",
        colors__runs="beacon",
        system__tail_minutes=3,
    )
    async with watching(log) as viewer:
        run = viewer.run
        assert run.shows("logs")
        assert not run.shows("overview")
        assert (run.metrics.rows, run.metrics.columns) == (2, 2)
        assert (run.metrics.guides, run.metrics.smoothing, run.metrics.palette) == ("dots", 0.9, "beacon")
        assert run.metric_sources.axis == "runtime"
        await viewer.press("t")
        assert run.only.system_sources.window == 3.0


async def test_changed_settings_are_worn_at_once_and_choices_stay(log: Path, put) -> None:  # type: ignore[no-untyped-def]
    async with watching(log) as viewer:
        await viewer.press("g")
        put(grids__run_metrics=Grid(1, 2), panes__run__logs=True, smoothing="0.6")
        viewer.run.on_settings_changed()
        await viewer.pilot.pause()
        run = viewer.run
        assert (run.metrics.rows, run.metrics.columns) == (1, 2)
        assert run.shows("logs")
        assert run.metrics.smoothing == 0.6
        assert run.metrics.guides == "dots"


async def test_pictures_look_as_nobody_left_them(log: Path, state: ViewState) -> None:
    state.set("run.guides", "dots")
    app = LeetApp(Found(log), terminal=Terminal(now=NOW), live=False)
    async with app.run_test(size=(120, 40)) as pilot:
        await happened(app.run_screen.loaded)
        assert app.run_screen.metrics.guides == "off"
        await pilot.press("m")
    state.save()
    assert state.get("run.smoothing") is None


async def test_where_nothing_can_be_kept_the_view_works_and_says_so_once(log: Path, state: ViewState) -> None:
    folder = state_folder()
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_text("in the way")
    async with watching(log, (200, 40)) as viewer:
        await viewer.press("g")
        state.save()
        await viewer.press("m")
        assert "the view is not remembered" in viewer.status
        assert viewer.run.metrics.smoothing == 0.6


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 12)
    | st.floats(allow_nan=False)
    | st.sampled_from(["metrics", "(", "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=6,
)


@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=10)
@given(st.dictionaries(st.sampled_from(["panes", "shares", "grids", "filters", "axis", "guides", "smoothing"]), _JSON))
async def test_a_state_of_any_shape_is_survived(log: Path, state: ViewState, held: dict[str, object]) -> None:
    for key in ("panes", "shares", "grids", "filters", "axis", "guides", "smoothing"):
        state.set(f"run.{key}", held.get(key))
    async with watching(log, (80, 24)) as viewer:
        assert viewer.app.is_running
        await viewer.press("n")


def test_the_file_says_whose_it_is(log: Path, state: ViewState) -> None:
    state.set("run.guides", "dots")
    state.save()
    assert json.loads(state.file.read_text())["directory"] == str(log.parent.parent)


async def test_a_run_and_the_workspace_have_each_their_own_axis(tmp_path: Path) -> None:
    trained(tmp_path, rows=20, metrics=3)
    app = LeetApp(None, workspace=tmp_path / "wandb", terminal=Terminal(now=NOW), live=True)
    async with app.run_test(size=(140, 40)) as pilot:
        workspace = app.panes_screen
        await happened(workspace.loaded)  # type: ignore[attr-defined]
        await pilot.pause()
        await pilot.press("enter")
        for _ in range(200):
            if app.screen is not workspace and app.run_screen.loaded.is_set():
                break
            await pilot.pause(0.05)
        run = app.run_screen
        await pilot.press("x")
        assert run.model.metrics.axis != "auto"
        await pilot.press("escape")
        await pilot.pause()
        assert app.screen is workspace
        assert workspace.metric_sources.axis == "auto"
        assert run.model.metrics.axis == "auto"
