"""A log read from the cache of its columns is the log read from its file, and a cache that is wrong is not used."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pytest
from conftest import corpus_logs
from hypothesis import given, settings
from hypothesis import strategies as st
from model_view import model_view
from test_tail import log_bytes

from leet.model.run import RunModel
from leet.reading import column_cache
from leet.reading.batch import Batch, Notice
from leet.reading.cache_place import default_folder
from leet.reading.column_cache import ColumnCache, make_room
from leet.reading.log_file import LogFile
from leet.reading.tail import read


def cache_of(log: Path, folder: Path, smallest: int = 1) -> ColumnCache:
    return ColumnCache(log, folder, smallest=smallest)


def look(log: Path, cache: ColumnCache | None = None, largest_piece: int = 1 << 22) -> list[Batch | Notice]:
    file = LogFile(log, largest_piece, cache=cache)
    return [*file.look(), *file.finish()]


def model_of(log: Path, pieces: list[Batch | Notice]) -> dict[str, str]:
    model = RunModel(log)
    for piece in pieces:
        model.apply(piece)
    return model_view(model)


def from_cache(pieces: list[Batch | Notice], plain: list[Batch | Notice]) -> bool:
    """Whether these are the pieces that were kept, which began with smaller ones than there would be now."""
    return len(pieces) > len(plain)


def keep(log: Path, folder: Path) -> None:
    """Read a log in small pieces and keep them, so that they can be told from pieces that are read anew."""
    look(log, cache_of(log, folder), largest_piece=2000)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "run-r.wandb"
    path.write_bytes(log_bytes(range(100), text=50))
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def test_the_second_look_is_answered_from_the_cache(log: Path, folder: Path) -> None:
    plain = look(log)
    keep(log, folder)
    again = look(log, cache_of(log, folder))
    assert from_cache(again, plain)
    assert model_of(log, again) == model_of(log, plain)
    assert not list(log.parent.glob("*.columns"))
    assert sorted(log.parent.iterdir()) == sorted([log, folder])


def test_small_logs_are_not_kept(log: Path, folder: Path) -> None:
    look(log, cache_of(log, folder, smallest=log.stat().st_size + 1))
    assert not folder.exists()


@pytest.mark.parametrize("log", corpus_logs(), ids=lambda path: f"{path.parents[2].name}-{path.parent.name[-8:]}")
def test_real_logs(log: Path, tmp_path: Path) -> None:
    copy = tmp_path / log.name
    shutil.copy2(log, copy)
    plain = model_of(copy, look(copy))
    first = look(copy, cache_of(copy, tmp_path / "cache"), largest_piece=5000)
    assert model_of(copy, first) == plain
    assert model_of(copy, look(copy, cache_of(copy, tmp_path / "cache"))) == plain


@settings(max_examples=30)
@given(st.lists(st.integers(0, 60), min_size=1, max_size=4), st.integers(0, 40), st.randoms())
def test_logs_that_grow(
    tmp_path_factory: pytest.TempPathFactory, growth: list[int], cut: int, luck: random.Random
) -> None:
    """Whatever was kept at which length, with the last record unfinished or not, the model is the same."""
    folder = tmp_path_factory.mktemp("growing")
    log = folder / "run-r.wandb"
    whole = log_bytes(range(sum(growth) + 5), text=luck.randrange(2000))
    done = 0
    for steps in growth:
        done += steps
        end = len(whole) * done // (sum(growth) + 5)
        log.write_bytes(b"") if not log.exists() else None
        with open(log, "r+b") as file:  # the same file grows, as it does under a writer
            file.write(whole[: max(end - cut, 0)])
        cached = look(
            log, cache_of(log, folder / "cache", luck.choice([1, 1, 5000])), largest_piece=luck.choice([700, 1 << 22])
        )
        assert model_of(log, cached) == model_of(log, look(log))


def test_what_follows_is_added_to_the_cache(log: Path, folder: Path) -> None:
    keep(log, folder)
    [kept] = folder.iterdir()
    before = kept.stat().st_size
    size = log.stat().st_size
    with open(log, "ab") as file:
        file.write(log_bytes(range(100, 200), offset=size))
    cached = look(log, cache_of(log, folder))
    assert kept.stat().st_size > before
    assert model_of(log, cached) == model_of(log, look(log))
    assert model_of(log, look(log, cache_of(log, folder))) == model_of(log, look(log))


@settings(max_examples=60)
@given(st.data())
def test_damaged_caches_do_no_harm(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    home = tmp_path_factory.mktemp("damaged")
    log = home / "run-r.wandb"
    log.write_bytes(log_bytes(range(40)))
    keep(log, home / "cache")
    [kept] = (home / "cache").iterdir()
    octets = bytearray(kept.read_bytes())
    at = int(data.draw(st.floats(0, 1, exclude_max=True)) * len(octets))  # its header has paths of any length
    if data.draw(st.booleans()):
        octets[at] ^= 1 << data.draw(st.integers(0, 7))
    else:
        del octets[at:]
    kept.write_bytes(octets)
    plain = model_of(log, look(log))
    assert model_of(log, look(log, cache_of(log, home / "cache"))) == plain
    assert model_of(log, look(log, cache_of(log, home / "cache"))) == plain


def test_another_file_under_the_same_name(log: Path, folder: Path) -> None:
    keep(log, folder)
    other = log.with_suffix(".new")
    other.write_bytes(log_bytes(range(300, 420), text=50))
    os.replace(other, log)
    plain = look(log)
    cached = look(log, cache_of(log, folder))
    assert not from_cache(cached, plain)
    assert model_of(log, cached) == model_of(log, plain)


@pytest.mark.parametrize("damage", ["beginning", "end", "shorter"])
def test_the_same_file_written_over(log: Path, folder: Path, damage: str) -> None:
    keep(log, folder)
    data = bytearray(log.read_bytes())
    with open(log, "r+b") as file:
        if damage == "shorter":
            file.truncate(len(data) - 100)
        else:
            file.seek(100 if damage == "beginning" else len(data) - 100)
            file.write(b"?")
    cached = look(log, cache_of(log, folder))
    assert model_of(log, cached) == model_of(log, look(log))


def test_new_code_reads_anew(log: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(log, folder)
    monkeypatch.setattr(column_cache, "_code", lambda: "another version")
    assert not from_cache(look(log, cache_of(log, folder)), look(log))


def test_nothing_is_kept_of_a_log_that_is_written_over_while_it_is_read(log: Path, folder: Path) -> None:
    other = log_bytes(range(100, 200), text=50)
    kept = LogFile(log, 2000, cache=cache_of(log, folder)).look()
    next(kept)
    with log.open("r+b") as file:
        file.write(other)
    list(kept)
    assert not list(folder.iterdir())
    assert model_of(log, look(log, cache_of(log, folder))) == model_of(log, look(log))


def test_a_reader_that_stops_midway_keeps_nothing(log: Path, folder: Path) -> None:
    looking = LogFile(log, 2000, cache=cache_of(log, folder)).look()
    next(looking)
    looking.close()
    assert list(folder.iterdir()) == []


def test_what_was_never_finished_goes_with_the_next(log: Path, folder: Path, tmp_path: Path) -> None:
    keep(log, folder)
    (kept,) = folder.iterdir()
    left = folder / f"{kept.name}.1.new"
    left.write_bytes(b"begun by somebody who is no more")
    other = tmp_path / "run-other.wandb"
    shutil.copy(log, other)
    reading = LogFile(other, 2000, cache=cache_of(other, folder)).look()
    next(reading)
    assert not left.exists()
    third = tmp_path / "run-third.wandb"
    shutil.copy(log, third)
    keep(third, folder)  # what the other one writes to stays
    plain = look(other)
    list(reading)
    assert from_cache(look(other, cache_of(other, folder)), plain)
    assert len([*folder.iterdir()]) == 3


def test_two_readers_of_one_process_keep_a_log_once(log: Path, folder: Path) -> None:
    first, second = (LogFile(log, 2000, cache=cache_of(log, folder)).look() for _ in range(2))
    next(first)
    next(second)
    list(first)
    list(second)
    plain = look(log)
    again = look(log, cache_of(log, folder))
    assert from_cache(again, plain)
    assert model_of(log, again) == model_of(log, plain)


def test_a_folder_that_cannot_be_written(log: Path, folder: Path) -> None:
    folder.write_text("a file where the folder should be")
    assert model_of(log, look(log, cache_of(log, folder))) == model_of(log, look(log))


def test_the_oldest_go_when_room_is_short(tmp_path: Path) -> None:
    for age, name in enumerate("cab"):
        (tmp_path / name).write_bytes(bytes(100))
        os.utime(tmp_path / name, (1000 - age, 1000 - age))
    make_room(tmp_path, 250)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "c"]
    make_room(tmp_path, 250)
    assert len(list(tmp_path.iterdir())) == 2


def test_where_caches_are(tmp_path: Path) -> None:
    assert default_folder({"XDG_CACHE_HOME": str(tmp_path), "HOME": "/h"}) == tmp_path / "leet" / "columns"
    assert default_folder({"XDG_CACHE_HOME": "relative", "HOME": "/h"}) == Path("/h/.cache/leet/columns")
    assert default_folder({"HOME": "/h", "LEET_CACHE": "off"}) is None
    assert ColumnCache.of(tmp_path, {"LEET_CACHE": "off"}) is None


def test_read_takes_a_cache(log: Path, folder: Path) -> None:
    keep(log, folder)
    assert model_of(log, list(read(log, cache_of(log, folder)))) == model_of(log, list(read(log)))


def test_a_cache_that_changes_after_it_was_checked_is_one_that_is_damaged(log: Path, folder: Path) -> None:
    keep(log, folder)
    cache = cache_of(log, folder)
    [kept] = folder.iterdir()
    with log.open("rb") as file:
        stored, glanced = cache.find(file), cache.glance(file)
    assert stored is not None
    assert stored == glanced
    data = kept.read_bytes()
    kept.write_bytes(data.replace(b'"anew"', b'"anex"'))
    with pytest.raises(ValueError, match="damaged"):
        list(stored.batches(size=0, modified=0.0))
    with log.open("rb") as file:
        assert cache.find(file) is None
        assert cache.glance(file) is not None
    file = LogFile(log, cache=cache)
    assert not list(file.newest())
    assert model_of(log, [*file.look(), *file.finish()]) == model_of(log, look(log))
