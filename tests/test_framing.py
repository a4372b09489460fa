"""Chunks and blocks: every way a record can meet the end of a block."""

from __future__ import annotations

import struct
import zlib

import pytest

from leet.reading.blocks import BlockReader, RawRecord
from recorder.transaction_log.framing import BLOCK, FIRST, FULL, HEADER, LAST, MIDDLE, frame


def chunks(framed: bytes, offset: int) -> list[tuple[int, int, bytes]]:
    """(absolute offset, type, payload) of each chunk; checks checksums, padding and block limits on the way."""
    found = []
    at = 0
    while at < len(framed):
        left = BLOCK - (offset + at) % BLOCK
        if left < 7:
            assert framed[at : at + left] == bytes(left)
            at += left
            continue
        crc, length, kind = struct.unpack_from("<IHB", framed, at)
        payload = framed[at + 7 : at + 7 + length]
        assert length + 7 <= left
        assert len(payload) == length
        assert crc == zlib.crc32(bytes([kind]) + payload)
        found.append((offset + at, kind, payload))
        at += 7 + length
    return found


def test_header_is_the_seven_bytes_of_the_format() -> None:
    assert HEADER.hex() == "3a572642e1be00"


@pytest.mark.parametrize("left", range(8))
def test_a_record_that_meets_the_end_of_a_block(left: int) -> None:
    offset = 2 * BLOCK - left if left else 2 * BLOCK
    found = chunks(frame(b"payload", offset), offset)
    assert b"".join(payload for _, _, payload in found) == b"payload"
    if left == 7:
        assert [(at, kind, payload) for at, kind, payload in found] == [
            (offset, FIRST, b""),
            (2 * BLOCK, LAST, b"payload"),
        ]
    else:
        assert [(at, kind) for at, kind, _ in found] == [(2 * BLOCK, FULL)]


@pytest.mark.parametrize(
    ("size", "kinds"),
    [
        (0, [FULL]),
        (BLOCK - 14, [FULL]),
        (BLOCK - 13, [FIRST, LAST]),
        (2 * BLOCK - 21, [FIRST, LAST]),
        (2 * BLOCK - 20, [FIRST, MIDDLE, LAST]),
        (5 * BLOCK, [FIRST, *[MIDDLE] * 4, LAST]),
    ],
)
def test_a_record_is_cut_where_blocks_end(size: int, kinds: list[int]) -> None:
    payload = bytes(i % 251 for i in range(size))
    found = chunks(frame(payload, len(HEADER)), len(HEADER))
    assert [kind for _, kind, _ in found] == kinds
    assert b"".join(part for _, _, part in found) == payload


@pytest.mark.parametrize("last", range(15))
def test_records_go_round_at_every_distance_from_a_block_end(last: int) -> None:
    first = b"a" * (BLOCK - len(HEADER) - 7 - last)
    records = [first, b"b" * 20, b"", b"c" * (BLOCK * 2), b"d"]
    log = bytearray(HEADER)
    for record in records:
        log += frame(record, len(log))
    reader = BlockReader()
    outcomes = reader.feed(bytes(log)) + reader.finish()
    assert [o.payload for o in outcomes if isinstance(o, RawRecord)] == records
    assert len(outcomes) == len(records)
