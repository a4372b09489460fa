"""A log that another process reads is the log read here, whatever is in it and whatever goes wrong."""

from __future__ import annotations

import contextlib
import io
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest
from test_second_half import Pieces, framed, mixed, model_of
from test_tail import log_bytes

from leet.reading import frame_process, log_file, reader_process
from leet.reading.batch import Batch, Newest, Notice
from leet.reading.column_cache import ColumnCache
from leet.reading.frame_process import Failed
from leet.reading.log_file import LogFile
from leet.reading.newest import read_newest
from leet.reading.packed_log import write_log
from leet.reading.reader_process import ReaderProcess
from leet.reading.tail import Tail
from recorder.transaction_log.framing import BLOCK
from recorder.transaction_log.wire import encode, history_record


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[ReaderProcess]:
    """Have logs of this size read by other processes, with however few processors; those that were begun."""
    processes: list[ReaderProcess] = []

    class Noted(ReaderProcess):
        def __init__(self, path: str | os.PathLike[str], *, newest: bool = False) -> None:
            super().__init__(path, newest=newest)
            processes.append(self)

    monkeypatch.setattr(reader_process, "SMALLEST", 8 * BLOCK)
    monkeypatch.setattr(log_file, "processors", lambda: 2)
    monkeypatch.setattr(reader_process, "processors", lambda: 2)
    monkeypatch.setattr(log_file, "ReaderProcess", Noted)
    return processes


def look(log: Path, *, cache: ColumnCache | None = None, elsewhere: bool = True) -> Pieces:
    file = LogFile(log, cache=cache, elsewhere=elsewhere)
    return [*file.look(), *file.finish()]


def alone(log: Path) -> dict[str, str]:
    return model_of(log, look(log, elsewhere=False))


def resets(pieces: Pieces) -> bool:
    return any(isinstance(piece, Batch) and piece.reset for piece in pieces)


@pytest.mark.parametrize("seed", range(3))
def test_records_of_all_kinds(tmp_path: Path, begun: list[ReaderProcess], seed: int) -> None:
    log = tmp_path / "run-r.wandb"
    log.write_bytes(mixed(900 + 137 * seed, seed) + b"unfinished")
    cache = ColumnCache(log, tmp_path / "cache", smallest=1)
    pieces = look(log, cache=cache)
    assert len(begun) == 1
    assert begun[0]._process.poll() is not None
    assert not resets(pieces)
    assert model_of(log, pieces) == alone(log)
    assert model_of(log, look(log, cache=cache)) == alone(log)
    assert len(begun) == 1  # what it had packed is in the cache


@pytest.mark.parametrize("place", [0.01, 0.3, 0.9])
def test_damage(tmp_path: Path, begun: list[ReaderProcess], place: float) -> None:
    log = tmp_path / "run-r.wandb"
    data = bytearray(mixed(1000, 9))
    at = int(len(data) * place)
    data[at : at + 3000] = bytes(3000)
    log.write_bytes(data)
    assert model_of(log, look(log)) == alone(log)
    assert len(begun) == 1


def test_a_log_that_grows_is_read_on_here(tmp_path: Path, begun: list[ReaderProcess]) -> None:
    log = tmp_path / "run-r.wandb"
    data = mixed(1000, 3)
    cut = len(data) - 5 * BLOCK - 77
    log.write_bytes(data[:cut])
    cache = ColumnCache(log, tmp_path / "cache", smallest=1)
    file = LogFile(log, cache=cache, elsewhere=True)
    pieces: Pieces = [*file.look()]
    with log.open("ab") as more:
        more.write(data[cut:])
    pieces += [*file.look(), *file.finish()]
    assert len(begun) == 1
    assert not resets(pieces)
    assert model_of(log, pieces) == alone(log)
    assert model_of(log, look(log, cache=cache)) == alone(log)


def test_a_wide_log(tmp_path: Path, begun: list[ReaderProcess]) -> None:
    log = tmp_path / "run-r.wandb"
    wide = [((f"metric/{i}",), "0.5") for i in range(1000)]
    summary = encode("Record", {"summary": {"update": [{"key": f"metric/{i}", "value_json": "1"} for i in range(999)]}})
    log.write_bytes(framed([record for step in range(20) for record in (summary, history_record(wide, step))]))
    pieces = look(log)
    assert model_of(log, pieces) == alone(log)
    assert len(begun) == 1


@pytest.mark.parametrize("frame", [frame_process.BROKEN, b"no batch at all", bytes([2, *bytes(7)]) + b"{}"])
def test_a_process_that_dies_midway_or_runs_other_code(
    tmp_path: Path, begun: list[ReaderProcess], frame: bytes
) -> None:
    log = tmp_path / "run-r.wandb"
    log.write_bytes(log_bytes(range(2000), text=150))
    cache = ColumnCache(log, tmp_path / "cache", smallest=1)
    pieces: Pieces = []
    for piece in LogFile(log, cache=cache, elsewhere=True).look():
        pieces.append(piece)
        if len(pieces) == 2:
            broken: queue.SimpleQueue[bytes] = queue.SimpleQueue()
            broken.put(frame)
            begun[0]._frames = broken
    assert resets(pieces)
    assert model_of(log, pieces) == alone(log)
    assert cache.find(log.open("rb")) is None


def test_other_code_from_the_beginning(tmp_path: Path, begun: list[ReaderProcess]) -> None:
    log = tmp_path / "run-r.wandb"
    log.write_bytes(log_bytes(range(1000), text=400))
    process = ReaderProcess(log, newest=True)
    process._frames = queue.SimpleQueue()
    process._frames.put(b"another kind of frame")
    file = LogFile(log, elsewhere=True, process=process)
    assert list(file.newest()) == []
    pieces: Pieces = [*file.look(), *file.finish()]
    assert not resets(pieces)
    assert model_of(log, pieces) == alone(log)


def test_no_process_to_be_had(tmp_path: Path, begun: list[ReaderProcess], monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "run-r.wandb"
    log.write_bytes(log_bytes(range(1000), text=400))
    for program in (str(tmp_path / "missing"), "/bin/false"):
        monkeypatch.setattr(sys, "executable", program)
        pieces = look(log)
        assert not resets(pieces)
        assert model_of(log, pieces) == alone(log)


def test_no_more_at_a_time_than_there_is_room_for(tmp_path: Path, begun: list[ReaderProcess]) -> None:
    log = tmp_path / "run-r.wandb"
    log.write_bytes(log_bytes(range(1000), text=400))
    taken = [ReaderProcess(log), ReaderProcess(log)]
    assert ReaderProcess.ahead(log) is None
    assert model_of(log, look(log)) == alone(log)
    assert begun == []
    for process in taken:
        process.close()
        process.close()
    assert model_of(log, look(log)) == alone(log)
    assert len(begun) == 1


def test_what_is_no_log_is_left_to_who_asked(tmp_path: Path, begun: list[ReaderProcess]) -> None:
    log = tmp_path / "run-r.wandb"
    log.write_bytes(b"no log at all" * BLOCK)
    with pytest.raises(Failed):
        write_log(str(log), io.BytesIO())
    assert [piece.kind for piece in look(log) if isinstance(piece, Notice)] == ["unsupported"]


def test_a_reader_that_stops_ends_the_process(tmp_path: Path, begun: list[ReaderProcess]) -> None:
    log = tmp_path / "run-r.wandb"
    log.write_bytes(log_bytes(range(2000), text=150))
    looking = LogFile(log, elsewhere=True).look()
    next(looking)
    looking.close()
    assert begun[0]._process.poll() is not None


def test_no_thread_to_be_had(tmp_path: Path, begun: list[ReaderProcess], monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "run-r.wandb"
    log.write_bytes(log_bytes(range(1000), text=400))

    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        for _ in range(3):
            assert ReaderProcess.ahead(log) is None
        pieces = look(log)
    assert model_of(log, pieces) == alone(log)
    assert begun == []
    process = ReaderProcess.ahead(log)
    assert process is not None  # none of the others is at work
    process.close()


_LEAVE = """
import os, signal, sys
from leet.reading.reader_process import ReaderProcess
process = ReaderProcess(sys.argv[1])._process
os.kill(process.pid, signal.SIGSTOP)
print(process.pid)
"""


def test_no_process_outlives_this_one(tmp_path: Path) -> None:
    log = tmp_path / "run-r.wandb"
    log.write_bytes(log_bytes(range(1000), text=400))
    left = subprocess.run([sys.executable, "-c", _LEAVE, str(log)], check=True, capture_output=True, text=True)
    with contextlib.suppress(psutil.NoSuchProcess):
        assert psutil.Process(int(left.stdout)).status() != psutil.STATUS_STOPPED


def big(path: Path, first: int = 0, count: int = 500) -> Path:
    """A log with a newest part that is worth it."""
    text = '"' + "t" * 70_000 + '"'
    steps = range(first, first + count)
    path.write_bytes(framed([history_record([(("loss",), f"{step}.5"), (("text",), text)], step) for step in steps]))
    assert path.stat().st_size > reader_process.SMALLEST
    return path


def test_a_head_start_begins_with_the_newest_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_file, "processors", lambda: 2)
    monkeypatch.setattr(reader_process, "processors", lambda: 2)
    log = big(tmp_path / "run-r.wandb")
    process = ReaderProcess.ahead(log)
    assert process is not None
    newest: list[Newest] = []
    pieces: Pieces = []
    done = threading.Event()

    def deliver(piece: Batch | Notice) -> None:
        pieces.append(piece)
        if isinstance(piece, Batch) and piece.end >= piece.size:
            done.set()

    tail = Tail(log, deliver, newest=newest.append, process=process)
    tail.start()
    assert done.wait(30)
    tail.stop()
    tail.join()
    assert process._process.poll() is not None
    [batches] = read_newest(log)
    assert [model_of(log, list(piece.batches)) for piece in newest] == [model_of(log, list(batches))]
    assert model_of(log, pieces) == alone(log)


def test_a_head_start_with_a_log_that_was_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_file, "processors", lambda: 2)
    log = big(tmp_path / "run-r.wandb")
    process = ReaderProcess(log, newest=True)
    process.file()
    big(tmp_path / "other", 50).rename(log)
    file = LogFile(log, elsewhere=True, process=process)
    pieces: Pieces = [*file.look(), *file.finish()]
    assert not resets(pieces)
    assert model_of(log, pieces) == alone(log)
    assert process._process.poll() is not None


def test_small_logs_get_no_head_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "run-r.wandb"
    log.write_bytes(log_bytes(range(10)))
    assert ReaderProcess.ahead(log) is None
    assert ReaderProcess.ahead(tmp_path / "missing") is None
    monkeypatch.setattr(reader_process, "processors", lambda: 1)
    monkeypatch.setattr(reader_process, "SMALLEST", 1)
    assert ReaderProcess.ahead(log) is None


def test_a_log_whose_columns_are_kept_needs_neither_head_start_nor_newest_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader_process, "processors", lambda: 2)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    log = big(tmp_path / "run-r.wandb")
    expected = alone(log)
    assert list(LogFile(log, cache=ColumnCache.of(log)).newest())
    list(LogFile(log, cache=ColumnCache.of(log)).look())

    assert ReaderProcess.ahead(log) is None
    file = LogFile(log, cache=ColumnCache.of(log))
    assert not list(file.newest())
    assert model_of(log, [*file.look(), *file.finish()]) == expected

    # What has come since is read in any case; of very much the newest part comes first again.
    longer = big(tmp_path / "longer", count=1000).read_bytes()
    with log.open("ab") as grown:
        grown.write(longer[log.stat().st_size :])
    file = LogFile(log, cache=ColumnCache.of(log))
    assert list(file.newest())
    assert model_of(log, [*file.look(), *file.finish()]) == alone(log)


def test_what_is_kept_of_a_log_that_is_replaced_meanwhile_is_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    log = big(tmp_path / "run-r.wandb")
    list(LogFile(log, cache=ColumnCache.of(log)).look())
    file = LogFile(log, cache=ColumnCache.of(log))
    assert not list(file.newest())
    big(tmp_path / "other", 50).rename(log)
    assert model_of(log, [*file.look(), *file.finish()]) == alone(log)
