"""A run's model, fed from its log: the reader on a thread of its own, the model on the main loop.

    reader ─► newest part of a big log ─► a model, which is shown at once
           ─► the log from its beginning ─► another model, not shown ─► becomes the model when all has been read
           ─► what is written after that ─► model

Points of a chart come in order, so what lies before the newest part cannot be put in front of it piece by piece.
Models that are not shown are filled on the thread of the reader: the loop has keys to answer.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from leet.model.run import Change, RunModel
from leet.reading.batch import Batch, Newest, Notice
from leet.reading.column_cache import ColumnCache
from leet.reading.log_file import LogFile
from leet.reading.tail import Tail
from leet.tui.intake import Intake, Piece, Ready

if TYPE_CHECKING:
    from leet.reading.reader_process import ReaderProcess
    from leet.remote.link import Link
    from leet.remote.remote_log import RemoteLog

DRAIN_SECONDS = 0.012
"""Longest stretch for which batches are applied before keys and paint get their turn."""
PROGRESS_SECONDS = 0.2
"""How often the loop is told how far a model is that is not shown yet."""
LOADED_WITHIN = 1 << 17
"""A log is loaded when no more than this many bytes are unread: the last record may be unfinished."""


class RunFeed:
    """Reads from `start` on; who calls `listen` is told when `drain` has something to do."""

    def __init__(
        self,
        log: Path,
        *,
        live: bool = True,
        remote: RemoteLog | None = None,
        process: ReaderProcess | None = None,
    ) -> None:
        """`remote`: what fetches the log, whose bytes are read from its mirror then; `process` reads it already."""
        self.asked = log
        """The path that was asked for."""
        self.log = log if remote is None else remote.path
        """The file that is read."""
        self.remote = remote
        self.model = RunModel(self.log)
        self.intake = Intake()
        self.loaded = False
        self.live = live
        self._cache = ColumnCache.of(self.log)
        deliver = self._deliver if remote is None else self._deliver_fetched
        # What is newest of a mirror is not what is newest of the log.
        newest = self._deliver_newest if remote is None else None
        follow = live or remote is not None  # what is fetched grows while it is read
        self._shown = threading.Event()
        self._tail: Tail | None = None
        if follow:
            self._tail = Tail(self.log, deliver, cache=self._cache, newest=newest, shown=self._shown, process=process)
        self._aside: RunModel | None = None
        """The model that is filled from the beginning while the newest part is shown."""
        self._turn = threading.Lock()
        """Held by the reader while it fills that one."""
        self._told = 0.0
        self._seen = False
        self._link_moved = False
        self._fetched: int | None = None
        """Bytes of the log when all of it had come for the first time."""

    def start(self) -> None:
        if self._tail is not None and self.remote is not None:
            self.remote.link.listen(self._link_changed)
            # How large the log is is known before anything of it is here.
            self.intake.deliver(Batch(end=0, size=self.remote.size, modified=self.remote.modified))
            self.remote.start(self._deliver_of_remote, self._tail.start)
        elif self._tail is not None:
            self._tail.start()
        else:
            threading.Thread(target=self._read_once, name=f"read {self.log.name}", daemon=True).start()

    def stop(self) -> None:
        if self._tail is not None:
            self._tail.stop()
        self.intake.close()
        self._shown.set()
        if self.remote is not None:
            self.remote.stop()

    def been_shown(self) -> None:
        """What has been read so far is on the screen: the rest of a big log may take the time that it takes."""
        self._shown.set()

    @property
    def remote_logs(self) -> Sequence[RemoteLog]:
        """What fetches the logs of the run; none for one that is here."""
        return () if self.remote is None else (self.remote,)

    @property
    def link(self) -> Link | None:
        """The line to the machine that the log is fetched from; None for a local one."""
        return self.remote.link if self.remote is not None else None

    def listen(self, announce: Callable[[], None]) -> None:
        """`announce` is called on the reader's thread."""
        self.intake.listen(announce)

    def drain(self, patience: float = 0.0) -> Iterator[Change]:
        """Apply what is waiting, for a moment (or comes within `patience` seconds); what each piece changed."""
        if self._link_moved:
            self._link_moved = False
            yield Change()
        for piece in self.intake.take(DRAIN_SECONDS, patience):
            yield from self._take(piece)
        if self._all_read:
            yield from self._reveal()
        elif self._aside is not None:
            yield Change()
        if self.loaded and not self.live and self._tail is not None:
            self._tail.stop()

    def _take(self, piece: Piece) -> Iterator[Change]:
        if isinstance(piece, Ready):
            yield self.model.become(piece.model)
        elif isinstance(piece, Newest):
            for batch in piece.batches:
                yield self.model.apply(batch)
        else:
            self._seen = True
            yield self.model.apply(piece)

    @property
    def _all_read(self) -> bool:
        if self.intake.waiting:
            return False
        if self._tail is None:
            return self.intake.finished
        return self._seen and _is_read(self._reading) and self._here

    @property
    def _reading(self) -> RunModel:
        """The model that is being filled."""
        return self._aside or self.model

    def _reveal(self) -> Iterator[Change]:
        """All has been read: show it in place of the newest part. Later, where the reader is still at it."""
        if self._turn.acquire(blocking=False):
            aside, self._aside = self._aside, None
            self._turn.release()
            self.loaded = True
            if aside is not None:
                yield self.model.become(aside)

    def _deliver_newest(self, piece: Newest) -> None:
        """The newest part of a log has been read (on the thread that reads or fetches)."""
        with self._turn:
            shown = self._aside is not None
            if not shown and not piece.further:
                self._aside = RunModel(self.log)
        if piece.further:
            # Of a log that is fetched there may be more of the newest part before the rest has come.
            if shown:
                self.intake.deliver(piece)
            return
        model = RunModel(self.log)
        for batch in piece.batches:
            self.intake.rest()
            model.apply(batch)
        self._prepare(model)
        self.intake.deliver(Ready(model))

    def _deliver(self, piece: Batch | Notice) -> None:
        """The next piece from the beginning of the log (reader's thread)."""
        self.intake.rest()
        with self._turn:
            if isinstance(piece, Batch) and piece.reset:
                self._aside = None  # all of it is to be forgotten
            aside = self._aside
            if aside is not None:
                aside.apply(piece)
                self._seen = True
                if done := _is_read(aside):
                    self._prepare(aside)
        if aside is None or isinstance(piece, Notice):
            self.intake.deliver(piece)
        elif done or monotonic() >= self._told:
            self._told = monotonic() + PROGRESS_SECONDS
            self.intake.tell()

    def _prepare(self, model: RunModel) -> None:
        """Make what the first look at a model of very many metrics would take long for."""
        for make in (model.metrics.names, model.summary.rows):
            self.intake.rest()
            make()

    def _deliver_of_remote(self, piece: Piece) -> None:
        """What is known of a log before it is here (the thread that fetches)."""
        if isinstance(piece, Newest):
            self._deliver_newest(piece)
        else:
            self.intake.deliver(piece)

    @property
    def progress(self) -> float:
        """Share of the log that has been read, 0 to 1."""
        reading = self._reading
        return min(1.0, reading.loaded_bytes / reading.size) if reading.size else 0.0

    @property
    def points(self) -> int:
        """Points of metrics that have been read."""
        return self._reading.points

    @property
    def _here(self) -> bool:
        """Of a log that is fetched, all that there was when it had come for the first time has been read."""
        if self.remote is not None and self._fetched is None and self.remote.link.complete:
            self._fetched = self.remote.size
        return self.remote is None or (self._fetched is not None and self._reading.loaded_bytes >= self._fetched)

    def _deliver_fetched(self, piece: Batch | Notice) -> None:
        """Size and time of a log that is fetched are those of the log, not of what is here of it (reader's thread)."""
        if isinstance(piece, Batch) and self.remote is not None and self.remote.size:
            piece = replace(piece, size=max(piece.size, self.remote.size), modified=self.remote.modified)
        self._deliver(piece)

    def _link_changed(self) -> None:
        """Called on the thread that fetches."""
        self._link_moved = True
        self.intake.tell()

    def _read_once(self) -> None:
        log = LogFile(self.log, cache=self._cache, elsewhere=True)
        try:
            if not self.log.exists():
                self._deliver(Notice("unreadable", f"{self.log.name} does not exist"))
            for batches in log.newest():
                self._deliver_newest(Newest(batches))
            for pieces in (log.look(), log.finish()):
                for piece in pieces:
                    self._deliver(piece)
        except Exception as error:  # said on the screen; who waits for the end must not wait for ever
            self._deliver(Notice("unreadable", f"reading {self.log.name} has stopped: {error!r}"))
        finally:
            self.intake.finish()


def _is_read(model: RunModel) -> bool:
    """Whether a model holds all of its log, but for a record that may be unfinished."""
    return model.size - model.loaded_bytes <= LOADED_WITHIN
