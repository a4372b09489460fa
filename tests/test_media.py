"""Media: what becomes of arrays, pictures, sounds and pages, and what happens when they cannot be written."""

from __future__ import annotations

import io
import json
import struct
import wave
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from recorded import QUIET, log_of, of_kind, rows_of, run_script

from recorder.errors import Error
from recorder.files import safe_key
from recorder.media import png
from recorder.media.audio import Audio
from recorder.media.html import Html
from recorder.media.image import Image
from recorder.media.molecule import Molecule
from recorder.media.object3d import Object3D, box3d
from recorder.media.overlays import BoundingBoxes2D, Classes, ImageMask
from recorder.media.picture_size import picture_size
from recorder.media.pixels import pixels_of
from recorder.media.plotly import Plotly
from recorder.media.video import Video

START = f"import recorder as wandb, numpy as np\nrun = wandb.init(project='p', settings={QUIET})\n"


def decoded(data: bytes) -> Any:
    """The pixels of a PNG of filters 0 and 2, by a reader that shares nothing with the writer."""
    at, chunks = 8, []
    while at < len(data):
        (size,) = struct.unpack(">I", data[at : at + 4])
        name, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + size]
        assert struct.unpack(">I", data[at + 8 + size : at + 12 + size]) == (zlib.crc32(name + body),)
        chunks.append((name, body))
        at += 12 + size
    width, height, depth, colour = struct.unpack(">IIBB", chunks[0][1][:10])
    assert (depth, [name for name, _ in chunks]) == (8, [b"IHDR", b"IDAT", b"IEND"])
    channels = {0: 1, 2: 3, 6: 4}[colour]
    lines = np.frombuffer(zlib.decompress(chunks[1][1]), np.uint8).reshape(height, 1 + width * channels)
    rows = [np.zeros(width * channels, np.uint8)]
    for line in lines:
        assert line[0] in (0, 2)
        rows.append(line[1:] + (rows[-1] if line[0] == 2 else np.uint8(0)))
    return np.array(rows[1:]).reshape((height, width) if channels == 1 else (height, width, channels))


PIXELS = st.one_of(
    arrays.arrays(np.uint8, st.tuples(st.integers(1, 6), st.integers(1, 6))),
    arrays.arrays(np.uint8, st.tuples(st.integers(1, 6), st.integers(1, 6), st.sampled_from([3, 4]))),
)


@given(PIXELS, st.booleans())
def test_png_holds_the_pixels(pixels: Any, flat: bool) -> None:
    data = png.encode(pixels, flat)
    assert np.array_equal(decoded(data), pixels)
    assert picture_size(data) == (pixels.shape[1], pixels.shape[0])


def test_pillow_reads_what_is_written() -> None:
    pillow = pytest.importorskip("PIL.Image")
    pixels = np.random.default_rng(0).integers(0, 256, (33, 17, 4), dtype=np.uint8)
    assert np.array_equal(np.asarray(pillow.open(io.BytesIO(png.encode(pixels)))), pixels)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "BMP", "WEBP"])
def test_sizes_of_picture_files(kind: str) -> None:
    pillow = pytest.importorskip("PIL.Image")
    out = io.BytesIO()
    pillow.new("RGB", (17, 5), (1, 2, 3)).save(out, kind)
    assert picture_size(out.getvalue()) == (17, 5)
    assert picture_size(out.getvalue()[:6]) is None


class Tensor:
    """As much of torch's tensors as an image needs: torch itself is too large to be installed for this."""

    def __init__(self, data: Any) -> None:
        self.data, self.shape, self.dtype = data, data.shape, data.dtype

    def detach(self) -> Tensor:
        return self

    def cpu(self) -> Tensor:
        return self

    def numpy(self) -> Any:
        return self.data


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (np.full((2, 3), 7.9), np.full((2, 3), 7, np.uint8)),
        (np.ones((2, 3, 1), bool), np.ones((2, 3), np.uint8)),
        (np.ones((1, 2, 3, 3), np.int64), np.ones((2, 3, 3), np.uint8)),
        (Tensor(np.arange(24, dtype=np.uint8).reshape(3, 2, 4)), np.arange(24).reshape(3, 2, 4).transpose(1, 2, 0)),
        (Tensor(np.ones((1, 2, 4), np.float32)), np.ones((2, 4), np.uint8)),
        (Tensor(np.ones((2, 4), np.uint8)), np.ones((2, 4), np.uint8)),
    ],
)
def test_pixels_of_arrays_and_tensors(given: Any, expected: Any) -> None:
    assert np.array_equal(pixels_of(given), expected)
    image = Image(given)
    assert (image.height, image.width) == expected.shape[:2]
    assert np.array_equal(decoded(image.content.read()), expected)


@pytest.mark.parametrize("given", [np.ones((2, 2, 2)), np.ones((2, 2, 3, 3)), np.ones((0, 3)), [[1]], object()])
def test_what_is_no_image_is_refused(given: Any) -> None:
    with pytest.raises(ValueError, match=r"image|needed"):
        Image(given)


def test_images_of_pillow_and_other_formats(tmp_path: Path) -> None:
    pillow = pytest.importorskip("PIL.Image")
    picture = pillow.new("RGBA", (4, 3), (255, 0, 0, 128))
    assert Image(picture).content.extension == ".png"
    jpeg = Image(picture, file_type="jpg")
    assert jpeg.content.read().startswith(b"\xff\xd8")
    assert (jpeg.format, jpeg.width, jpeg.height) == ("jpg", 4, 3)
    grey = Image(np.zeros((3, 4, 3)), mode="L")
    assert decoded_mode(grey) == "L"
    with pytest.raises(ValueError, match="file_type"):
        Image(picture, file_type="tga")
    with pytest.raises(OSError, match="nothing"):
        Image(tmp_path / "nothing.png")
    with pytest.raises(ValueError, match="address"):
        Image("s3://bucket/a.png")


def decoded_mode(image: Image) -> str:
    pillow = pytest.importorskip("PIL.Image")
    mode: str = pillow.open(io.BytesIO(image.content.read())).mode
    return mode


def test_an_image_of_an_image_keeps_what_is_not_said_anew() -> None:
    first = Image(np.ones((2, 3)), caption="a", grouping=2)
    second = Image(first, caption="b")
    assert (second.caption, second.grouping, second.content) == ("b", 2, first.content)


def test_masks_and_boxes() -> None:
    mask = ImageMask({"mask_data": np.array([[0, 3], [3, 1]])}, "m")
    assert mask.labels == {0: "class_0", 1: "class_1", 3: "class_3"}
    assert decoded(mask.content.read()).tolist() == [[0, 3], [3, 1]]
    image = Image(np.ones((2, 2)), masks={"m": mask}, classes=Classes([{"id": 9, "name": "nine"}]))
    assert image.classes is not None
    assert image.classes.names == {0: "class_0", 1: "class_1", 3: "class_3", 9: "nine"}


@pytest.mark.parametrize(
    ("make", "value"),
    [
        (ImageMask, {}),
        (ImageMask, {"mask_data": np.ones((2, 2, 2))}),
        (ImageMask, {"mask_data": np.array([[256]])}),
        (ImageMask, {"mask_data": np.ones((2, 2)), "class_labels": {"a": 1}}),
        (BoundingBoxes2D, {}),
        (BoundingBoxes2D, {"box_data": [{"position": {"minX": 1}}]}),
        (BoundingBoxes2D, {"box_data": [{"position": {"middle": [1, 2], "width": 1, "height": 1}, "scores": {1: 1}}]}),
        (
            BoundingBoxes2D,
            {"box_data": [{"position": {"middle": [1, 2], "width": 1, "height": 1}, "class_id": "a"}]},
        ),
    ],
)
def test_wrong_overlays_are_refused(make: Any, value: Any) -> None:
    with pytest.raises(TypeError, match=r".+"):
        make(value, "key")


@pytest.mark.parametrize(
    ("samples", "channels", "expected"),
    [
        ([0.0, 1.0, -2.0], 1, [0, 32767, -32767]),
        ([[0.5, -0.5]], 2, [16384, -16384]),
        (np.array([0, 1, -1, 0.25], np.float32), 1, [0, 32767, -32767, 8192]),
        (np.array([[1, -2], [3, 4]], np.int16), 2, [1, -2, 3, 4]),
        (np.array([1 << 30], np.int32), 1, [1 << 14]),
        (np.array([128, 255, 0], np.uint8), 1, [0, 32512, -32768]),
    ],
)
def test_samples_become_wave_files(samples: Any, channels: int, expected: list[int]) -> None:
    audio = Audio(samples, sample_rate=100)
    with wave.open(io.BytesIO(audio.content.read())) as file:
        assert (file.getnchannels(), file.getframerate(), file.getsampwidth()) == (channels, 100, 2)
        frames = np.frombuffer(file.readframes(99), "<i2").tolist()
    assert [abs(a - b) <= 1 for a, b in zip(frames, expected, strict=True)] == [True] * len(expected)
    assert audio.duration == len(samples) / 100


def test_samples_need_a_rate_and_a_known_kind() -> None:
    with pytest.raises(ValueError, match="sample_rate"):
        Audio([0.0])
    with pytest.raises(ValueError, match="integers of"):
        Audio(np.ones(3, np.int64), sample_rate=1)
    with pytest.raises(ValueError, match="shape"):
        Audio(np.ones((3, 1, 1)), sample_rate=1)


def test_lists_of_sounds_say_their_rates_and_durations() -> None:
    sounds = [Audio([0.0, 0.0], 2, caption="a"), Audio([0.0], 4)]
    found = Audio.batch(sounds, [{}, {}])
    assert found["durations"] == [1.0, 0.25]
    assert (found["sampleRates"], found["captions"]) == ([2, 4], ["a", ""])


def test_html_from_text_files_and_streams(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<head></head>", encoding="utf-8")
    assert Html(str(page)).html.startswith("<head><base ")
    assert Html(page, inject=False).content.read() == b"<head></head>"
    assert Html(str(page), inject=False, data_is_not_path=True).html == str(page)
    assert Html(io.StringIO("x"), inject=False).content.read() == b"x"
    with pytest.raises(ValueError, match="HTML"):
        Html(3)


def test_videos_need_a_format_and_an_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("PIL")
    frames = np.random.default_rng(0).integers(0, 256, (4, 2, 3, 4, 6), dtype=np.uint8)
    for shown, size in ((frames[0], (6, 4)), (frames, (12, 8)), (frames[:3], (24, 4))):
        video = Video(shown, format="gif", fps=2)
        assert (video.width, video.height) == picture_size(video.content.read()) == size
    with pytest.raises(ValueError, match="format"):
        Video(frames)
    with pytest.raises(ValueError, match="channels"):
        Video(np.ones((2, 2)), format="gif")
    with pytest.raises(ValueError, match="format"):
        Video("film.avi")
    monkeypatch.setitem(__import__("sys").modules, "moviepy", None)
    with pytest.raises(Error, match="pip install moviepy"):
        Video(frames, format="mp4")


def test_points_scenes_and_boxes() -> None:
    points = Object3D(np.ones((2, 6)))
    assert json.loads(points.content.read()) == [[1.0] * 6] * 2
    assert points.content.extension == ".pts.json"
    box = box3d(center=(1, 2, 3), size=(2, 4, 6), orientation=(2, 0, 0, 0), color=(1, 2, 3))
    assert sorted(map(tuple, box["corners"])) == [(x, y, z) for x in (0, 2) for y in (0, 4) for z in (0, 6)]
    scene = Object3D.from_point_cloud([[1, 2, 3]], [box])
    assert json.loads(scene.content.read())["boxes"][0]["color"] == [1, 2, 3]
    with pytest.raises(ValueError, match="shape"):
        Object3D(np.ones((2, 5)))
    with pytest.raises(ValueError, match="scene"):
        Object3D({"type": "other"})
    with pytest.raises(ValueError, match="quaternion"):
        box3d(center=(0, 0, 0), size=(1, 1, 1), orientation=(0, 0, 0, 0), color=(0, 0, 0))


def test_molecules_from_streams() -> None:
    assert Molecule(io.StringIO("ATOM"), file_type="pdb").content.read() == b"ATOM"
    with pytest.raises(ValueError, match="file_type"):
        Molecule(io.StringIO("ATOM"))
    with pytest.raises(ValueError, match="formats"):
        Molecule("a.txt")
    with pytest.raises(ValueError, match="file object"):
        Molecule(3)
    with pytest.raises(ValueError, match="plotly"):
        Plotly(3)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=300))
def test_keys_never_lead_out_of_their_directory(key: str) -> None:
    parts = safe_key(key).split("/")
    assert not {".", ".."} & set(parts)
    assert not safe_key(key).startswith("/")
    assert "\0" not in safe_key(key)
    assert max(len(part.encode()) for part in parts) <= 180


def test_hostile_keys_stay_in_the_run(tmp_path: Path) -> None:
    keys = ["../../out", "/etc/x", "a/../../b", "nul\0", "x" * 400, "..", "new\nline", "é/ü"]
    script = f"{START}for key in {keys!r}: run.log({{key: wandb.Image(np.full((2, 2), 9))}})\nrun.finish()"
    done = run_script(script, tmp_path)
    assert "WARNING" not in done.stderr
    log = log_of(tmp_path)
    top = log.parent / "files"
    recorded = [item.path for record in of_kind(log, "files") for item in record.files]
    assert len(recorded) == len(keys)
    assert all((top / path).resolve().is_relative_to(top.resolve()) and (top / path).is_file() for path in recorded)
    assert len(list(tmp_path.rglob("*.png"))) == len(keys)


def test_media_that_cannot_be_written_cost_one_warning_and_nothing_else(tmp_path: Path) -> None:
    script = f"""{START}
import pathlib
pathlib.Path(run.dir, "media").write_text("in the way")
for step in range(3):
    run.log({{"image": wandb.Image(np.full((2, 2), 9)), "loss": step, "table": wandb.Table(["a"], [[1]])}})
pathlib.Path(run.dir, "media").unlink()
run.log({{"image": wandb.Image(np.full((2, 2), 9)), "loss": 3}})
run.finish()
"""
    done = run_script(script, tmp_path)
    assert done.stderr.count("WARNING") == 1
    assert "'image' is not recorded" in done.stderr
    rows = rows_of(log_of(tmp_path))
    assert [row["loss"] for row in rows] == ["0", "1", "2", "3"]
    assert [sorted(row) for row in rows[:3]] == [["_step", "loss"]] * 3
    assert rows[3]["image._type"] == '"image-file"'
    assert not list(tmp_path.rglob("*.part"))


def test_a_row_with_media_keeps_its_other_values_and_its_step(tmp_path: Path) -> None:
    script = f"""{START}
image = wandb.Image(np.full((2, 3), 9))
run.log({{"a": image, "n": {{"b": image, "c": 1}}, "l": [image, image], "mixed": [image, 2]}}, step=5)
run.log({{"later": wandb.Histogram([1, 2, 3], num_bins=2)}}, step=6)
run.finish()
"""
    run_script(script, tmp_path)
    first, second = rows_of(log_of(tmp_path))
    assert first["a.path"].startswith('"media/images/a_5_')
    assert (first["n.b.path"], first["n.c"]) == (first["a.path"], "1")
    assert (first["l._type"], first["l.count"], first["l.width"]) == ('"images/separated"', "2", "3")
    assert [item if item == 2 else item["_type"] for item in json.loads(first["mixed"])] == ["image-file", 2]
    assert second["later._type"] == '"histogram"'
    names = {path.name.rpartition("_")[0] for path in tmp_path.rglob("*.png")}
    assert names == {"a_5", "l_5"}


def test_lists_of_images_are_cut_where_the_sdk_cuts_them(tmp_path: Path) -> None:
    script = f"{START}image = wandb.Image(np.full((2, 2), 9))\nrun.log({{'l': [image] * 120}})\nrun.finish()"
    done = run_script(script, tmp_path)
    assert "the first 108 are recorded" in done.stderr
    (row,) = rows_of(log_of(tmp_path))
    assert row["l.count"] == "108"


def test_two_runs_have_files_of_their_own(tmp_path: Path) -> None:
    script = f"""
import recorder as wandb, numpy as np
image = wandb.Image(np.full((2, 2), 9))
for name in ("one", "two"):
    run = wandb.init(project="p", id=name, settings={QUIET})
    run.log({{"image": image}})
    run.finish()
"""
    run_script(script, tmp_path)
    assert len({path.parents[3].name for path in tmp_path.rglob("image_0_*.png")}) == 2


def test_a_run_that_is_recorded_nowhere_writes_no_media(tmp_path: Path) -> None:
    script = """
import recorder as wandb, numpy as np
run = wandb.init(mode="disabled")
chart = wandb.plot.bar(wandb.Table(["a", "b"], [[1, 2]]), "a", "b")
run.log({"image": wandb.Image(np.full((2, 2), 9)), "chart": chart})
run.summary["image"] = wandb.Image(np.full((2, 2), 9))
run.save("*")
run.log_artifact(wandb.Artifact("a", "b"))
run.finish()
"""
    done = run_script(script, tmp_path)
    assert done.stderr == ""
    assert list(tmp_path.iterdir()) == []


def test_figures_and_data_frames_are_media_by_themselves(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    script = f"""{START}
import pandas
run.log({{"frame": pandas.DataFrame({{"a": [1, 2], "b": ["x", None]}})}})
run.finish()
"""
    run_script(script, tmp_path)
    (row,) = rows_of(log_of(tmp_path))
    assert (row["frame._type"], row["frame.nrows"]) == ('"table-file"', "2")


def test_what_needs_a_server_says_so_and_what_to_do() -> None:
    import recorder

    for call in (recorder.Api, recorder.sweep, recorder.agent, recorder.controller):
        with pytest.raises(Error, match="needs a server"):
            call()


def test_importing_the_package_loads_no_media(tmp_path: Path) -> None:
    script = "import sys, recorder\nprint([n for n in sys.modules if n.startswith(('recorder.', 'zlib', 'hashlib'))])"
    done = run_script(script, tmp_path)
    assert "recorder.media" not in done.stdout
    assert "recorder.artifacts" not in done.stdout


def test_threads_may_log_media_at_once(tmp_path: Path) -> None:
    script = f"""{START}
import threading
def work(name):
    for step in range(20):
        run.log({{f"{{name}}/image": wandb.Image(np.full((4, 4), step)), f"{{name}}/t": wandb.Table(["x"], [[step]])}})
threads = [threading.Thread(target=work, args=(name,)) for name in "abcdef"]
for thread in threads: thread.start()
for thread in threads: thread.join()
run.finish()
"""
    done = run_script(script, tmp_path)
    assert "WARNING" not in done.stderr
    log = log_of(tmp_path)
    rows = rows_of(log)
    assert [int(row["_step"]) for row in rows] == list(range(120))
    paths = [json.loads(text) for row in rows for key, text in row.items() if key.endswith(".path")]
    assert len(paths) == len(set(paths)) == 240
    assert all((log.parent / "files" / path).is_file() for path in paths)
    assert len(of_kind(log, "artifact")) == 120
