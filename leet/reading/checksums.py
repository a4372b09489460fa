"""The checksums of all chunks of whole blocks, checked one block at a time.

    block      6 bytes │ type payload │ 6 bytes │ type payload │ 6 bytes │ type payload … zeros
    blanked    0 0 0 0 │▒▒▒▒▒▒▒▒▒▒▒▒▒▒│ 0 0 0 0 │▒▒▒▒▒▒▒▒▒▒▒▒▒▒│ 0 0 0 0 │▒▒▒▒▒▒▒▒▒▒▒▒▒▒
                        ╰ crc noted ─►           ╰ crc noted ─►           ╰ crc noted ─► shifted to the end: XOR ┐
               ╰──────────────────────────── crc32 of the whole block ──────────────────────────────────► equal?┘

A block has a hundred chunks, and a call of `zlib.crc32` for each costs four times what the bytes cost. But a CRC is
linear: that of a message is the XOR of those of its parts, each with zeros in place of the other parts. So what the
checksum of a block must be, once everything that no chunk covers is blanked, follows from the checksums its chunks
bring along. As with one chunk, damage goes unseen once in 2^32 times.

Writing CRC(m) for `zlib.crc32`, and L(m) for the same without its inversions, which is what is linear:

    CRC(m) = L(m) ^ CRC(as many zeros)        L(m followed by n zeros) = L(m) · x^(8n)     modulo the polynomial

The CRC of n zeros is itself ~(~0 · x^(8n)), and multiplication is that of polynomials over two elements.
"""

from __future__ import annotations

import zlib
from functools import cache

import numpy as np
import numpy.typing as npt

from leet.reading.batch import Offsets
from recorder.transaction_log.framing import BLOCK, CHUNK_HEADER

Crcs = npt.NDArray[np.uint32]

_UNCOVERED = CHUNK_HEADER.size - 1
"""Bytes of a chunk that its checksum does not cover; the type and the payload behind them are covered."""
_POLYNOMIAL = np.uint32(0xEDB88320)
_ONE = np.uint32(1 << 31)
"""The polynomial 1: the lowest bit is that of the highest power."""
_X8 = np.uint32(1 << 23)
_ALL = np.uint32(0xFFFFFFFF)


def blank_headers(octets: npt.NDArray[np.uint8], starts: Offsets) -> None:
    """Put zeros where no checksum reaches, in the chunks that begin at `starts`."""
    cells = np.ndarray((len(octets) - _UNCOVERED + 1,), f"V{_UNCOVERED}", octets, strides=(1,))
    cells[starts] = np.zeros((), cells.dtype)


def blocks_fit(octets: npt.NDArray[np.uint8], starts: Offsets, ends: Offsets, noted: Crcs, first: int) -> bool:
    """Whether every chunk has the checksum that was noted for it.

    `octets` are bytes of a log, blanked. Chunks are in order, and outside of them is nothing but zeros. The first
    block ends at `first`, each next one `BLOCK` later. Shapes: `starts`, `ends` int64 and `noted` uint32 [chunks].
    """
    limits = np.arange(first, len(octets) + 1, BLOCK)
    behind = (first - ends) % BLOCK
    shares = multiply(noted ^ zeros_crc()[ends - starts - _UNCOVERED], powers()[behind])
    firsts = np.searchsorted(starts, np.concatenate(([0], limits[:-1])))
    begun = np.flatnonzero(np.diff(firsts, append=len(starts)))  # the first may be too short for a chunk
    linear = np.zeros(len(limits), np.uint32)
    linear[begun] = np.bitwise_xor.reduceat(shares, firsts[begun])
    begins = np.maximum(limits - BLOCK, 0)
    expected: list[int] = (linear ^ zeros_crc()[limits - begins]).tolist()
    view, crc32 = memoryview(octets.data), zlib.crc32
    return [crc32(view[a:b]) for a, b in zip(begins.tolist(), limits.tolist(), strict=True)] == expected


def multiply(a: Crcs, b: Crcs) -> Crcs:
    """Products of polynomials modulo that of the CRC; one of the two may be a single one."""
    b = np.broadcast_to(b, a.shape).copy()
    product = np.zeros_like(b)
    mask = np.empty_like(b)
    for bit in range(31, -1, -1):
        np.right_shift(a, np.uint32(bit), out=mask)
        np.bitwise_and(mask, np.uint32(1), out=mask)
        np.multiply(mask, b, out=mask)
        np.bitwise_xor(product, mask, out=product)
        np.bitwise_and(b, np.uint32(1), out=mask)
        np.multiply(mask, _POLYNOMIAL, out=mask)
        np.right_shift(b, np.uint32(1), out=b)
        np.bitwise_xor(b, mask, out=b)
    return product


@cache
def powers() -> Crcs:
    """x^(8n) for n up to the length of a block: uint32 [BLOCK + 1]."""
    found = np.array([_ONE, _X8], np.uint32)
    while len(found) <= BLOCK:
        found = np.concatenate((found, multiply(found[1:], found[-1:])))
    return found[: BLOCK + 1]


@cache
def zeros_crc() -> Crcs:
    """The CRC of n zeros, n up to the length of a block: uint32 [BLOCK + 1]."""
    return multiply(powers(), np.array([_ALL])) ^ _ALL
