"""One run directory of a workspace, and the run that it is a part of."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from leet.discovery import RUN_DIRECTORY
from leet.model.facts_process import Stamp
from leet.model.run_entry import RunEntry
from leet.model.run_facts import entry_with
from leet.model.state import SILENCE
from leet.reading.peek import Peek

LIVE = 1.0
"""Seconds between two looks at a log that may grow …"""
SILENT = (10.0, 120.0)
"""… at one that has been silent for long: a sixtieth of that time, within these bounds …"""
ENDED = 120.0
"""… and at one that has its exit record."""
YOUNG = 3600.0
"""Age of a run directory in seconds, below which its log may well be about to appear."""


@dataclass(slots=True, eq=False)
class RunPart:
    """A run directory and what is known of its log. Of two parts the lesser is the one that is due earlier.

    There may be ten thousand, so what they hold is plain: the collector of garbage looks at every container.
    """

    parent: str
    name: str
    log: str
    run_id: str
    order: tuple[str, str]
    """Sorts by the time in the name."""
    entry: RunEntry
    """As if it were the only part of its run."""
    located: bool = False
    """The log has been seen."""
    absent: bool = False
    """There is no log in the directory."""
    dropped: bool = False
    """The directory is not listed any more."""
    came: float = 0.0
    """When its directory appeared, Unix seconds; 0 for one that was there from the beginning."""
    stamp: Stamp | None = None
    facts: bytes = b""
    """As JSON text, until they are in the cache."""
    due: float = 0.0
    """When the next look is due, by the monotonic clock."""
    peek: Peek | None = None
    """Kept while the log may grow, to read on from there."""

    @classmethod
    def named(cls, root: str, parent: str, name: str) -> RunPart:
        """What the name of the directory tells; the log is taken to be called as every writer calls it.

        `parent` is `root` or a path that begins with it.
        """
        match = RUN_DIRECTORY.match(name)
        run_id = match["id"] if match else name
        log = f"{parent}/{name}/run-{run_id}.wandb"
        key = f"{parent}/{name}"[len(root) :].lstrip("/")
        started = _time(match["time"]) if match else None
        entry = RunEntry(key, Path(log), started=started, run_id=run_id, name=run_id)
        return cls(parent, name, log, run_id, order(name), entry)

    @property
    def run(self) -> tuple[str, str]:
        """What it shares with the other parts of its run; what is not called as they are is none of them."""
        return self.parent if RUN_DIRECTORY.match(self.name) else f"{self.parent}/{self.name}", self.run_id

    def move_to(self, log: str) -> None:
        """The log has another name than expected; it tells the id."""
        self.log, self.run_id = log, os.path.basename(log).removeprefix("run-").removesuffix(".wandb")
        self.entry = replace(self.entry, log=Path(log), run_id=self.run_id, name=self.run_id)

    def __lt__(self, other: RunPart) -> bool:
        return self.due < other.due

    def take(self, stamp: Stamp, facts: dict[str, Any]) -> None:
        """The log has been looked at."""
        self.located, self.absent, self.stamp = True, False, stamp
        self.entry = entry_with(self.entry, facts, size=stamp[1], modified=stamp[2] / 1e9)

    def pause(self, now: float) -> float:
        """Seconds until it should be looked at again."""
        if self.absent:
            return LIVE if now - max(self.came, self.entry.started or 0.0) < YOUNG else SILENT[1]
        if self.entry.exit_code is not None:
            return ENDED
        silence = now - self.entry.modified
        return LIVE if silence < SILENCE else min(max(silence / 60, SILENT[0]), SILENT[1])


def order(name: str) -> tuple[str, str]:
    """Sorts names of run directories by the time in them."""
    return name.partition("run-")[2][:15], name


def run_entry(parts: Iterable[RunPart]) -> RunEntry | None:
    """The entry of a run with these parts; None where no part has a log."""
    shown = sorted((part for part in parts if not part.absent), key=lambda part: part.order)
    if not shown:
        return None
    if len(shown) == 1:
        return shown[0].entry
    return _joined([part.entry for part in shown])


def _joined(entries: Sequence[RunEntry]) -> RunEntry:
    """A run that was resumed: as the newest part says, and as long as it says nothing, who it is by the one before."""
    newest = entries[-1]
    started = next((entry.started for entry in entries if entry.started is not None), None)
    named = next((entry for entry in reversed(entries) if entry.begun), newest)
    joined = replace(newest, earlier=tuple(entry.log for entry in entries[:-1]), started=started)
    if named is newest:
        return joined
    return replace(
        joined,
        name=named.name,
        project=named.project,
        entity=named.entity,
        group=named.group,
        job_type=named.job_type,
        notes=named.notes,
        tags=named.tags,
        host=named.host,
        user=named.user,
        config=named.config,
        summary=named.summary,
    )


def _time(text: str) -> float | None:
    """Unix seconds of a local time `YYYYMMDD_HHMMSS`; None where there is none such."""
    hour = _hour(text[:11])
    try:
        return None if hour is None else hour + 60 * int(text[11:13]) + int(text[13:15])
    except ValueError:
        return None


@lru_cache(1 << 12)  # of many runs, many start within one: clocks are put forward and back at full hours
def _hour(text: str) -> float | None:
    """Unix seconds of a local time `YYYYMMDD_HH`."""
    try:
        year, month, day, hour = int(text[:4]), int(text[4:6]), int(text[6:8]), int(text[9:11])
        return time.mktime((year, month, day, hour, 0, 0, 0, 0, -1))
    except (ValueError, OverflowError):
        return None
