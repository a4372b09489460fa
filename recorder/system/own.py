"""
What the recorder itself uses, where it is a process of its own beside the measured one (`leet record`):
`wandb.cpu`, in percent of one CPU since the last sample, and `wandb.memory.rssMB`, as the SDK tells of its own process.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from recorder.system.processes import read_process
from recorder.system.source import NotHere, Sample, SystemSettings

if TYPE_CHECKING:
    from recorder.system.families import Warn

MIB = 1 << 20


def open_source(settings: SystemSettings, warn: Warn) -> OwnSource:
    """NotHere inside the program that is measured: its own metrics, `proc.*`, have the recorder in them."""
    if settings.pid in (None, os.getpid()):
        raise NotHere("the recorder is part of the measured process; proc.* has its use too")
    return OwnSource()


class OwnSource:
    """This process."""

    name = "own"

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._before = (time.monotonic(), self._use().cpu_seconds)

    def _use(self) -> Any:
        use = read_process(self._pid)
        if use is None:
            raise NotHere("the system tells nothing of processes")
        return use

    def sample(self) -> Sample:
        use, now = self._use(), time.monotonic()
        then, cpu = self._before
        self._before = (now, use.cpu_seconds)
        sample: Sample = {"wandb.memory.rssMB": use.rss / MIB}
        if now > then:
            sample["wandb.cpu"] = max(0.0, use.cpu_seconds - cpu) / (now - then) * 100.0
        return sample

    def facts(self) -> dict[str, Any]:
        """Nothing about the machine."""
        return {}

    def describe(self) -> str:
        return f"process {self._pid}"

    def close(self) -> None:
        """Nothing is held."""
