"""What a log says of its run at a glance: who it is, how it was configured, how far it has come, how it ended.

    log   │ head │                      …                      │ tail │
            ╰ run, config, environment                           ╰ last rows, summary, exit record

Of a short log that is all of it, and of a long one enough to list it among thousands of others. What a list cannot
show without reading everything is left to whoever opens the run: changes of the config and keys of the summary that
are neither in the head nor in the tail. A growing log is read on from where the last look ended.

This module knows no numpy, so that a process which looks at many logs is quick to start.
"""

from __future__ import annotations

import math
import os
import stat
from collections import deque
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from leet.reading.blocks import BlockReader, RawRecord, Skipped, UnsupportedLog
from leet.reading.logged_values import number_of
from leet.reading.peek_items import Change
from leet.reading.peek_records import (
    CONFIG,
    ENVIRONMENT,
    EXIT,
    HISTORY,
    OUTPUT,
    OUTPUT_LOGGER,
    OUTPUT_RAW,
    RUN,
    STATS,
    SUMMARY,
    Row,
    Superseded,
    changes_of,
    kind_and_place,
    kind_of,
    parsed,
    path_of,
    row_of,
)
from recorder.transaction_log.framing import BLOCK

if TYPE_CHECKING:  # its module loads numpy
    from leet.reading.batch import KeyPath

__all__ = ["Change", "Peek", "Row", "peek"]

HEAD = 64 * 1024
"""Bytes read of the beginning; more where the record that names the run is longer."""
LARGEST_HEAD = 4 * 1024 * 1024
TAIL = 64 * 1024
"""Bytes read of the end, from a block boundary on; more where they do not hold a whole row of history."""
LARGEST_TAIL = 8 * 1024 * 1024
FURTHER = 1024 * 1024
"""Bytes that may have been added since the last look for all of them to be read."""

_BEGINNING = 256
"""Bytes kept to tell a file from another one in its place."""
_ROWS = 4
"""Last rows that are looked at, for the step and the usual time between two of them."""
_ROWS_BYTES = 256 * 1024
"""Bytes of those before the last one."""
_BACK = 256
"""Rows that are gone back to find one that tells its step."""
_SUMMARIES = 512 * 1024
"""Bytes of summary records that are looked at, from the last one back."""
_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)

_KEPT_WHOLE = frozenset({CONFIG, RUN, EXIT, ENVIRONMENT})
_SIGNS_OF_LIFE = frozenset({HISTORY, OUTPUT, STATS, OUTPUT_RAW, OUTPUT_LOGGER})


class Peek(NamedTuple):
    """What a look at a log has found. Texts are as logged."""

    identity: tuple[int, int] = (0, 0)
    """Device and inode of the file."""
    size: int = 0
    """Bytes of the log."""
    modified_ns: int = 0
    """Time of the last write, Unix nanoseconds."""
    trouble: str = ""
    """Why it cannot be read, in a few words."""
    named: bool = False
    """There was a run record."""
    begun: bool = False
    """There was a run record or any data."""
    run_id: str = ""
    display_name: str = ""
    project: str = ""
    entity: str = ""
    group: str = ""
    job_type: str = ""
    notes: str = ""
    tags: tuple[str, ...] = ()
    sweep_id: str = ""
    host: str = ""
    user: str = ""
    start_time: float | None = None
    """Unix seconds."""
    config: tuple[Change, ...] = ()
    """Changes in order; an object updates what is there before it leaf by leaf."""
    summary: tuple[Change, ...] = ()
    """The last time that each path was set, and the last that it was removed, in order."""
    rows: tuple[Row, ...] = ()
    """The last rows, the newest at the end; every step is known if any is."""
    samples: tuple[float, ...] = ()
    """Times of the last samples of system metrics, Unix seconds."""
    exit_code: int | None = None
    exit_runtime: float | None = None
    """Seconds."""
    beginning: bytes = b""
    whole: bool = True
    """Nothing has been left out."""
    position: int = 0
    """Where the next look goes on; blocks are counted from `origin`."""
    origin: int = 0

    @property
    def step(self) -> int | None:
        """The newest step; None before the first row."""
        return int(self.rows[-1].step) if self.rows and math.isfinite(self.rows[-1].step) else None

    @property
    def runtime(self) -> float | None:
        """Seconds from the start of the run to the newest thing in its log; None when that cannot be told."""
        found = [self.exit_runtime or math.nan, *(row.runtime for row in self.rows[-1:])]
        if self.samples and self.start_time is not None:
            found.append(self.samples[-1] - self.start_time)
        told = [number_of(c.json) for c in self.summary if c.path == ("_wandb", "runtime") and c.json]
        found += [seconds for seconds in told if seconds is not None]
        return max((seconds for seconds in found if math.isfinite(seconds) and seconds >= 0), default=None)

    @property
    def usual_gap(self) -> float:
        """About how many seconds pass between two writes; 0 when nothing tells."""
        times = [row.runtime for row in self.rows if math.isfinite(row.runtime)]
        gaps = sorted(abs(after - before) for before, after in pairwise(times))
        found = [gaps[(len(gaps) - 1) // 2]] if gaps else []
        if len(self.samples) > 1:
            found.append((self.samples[-1] - self.samples[0]) / (len(self.samples) - 1))
        return min((gap for gap in found if math.isfinite(gap)), default=0.0)


def peek(log: str | os.PathLike[str], before: Peek | None = None) -> Peek:
    """Look at a log, whatever is in it; `before` is what the last look has found. Raises nothing for bad files."""
    try:
        handle = os.open(log, _FLAGS)
    except OSError as error:
        return Peek(trouble=error.strerror or str(error))
    try:
        return _peek(handle, before)
    except UnsupportedLog as error:
        return _stamped(os.fstat(handle))._replace(trouble=str(error))
    except OSError as error:
        return Peek(trouble=error.strerror or str(error))
    finally:
        os.close(handle)


def _peek(handle: int, before: Peek | None) -> Peek:
    found = os.fstat(handle)
    if not stat.S_ISREG(found.st_mode):
        return _stamped(found)._replace(trouble="not a regular file")
    size = found.st_size
    reader = BlockReader()
    beginning = os.pread(handle, _BEGINNING, 0) if before is not None else b""
    if before is not None and _goes_on(before, found, beginning):
        look = _Look(before)
        reader.resume(before.position, before.origin)
        read = before.position
    else:
        look = _Look()
        # No more than there is: making room for bytes that do not come takes longer than reading a small log.
        head = os.pread(handle, size if size <= HEAD + TAIL else HEAD, 0)
        beginning = head[:_BEGINNING]
        read = _read_head(handle, size, head, reader, look)
    if size - read > FURTHER:
        reader = _read_tail(handle, size, read, reader.origin, look)
    else:
        while read < size and (data := os.pread(handle, size - read, read)):
            look.take(reader.feed(data))
            read += len(data)
    position, origin = reader.position, reader.origin
    look.take(reader.finish())
    return look.outcome(_stamped(found), beginning, position, origin)


def _stamped(found: os.stat_result) -> Peek:
    return Peek((found.st_dev, found.st_ino), found.st_size, found.st_mtime_ns)


def _goes_on(before: Peek, found: os.stat_result, beginning: bytes) -> bool:
    """Whether the file is the one of the last look, and no shorter."""
    same = (found.st_dev, found.st_ino) == before.identity and found.st_size >= before.size
    return same and before.position > 0 and beginning.startswith(before.beginning)


def _read_head(handle: int, size: int, data: bytes, reader: BlockReader, look: _Look) -> int:
    """Read the head, which begins with `data`, into `look`; up to where."""
    read = 0
    while data:
        look.take(reader.feed(data))
        read += len(data)
        in_long_record = not look.named and read - reader.position > BLOCK
        piece = min(read, LARGEST_HEAD - read) if in_long_record and read < size else 0
        data = os.pread(handle, piece, read) if piece else b""
    return read


def _read_tail(handle: int, size: int, read: int, origin: int, look: _Look) -> BlockReader:
    """Read the tail into `look`, of a log whose first `read` bytes have been; the reader, to go on with."""
    length = TAIL
    while True:
        start = max(size - length - origin, 0) // BLOCK * BLOCK + origin
        last = start <= read or length >= LARGEST_TAIL
        reader = BlockReader()
        reader.resume(start, origin)
        outcomes = reader.feed(os.pread(handle, size - start, start))
        if last or any(kind_of(o.payload) == HISTORY for o in outcomes if isinstance(o, RawRecord)):
            look.pass_over()
            look.take(outcomes)
            return reader
        length *= 8


class _Look:
    """What has been found so far, in the order of the log."""

    def __init__(self, before: Peek | None = None) -> None:
        self._before = before or Peek()
        self.named = self._before.named
        self._begun = self._before.begun
        self._facts: dict[str, Any] = {} if before is None else {name: getattr(before, name) for name in _FACTS}
        self._config = list(self._before.config)
        self._set_with_run: list[Change] = []
        self._exit_code, self._exit_runtime = self._before.exit_code, self._before.exit_runtime
        self._history: deque[bytes] = deque(maxlen=_BACK)
        self._rows = 0
        self._whole = self._before.whole
        self._summaries: list[tuple[bytes, int]] = []
        """Records, and where their summary begins."""
        self._stats: deque[bytes] = deque(maxlen=_ROWS)

    def pass_over(self) -> None:
        """Records are left out here."""
        self._whole = False

    def take(self, outcomes: Iterable[RawRecord | Skipped]) -> None:
        """More records; whatever cannot be read is passed over."""
        for outcome in outcomes:
            if outcome.__class__ is not RawRecord:
                continue
            payload = outcome[1]  # an attribute would take three times as long, and there are millions
            kind = place = 0
            if len(payload) > 3 and payload[0] == 0x08:
                # Most have a num of one or two bytes, and then a tag of one: told here to save a call for each.
                place = 3 if payload[1] < 0x80 else 4
                kind = payload[place - 1] >> 3 if payload[place - 2] < 0x80 else 0
            if kind != HISTORY and kind != SUMMARY:
                kind, place = kind_and_place(payload)
                if kind == 0:
                    kind, place = _kind_when_parsed(payload), len(payload)
            if kind == SUMMARY:
                self._summaries.append((payload, place))
            elif kind == HISTORY:
                self._history.append(payload)
                self._rows += 1
            elif kind == STATS:
                self._begun = True
                self._stats.append(payload)
            elif kind in _SIGNS_OF_LIFE:
                self._begun = True
            elif kind in _KEPT_WHOLE and (record := parsed(payload)) is not None:
                self._take_whole(kind, record)

    def _take_whole(self, kind: int, record: Any) -> None:
        if kind == RUN:
            self._take_run(record.run)
        elif kind == CONFIG:
            self._config += changes_of(record.config)
        elif kind == EXIT:
            self._exit_code = record.exit.exit_code
            self._exit_runtime = float(record.exit.runtime) or None
        else:
            if record.environment.username:
                self._facts["user"] = record.environment.username
            if record.environment.host and not self._facts.get("host"):
                self._facts["host"] = record.environment.host

    def _take_run(self, run: Any) -> None:
        """Texts are replaced wholesale (a record that leaves one out blanks it), the config is merged."""
        self.named = self._begun = True
        self._facts |= {
            "run_id": run.run_id or self._facts.get("run_id", ""),
            "display_name": run.display_name,
            "project": run.project,
            "entity": run.entity,
            "group": run.run_group,
            "job_type": run.job_type,
            "notes": run.notes,
            "tags": tuple(run.tags),
            "sweep_id": run.sweep_id,
        }
        if run.host:
            self._facts["host"] = run.host
        if run.HasField("start_time"):
            self._facts["start_time"] = run.start_time.seconds + run.start_time.nanos / 1e9
        self._config += changes_of(run.config)
        if run.HasField("summary"):
            self._set_with_run += [Change(path_of(item), item.value_json) for item in run.summary.update]

    def outcome(self, stamp: Peek, beginning: bytes, position: int, origin: int) -> Peek:
        before = self._before
        samples = before.samples
        for record in map(parsed, self._stats):
            if record is not None:
                time = record.stats.timestamp
                samples += (time.seconds + time.nanos / 1e9,)
        return Peek(
            stamp.identity,
            stamp.size,
            stamp.modified_ns,
            **self._facts,
            named=self.named,
            begun=self._begun or self._rows > 0,
            config=tuple(self._config),
            summary=self._summary(),
            rows=(*before.rows, *self._last_rows())[-_ROWS:],
            samples=samples[-_ROWS:],
            exit_code=self._exit_code,
            exit_runtime=self._exit_runtime,
            beginning=beginning,
            whole=self._whole,
            position=position,
            origin=origin,
        )

    def _summary(self) -> tuple[Change, ...]:
        """The last time that each path was set, and removed: records are gone through from the last one back."""
        last: dict[tuple[KeyPath, bool], Change] = {}
        superseded = Superseded()
        size = 0
        for payload, place in reversed(self._summaries):
            size += len(payload)
            if size > _SUMMARIES and last:
                break
            for change in reversed(superseded.changes(payload, place)):
                last.setdefault((change.path, change.json is None), change)
        for change in reversed((*self._before.summary, *self._set_with_run)):
            last.setdefault((change.path, change.json is None), change)
        return tuple(reversed(last.values()))

    def _last_rows(self) -> Sequence[Row]:
        """The last rows with their steps, which those that do not tell count on from the row before them."""
        rest = list(self._history)
        if not rest:
            return ()
        rows = [row_of(rest.pop())]
        size = 0
        while rest and len(rows) < _ROWS and (size := size + len(rest[-1])) <= _ROWS_BYTES:
            rows.insert(0, row_of(rest.pop()))
        while rest and not math.isfinite(rows[0].step):
            rows.insert(0, row_of(rest.pop()))
        step = math.nan
        if self._before.rows:
            step = self._before.rows[-1].step
        elif self._whole and self._rows == len(rows):
            step = -1.0
        for place, row in enumerate(rows):
            step = row.step if math.isfinite(row.step) else step + 1
            rows[place] = Row(step, row.runtime)
        return rows[-_ROWS:]


_FACTS = (
    "run_id", "display_name", "project", "entity", "group", "job_type", "notes", "tags", "sweep_id", "host", "user",
    "start_time",
)  # fmt: skip


def _kind_when_parsed(payload: bytes) -> int:
    record = parsed(payload)
    field = record and record.WhichOneof("record_type")
    return record.DESCRIPTOR.fields_by_name[field].number if field else 0
