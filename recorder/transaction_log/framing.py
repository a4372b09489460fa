"""How records lie in a log: a file header, blocks of 32 KiB, chunks with checksums.

    ┌────────┬──────────────────────────────────────────────┐
    │ header │ chunk │ chunk │ chunk …                      │  block 0: the file header takes its first 7 bytes
    ├────────┴──────────────────────────────────────────────┤
    │ chunk │ chunk …                            │ 0 0 0 0  │  fewer than 7 bytes left: zeros to the end
    ├───────────────────────────────────────────────────────┤
    │ chunk …

    chunk:  crc32 u32 │ length u16 │ type u8 │ payload          little-endian, never across a block's end

A record is one FULL chunk, or FIRST, any number of MIDDLE, and LAST. The checksum is the CRC-32 of zlib over the
type byte and the payload. Where exactly 7 bytes are left in a block, a FIRST without payload goes there.
"""

from __future__ import annotations

import struct
import zlib

IDENT = b":W&B"
MAGIC = 0xBEE1
VERSION = 0
HEADER = IDENT + struct.pack("<HB", MAGIC, VERSION)
"""What every log begins with."""

BLOCK = 32 * 1024
CHUNK_HEADER = struct.Struct("<IHB")
"""Checksum, length of the payload, type."""

FULL, FIRST, MIDDLE, LAST = 1, 2, 3, 4

TYPE_CRC = tuple(zlib.crc32(bytes((kind,))) for kind in range(256))
"""Checksum of each type byte alone: where the checksum of a payload starts from."""

_OVERHEAD = CHUNK_HEADER.size


def frame(payload: bytes, offset: int) -> bytes:
    """The bytes of a record that starts at the absolute `offset` of the file, with the padding before it.

    `offset` counts the file header, so the first record of a log starts at `len(HEADER)`.
    """
    left = BLOCK - offset % BLOCK
    size = len(payload)
    if size + _OVERHEAD <= left:
        return CHUNK_HEADER.pack(zlib.crc32(payload, TYPE_CRC[FULL]), size, FULL) + payload
    pieces: list[bytes] = []
    if left < _OVERHEAD:
        pieces.append(bytes(left))
        left = BLOCK
    start, begun = 0, False
    while True:
        end = min(size, start + left - _OVERHEAD)
        done = end == size
        kind = (LAST if done else MIDDLE) if begun else (FULL if done else FIRST)
        part = payload[start:end]
        pieces += (CHUNK_HEADER.pack(zlib.crc32(part, TYPE_CRC[kind]), end - start, kind), part)
        if done:
            return b"".join(pieces)
        start, left, begun = end, BLOCK, True
