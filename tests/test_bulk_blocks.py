"""Blocks read side by side give what blocks read one after the other give, whatever is wrong with them."""

from __future__ import annotations

import random
from itertools import pairwise

from conftest import corpus_logs
from hypothesis import given, settings
from hypothesis import strategies as st

from leet.reading.blocks import BlockReader, RawRecord
from leet.reading.bulk_blocks import BulkBlockReader, Found
from recorder.transaction_log.framing import BLOCK, HEADER, frame

Outcomes = tuple[list[tuple[int, bytes]], list[tuple[int, int, str]]]


def log_of(lengths: list[int], seed: int = 0) -> bytes:
    luck = random.Random(seed)
    parts, offset = [HEADER], len(HEADER)
    for length in lengths:
        parts.append(frame(luck.randbytes(length), offset))
        offset += len(parts[-1])
    return b"".join(parts)


def shifted(data: bytes) -> bytes:
    """The same records as the first writers in Go laid them out: blocks counted from behind the header."""
    reader = BlockReader()
    parts, offset = [], 0
    for piece in reader.feed(data):
        assert isinstance(piece, RawRecord)
        parts.append(frame(piece.payload, offset))
        offset += len(parts[-1])
    return HEADER + b"".join(parts)


def found(data: bytes, piece: int) -> Outcomes:
    reader = BulkBlockReader()
    results = [reader.feed_bulk(data[at : at + piece]) for at in range(0, len(data), piece)]
    results.append(Found.listed(reader.finish()))
    return (
        [(int(o), r.messages[i]) for r in results for i, o in enumerate(r.offsets)],
        [(s.offset, s.length, s.reason) for r in results for s in r.skipped],
    )


def expected(data: bytes) -> Outcomes:
    reader = BlockReader()
    outcomes = reader.feed(data) + reader.finish()
    return (
        [(o.offset, o.payload) for o in outcomes if isinstance(o, RawRecord)],
        [(o.offset, o.length, o.reason) for o in outcomes if not isinstance(o, RawRecord)],
    )


LENGTHS = st.lists(
    st.integers(0, 40) | st.integers(0, 4000) | st.integers(BLOCK - 20, BLOCK + 20) | st.just(3 * BLOCK),
    min_size=20,
    max_size=120,
)
PIECES = st.sampled_from([BLOCK, 4 * BLOCK, 5 * BLOCK + 3, 7 * BLOCK, 1 << 22])


def test_whole_blocks_are_read_side_by_side() -> None:
    data = log_of([300] * 2000)
    reader = BulkBlockReader()
    reader.feed_bulk(data[:7])
    assert reader._data == b""
    assert reader._good_chunks(bytearray(data[7:])) is not None


def test_real_logs() -> None:
    for log in corpus_logs():
        data = log.read_bytes()
        for piece in (BLOCK, 5 * BLOCK + 1, len(data)):
            assert found(data, piece) == expected(data), log


@settings(max_examples=50)
@given(LENGTHS, PIECES, st.booleans())
def test_good_logs(lengths: list[int], piece: int, old: bool) -> None:
    data = log_of(lengths)
    if old:
        data = shifted(data)
    assert found(data, piece) == expected(data)


@settings(max_examples=50)
@given(LENGTHS, PIECES, st.data())
def test_damaged_logs(lengths: list[int], piece: int, draw: st.DataObject) -> None:
    data = bytearray(log_of(lengths))
    for _ in range(draw.draw(st.integers(1, 3))):
        at = draw.draw(st.integers(len(HEADER), len(data) - 1))
        damage = draw.draw(st.sampled_from(["flip", "zero", "cut", "insert"]))
        if damage == "flip":
            data[at] ^= 1 << draw.draw(st.integers(0, 7))
        elif damage == "zero":
            size = min(draw.draw(st.integers(1, 2 * BLOCK)), len(data) - at)
            data[at : at + size] = bytes(size)
        elif damage == "cut":
            del data[at:]
        else:
            data[at:at] = b"\x01\x00"
        if len(data) <= len(HEADER):
            break
    assert found(bytes(data), piece) == expected(bytes(data))


def test_damage_stays_between_its_records_when_a_piece_is_parted() -> None:
    data = bytearray(log_of([500] * 2000))
    for place in (100_000, 400_000, 900_000):
        data[place] ^= 1
    whole = BulkBlockReader().feed_bulk(bytes(data))
    parts = whole.parts(100_000)
    assert len(parts) > 5
    assert [piece for part in parts for piece in part.skipped] == list(whole.skipped)
    assert sum(bool(part.skipped) for part in parts) == 3
    for part, following in pairwise(parts):
        assert all(piece.offset < following.offsets[0] for piece in part.skipped)
        assert all(piece.offset > part.offsets[0] for piece in following.skipped)
