"""The media pane as a person uses it: the real app on real files, keys and mouse, and what it draws."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from example_run import ExampleRun
from PIL import Image
from textual import events
from viewer import Viewer, viewing

from leet.tui.screens.media_screen import MediaScreen
from leet.tui.widgets.media_wall import MediaWall

SIZE = 120, 40
RED, GREEN, BLUE = (200, 0, 0), (0, 200, 0), (0, 0, 200)


class MediaRun(ExampleRun):
    """An example run with files."""

    @property
    def files(self) -> Path:
        return self.directory / "files"

    def picture(self, name: str, pixels: Any, **options: Any) -> dict[str, Any]:
        """A picture in a file, and the value that stands for it. `pixels`: a colour, or [height, width, 3]."""
        path = self.files / "media" / "images" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(pixels, tuple):
            pixels = np.full((6, 8, 3), pixels, np.uint8)
        Image.fromarray(np.asarray(pixels, np.uint8)).save(path)
        return {"_type": "image-file", "path": f"media/images/{name}", "format": "png", **options}

    def pictures(self, *names: str, **options: Any) -> dict[str, Any]:
        """A list of pictures."""
        filenames = [self.picture(name, BLUE)["path"] for name in names]
        return {"_type": "images/separated", "count": len(names), "filenames": filenames, **options}

    def file(self, folder: str, name: str, data: bytes, kind: str, **options: Any) -> dict[str, Any]:
        path = self.files / "media" / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return {"_type": kind, "path": f"media/{folder}/{name}", "size": len(data), **options}

    def table(self, name: str, columns: list[str], data: list[list[Any]]) -> dict[str, Any]:
        found = self.file("table", name, json.dumps({"columns": columns, "data": data}).encode(), "table-file")
        return {**found, "ncols": len(columns), "nrows": len(data)}


def histogram(step: int) -> dict[str, Any]:
    counts = [1, 4, 9, 4, 1]
    return {"_type": "histogram", "values": counts, "bins": [step / 10 + i for i in range(6)]}


def wall_of(viewer: Viewer) -> MediaWall:
    return viewer.run.query_one("#media", MediaWall)


@asynccontextmanager
async def media(run: ExampleRun, size: tuple[int, int] = SIZE, **options: Any) -> AsyncIterator[Viewer]:
    """The app on a finished run, with the media pane open and everything decoded."""
    run.finish()
    async with viewing(run.log, size, **options) as viewer:
        if not viewer.run.shows("media"):  # it opens by itself where there is no metric
            await viewer.press("3")
        await shown(viewer)
        yield viewer


async def shown(viewer: Viewer) -> str:
    """What is on the screen when everything has been decoded."""
    screen = viewer.app.screen
    if hasattr(screen, "paint_now"):
        screen.paint_now()
    await viewer.pilot.pause()
    return viewer.text()


def scrubbed(tmp_path: Path, samples: int = 25) -> MediaRun:
    run = MediaRun(tmp_path)
    for step in range(samples):
        row: dict[str, Any] = {"loss": 1 / (step + 1), "a": run.picture(f"a{step}.png", RED, caption=f"caption {step}")}
        if step % 5 == 0:
            row["b"] = run.picture(f"b{step}.png", GREEN)
        run.row(row)
    return run


# Keys


async def test_the_newest_sample_is_shown_first(tmp_path: Path) -> None:
    async with media(scrubbed(tmp_path)) as viewer:
        text = viewer.text()
        assert "caption 24" in text
        assert "25/25" in text
        assert "step 24" in text
        assert wall_of(viewer).has_focus


@pytest.mark.parametrize(
    ("keys", "step"),
    [
        (("left",), 23),
        (("left", "left", "right"), 23),
        (("up",), 14),
        (("up", "up"), 4),
        (("up", "up", "up"), 0),
        (("up", "up", "down"), 14),
        (("home",), 0),
        (("home", "right"), 1),
        (("home", "left"), 0),
        (("home", "end"), 24),
        (("right",), 24),
    ],
)
async def test_arrows_scrub(tmp_path: Path, keys: tuple[str, ...], step: int) -> None:
    async with media(scrubbed(tmp_path)) as viewer:
        await viewer.press(*keys)
        assert f"caption {step}\n" in (await shown(viewer)).replace("  ", "\n")
        assert f"{step + 1}/25" in viewer.text()


async def test_wasd_moves_among_tiles_and_pages_turn(tmp_path: Path) -> None:
    run = MediaRun(tmp_path)
    run.row({f"k{i}": run.picture(f"{i}.png", RED, caption=f"of k{i}") for i in range(6)})
    async with media(run) as viewer:
        wall = wall_of(viewer)

        def selected() -> str:
            return wall.selected.name if wall.selected else ""

        assert "1–2 of 6" in viewer.text()
        for key, wanted in [("d", "k1"), ("d", "k2"), ("a", "k1"), ("a", "k0"), ("a", "k0"), ("pagedown", "k2"),
                            ("s", "k4"), ("w", "k2"), ("n", "k4"), ("pagedown", "k4"), ("pageup", "k2"),
                            ("N", "k0")]:  # fmt: skip
            await viewer.press(key)
            assert selected() == wanted, key
        await viewer.press("n")
        text = await shown(viewer)
        assert "3–4 of 6" in text
        assert "of k2" in text
        assert "of k3" in text
        assert "of k0" not in text


async def test_the_grid_follows_c_and_r(tmp_path: Path) -> None:
    run = MediaRun(tmp_path)
    run.row({f"k{i}": run.picture(f"{i}.png", RED) for i in range(12)})
    async with media(run, (200, 60)) as viewer:
        await viewer.press("c", "4")
        assert "1–4 of 12" in await shown(viewer)
        await viewer.press("r", "2")
        assert "1–8 of 12" in await shown(viewer)
        await viewer.press("c", "9", "r", "9")
        assert wall_of(viewer).grid == (9, 9)  # as far as there is room
        assert "12" in await shown(viewer)
        await viewer.pilot.resize_terminal(80, 24)
        assert "of 12" in await shown(viewer)


async def test_full_screen_and_back(tmp_path: Path) -> None:
    async with media(scrubbed(tmp_path)) as viewer:
        await viewer.press("left", "enter")
        assert isinstance(viewer.app.screen, MediaScreen)
        text = await shown(viewer)
        assert "caption 23" in text
        assert "Overview" not in text
        await viewer.press("left")
        assert "caption 22" in await shown(viewer)
        await viewer.press("d")
        assert "▸ b" in await shown(viewer)
        assert "media 2 of 2" in viewer.status
        await viewer.press("escape")
        assert not isinstance(viewer.app.screen, MediaScreen)
        text = await shown(viewer)
        assert "caption 22" in text
        assert "▸ b" in text


async def test_linked_tiles_move_together_and_with_the_charts(tmp_path: Path) -> None:
    async with media(scrubbed(tmp_path)) as viewer:
        assert "5/5" in viewer.text()
        await viewer.press("l")
        assert "linked" in viewer.text()
        await viewer.press("up")
        text = await shown(viewer)
        assert "caption 14" in text
        assert "step 10" in text  # the newest of the other one at or before that
        assert "3/5" in text
        chart = viewer.run.metrics.crosshair
        assert chart is not None
        assert chart[0] == 14

        viewer.run.metrics.set_crosshair(7.0, "step")
        await viewer.pilot.pause()
        text = await shown(viewer)
        assert "caption 7" in text
        assert "2/5" in text

        await viewer.press("l")
        viewer.run.metrics.set_crosshair(None)
        await viewer.press("l")
        chart = viewer.run.metrics.crosshair
        assert chart is not None
        assert chart[0] == 7
        await viewer.press("l")
        viewer.run.metrics.set_crosshair(20.0, "step")
        await viewer.press("left")
        text = await shown(viewer)
        assert "caption 6" in text
        assert "2/5" in text


async def test_before_the_first_sample_there_is_nothing(tmp_path: Path) -> None:
    run = MediaRun(tmp_path)
    run.row({"a": run.picture("a.png", RED, caption="early")})
    run.row({"b": run.picture("b.png", RED, caption="late")})
    async with media(run) as viewer:
        await viewer.press("l", "home")
        text = await shown(viewer)
        assert "early" in text
        assert "late" not in text
        assert "from step 1" in text


async def test_filter_by_name(tmp_path: Path) -> None:
    run = MediaRun(tmp_path)
    run.row({name: run.picture(f"{i}.png", RED) for i, name in enumerate(["cat", "dog", "cow10", "cow9"])})
    async with media(run) as viewer:
        await viewer.press("slash")
        await viewer.type("cow")
        await viewer.press("enter")
        text = await shown(viewer)
        assert "/cow/" in text
        assert "▸ cow9" in text
        assert [tile.name for tile in wall_of(viewer).tiles()] == ["cow9", "cow10"]
        await viewer.press("slash")
        await viewer.press("backspace", *"xyz", "enter")
        assert "No media match the filter" in await shown(viewer)


async def test_masks_and_boxes_are_drawn_on_demand_with_their_names(tmp_path: Path) -> None:
    run = MediaRun(tmp_path)
    mask = np.zeros((6, 8), np.uint8)
    mask[:, 4:] = 1
    run.picture("m.png", mask)
    boxes = {"box_data": [{"position": {"minX": 0, "maxX": 1, "minY": 0, "maxY": 1}, "class_id": 2}]}
    file = run.file("metadata", "b.json", json.dumps(boxes).encode(), "boxes2D")
    labels = {"sample_wandb_delimeter_gt": {"value": {"1": "road"}}}
    run.record(
        "config", {"update": [{"nested_key": ["_wandb", "mask/class_labels"], "value_json": json.dumps(labels)}]}
    )
    run.row({"sample": run.picture("a.png", RED, caption="plain", boxes={"pred": file},
                                   masks={"gt": {"_type": "mask", "path": "media/images/m.png"}})})  # fmt: skip
    async with media(run) as viewer:
        before = viewer.text()
        assert "plain" in before
        assert "road" not in before
        await viewer.press("m")
        text = await shown(viewer)
        assert "■ road" in text
        assert "□ class 2" in text
        await viewer.press("m")
        assert "plain" in await shown(viewer)


async def test_full_resolution_is_only_where_the_terminal_has_it(tmp_path: Path) -> None:
    async with media(scrubbed(tmp_path)) as viewer:
        await viewer.press("k")
        assert "no full resolution" in viewer.status
        assert not wall_of(viewer).full_resolution


@pytest.mark.parametrize(
    ("protocol", "mark", "gone"), [("kitty", "\x1b_Ga=T", "\x1b_Ga=d"), ("sixel", "\x1bP0;1;0q", " ")]
)
async def test_full_resolution(tmp_path: Path, protocol: Any, mark: str, gone: str) -> None:
    """The picture is sent once, over blank cells, and taken away when something lies over it."""
    async with media(scrubbed(tmp_path)) as viewer:
        wall = wall_of(viewer)
        sent: list[str] = []
        assert viewer.app._driver is not None
        viewer.app._driver.write = sent.append  # type: ignore[method-assign]  # what a terminal would be sent
        wall.protocol = protocol
        await viewer.press("k")
        assert f"pictures by {protocol}" in viewer.status
        for _ in range(3):
            text = await shown(viewer)
        assert "▀" not in text
        assert "".join(sent).count(mark) == 2
        wall.repaint()
        await viewer.pilot.pause()
        assert "".join(sent).count(mark) == 2
        sent.clear()
        await viewer.press("question_mark")
        await viewer.pilot.pause()
        assert gone in "".join(sent)
        assert mark not in "".join(sent)
        await viewer.press("escape")
        await viewer.pilot.pause()
        await viewer.pilot.pause()
        assert "".join(sent).count(mark) == 2
        await viewer.press("k")
        await shown(viewer)
        assert not wall.full_resolution


# Mouse


async def test_a_click_selects_a_tile_and_a_sample(tmp_path: Path) -> None:
    async with media(scrubbed(tmp_path)) as viewer:
        await viewer.press("left_square_bracket")
        await shown(viewer)
        wall = wall_of(viewer)
        assert wall.page is not None
        second = wall.page.slots[1]
        await viewer.pilot.click(wall, offset=(second.x + 3, second.y + 2))
        assert wall.selected is not None
        assert wall.selected.name == "b"
        first = wall.page.slots[0]
        await viewer.pilot.click(wall, offset=(first.x, first.bottom - 1))
        assert wall.selected.name == "a"
        assert "caption 0\n" in await shown(viewer)
        assert "1/25" in viewer.text()


async def test_the_wheel_scrubs(tmp_path: Path) -> None:
    async with media(scrubbed(tmp_path)) as viewer:
        wall = wall_of(viewer)
        for event in (events.MouseScrollUp, events.MouseScrollUp, events.MouseScrollDown):
            await viewer.pilot._post_mouse_events([event], wall, offset=(5, 5), button=0)
        assert "24/25" in await shown(viewer)


async def test_a_drag_along_the_slider_scrubs(tmp_path: Path) -> None:
    async with media(scrubbed(tmp_path)) as viewer:
        wall = wall_of(viewer)
        assert wall.page is not None
        slot = wall.page.slots[0]
        y = slot.bottom - 1
        await viewer.pilot.mouse_down(wall, offset=(slot.x + 10, y))
        await viewer.pilot.hover(wall, offset=(slot.x + 2, y))
        await viewer.pilot.mouse_up(wall, offset=(slot.x + 2, y))
        text = await shown(viewer)
        assert any(f"{n}/25" in text for n in (1, 2, 3))
        await viewer.pilot.hover(wall, offset=(slot.x + 15, y))
        assert await shown(viewer) == text


async def test_the_palette_lists_what_the_pane_answers(tmp_path: Path) -> None:
    async with media(scrubbed(tmp_path)) as viewer:
        await viewer.press("ctrl+p")
        await viewer.type("masks and boxes")
        await viewer.until("Media · m")
        await viewer.press("enter")
        await viewer.until("masks and boxes are drawn")
        assert wall_of(viewer).view.overlays


def test_nothing_of_it_is_loaded_before_the_pane_is_opened(tmp_path: Path) -> None:
    log = scrubbed(tmp_path, 3).finish()
    code = """
import sys
from pathlib import Path
from leet.discovery import Found
from leet.tui.app import LeetApp
from leet.tui.screenshot import take
take(LeetApp(Found(Path(sys.argv[1])), live=False), sys.argv[2], (80, 24), "")
print(sorted(name for name in ("PIL", "leet.tui.widgets.media_wall", "leet.model.media_loader") if name in sys.modules))
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(log), str(tmp_path / "frame.txt")], capture_output=True, text=True, timeout=60
    )
    assert done.stdout.strip() == "[]", done.stderr
