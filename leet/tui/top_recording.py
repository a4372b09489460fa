"""What the monitor shows, kept as a run: begun and ended at any time, beside the screen."""

from __future__ import annotations

import platform
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from leet.model.live_system import LiveSystem
from leet.model.safe_text import clean
from leet.model.units import format_duration

if TYPE_CHECKING:
    from recorder.sampled import SampledRun

Say = Callable[[str], None]
"""Takes one line for the person; called on a thread of its own."""


class TopRecording:
    """At most one run at a time, in `directory`/wandb. To begin and to end one takes a while, and so has a thread."""

    def __init__(self, system: LiveSystem, directory: str, say: Say) -> None:
        self.last = ""
        """Where the run is that was recorded last; empty without one."""
        self._system = system
        self._directory = directory
        self._say = say
        self._run: SampledRun | None = None
        self._since = 0.0
        self._lock = threading.Lock()

    @property
    def note(self) -> str:
        """What is said for as long as it goes on; empty when nothing is recorded."""
        return f"recording {format_duration(time.monotonic() - self._since)}" if self._run is not None else ""

    def toggle(self) -> None:
        """Begin a run, or end the one that is written."""
        threading.Thread(target=self._toggle, name="recording", daemon=True).start()

    def _toggle(self) -> None:
        if not self._lock.acquire(blocking=False):  # one that was asked for before is still at it
            return
        try:
            if self._run is None:
                said = self._begin()
            else:
                self._end()
                said = f"the run is in {clean(self.last)}"
        finally:
            self._lock.release()
        # Only now: who is told may be waiting for the lock.
        self._say(said)

    def _begin(self) -> str:
        from recorder.command import keep_samples

        try:
            run = keep_samples(f"top on {platform.node()}", self._directory, self._system.interval)
        except OSError as error:
            return clean(f"nothing is recorded: {error}")
        self._run, self._since, self.last = run, time.monotonic(), run.directory
        self._system.also = run.sample
        return f"recording to {clean(self.last)}"

    def _end(self) -> None:
        run, self._run, self._system.also = self._run, None, None
        if run is not None:
            run.finish()

    def stop(self) -> None:
        """End what is being recorded, if anything is; returns when it is written."""
        with self._lock:
            self._end()
