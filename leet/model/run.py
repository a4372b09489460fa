"""What a run is: everything that its log has told so far."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from leet.model.console import ConsoleLog
from leet.model.environment import Environment
from leet.model.identity import Alert, Identity
from leet.model.media import MediaStore
from leet.model.metrics import MetricStore
from leet.model.record_values import fields_of, loads, path_of
from leet.model.state import RunState, judge
from leet.model.system_store import SystemStore
from leet.model.tree import Tree
from leet.reading.batch import Batch, Entry, Notice, Skipped
from leet.reading.unparsed import Json

_FILE_NAME = re.compile(r"run-(.+)\.wandb")
_UNREAD = 1 << 16
"""Bytes not read yet that are more than the unfinished tail of a live log is likely to be."""
_QUIET = 2.0
"""Seconds without a batch after which the reader is taken to have read all there is."""
_MOST_SKIPPED = 10_000
_TROUBLES = ("removed", "unreadable", "unsupported")
_GAPS = 32
"""Newest rows that tell how long the usual pause between two of them is."""


@dataclass(frozen=True, slots=True)
class Change:
    """What a batch changed. Nothing here costs more to make than the batch had names."""

    metrics: tuple[str, ...] = ()
    """Metrics with new points."""
    new_metrics: bool = False
    """Metrics appeared that were not there before: the list of charts changes."""
    system: frozenset[str] = frozenset()
    """Keys of the system charts with new points."""
    new_system: bool = False
    """System charts or curves appeared."""
    definitions: bool = False
    """`define_metric`: any chart may have another x axis."""
    overview: bool = False
    """Identity, config, summary, environment, tags, alerts, exit code or damage."""
    console: bool = False
    media: bool = False
    """Pictures, tables, histograms, …"""
    reset: bool = False
    """All that was before is gone: the file was replaced or cut short."""
    notice: str = ""
    """One line to show."""


@dataclass(slots=True)
class _Facts:
    overview: bool = False
    definitions: bool = False


@dataclass(slots=True)
class RunModel:
    """A run. Batches go in through `apply`, on one thread; everything else is read from its attributes.

    The stores stay the same objects for the life of the model, also when the log is replaced and all is forgotten.
    """

    path: Path | None
    identity: Identity = field(default_factory=Identity)
    config: Tree = field(default_factory=Tree)
    summary: Tree = field(default_factory=Tree)
    environment: Environment = field(default_factory=Environment)
    telemetry: dict[str, Any] = field(default_factory=dict)
    metrics: MetricStore = field(default_factory=MetricStore)
    system: SystemStore = field(default_factory=SystemStore)
    console: ConsoleLog = field(default_factory=ConsoleLog)
    media: MediaStore = field(default_factory=MediaStore)
    texts: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Metric that is no number → (row, JSON text, at most 4096 characters) of its last value."""
    alerts: list[Alert] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    skipped_bytes: int = 0
    exit_code: int | None = None
    exit_runtime: float | None = None
    preempting: bool = False
    files: int = 0
    """Files that were saved with the run (`files` records name each of them)."""
    artifacts_logged: int = 0
    artifacts_used: int = 0
    records: int = 0
    loaded_bytes: int = 0
    size: int = 0
    """Size of the log in bytes when it was last looked at."""
    modified: float = 0.0
    """Time of the last write to the log, Unix seconds; 0 when it is not known."""
    removed: bool = False
    """The file is no longer there."""
    notice: str = ""
    """The newest notice about the file."""
    trouble: str = ""
    """Kind of the newest notice, as long as it keeps the log from being read."""
    _named: bool = False
    _applied: float = -math.inf

    def __post_init__(self) -> None:
        self.path = Path(self.path) if self.path is not None else None
        self._name_by_file()

    def _name_by_file(self) -> None:
        match = _FILE_NAME.fullmatch(self.path.name) if self.path is not None else None
        self.identity.run_id = match[1] if match else ""

    def apply(self, piece: Batch | Notice) -> Change:
        """Take in what the reader delivered, and say what it changed."""
        if isinstance(piece, Notice):
            return self._take_notice(piece)
        if piece.reset:
            self._forget()
        self._applied = time.monotonic()
        self.removed, self.trouble = False, ""
        self.records += piece.records
        self.loaded_bytes, self.size, self.modified = piece.end, piece.size, piece.modified
        facts = _Facts(overview=bool(piece.summary or piece.skipped or piece.reset))
        for entry in piece.entries:
            handler = _HANDLERS.get(entry.kind)
            if handler is not None:
                handler(self, entry, facts)
        new_metrics = media = False
        names: tuple[str, ...] = ()
        if piece.history is not None:
            new_metrics = self.metrics.append(piece.history)
            names = piece.history.columns.names
            base = self.metrics.rows - len(piece.history)
            media = self.media.append(piece.history.typed, base)
            for name, (row, text) in piece.history.texts.items():
                self.texts[name] = (base + row, text[:4096])
        system: set[str] = set()
        before = self.system.curves
        if piece.system is not None:
            system = self.system.append(piece.system)
        if piece.summary:
            self.summary.change(piece.summary.pairs())
        if piece.console:
            self.console.append(piece.console)
        self._take_skipped(piece.skipped)
        return Change(
            metrics=names,
            new_metrics=new_metrics,
            system=frozenset(system),
            new_system=self.system.curves != before,
            definitions=facts.definitions,
            overview=facts.overview,
            console=bool(piece.console),
            media=media,
            reset=piece.reset,
        )

    def _take_notice(self, notice: Notice) -> Change:
        self.notice = notice.text
        self.removed = notice.kind == "removed"
        self.trouble = notice.kind if notice.kind in _TROUBLES else ""
        return Change(overview=True, notice=notice.text)

    def _take_skipped(self, skipped: tuple[Skipped, ...]) -> None:
        self.skipped_bytes += sum(part.length for part in skipped)
        self.skipped += skipped[: _MOST_SKIPPED - len(self.skipped)]

    def _forget(self) -> None:
        self.identity = Identity()
        self._name_by_file()
        self._named = False
        for store in (self.config, self.summary, self.environment, self.metrics, self.system, self.console, self.media):
            store.clear()
        for kept in (self.telemetry, self.texts, self.alerts, self.skipped):
            kept.clear()
        self.exit_code = self.exit_runtime = None
        self.preempting = False
        self.skipped_bytes = self.files = self.artifacts_logged = self.artifacts_used = self.records = 0
        self.notice = self.trouble = ""

    def become(self, other: RunModel) -> Change:
        """Take over all that `other` knows, which must not be used any more, and say that anything may have changed."""
        self.config.take_over(other.config)
        self.summary.take_over(other.summary)
        self.environment.take_over(other.environment)
        self.metrics.take_over(other.metrics)
        self.system.take_over(other.system)
        self.console.take_over(other.console)
        self.media.take_over(other.media)
        for part in fields(self):
            if not hasattr(getattr(self, part.name), "take_over"):
                setattr(self, part.name, getattr(other, part.name))
        return Change(
            metrics=self.metrics.names(),
            new_metrics=True,
            system=frozenset(chart.key for chart in self.system.charts()),
            new_system=True,
            definitions=True,
            overview=True,
            console=True,
            media=True,
        )

    # What follows from it

    @property
    def started(self) -> bool:
        """There has been a run record or any data."""
        return self._named or self.rows > 0 or self.system.samples > 0 or len(self.console) > 0

    @property
    def points(self) -> int:
        """Points of metrics in all."""
        return self.metrics.points

    @property
    def rows(self) -> int:
        """Rows of history in all."""
        return self.metrics.rows

    @property
    def last_step(self) -> int | None:
        """The newest step; None before the first row."""
        return int(self.metrics.steps.view[-1]) if self.rows else None

    @property
    def runtime(self) -> float | None:
        """Seconds from the start of the run to the newest thing in its log; None when that cannot be told."""
        found = [self.exit_runtime] if self.exit_runtime else []
        if self.rows:
            found.append(float(self.metrics.runtimes.view[-1]))
        span = self.system.span
        if span is not None and self.identity.start_time is not None:
            found.append(span[1] - self.identity.start_time)
        summary = self.summary.get("_wandb", "runtime")
        if isinstance(summary, (int, float)):
            found.append(float(summary))
        found = [seconds for seconds in found if math.isfinite(seconds) and seconds >= 0]
        return max(found, default=None)

    @property
    def ended(self) -> float:
        """Unix seconds when a run that has ended did so, 0 when nothing tells.

        Not simply the last write of the file: a copy is written anew.
        """
        told = [self.metrics.timestamps.view[-1]] if self.rows else []
        if self.system.span is not None:
            told.append(self.system.span[1])
        if self.exit_runtime and self.identity.start_time is not None:
            told.append(self.identity.start_time + self.exit_runtime)
        latest = max((float(moment) for moment in told if math.isfinite(moment)), default=0.0)
        return min(latest, self.modified) if latest > 0 and self.modified else latest or self.modified

    @property
    def loading(self) -> bool:
        """The reader is still working through what was there when it began, by the look of it."""
        return self.size - self.loaded_bytes > _UNREAD and time.monotonic() - self._applied < _QUIET

    @property
    def usual_gap(self) -> float:
        """About how many seconds used to pass between two writes, by the times in the log; 0 when nothing tells."""
        gaps = []
        runtimes = self.metrics.runtimes.view[-_GAPS:]
        runtimes = runtimes[np.isfinite(runtimes)]
        if len(runtimes) > 1:
            # The middle one; `np.median` would load masked arrays for a question that does not arise.
            gaps.append(float(np.sort(np.abs(np.diff(runtimes)))[(len(runtimes) - 1) // 2]))
        span = self.system.span
        if span is not None and self.system.samples > 1:
            gaps.append((span[1] - span[0]) / (self.system.samples - 1))
        return min((gap for gap in gaps if math.isfinite(gap)), default=0.0)

    def state(self, now: float | None = None, loading: bool | None = None) -> RunState:
        """What the run is doing at `now` (Unix seconds). Who knows whether the reader is done says so by `loading`."""
        if self.trouble == "unsupported":
            return RunState("unreadable", "no run log")
        if self.trouble == "unreadable" and not self.started:
            return RunState("unreadable", self.notice.rpartition(": ")[2])
        return judge(
            now=time.time() if now is None else now,
            modified=self.modified,
            size=self.size,
            started=self.started,
            exit_code=self.exit_code,
            loading=self.loading if loading is None else loading,
            # Of thousands of runs it would take long, and nothing of one that has ended hangs on it.
            usual_gap=self.usual_gap if self.exit_code is None else 0.0,
        )

    # Records that are kept whole

    def _take_run(self, entry: Entry, facts: _Facts) -> None:
        """Scalars are replaced wholesale (a record that leaves one out blanks it), config and summary are merged."""
        run = entry.message
        identity = self.identity
        identity.run_id = run.run_id or identity.run_id
        identity.display_name = run.display_name
        identity.entity, identity.project = run.entity, run.project
        identity.group, identity.job_type = run.run_group, run.job_type
        identity.notes, identity.tags, identity.sweep_id = run.notes, tuple(run.tags), run.sweep_id
        identity.host = run.host
        identity.resumed = run.resumed or run.resume
        identity.starting_step = run.starting_step
        identity.git_remote, identity.git_commit = run.git.remote_url, run.git.commit
        if run.HasField("start_time"):
            identity.start_time = run.start_time.seconds + run.start_time.nanos / 1e9
        if run.HasField("branch_point"):
            branch = run.branch_point
            identity.forked_from = f"{branch.run} at {branch.metric} = {branch.value:g}"
        self._named = True
        self._merge_config(run.config)
        for item in run.summary.update:
            self.summary.assign(path_of(item), Json(item.value_json))
        if run.HasField("telemetry"):
            self._merge_telemetry(run.telemetry)
        facts.overview = True

    def _take_config(self, entry: Entry, facts: _Facts) -> None:
        self._merge_config(entry.message)
        facts.overview = True

    def _merge_config(self, config: Any) -> None:
        for item in config.update:
            self.config.merge(path_of(item), loads(item.value_json))
        for item in config.remove:
            self.config.remove(path_of(item))

    def _take_metric(self, entry: Entry, facts: _Facts) -> None:
        self.metrics.define(entry.message)
        facts.definitions = True

    def _take_exit(self, entry: Entry, facts: _Facts) -> None:
        self.exit_code = entry.message.exit_code
        self.exit_runtime = float(entry.message.runtime) or None
        facts.overview = True

    def _take_environment(self, entry: Entry, facts: _Facts) -> None:
        """The parts of the record come one by one: set scalars replace, lists are appended, maps united."""
        for name, value in fields_of(entry.message).items():
            old = self.environment.get(name)
            if isinstance(value, list) and isinstance(old, list) and old != value:
                value = old + value
            self.environment.merge((name,), value)
        facts.overview = True

    def _take_telemetry(self, entry: Entry, facts: _Facts) -> None:
        self._merge_telemetry(entry.message)
        facts.overview = True

    def _merge_telemetry(self, message: Any) -> None:
        self.telemetry.update(fields_of(message))

    def _take_header(self, entry: Entry, facts: _Facts) -> None:
        self.identity.writer = entry.message.version_info.producer
        facts.overview = True

    def _take_alert(self, entry: Entry, facts: _Facts) -> None:
        alert = entry.message
        self.alerts.append(Alert(alert.title, alert.text, alert.level, entry.ordinal))
        facts.overview = True

    def _take_preempting(self, entry: Entry, facts: _Facts) -> None:
        self.preempting = True
        facts.overview = True

    def _take_files(self, entry: Entry, facts: _Facts) -> None:
        self.files += len(entry.message.files)

    def _take_artifact(self, entry: Entry, facts: _Facts) -> None:
        self.artifacts_logged += 1

    def _take_use_artifact(self, entry: Entry, facts: _Facts) -> None:
        self.artifacts_used += 1


_HANDLERS: dict[str, Callable[[RunModel, Entry, _Facts], None]] = {
    "run": RunModel._take_run,
    "config": RunModel._take_config,
    "metric": RunModel._take_metric,
    "exit": RunModel._take_exit,
    "environment": RunModel._take_environment,
    "telemetry": RunModel._take_telemetry,
    "header": RunModel._take_header,
    "alert": RunModel._take_alert,
    "preempting": RunModel._take_preempting,
    "files": RunModel._take_files,
    "artifact": RunModel._take_artifact,
    "use_artifact": RunModel._take_use_artifact,
}
