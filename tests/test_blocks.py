"""The reader of blocks on whole, cut, damaged, shifted and growing logs."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import corpus_logs
from hypothesis import given, settings
from hypothesis import strategies as st

from leet.reading.blocks import SHIFT, BlockReader, RawRecord, Skipped, UnsupportedLog
from recorder.transaction_log.framing import BLOCK, CHUNK_HEADER, FIRST, FULL, HEADER, TYPE_CRC, frame

Outcomes = list[RawRecord | Skipped]


def log_of(*payloads: bytes, shift: int = 0) -> bytes:
    """A log of these records; with a shift of 7, as the first writers in Go counted its blocks."""
    log = bytearray(HEADER)
    for payload in payloads:
        log += frame(payload, len(log) - shift)
    return bytes(log)


def read(log: bytes, pieces: int = 1 << 20) -> Outcomes:
    reader = BlockReader()
    outcomes: Outcomes = []
    for at in range(0, len(log), pieces):
        outcomes += reader.feed(log[at : at + pieces])
    return outcomes + reader.finish()


def payloads(outcomes: Outcomes) -> list[bytes]:
    return [outcome.payload for outcome in outcomes if isinstance(outcome, RawRecord)]


def skipped(outcomes: Outcomes) -> list[Skipped]:
    return [outcome for outcome in outcomes if isinstance(outcome, Skipped)]


def chunk(kind: int, payload: bytes) -> bytes:
    return CHUNK_HEADER.pack(zlib.crc32(payload, TYPE_CRC[kind]), len(payload), kind) + payload


# --- whole logs ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", corpus_logs(), ids=lambda p: p.parent.name)
@pytest.mark.parametrize("pieces", [61, 4096, 1 << 20])
def test_real_logs_read_whole_in_pieces_of_any_size(path: Path, pieces: int) -> None:
    log = path.read_bytes()
    outcomes = read(log, pieces)
    assert not skipped(outcomes)
    assert outcomes == read(log)


def test_blocks_shifted_by_the_header_are_found_out(corpus: Path) -> None:
    (path,) = [p for p in corpus_logs() if "old_0.17.5_core" in p.parts]
    reader = BlockReader()
    outcomes = reader.feed(path.read_bytes()) + reader.finish()
    assert reader.origin == SHIFT
    assert len(outcomes) > 30


@pytest.mark.parametrize("over", range(-20, 30))
def test_shifted_blocks_are_found_out_wherever_the_first_block_ends(over: int) -> None:
    records = [b"x" * 1000] * 31 + [b"y" * (BLOCK - len(HEADER) - 31 * 1007 - 7 + over), b"z" * 50, b"w" * 3 * BLOCK]
    for pieces in (1 << 20, 1000, 1):
        if pieces == 1 and over % 7:
            continue
        outcomes = read(log_of(*records, shift=SHIFT), pieces)
        assert payloads(outcomes) == records
        assert not skipped(outcomes)


def test_a_record_is_delivered_as_soon_as_its_last_byte_is_here() -> None:
    log = log_of(b"one", b"two" * 20000, b"three")
    reader = BlockReader()
    seen = 0
    ends = [len(log_of(b"one")), len(log_of(b"one", b"two" * 20000)), len(log)]
    for at in range(0, len(log), 7):
        seen += len(reader.feed(log[at : at + 7]))
        assert seen == sum(1 for end in ends if end <= at + 7)


def test_position_is_where_the_unfinished_record_begins() -> None:
    log = log_of(b"one", b"two" * 30000)
    reader = BlockReader()
    reader.feed(log[: BLOCK + 100])
    assert reader.position == len(log_of(b"one"))
    assert reader.next_offset == BLOCK + 100
    assert reader.rewind() == reader.position == reader.next_offset
    assert payloads(reader.feed(log[reader.position :])) == [b"two" * 30000]


def test_an_end_that_was_read_before_it_was_written_is_read_again() -> None:
    log = log_of(b"one", b"two" * 100)
    too_early = bytearray(log)
    too_early[30:] = bytes(len(log) - 30)
    reader = BlockReader()
    assert payloads(reader.feed(bytes(too_early))) == [b"one"]
    assert payloads(reader.feed(log[reader.rewind() :])) == [b"two" * 100]


@pytest.mark.parametrize("size", range(8))
def test_a_log_of_a_few_bytes_is_waited_for(size: int) -> None:
    reader = BlockReader()
    assert reader.feed(HEADER[:size]) == []
    assert [type(o) for o in reader.finish()] == ([Skipped] if 0 < size < 7 else [])


@pytest.mark.parametrize("start", [b"x", b":W&X", b":W&B\xe1\xbf\x00", b"PK\x03\x04abcdefgh", bytes(7)])
def test_what_is_no_log_is_refused_in_one_line(start: bytes) -> None:
    with pytest.raises(UnsupportedLog, match="not a W&B log") as caught:
        BlockReader().feed(start)
    assert "\n" not in str(caught.value)


def test_another_version_is_refused_by_its_number() -> None:
    with pytest.raises(UnsupportedLog, match="version 1"):
        BlockReader().feed(b":W&B\xe1\xbe\x01")


# --- damage, case by case -----------------------------------------------------------------------------------------


def test_a_wrong_checksum_costs_one_record() -> None:
    log = bytearray(log_of(b"one", b"two", b"three"))
    start = len(log_of(b"one"))
    log[start + 8] ^= 4
    outcomes = read(bytes(log))
    assert payloads(outcomes) == [b"one", b"three"]
    assert skipped(outcomes) == [Skipped(start, 10, "a wrong checksum")]


def test_a_wrong_length_costs_one_record() -> None:
    log = bytearray(log_of(b"one", b"two", b"three", b"x" * 40000, b"four"))
    log[len(log_of(b"one")) + 5] ^= 0x40
    outcomes = read(bytes(log))
    assert payloads(outcomes) == [b"one", b"three", b"x" * 40000, b"four"]
    assert [s.length for s in skipped(outcomes)] == [10]


def test_a_destroyed_block_costs_what_touches_it() -> None:
    records = [bytes([i]) * 3000 for i in range(60)]
    log = bytearray(log_of(*records))
    log[BLOCK : 2 * BLOCK] = b"\xa5" * BLOCK
    outcomes = read(bytes(log))
    lost = [r for r in records if r not in payloads(outcomes)]
    assert len(lost) == 12
    assert all(s.offset < 2 * BLOCK + 3007 and s.offset + s.length > BLOCK - 3007 for s in skipped(outcomes))


def test_zeros_in_the_middle_are_reported() -> None:
    head = log_of(b"one")
    log = head + bytes(2 * BLOCK - len(head)) + frame(b"two", 0)
    outcomes = read(log)
    assert payloads(outcomes) == [b"one", b"two"]
    assert skipped(outcomes) == [Skipped(len(head), 2 * BLOCK - len(head), "zeros")]


@pytest.mark.parametrize("zeros", [1, 6, 7, 100, BLOCK, 3 * BLOCK + 11])
def test_zeros_at_the_end_are_waited_for(zeros: int) -> None:
    log = log_of(b"one")
    reader = BlockReader()
    assert payloads(reader.feed(log + bytes(zeros))) == [b"one"]
    assert reader.position == len(log)
    assert reader.finish() == [Skipped(len(log), zeros, "zeros at the end")]


def test_a_record_without_its_end_gives_way_to_the_next() -> None:
    dangling = chunk(FIRST, b"half")
    outcomes = read(HEADER + dangling + chunk(FULL, b"whole"))
    assert outcomes == [Skipped(7, len(dangling), "a record without its end"), RawRecord(7 + len(dangling), b"whole")]


def test_parts_without_their_start_are_skipped() -> None:
    outcomes = read(HEADER + chunk(3, b"middle") + chunk(4, b"last") + chunk(FULL, b"whole"))
    assert payloads(outcomes) == [b"whole"]
    assert [s.reason for s in skipped(outcomes)] == ["a record without its start"] * 2


def test_an_unknown_kind_of_chunk_is_passed_over() -> None:
    outcomes = read(HEADER + chunk(9, b"new") + chunk(FULL, b"known"))
    assert payloads(outcomes) == [b"known"]
    assert [s.reason for s in skipped(outcomes)] == ["a chunk of unknown type 9"]


def test_a_log_appended_to_after_a_cut_goes_on() -> None:
    log = log_of(b"one", b"two" * 20)
    cut = log[:-5]
    outcomes = read(cut + frame(b"three", len(cut)))
    assert payloads(outcomes) == [b"one", b"three"]


# --- damage of any kind -------------------------------------------------------------------------------------------


def accounts_for_every_byte(log: bytes, outcomes: Outcomes, origin: int) -> None:
    """Records and skipped ranges are in order, do not overlap, and only padding lies between them."""
    at = len(HEADER)
    for outcome in outcomes:
        gap = outcome.offset - at
        assert gap >= 0
        assert gap <= padding(at, origin)
        at = outcome.offset
        if isinstance(outcome, Skipped):
            assert outcome.length > 0
            at += outcome.length
        else:
            at += len(frame(outcome.payload, at - origin))
    assert len(log) - at <= padding(at, origin)


def padding(offset: int, origin: int) -> int:
    left = BLOCK - (offset - origin) % BLOCK
    return left if left < 7 else 0


sizes = st.one_of(st.integers(0, 60), st.integers(0, 3 * BLOCK), st.integers(BLOCK - 40, BLOCK + 10))


@dataclass
class Case:
    """A log for the properties below; shown by the sizes of its records, which are what matters."""

    sizes: list[int]
    shift: int

    def __post_init__(self) -> None:
        self.records = [
            bytes((i * 7 + j * 31 + 1) % 256 for j in range(64)) * (n // 64) + b"e" * (n % 64)
            for i, n in enumerate(self.sizes)
        ]
        self.log = log_of(*self.records, shift=self.shift)


cases = st.builds(Case, st.lists(sizes, max_size=8), st.sampled_from([0, 0, SHIFT]))


@settings(max_examples=60, deadline=None)
@given(cases, st.data())
def test_cut_anywhere_a_log_reads_to_its_last_whole_record(case: Case, data: st.DataObject) -> None:
    records, log = case.records, case.log
    cut = data.draw(st.integers(7, len(log)))
    outcomes = read(log[:cut], data.draw(st.sampled_from([1 << 20, 5000])))
    found = payloads(outcomes)
    assert found == records[: len(found)]
    assert len(skipped(outcomes)) <= 1
    if cut == len(log):
        assert found == records


@settings(max_examples=120, deadline=None)
@given(cases, st.data())
def test_whatever_is_changed_only_that_is_lost(case: Case, data: st.DataObject) -> None:
    records, log = case.records, case.log
    damaged = bytearray(log)
    if len(log) > 7:
        for _ in range(data.draw(st.integers(1, 4))):
            at = data.draw(st.integers(7, len(log) - 1))
            kind = data.draw(st.sampled_from(["bit", "bytes", "zeros"]))
            if kind == "bit":
                damaged[at] ^= 1 << data.draw(st.integers(0, 7))
            elif kind == "bytes":
                noise = data.draw(st.binary(min_size=1, max_size=40))
                damaged[at : at + len(noise)] = noise[: len(damaged) - at]
            else:
                end = min(len(log), at + data.draw(st.integers(1, 2 * BLOCK)))
                damaged[at:end] = bytes(end - at)
    reader = BlockReader()
    outcomes: Outcomes = []
    pieces = data.draw(st.sampled_from([1 << 20, 3333]))
    for start in range(0, len(damaged), pieces):
        outcomes += reader.feed(bytes(damaged[start : start + pieces]))
    outcomes += reader.finish()
    # Checksums of 32 bits make it certain enough that what is read was written.
    remaining = iter(records)
    assert all(any(found == record for record in remaining) for found in payloads(outcomes))
    assert outcomes == read(bytes(damaged))
    if reader.origin == case.shift == 0:  # elsewhere a record may be cut in other places than our own framing cuts it
        accounts_for_every_byte(bytes(damaged), outcomes, 0)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300))
def test_noise_is_never_an_exception(noise: bytes) -> None:
    outcomes = read(HEADER + noise)
    assert outcomes == read(HEADER + noise, 1)
