"""Checksums of many chunks from one of their block."""

from __future__ import annotations

import random
import zlib

import numpy as np
import pytest

from leet.reading.checksums import blank_headers, blocks_fit, multiply, powers, zeros_crc
from recorder.transaction_log.framing import BLOCK, frame


def test_the_checksum_of_zeros() -> None:
    for length in (0, 1, 2, 255, 256, 1000, BLOCK - 1, BLOCK):
        assert zeros_crc()[length] == zlib.crc32(bytes(length))


def test_products() -> None:
    one = powers()[:1]
    some = powers()[1:100]
    assert (multiply(some, one) == some).all()
    assert (multiply(some, powers()[7:8]) == powers()[8:107]).all()


@pytest.mark.parametrize("first", [BLOCK, BLOCK - 7, 100])
def test_blocks_fit_until_a_bit_falls_over(first: int) -> None:
    luck = random.Random(first)
    data, starts = b"", []
    while len(data) < 3 * BLOCK + first:
        at = BLOCK - first + len(data)
        payload = luck.randbytes(min(luck.randrange(900), BLOCK - at % BLOCK - 7 if BLOCK - at % BLOCK >= 7 else 0))
        starts.append(len(data) + (BLOCK - at % BLOCK if BLOCK - at % BLOCK < 7 else 0))
        data += frame(payload, at)
    data = data[: 3 * BLOCK + first]
    octets = np.frombuffer(bytearray(data), np.uint8)
    places = np.array([start for start in starts if start < len(data)])
    lengths = octets[places + 4].astype(np.int64) + 256 * octets[places + 5].astype(np.int64)
    ends = places + 7 + lengths
    noted = np.array([int.from_bytes(data[at : at + 4], "little") for at in places.tolist()], np.uint32)
    blank_headers(octets, places)
    assert blocks_fit(octets, places, ends, noted, first)
    for _ in range(50):
        wrong = octets.copy()
        wrong[luck.randrange(len(wrong))] ^= 1 << luck.randrange(8)
        assert not blocks_fit(wrong, places, ends, noted, first)
    noted[luck.randrange(len(noted))] ^= np.uint32(1 << 5)
    assert not blocks_fit(octets, places, ends, noted, first)
