"""Decoded columns of big logs, kept so that the next one to open the same log need not decode it again.

    $XDG_CACHE_HOME/leet/columns/<hash of the path of the log>

    MAGIC │ frame: which log, by which code │ frame: batch │ frame: batch │ … │ frame: checkpoint
                                            │ frame: batch │ … │ frame: checkpoint      the log has grown
    frame:  length u64 │ crc32 u32 │ kind u32 │ payload, filled up to a multiple of 8

A checkpoint says up to where the log had been read and in which state its reader was. What stands behind the last one
was never finished and does not count, nor does anything from the first wrong checksum on. A log is taken for the one
it was when its device and inode are the same, it is no shorter, and samples of the bytes up to the checkpoint have the
same hash. The hash of the source of this package is a part of the key: new code decodes anew.

Whatever goes wrong here costs time and nothing else: a log can always be read without.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any, NamedTuple

import orjson

from leet.reading.batch import Batch
from leet.reading.batch_bytes import Packer, Unpacker
from leet.reading.cache_place import cache_file, default_folder
from leet.settings.store import settings
from recorder.transaction_log import schema

SMALLEST = 16 * 1024 * 1024
"""Bytes that must have to be decoded for it to be worth keeping the outcome."""
ROOM = 2 * 1024**3
"""Bytes that all caches together may take; the ones not used for longest go first."""

_MAGIC = b"LEETCOL1"
_FRAME = struct.Struct("<QII")
_LOG, _BATCH, _CHECKPOINT = range(3)
_SAMPLES = 16
_SAMPLE = 4096


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Where the reading of a log can go on: an offset at which a record begins, and what must be known there."""

    position: int
    origin: int
    """Where blocks are counted from."""
    records: int
    """Records before."""
    step: float
    """Step of the last row."""
    console_time: float
    """Time of the last piece of console text that had one."""


class ColumnCache:
    """The cache of one log."""

    def __init__(self, log: Path, folder: Path, *, smallest: int = SMALLEST, room: int = ROOM) -> None:
        self.smallest = smallest
        self._room = room
        self._log = os.path.realpath(log)
        self._file = cache_file(log, folder)

    @classmethod
    def of(cls, log: Path, environ: Mapping[str, str] = os.environ) -> ColumnCache | None:
        """The cache of a log where caches are kept; None where they are switched off."""
        folder = default_folder(environ)
        return cls(log, folder, room=settings().count("cache.size") << 20) if folder is not None else None

    def find(self, log: IO[bytes]) -> Stored | None:
        """What is kept of the open log, if it can be trusted."""
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError), open(self._file, "rb") as file:
            stored = _checked(file, self._key(log))
            if stored is not None and stored.fits(log):
                os.utime(self._file)
                return stored
        return None

    def glance(self, log: IO[bytes]) -> Stored | None:
        """The same without a look at what the batches hold, which may turn out to be damaged."""
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError), open(self._file, "rb") as file:
            stored = _checked(file, self._key(log), batches=False)
            return stored if stored is not None and stored.fits(log) else None
        return None

    def record(self, log: IO[bytes], after: Stored | None) -> Recording | None:
        """Begin to keep what is decoded from now on, behind what is kept already; None where that cannot be."""
        try:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            before = Beginning.of(log, os.fstat(log.fileno()).st_size)
            if after is None:
                return Recording.new(self._file, self._key(log), self._room, before)
            return Recording.further(self._file, after.end, self._room, before)
        except OSError:
            return None

    def _key(self, log: IO[bytes]) -> dict[str, Any]:
        found = os.fstat(log.fileno())
        return {"path": self._log, "device": found.st_dev, "inode": found.st_ino, "code": _code()}


@dataclass(frozen=True, slots=True)
class Stored:
    """What is kept of a log: batches up to a checkpoint."""

    path: Path
    frames: tuple[tuple[int, int], ...]
    """Where the batches are in the file of the cache: offset and length."""
    checkpoint: Checkpoint
    samples: str
    end: int
    """Where the file of the cache ends, as far as it counts."""

    def fits(self, log: IO[bytes]) -> bool:
        return Beginning(self.checkpoint.position, self.samples).is_of(log)

    def batches(self, *, size: int, modified: float) -> Iterator[Batch]:
        """The batches; `size` and `modified` are those of the log now. Raises OSError or ValueError midway."""
        unpacker = Unpacker()
        with open(self.path, "rb", buffering=0) as file:
            for offset, length in self.frames:
                file.seek(offset)
                payload = file.read(length)
                if len(payload) != length:
                    raise ValueError("the cache has been cut short")
                try:
                    batch = unpacker.unpack(payload, size=size, modified=modified)
                except (LookupError, TypeError, struct.error) as error:
                    raise ValueError("the cache is damaged") from error
                yield batch


def _checked(file: IO[bytes], key: dict[str, Any], *, batches: bool = True) -> Stored | None:
    """What a cache holds up to its last good checkpoint; None where there is none, or it has another key.

    The `batches` themselves need not be looked at.
    """
    if file.read(len(_MAGIC)) != _MAGIC:
        return None
    frames: list[tuple[int, int]] = []
    stored: Stored | None = None
    at = len(_MAGIC)
    while len(header := file.read(_FRAME.size)) == _FRAME.size:
        length, crc, kind = _FRAME.unpack(header)
        start = at + _FRAME.size
        if length > os.fstat(file.fileno()).st_size - start:
            break
        at = start + length
        if kind == _BATCH and not batches:
            file.seek(at)
        elif zlib.crc32(payload := file.read(length), kind) != crc:
            break
        if kind == _LOG and orjson.loads(payload) != key:
            return None
        if kind == _BATCH:
            frames.append((start, length))
        if kind == _CHECKPOINT:
            found = orjson.loads(payload)
            stored = Stored(Path(file.name), tuple(frames), Checkpoint(**found["at"]), found["samples"], at)
    return stored


class Beginning(NamedTuple):
    """A log from its beginning up to `end`, known again by a hash of samples of it, its last bytes among them."""

    end: int
    samples: str

    @classmethod
    def of(cls, log: IO[bytes], end: int) -> Beginning:
        digest = hashlib.sha256(str(end).encode())
        last = max(0, end - _SAMPLE)
        for part in range(_SAMPLES + 1):
            digest.update(os.pread(log.fileno(), min(_SAMPLE, end), last * part // _SAMPLES))
        return cls(end, digest.hexdigest())

    def is_of(self, log: IO[bytes]) -> bool:
        """Whether the log still begins like this."""
        return os.fstat(log.fileno()).st_size >= self.end and Beginning.of(log, self.end) == self


class Recording:
    """A cache being written. It counts from `finish` on; without it, all is as before."""

    def __init__(self, file: IO[bytes], path: Path, room: int, before: Beginning) -> None:
        """`before` is what there was of the log when its reading began: it may be written over meanwhile."""
        self._file: IO[bytes] | None = file
        self._path = path
        self._room = room
        self._before = before
        self._packer = Packer()

    @classmethod
    def new(cls, path: Path, key: dict[str, Any], room: int, before: Beginning) -> Recording | None:
        """A cache that replaces the one at `path`, if there is one, when it is finished; None where one is begun."""
        _remove_unfinished(path.parent)
        file = open(path.with_name(f"{path.name}.{os.getpid()}.new"), "ab")  # noqa: SIM115 — closed in `finish`
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            return None
        except OSError:  # a file system without locks
            pass
        file.truncate(0)
        file.write(_MAGIC)
        recording = cls(file, path, room, before)
        recording._write(_LOG, orjson.dumps(key))
        return recording

    @classmethod
    def further(cls, path: Path, end: int, room: int, before: Beginning) -> Recording | None:
        """More for the cache at `path`, whose good part ends at `end`; None while another program writes to it."""
        file = open(path, "r+b")  # noqa: SIM115 — closed in `finish`
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            return None
        file.truncate(end)
        file.seek(end)
        return cls(file, path, room, before)

    def add(self, batch: Batch) -> None:
        """Keep one more batch."""
        if self._file is not None:
            try:
                self.add_packed(self._packer.pack(batch))
            except TypeError:  # a text that JSON cannot hold
                self.abandon()

    def add_packed(self, batch: bytes) -> None:
        """Keep one more batch, packed by another packer, all of whose batches come before any of `add`."""
        if self._file is not None:
            try:
                self._write(_BATCH, batch)
            except OSError:  # no room on the disk
                self.abandon()

    def finish(self, checkpoint: Checkpoint, log: IO[bytes]) -> None:
        """All batches up to `checkpoint` have been added; nothing is kept of a log that is not what it was."""
        if self._file is None:
            return
        try:
            if not self._before.is_of(log):
                self.abandon()
                return
            found = {"at": asdict(checkpoint), "samples": Beginning.of(log, checkpoint.position).samples}
            self._write(_CHECKPOINT, orjson.dumps(found))
            self._file.flush()
            if self._file.name != str(self._path):
                os.replace(self._file.name, self._path)
            self._file.close()
            self._file = None
            make_room(self._path.parent, self._room)
        except OSError:
            self.abandon()

    def abandon(self) -> None:
        """Leave it, whatever has been written; what was kept before stays."""
        if self._file is not None:
            file, self._file = self._file, None
            with contextlib.suppress(OSError):
                file.close()
            if file.name != str(self._path):
                with contextlib.suppress(OSError):
                    os.unlink(file.name)

    def _write(self, kind: int, payload: bytes) -> None:
        assert self._file is not None
        payload += b" " * (-len(payload) % 8)
        self._file.write(_FRAME.pack(len(payload), zlib.crc32(payload, kind), kind))
        self._file.write(payload)


def _remove_unfinished(folder: Path) -> None:
    """Remove what somebody began to keep who ended midway."""
    for path in folder.glob("*.new"):
        # No lock is to be had where somebody is at work on it, nor on some file systems.
        with contextlib.suppress(OSError), open(path, "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.unlink(path)


def make_room(folder: Path, room: int) -> None:
    """Remove the files that were not used for longest until the rest take no more than `room` bytes."""
    found = []
    for entry in os.scandir(folder):
        with contextlib.suppress(OSError):
            status = entry.stat()
            found.append((status.st_mtime, status.st_size, entry.path))
    total = sum(size for _, size, _ in found)
    for _, size, path in sorted(found):
        if total <= room:
            return
        with contextlib.suppress(OSError):
            os.unlink(path)
            total -= size


@cache
def _code() -> str:
    """A hash of the code that decodes: what other code made of a log is of no use. OSError where it is in no files."""
    digest = hashlib.sha256()
    for module in (__file__, schema.__file__):
        for path in sorted(Path(module).parent.glob("*.py")):
            digest.update(path.read_bytes())
    if digest.digest() == hashlib.sha256().digest():
        raise OSError("no source code")
    return digest.hexdigest()
