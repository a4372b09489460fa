"""What tiles show of every kind of media, good and bad: pictures as cells, tables, heat maps, files, troubles."""

from __future__ import annotations

import io
import wave
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import corpus_logs
from PIL import Image
from test_media_wall import BLUE, GREEN, RED, MediaRun, histogram, media, shown, wall_of
from viewer import NOW, viewing

from leet.tui.screens.media_screen import MediaScreen
from leet.tui.screens.table_screen import TableScreen
from leet.tui.terminal import Terminal

PLAIN = Terminal(now=NOW)


def gradient(height: int = 24, width: int = 48) -> Any:
    """Light from left to right, red from top to bottom."""
    down, across = np.mgrid[0:height, 0:width]
    return np.stack([down * 255 // height, across * 255 // width, np.full_like(down, 60)], -1)


def body(text: str) -> str:
    """The rows of the media pane."""
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines) if " Media " in line)
    return "\n".join(line.rstrip() for line in lines[first:-1])


def colors_at(viewer: Any, column: int, row: int) -> tuple[str, Any, Any]:
    """Character, ink and ground of a cell of the media pane."""
    wall = wall_of(viewer)
    strip = wall.render_line(row)
    (segment,) = list(strip.crop(column, column + 1))
    assert segment.style is not None
    return segment.text, segment.style.color, segment.style.bgcolor


# Pictures


@pytest.mark.parametrize(
    ("name", "terminal"),
    [
        ("media_half_blocks", PLAIN),
        ("media_256", Terminal(now=NOW, depth="256")),
        ("media_16", Terminal(now=NOW, depth="16")),
        ("media_no_color", Terminal(now=NOW, depth="none")),
        ("media_ascii", Terminal(now=NOW, depth="16", ascii=True)),
    ],
)
async def test_pictures_as_text(tmp_path: Path, name: str, terminal: Terminal, golden: Any, utc: None) -> None:
    run = MediaRun(tmp_path)
    run.row({"sample": run.picture("a.png", gradient(), caption="gradient"), "weights": histogram(0)})
    run.row({"weights": histogram(5)})
    async with media(run, (80, 24), terminal=terminal) as viewer:
        golden(name, body(viewer.text()))


async def test_two_pixels_to_a_cell_in_their_colours(tmp_path: Path) -> None:
    run = MediaRun(tmp_path)
    pixels = np.zeros((20, 40, 3), np.uint8)
    pixels[:10], pixels[10:] = RED, BLUE
    run.row({"a": run.picture("a.png", pixels)})
    async with media(run) as viewer:
        wall = wall_of(viewer)
        rows = [colors_at(viewer, wall.size.width // 2, row) for row in range(1, wall.size.height - 2)]
        rows = [row for row in rows if tuple(row[2].triplet) in ((206, 0, 0), (0, 0, 206))]
        assert (rows[0][0], tuple(rows[0][2].triplet)) == (" ", (206, 0, 0))
        assert tuple(rows[-1][2].triplet) == (0, 0, 206)


async def test_transparent_pixels_show_the_ground(tmp_path: Path) -> None:
    run = MediaRun(tmp_path)
    value = run.picture("a.png", RED)
    clear = np.zeros((8, 8, 4), np.uint8)
    clear[:, :4] = (*GREEN, 255)
    Image.fromarray(clear).save(run.files / value["path"])
    run.row({"a": value})
    async with media(run) as viewer:
        wall = wall_of(viewer)
        _, _, ground = colors_at(viewer, wall.size.width // 2 + 3, 5)
        expected = wall.background_colors[1].rgb
        assert max(abs(a - b) for a, b in zip(ground.triplet, expected, strict=True)) <= 8


async def test_pictures_lie_as_the_camera_was_held(tmp_path: Path) -> None:
    run = MediaRun(tmp_path)
    value = run.picture("a.jpg", RED)
    wide = np.zeros((10, 40, 3), np.uint8)
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(wide).save(run.files / value["path"], exif=exif)
    run.row({"a": value})
    async with media(run) as viewer:
        assert (await shown(viewer)).count("▀") == 0
        wall = wall_of(viewer)
        blank = wall.background_colors[1].rgb
        row = [colors_at(viewer, column, 4)[2] for column in range(wall.size.width)]
        black = [c for c in row if c is not None and tuple(c.triplet) != tuple(blank)]
        assert 0 < len(black) < wall.size.height  # four times as high as wide


async def test_of_an_animation_the_first_frame_is_shown(tmp_path: Path) -> None:
    run = MediaRun(tmp_path)
    value = run.picture("a.png", RED)
    frames = [Image.new("RGB", (8, 8), color) for color in (GREEN, RED)]
    path = run.files / "media" / "images" / "a.gif"
    frames[0].save(path, save_all=True, append_images=frames[1:])
    run.row({"a": {**value, "path": "media/images/a.gif", "format": "gif"}})
    async with media(run) as viewer:
        wall = wall_of(viewer)
        _, _, ground = colors_at(viewer, wall.size.width // 2, 4)
        assert ground.triplet[1] > 150 > ground.triplet[0]


async def test_sixteen_bits_and_palettes(tmp_path: Path) -> None:
    run = MediaRun(tmp_path)
    run.row({"deep": run.picture("a.png", RED), "palette": run.picture("b.png", RED)})
    Image.fromarray((np.arange(64, dtype=np.uint16) * 1000).reshape(8, 8)).save(run.files / "media/images/a.png")
    Image.new("P", (8, 8), 3).save(run.files / "media/images/b.png")
    async with media(run) as viewer:
        text = viewer.text()
        assert "cannot" not in text
        assert "not a picture" not in text


# Troubles


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("media/images/none.png", "missing: media/images/none.png"),
        ("../../../etc/passwd", "outside of the run"),
        ("/etc/passwd", "outside of the run"),
        ("media/images/link.png", "leads out of the run"),
        ("media/images/text.png", "not a picture"),
        ("media/images/cut.png", "cannot be decoded"),
        ("media/images/bomb.png", "too many pixels"),
        ("", "names no file"),
    ],
)
async def test_what_cannot_be_shown_is_said(tmp_path: Path, path: str, said: str) -> None:
    run = MediaRun(tmp_path)
    value = run.picture("cut.png", gradient(200, 200))
    folder = run.files / "media" / "images"
    whole = (folder / "cut.png").read_bytes()
    (folder / "cut.png").write_bytes(whole[: len(whole) // 2])
    (folder / "text.png").write_text("no picture")
    (tmp_path / "secret.png").write_bytes(whole)
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    if path.endswith("bomb.png"):  # it takes seconds to make
        Image.new("1", (30_000, 30_000)).save(folder / "bomb.png", compress_level=1)
    run.row({"a": {**value, "path": path}})
    async with media(run) as viewer:
        assert said in " ".join(viewer.text().split())


async def test_a_file_that_comes_late_is_shown(tmp_path: Path) -> None:
    run = MediaRun(tmp_path)
    value = run.picture("late.png", gradient(), caption="late")
    path = run.files / value["path"]
    data = path.read_bytes()
    path.unlink()
    run.row({"a": value})
    async with media(run) as viewer:
        assert "missing" in viewer.text()
        path.write_bytes(data)
        await viewer.until("▀")


async def test_texts_of_the_log_cannot_act_on_the_terminal(tmp_path: Path) -> None:
    run = MediaRun(tmp_path)
    evil = "x\x1b[2J\u202ey\n"
    run.row({f"k{evil}": run.picture("a.png", RED, caption=evil), "t": run.table("t.json", [evil], [[evil]])})
    async with media(run) as viewer:
        text = viewer.text()
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert "␛" in text
        await viewer.press("d", "enter")
        await viewer.pilot.pause()
        assert "\x1b" not in viewer.text()
        assert "x␛" in viewer.text()


# Tables


async def test_tables(tmp_path: Path) -> None:
    run = MediaRun(tmp_path)
    rows = [[i, f"text {i}", i / 7, None, i % 2 == 0] for i in range(500)]
    run.row({"predictions": run.table("t.json", ["id", "text", "score", "none", "ok"], rows)})
    async with media(run) as viewer:
        text = viewer.text()
        assert "id  text" in text
        assert "0.1429" in text
        assert "… 500 rows" in text
        await viewer.press("enter")
        assert isinstance(viewer.app.screen, TableScreen)
        assert "predictions · step 0" in viewer.text()
        assert "0.14285714285714285" in viewer.text()
        await viewer.press("down", "right")
        assert "row 2 of" in viewer.text()
        assert "text = text 1" in viewer.text()
        await viewer.press("pagedown")
        assert "text = text 39" in viewer.text()
        await viewer.press("end")
        assert "row 500 of 500 " in viewer.text()
        assert "499" in viewer.text()
        await viewer.press("enter")
        assert "text 499" in viewer.text()
        await viewer.press("escape", "home")
        assert "row 1 of" in viewer.text()
        await viewer.press("escape")
        assert not isinstance(viewer.app.screen, TableScreen)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"[1, 2]", "holds no table"),
        (b'{"columns": ["a"], "data": [[1], [2', "damaged"),
        (b'{"columns": [], "data": []}', "no columns"),
        (b"\xff\xfe", "holds no table"),
    ],
)
async def test_bad_tables(tmp_path: Path, data: bytes, said: str) -> None:
    run = MediaRun(tmp_path)
    run.row({"t": run.file("table", "t.json", data, "table-file")})
    async with media(run) as viewer:
        assert said in viewer.text()
        await viewer.press("enter")
        await viewer.pilot.pause()
        assert isinstance(viewer.app.screen, TableScreen)


# Histograms


async def test_histograms_are_a_heat_map_with_the_moment(tmp_path: Path) -> None:
    run = MediaRun(tmp_path)
    for step in range(30):
        run.row({"weights": histogram(step), "packed": {"_type": "histogram", "values": [1, 2, 1],
                 "packedBins": {"min": 0, "size": 0.5, "count": 3}}})  # fmt: skip
    async with media(run) as viewer:
        text = viewer.text()
        assert "no data" not in text
        assert "n 19" in text
        assert "n 4" in text
        assert "█" in text
        await viewer.press("d", "home", "right")
        assert "│" in await shown(viewer)
        assert "2/30" in viewer.text()
        assert "mean 2.6" in viewer.text()


async def test_a_histogram_in_a_row_is_told_in_words(tmp_path: Path) -> None:
    run = MediaRun(tmp_path)
    for step in range(30):
        run.row({"weights": histogram(step), "loss": 1.0})
    async with media(run, (80, 24)) as viewer:
        await viewer.press("4")
        text = viewer.text()
        assert "n 19, mean 5." in text
        assert "Too low for a picture: Enter shows it whole" in text
        assert "██" not in text


# Files that are not drawn


async def test_files_are_listed_with_what_is_known(tmp_path: Path) -> None:
    run = MediaRun(tmp_path)
    sound = io.BytesIO()
    with wave.open(sound, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(bytes(2 * 12_000))
    run.row({
        "clip": run.file("videos", "v.mp4", b"x" * 5000, "video-file", width=64, height=32),
        "page": run.file("html", "p.html", b"<p>", "html-file"),
        "shape": run.file("object3D", "s.obj", b"v 0 0 0", "object3D-file"),
        "tone": run.file("audio", "t.wav", sound.getvalue(), "audio-file"),
        "tones": {"_type": "audio", "count": 2, "audio": [run.file("audio", "u.wav", sound.getvalue(), "audio-file"),
                  run.file("audio", "w.wav", b"no", "audio-file")], "durations": [2.5, None]},
        "unknown": {"_type": "hologram-file", "path": "media/x.holo"},
    })  # fmt: skip
    async with media(run, (160, 60)) as viewer:
        await viewer.press("c", "4", "r", "2")
        text = await shown(viewer)
        for said in ("video", "v.mp4", "4.883 KiB", "64 × 32", "HTML", "3 B", "3-D object", "1.5 s", "2.5 s",
                     "hologram", "missing: media/x.holo", "tones[0]", "tones[1]"):  # fmt: skip
            assert said in text, said


async def test_files_are_opened_by_the_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = MediaRun(tmp_path)
    run.row({"page": run.file("html", "p.html", b"<p>", "html-file")})
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME", "SSH_CONNECTION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    async with media(run) as viewer:
        await viewer.press("e")
        assert "no viewer here: no graphical screen" in viewer.status
        assert viewer.app.clipboard == str(run.files / "media/html/p.html")

        opened = tmp_path / "opened"
        program = tmp_path / "bin" / "xdg-open"
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\necho noise; echo "$1" > {opened}.part; mv {opened}.part {opened}\n')
        program.chmod(0o755)
        monkeypatch.setenv("PATH", str(program.parent), prepend=":")
        monkeypatch.setenv("DISPLAY", ":0")
        await viewer.press("e")
        for _ in range(200):
            if opened.exists():
                break
            await viewer.pilot.pause(0.05)
        assert opened.read_text().strip() == str(run.files / "media/html/p.html")
        assert "opened p.html" in viewer.text()


# Runs that grow, and real ones


async def test_a_growing_run_is_followed_unless_one_looks_back(tmp_path: Path) -> None:
    run = MediaRun(tmp_path)
    run.row({"a": run.picture("0.png", RED, caption="number 0")})
    run.row({"a": run.picture("1.png", RED, caption="number 1")})
    run.flush()
    async with viewing(run.log, (120, 40), live=True) as viewer:
        await viewer.until("number 1")
        run.row({"a": run.picture("2.png", RED, caption="number 2"), "b": run.picture("b.png", RED)})
        run.flush()
        await viewer.until("number 2")
        await viewer.until("3/3")
        await viewer.press("left")
        await viewer.until("number 1")
        run.row({"a": run.picture("3.png", RED, caption="number 3")})
        run.flush()
        await viewer.until("2/4")
        assert "number 1" in viewer.text()
        await viewer.press("end")
        await viewer.until("number 3")


async def test_a_run_without_media_says_so(tmp_path: Path) -> None:
    run = MediaRun(tmp_path)
    run.row({"loss": 1})
    async with media(run) as viewer:
        assert "No images, tables, histograms or other media in this run" in viewer.text()
        await viewer.press("left", "up", "d", "n", "enter", "l", "k", "m", "e", "home", "end")


@pytest.mark.parametrize("log", [log for log in corpus_logs() if log.parents[2].name in ("media", "tables", "typed")],
                         ids=lambda log: log.parents[2].name)  # fmt: skip
async def test_real_logs(log: Path) -> None:
    async with viewing(log, (160, 50)) as viewer:
        # Where there is no metric the media have the place of the metrics from the beginning.
        await viewer.press(*([] if viewer.run.shows("media") else ["3", "1"]), "c", "4", "r", "3")
        text = await shown(viewer)
        assert "▸" in text or "No images" in text
        if log.parents[2].name == "media":
            for name in ("boxed", "hist", "html", "img", "imgs[0]", "imgs[1]", "nest.img", "plot_table"):
                assert name in text
            for _ in range(9):
                await viewer.press("enter")
                await shown(viewer)
                assert isinstance(viewer.app.screen, MediaScreen | TableScreen)
                await viewer.press("escape", "d")


@pytest.mark.parametrize("size", [(80, 24), (40, 12), (20, 8), (200, 60)])
async def test_odd_sizes(tmp_path: Path, size: tuple[int, int]) -> None:
    run = MediaRun(tmp_path)
    run.row({f"k{i}": run.picture(f"{i}.png", gradient()) for i in range(3)} | {"h": histogram(0),
            "t": run.table("t.json", ["a"], [[1]])})  # fmt: skip
    async with media(run, size) as viewer:
        for key in ("d", "n", "n", "enter", "escape", "m", "c", "9", "r", "9"):
            await viewer.press(key)
            await shown(viewer)
