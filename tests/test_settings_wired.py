"""Every setting does something: read where it counts, and seen to make a difference."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from example_run import trained
from test_import_hygiene import loaded_after
from viewer import viewing

from leet.discovery import Found, NoRun, WorkspaceRoot, open_target
from leet.reading.cache_place import default_folder
from leet.reading.column_cache import ColumnCache
from leet.settings import store
from leet.settings.table import SETTINGS, Count, Grid, GridSize, Number, Toggle
from leet.tui import top_app
from leet.tui.screens.top_screen import TopScreen
from leet.tui.terminal import Terminal, detect

LEET = Path(__file__).parents[1] / "leet"
SOURCE = {
    path: path.read_text(encoding="utf-8")
    for path in LEET.rglob("*.py")
    if path.parent.name != "settings" and path.name != "settings_preview.py"
}
FORMED = ("panes.run.", "panes.workspace.", "grids.run_", "grids.workspace_")
"""Names that `leet/tui/memory.py` forms from that of a pane."""


@pytest.mark.parametrize("name", SETTINGS)
def test_every_setting_is_read_somewhere(name: str) -> None:
    formed = name.startswith(FORMED)
    assert formed or any(f'"{name}"' in text for text in SOURCE.values())


@pytest.mark.parametrize(
    ("getter", "kinds"), [("toggle", (Toggle,)), ("count", (Count,)), ("number", (Number,)), ("grid", (GridSize,))]
)
def test_every_reader_asks_for_a_setting_of_its_kind(getter: str, kinds: tuple[type, ...]) -> None:
    asked = {name for text in SOURCE.values() for name in re.findall(rf'\.{getter}\("([a-z_.]+)"\)', text)}
    for name in asked & SETTINGS.keys():
        assert isinstance(SETTINGS[name], kinds), name
    unknown = {name for name in asked - SETTINGS.keys() if "." in name.strip(".")}
    assert not unknown


@pytest.fixture
def variables(monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    def put(**values: str) -> None:
        for name, value in values.items():
            monkeypatch.setenv(f"LEET_{name}", value)
        store.reload()

    yield put
    monkeypatch.undo()
    store.reload()


def test_ascii_and_mouse_hold_for_every_terminal(variables) -> None:  # type: ignore[no-untyped-def]
    assert (detect({"LANG": "C.UTF-8"}).ascii, detect({"LANG": "C.UTF-8"}).mouse) == (False, True)
    variables(ASCII="on", MOUSE="off")
    assert (detect({"LANG": "C.UTF-8"}).ascii, detect({"LANG": "C.UTF-8"}).mouse) == (True, False)


def test_start_up_may_lead_to_the_workspace(
    variables,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,  # type: ignore[no-untyped-def]
) -> None:
    log = trained(tmp_path, rows=2)
    monkeypatch.chdir(tmp_path)
    assert isinstance(open_target(None, {}), Found)
    variables(STARTUP="workspace")
    assert open_target(None, {}) == WorkspaceRoot(Path("wandb"))
    monkeypatch.chdir(log.parent)
    assert isinstance(open_target(None, {}), Found)
    monkeypatch.chdir("/")
    with pytest.raises(NoRun, match=r"no \./wandb here"):
        open_target(None, {})


def test_caches_are_kept_and_as_large_as_the_settings_say(variables, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    assert default_folder() is not None
    variables(CACHE_SIZE="16")
    cache = ColumnCache.of(tmp_path / "run-a.wandb")
    assert cache is not None
    assert cache._room == 16 << 20
    variables(CACHE_ENABLED="off")
    assert default_folder() is None
    assert ColumnCache.of(tmp_path / "run-a.wandb") is None


def test_the_monitor_wears_them(variables) -> None:  # type: ignore[no-untyped-def]
    variables(TOP_INTERVAL="7.5", GRIDS_TOP="4x2", PANES_TOP_VITALS="off", COLORS_SYSTEM="beacon")
    screen = TopScreen(Terminal(), 1.0)
    assert screen._grid_size == {"rows": 4, "columns": 2}
    assert screen._sidebar is False
    assert screen.grid.palette == "beacon"


def test_its_help_says_how_often_it_looks(variables, capsys: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    variables(TOP_INTERVAL="7.5")
    with pytest.raises(SystemExit):
        top_app.main(["--help"])
    assert "(7.5s)" in capsys.readouterr().out


async def test_tags_have_colours_of_their_palette(variables, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    log = trained(tmp_path, rows=4)
    seen = []
    for palette in ("meadow", "beacon"):
        variables(COLORS_TAGS=palette)
        async with viewing(log) as viewer:
            strips = viewer.run.overview._lines
            seen.append({s.style.color.name for strip in strips for s in strip if s.text in ("baseline", "mlp")})
    assert all(seen)
    assert seen[0].isdisjoint(seen[1])


async def test_a_theme_that_is_not_there_is_said(variables, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    variables(THEME="no-such")
    async with viewing(trained(tmp_path, rows=4), (200, 40)) as viewer:
        assert viewer.app.theme == "leet-dark"
        await viewer.until("LEET_THEME: there is no theme 'no-such'")


async def test_the_theme_that_was_set_is_worn_unless_another_is_asked_for(variables, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    log = trained(tmp_path, rows=4)
    variables(THEME="nord")
    async with viewing(log) as viewer:
        assert viewer.app.theme == "nord"
    async with viewing(log, theme="leet-light") as viewer:
        assert viewer.app.theme == "leet-light"
    async with viewing(log, terminal=Terminal(depth="16")) as viewer:
        assert viewer.app.theme == "leet-16"


async def test_charts_of_a_run_may_have_a_colour_each(variables, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    log = trained(tmp_path, rows=20, metrics=4, samples=10)
    variables(COLORS_SINGLE_RUN_MODE="per_plot", COLORS_CHARTS="signal", GRIDS_RUN_METRICS="2x2")
    async with viewing(log, (140, 40)) as viewer:
        grid = viewer.run.metrics
        assert (grid.per_plot, grid.palette) == (True, "signal")
        assert (grid.rows, grid.columns) == (2, 2)
        colors = {grid._styles(role).color.name for role in set(grid._wall.roles.flat) if 100 <= role < 1000}
        assert len(colors) == 4
        assert not viewer.run.system.per_plot


def test_grids_of_the_table_are_grids() -> None:
    assert {name for name, s in SETTINGS.items() if isinstance(s.default, Grid)} == {
        "grids.run_media",
        "grids.workspace_media",
    }


def test_the_viewer_starts_without_what_reads_and_writes_the_file() -> None:
    loaded = loaded_after("import leet.tui.app\nfrom leet.settings import settings\nsettings()")
    assert not loaded & {"tomllib", "tomlkit"}


def test_a_file_is_read_without_what_writes_it(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('mouse = false\n[keys]\nquit = "Q"\n')
    code = f"from pathlib import Path\nfrom leet.settings.toml_file import read\nread(Path({str(path)!r}))"
    assert not loaded_after(code) & {"tomlkit", "difflib", "textual", "rich", "numpy"}
