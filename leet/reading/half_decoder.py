"""What the process does that decodes the second half of a log, and what is made of that here: see `second_half`."""

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
from leet.reading.frame_process import Failed, understood, write_frame
from leet.reading.second_half import SecondHalf

_PIECES = 256
_SMALLEST_PIECE = 1024 * 1024
_LARGEST_PIECE = 4 * 1024 * 1024


def batches(second: SecondHalf, before: Checkpoint, *, size: int, modified: float) -> Iterator[Batch | Checkpoint]:
    """Its batches, put behind what was read `before`, and the checkpoint at its end. Raises Failed midway."""
    unpacker = Unpacker()
    untimed = True
    for frame in second.frames():
        with understood():
            batch = unpacker.unpack(frame, size=size, modified=modified)
        console = batch.console
        if untimed and console:
            console = tuple(_timed(piece, before.console_time) for piece in console)
            untimed = not any(piece.timestamp for piece in batch.console)
        entries = tuple(Entry(before.records + e.ordinal, e.offset, e.kind, e.message) for e in batch.entries)
        yield replace(batch, entries=entries, console=console)
    with understood():
        last = Checkpoint(**orjson.loads(second.next()))
    yield replace(
        last,
        records=before.records + last.records,
        console_time=last.console_time or before.console_time,
    )


def _timed(piece: ConsolePiece, time: float) -> ConsolePiece:
    return piece if piece.timestamp else ConsolePiece(piece.stream, time, piece.text)


def decode(path: str | os.PathLike[str], start: int, end: int, origin: int, out: IO[bytes]) -> None:
    """What the other process does: decode the log from `start` to `end`, and write to `out`.

    Frames of a length and so many bytes: where the first record begins; each batch; nothing; the checkpoint.
    """
    reader, decoder, packer = BulkBlockReader(origin), Decoder(), Packer()
    for found, position in pieces(reader, path, start, end, out, piece_of(end)):
        batch = decoder.decode(found, end=position, size=end, modified=0.0)
        if decoder.guessed_first_step:
            raise Failed
        write_frame(out, packer.pack(batch))
    if summary := decoder.take_summary():  # the log was cut short while it was read
        write_frame(out, packer.pack(Batch(position, end, 0.0, summary=summary)))
    write_frame(out, b"")
    write_frame(out, orjson.dumps(asdict(decoder.checkpoint(reader.position, reader.origin))))


def piece_of(size: int) -> int:
    """Bytes of a log of `size` to decode at a time.

    Large pieces are faster and take ten times their size for work: that is to stay little beside the columns.
    """
    return min(max(size // _PIECES, _SMALLEST_PIECE), _LARGEST_PIECE)


def pieces(
    reader: BulkBlockReader, path: str | os.PathLike[str], start: int, end: int, out: IO[bytes], size: int
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


if __name__ == "__main__":
    with contextlib.suppress(Failed, OSError):
        decode(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.stdout.buffer)
