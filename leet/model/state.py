"""The state of a run, as far as its log tells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from leet.model.units import format_age, format_bytes

StateName = Literal["waiting", "reading", "running", "finished", "failed", "crashed", "unreadable"]

SILENCE = 600.0
"""Seconds without a write after which a run without an exit record counts as crashed."""

DOUBT = 60.0
"""Seconds without a write after which it is in doubt that a run still runs …"""
DOUBTFUL_GAPS = 4.0
"""… unless its usual gap between two writes is so long that this many of them take longer."""

CRASH_CODE = 254
"""The exit code that the SDK's service reports for a run whose process vanished."""


@dataclass(frozen=True, slots=True)
class RunState:
    """What a run is doing: its state, and why in a few words (`exit code 3`, `silent for 12 min`)."""

    name: StateName
    reason: str = ""
    doubtful: bool = False
    """It should have written something by now."""

    @property
    def live(self) -> bool:
        """More may come soon."""
        return self.name in ("waiting", "reading", "running")

    @property
    def word(self) -> str:
        return f"{self.name}?" if self.doubtful else self.name

    def __str__(self) -> str:
        if self.doubtful:
            return f"{self.word}, {self.reason}"
        return f"{self.name} ({self.reason})" if self.reason else self.name


def judge(
    *,
    now: float,
    modified: float,
    size: int,
    started: bool,
    exit_code: int | None,
    loading: bool = False,
    usual_gap: float = 0.0,
) -> RunState:
    """The state that follows from the log.

    `started`: a run record or any data has been seen. `loading`: there is more to read, so that an exit record may
    still come and silence says nothing yet. `modified` is the time of the last write, 0 when it is not known.
    `usual_gap` is about how many seconds used to pass between two writes.
    """
    if exit_code is not None:
        if exit_code == 0:
            return RunState("finished")
        if exit_code == CRASH_CODE:
            return RunState("crashed", f"exit code {CRASH_CODE}")
        return RunState("failed", f"exit code {exit_code}")
    silence = now - modified if modified else 0.0
    if not started and loading and not size:
        # Not even how big it is: what there is may be gigabytes.
        return RunState("reading")
    if not started:
        reason = f"{format_bytes(size)} so far"
        if silence >= SILENCE:
            reason += f", silent for {format_age(silence)}"
        return RunState("waiting", reason)
    if loading:
        return RunState("reading")
    if silence >= SILENCE:
        return RunState("crashed", f"silent for {format_age(silence)}")
    if silence >= max(DOUBT, DOUBTFUL_GAPS * usual_gap):
        return RunState("running", f"silent for {format_age(silence)}", doubtful=True)
    return RunState("running")
