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
import re
import stat
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple

from google.protobuf.message import DecodeError

from leet.reading import records
from leet.reading.blocks import BlockReader, RawRecord, Skipped, UnsupportedLog
from leet.reading.logged_values import number_of
from recorder.transaction_log.framing import BLOCK

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
_SUMMARIES = 96 * 1024
"""Bytes of summary records that are looked at, from the last one back."""
_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)

_HISTORY, _SUMMARY, _OUTPUT, _CONFIG, _STATS, _OUTPUT_RAW, _RUN, _EXIT, _ENVIRONMENT, _OUTPUT_LOGGER = (
    2, 3, 4, 5, 7, 13, 17, 18, 26, 27,
)  # fmt: skip
_ROW_ITEMS = (b"\x12\x05_step\x82\x01", b"\x12\x08_runtime\x82\x01")
"""Items of a row up to the length of their values."""
_VALUE_TAG = b"\x82\x01"
_ITEM_KEYS = re.compile(rb"\x0a[\x00-\xff]{1,2}?\x12([\x01-\x7f][^\x00-\x1f\x82]*)\x82\x01")
"""Items of a summary under a key of one level, without control characters: its length and itself."""
_KEPT_WHOLE = frozenset({_CONFIG, _RUN, _EXIT, _ENVIRONMENT})
_SIGNS_OF_LIFE = frozenset({_HISTORY, _OUTPUT, _STATS, _OUTPUT_RAW, _OUTPUT_LOGGER})


class Change(NamedTuple):
    """The config or summary at `path` became the JSON value `json`, or was removed (None)."""

    path: tuple[str, ...]
    json: str | None


class Row(NamedTuple):
    """What is known of a row of history: each NaN where the row does not tell."""

    step: float
    runtime: float


@dataclass(frozen=True, slots=True)
class Peek:
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
    """The last change of each path, in order."""
    rows: tuple[Row, ...] = ()
    """The last rows, the newest at the end; every step is known if any is."""
    samples: tuple[float, ...] = ()
    """Times of the last samples of system metrics, Unix seconds."""
    exit_code: int | None = None
    exit_runtime: float | None = None
    """Seconds."""
    beginning: bytes = field(default=b"", repr=False)
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
        return replace(_stamped(os.fstat(handle)), trouble=str(error))
    except OSError as error:
        return Peek(trouble=error.strerror or str(error))
    finally:
        os.close(handle)


def _peek(handle: int, before: Peek | None) -> Peek:
    found = os.fstat(handle)
    if not stat.S_ISREG(found.st_mode):
        return replace(_stamped(found), trouble="not a regular file")
    size = found.st_size
    beginning = os.pread(handle, _BEGINNING, 0)
    if before is None or not _goes_on(before, found, beginning):
        look = _Look()
        reader = BlockReader()
        read = _read_head(handle, size, reader, look)
    else:
        look = _Look(before)
        reader = BlockReader()
        reader.resume(before.position, before.origin)
        read = before.position
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


def _read_head(handle: int, size: int, reader: BlockReader, look: _Look) -> int:
    """Read the head into `look`; up to where."""
    read = 0
    piece = HEAD + TAIL if size <= HEAD + TAIL else HEAD
    while piece and (data := os.pread(handle, piece, read)):
        look.take(reader.feed(data))
        read += len(data)
        in_long_record = not look.named and read - reader.position > BLOCK
        piece = min(read, LARGEST_HEAD - read) if in_long_record and read < size else 0
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
        if last or any(_kind(o.payload) == _HISTORY for o in outcomes if isinstance(o, RawRecord)):
            look.pass_over()
            look.take(outcomes)
            return reader
        length *= 8


def _kind(payload: bytes) -> int:
    """The field of `Record` that is set, by its number; 0 where that is not to be seen at once."""
    at, end = 0, len(payload)
    try:
        while at < end:
            tag = payload[at]
            if tag == 0x08:  # num
                at += 1
                while payload[at] >= 0x80:
                    at += 1
                at += 1
                continue
            if tag < 0x80:
                return tag >> 3
            second = payload[at + 1]
            if (tag, second) in ((0x82, 0x01), (0xC2, 0x0C)):  # control, _info
                length = payload[at + 2]
                if length >= 0x80:
                    return 0
                at += 3 + length
                continue
            return (tag & 0x7F | second << 7) >> 3 if second < 0x80 else 0
    except IndexError:
        pass
    return 0


def _summary_changes(payload: bytes) -> list[Change]:
    """The changes of one summary record, in order; none of one that cannot be read."""
    if (record := _parsed(payload)) is None:
        return []
    changes = [Change(_path(item), item.value_json) for item in record.summary.update]
    return changes + [Change(_path(item), None) for item in record.summary.remove]


class _Look:
    """What has been found so far, in the order of the log."""

    def __init__(self, before: Peek | None = None) -> None:
        self._before = before or Peek()
        self.named = self._before.named
        self._begun = self._before.begun
        self._facts: dict[str, Any] = {}
        self._config = list(self._before.config)
        self._set_with_run: list[Change] = []
        self._exit_code, self._exit_runtime = self._before.exit_code, self._before.exit_runtime
        self._history: deque[bytes] = deque(maxlen=_BACK)
        self._rows = 0
        self._whole = self._before.whole
        self._summaries: list[bytes] = []
        self._stats: deque[bytes] = deque(maxlen=_ROWS)

    def pass_over(self) -> None:
        """Records are left out here."""
        self._whole = False

    def take(self, outcomes: Iterable[RawRecord | Skipped]) -> None:
        """More records; whatever cannot be read is passed over."""
        for outcome in outcomes:
            if isinstance(outcome, RawRecord):
                self._take(outcome.payload)

    def _take(self, payload: bytes) -> None:
        kind = _kind(payload)
        if kind == 0:
            record = _parsed(payload)
            field = record and record.WhichOneof("record_type")
            kind = record.DESCRIPTOR.fields_by_name[field].number if field else 0
        self._begun |= kind in _SIGNS_OF_LIFE
        if kind == _SUMMARY:
            self._summaries.append(payload)
        elif kind == _HISTORY:
            self._history.append(payload)
            self._rows += 1
        elif kind == _STATS:
            self._stats.append(payload)
        elif kind in _KEPT_WHOLE and (record := _parsed(payload)) is not None:
            self._take_whole(kind, record)

    def _take_whole(self, kind: int, record: Any) -> None:
        if kind == _RUN:
            self._take_run(record.run)
        elif kind == _CONFIG:
            self._take_config(record.config)
        elif kind == _EXIT:
            self._exit_code = record.exit.exit_code
            self._exit_runtime = float(record.exit.runtime) or None
        else:
            if record.environment.username:
                self._facts["user"] = record.environment.username
            if record.environment.host and not self._facts.get("host", self._before.host):
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
        self._take_config(run.config)
        self._set_with_run += [Change(_path(item), item.value_json) for item in run.summary.update]

    def _take_config(self, config: Any) -> None:
        self._config += [Change(_path(item), item.value_json) for item in config.update]
        self._config += [Change(_path(item), None) for item in config.remove]

    def outcome(self, stamp: Peek, beginning: bytes, position: int, origin: int) -> Peek:
        before = self._before
        facts = {name: getattr(before, name) for name in _FACTS} | self._facts
        stats = [record.stats.timestamp for record in map(_parsed, self._stats) if record is not None]
        samples = (*before.samples, *(time.seconds + time.nanos / 1e9 for time in stats))
        return replace(
            stamp,
            **facts,
            named=self.named,
            begun=self._begun,
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
        """The last change of each path: records are gone through from the last one back."""
        last: dict[tuple[str, ...], str | None] = {}
        seen: set[bytes] = set()
        size = 0
        for payload in reversed(self._summaries):
            size += len(payload)
            if size > _SUMMARIES and last:
                break
            keys = _ITEM_KEYS.findall(payload)
            if len(keys) == payload.count(_VALUE_TAG) and seen.issuperset(keys):
                continue  # all of its values have been replaced later, as is so with nearly every record
            seen.update(keys)
            for path, json in reversed(_summary_changes(payload)):
                last.setdefault(path, json)
        for change in reversed((*self._before.summary, *self._set_with_run)):
            last.setdefault(change.path, change.json)
        return tuple(Change(path, json) for path, json in reversed(last.items()))

    def _last_rows(self) -> Sequence[Row]:
        """The last rows with their steps, which those that do not tell count on from the row before them."""
        rest = list(self._history)
        if not rest:
            return ()
        rows = [_row(rest.pop())]
        size = 0
        while rest and len(rows) < _ROWS and (size := size + len(rest[-1])) <= _ROWS_BYTES:
            rows.insert(0, _row(rest.pop()))
        while rest and not math.isfinite(rows[0].step):
            rows.insert(0, _row(rest.pop()))
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


def _parsed(payload: bytes) -> Any:
    """The record; None where it is none."""
    try:
        return records.parse(payload)
    except DecodeError:
        return None


def _path(item: Any) -> tuple[str, ...]:
    return tuple(item.nested_key) or (item.key,)


def _row(payload: bytes) -> Row:
    """A row by its items `_step` and `_runtime`, and the step beside them."""
    if row := _usual_row(payload):
        return row
    record = _parsed(payload)
    if record is None:
        return Row(math.nan, math.nan)
    history = record.history
    found = {"_step": math.nan, "_runtime": math.nan}
    for item in history.item:
        nested = item.nested_key
        key = (nested[0] if len(nested) == 1 else "") if nested else item.key
        if key in found:
            number = _number(item)
            if number is not None:
                found[key] = number
    if math.isnan(found["_step"]) and history.HasField("step"):
        found["_step"] = float(history.step.num)
    return Row(found["_step"], found["_runtime"])


def _usual_row(payload: bytes) -> Row | None:
    """The same of a row as nearly all writers make it, found without taking it apart; None for any other.

    What is sought cannot be in a value: control characters are escaped in JSON.
    """
    found = []
    for item in _ROW_ITEMS:
        at = payload.find(item) + len(item)
        text = payload[at + 1 : at + 1 + payload[at]] if len(item) <= at < len(payload) else b""
        number = number_of(text.decode("ascii", "replace"))
        if number is None:
            return None
        found.append(number)
    return Row(*found)


def _number(item: Any) -> float | None:
    form = item.WhichOneof("value")
    if form in ("integer", "number"):
        return float(getattr(item, form))
    return number_of(item.value_json) if form is None else None
