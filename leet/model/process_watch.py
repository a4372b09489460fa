"""Processes sampled again and again, in a thread of its own, as seldom as it takes to cost little."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable

from leet.model.processes import Process, Processes
from recorder.system.nvidia_processes import GpuProcesses
from recorder.system.source import NotHere

CPU_SHARE = 1 / 40
"""Share of a core that sampling may take: of thousands of processes less is known, not more is spent."""
SOON = 0.4
"""Seconds to the second sample: the first one knows no load yet."""


class ProcessWatch:
    """Samples from `start` to `stop`; `latest` is the newest sample, a list that is never changed."""

    def __init__(self, interval: float, announce: Callable[[], None]) -> None:
        """`announce` is called in the thread after each sample."""
        self.latest: list[Process] = []
        self.samples = 0
        self.trouble = ""
        """Why there are no processes, in one line."""
        self._interval = interval
        self._announce = announce
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="processes", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, timeout: float = 0.5) -> None:
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(timeout)

    def _run(self) -> None:
        gpus: GpuProcesses | None = None
        with contextlib.suppress(NotHere):
            gpus = GpuProcesses()
        try:
            processes = Processes()
            while not self._stopping.is_set():
                began = time.thread_time()
                self._sample(processes, gpus)
                cost = time.thread_time() - began
                self._announce()
                self._stopping.wait(self.pause(cost))
        finally:
            if gpus is not None:
                gpus.close()

    def pause(self, cost: float) -> float:
        """Seconds until the next sample, when the last one took `cost` seconds of a core."""
        return max(min(SOON, self._interval) if self.samples == 1 else self._interval, cost / CPU_SHARE)

    def _sample(self, processes: Processes, gpus: GpuProcesses | None) -> None:
        self.samples += 1
        try:
            self.latest = processes.sample(gpus.memory() if gpus is not None else None)
            self.trouble = ""
        except Exception as error:  # a system that lists its processes in another way: the rest of the screen goes on
            self.trouble = f"processes cannot be listed: {error!r}"
