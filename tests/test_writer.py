"""The writer: what arrives in the file, when, and what a full disk, a fork or a kill do to it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from conftest import WandbInspect

from leet.reading import records
from leet.reading.blocks import BlockReader, RawRecord
from recorder.transaction_log import writer as writer_module
from recorder.transaction_log.framing import BLOCK, HEADER
from recorder.transaction_log.wire import encode, history_record
from recorder.transaction_log.writer import LogWriter


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "run-w.wandb"


def read(path: Path) -> list[RawRecord]:
    """The records of a log in which nothing is skipped."""
    reader = BlockReader()
    outcomes = reader.feed(path.read_bytes()) + reader.finish()
    found = [outcome for outcome in outcomes if isinstance(outcome, RawRecord)]
    assert found == outcomes
    return found


def line(text: str) -> bytes:
    return encode("Record", {"output_raw": {"line": text}})


def lines(path: Path) -> list[str]:
    return [records.parse(record.payload).output_raw.line for record in read(path)]


def test_what_is_appended_is_numbered_and_complete(log: Path) -> None:
    written = [f"{i} " + "x" * (i * 37 % 5000) for i in range(500)] + ["y" * (3 * BLOCK)]
    writer = LogWriter(log)
    for text in written:
        writer.append(line(text))
    writer.append_record("exit", {"exit_code": 3})
    writer.close()
    parsed = [records.parse(record.payload) for record in read(log)]
    assert [record.num for record in parsed] == list(range(1, len(written) + 2))
    assert [record.output_raw.line for record in parsed[:-1]] == written
    assert parsed[-1].exit.exit_code == 3
    assert (writer.records, writer.lost) == (len(parsed), 0)
    assert writer.offset == writer.flushed == log.stat().st_size


def test_the_header_is_there_at_once_and_a_flush_ends_on_a_record(log: Path) -> None:
    writer = LogWriter(log, flush_interval=3600)
    assert log.read_bytes() == HEADER
    writer.append(line("a"))
    writer.flush()
    assert lines(log) == ["a"]
    writer.append(line("b"))
    assert lines(log) == ["a"]
    writer.close()
    assert lines(log) == ["a", "b"]


def test_it_flushes_by_itself(log: Path) -> None:
    writer = LogWriter(log, flush_interval=0.02)
    writer.append(line("a"))
    wait_for(lambda: log.stat().st_size > len(HEADER))
    assert lines(log) == ["a"]
    writer.close()


def test_much_at_once_does_not_wait_for_the_interval(log: Path) -> None:
    writer = LogWriter(log, flush_interval=3600)
    for _ in range(40):
        writer.append(line("x" * 10_000))
    wait_for(lambda: log.stat().st_size > 200_000)
    writer.close()
    assert len(read(log)) == 40


def test_no_log_is_overwritten(log: Path) -> None:
    log.write_bytes(b"precious")
    with pytest.raises(FileExistsError):
        LogWriter(log)
    assert log.read_bytes() == b"precious"


def test_threads_do_not_mix_their_records(log: Path) -> None:
    writer = LogWriter(log, flush_interval=0.01)

    def work(name: int) -> None:
        for i in range(0, 300, 3):
            writer.append_all([line(f"{name} {i + j}" + "-" * 500) for j in range(3)])

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    writer.close()
    found = [tuple(map(int, text.rstrip("-").split())) for text in lines(log)]
    assert len(found) == 1200
    assert all([i for n, i in found if n == name] == list(range(300)) for name in range(4))
    assert all(found[i + 2] == (found[i][0], found[i][1] + 2) for i in range(0, 1200, 3))


def test_after_the_end_nothing_is_written_and_nothing_raised(log: Path) -> None:
    writer = LogWriter(log)
    writer.close()
    writer.append(line("late"))
    writer.flush()
    writer.close()
    assert log.read_bytes() == HEADER


def test_interrupts_in_the_middle_of_appending_leave_the_file_whole(log: Path) -> None:
    """Signals arrive between any two steps of Python; each interrupted call may lose its own record at most."""
    writer = LogWriter(log, flush_interval=0.01)
    done = interrupted = 0

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGALRM, interrupt)
    try:
        while interrupted < 200:
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.0005)
                for _ in range(10_000):  # one may be lost where Python has nobody to tell of it
                    writer.append(history_record([(("loss",), "0.5")], done))
                    done += 1
            except KeyboardInterrupt:
                interrupted += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    writer.close()
    steps = [records.parse(record.payload).history.step.num for record in read(log)]
    assert steps == sorted(steps)
    assert set(range(done)) == set(steps) - {done}
    assert done > 200


def test_appending_inside_a_signal_handler(log: Path) -> None:
    writer = LogWriter(log, flush_interval=0.01)
    previous = signal.signal(signal.SIGALRM, lambda number, frame: writer.append(line("signal")))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
        for _ in range(20_000):
            writer.append(line("main"))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    writer.close()
    assert lines(log).count("main") == 20_000
    assert "signal" in lines(log)


# --- trouble ------------------------------------------------------------------------------------------------------


FULL_DISK = """
import json, resource, sys, time
from recorder.transaction_log.wire import encode
from recorder.transaction_log.writer import LogWriter

path, limit, lifted = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "lifted"
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
said = []
writer = LogWriter(path, flush_interval=0.01, warn=said.append)
for i in range(100):
    writer.append(encode("Record", {"output_raw": {"line": f"{i} " + "x" * 1000}}))
    if i % 10 == 0:
        writer.flush()
writer.flush()
size = writer.flushed
if lifted:
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
writer.close()
print(json.dumps({"said": said, "lost": writer.lost, "size": size}))
"""


def fill(log: Path, limit: int, then: str) -> dict[str, object]:
    command = [sys.executable, "-c", FULL_DISK, str(log), str(limit), then]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    result: dict[str, object] = json.loads(done.stdout)
    return result


@pytest.mark.parametrize("limit", [3, 7, 2000, 50_000])
def test_a_file_that_may_not_grow_stays_readable_and_says_so_once(limit: int, log: Path) -> None:
    result = fill(log, limit, "stays")
    said = result["said"]
    assert isinstance(said, list)
    assert ["cannot write" in text for text in said] == [True, False]
    assert "missing" in said[1]
    found = [] if limit < len(HEADER) else lines(log)
    assert [int(text.split()[0]) for text in found] == list(range(len(found)))
    assert result["lost"] == 100 - len(found)
    assert log.stat().st_size == result["size"] <= limit
    assert limit - log.stat().st_size < 1100


@pytest.mark.parametrize("limit", [3, 2000, 50_000])
def test_nothing_is_missing_when_there_is_room_again(limit: int, log: Path) -> None:
    result = fill(log, limit, "lifted")
    assert result["lost"] == 0
    assert [int(text.split()[0]) for text in lines(log)] == list(range(100))


def test_a_real_full_disk(tmp_path: Path) -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("this system has no /dev/full")
    said: list[str] = []
    writer = LogWriter(tmp_path / "run-f.wandb", flush_interval=0.01, warn=said.append)
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, writer._fd)
    os.close(full)
    writer.append(line("x"))
    writer.flush()
    writer.close()
    assert writer.lost == 1
    assert "No space left" in said[0]


def test_memory_is_bounded_while_the_disk_refuses(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer_module, "_KEPT", 10_000)
    said: list[str] = []
    writer = LogWriter(log, flush_interval=0.01, warn=said.append)
    pipe_end, other = os.pipe()  # a file that cannot be written at an offset: ESPIPE
    os.dup2(other, writer._fd)
    writer.append(line("first"))
    writer.flush()
    for _ in range(100):
        writer.append(line("x" * 1000))
    assert writer.offset - writer.flushed < 12_000
    lost = writer.lost
    assert lost > 80
    writer.append(line("the end"), keep=True)
    assert writer.lost == lost
    writer.close()
    assert writer.lost == 102
    os.close(pipe_end)
    os.close(other)
    assert "missing" in said[-1]


def test_a_deleted_directory_is_said_and_made_again(tmp_path: Path) -> None:
    path = tmp_path / "run" / "run-d.wandb"
    path.parent.mkdir()
    said: list[str] = []
    restored: list[int] = []
    writer = LogWriter(path, flush_interval=3600, warn=said.append, restored=lambda: restored.append(1))
    for i in range(4):
        writer.append(line(str(i)))
        writer.flush()
        if i < 2:
            assert lines(path) == [str(n) for n in range(i + 1)]
            path.unlink()
            path.parent.rmdir()
    writer.close()
    assert lines(path) == ["0", "1", "2", "3"]
    assert ["was deleted" in text for text in said] == [True]
    assert len(restored) == 2


def test_a_directory_that_cannot_be_made_again_is_tried_again(tmp_path: Path) -> None:
    path = tmp_path / "run" / "run-d.wandb"
    path.parent.mkdir()
    said: list[str] = []
    writer = LogWriter(path, flush_interval=3600, warn=said.append)
    path.unlink()
    path.parent.rmdir()
    path.parent.write_text("in the way")
    for i in range(3):
        writer.append(line(str(i)))
        writer.flush()
    assert ["cannot be made again" in text for text in said] == [True]
    path.parent.unlink()
    writer.flush()
    writer.close()
    assert lines(path) == ["0", "1", "2"]


def test_a_bad_descriptor_is_opened_again(log: Path) -> None:
    writer = LogWriter(log, flush_interval=3600)
    writer.append(line("before"))
    writer.flush()
    os.close(writer._fd)  # EBADF, as a stale handle of a network disk would be ESTALE
    writer.append(line("after"))
    writer.flush()
    writer.close()
    assert lines(log) == ["before", "after"]
    assert writer.lost == 0


def test_records_made_late_keep_their_place(log: Path) -> None:
    writer = LogWriter(log, flush_interval=3600)
    writer.append(line("1"))
    writer.append_late(lambda: (line("2"), line("3")), 20)
    writer.append(line("4"))
    writer.close()
    assert lines(log) == ["1", "2", "3", "4"]


def test_a_disk_that_does_not_answer_holds_the_caller_back_for_a_moment_only(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_module, "_KEPT", 10_000)
    monkeypatch.setattr(writer_module, "_STANDSTILL", 0.0)
    held = threading.Event()
    patient: list[float] = []
    said: list[str] = []
    writer = LogWriter(log, flush_interval=3600, warn=said.append)
    writer.before_writing.append(lambda: held.wait(60) and None)
    order = writer._order
    monkeypatch.setattr(writer, "_order", lambda patience: (patient.append(patience), order(0.001)))
    for _ in range(40):
        writer.append(line("x" * 1000))
    assert writer.lost > 0
    assert 0 < len(patient) < 40
    assert max(patient) <= 0.05
    writer.append(line("the end"), keep=True)
    held.set()
    writer.close()
    assert len(lines(log)) + writer.lost == 41
    assert lines(log)[-1] == "the end"
    assert ["did not answer" in text for text in said] == [True]


def test_records_that_come_faster_than_they_are_written_are_all_kept(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_module, "_KEPT", 10_000)
    said: list[str] = []
    writer = LogWriter(log, flush_interval=3600, warn=said.append)
    writer.before_writing.append(lambda: time.sleep(0.1))
    for i in range(8):
        writer.append_all((line(f"{i} " + "x" * 15_000), line(f"{i} " + "y" * 15_000)))
    writer.close()
    assert [text[:3] for text in lines(log)] == [f"{i} {c}" for i in range(8) for c in "xy"]
    assert writer.lost == 0
    assert said == []


def test_a_forked_child_leaves_the_file_to_its_parent(log: Path) -> None:
    writer = LogWriter(log, flush_interval=3600)
    writer.append(line("before"))
    child = os.fork()
    if child == 0:
        try:
            writer.append(line("child"))
            writer.flush()
            writer.close()
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    writer.append(line("after"))
    writer.close()
    assert lines(log) == ["before", "after"]


def test_a_killed_process_leaves_what_it_flushed(log: Path) -> None:
    program = """
import sys, time
from recorder.transaction_log.wire import encode
from recorder.transaction_log.writer import LogWriter
writer = LogWriter(sys.argv[1], flush_interval=0.02)
i = 0
while True:
    writer.append(encode("Record", {"output_raw": {"line": str(i) + "x" * 5000}}))
    i += 1
    time.sleep(0.0005)
"""
    with subprocess.Popen([sys.executable, "-c", program, str(log)]) as process:
        wait_for(lambda: log.exists() and log.stat().st_size > 100_000)
        process.kill()
    reader = BlockReader()
    outcomes = reader.feed(log.read_bytes()) + reader.finish()
    texts = [records.parse(o.payload).output_raw.line for o in outcomes if isinstance(o, RawRecord)]
    assert [int(text.rstrip("x")) for text in texts] == list(range(len(texts)))
    assert len(outcomes) - len(texts) <= 1  # at most an unfinished end
    assert len(texts) > 15


def test_wandb_reads_it(log: Path, wandb_inspect: WandbInspect) -> None:
    writer = LogWriter(log)
    writer.append_record("header", {"version_info": {"producer": "test", "min_consumer": "0.70.0"}})
    writer.append_record("run", {"run_id": "w", "project": "p", "display_name": "nice", "tags": ["a"]})
    for step in range(2000):
        row = [(("val", "loss"), f"{step / 4}"), (("nan",), "NaN"), (("_step",), str(step))]
        writer.append(history_record(row, step))
    writer.append(line("z" * 100_000 + "\n"))
    writer.append_record("exit", {"exit_code": 7, "runtime": 5})
    writer.close()
    done = wandb_inspect(log)
    assert b"corrupt" not in done.stderr
    shown = [json.loads(text) for text in done.stdout.splitlines()]
    assert [record["type"] for record in shown] == ["header", "run", *["history"] * 2000, "output_raw", "exit"]
    assert shown[1]["run"] == {"run_id": "w", "project": "p", "display_name": "nice", "tags": ["a"]}
    assert [record["history"]["item"] for record in shown[2:2002]] == [
        {"val.loss": step / 4, "nan": "NaN", "_step": step} for step in range(2000)
    ]
    assert shown[-1]["exit"] == {"exit_code": 7, "runtime": 5}


def wait_for(condition: object) -> None:
    """Waits until it is so, for a minute at most."""
    assert callable(condition)
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, "it never came to be"
        time.sleep(0.005)
