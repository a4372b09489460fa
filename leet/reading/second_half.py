"""The second half of a big log, decoded by another process at the same time.

    this process    │ first half ─► batches │ what has come from the other process ─► batches │ what follows
    other process            │ second half ─► packed batches, checkpoint ─► pipe
                             ▲ `start`: a block begins here, and a little later a record, at `begins`

The other process begins with the first record behind a block boundary, as if it were the first of the log; this one
reads exactly up to there. What depends on earlier records is put right here: their number, and the time of console
text without one. If the two do not meet, or anything else goes wrong, this process reads on alone: that takes longer
and is all that can happen.

`half_decoder` is what the other process runs.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from leet.reading import frame_process
from leet.reading.frame_process import FrameProcess, Work
from recorder.transaction_log.framing import BLOCK

SMALLEST = 64 * 1024 * 1024
"""Bytes to read from which on another process is worth its start."""
FEWEST = 32
"""Records in the first piece of a log (`log_file.FIRST_PIECE`) below which it is not: of records with ten thousand
metrics each, most of the work is to learn their names, and both processes would have to."""
SHARE = 0.56
"""Share of the bytes that this process reads: the other one has to start first."""
COPY_SHARE = 0.52
"""The same where the other one is a copy of this process, which begins at once."""
_MODULE = "leet.reading.half_decoder"


class Division(NamedTuple):
    """Which logs are divided, and when."""

    smallest: int
    """Bytes from which on one is."""
    after: int = 0
    """Bytes that are read first."""
    copied: bool = False
    """A copy of this process reads the second half: for one without threads, see `frame_process`."""


class SecondHalf(FrameProcess):
    """Another process at work on a log from `start` to `end`, where blocks are counted from `origin`."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        start: int,
        end: int,
        origin: int,
        *,
        module: str = _MODULE,
        work: Work | None = None,
    ) -> None:
        """`module` is what the process runs, or `work` what it does: that writes frames as `half_decoder.decode` does.

        Raises OSError where no process can be started.
        """
        super().__init__(module, os.fspath(path), str(start), str(end), str(origin), work=work)
        self.start = start

    def begins(self) -> int:
        """Where its first record begins. Raises Failed."""
        return int.from_bytes(self.next(), "little")


def boundary(position: int, end: int, origin: int, *, copied: bool = False) -> int:
    """Where the second half begins: the start of a block."""
    share = COPY_SHARE if copied and frame_process.CAN_COPY else SHARE
    return position + int((end - position) * share) // BLOCK * BLOCK - (position - origin) % BLOCK
