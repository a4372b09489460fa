"""A run in progress: rows, steps, config, summary, console, and how it ends."""

from __future__ import annotations

import operator
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

from recorder import ending, limits, metrics, notices
from recorder.alert_level import AlertLevel
from recorder.errors import UsageError
from recorder.filing import Filing
from recorder.identity import Identity
from recorder.resume import Beginning
from recorder.rows import Key, Row, encode_item, history_record, own_items, plain_records, size_of, summary_record
from recorder.run_config import Config
from recorder.run_summary import Path as SummaryPath
from recorder.run_summary import Summary
from recorder.settings import Settings
from recorder.transaction_log import json_values
from recorder.transaction_log.wire import encode, timestamp
from recorder.transcript import Transcript
from recorder.watching import Watching

_ANEW = Beginning()
_STEPS = range(-(1 << 63), 1 << 63)
"""What a record has room for."""

_MAY_BE_LOST = frozenset(("output_raw", "output_logger", "stats"))
"""Kinds of records that a full disk may cost; without the others a log is not what it says it is."""

_LATER = "Steps only go up, so these values are dropped; define_metric(…, step_metric=…) gives a metric its own x axis."


class Log(Protocol):
    """Where records go: a `LogWriter`, or nowhere."""

    def append(self, record: bytes, keep: bool = ...) -> None: ...

    def append_all(self, records: Iterable[bytes]) -> None: ...

    def append_late(self, make: Callable[[], Iterable[bytes]], size: int) -> None: ...

    def flush(self) -> None: ...

    def close(self, patience: float = ...) -> None: ...


class Part(Protocol):
    """Something that works beside the run and is stopped before its end is written: console, system metrics."""

    def stop(self) -> None: ...


class Run(Identity, Filing, Watching):
    """One run being recorded. `recorder.init()` makes it.

    Every method may be called from any thread. None of them raises for trouble with the disk.
    """

    def __init__(
        self,
        settings: Settings,
        run_id: str,
        directory: Path | None,
        log: Log,
        start: float,
        beginning: Beginning = _ANEW,
    ) -> None:
        """`directory` is None for a run that is recorded nowhere (`mode="disabled"`)."""
        self._settings = settings
        self._id = run_id
        self._directory = directory
        self._log = log
        self._start = start
        self._clock = time.monotonic() - max(0.0, time.time() - start)
        """The monotonic moment at which the run began."""
        self._lock = threading.RLock()
        self._parts: list[Part] = []
        self._before_end: list[Callable[[], None]] = []
        """Called while rows are still taken."""
        self._afterwards: list[Callable[[Run], None]] = []
        """Called when the log is closed."""
        self._opened = False
        """Whether the run record is written: the config before that is part of it."""
        self._finished = False
        self._closing = False
        self._exit_written = False
        self._disowned = False

        self._beginning = beginning
        self._step = beginning.step
        self._row: Row | None = None
        self._moment = 0.0
        self._rate = limits.Rate()
        self._config_sizes: dict[str, int] = {}
        self._definitions = metrics.Definitions()
        self._second = -1
        self._second_record = b""
        self._features: dict[str, bool] = {}
        label = f"_{settings.x_label}" if settings.x_label else ""
        rendered = directory / "files" / f"output{label}.log" if directory is not None else None
        self._transcript = Transcript(self._write_output, rendered)
        self._parts.append(self._transcript)
        self.exit_code: int | None = None
        """How the run ended; None while it goes on."""

        self.config = Config(self._publish_config, allow_val_change=bool(settings.allow_val_change))
        """The hyperparameters."""
        self.summary = Summary(self._publish_summary, self._with_media)
        """One value per metric."""

    # Logging

    @property
    def step(self) -> int:
        """The step of the row that the next `log()` goes to."""
        return self._step

    def log(self, data: Mapping[str, Any], step: int | None = None, commit: bool | None = None) -> None:
        """Logs values: one row of history per call.

        Args:
            data: values by metric; nested dicts become nested metrics.
            step: the step of the row. The row is held until a call with a larger step, so several calls can add to
                it; a smaller step than the current one is dropped with a warning.
            commit: False holds the row for the next call, True ends it. Without it, a call without a step ends it.

        Raises:
            TypeError: `data` is no mapping with string keys, or `step` is no integer.
            UsageError: the run is finished.
        """
        if not isinstance(data, Mapping):
            raise TypeError("what is logged must be a dictionary")
        if step is not None:
            if isinstance(step, bool):
                raise TypeError("a step is an integer, not a bool")
            step = operator.index(step)
        if not self._records("log"):
            return
        if step is not None and step not in _STEPS:
            notices.warn_once("a step beyond 64 bits was logged; its values are dropped", "step: beyond 64 bits")
            return
        moment = time.time()
        with self._lock:
            if step is not None and step != self._step:
                if step < self._step:
                    notices.warn(f"step {step} was logged after step {self._step}. {_LATER}")
                    return
                self._commit(step)
            row = self._row
            if row is None:
                row = Row(self._with_media)
            row.put(data)
            self._row, self._moment = row, moment
            if commit or (commit is None and step is None):
                self._commit(self._step + 1)

    def define_metric(
        self,
        name: str,
        step_metric: str | metrics.Metric | None = None,
        step_sync: bool | None = None,
        hidden: bool | None = None,
        summary: str | None = None,
        goal: str | None = None,
        overwrite: bool | None = None,
    ) -> metrics.Metric:
        """Says how a metric is shown and summarised.

        Args:
            name: the metric, or `prefix*` for all that begin so.
            step_metric: the metric that is its x axis.
            step_sync: whether rows that lack the x axis get its last value; True when there is a `step_metric`.
            hidden: not to be drawn by itself.
            summary: what the summary keeps: `min`, `max`, `mean`, `last`, `first`, `best`, `none`, with commas.
            goal: `minimize` or `maximize`: what `best` means.
            overwrite: forget what earlier definitions of the name said.

        Raises:
            Error: an argument that cannot be meant.
        """
        metric = metrics.checked(name, step_metric, step_sync, hidden, summary, goal, overwrite)
        if self._records("define_metric"):
            with self._lock:
                self._definitions.define(metric)
                self._append("metric", metric.record())
        return metric

    def alert(self, title: str, text: str, level: str | AlertLevel | None = None, wait_duration: Any = None) -> None:
        """Records an alert; `wandb sync` sends it.

        Args:
            title: the title, less than 64 characters.
            text: what happened.
            level: INFO, WARN or ERROR.
            wait_duration: seconds (or a timedelta) before another alert with this title is sent; one minute.

        Raises:
            ValueError: another level.
            UsageError: a `wait_duration` that is no number of seconds.
        """
        word = AlertLevel(level or "INFO").value
        wait = _milliseconds(60.0 if wait_duration is None else wait_duration)
        if self._records("alert"):
            self._append("alert", {"title": str(title), "text": str(text), "level": word, "wait_duration": wait})

    def mark_preempting(self) -> None:
        """Says that the machine is about to be taken away."""
        if self._records("mark_preempting"):
            self._append("preempting", {})

    def write_logs(self, text: str) -> None:
        """Adds text to the run's console log without printing it. Ignored after the end."""
        if not self._finished and self._records("write_logs"):
            line = text if text.endswith("\n") else f"{text}\n"
            self._transcript.hand_on()
            self._append("output_logger", {"line": line})
            self._transcript.note(line)

    # The end

    def finish(self, exit_code: int | None = None) -> None:
        """Ends the run: what is held is written, the log is closed. Later calls do nothing.

        `exit_code`: 0 for success; by default what the program has said so far (an exception, a `sys.exit`).
        """
        with self._lock:
            if self._finished or self._disowned or self._closing:
                return
            self._closing = True
        ending.unwatch(self)
        for last_orders in self._before_end:
            last_orders()
        self._finished = True
        code = exit_code or ending.exit_code()
        self.exit_code = code if isinstance(code, int) and abs(code) < 1 << 31 else 1
        for part in reversed(self._parts):
            part.stop()
        with self._lock:
            self._tell_features(finish=True)
            self._log.append(self._runtime_record())
            if self._row is not None:
                self._commit(self._step + 1)
            self._write_exit()
        self._log.close()
        for then in self._afterwards:
            then(self)

    def cut_short(self, exit_code: int) -> None:
        """Writes what is held and the end at once: the process has no time for more. Takes no lock for long."""
        self._finished = True
        self._transcript.hand_on()
        locked = self._lock.acquire(timeout=0.1)
        if not self._exit_written:
            self.exit_code = exit_code
            if self._row is not None:
                self._commit(self._step + 1)
            self._write_exit()
        if locked:
            self._lock.release()
        self._log.close(patience=1.0)

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.finish(0)
        elif isinstance(error, SystemExit):
            self.finish(ending.status(error.code))
        else:
            # The interpreter prints the traceback when the run is over, and a caller may never print it.
            import traceback

            self._print("stderr", "".join(traceback.format_exception(kind, error, trace)))
            self.finish(ending.INTERRUPTED if isinstance(error, KeyboardInterrupt) else 1)

    def disown(self) -> None:
        """This process is a forked child: the run stays its parent's, and what is logged here is dropped."""
        self._disowned = True
        self._lock = threading.RLock()  # the parent's may be held by a thread that is not here
        for part in self._parts:
            if hasattr(part, "disown"):
                part.disown()

    # Inside

    def _records(self, what: str) -> bool:
        """Whether there is a log to write to. Raises UsageError when the run is over."""
        if self._finished:
            if ending.is_ending():
                return False
            raise UsageError(f"Run ({self._id}) is finished. The call to `{what}` will be ignored.")
        if self._disowned:
            notices.warn_once(
                f"run {self._id} belongs to the parent of this process: what this child logs is not recorded. "
                "Call attach() in the child to log into that run, or init() for a run of its own."
            )
            return False
        return True

    def _write_exit(self) -> None:
        self._exit_written = True
        self._append("exit", {"exit_code": self.exit_code or 0, "runtime": int(self._runtime())})

    def _runtime(self) -> float:
        return time.monotonic() - self._clock

    def _append(self, kind: str, value: Mapping[str, Any]) -> None:
        """Writes a record of the kind that `Record` calls so."""
        try:
            record = encode("Record", {kind: value})
        except (TypeError, ValueError, KeyError, OverflowError) as error:
            notices.warn_once(f"a record of kind {kind} is not written: {error}")
            return
        self._log.append(record, keep=kind not in _MAY_BE_LOST)

    def _commit(self, next_step: int) -> None:
        """Writes the row that is held, if there is one, and goes on to the next step."""
        row, step = self._row, self._step
        self._row, self._step = None, next_step
        if row is None:
            return
        if step not in _STEPS:
            notices.warn_once("there is no step after 2**63 - 1; what is logged is dropped", "step: the last one")
            return
        runtime = self._runtime()
        own = {"_runtime": runtime, "_timestamp": self._moment, "_step": step}
        plan, data, moment = row.plan, row.data, self._moment
        if plan is not None and not self._definitions:
            self._rate.count(moment, len(data))
            before = self._runtime_record()
            size = size_of(data)
            self._log.append_late(lambda: (before, *plain_records(plan, data, runtime, moment, step)), size)
            if plan.branches:
                for key, value in data.items():
                    self.summary._tree.merge(key, value)
            else:
                self.summary._tree.root.update(data)
            self.summary._tree.root.update(own)
            return
        row.spread()
        row.drop("_step")
        row.drop("_runtime")
        instead = self._definitions.apply(row)
        for (key, value), item in zip(own.items(), own_items(runtime, moment, step), strict=True):
            if key not in row.items:  # a script may bring its own _timestamp
                row.items[key], row.values[key] = item, value
        summary = summary_record(metrics.summary_items(row, instead))
        history = history_record(row.items.values(), step)
        self._rate.count(moment, len(row.items))
        if len(history) > limits.VALUE:
            limits.look_at_row(((key, len(item)) for key, item in row.items.items()), len(history))
        self._log.append_all((self._runtime_record(), summary, history))
        for path, plain in row.values.items():
            self.summary._tree.merge(path, instead.get(path, plain))

    def _runtime_record(self) -> bytes:
        """Whole seconds since the beginning, as the SDK notes them before each row."""
        second = int(self._runtime())
        if second != self._second:
            text = str(second)
            items = encode_item(("_wandb", "runtime"), text), encode_item("_runtime", text)
            self._second, self._second_record = second, summary_record(items)
        return self._second_record

    def _publish_config(self, changed: Mapping[str, Any]) -> None:
        if changed and self._opened and self._records("config"):
            self._append("config", {"update": self._config_items(changed)})

    def _config_items(self, values: Mapping[str, Any]) -> list[dict[str, str]]:
        texts = {key: json_values.dump_config(value) for key, value in values.items()}
        self._config_sizes.update((key, len(text)) for key, text in texts.items())
        limits.look_at_config(self._config_sizes.items())
        return [{"key": key, "value_json": text} for key, text in texts.items()]

    def _publish_summary(self, new: list[tuple[SummaryPath, Any]], removed: list[SummaryPath]) -> None:
        if not self._records("summary"):
            return
        with self._lock:
            for path, _ in new:
                key: Key = path[0] if len(path) == 1 else path
                self._definitions.forget(key)
            update = [{**_summary_key(path), "value_json": json_values.dump(value)} for path, value in new]
            self._append("summary", {"update": update, "remove": [_summary_key(path) for path in removed]})

    def _change(self, setting: str, value: Any) -> None:
        """Changes what the run is, and says so with the whole run record."""
        try:
            setattr(self._settings, setting, value)
        except UsageError as error:
            notices.warn(str(error))
            return
        if self._records(setting):
            self._write_run()

    def _write_run(self) -> None:
        config = {"update": self._config_items({"_wandb": {}, **self.config})}
        self._append("run", {**self._as_record(), "config": config, "telemetry": self._telemetry()})

    def _tell_features(self, **features: bool) -> None:
        self._features.update(features)
        self._append("telemetry", self._telemetry())

    def _telemetry(self) -> dict[str, Any]:
        import platform

        return {
            "feature": self._features,
            "python_version": platform.python_version(),
            "platform": f"{platform.system()}-{platform.machine()}".lower(),
        }

    def _print(self, stream: str, text: str) -> None:
        """Takes what the program writes to stdout or stderr."""
        notices.saw(stream, text)
        if not self._disowned:
            self._transcript.add(stream, text)

    def _write_output(self, stream: str, moment: float, text: str) -> None:
        kind = "STDOUT" if stream == "stdout" else "STDERR"
        self._append("output_raw", {"output_type": kind, "timestamp": timestamp(moment), "line": text})


def _milliseconds(given: Any) -> int:
    """Raises UsageError for what is no time to wait."""
    try:
        seconds = float(given.total_seconds() if hasattr(given, "total_seconds") else given)
        return max(0, min(round(seconds * 1000), 1 << 62))
    except (TypeError, ValueError):
        raise UsageError(f"wait_duration is a number of seconds or a timedelta, and not {given!r:.80}") from None
    except OverflowError:
        return 1 << 62


def _summary_key(path: SummaryPath) -> dict[str, Any]:
    return {"key": path[0]} if len(path) == 1 else {"nested_key": path}
