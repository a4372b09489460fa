"""The second half of a big log, decoded by another process at the same time.

    this process    │ first half ─► batches │ what has come from the other process ─► batches │ what follows
    other process            │ second half ─► packed batches, checkpoint ─► pipe
                             ▲ `start`: a block begins here, and a little later a record, at `begins`

The other process begins with the first record behind a block boundary, as if it were the first of the log; this one
reads exactly up to there. What depends on earlier records is put right here: their number, and the time of console
text without one. If the two do not meet, or anything else goes wrong, this process reads on alone: that takes longer
and is all that can happen.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import IO

import orjson

from leet.reading.batch import Batch, ConsolePiece, Entry
from leet.reading.batch_bytes import Packer, Unpacker
from leet.reading.blocks import WITHOUT_START
from leet.reading.bulk_blocks import BulkBlockReader, Found
from leet.reading.column_cache import Checkpoint
from leet.reading.decoder import Decoder
from leet.reading.frame_process import Failed, FrameProcess, write_frame
from recorder.transaction_log.framing import BLOCK

SMALLEST = 64 * 1024 * 1024
"""Bytes to read from which on another process is worth its start."""
FEWEST = 32
"""Records in the first piece of a log (`log_file.FIRST_PIECE`) below which it is not: of records with ten thousand
metrics each, most of the work is to learn their names, and both processes would have to."""
SHARE = 0.56
"""Share of the bytes that this process reads: the other one has to start first."""
_PIECE = 2 * 1024 * 1024


class SecondHalf(FrameProcess):
    """Another process at work on a log from `start` to `end`, where blocks are counted from `origin`."""

    def __init__(
        self, path: str | os.PathLike[str], start: int, end: int, origin: int, *, module: str = __name__
    ) -> None:
        """`module` is what the process runs: it writes frames as `decode` does."""
        super().__init__(module, os.fspath(path), str(start), str(end), str(origin))
        self.start = start

    def begins(self) -> int:
        """Where its first record begins. Raises Failed."""
        return int.from_bytes(self.next(), "little")

    def batches(self, before: Checkpoint, *, size: int, modified: float) -> Iterator[Batch | Checkpoint]:
        """Its batches, put behind what was read `before`, and the checkpoint at its end. Raises Failed midway."""
        unpacker = Unpacker()
        untimed = True
        for frame in self.frames():
            batch = unpacker.unpack(frame, size=size, modified=modified)
            console = batch.console
            if untimed and console:
                console = tuple(_timed(piece, before.console_time) for piece in console)
                untimed = not any(piece.timestamp for piece in batch.console)
            entries = tuple(Entry(before.records + e.ordinal, e.offset, e.kind, e.message) for e in batch.entries)
            yield replace(batch, entries=entries, console=console)
        last = Checkpoint(**orjson.loads(self.next()))
        yield replace(
            last,
            records=before.records + last.records,
            console_time=last.console_time or before.console_time,
        )


def _timed(piece: ConsolePiece, time: float) -> ConsolePiece:
    return piece if piece.timestamp else ConsolePiece(piece.stream, time, piece.text)


def decode(path: str, start: int, end: int, origin: int, out: IO[bytes]) -> None:
    """What the other process does: decode the log from `start` to `end`, and write to `out`.

    Frames of a length and so many bytes: where the first record begins; each batch; nothing; the checkpoint.
    """
    reader, decoder, packer = BulkBlockReader(origin), Decoder(), Packer()
    for found, position in pieces(reader, path, start, end, out):
        batch = decoder.decode(found, end=position, size=end, modified=0.0)
        if decoder.guessed_first_step:
            raise Failed
        write_frame(out, packer.pack(batch))
    write_frame(out, b"")
    write_frame(out, orjson.dumps(asdict(decoder.checkpoint(reader.position, reader.origin))))


def pieces(
    reader: BulkBlockReader, path: str, start: int, end: int, out: IO[bytes], size: int = _PIECE
) -> Iterator[tuple[Found, int]]:
    """The records of a log from `start` to `end`, `size` bytes at a time, and up to where it has been read.

    `out` is told where they begin.

    Raises Failed where there are none.
    """
    reader.resume(start, reader.origin)
    position, begun = start, False
    with open(path, "rb", buffering=0) as file:
        file.seek(start)
        while position < end and (data := file.read(min(size, end - position))):
            found = reader.feed_bulk(data)
            position += len(data)
            if not begun:
                found = _from_first_record(found)
                if not len(found.messages):
                    continue
                write_frame(out, int(found.offsets[0]).to_bytes(8, "little"))
                begun = True
            yield found, position
    if not begun:
        raise Failed


def _from_first_record(found: Found) -> Found:
    """Without what is left of a record that began earlier. Raises Failed where anything else is amiss before it."""
    first = int(found.offsets[0]) if len(found.offsets) else sys.maxsize
    if any(piece.reason != WITHOUT_START for piece in found.skipped if piece.offset < first):
        raise Failed
    return replace(found, skipped=tuple(piece for piece in found.skipped if piece.offset > first))


def boundary(position: int, end: int, origin: int) -> int:
    """Where the second half begins: the start of a block."""
    return position + int((end - position) * SHARE) // BLOCK * BLOCK - (position - origin) % BLOCK


if __name__ == "__main__":
    with contextlib.suppress(Failed, OSError):
        decode(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.stdout.buffer)
