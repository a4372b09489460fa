"""Pixels → PNG, with the standard library alone (PNG specification, third edition; zlib, RFC 1950)."""

from __future__ import annotations

import struct
import zlib
from typing import Any

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_COLOUR = {1: 0, 3: 2, 4: 6}
"""Channels → colour type: grey, RGB, RGBA."""
_NONE, _UP = 0, 2
"""Filters: a row as it is, or as its difference from the row above."""
_LEVEL = 6


def encode(pixels: Any, flat: bool = False) -> bytes:
    """A PNG of 8 bits a channel.

    Args:
        pixels: an array of uint8, [height, width] or [height, width, channels] with 1, 3 or 4 channels, that has the
            methods of numpy's.
        flat: the picture is of few even areas, as a mask is; such rows are stored as they are.
    """
    height, width = pixels.shape[:2]
    channels = pixels.shape[2] if len(pixels.shape) == 3 else 1
    rows = pixels.reshape(height, width * channels)
    if not flat:
        differences = rows.copy()
        differences[1:] -= rows[:-1]  # uint8 wraps, which is what the filter asks for
        rows = differences
    kind = bytes((_NONE if flat else _UP,))
    lines = b"".join([kind + row.tobytes() for row in rows])
    header = struct.pack(">IIBBBBB", width, height, 8, _COLOUR[channels], 0, 0, 0)
    pieces = (b"IHDR", header), (b"IDAT", zlib.compress(lines, _LEVEL)), (b"IEND", b"")
    return _SIGNATURE + b"".join(_chunk(name, data) for name, data in pieces)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
