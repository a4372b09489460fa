"""A run's model, fed from its log: the reader on a thread of its own, the model on the main loop.

    reader ─► newest part of a big log ─► model                          on the screen at once
           ─► the log from its beginning ─► another model, not shown ─► becomes the model when all has been read
           ─► what is written after that ─► model

Points of a chart come in order, so what lies before the newest part cannot be put in front of it piece by piece.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from leet.model.run import Change, RunModel
from leet.reading.batch import Batch, Newest, Notice
from leet.reading.column_cache import ColumnCache
from leet.reading.tail import Tail, read
from leet.tui.intake import Intake, Piece

DRAIN_SECONDS = 0.012
"""Longest stretch for which batches are applied before keys and paint get their turn."""
LOADED_WITHIN = 1 << 17
"""A log is loaded when no more than this many bytes are unread: the last record may be unfinished."""


class RunFeed:
    """Reads from `start` on; who calls `listen` is told when `drain` has something to do."""

    def __init__(self, log: Path, *, live: bool = True) -> None:
        self.log = log
        self.model = RunModel(log)
        self.intake = Intake()
        self.loaded = False
        self.live = live
        self._cache = ColumnCache.of(log)
        deliver = self.intake.deliver
        self._tail = Tail(log, deliver, cache=self._cache, newest=deliver) if live else None
        self._behind: RunModel | None = None
        """The model that reads from the beginning while the newest part is shown."""
        self._seen = False

    def start(self) -> None:
        if self._tail is not None:
            self._tail.start()
        else:
            threading.Thread(target=self._read_once, name=f"read {self.log.name}", daemon=True).start()

    def stop(self) -> None:
        if self._tail is not None:
            self._tail.stop()
        self.intake.close()

    def listen(self, announce: Callable[[], None]) -> None:
        """`announce` is called on the reader's thread."""
        self.intake.listen(announce)

    def drain(self, patience: float = 0.0) -> Iterator[Change]:
        """Apply what is waiting, for a moment (or comes within `patience` seconds); what each piece changed."""
        for piece in self.intake.take(DRAIN_SECONDS, patience):
            yield from self._take(piece)
        unread = self._reading.size - self._reading.loaded_bytes
        if self._tail is None:
            self.loaded = self.intake.finished and not self.intake.waiting
        elif self._seen and unread <= LOADED_WITHIN and not self.intake.waiting:
            self.loaded = True
        if self.loaded and self._behind is not None:
            yield self._reveal()

    def _take(self, piece: Piece) -> Iterator[Change]:
        if isinstance(piece, Newest):
            self._behind = RunModel(self.log)
            for batch in piece.batches:
                yield self.model.apply(batch)
            return
        self._seen = True
        if isinstance(piece, Batch) and piece.reset and self._behind is not None:
            yield self._reveal()
        change = self._reading.apply(piece)
        yield change if self._behind is None else Change(notice=change.notice)

    @property
    def _reading(self) -> RunModel:
        """The model that is being filled."""
        return self._behind or self.model

    def _reveal(self) -> Change:
        """Show all that has been read in place of the newest part."""
        assert self._behind is not None
        behind, self._behind = self._behind, None
        return self.model.become(behind)

    @property
    def progress(self) -> float:
        """Share of the log that has been read, 0 to 1."""
        reading = self._reading
        return min(1.0, reading.loaded_bytes / reading.size) if reading.size else 0.0

    @property
    def points(self) -> int:
        """Points of metrics that have been read."""
        return self._reading.points

    def _read_once(self) -> None:
        try:
            for piece in read(self.log, self._cache):
                self.intake.deliver(piece)
        except Exception as error:  # said on the screen; who waits for the end must not wait for ever
            self.intake.deliver(Notice("unreadable", f"reading {self.log.name} has stopped: {error!r}"))
        finally:
            self.intake.finish()
