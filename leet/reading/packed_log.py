"""A log as frames on standard output: what the process does that reads it for another one (see `reader_process`)."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from dataclasses import asdict
from typing import IO

import orjson

from leet.reading.batch import Batch
from leet.reading.batch_bytes import Packer
from leet.reading.frame_process import Failed, write_frame
from leet.reading.half_decoder import piece_of
from leet.reading.log_file import LogFile
from leet.reading.reader_process import pack_file
from leet.reading.second_half import Division

_DIVISION = Division(128 * 1024 * 1024, after=24 * 1024 * 1024, copied=True)
"""Where a third process is worth its memory; and not before there is a picture, for that needs the time."""
_BEHIND = 5
"""How much this process, and a third one, stand back behind the newest part: keys are answered by the one that draws,
and all the load takes no longer for that."""


def write_log(path: str, out: IO[bytes], *, newest: bool = False) -> None:
    """Write which file it is, with `newest` its newest part, its batches and a checkpoint; empty frames between them.

    Raises Failed where somebody else had better look at the log, and OSError.
    """
    found = os.stat(path)
    log = LogFile(path, piece_of(found.st_size), division=_DIVISION)
    write_frame(out, pack_file(found))
    if newest:
        for batches in log.newest():
            packer = Packer()
            for batch in batches:
                write_frame(out, packer.pack(batch))
            write_frame(out, b"")
        write_frame(out, b"")
        os.nice(_BEHIND)
    packer = Packer()
    for piece in log.look():
        if not isinstance(piece, Batch) or piece.reset:
            raise Failed
        write_frame(out, packer.pack(piece))
    write_frame(out, b"")
    write_frame(out, orjson.dumps(asdict(log.checkpoint())))


if __name__ == "__main__":
    gc.disable()  # nothing here is in cycles, and the process does not last
    with contextlib.suppress(Failed, OSError):
        write_log(sys.argv[1], sys.stdout.buffer, newest=sys.argv[2:] == ["newest"])
