"""A log on disk, read on from where the last look ended, whatever happened to the file meanwhile.

The file is opened anew at every look that has something to read and closed after it: nothing keeps a removed file
alive, and network file systems check their copy of it when it is opened. It is never mapped into memory.

    look ─► gone?            removed
         ─► another file?    replaced    other device or inode, or another beginning than the one that was read
         ─► shorter?         truncated
         ─► longer?          pieces of it ─► BulkBlockReader ─► Decoder ─► Batch ─► ColumnCache
                             of a big log, what the cache has of it, or all or half of it decoded by another process
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from functools import partial
from io import FileIO
from pathlib import Path

import orjson

from leet.reading import half_decoder, reader_process, second_half
from leet.reading.batch import Batch, Notice
from leet.reading.batch_bytes import Unpacker
from leet.reading.blocks import UnsupportedLog
from leet.reading.bulk_blocks import BulkBlockReader, Found
from leet.reading.column_cache import Checkpoint, ColumnCache, Recording, Stored
from leet.reading.decoder import Decoder
from leet.reading.fast_history import FastHistory
from leet.reading.frame_process import Failed, processors, understood
from leet.reading.newest import read_newest
from leet.reading.reader_process import ReaderProcess
from leet.reading.second_half import Division, SecondHalf

FIRST_PIECE = 128 * 1024
"""Bytes of the first piece that is read: small, so that something can be shown at once; it doubles from there."""
LARGEST_PIECE = 4 * 1024 * 1024
PART = 2 * 1024 * 1024
"""Bytes decoded at a time: as many as leave their columns in the cache of the processor."""

_READ_AGAIN = 1024 * 1024
"""Longest unfinished end that is read anew at the next look, in bytes: a network file system may have shown the length
of a write before its bytes. A longer one is a huge record on its way, and reading it over and over would take long."""

_BEGINNING = 256
"""Bytes kept of the beginning of a file, to tell it from another one that got the same inode."""


class LogFile:
    """One log file and how far it has been read."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        largest_piece: int = LARGEST_PIECE,
        *,
        cache: ColumnCache | None = None,
        elsewhere: bool = False,
        process: ReaderProcess | None = None,
        division: Division | None = None,
    ) -> None:
        """`cache` keeps what is decoded of a big log; without it every log is read anew.

        `elsewhere`: have all of a big log decoded by another process, for this one has a screen to draw. `process` is
        one that has begun with it already. `division`: when half is decoded by another process, else
        whenever that is worth it and nothing but time counts.
        """
        self.path = Path(path)
        self._cache = cache
        self._elsewhere = elsewhere
        self._process = process
        self._division = division
        self._largest_piece = largest_piece
        self._fast = FastHistory()
        self._seen = False  # the file has been there at the last look
        self._ever_seen = False
        self._trouble = ""  # what the last look could not do, so that it is said once only
        self._forget()

    def _begin(self) -> None:
        self._blocks = BulkBlockReader()
        self._decoder = Decoder(self._fast)
        self._position = 0

    def _forget(self) -> None:
        self._begin()
        self._beginning = b""
        self._piece = min(FIRST_PIECE, self._largest_piece)
        self._identity: tuple[int, int] | None = None
        self._stamp: tuple[int, int] | None = None  # size and time of the last look
        self._refused = False  # no log that can be read; nothing but another file helps

    @property
    def position(self) -> int:
        """Offset up to which the log has been read."""
        return self._position

    def look(self) -> Iterator[Batch | Notice]:
        """All that is new since the last look, piece by piece; nothing when nothing has changed.

        Costs one `stat` when the file is as it was. A file that cannot be looked at is told of once.
        """
        try:
            found = os.stat(self.path)
            if not stat.S_ISREG(found.st_mode):
                # To open a pipe would wait for somebody who writes to it.
                raise OSError(errno.EINVAL, "it is not a regular file")
            changed = (found.st_dev, found.st_ino) != self._identity or _stamp(found) != self._stamp
            if not self._seen or changed:
                yield from self._changed()
            self._trouble = ""
        except FileNotFoundError:
            if self._seen:
                self._seen = False
                yield Notice("removed", f"{self.path.name} has been removed")
        except OSError as error:
            reason = error.strerror or str(error)
            if reason != self._trouble:
                self._trouble = reason
                yield Notice("unreadable", f"{self.path.name} cannot be read: {reason}")

    def newest(self) -> Iterator[tuple[Batch, ...]]:
        """The newest part of a big log: see `read_newest`. Nothing where the whole is there as soon."""
        if self._is_kept():
            return
        if self._process is not None:
            try:
                for frames in self._process.newest():
                    *_, size, modified = self._process.file()
                    unpacker = Unpacker()
                    with understood():
                        batches = tuple(unpacker.unpack(frame, size=size, modified=modified) for frame in frames)
                    yield batches
                return
            except Failed:
                self._give_up_process()
        yield from read_newest(self.path, fast=self._fast)

    def checkpoint(self) -> Checkpoint:
        """Where the reading of this log can go on."""
        return self._decoder.checkpoint(self._blocks.position, self._blocks.origin)

    def finish(self) -> Iterator[Batch]:
        """No more will come: what the end of the log still gives, and what of it cannot be read."""
        if not self._refused and (outcomes := self._blocks.finish()):
            size, modified = self._stamp or (0, 0)
            yield self._decoder.decode(Found.listed(outcomes), end=self._position, size=size, modified=modified / 1e9)

    def _changed(self) -> Iterator[Batch | Notice]:
        with open(self.path, "rb", buffering=0) as file:
            found = os.fstat(file.fileno())
            beginning = file.read(_BEGINNING)
            if notice := self._other_file(found, beginning):
                self._forget()
                yield notice
                yield _empty(found, reset=True)
            self._seen = self._ever_seen = True
            self._identity = (found.st_dev, found.st_ino)
            self._beginning = beginning
            if self._refused:
                self._stamp = _stamp(found)
                return
            if self._position - self._blocks.position <= _READ_AGAIN:
                self._position = self._blocks.rewind()
            before = self._position
            stored = self._cache.find(file) if self._cache and not before and self._is_big(found.st_size) else None
            if stored is not None:
                try:
                    yield from stored.batches(size=found.st_size, modified=found.st_mtime)
                    self._resume(stored.checkpoint)
                except (OSError, ValueError):
                    yield _empty(found, reset=True)
                    stored = None
            if self._cache and self._is_big(found.st_size - self._position):
                yield from self._read_and_keep(file, self._recording(file, stored))
            else:
                yield from self._read_on(file)
            found = os.fstat(file.fileno())
            self._stamp = self._position, found.st_mtime_ns
            self._give_up_process()
            if self._position == before and not self._refused:
                yield _empty(found, end=self._position)

    def _recording(self, file: FileIO, stored: Stored | None) -> Recording | None:
        """What keeps what is read from here on; None where what lies before would be missing from it."""
        assert self._cache is not None
        if self._position and stored is None:
            stored = self._cache.find(file)
        if (stored.checkpoint.position if stored is not None else 0) != self._position:
            return None
        return self._cache.record(file, stored)

    def _is_kept(self) -> bool:
        """Nearly all of the log is in the cache, from where it is had sooner than its newest part can be decoded."""
        with contextlib.suppress(OSError):
            if self._cache is None or not stat.S_ISREG(os.stat(self.path).st_mode):
                return False
            with open(self.path, "rb", buffering=0) as file:
                size = os.fstat(file.fileno()).st_size
                stored = self._cache.glance(file) if self._is_big(size) else None
            return stored is not None and size - stored.checkpoint.position < reader_process.SMALLEST
        return False

    def _is_big(self, size: int) -> bool:
        return self._cache is not None and size >= self._cache.smallest

    def _resume(self, checkpoint: Checkpoint) -> None:
        self._position = checkpoint.position
        self._blocks.resume(checkpoint.position, checkpoint.origin)
        self._decoder.resume(checkpoint)

    def _read_and_keep(self, file: FileIO, recording: Recording | None) -> Iterator[Batch | Notice]:
        try:
            yield from self._read_on(file, recording)
            if summary := self._decoder.take_summary():  # the log was cut short while it was read
                yield Batch(self._position, self._position, 0.0, summary=summary)
            elif recording is not None and not self._refused:
                recording.finish(self.checkpoint(), file)
        finally:
            if recording is not None:
                recording.abandon()

    def _read_on(self, file: FileIO, recording: Recording | None = None) -> Iterator[Batch | Notice]:
        """What follows in the open file, kept in `recording`."""
        size = os.fstat(file.fileno()).st_size - self._position
        if self._elsewhere and not self._position and size >= reader_process.SMALLEST and processors() > 1:
            yield from self._read_elsewhere(file, recording)
        elif size >= (self._division or Division(second_half.SMALLEST)).smallest and processors() > 1:
            yield from _kept(self._read_in_halves(file), recording)
        yield from _kept(self._read_to(file, None), recording)

    def _read_elsewhere(self, file: FileIO, recording: Recording | None) -> Iterator[Batch | Notice]:
        """All of a big log, decoded by another process; nothing where that does not work."""
        begun = False
        try:
            process = self._process = self._process or ReaderProcess(self.path)
            found = os.fstat(file.fileno())
            if process.file()[:2] != (found.st_dev, found.st_ino):
                return
            for _ in process.newest():
                pass  # nobody asked for it
            unpacker = Unpacker()
            for frame in process.frames():
                begun = True
                if recording is not None:
                    recording.add_packed(frame)
                found = os.fstat(file.fileno())
                with understood():
                    batch = unpacker.unpack(frame, size=found.st_size, modified=found.st_mtime)
                yield batch
            with understood():
                last = Checkpoint(**orjson.loads(process.next()))
            self._resume(last)
        except (Failed, OSError):
            if begun:
                if recording is not None:
                    recording.abandon()
                self._begin()
                yield _empty(os.fstat(file.fileno()), reset=True)
        finally:
            self._give_up_process()

    def _give_up_process(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.close()

    def _read_in_halves(self, file: FileIO) -> Iterator[Batch | Notice]:
        """The same, of a big log, with another process decoding the second half; less where that does not work."""
        records = self._decoder.checkpoint(self._position, 0).records
        yield from self._read_to(file, self._position + self._piece)  # which tells where blocks begin
        records = self._decoder.checkpoint(self._position, 0).records - records
        if self._refused or records < second_half.FEWEST:
            return
        if self._division is not None:
            yield from self._read_to(file, self._position + self._division.after)
        found = os.fstat(file.fileno())
        copied = self._division is not None and self._division.copied
        start = second_half.boundary(self._position, found.st_size, self._blocks.origin, copied=copied)
        if self._refused or start <= self._position:
            return
        bounds = start, found.st_size, self._blocks.origin
        work = partial(half_decoder.decode, self.path, *bounds) if copied else None
        try:
            second = SecondHalf(self.path, *bounds, work=work)
        except OSError:
            return
        begun = False
        try:
            yield from self._read_to(file, start)
            begins = second.begins()
            yield from self._read_to(file, begins)
            if self._blocks.position != begins:
                raise Failed
            summary = self._decoder.take_summary()
            yield Batch(begins, found.st_size, found.st_mtime, summary=summary)
            before = self._decoder.checkpoint(begins, self._blocks.origin)
            for item in half_decoder.batches(second, before, size=found.st_size, modified=found.st_mtime):
                begun = True
                if isinstance(item, Checkpoint):
                    self._resume(item)
                else:
                    yield item
        except Failed:
            if begun:
                self._begin()
                yield _empty(found, reset=True)
        finally:
            second.close()

    def _read_to(self, file: FileIO, end: int | None) -> Iterator[Batch | Notice]:
        """The next bytes of the open file, up to the offset `end` or all there are."""
        file.seek(self._position)
        while length := self._piece if end is None else min(self._piece, end - self._position):
            if length < 0 or not (data := file.read(length)):
                return
            try:
                found_records = self._blocks.feed_bulk(data)
            except UnsupportedLog as error:
                self._refused = True
                yield Notice("unsupported", str(error))
                return
            self._position += len(data)
            self._piece = min(self._piece * 2, self._largest_piece)
            found = os.fstat(file.fileno())
            parts = found_records.parts(PART)
            ends = [*(int(part.offsets[0]) for part in parts[1:]), self._position]
            for part, part_end in zip(parts, ends, strict=True):
                yield self._decoder.decode(part, end=part_end, size=found.st_size, modified=found.st_mtime)

    def _other_file(self, found: os.stat_result, beginning: bytes) -> Notice | None:
        name = self.path.name
        if not self._ever_seen:
            return None
        if not self._seen:
            return Notice("returned", f"{name} is back, reading it anew")
        if (found.st_dev, found.st_ino) != self._identity:
            return Notice("replaced", f"{name} has been replaced by another file, reading it anew")
        if found.st_size < self._position:
            return Notice("truncated", f"{name} has been cut short, reading it anew")
        if not beginning.startswith(self._beginning):
            return Notice("replaced", f"{name} has been written over, reading it anew")
        return None


def _kept(pieces: Iterator[Batch | Notice], recording: Recording | None) -> Iterator[Batch | Notice]:
    """The same pieces, kept in `recording` on their way."""
    for piece in pieces:
        if recording is not None and isinstance(piece, Batch):
            if piece.reset:
                recording.abandon()
            else:
                recording.add(piece)
        yield piece


def _stamp(found: os.stat_result) -> tuple[int, int]:
    return found.st_size, found.st_mtime_ns


def _empty(found: os.stat_result, *, end: int = 0, reset: bool = False) -> Batch:
    return Batch(end=end, size=found.st_size, modified=found.st_mtime, reset=reset)
