"""What a log says about its run in the end: state, last step, summary, config, last lines of output.

The object is that of `wandb leet inspect --summary --json`, with what was skipped, how much was logged, and for how
long beside it.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable
from typing import Any

from leet.model.json_text import load
from leet.model.record_object import timestamp
from leet.model.state import CRASH_CODE, SILENCE
from leet.model.tree import Tree
from leet.output.console_tail import ConsoleTail
from leet.reading import records
from leet.reading.blocks import Skipped
from leet.reading.logged_values import item_values
from leet.reading.unparsed import Json

CONSOLE_LINES = 20
_INTERNAL = "_wandb"
_DEEPEST = 64
"""Levels in which empty objects are looked for, so that no log can exhaust the stack."""
_STREAMS = ("stderr", "stdout")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,30})?")
"""Nearly all of a long summary, known to be JSON without being parsed."""


class RunSummary:
    """Takes the records of one log in order, and says what they come to."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.path.abspath(path)
        self.run: Any = None
        """The last `RunRecord`."""
        self.exit: Any = None
        """The last `RunExitRecord`."""
        self.config = Tree()
        self.summary = Tree()
        self.console = ConsoleTail(CONSOLE_LINES)
        self.step: int | None = None
        self.metrics: set[str] = set()
        self.points = 0
        self.runtime: float | None = None
        self.skipped: list[Skipped] = []
        self._row_step = -1.0
        self._sampled: float | None = None
        self._console_time: tuple[int, int] | None = None

    def add(self, record: Any) -> None:
        """Takes the next record, a `Record` message."""
        kind = records.kind(record)
        if take := getattr(self, f"_take_{kind}", None):
            take(getattr(record, kind))

    def _take_run(self, run: Any) -> None:
        self.run = run
        self._take_config(run.config)

    def _take_exit(self, exit_record: Any) -> None:
        self.exit = exit_record

    def _take_config(self, config: Any) -> None:
        for item in config.update:
            value = load(item.value_json)
            if value is not item.value_json:  # text that is no JSON sets nothing
                self.config.merge(_path(item), value)
        for item in config.remove:
            self.config.remove(_path(item))

    def _take_summary(self, summary: Any) -> None:
        self.change_summary((_path(item), item.value_json) for item in summary.update)
        self.change_summary((_path(item), None) for item in summary.remove)

    def change_summary(self, changes: Iterable[tuple[tuple[str, ...], str | None]]) -> None:
        """Sets values of the summary; None, `null` and text that is no JSON remove one."""
        self.summary.change(
            (path, None if json is None or not _is_json(json) else Json(json)) for path, json in changes
        )

    def _take_history(self, history: Any) -> None:
        values = item_values(history.item)
        step = values.get("_step")
        if not isinstance(step, float) or not math.isfinite(step):
            step = float(history.step.num) if history.HasField("step") else self._row_step + 1
        self._row_step = step
        self.note_step(step)
        runtime = values.get("_runtime")
        if isinstance(runtime, float) and math.isfinite(runtime):
            self.runtime = runtime
        for name, value in values.items():
            if isinstance(value, float) and not name.startswith("_"):
                self.metrics.add(name)
                self.points += 1

    def note_step(self, step: float) -> None:
        """Takes the step of a row; the greatest is that of the run, and negative ones are none."""
        if step >= 0:
            self.step = max(int(min(step, 2.0**63)), self.step or 0)

    def _take_stats(self, stats: Any) -> None:
        if stats.HasField("timestamp"):
            self._sampled = stats.timestamp.seconds + stats.timestamp.nanos / 1e9

    def _take_output_raw(self, output: Any) -> None:
        time = (output.timestamp.seconds, output.timestamp.nanos) if output.HasField("timestamp") else None
        self._console_time = time
        self.console.write(_STREAMS[output.output_type == 1], time, output.line)

    _take_output = _take_output_raw

    def _take_output_logger(self, output: Any) -> None:
        # Lines of a logger have no time: they came after what was printed before them.
        self.console.write("logger", self._console_time, output.line)

    def state(self, silence: float) -> tuple[str, str]:
        """The state of a run whose log was last written `silence` seconds ago, and the reason in words."""
        if self.exit is not None:
            code = self.exit.exit_code
            name = "finished" if code == 0 else "crashed" if code == CRASH_CODE else "failed"
            return name, f"exit code {code}"
        if self.run is None:
            return "unknown", "no run record yet"
        if silence >= SILENCE:
            return "crashed", f"no write for {_duration(silence)} and no exit record"
        return "running", f"last write {_duration(silence)} ago"

    def _runtime(self) -> float | None:
        """Seconds from the start of the run to the newest thing in its log, as the viewer counts them."""
        found = [] if self.runtime is None else [self.runtime]
        if self.exit is not None and self.exit.runtime:  # in whole seconds
            found.append(float(self.exit.runtime))
        if self._sampled is not None and self.run is not None and self.run.HasField("start_time"):
            found.append(self._sampled - self.run.start_time.seconds - self.run.start_time.nanos / 1e9)
        noted = self.summary.get(_INTERNAL, "runtime")
        if isinstance(noted, int | float):
            found.append(float(noted))
        return max((seconds for seconds in found if math.isfinite(seconds) and seconds >= 0), default=None)

    def to_json(self, written_ns: int, now: float) -> dict[str, Any]:
        """The object; `written_ns` is when the log was last written, Unix nanoseconds, `now` Unix seconds."""
        return {**self.facts(written_ns, now), "config": shown(self.config), "summary": shown(self.summary)}

    def facts(self, written_ns: int, now: float) -> dict[str, Any]:
        """The object without config and summary, which may be large."""
        run = self.run
        started = run is not None and run.HasField("start_time")
        return {
            "console": [
                {
                    "line": line.text,
                    "stream": line.stream,
                    "time": timestamp(*line.time) if line.time else "0001-01-01T00:00:00Z",
                }
                for line in self.console.lines()
            ],
            "console_lines": len(self.console),
            "entity": run.entity if run else "",
            "exit_code": self.exit.exit_code if self.exit is not None else None,
            "file": self.path,
            "last_write": timestamp(*divmod(written_ns, 10**9)),
            "metrics": len(self.metrics),
            "name": run.display_name if run else "",
            "notes": run.notes if run else "",
            "points": self.points,
            "project": run.project if run else "",
            "run_id": run.run_id if run else "",
            "runtime": self._runtime(),
            "skipped": [{"offset": s.offset, "length": s.length, "reason": s.reason} for s in self.skipped],
            "start_time": timestamp(run.start_time.seconds, run.start_time.nanos) if started else None,
            "state": self.state(now - written_ns / 1e9)[0],
            "step": self.step,
            "tags": list(run.tags) if run else [],
        }


def _path(item: Any) -> tuple[str, ...]:
    return tuple(item.nested_key) or (item.key,)


def _is_json(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None or load(text) is not text


def shown(tree: Tree) -> dict[str, Any]:
    """A config or summary without what the SDK keeps there for itself, and without empty objects."""
    values = tree.to_dict()
    values.pop(_INTERNAL, None)
    return {key: pruned for key, value in values.items() if (pruned := _pruned(value)) != {}}


def _pruned(value: Any, depth: int = 1) -> Any:
    if not isinstance(value, dict) or depth == _DEEPEST:
        return value
    return {key: pruned for key, below in value.items() if (pruned := _pruned(below, depth + 1)) != {}}


def _duration(seconds: float) -> str:
    seconds = max(0, round(seconds))
    if seconds < 120:
        return f"{seconds} s"
    return f"{seconds // 60} min" if seconds < 7200 else f"{seconds // 3600} h {seconds // 60 % 60} min"
