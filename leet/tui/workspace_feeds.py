"""The logs of the selected runs, read a few at a time.

    wanted (most urgent first) ─► two are read at once ─► ShownRun of each, kept while wanted and a little longer
                                  live ones stay open        deselected: let go after `KEPT_SECONDS`

What has ended is read once and then costs no thread; when its log grows after all, it is read anew, unseen until then.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from leet.model.run import Change, RunModel
from leet.model.run_entry import RunEntry
from leet.model.state import RunState
from leet.reading.batch import Batch, Newest, Notice
from leet.reading.column_cache import ColumnCache
from leet.reading.tail import read
from leet.tui.facts import Sections
from leet.tui.feed import RunFeed
from leet.tui.intake import Piece
from leet.tui.shown_run import ShownRun
from leet.tui.widgets.overview_sections import Row, Section

if TYPE_CHECKING:
    from leet.remote.remote_log import RemoteLog

AT_ONCE = 2
"""Logs that are read to their end at the same time."""
KEPT_SECONDS = 60.0
"""How long a run that is no longer wanted stays in memory: one who changes their mind need not wait."""
ENDED_SECONDS = 30.0
"""How long after its last write a run that has ended is still followed."""
DRAIN_SECONDS = 0.016
"""Longest stretch for which batches of all runs are applied before keys and paint get their turn."""


@dataclass(frozen=True, slots=True)
class NextPart(Notice):
    """What follows comes from the next log of the run."""


class JoinedFeed(RunFeed):
    """A run that was resumed, and so has several logs: their rows come one after the other into one model."""

    def __init__(self, parts: Sequence[Path], *, live: bool = True, remote: RemoteLog | None = None) -> None:
        """`parts`: the logs, oldest first; `remote` fetches the last."""
        super().__init__(parts[-1], live=live, remote=remote)
        self._earlier = tuple(parts[:-1])
        self._left = len(self._earlier)
        self.model.media.begin(self._earlier[0], 0)
        self._stopped = False

    def start(self) -> None:
        threading.Thread(target=self._read_parts, name=f"read parts of {self.log.name}", daemon=True).start()

    def stop(self) -> None:
        self._stopped = True
        super().stop()

    def _read_parts(self) -> None:
        for part in self._earlier:
            try:
                for piece in read(part, ColumnCache.of(part)):
                    if self._stopped:
                        return
                    if isinstance(piece, Batch):
                        self.intake.deliver(piece)
            except Exception as error:  # whatever an old part has, the rest of the run is worth seeing
                self.intake.deliver(Notice("unreadable", f"reading {part.name} has stopped: {error!r}"))
            self.intake.deliver(NextPart("returned", ""))
        if not self._stopped:
            super().start()

    def _deliver_newest(self, piece: Newest) -> None:
        """Earlier rows cannot be put in front of the newest part of the last log: it is not shown by itself."""

    def _take(self, piece: Piece) -> Iterator[Change]:
        if isinstance(piece, NextPart):
            self._left -= 1
            following = self._earlier[-self._left] if self._left else self.log
            self.model.media.begin(following, self.model.rows)
            # How an earlier part ended says nothing about the run.
            self.model.exit_code = self.model.exit_runtime = None
        elif self._left and isinstance(piece, Batch | Notice):
            yield self.model.apply(piece)
        else:
            yield from super()._take(piece)


class FeedOf(Protocol):
    def __call__(self, entry: RunEntry, *, live: bool) -> RunFeed: ...


def feed_of(entry: RunEntry, *, live: bool) -> RunFeed:
    """What reads a run: all of its parts. `live`: follow its log as it grows."""
    return JoinedFeed(entry.parts, live=live) if len(entry.parts) > 1 else RunFeed(entry.log, live=live)


class PartsSections(Sections):
    """The sections of a run that was resumed: of how many logs it is made."""

    def __init__(self, model: RunModel, parts: int, others: int = 0) -> None:
        super().__init__(model, others)
        self._parts = parts

    def now(self, state: RunState) -> list[Section]:
        head, *others = super().now(state)
        row = Row("parts", f"{self._parts} logs (resumed)")
        return [Section(head.title, [*head.rows, row], head.weight), *others]


class KnownSections(Sections):
    """The sections of which something is known: that others are empty would be no more than a guess."""

    def __init__(self, model: RunModel, entry: RunEntry) -> None:
        super().__init__(model)
        self._entry = entry

    def now(self, state: RunState) -> list[Section]:
        head, *others = super().now(state)
        rows = list(head.rows)
        if self._entry.step is not None:
            rows.append(Row("step", f"{self._entry.step:,}"))
        if len(self._entry.parts) > 1:
            rows.append(Row("parts", f"{len(self._entry.parts)} logs (resumed)"))
        return [Section(head.title, rows, head.weight), *(section for section in others if section.rows)]


class Peeked(ShownRun):
    """A run that nobody has opened: what the list knows of it, as a model without rows."""

    def __init__(self, entry: RunEntry, clock: Callable[[], float]) -> None:
        feed = RunFeed(entry.log, live=False)
        feed.loaded = True
        self.entry = entry
        _fill(feed.model, entry)
        super().__init__(feed, clock)
        self.sections = KnownSections(self.model, entry)

    @property
    def state(self) -> RunState:
        return self.entry.state(self._time())


def _fill(model: RunModel, entry: RunEntry) -> None:
    identity = model.identity
    identity.run_id, identity.entity, identity.project = entry.run_id, entry.entity, entry.project
    identity.display_name = entry.name if entry.name != entry.run_id else ""
    identity.group, identity.job_type, identity.notes = entry.group, entry.job_type, entry.notes
    identity.tags, identity.host, identity.start_time = entry.tags, entry.host, entry.started
    for key, text in entry.config.items():
        model.config.assign((key,), text)
    for key, value in entry.summary.items():
        model.summary.assign((key,), value)
    if entry.runtime is not None:
        model.exit_runtime = entry.runtime
    model.exit_code = entry.exit_code
    model.size = model.loaded_bytes = entry.size
    model.modified = entry.modified


def _parts_read(feed: RunFeed) -> int:
    """How many logs of its run a feed reads."""
    return len(feed._earlier) + 1 if isinstance(feed, JoinedFeed) else 1


class RunFeeds:
    """The runs that are being read or have been."""

    def __init__(
        self,
        announce: Callable[[], None],
        clock: Callable[[], float],
        *,
        live: bool = True,
        feed_of: FeedOf = feed_of,
    ) -> None:
        """`announce` is called on threads of readers when `drain` has something to do; `clock` gives Unix seconds.

        `live=False`: read every log once, whatever its run does (pictures). `feed_of` makes what reads a run.
        """
        self._feed_of = feed_of
        self._announce = announce
        self._clock = clock
        self._live = live
        self._wanted: dict[str, RunEntry] = {}
        self._pending: deque[str] = deque()
        """Wanted runs that nobody has begun to read, the most urgent first."""
        self._runs: dict[str, ShownRun] = {}
        self._reading: set[str] = set()
        """Runs that have not been read to their end."""
        self._following: set[str] = set()
        """Runs that have, and may grow."""
        self._renewed: dict[str, ShownRun] = {}
        """Runs that are read anew, to be shown when all of them has been read."""
        self._lent: set[str] = set()
        self._adopted: dict[Path, ShownRun] = {}
        self._let_go: dict[str, float] = {}
        """Key → when it was no longer wanted, on the monotonic clock."""
        self._turn = 0

    def want(self, entries: Sequence[RunEntry]) -> None:
        """Read these, the most urgent first; what is not among them may go."""
        self._wanted = {entry.key: entry for entry in entries}
        now = time.monotonic()
        for key in [key for key in self._runs if key not in self._wanted and key not in self._lent]:
            if key in self._reading:
                self._drop(key)
            else:
                self._let_go.setdefault(key, now)
        for key in self._let_go.keys() & self._wanted.keys():
            del self._let_go[key]
        self._pending = deque(key for key in self._wanted if key not in self._runs)
        self._start()

    def get(self, key: str) -> ShownRun | None:
        """A run that is in memory; None where reading it has not begun."""
        return self._runs.get(key)

    @property
    def left(self) -> int:
        """Wanted runs that have not been read to their end."""
        return len(self._pending) + len(self._reading & self._wanted.keys())

    @property
    def progress(self) -> float:
        """How far the furthest of those is that are being read, 0 to 1."""
        return max((self._runs[key].feed.progress for key in self._reading), default=0.0)

    def lend(self, entry: RunEntry) -> ShownRun:
        """A run for a screen of its own, which reads on by itself until `take_back`."""
        run = self._runs.get(entry.key) or self._open(entry)
        self._lent.add(entry.key)
        self._let_go.pop(entry.key, None)
        return run

    @property
    def lent(self) -> bool:
        """A run is on a screen of its own."""
        return bool(self._lent)

    def take_back(self) -> None:
        """What was lent is read here again."""
        for key in self._lent:
            if (run := self._runs.get(key)) is not None:
                self._note_loaded(key, run)
                run.feed.listen(self._announce)
        self._lent.clear()
        self.want(list(self._wanted.values()))

    def adopt(self, log: Path, run: ShownRun) -> None:
        """A run that has been read elsewhere, to be used when its log is wanted."""
        self._adopted[log.resolve()] = run

    def entry_changed(self, entry: RunEntry) -> None:
        """The log of a run has grown, or has another part: read it anew if nobody reads on."""
        run = self._runs.get(entry.key)
        if run is None or entry.key in self._lent or entry.key in self._renewed or not self._live:
            return
        feed = run.feed
        if feed.asked != entry.log or (not feed.live and feed.loaded and entry.size > run.model.size):
            self._renewed[entry.key] = self._started(entry)

    def rename(self, old: str, entry: RunEntry) -> None:
        """A run is called by another key now, that of its newest part; its rows stay until all parts have been read."""
        for keys in (self._reading, self._following, self._lent):
            if old in keys:
                keys.remove(old)
                keys.add(entry.key)
        if (run := self._runs.pop(old, None)) is not None:
            self._runs[entry.key] = run
            self.entry_changed(entry)

    def drain(self) -> list[tuple[str, Change]]:
        """Apply what is waiting, for a moment: (key, what it changed)."""
        changes: list[tuple[str, Change]] = []
        end = time.perf_counter() + DRAIN_SECONDS
        active = self._active()
        self._turn = (self._turn + 1) % max(1, len(active))
        for key, run in active[self._turn :] + active[: self._turn]:
            was_loaded = run.feed.loaded
            changes += [(key, change) for change in run.drain()]
            if run.feed.loaded and not was_loaded:
                changes.append((key, Change(overview=True)))
                if self._renewed.get(key) is run:
                    self._replace(key, run)
                else:
                    self._note_loaded(key, run)
            if time.perf_counter() >= end:
                break
        self._start()
        return changes

    @property
    def waiting(self) -> bool:
        """There is more to drain."""
        return any(
            run.feed.intake.waiting or (run.feed.intake.finished and not run.feed.loaded) for _, run in self._active()
        )

    def rest(self) -> None:
        """From time to time: let go of what has not been wanted for a while, and stop following what has ended."""
        now = time.monotonic()
        for key in [key for key, since in self._let_go.items() if now - since > KEPT_SECONDS]:
            self._drop(key)
        for key in self._following - self._lent:
            run = self._runs[key]
            if run.model.exit_code is not None and self._clock() - run.model.modified > ENDED_SECONDS:
                run.feed.stop()
                run.feed.live = False
                self._following.discard(key)

    def stop(self) -> None:
        for run in (*self._runs.values(), *self._renewed.values(), *self._adopted.values()):
            run.feed.stop()

    def _active(self) -> list[tuple[str, ShownRun]]:
        """The runs that may have something to drain."""
        keys = (self._reading | self._following) - self._lent
        return [*self._renewed.items(), *((key, self._runs[key]) for key in keys)]

    def _start(self) -> None:
        """Begin with the next wanted runs, as many as may be read at a time."""
        while self._pending and len(self._reading - self._lent) < AT_ONCE:
            key = self._pending.popleft()
            if key not in self._runs:
                self._open(self._wanted[key])

    def _open(self, entry: RunEntry) -> ShownRun:
        run = None
        read = self._adopted.get(entry.log.resolve())
        if read is not None and _parts_read(read.feed) == len(entry.parts):
            run = self._adopted.pop(entry.log.resolve())
        if run is None:
            run = self._started(entry)
        else:
            run.feed.listen(self._announce)
        self._runs[entry.key] = run
        self._reading.add(entry.key)
        self._note_loaded(entry.key, run)
        return run

    def _note_loaded(self, key: str, run: ShownRun) -> None:
        """Whether it has been read to its end is known anew."""
        if run.feed.loaded:
            self._reading.discard(key)
            if run.feed.live:
                self._following.add(key)

    def _started(self, entry: RunEntry) -> ShownRun:
        live = self._live and (not entry.known or entry.state(self._clock()).live)
        run = ShownRun(self._feed_of(entry, live=live), self._clock)
        if len(entry.parts) > 1:
            run.sections = PartsSections(run.model, len(entry.parts))
        run.feed.start()
        run.feed.listen(self._announce)
        return run

    def _replace(self, key: str, run: ShownRun) -> None:
        """What has been read anew takes the place of what was there."""
        del self._renewed[key]
        self._drop(key)
        self._runs[key] = run
        self._reading.add(key)
        self._note_loaded(key, run)

    def _drop(self, key: str) -> None:
        self._let_go.pop(key, None)
        self._reading.discard(key)
        self._following.discard(key)
        for run in (self._runs.pop(key, None), self._renewed.pop(key, None)):
            if run is not None:
                run.feed.stop()
