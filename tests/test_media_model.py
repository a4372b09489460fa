"""Pictures, tables, histograms, … of a log: which there are, where they are, and what they hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import corpus_logs

from leet.model.media import Tile
from leet.model.run import RunModel
from leet.reading.column_cache import ColumnCache
from leet.reading.log_file import LogFile
from leet.reading.media_values import ValueGone, read_value
from recorder.transaction_log.framing import HEADER, frame
from recorder.transaction_log.wire import history_record


def model_of(log: Path, cache: ColumnCache | None = None) -> RunModel:
    model = RunModel(log)
    for piece in LogFile(log, cache=cache).look():
        model.apply(piece)
    return model


def leaves(path: tuple[str, ...], value: Any) -> list[tuple[tuple[str, ...], str]]:
    """A value as newer writers log it: one item per leaf."""
    if isinstance(value, dict):
        return [item for key, inner in value.items() for item in leaves((*path, key), inner)]
    return [(path, json.dumps(value))]


def write_log(log: Path, rows: list[dict[str, Any]], *, whole: bool = False) -> Path:
    """A log of these rows; `whole`: objects in one piece, as older writers log them."""
    log.parent.mkdir(parents=True, exist_ok=True)
    data = HEADER
    for step, row in enumerate(rows):
        items = [((key,), json.dumps(value)) for key, value in row.items()]
        if not whole:
            items = [item for key, value in row.items() for item in leaves((key,), value)]
        data += frame(history_record(items, step), len(data))
    log.write_bytes(data)
    return log


def image(step: int, **more: Any) -> dict[str, Any]:
    return {"_type": "image-file", "path": f"media/images/i_{step}.png", "size": 10, "width": 8, "height": 6, **more}


def values_of(model: RunModel, key: str) -> list[dict[str, Any]]:
    series = model.media.series(key)
    assert model.path is not None
    return [read_value(model.path, series.offset(i), key) for i in range(len(series))]


@pytest.mark.parametrize("whole", [True, False])
def test_every_typed_value_is_found_and_read_back(tmp_path: Path, whole: bool) -> None:
    histogram = {"_type": "histogram", "values": [1, 2], "bins": [0, 1, float("inf")]}
    rows: list[dict[str, Any]] = [
        {"loss": 1.0, "img": image(0, caption="zero")},
        {"loss": 0.5},
        {"img": image(2), "h": histogram, "nest": {"deep": image(9, masks={"m": {"_type": "mask", "path": "m.png"}})}},
        {"plain": {"a": 1}, "odd": {"_type": 5, "path": "x"}},
    ]
    model = model_of(write_log(tmp_path / "run-a.wandb", rows, whole=whole))
    assert [tile.name for tile in model.media.tiles()] == ["h", "img", "nest.deep"]
    assert model.media.series("img").rows.tolist() == [0, 2]
    assert values_of(model, "img") == [image(0, caption="zero"), image(2)]
    assert values_of(model, "h") == [histogram]
    assert values_of(model, "nest.deep") == [rows[2]["nest"]["deep"]]
    assert model.media.series("img").kind == "image-file"
    assert "loss" in model.metrics
    assert "plain.a" in model.metrics


def test_pieces_of_lists_are_tiles_in_natural_order(tmp_path: Path) -> None:
    def images(count: int) -> dict[str, Any]:
        return {"_type": "images/separated", "count": count, "filenames": ["f.png"] * count, "format": "png"}

    rows = [{"x10": image(0), "x9": images(2)}, {"x9": images(3)}, {"x9": images(1)}]
    model = model_of(write_log(tmp_path / "run-a.wandb", rows))
    tiles = model.media.tiles()
    assert tiles == (Tile("x9", 0), Tile("x9", 1), Tile("x9", 2), Tile("x10"))
    assert [tile.name for tile in tiles] == ["x9[0]", "x9[1]", "x9[2]", "x10"]
    assert model.media.tiles() is tiles
    assert [model.media.series("x9").pieces(i) for i in range(3)] == [2, 3, 1]


def test_the_newest_value_at_or_before_a_row(tmp_path: Path) -> None:
    rows = [{"a": 1}, {"img": image(1)}, {"a": 1}, {"img": image(3)}]
    series = model_of(write_log(tmp_path / "run-a.wandb", rows)).media.series("img")
    assert [series.at_or_before(row) for row in range(5)] == [None, 0, 0, 1, 1]


@pytest.mark.parametrize("log", corpus_logs(), ids=lambda log: log.parents[2].name)
def test_values_of_real_logs_are_read_back(log: Path) -> None:
    model = model_of(log)
    for tile in model.media.tiles():
        for value in values_of(model, tile.key):
            assert value["_type"] == model.media.series(tile.key).kind


def test_the_cache_keeps_them(tmp_path: Path) -> None:
    log = write_log(tmp_path / "run-a.wandb", [{"img": image(step), "loss": step} for step in range(50)])
    cache = ColumnCache(log, tmp_path / "cache", smallest=1)
    model_of(log, cache)
    stored = cache.find(log.open("rb"))
    assert stored is not None
    again = model_of(log, cache)
    assert values_of(again, "img") == [image(step) for step in range(50)]


def test_a_record_over_several_blocks(tmp_path: Path) -> None:
    long = image(0, caption="c" * 100_000)
    model = model_of(write_log(tmp_path / "run-a.wandb", [{"a": 1}, {"img": long}]))
    assert values_of(model, "img") == [long]


def test_what_is_no_longer_there_is_said(tmp_path: Path) -> None:
    log = write_log(tmp_path / "run-a.wandb", [{"img": image(0)}])
    offset = model_of(log).media.series("img").offset(0)
    write_log(log, [{"other": image(0)}])
    with pytest.raises(ValueGone, match="replaced"):
        read_value(log, offset, "img")
    log.write_bytes(log.read_bytes()[:-1])
    with pytest.raises(ValueGone, match="damaged"):
        read_value(log, offset, "other")
    log.unlink()
    with pytest.raises(ValueGone, match="cannot be read"):
        read_value(log, offset, "other")


def test_a_replaced_log_forgets_them(tmp_path: Path) -> None:
    log = write_log(tmp_path / "run-a.wandb", [{"img": image(0)}])
    model = RunModel(log)
    file = LogFile(log)
    for piece in file.look():
        model.apply(piece)
    log.unlink()
    write_log(log, [{"b": image(0)}, {"b": image(1)}])
    changes = [model.apply(piece) for piece in file.look()]
    assert any(change.media for change in changes)
    assert [tile.name for tile in model.media.tiles()] == ["b"]
    assert model.media.values == 2
    assert model.media.generation == 1
