"""A run's model, fed from its log: the reader on a thread of its own, the model on the main loop."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from leet.model.run import Change, RunModel
from leet.reading.batch import Notice
from leet.reading.column_cache import ColumnCache
from leet.reading.tail import Tail, read
from leet.tui.intake import Intake

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
        self._tail = Tail(log, self.intake.deliver, cache=self._cache) if live else None
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
            self._seen = True
            yield self.model.apply(piece)
        unread = self.model.size - self.model.loaded_bytes
        if self._tail is None:
            self.loaded = self.intake.finished and not self.intake.waiting
        elif self._seen and unread <= LOADED_WITHIN and not self.intake.waiting:
            self.loaded = True

    @property
    def progress(self) -> float:
        """Share of the log that has been read, 0 to 1."""
        return min(1.0, self.model.loaded_bytes / self.model.size) if self.model.size else 0.0

    def _read_once(self) -> None:
        try:
            for piece in read(self.log, self._cache):
                self.intake.deliver(piece)
        except Exception as error:  # said on the screen; who waits for the end must not wait for ever
            self.intake.deliver(Notice("unreadable", f"reading {self.log.name} has stopped: {error!r}"))
        finally:
            self.intake.finish()
