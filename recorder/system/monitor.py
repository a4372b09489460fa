"""The clock of system metrics: samples every family in its own thread and hands the values on."""

from __future__ import annotations

import math
import os
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import partial
from typing import Any, TypeVar

from recorder.forking import first_work
from recorder.system.families import Opener, Warn, find_sources, openers, quiet
from recorder.system.source import NotHere, Sample, Source, SystemSettings

__all__ = ["Monitor", "find_sources"]

Emit = Callable[[float, Sample, str], None]
"""Takes the time of a sample (Unix seconds), its values, and the name of the source. Called from many threads."""

Facts = Callable[[str, dict[str, Any]], None]
"""Takes what a source knows about the machine: its name and fields of the EnvironmentRecord."""

T = TypeVar("T")

MINIMUM_INTERVAL = 0.1
PATIENCE = 10.0
"""Seconds of silence, at least, before a source counts as hanging."""

_alive: weakref.WeakSet[Monitor] = weakref.WeakSet()


class Monitor:
    """
    Samples every family that is on this machine until it is stopped.

    Each family has a daemon thread and a ticker of its own, so that a driver that hangs costs its own metrics only.
    The first sample is taken at once, the next ones every `sampling_interval` seconds counted from there; a tick that
    was missed is left out, not made up for. Opening a source also happens in its thread: `start` returns at once.

    What goes wrong is said once through `warn` and loses one sample. Threads don't survive `fork`: in the child a
    monitor is stopped (and costs nothing) until `start` is called there.

    `facts` gets, once for each source that was found, what it knows about the machine; `table` replaces the families.
    """

    def __init__(
        self,
        settings: SystemSettings,
        emit: Emit,
        *,
        warn: Warn | None = None,
        facts: Facts | None = None,
        table: Mapping[str, Opener] | None = None,
    ) -> None:
        if not settings.sampling_interval >= MINIMUM_INTERVAL:
            raise ValueError(
                f"the sampling interval is {settings.sampling_interval:g} s; it must be at least {MINIMUM_INTERVAL} s"
            )
        self._emit = emit
        self._facts = facts
        self._interval = settings.sampling_interval
        self._suffix = f"/l:{settings.label}" if settings.label else ""
        self._tell = warn or quiet
        self._table = openers(settings, self._warn) if table is None else table
        self._reset()

    def _reset(self) -> None:
        self._stopping = threading.Event()
        self._lock = threading.RLock()
        self._said: set[str] = set()
        self._workers: list[_Worker] = []
        self._paused = False

    def start(self) -> None:
        """Start sampling; does nothing while it is running."""
        if self._workers:
            return
        self._stopping = threading.Event()  # a thread left behind by an earlier stop keeps its own
        _alive.add(self)
        self._workers = [_Worker(self, name, opener) for name, opener in self._table.items()]
        for worker in self._workers:
            worker.thread.start()

    def wait_for_first(self, timeout: float) -> None:
        """
        Give the sources until then to tell their facts and take their first sample: a program that ends at once has
        these too. Sources that are not here don't count; one that hangs costs the timeout.
        """
        end = time.monotonic() + timeout
        for worker in list(self._workers):
            if worker.thread is not threading.current_thread():
                worker.begun.wait(max(0.0, end - time.monotonic()))

    def stop(self, timeout: float = 0.5) -> None:
        """
        Stop sampling. Sources that are in the middle of a call get `timeout` seconds together; one that hangs is
        left behind, and nothing is emitted any more when this has returned.
        """
        self._stopping.set()
        end = time.monotonic() + timeout
        for worker in self._workers:
            if worker.thread is not threading.current_thread():
                worker.thread.join(max(0.0, end - time.monotonic()))
        under_way = self._lock.acquire(timeout=max(0.05, end - time.monotonic()))  # an emission may be
        self._workers = []
        if under_way:
            self._lock.release()
        _alive.discard(self)

    def pause(self) -> None:
        """Skip the ticks from now on (a notebook between two cells)."""
        self._paused = True

    def resume(self) -> None:
        """Sample again on the next tick."""
        self._paused = False

    @property
    def running(self) -> bool:
        return bool(self._workers) and not self._stopping.is_set()

    def _warn(self, message: str) -> None:
        """Pass a message on, each one once."""
        with self._lock:
            if message in self._said or self._stopping.is_set():
                return
            self._said.add(message)
        self._tell(message)

    def _look_for_hanging(self) -> None:
        """Say which sources have been in one call for long. Any source that is well does this for all."""
        limit = max(PATIENCE, 2 * self._interval)
        now = time.monotonic()
        for worker in list(self._workers):
            since = worker.busy_since
            if since is not None and now - since > limit:
                self._warn(f"system metrics: {worker.name} does not answer; its samples are missing until it does")

    def _deliver(self, worker: _Worker, sample: Sample) -> None:
        moment = time.time()
        values = {f"{key}{self._suffix}": value for key, value in sample.items() if math.isfinite(value)}
        if not values:
            return
        with self._lock:
            if not self._stopping.is_set() and worker in self._workers:
                self._emit(moment, values, worker.name)

    def _after_fork(self) -> None:
        """The threads are not in this process, and the locks may be held by them: begin anew, stopped."""
        self._reset()
        self._stopping.set()


class _Worker:
    """One family: its thread, its source, its ticks."""

    def __init__(self, monitor: Monitor, name: str, opener: Opener) -> None:
        self.name = name
        self.busy_since: float | None = None
        """When the call that is under way began (monotonic); None between calls."""
        self._monitor = monitor
        self._opener = opener
        self._stopping = monitor._stopping
        self.begun = threading.Event()
        """Set after the first sample, or when there will be none."""
        self.thread = threading.Thread(target=self._run, name=f"system metrics: {name}", daemon=True)

    def _run(self) -> None:
        try:
            with first_work():
                source = self._open()
            if source is not None:
                try:
                    self._sample_on_ticks(source)
                finally:
                    self._guarded("close", source.close)
        finally:
            self.begun.set()

    def _open(self) -> Source | None:
        monitor = self._monitor
        try:
            source = self._timed(self._opener)
        except NotHere:
            return None
        except Exception as error:  # a broken driver or package: said once, and the training goes on
            monitor._warn(f"system metrics: {self.name} cannot be opened: {_text(error)}")
            return None
        if monitor._facts is not None and not self._stopping.is_set():
            facts = self._guarded("facts", source.facts)
            if facts:
                self._guarded("facts", partial(monitor._facts, self.name, facts))
        return source

    def _sample_on_ticks(self, source: Source) -> None:
        monitor, interval = self._monitor, self._monitor._interval
        start = time.monotonic()
        ticks = 0
        while not self._stopping.is_set():
            if not monitor._paused:
                with nullcontext() if ticks else first_work():
                    sample = self._guarded("sample", source.sample)
                if sample:
                    self._guarded("delivery", partial(monitor._deliver, self, sample))
            self.begun.set()
            monitor._look_for_hanging()
            ticks = max(ticks + 1, math.ceil((time.monotonic() - start) / interval))
            self._stopping.wait(start + ticks * interval - time.monotonic())

    def _guarded(self, what: str, call: Callable[[], T]) -> T | None:
        """The result of a call, or None and one warning where it raises."""
        try:
            return self._timed(call)
        except Exception as error:  # recording never harms the training; the reason is said once
            self._monitor._warn(f"system metrics: {self.name}: {what} failed: {_text(error)}")
            return None

    def _timed(self, call: Callable[[], T]) -> T:
        self.busy_since = time.monotonic()
        try:
            return call()
        finally:
            self.busy_since = None


def _text(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _forget_threads() -> None:
    for monitor in list(_alive):
        monitor._after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)
