"""A log on another machine, fetched into its mirror from a thread of its own, as long as it is looked at.

    connect ─► is the mirror a copy of its beginning? else begin anew
            ─► much is missing: the newest part first, to be shown at once
            ─► what is missing, piece by piece; the newest bytes before the older ones
            ─► what is written from then on
    lost    ─► wait, longer each time ─► connect

Pieces are as large as what comes in about a second, so that a slow line is shown to move and a lost one costs little.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from tempfile import SpooledTemporaryFile

from leet.reading.batch import Batch, Newest
from leet.reading.blocks import UnsupportedLog
from leet.reading.newest import Ahead
from leet.remote.address import Address
from leet.remote.link import Link
from leet.remote.machine import Machine
from leet.remote.mirror import Mirror
from leet.remote.remote_file import Gone, Piece, ask_pieces, reason
from leet.remote.shell import Lost

SMALLEST_PIECE = 32 * 1024
LARGEST_PIECE = 4 * 1024 * 1024
PIECE_SECONDS = 0.8
"""How long the next piece should take at the present rate."""
GAP = 768 * 1024
"""Bytes missing from which on the newest part is fetched ahead of the rest."""
HEAD = 64 * 1024
AHEAD = (192 * 1024, 1024 * 1024, 3 * 1024 * 1024)
"""Bytes of the newest part: the next size is tried where there is no whole row in it."""
OVERLAP = 4096
"""Bytes at the end of the mirror that are held against the remote log."""
BEGINNING = 256
SHORTEST_POLL, LONGEST_POLL = 0.5, 3.0
"""Seconds between two looks at a log that grows, and at one that has not grown for long."""
PATIENCE = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0)
"""Seconds before each new attempt to connect; the last stays."""
_IN_MEMORY = 8 * 1024 * 1024


class RemoteLog:
    """One remote log and the mirror of it."""

    def __init__(
        self, machine: Machine, address: Address, *, folder: Path | None = None, own: bool = False, follow: bool = True
    ) -> None:
        """`own`: the connection ends with this one. `follow`: go on when all that there is has come.

        Raises OSError where there is no room for a mirror.
        """
        self.address = address
        self.link = Link(address)
        self.size = 0
        """Bytes of the remote log."""
        self.modified = 0.0
        """When it was last written, Unix seconds."""
        self.machine = machine
        self.own = own
        self._follow_on = follow
        self._mirror = Mirror(address, folder)
        self._inode = ""
        self._ahead: _Ahead | None = None
        self._newest: Callable[[Newest], None] | None = None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"fetch {address.host}", daemon=True)
        self._ready: Callable[[], None] = lambda: None
        self._begun = False
        self._rate = 0.0

    @property
    def path(self) -> Path:
        """The mirror: a local file that holds what has been fetched."""
        return self._mirror.path

    @property
    def name(self) -> str:
        return PurePosixPath(self.address.path).name

    def start(self, newest: Callable[[Newest], None], ready: Callable[[], None]) -> None:
        """Begin to fetch. `newest` is handed parts that were read ahead; `ready` is called before the rest comes.

        Both are called in the thread that fetches.
        """
        self._newest = newest
        self._ready = ready
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        if self.own:
            self.machine.close()

    def fetch(self, progress: Callable[[int, int], None] = lambda have, size: None) -> None:
        """Fetch what there is now, in the calling thread. Raises Lost and Gone."""
        self._check()
        while self._mirror.size < self.size:
            have = self._mirror.size
            progress(have, self.size)
            (piece,) = self._ask((have, self._length()))
            if self._is_other(piece) or piece.size < have:
                self._check()
            else:
                self._mirror.write(have, piece.data)
        self._mirror.date(self.modified)
        progress(self._mirror.size, self.size)

    def _run(self) -> None:
        failures = 0
        while not self._stopping.is_set():
            try:
                self.machine.connect()
                self._check()
                self._fetch_ahead()
                failures = 0
                self._begin_reading()
                self._follow()
                return
            except Lost as error:
                if self._stopping.is_set():
                    return
                self._begin_reading()
                wait = PATIENCE[min(failures, len(PATIENCE) - 1)]
                failures += 1
                self.link.lost(str(error), wait, refused=error.refused)
                self._stopping.wait(wait)
            except Gone as error:
                self._begin_reading()
                self.link.gone(f"{self.name}: {reason(str(error))}")
                self._stopping.wait(LONGEST_POLL)

    def _begin_reading(self) -> None:
        if not self._begun:
            # From here on the rest is read, and nothing can be shown ahead of it.
            self._begun = True
            self._ready()

    def _ask(self, *ranges: tuple[int, int]) -> list[Piece]:
        started = time.monotonic()
        pieces = ask_pieces(self.machine, self.address.path, *ranges, heard=self.link.heard)
        took = max(time.monotonic() - started, 1e-3)
        amount = sum(len(piece.data) for piece in pieces)
        if amount >= SMALLEST_PIECE // 2:
            self._rate = amount / took
        self.size, self.modified = pieces[-1].size, pieces[-1].modified or self.modified or time.time()
        return pieces

    def _length(self) -> int:
        return int(min(max(self._rate * PIECE_SECONDS, SMALLEST_PIECE), LARGEST_PIECE))

    def _check(self) -> None:
        """Find out whether the mirror is a copy of the log's beginning; begin anew where it is not."""
        have = self._mirror.size
        beginning = min(BEGINNING, have)
        last = max(0, have - OVERLAP)
        first_piece, last_piece = self._ask((0, beginning), (last, have - last))
        same = first_piece.data == self._mirror.read(0, beginning) and last_piece.data == self._mirror.read(
            last, have - last
        )
        if self._ahead is not None and not (same and self._ahead.fits(last_piece)):
            self._ahead = None
        if not same:
            self._mirror.begin_anew()
        self._inode = last_piece.inode

    def _fetch_ahead(self) -> None:
        """Fetch the newest part, and show it, if the rest will take long."""
        have = self._mirror.size
        if self._begun or self._newest is None or self.size - have < GAP:
            return
        if have < HEAD:
            (piece,) = self._ask((have, HEAD - have))
            self._mirror.write(have, piece.data)
        try:
            reading = Ahead(self._mirror.read(0, HEAD), self.size, self.modified)
        except UnsupportedLog:  # whoever reads the whole log says so
            return
        end = self.size
        data = b""
        for length in AHEAD:
            start = reading.start(length)
            if start <= self._mirror.size:
                return
            (piece,) = self._ask((start, end - len(data) - start))
            if piece.inode != self._inode:
                return
            data = piece.data + data
            tail = reading.begin(start, data)
            if tail.history is not None:
                self._ahead = _Ahead(reading, start, data, piece.inode)
                self._newest(Newest((reading.head, tail)))
                return

    def _follow(self) -> None:
        """Fetch until the connection or the log is gone, or all has come that was to come."""
        poll = SHORTEST_POLL
        before = (-1, 0.0)
        looked = 0.0
        while not self._stopping.is_set():
            ahead = self._ahead
            if ahead is not None and time.monotonic() - looked > SHORTEST_POLL:
                looked = time.monotonic()
                (piece,) = self._ask((ahead.end, self._length()))
                if self._is_other(piece) or piece.size < ahead.end:
                    self._check()
                    continue
                if piece.data and self._newest is not None:
                    self._newest(Newest((ahead.add(piece),), further=True))
            have = self._mirror.size
            length = self._length() if ahead is None else min(self._length(), ahead.start - have)
            (piece,) = self._ask((have, length))
            written_over = piece.size == before[0] == have and piece.modified != before[1]
            before = piece.size, piece.modified
            if self._is_other(piece) or piece.size < have or written_over:
                self._check()
            else:
                self._mirror.write(have, piece.data)
            if ahead is not None and self._ahead is ahead and self._mirror.size >= ahead.start:
                for offset, data in ahead.pieces():
                    self._mirror.write(offset, data)
                self._ahead = None
            self.link.fetched(self._mirror.size, self.size, seen=self._ahead.end if self._ahead is not None else None)
            if piece.data:
                poll = SHORTEST_POLL
            if self._mirror.size >= self.size:
                self._mirror.date(self.modified)
                if not self._follow_on:
                    return
                self._stopping.wait(poll)
                poll = min(poll * 1.3, LONGEST_POLL)

    def _is_other(self, piece: Piece) -> bool:
        return piece.inode != self._inode


class _Ahead:
    """The newest part of a log: bytes that cannot be put into the mirror yet."""

    def __init__(self, reading: Ahead, start: int, data: bytes, inode: str) -> None:
        self.start = start
        self.end = start
        self._reading = reading
        self._inode = inode
        self._kept = SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115  lives as long as this
        self._keep(data)

    def add(self, piece: Piece) -> Batch:
        """Keep the bytes that follow; what they hold."""
        self._keep(piece.data)
        return self._reading.further(piece.data, piece.size, piece.modified)

    def fits(self, piece: Piece) -> bool:
        """Whether the log is still the one that this is a part of."""
        return piece.inode == self._inode and piece.size >= self.end

    def pieces(self) -> Iterator[tuple[int, bytes]]:
        """All that is kept: offset and bytes."""
        offset = self.start
        self._kept.seek(0)
        while data := self._kept.read(LARGEST_PIECE):
            yield offset, data
            offset += len(data)

    def _keep(self, data: bytes) -> None:
        self._kept.write(data)
        self.end += len(data)
