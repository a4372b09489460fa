"""What is known of the runs of a directory, kept so that the next one to list them need not look into each log.

    $XDG_CACHE_HOME/leet/runs/<hash of the path of the root>

    MAGIC │ frame: which root, by which code │ frame: some logs │ frame │ …
    frame:  length u32 │ crc32 u32 │ payload
    logs:   length u32 │ path, stamp and length of the facts of each, as JSON │ the facts of each, as JSON

Facts count for a log whose inode, size and time of the last write are as they were. The file is written anew as a
whole; a wrong checksum ends the reading of it. Whatever goes wrong here costs time and nothing else.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import struct
import zlib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import IO

import orjson

from leet.model import facts_process, leaf, run_facts, safe_text, tree
from leet.model.facts_process import Stamp
from leet.reading import blocks, peek, peek_items, peek_records, records
from leet.reading.cache_place import default_folder
from recorder.transaction_log import schema

ROOM = 128 * 1024 * 1024
"""Bytes that the caches of all roots together may take; the ones not used for longest go first."""
PART = 64
"""Logs whose facts are in one frame."""

_MAGIC = b"LEETRUN2"
_FRAME = struct.Struct("<II")
_LENGTH = struct.Struct("<I")
_LARGEST_FRAME = 64 * 1024 * 1024

Kept = tuple[str, Stamp, bytes]
"""Path of a log from the root, its stamp, its facts as JSON text."""


class FactsCache:
    """The cache of one root."""

    def __init__(self, root: str, folder: Path) -> None:
        self._root = os.path.realpath(root)
        self._file = folder / hashlib.sha256(os.fsencode(self._root)).hexdigest()[:32]

    @classmethod
    def of(cls, root: str, environ: Mapping[str, str] = os.environ) -> FactsCache | None:
        """The cache of a root where caches are kept; None where they are switched off."""
        columns = default_folder(environ)
        return cls(root, columns.parent / "runs") if columns is not None else None

    def read(self) -> Iterator[list[Kept]]:
        """What is kept, a few logs at a time; nothing where it cannot be trusted."""
        with contextlib.suppress(OSError, ValueError, TypeError, struct.error), open(self._file, "rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC or _next_frame(file) != orjson.dumps(self._key()):
                return
            os.utime(self._file)
            while (payload := _next_frame(file)) is not None:
                yield _logs_in(payload)

    def write(self, parts: Iterator[list[Kept]]) -> None:
        """Keep these facts instead of what was kept before."""
        new = self._file.with_name(f"{self._file.name}.{os.getpid()}.new")
        try:
            new.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with open(new, "wb") as file:
                file.write(_MAGIC)
                _put_frame(file, orjson.dumps(self._key()))
                for part in parts:
                    listed = orjson.dumps([(path, stamp, len(facts)) for path, stamp, facts in part])
                    _put_frame(file, b"".join((_LENGTH.pack(len(listed)), listed, *(facts for _, _, facts in part))))
            os.replace(new, self._file)
            self._make_room()
        except (OSError, TypeError):  # no room on the disk, or a text that JSON cannot hold
            with contextlib.suppress(OSError):
                os.unlink(new)

    def _make_room(self) -> None:
        from leet.reading.column_cache import make_room

        make_room(self._file.parent, ROOM)

    def _key(self) -> dict[str, str]:
        return {"root": self._root.encode("utf-8", "backslashreplace").decode(), "code": _code()}


def _put_frame(file: IO[bytes], payload: bytes) -> None:
    file.write(_FRAME.pack(len(payload), zlib.crc32(payload)) + payload)


def _next_frame(file: IO[bytes]) -> bytes | None:
    """The payload of the next frame; None where there is none or it is damaged."""
    header = file.read(_FRAME.size)
    if len(header) < _FRAME.size:
        return None
    length, crc = _FRAME.unpack(header)
    if length > _LARGEST_FRAME:
        return None
    payload = file.read(length)
    return payload if zlib.crc32(payload) == crc and len(payload) == length else None


def _logs_in(payload: bytes) -> list[Kept]:
    (length,) = _LENGTH.unpack_from(payload)
    found: list[Kept] = []
    at = _LENGTH.size + length
    for path, (inode, size, modified), length in orjson.loads(payload[_LENGTH.size : at]):
        found.append((path, (inode, size, modified), payload[at : at + length]))
        at += length
    return found


@cache
def _code() -> str:
    """A hash of the code that makes the facts: what other code made of a log is of no use."""
    digest = hashlib.sha256()
    reading = (peek, peek_items, peek_records, blocks, records, schema)
    for module in (*reading, facts_process, run_facts, leaf, tree, safe_text):
        digest.update(Path(str(module.__file__)).read_bytes())
    return digest.hexdigest()
