"""What values of media mean, what their files hold, and the sequences that draw pictures: without a screen."""

from __future__ import annotations

import base64
import io
import json
import re
import struct
import tracemalloc
import warnings
import zlib
from pathlib import Path
from typing import Any

import media_run
import numpy as np
import pytest
from conftest import WandbInspect
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from leet.charts.distribution import Distribution, Histogram, draw_distribution
from leet.charts.spec import Spec
from leet.model.media import Tile
from leet.model.media_content import Facts, Histograms, Sheet, Trouble, Wanted, make, spread
from leet.model.media_loader import MediaLoader
from leet.model.media_value import histogram_of, medium_of
from leet.model.picture_codes import kitty, sixel
from leet.model.picture_file import MOST_CLASSES, NoPicture, Overlay, Picture, corners_of, draw, fitted
from leet.model.run import RunModel
from leet.model.table_file import BadTable, TableFile, cell_text
from leet.reading.log_file import LogFile
from leet.tui.graphics import Placement, Placements, detect
from leet.tui.widgets.media_view import MediaView

COLORS = ((255, 0, 0), (0, 255, 0), (0, 0, 255))


# Values

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)
TYPES = ("image-file", "images/separated", "audio", "videos", "html", "object3D", "molecule", "histogram", "table-file")
FIELDS = ("path", "caption", "size", "width", "count", "filenames", "captions", "audio", "videos", "objects", "masks",
          "all_boxes", "boxes", "values", "bins", "packedBins", "durations", "nrows")  # fmt: skip


@given(st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=6), st.sampled_from(TYPES), st.integers(-1, 3))
def test_no_value_does_harm(value: dict[str, Any], kind: str, piece: int) -> None:
    medium = medium_of({**value, "_type": kind}, piece)
    assert medium is None or isinstance(medium.path, str)
    found = histogram_of({**value, "_type": kind})
    assert found is None or len(found[1]) == len(found[0]) + 1
    corners_of(value, (10, 10))


def test_pieces_of_lists() -> None:
    images = {"_type": "images/separated", "filenames": ["a.png", "b.png"], "captions": ["one", "two"], "count": 2,
              "all_masks": [None, {"m": {"path": "m.png"}}], "format": "png"}  # fmt: skip
    second = medium_of(images, 1)
    assert second is not None
    assert (second.kind, second.path, second.caption) == ("image", "b.png", "two")
    assert [layer.path for layer in second.masks] == ["m.png"]
    assert medium_of(images, 2) is None
    uncaptioned = medium_of({**images, "captions": False}, 0)
    assert uncaptioned is not None
    assert uncaptioned.caption == ""
    sound = medium_of({"_type": "audio", "audio": [{"_type": "audio-file", "path": "s.wav"}], "durations": [1.5]}, 0)
    assert sound is not None
    assert (sound.type, sound.path, sound.duration) == ("audio", "s.wav", 1.5)
    cloud = medium_of({"_type": "object3D", "filenames": ["p.pts.json"]}, 0)
    assert cloud is not None
    assert cloud.path == "media/object3D/p.pts.json"


@pytest.mark.parametrize("box", [
    {"position": {"minX": 0.25, "maxX": 0.75, "minY": 0.5, "maxY": 1}},
    {"position": {"middle": [0.5, 0.75], "width": 0.5, "height": 0.5}},
    {"position": {"minX": 50, "maxX": 150, "minY": 50, "maxY": 100}, "domain": "pixel"},
])  # fmt: skip
def test_boxes_of_every_form(box: Any) -> None:
    assert corners_of(box, (200, 100)) == (0.25, 0.75, 0.5, 1.0)


def test_histograms_are_spread_evenly_and_steadily() -> None:
    assert spread(5, 32).tolist() == [0, 1, 2, 3, 4]
    for count in (1, 31, 32, 33, 1000, 12345):
        places = spread(count, 32).tolist()
        assert len(places) <= 33
        assert places[-1] == count - 1
        assert places == sorted(set(places))
    assert set(spread(1000, 32).tolist()[:-1]) <= set(spread(1001, 32).tolist())


# Pictures


def picture(tmp_path: Path, pixels: Any, name: str = "p.png") -> Path:
    path = tmp_path / name
    Image.fromarray(np.asarray(pixels, np.uint8)).save(path)
    return path


@given(
    st.tuples(st.integers(1, 5000), st.integers(1, 5000)), st.tuples(st.integers(1, 300), st.integers(1, 300)),
    st.sampled_from((1.0, 2.0)),
)  # fmt: skip
def test_pictures_fit_and_keep_their_shape(size: tuple[int, int], box: tuple[int, int], shape: float) -> None:
    width, height = fitted(size, box, shape)
    assert 1 <= width <= box[0]
    assert 1 <= height <= box[1]
    assert width == box[0] or height == box[1] or min(width, height) == 1


def test_small_pictures_keep_their_pixels(tmp_path: Path) -> None:
    path = picture(tmp_path, [[[255, 0, 0], [0, 0, 255]]])
    assert draw(path, (8, 8)).pixels[0, :, 0].tolist() == [255] * 4 + [0] * 4


def test_masks_and_boxes_colour_pixels(tmp_path: Path) -> None:
    path = picture(tmp_path, np.zeros((10, 10, 3)))
    mask = np.zeros((10, 10))
    mask[:5] = 1
    boxes = tmp_path / "b.json"
    boxes.write_text(json.dumps({"box_data": [
        {"position": {"minX": 0, "maxX": 1, "minY": 0.5, "maxY": 5}, "class_id": 2},
        {"position": {"minX": 3, "maxX": 4, "minY": 3, "maxY": 4}, "class_id": 2},
        {"position": "nonsense"},
    ], "class_labels": {"2": "dog"}}))  # fmt: skip
    found = draw(
        path, (10, 10), masks=[Overlay(picture(tmp_path, mask, "m.png"), {"1": "sky"})],
        boxes=[Overlay(boxes, {})], colors=COLORS,
    )  # fmt: skip
    assert [(mark.label, mark.color, mark.boxes) for mark in found.marks] == [
        ("sky", COLORS[1], None), ("dog", COLORS[2], 2)
    ]  # fmt: skip
    assert found.pixels[2, 5].tolist() == [0, 114, 0]
    assert found.pixels[4, 5].tolist() == [0, 0, 255]
    assert found.pixels[8, 5].tolist() == [0, 0, 0]


def test_boxes_beyond_all_bounds_and_labels_of_any_kind(tmp_path: Path) -> None:
    path = picture(tmp_path, np.zeros((10, 10, 3)))
    boxes = tmp_path / "b.json"
    far = {"minX": -1e308, "maxX": 0.5, "minY": 0.5, "maxY": 1e308}
    for labels in ([1], "x", 5, None):
        boxes.write_text(json.dumps({"box_data": [{"position": far, "class_id": 1}], "class_labels": labels}))
        found = draw(path, (10, 10), boxes=[Overlay(boxes, {"1": "sky"})], colors=COLORS)
        assert [(mark.label, mark.boxes) for mark in found.marks] == [("sky", 1)]
        assert (found.pixels[:, :, 1] > 0).sum() == 10


def test_masks_of_endless_classes(tmp_path: Path) -> None:
    path = picture(tmp_path, np.zeros((100, 100, 3)))
    mask = tmp_path / "mask.tif"
    Image.fromarray(np.arange(10_000, dtype=np.int32).reshape(100, 100)).save(mask)
    assert len(draw(path, (100, 100), masks=[Overlay(mask, {})], colors=COLORS).marks) == MOST_CLASSES


def test_large_pictures_of_deep_pixels_take_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "deep.tif"
    values = np.zeros((2000, 3000), np.float32)
    values[:, 1500:] = 1000
    Image.fromarray(values).save(path)
    tracemalloc.start()
    try:
        found = draw(path, (6, 4))
        assert tracemalloc.get_traced_memory()[1] < values.nbytes / 2
    finally:
        tracemalloc.stop()
    assert found.pixels[0, :, 0].tolist() == [0, 0, 0, 255, 255, 255]


def test_an_icon_that_is_larger_than_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leet.model.picture_file.MOST_PIXELS", 10_000)
    inside = io.BytesIO()
    Image.new("RGBA", (300, 300)).save(inside, "PNG")
    data, path = inside.getvalue(), tmp_path / "x.ico"
    path.write_bytes(struct.pack("<HHHBBBBHHII", 0, 1, 1, 16, 16, 0, 0, 1, 32, len(data), 22) + data)
    with warnings.catch_warnings(record=True) as said, pytest.raises(NoPicture, match="too many pixels"):
        draw(path, (8, 8))
    assert not said


PNG, JPEG, GIF = io.BytesIO(), io.BytesIO(), io.BytesIO()
for _stream, _format in ((PNG, "PNG"), (JPEG, "JPEG"), (GIF, "GIF")):
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (20, 20, 3), np.uint8)).save(_stream, _format)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(st.sampled_from((PNG, JPEG, GIF)), st.data())
def test_damaged_pictures_are_refused_or_drawn(tmp_path: Path, whole: io.BytesIO, data: st.DataObject) -> None:
    bad = bytearray(whole.getvalue())
    for _ in range(data.draw(st.integers(0, 3))):
        bad[data.draw(st.integers(0, len(bad) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path / "bad"
    path.write_bytes(bad[: data.draw(st.integers(0, len(bad)))])
    said = ""
    try:
        assert draw(path, (10, 10)).pixels.shape[2] == 3
    except NoPicture as error:
        said = str(error)
    assert "\n" not in said


# Sequences for terminals


def test_kitty_sends_the_pixels() -> None:
    pixels = np.random.default_rng(1).integers(0, 255, (60, 70, 3), np.uint8)
    sequence = kitty(pixels, 7, 9, 4)
    pieces = re.findall(r"\x1b_G([^;]*);([^\x1b]*)\x1b\\", sequence)
    assert "".join(f"\x1b_G{keys};{text}\x1b\\" for keys, text in pieces) == sequence
    assert "i=7," in pieces[0][0]
    assert "c=9,r=4," in pieces[0][0]
    assert all("q=2" in keys for keys, _ in pieces)
    assert [keys[-1] for keys, _ in pieces] == ["1"] * (len(pieces) - 1) + ["0"]
    assert all(len(text) <= 4096 for _, text in pieces)
    data = zlib.decompress(base64.b64decode("".join(text for _, text in pieces)))
    assert data == pixels.tobytes()


def from_sixel(sequence: str) -> Any:
    """A terminal's view of a sixel sequence: [height, width, 3]."""
    body = re.fullmatch(r'\x1bP0;1;0q"1;1;(\d+);(\d+)(.*)\x1b\\', sequence, re.S)
    assert body is not None
    width, height = int(body[1]), int(body[2])
    pixels = np.full((-(-height // 6) * 6, width, 3), -1)
    palette: dict[int, list[int]] = {}
    color, x, top = 0, 0, 0
    for match in re.finditer(r"#(\d+);2;(\d+);(\d+);(\d+)|#(\d+)|!(\d+)(.)|([$-])|([?-~])", body[3]):
        if match[1]:
            palette[int(match[1])] = [int(match[i]) * 255 // 100 for i in (2, 3, 4)]
        elif match[5]:
            color = int(match[5])
        elif match[8]:
            x, top = 0, top + 6 * (match[8] == "-")
        else:
            count, sign = (int(match[6]), match[7]) if match[6] else (1, match[9])
            for bit in range(6):
                if ord(sign) - 63 >> bit & 1:
                    pixels[top + bit, x : x + count] = palette[color]
            x += count
    return pixels[:height]


def test_sixel_sends_the_pixels() -> None:
    pixels = np.zeros((20, 31, 3), np.uint8)
    pixels[:7] = (255, 0, 0)
    pixels[7:, 10:] = (0, 255, 0)
    pixels[13:, 5] = (0, 0, 255)
    assert np.abs(from_sixel(sixel(pixels)) - pixels.astype(int)).max() <= 6


@pytest.mark.parametrize(("environ", "protocol"), [
    ({"TERM": "xterm-kitty"}, "kitty"),
    ({"TERM": "xterm-ghostty"}, "kitty"),
    ({"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, "kitty"),
    ({"TERM": "xterm-256color", "KONSOLE_VERSION": "230804"}, "kitty"),
    ({"TERM": "foot"}, "sixel"),
    ({"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}, "sixel"),
    ({"TERM": "xterm-256color"}, None),
    ({"TERM": "xterm-256color", "KONSOLE_VERSION": "old"}, None),
    ({"TERM": "tmux-256color", "KITTY_WINDOW_ID": "1"}, None),
    ({"TERM": "xterm-kitty", "TMUX": "/tmp/tmux"}, None),
    ({}, None),
])  # fmt: skip
def test_the_environment_tells_what_the_terminal_can_draw(environ: dict[str, str], protocol: str | None) -> None:
    assert detect(environ) == protocol


def test_pictures_are_sent_once_and_taken_away() -> None:
    from rich.style import Style
    from textual.geometry import Region

    sent: list[str] = []
    here = Placements(sent.append, "kitty")
    one = Placement(Region(2, 3, 4, 2), "one", "PICTURE")
    ground = Style.parse("on #101010")
    here.show({0: one}, ground)
    assert sent == ["\x1b7\x1b[4;3HPICTURE\x1b8"]
    here.show({0: one}, ground)
    assert len(sent) == 1
    here.show({}, ground)
    assert sent[-1] == f"\x1b_Ga=d,d=I,i={here.number(0)},q=2\x1b\\"
    cells = Placements(sent.append, "sixel")
    cells.show({0: one}, ground)
    cells.clear(ground)
    assert sent[-1].count("    ") == 2
    assert "48;2;16;16;16" in sent[-1]


# Tables


def table(tmp_path: Path, text: str | bytes) -> TableFile:
    path = tmp_path / "t.json"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return TableFile(path)


@given(st.lists(st.lists(JSON, min_size=2, max_size=2), max_size=30), st.booleans())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_tables_read_as_json_does(tmp_path: Path, rows: list[list[Any]], late: bool) -> None:
    document = {"data": rows, "columns": ["a", 1]} if late else {"columns": ["a", 1], "data": rows, "more": {"x": [1]}}
    with table(tmp_path, json.dumps(document, indent=1 if late else None)) as found:
        found.read(7)
        assert len(found.rows) >= min(7, len(rows))
        found.read(1000)
        assert found.finished
        assert found.columns == ("a", "1")
        assert found.rows == [tuple(map(cell_text, row)) for row in json.loads(json.dumps(rows))]


def test_large_tables_are_read_as_far_as_needed(tmp_path: Path) -> None:
    rows = [[i, "x" * 100] for i in range(30_000)]
    with table(tmp_path, json.dumps({"columns": ["i", "text"], "data": rows})) as found:
        found.read(50)
        assert len(found.rows) == 50
        assert not found.finished
        found.read(1 << 30)
        assert found.cut_short
        assert len(found.rows) == 20_000


@given(st.binary(max_size=60) | st.text(max_size=60))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_no_table_is_said(tmp_path: Path, text: Any) -> None:
    with table(tmp_path, text if isinstance(text, bytes) else text.encode("utf-8", "replace")) as found:
        said = ""
        try:
            found.read(10)
        except BadTable as error:
            said = str(error)
        assert "\n" not in said
        assert said or found.finished


# Distributions


def test_shares_are_those_of_the_bins() -> None:
    histogram = Histogram.of([1, 3], [0, 1, 2])
    assert histogram is not None
    assert histogram.shares(np.array([0.0, 0.5, 1.0, 2.0])).tolist() == [0.125, 0.125, 0.75]
    assert histogram.mean == 1.25
    assert Histogram.of([1], [0]) is None
    open_ended = Histogram.of([5, 1, 3], [float("-inf"), 0, 1, float("inf")])
    assert open_ended is not None
    assert open_ended.counts.tolist() == [1]
    assert Histogram.of([1, 1], [2, 1, 0]) is None


@given(
    st.lists(st.tuples(st.lists(st.floats(), min_size=1, max_size=6), st.floats(), st.floats()), max_size=5),
    st.integers(1, 40), st.integers(1, 15), st.none() | st.floats(), st.booleans(),
)  # fmt: skip
def test_any_histograms_can_be_drawn(found: Any, width: int, height: int, at: float | None, ascii_only: bool) -> None:
    histograms = [Histogram.of(counts, [a, *np.linspace(0, 1, len(counts))[1:].tolist(), b]) for counts, a, b in found]
    good = tuple(h for h in histograms if h is not None)
    cells = draw_distribution(
        Spec("h", (), crosshair=at, ascii=ascii_only), Distribution(np.arange(float(len(good))), good), width, height
    )
    assert (cells.width, cells.height) == (width, height)


def test_a_distribution_as_text(golden: Any) -> None:
    rng = np.random.default_rng(4)
    found = []
    for step in range(30):
        counts, edges = np.histogram(rng.normal(step / 10, 1 / (1 + step / 10), 2000), bins=24)
        found.append(Histogram.of(counts.tolist(), edges.tolist()))
    spec = Spec("weights", (), x_label="step", ascii=True, crosshair=20.0)
    drawn = draw_distribution(spec, Distribution(np.arange(30.0), tuple(h for h in found if h is not None)), 60, 14)
    golden("charts/distribution", drawn.text())
    single = Distribution(np.zeros(1), (found[5],) if found[5] is not None else ())
    golden("charts/distribution_of_one", draw_distribution(spec, single, 60, 14).text())


# Views


def test_moves_of_views(tmp_path: Path) -> None:
    from test_media_model import image, model_of, write_log

    rows = [{"a": image(0), "b": image(0)}, {"a": image(1)}, {"a": image(2), "b": image(2)}, {"a": image(3)}]
    store = model_of(write_log(tmp_path / "run-x.wandb", rows)).media
    view, a, b = MediaView(), Tile("a"), Tile("b")
    view.selected = b
    assert (view.index(store, a), view.index(store, b)) == (3, 1)
    assert view.scrub(store, b, -5)
    assert not view.scrub(store, b, -1)
    assert (view.index(store, a), view.index(store, b)) == (3, 0)
    view.link(store)
    assert (view.index(store, a), view.index(store, b)) == (0, 0)
    assert view.scrub(store, b, 1)
    assert (view.index(store, a), view.index(store, b)) == (2, 1)
    view.link(store)
    assert view.scrub(store, a, 1)
    assert (view.index(store, a), view.index(store, b)) == (3, 1)
    assert view.rows["a"] is None  # the newest, whichever that is


# Loader


def test_the_loader_makes_what_is_wanted_and_forgets_what_is_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from test_media_model import model_of, write_log

    (tmp_path / "files").mkdir()
    Image.new("RGB", (100, 100), (1, 2, 3)).save(tmp_path / "files" / "p.png")
    value = {"_type": "image-file", "path": "p.png"}
    model = model_of(write_log(tmp_path / "run-x.wandb", [{"a": value}] * 40))
    assert model.path is not None
    monkeypatch.setattr("leet.model.media_loader.MOST_BYTES", 100_000)
    made = []
    loader = MediaLoader(lambda: made.append(1), COLORS)
    series = model.media.series("a")
    wishes = [Wanted(Tile("a"), ((model.path, series.offset(i)),), (i,), (90, 90)) for i in range(40)]
    for wish in wishes:
        loader.want([wish], {})
        assert loader.wait(20)
        content = loader.content(wish)
        assert content is not None
        assert isinstance(content.shown, Picture)
    assert len(made) == 40
    assert sum(loader.is_made(wish) for wish in wishes) <= 5
    assert loader.is_made(wishes[-1])
    loader.close()


# Real writers


@pytest.fixture(scope="module", params=["recorder", "wandb"])
def recorded(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, wandb_inspect: WandbInspect
) -> Any:
    return media_run.record(request.param, tmp_path_factory.mktemp(request.param), wandb_inspect)


def test_everything_that_writers_log_is_shown(recorded: Any) -> None:
    log = recorded.directory / "run-media.wandb"
    model = RunModel(log)
    for piece in LogFile(log).look():
        model.apply(piece)
    shown: dict[str, Any] = {}
    for tile in model.media.tiles():
        series = model.media.series(tile.key)
        wanted = Wanted(
            tile, ((log, series.offset(0)),), (0,), (30, 30), overlays=True, histogram=series.kind == "histogram"
        )
        shown[tile.name] = make(wanted, {}, COLORS).shown
    troubles = {name: s.text for name, s in shown.items() if isinstance(s, Trouble)}
    assert troubles == {}
    kinds = {name: type(s) for name, s in shown.items()}
    pictures = {"img", "list[0]", "list[1]", "pil", "boxed", "boxes[0]", "boxes[1]"}
    assert {name for name in pictures if kinds[name] is not Picture} == set()
    assert {"table", "changing", "arrays"} <= {name for name, kind in kinds.items() if kind is Sheet}
    assert {"html", "pages[1]", "vid", "sound", "mol", "mols[0]", "points", "clouds[1]"} <= {
        name for name, kind in kinds.items() if kind is Facts
    }
    assert {mark.label for mark in shown["boxed"].marks} >= {"cat", "class 2"}
    assert Histograms not in kinds.values()  # the script logs none


def test_a_resumed_run_has_the_media_of_all_its_parts(tmp_path: Path) -> None:
    from test_media_model import write_log

    from leet.tui.workspace_feeds import JoinedFeed

    logs = []
    for part, color in enumerate(((200, 0, 0), (0, 200, 0), (0, 0, 200))):
        log = write_log(
            tmp_path / f"offline-run-2025010{part}_000000-x" / "run-x.wandb",
            [{"loss": 1.0}] * part + [{"a": {"_type": "image-file", "path": "p.png", "caption": f"part {part}"}}],
        )
        (log.parent / "files").mkdir()
        Image.new("RGB", (4, 4), color).save(log.parent / "files" / "p.png")
        logs.append(log)
    feed = JoinedFeed(logs, live=False)
    feed.start()
    while not feed.loaded:
        list(feed.drain(0.1))
    store, series = feed.model.media, feed.model.media.series("a")
    assert series.rows.tolist() == [0, 2, 5]
    shown = []
    for index, row in enumerate(series.rows.tolist()):
        place = store.log_of(row, logs[-1]), series.offset(index)
        content = make(Wanted(Tile("a"), (place,), (index,), (4, 4)), {}, COLORS)
        assert content.medium is not None
        assert isinstance(content.shown, Picture)
        shown.append((content.medium.caption, content.shown.pixels[0, 0].tolist()))
    assert shown == [("part 0", [200, 0, 0]), ("part 1", [0, 200, 0]), ("part 2", [0, 0, 200])]
