"""A log of which another process decodes a half is the log read alone, whatever is in it and whatever goes wrong."""

from __future__ import annotations

import errno
import io
import os
import queue
import random
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import IO, Any

import pytest
from model_view import model_view
from test_blocks import SHIFT, log_of
from test_tail import log_bytes

from leet.model.run import RunModel
from leet.output import bulk_summary, inspect
from leet.output.run_summary import RunSummary
from leet.reading import frame_process, half_decoder, log_file, second_half
from leet.reading.batch import Batch, Notice
from leet.reading.batch_bytes import Unpacker
from leet.reading.column_cache import ColumnCache
from leet.reading.frame_process import Failed
from leet.reading.half_decoder import decode
from leet.reading.log_file import LogFile
from leet.reading.second_half import Division, SecondHalf, boundary
from recorder.transaction_log.framing import BLOCK, HEADER, frame
from recorder.transaction_log.wire import encode, history_record

Pieces = list[Batch | Notice]


@pytest.fixture
def divided(monkeypatch: pytest.MonkeyPatch) -> list[SecondHalf]:
    """Divide logs of this size, with however few processors; the other processes that were begun."""
    begun: list[SecondHalf] = []

    class Counted(SecondHalf):
        def __init__(self, path: Path, start: int, end: int, origin: int, **more: Any) -> None:
            super().__init__(path, start, end, origin, **more)
            begun.append(self)

    monkeypatch.setattr(second_half, "SMALLEST", 8 * BLOCK)
    monkeypatch.setattr(log_file, "processors", lambda: 2)
    monkeypatch.setattr(log_file, "SecondHalf", Counted)
    monkeypatch.setattr(bulk_summary, "processors", lambda: 2)
    monkeypatch.setattr(bulk_summary, "SecondHalf", Counted)
    return begun


@pytest.fixture(params=["copy", "module"])
def copied(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the other process is a copy of this one, which it is not everywhere."""
    can = bool(request.param == "copy")
    if can and not frame_process.CAN_COPY:
        pytest.skip("processes are not copied on this system")
    monkeypatch.setattr(frame_process, "CAN_COPY", can)
    return can


def alone(log: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    with monkeypatch.context() as patch:
        patch.setattr(second_half, "SMALLEST", sys.maxsize)
        return model_of(log, look(log))


def look(log: Path, cache: ColumnCache | None = None) -> Pieces:
    file = LogFile(log, cache=cache, division=Division(second_half.SMALLEST, copied=True))
    return [*file.look(), *file.finish()]


def model_of(log: Path, pieces: Pieces) -> dict[str, str]:
    model = RunModel(log)
    for piece in pieces:
        model.apply(piece)
    return model_view(model)


def framed(payloads: list[bytes]) -> bytes:
    data = bytearray(HEADER)
    for payload in payloads:
        data += frame(payload, len(data))
    return bytes(data)


def mixed(steps: int, seed: int) -> bytes:
    """History, console with and without time, system metrics, summaries with removals, records of several blocks."""
    luck = random.Random(seed)
    payloads = [encode("Record", {"run": {"run_id": "r"}})]
    for step in range(steps):
        now = {"seconds": 1000 + step}
        stats = [{"key": "cpu", "value_json": str(step)}]
        payloads += [
            history_record([((luck.choice("abc"),), repr(luck.random())), (("text",), '"' + "x" * 400 + '"')], step),
            encode("Record", {"output_logger": {"line": f"said {step}\n"}}),
            encode("Record", {"summary": {"update": [{"key": luck.choice("abc"), "value_json": str(step)}]}}),
        ]
        if step % 7 == 0:
            payloads.append(encode("Record", {"summary": {"remove": [{"key": luck.choice("abc")}]}}))
        if step % 11 == 0:
            payloads.append(encode("Record", {"stats": {"timestamp": now, "item": stats}}))
        if step % 100 == 5:
            payloads.append(encode("Record", {"output_raw": {"timestamp": now, "line": "timed\n"}}))
        if step % 150 == 9:
            payloads.append(history_record([(("long",), '"' + "y" * 100_000 + '"')], step))
        if step % 90 == 3:
            payloads.append(encode("Record", {"alert": {"title": f"alert {step}"}}))
    return framed(payloads)


@pytest.mark.usefixtures("copied")
def test_half_of_a_log(tmp_path: Path, divided: list[SecondHalf], monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "run-r.wandb"
    log.write_bytes(log_bytes(range(2000), text=150) + b"unfinished")
    pieces = look(log)
    assert len(divided) == 1
    assert not any(isinstance(piece, Batch) and piece.reset for piece in pieces)
    assert model_of(log, pieces) == alone(log, monkeypatch)


@pytest.mark.usefixtures("copied")
@pytest.mark.parametrize("seed", range(4))
def test_records_of_all_kinds(
    tmp_path: Path, divided: list[SecondHalf], monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    log = tmp_path / "run-r.wandb"
    log.write_bytes(mixed(1200 + 137 * seed, seed))
    cache = ColumnCache(log, tmp_path / "cache", smallest=1)
    pieces = look(log, cache)
    expected = alone(log, monkeypatch)
    assert len(divided) == 1
    assert not any(isinstance(piece, Batch) and piece.reset for piece in pieces)
    assert model_of(log, pieces) == expected
    assert model_of(log, look(log, cache)) == expected


@pytest.mark.usefixtures("copied")
@pytest.mark.parametrize("place", [0.3, 0.53, 0.55, 0.565, 0.6, 0.9])
def test_damage(tmp_path: Path, divided: list[SecondHalf], monkeypatch: pytest.MonkeyPatch, place: float) -> None:
    log = tmp_path / "run-r.wandb"
    data = bytearray(mixed(1000, 9))
    at = int(len(data) * place)
    data[at : at + 3000] = bytes(3000)
    log.write_bytes(data)
    assert model_of(log, look(log)) == alone(log, monkeypatch)
    assert len(divided) == 1


@pytest.mark.usefixtures("divided", "copied")
def test_damage_at_the_seam(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "run-r.wandb"
    data = bytearray(mixed(1000, 9))
    start = boundary(log_file.FIRST_PIECE, len(data), 0, copied=True)
    data[start + 40] ^= 1
    log.write_bytes(data)
    assert model_of(log, look(log)) == alone(log, monkeypatch)


@pytest.mark.parametrize("frame", [frame_process.BROKEN, bytes([2, *bytes(7)]) + b"{}"])
def test_a_process_that_dies_midway_or_runs_other_code(
    tmp_path: Path, divided: list[SecondHalf], monkeypatch: pytest.MonkeyPatch, frame: bytes
) -> None:
    log = tmp_path / "run-r.wandb"
    log.write_bytes(log_bytes(range(2000), text=150))
    monkeypatch.setattr(half_decoder, "_SMALLEST_PIECE", BLOCK)
    expected = alone(log, monkeypatch)
    pieces: Pieces = []
    for piece in LogFile(log).look():
        pieces.append(piece)
        if divided and isinstance(piece, Batch) and piece.end > divided[0].start + BLOCK:
            divided[0]._frames = queue.SimpleQueue()
            divided[0]._frames.put(frame)
    assert any(isinstance(piece, Batch) and piece.reset for piece in pieces)
    assert model_of(log, pieces) == expected


@pytest.mark.usefixtures("divided")
def test_no_process_to_be_had(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "run-r.wandb"
    log.write_bytes(log_bytes(range(2000), text=150))
    expected = alone(log, monkeypatch)
    monkeypatch.setattr(frame_process, "CAN_COPY", False)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "missing"))
    assert model_of(log, look(log)) == expected
    monkeypatch.setattr(sys, "executable", "/bin/false")
    assert model_of(log, look(log)) == expected


def test_a_reader_that_stops_ends_the_process(tmp_path: Path, divided: list[SecondHalf]) -> None:
    log = tmp_path / "run-r.wandb"
    log.write_bytes(log_bytes(range(2000), text=150))
    looking = LogFile(log, BLOCK).look()
    while not divided:
        next(looking)
    looking.close()
    assert divided[0]._process.poll() is not None


def test_rows_that_depend_on_those_before_are_left_alone(tmp_path: Path) -> None:
    log = tmp_path / "run-r.wandb"
    row = encode("Record", {"history": {"item": [{"nested_key": ["a"], "value_json": "1" * 500}]}})
    log.write_bytes(framed([row] * 500))
    with pytest.raises(Failed):
        decode(str(log), 4 * BLOCK, log.stat().st_size, 0, io.BytesIO())


def test_nothing_of_the_summary_is_lost_where_the_log_is_cut_short_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(half_decoder, "_SMALLEST_PIECE", BLOCK)
    log = tmp_path / "run-r.wandb"
    log.write_bytes(mixed(600, 7))
    size = log.stat().st_size
    whole, cut = (changes_in_half(log, 4 * BLOCK, end) for end in (size, size + BLOCK))
    assert whole
    assert cut == whole


def changes_in_half(log: Path, start: int, end: int) -> list[tuple[object, ...]]:
    """The last change of each path of a summary, as the other process tells of it."""
    out = io.BytesIO()
    decode(str(log), start, end, 0, out)
    _, *batches, _ = frames_of(out.getvalue())
    unpacker = Unpacker()
    changes = (unpacker.unpack(frame, size=0, modified=0.0).summary.pairs() for frame in batches if frame)
    return sorted(dict(chain.from_iterable(changes)).items())


def frames_of(data: bytes) -> Iterator[bytes]:
    while data:
        end = 8 + int.from_bytes(data[:8], "little")
        yield data[8:end]
        data = data[end:]


def test_a_summary_in_halves_of_a_log_that_is_cut_short_meanwhile(tmp_path: Path) -> None:
    log = tmp_path / "run-r.wandb"
    log.write_bytes(mixed(600, 7))
    out = io.BytesIO()
    bulk_summary._read_second_half(log, 4 * BLOCK, log.stat().st_size + BLOCK, 0, out)
    _, *stretches, _, _ = frames_of(out.getvalue())
    assert sum(bulk_summary.Stretch.unpack(frame).points for frame in stretches)


def test_wide_logs_are_read_alone(tmp_path: Path, divided: list[SecondHalf]) -> None:
    log = tmp_path / "run-r.wandb"
    wide = [((f"metric/{i}",), "0.5") for i in range(1000)]
    log.write_bytes(framed([history_record(wide, step) for step in range(40)]))
    assert sum(len(piece.history or ()) for piece in look(log) if isinstance(piece, Batch)) == 40
    assert divided == []


def summary_of(log: Path, *, bulk: bool) -> dict[str, object]:
    summary = RunSummary(log)
    if bulk:
        bulk_summary.summarise(log, summary)
    else:
        inspect.summarise(log, summary)
    return summary.to_json(0, 0.0)


@pytest.mark.usefixtures("copied")
@pytest.mark.parametrize("seed", range(3))
def test_a_summary_in_halves_is_that_of_all_records(tmp_path: Path, divided: list[SecondHalf], seed: int) -> None:
    log = tmp_path / "run-r.wandb"
    log.write_bytes(mixed(900, seed))
    assert summary_of(log, bulk=True) == summary_of(log, bulk=False)
    assert len(divided) == 1


@pytest.mark.usefixtures("copied")
def test_a_summary_in_halves_tells_of_damage(tmp_path: Path, divided: list[SecondHalf]) -> None:
    log = tmp_path / "run-r.wandb"
    data = bytearray(mixed(900, 5))
    for place in (len(data) // 4, len(data) * 3 // 4, len(data) - 3):
        data[place] ^= 0x5A
    log.write_bytes(data)
    both = summary_of(log, bulk=True), summary_of(log, bulk=False)
    assert both[0] == both[1]
    assert both[0]["skipped"]
    assert len(divided) == 1


def test_a_summary_is_read_alone_where_the_other_process_fails(
    tmp_path: Path, divided: list[SecondHalf], monkeypatch: pytest.MonkeyPatch, copied: bool
) -> None:
    log = tmp_path / "run-r.wandb"
    log.write_bytes(mixed(900, 6))
    if copied:
        monkeypatch.setattr(half_decoder, "pieces", None)  # at which the copy ends, and nothing else
    else:
        monkeypatch.setattr(sys, "executable", "/bin/false")
    assert summary_of(log, bulk=True) == summary_of(log, bulk=False)
    assert len(divided) == 1


@pytest.mark.usefixtures("copied")
def test_a_summary_is_read_alone_where_there_is_no_process_to_be_had(
    tmp_path: Path, divided: list[SecondHalf], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise BlockingIOError(errno.EAGAIN, "no more processes")

    log = tmp_path / "run-r.wandb"
    log.write_bytes(mixed(900, 8))
    monkeypatch.setattr(os, "fork", refuse)
    monkeypatch.setattr(subprocess, "Popen", refuse)
    assert summary_of(log, bulk=True) == summary_of(log, bulk=False)
    assert divided == []


@pytest.mark.usefixtures("divided", "copied")
def test_a_summary_in_halves_of_a_log_that_grows_by_rows_without_a_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "run-r.wandb"
    rows = [history_record([(("a",), f"{step}.5"), (("text",), '"' + "x" * 400 + '"')], step) for step in range(900)]
    later = [history_record([(("a",), "1")], None) for _ in range(20)]
    log.write_bytes(framed(rows))
    whole = framed(rows + later)
    begins = SecondHalf.begins

    def grow(second: SecondHalf) -> int:
        log.write_bytes(whole)
        return begins(second)

    monkeypatch.setattr(SecondHalf, "begins", grow)
    summary = summary_of(log, bulk=True)
    assert summary["step"] == 919
    assert summary == summary_of(log, bulk=False)


@pytest.mark.usefixtures("copied")
def test_a_summary_where_nobody_waits_for_the_ends_of_processes(tmp_path: Path, divided: list[SecondHalf]) -> None:
    log = tmp_path / "run-r.wandb"
    log.write_bytes(mixed(900, 4))
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert summary_of(log, bulk=True) == summary_of(log, bulk=False)
    finally:
        signal.signal(signal.SIGCHLD, before)
    assert len(divided) == 1


@pytest.mark.skipif(not frame_process.CAN_COPY, reason="processes are not copied on this system")
def test_a_copy_lets_go_of_the_standard_streams() -> None:
    def tell(out: IO[bytes]) -> None:
        null = os.stat(os.devnull).st_rdev
        out.write(bytes([os.fstat(stream).st_rdev == null for stream in range(3)]))

    copy = frame_process.Copy(tell)
    with copy.stdout as said:
        assert select.select([said], [], [], frame_process.PATIENCE)[0]
        assert said.read() == b"\1\1\1"
    copy.wait()
    assert copy.poll() == 0
    copy.kill()  # which is nobody else's business


@pytest.mark.usefixtures("copied")
def test_a_summary_in_halves_of_shifted_blocks(tmp_path: Path, divided: list[SecondHalf]) -> None:
    rows = [history_record([(("a",), f"{step}.5"), (("text",), '"' + "x" * 400 + '"')], step) for step in range(900)]
    log = tmp_path / "run-r.wandb"
    log.write_bytes(log_of(*rows, shift=SHIFT))
    assert summary_of(log, bulk=True) == summary_of(log, bulk=False)
    assert len(divided) == 1
