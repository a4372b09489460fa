"""A run in a list of many: what is known of it without having opened it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from leet.discovery import of_machine
from leet.model.state import RunState, judge

Scalar = str | int | float | bool | None
"""What a leaf of a summary is."""


@dataclass(slots=True)
class RunEntry:
    """One run of a workspace. Texts are as logged: `safe_text.clean` them before they are printed.

    Entries never change, as they are shared between threads: a new one takes the place of one that is out of date.
    That is not enforced, which would make it take four times as long to make one, and there are ten thousand.
    """

    key: str
    """What it is called in its workspace: the path of its directory from the root (of the newest part), `/` between."""
    log: Path
    """The log of its newest part."""
    earlier: tuple[Path, ...] = ()
    """Logs of the same run id in the same `wandb/` directory that came before, oldest first: a run that was resumed."""
    started: float | None = None
    """When the first part started, Unix seconds: from its run record, else from the name of its directory (local)."""
    run_id: str = ""
    name: str = ""
    """The display name, else the run id; never empty."""
    project: str = ""
    entity: str = ""
    group: str = ""
    job_type: str = ""
    notes: str = ""
    tags: tuple[str, ...] = ()
    host: str = ""
    user: str = ""
    """Who started it, on that host."""
    config: Mapping[str, str] = field(default_factory=dict)
    """Flat: `optimizer.lr`, `layers[0].size` → the value in one short line."""
    summary: Mapping[str, Scalar] = field(default_factory=dict)
    """Flat: the last value of each key, as far as the end of the log tells."""
    step: int | None = None
    """The newest step; None where there is none yet."""
    runtime: float | None = None
    """Seconds that the run has taken (all its parts are one run: as the newest one says)."""
    exit_code: int | None = None
    size: int = 0
    """Bytes of the log."""
    modified: float = 0.0
    """Time of the last write to the log, Unix seconds."""
    known: bool = False
    """The log has been looked into. Until then only what file names tell is filled in."""
    begun: bool = False
    """There is a run record or any data in the log."""
    usual_gap: float = 0.0
    """About how many seconds pass between two writes; 0 when nothing tells."""
    trouble: str = ""
    """Why the log cannot be read, in a few words; "" where it can."""

    _sought: str = field(default="", init=False, repr=False, compare=False)

    @property
    def directory(self) -> Path:
        """The directory of the newest log."""
        return self.log.parent

    @property
    def parts(self) -> tuple[Path, ...]:
        """The logs of all its parts, oldest first; one for a run that was never resumed."""
        return (*self.earlier, self.log)

    @property
    def of_machine(self) -> bool:
        """It records the machine alone, not a training."""
        return of_machine(self.key)

    @property
    def sought(self) -> str:
        """What a bare word is looked for in, in lower case, one text a line."""
        if not self._sought:
            texts = (self.key, self.name, self.run_id, self.project, self.notes, *self.tags)
            self._sought = "\n".join(texts).lower()
        return self._sought

    def state(self, now: float) -> RunState:
        """What the run is doing at `now` (Unix seconds); `waiting` with a reason as long as nothing is known."""
        if self.trouble:
            return RunState("unreadable", self.trouble)
        if not self.known:
            return RunState("waiting", "not read yet")
        return judge(
            now=now,
            modified=self.modified,
            size=self.size,
            started=self.begun,
            exit_code=self.exit_code,
            usual_gap=self.usual_gap,
        )
