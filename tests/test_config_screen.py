"""The editor of settings: every setting is reached, changed, checked, saved, or given up knowingly."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from example_run import trained
from textual.pilot import Pilot
from viewer import viewing

from leet.settings import settings, store
from leet.settings.table import SETTINGS, Choice, Count, Grid, GridSize, Number, Toggle
from leet.settings.toml_file import read
from leet.tui.config_app import ConfigApp
from leet.tui.screens.config_screen import ConfigScreen
from leet.tui.screens.picker_screen import PickerScreen
from leet.tui.screenshot import text_of
from leet.tui.terminal import Terminal


class Editor:
    """The program in a test."""

    def __init__(self, app: ConfigApp, pilot: Pilot[object]) -> None:
        self.app = app
        self.pilot = pilot
        screen = app.screen_stack[0]
        assert isinstance(screen, ConfigScreen)
        self.screen = screen

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def type(self, text: str) -> None:
        names = {" ": "space", ".": "full_stop", "/": "slash"}
        await self.press(*(names.get(char, char) for char in text))

    async def go_to(self, name: str) -> None:
        self.screen.list.go_to(name)
        await self.pilot.pause()

    def text(self) -> str:
        return text_of(self.app)

    def value(self, name: str) -> object:
        return self.screen.draft.value(name)


@asynccontextmanager
async def editing(size: tuple[int, int] = (120, 40), terminal: Terminal | None = None) -> AsyncIterator[Editor]:
    app = ConfigApp(terminal=terminal or Terminal())
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        yield Editor(app, pilot)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    store.reload()
    return tmp_path / "config" / "leet" / "config.toml"


async def test_every_setting_can_be_reached_and_says_what_it_is(file: Path) -> None:
    async with editing((80, 24)) as editor:
        seen = []
        for _ in SETTINGS:
            setting = editor.screen.setting
            assert setting is not None
            text = editor.text()
            assert setting.about[:40] in text
            assert setting.variable in text
            assert "default" in text
            seen.append(setting.name)
            await editor.press("down")
        assert seen == list(SETTINGS)
        assert editor.screen.setting is next(iter(SETTINGS.values()))
        await editor.press("up")
        assert editor.screen.setting is list(SETTINGS.values())[-1]


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=lambda s: s.name)
async def test_every_setting_can_be_changed_and_saved(file: Path, setting) -> None:  # type: ignore[no-untyped-def]
    async with editing() as editor:
        await editor.go_to(setting.name)
        if isinstance(setting, Toggle):
            await editor.press("space")
        elif isinstance(setting, Choice):
            await editor.press("enter", "down", "enter")
        elif isinstance(setting, Count | Number | GridSize):
            await editor.press("enter", "home", "ctrl+k")
            await editor.type({Count: "17", Number: "17.5", GridSize: "3x5"}[type(setting)])
            await editor.press("enter")
        else:
            await editor.press("enter", "down", "enter")
        changed = editor.value(setting.name)
        assert changed != setting.default
        assert "not saved yet" in editor.text()
        await editor.press("s")
        assert not editor.app.is_running
        assert editor.app.return_code == 0
    assert read(file).from_file == {setting.name: changed}
    assert settings()[setting.name] == changed


async def test_left_and_right_change_values_too(file: Path) -> None:
    async with editing() as editor:
        await editor.go_to("charts.guides")
        await editor.press("right")
        assert editor.value("charts.guides") == "dots"
        await editor.press("left", "h")
        assert editor.value("charts.guides") == "horizontal"
        await editor.go_to("grids.run_metrics")
        await editor.press("right", "l")
        assert editor.value("grids.run_metrics") == Grid(4, 4)
        await editor.go_to("theme")
        await editor.press("right")
        assert editor.value("theme") == "leet-dark"


async def test_what_is_not_allowed_is_said_while_it_is_typed_and_not_taken(file: Path) -> None:
    async with editing() as editor:
        await editor.go_to("system.tail_minutes")
        await editor.press("enter")
        await editor.type("99")
        assert "not 1099" not in editor.text()
        await editor.type("9")
        assert "takes 0 to 1440 minutes, not 10999" in editor.text()
        await editor.press("enter")
        assert editor.value("system.tail_minutes") == 10
        await editor.press("backspace", "backspace", "enter")
        assert editor.value("system.tail_minutes") == 109
        await editor.press("enter")
        await editor.type("1")
        await editor.press("escape")
        assert editor.value("system.tail_minutes") == 109


async def test_leaving_asks_once_when_something_was_changed(file: Path) -> None:
    async with editing() as editor:
        await editor.press("right")
        for key in ("q", "escape", "ctrl+c"):
            await editor.press(key)
            if key == "q":
                assert "not saved: s saves, the same key again leaves without" in editor.text()
                await editor.press("down")
                assert editor.app.is_running
            elif key == "escape":
                assert editor.app.is_running
        assert not editor.app.is_running
    assert not file.exists()


async def test_quitting_from_the_help_asks_too(file: Path) -> None:
    async with editing() as editor:
        await editor.press("right", "question_mark", "q")
        assert editor.app.is_running
        assert editor.app.screen is editor.screen
        assert "not saved: " in editor.text()
        await editor.press("ctrl+c")
        assert not editor.app.is_running
    async with editing() as editor:
        await editor.press("question_mark", "q")
        assert not editor.app.is_running


async def test_opening_the_settings_keeps_the_theme_that_is_seen(file: Path, tmp_path: Path) -> None:
    async with viewing(trained(tmp_path, rows=4)) as viewer:
        viewer.app.theme = "nord"
        await viewer.press("comma", "down")
        assert viewer.app.theme == "nord"
        screen = viewer.app.screen
        assert isinstance(screen, ConfigScreen)
        screen.list.go_to("theme")
        await viewer.press("right")
        assert viewer.app.theme == "leet-dark"
        await viewer.press("left", "q")
        assert viewer.app.theme == "nord"


async def test_leaving_without_changes_asks_nothing(file: Path) -> None:
    async with editing() as editor:
        await editor.press("q")
        assert not editor.app.is_running
    assert not file.exists()


async def test_reset_takes_a_setting_out_of_the_file(file: Path) -> None:
    file.parent.mkdir(parents=True)
    file.write_text("# mine\nmouse = false\nascii = true\n")
    store.reload()
    async with editing() as editor:
        await editor.go_to("mouse")
        await editor.press("r")
        assert editor.value("mouse") is True
        await editor.press("ctrl+s")
    assert file.read_text() == "# mine\nascii = true\n"


async def test_the_list_is_filtered_by_words(file: Path) -> None:
    async with editing() as editor:
        await editor.press("slash")
        await editor.type("grid work")
        assert editor.screen.list.count == 3
        await editor.press("enter", "right", "escape")
        assert editor.screen.list.count == len(SETTINGS)
        assert editor.app.is_running
        assert editor.value("grids.workspace_metrics") == Grid(4, 3)
        await editor.press("slash")
        await editor.type("smoo")
        assert "1 setting\n" in editor.text()
        await editor.press("ctrl+u")
        await editor.type("zzz")
        assert "no setting is called so" in editor.text()
        await editor.press("enter", "enter", "space", "r", "right", "down", "home", "end", "pagedown")
        assert editor.app.is_running


async def test_palettes_are_picked_from_swatches_and_previewed(file: Path) -> None:
    async with editing() as editor:
        await editor.go_to("colors.runs")
        await editor.press("enter")
        assert isinstance(editor.app.screen, PickerScreen)
        assert "okabe-ito ████████" in editor.text()
        assert "for colour-blind eyes too" in editor.text()
        await editor.press("down")
        assert editor.screen.preview.palette == "harbour"
        await editor.press("escape")
        assert editor.screen.preview.palette == "meadow"
        assert editor.value("colors.runs") == "meadow"


async def test_a_theme_is_seen_at_once_and_given_back(file: Path) -> None:
    async with editing() as editor:
        await editor.go_to("theme")
        await editor.press("enter", "down", "down")
        assert editor.app.theme == "leet-light"
        await editor.press("escape")
        assert editor.app.theme == "leet-dark"


async def test_guides_and_smoothing_are_seen_in_the_preview(file: Path) -> None:
    async with editing() as editor:
        await editor.go_to("charts.guides")
        await editor.press("right")
        await editor.go_to("smoothing")
        await editor.press("right")
        assert (editor.screen.preview.guides, editor.screen.preview.smoothing) == ("dots", 0.6)


async def test_by_mouse(file: Path) -> None:
    async with editing((80, 24)) as editor:
        line = next(y for y, row in enumerate(editor.text().splitlines()) if " ascii " in row)
        await editor.pilot.click(offset=(4, line))
        await editor.pilot.pause()
        assert editor.screen.setting is SETTINGS["ascii"]
        assert editor.value("ascii") is False
        await editor.pilot.click(offset=(4, line))
        await editor.pilot.pause()
        assert editor.value("ascii") is True
        await editor.pilot.click(offset=(4, line - 1))
        await editor.pilot.click(offset=(4, line - 1))
        await editor.pilot.pause()
        assert isinstance(editor.app.screen, PickerScreen)
        row = next(y for y, text in enumerate(editor.text().splitlines()) if "leet-light" in text)
        await editor.pilot.click(offset=(40, row))
        await editor.pilot.pause()
        assert editor.value("theme") == "leet-light"


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
async def test_what_cannot_be_saved_is_said_and_kept_by_permission(file: Path) -> None:
    file.parent.mkdir(parents=True)
    file.parent.chmod(0o500)
    async with editing() as editor:
        await editor.press("right", "s")
        assert "not saved: " in editor.text()
        assert editor.app.is_running


async def test_what_cannot_be_saved_is_said_and_kept(file: Path) -> None:
    file.parent.parent.mkdir(parents=True)
    file.parent.write_text("in the way")
    async with editing() as editor:
        await editor.press("right", "s")
        assert "not saved: " in editor.text()
        assert editor.app.is_running
        assert editor.screen.draft.changed


async def test_what_is_wrong_with_the_file_is_said(file: Path) -> None:
    file.parent.mkdir(parents=True)
    file.write_text("mouze = 1\nascii = 4\n")
    store.reload()
    async with editing() as editor:
        assert "config.toml:1: there is no setting mouze" in editor.text()


async def test_a_variable_of_the_environment_is_named(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEET_CHARTS_GUIDES", "horizontal")
    store.reload()
    async with editing() as editor:
        await editor.go_to("charts.guides")
        assert "LEET_CHARTS_GUIDES is set to horizontal and goes before the file" in editor.text()
        assert any("charts.guides" in row and " environment" in row for row in editor.text().splitlines())


@pytest.mark.parametrize("size", [(20, 6), (40, 10), (80, 24), (118, 30), (200, 50)])
async def test_any_size_will_do(file: Path, size: tuple[int, int]) -> None:
    async with editing(size) as editor:
        await editor.press("down", "down", "enter", "down", "escape", "end", "slash", "a", "enter")
        assert editor.app.is_running
        assert len(editor.text().splitlines()) <= size[1]


@pytest.mark.parametrize("depth", ["16", "none"])
async def test_without_colours_there_are_no_swatches(
    file: Path,
    depth,
    monkeypatch: pytest.MonkeyPatch,  # type: ignore[no-untyped-def]
) -> None:
    if depth == "none":
        monkeypatch.setenv("NO_COLOR", "1")
    async with editing(terminal=Terminal(depth=depth)) as editor:
        rows = [line for line in editor.text().splitlines() if re.search(r" (colors|theme)\S* .* default\b", line)]
        assert len(rows) > 3
        assert len({row.index(" default") for row in rows}) == 1, "in a column"
        await editor.go_to("colors.runs")
        await editor.press("enter")
        assert "okabe-ito" in editor.text()
        assert "okabe-ito ██" not in editor.text()
        await editor.press("down", "enter")
        assert editor.value("colors.runs") == "harbour"


async def test_ascii_terminals_get_ascii(file: Path) -> None:
    async with editing((80, 24), Terminal(ascii=True)) as editor:
        await editor.go_to("colors.runs")
        await editor.press("enter")
        strips = editor.app.screen._compositor.render_strips()
        assert all(text.isascii() for strip in strips for text, *_ in strip)


async def test_saved_settings_hold_in_the_viewer_at_once(file: Path, tmp_path: Path) -> None:
    log = trained(tmp_path, rows=20, metrics=4)
    async with viewing(log) as viewer:
        await viewer.press("comma")
        screen = viewer.app.screen
        assert isinstance(screen, ConfigScreen)
        screen.list.go_to("charts.guides")
        await viewer.press("right")
        screen.list.go_to("colors.single_run_mode")
        await viewer.press("right", "s")
        assert viewer.app.screen is viewer.run
        assert viewer.run.metrics.guides == "dots"
        assert viewer.run.metrics.per_plot
        assert viewer.run.metrics.palette == "ember"
        await viewer.press("comma", "right", "q", "q")
        assert viewer.app.screen is viewer.run
        assert settings().choice("startup") == "latest-run"


async def test_the_palette_leads_to_a_setting(file: Path, tmp_path: Path) -> None:
    async with viewing(trained(tmp_path, rows=4)) as viewer:
        await viewer.press("ctrl+p")
        await viewer.type("console.wrap")
        await viewer.until("Wrap long lines (console.wrap)")
        await viewer.press("down", "enter")
        await viewer.pilot.pause()
        screen = viewer.app.screen
        assert isinstance(screen, ConfigScreen)
        assert screen.setting is SETTINGS["console.wrap"]


async def test_keys_for_guides_and_smoothing(file: Path, tmp_path: Path) -> None:
    log = trained(tmp_path, rows=60, metrics=4)
    async with viewing(log) as viewer:
        await viewer.press("g", "m")
        assert (viewer.run.metrics.guides, viewer.run.system.guides) == ("dots", "dots")
        assert viewer.run.metrics.smoothing == 0.6
        assert viewer.run.system.smoothing == 0.0
        await viewer.press("enter", "m", "g")
        assert viewer.app.screen.grid.smoothing == 0.9  # type: ignore[attr-defined]
        assert viewer.app.screen.grid.guides == "horizontal"  # type: ignore[attr-defined]
        await viewer.press("escape", "m", "m")
        assert viewer.run.metrics.smoothing == 0.0
