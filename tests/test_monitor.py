"""The clock: ticks, threads, troubles, fork. Sources are small and real; time is only waited for, never measured."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from recorder.system import families, monitor
from recorder.system.families import find_sources, openers
from recorder.system.monitor import Monitor
from recorder.system.source import NotHere, Sample, Source, SystemSettings

LONG = 20.0
FAST = SystemSettings(sampling_interval=0.1)


class Counter:
    """A source that counts its samples, and does something of the test's before each."""

    name = "counter"

    def __init__(self, before: Callable[[int], Any] = lambda count: None) -> None:
        self.before = before
        self.count = 0
        self.closed = threading.Event()

    def sample(self) -> Sample:
        self.count += 1
        self.before(self.count)
        return {"count": self.count}

    def facts(self) -> dict[str, Any]:
        return {"cpu_count": 7}

    def describe(self) -> str:
        return "a counter"

    def close(self) -> None:
        self.closed.set()


class Receiver:
    """Takes what a monitor emits, and waits for it."""

    def __init__(self) -> None:
        self.samples: list[tuple[float, Sample, str]] = []
        self.warnings: list[str] = []
        self._change = threading.Condition()

    def emit(self, moment: float, sample: Sample, name: str) -> None:
        with self._change:
            self.samples.append((moment, sample, name))
            self._change.notify_all()

    def warn(self, message: str) -> None:
        with self._change:
            self.warnings.append(message)
            self._change.notify_all()

    def of(self, name: str) -> list[Sample]:
        return [sample for _, sample, source in self.samples if source == name]

    def wait(self, condition: Callable[[], bool]) -> None:
        with self._change:
            assert self._change.wait_for(condition, LONG)


@pytest.fixture
def receiver() -> Receiver:
    return Receiver()


@pytest.fixture
def make(receiver: Receiver) -> Iterator[Callable[..., Monitor]]:
    made: list[Monitor] = []

    def build(settings: SystemSettings = FAST, **sources: Source | Callable[[], Source]) -> Monitor:
        table = {name: source if callable(source) else (lambda s=source: s) for name, source in sources.items()}
        one = Monitor(settings, receiver.emit, warn=receiver.warn, table=table)
        made.append(one)
        return one

    yield build
    for one in made:
        one.stop()


def test_first_sample_comes_at_once(make: Callable[..., Monitor], receiver: Receiver) -> None:
    before = time.time()
    make(SystemSettings(sampling_interval=3600), a=Counter()).start()
    receiver.wait(lambda: len(receiver.samples) == 1)
    moment, sample, name = receiver.samples[0]
    assert before <= moment <= time.time()
    assert (sample, name) == ({"count": 1}, "a")


def test_samples_keep_coming(make: Callable[..., Monitor], receiver: Receiver) -> None:
    make(a=Counter()).start()
    receiver.wait(lambda: len(receiver.samples) >= 4)
    assert [sample["count"] for sample in receiver.of("a")][:4] == [1, 2, 3, 4]


def test_ticks_do_not_drift(make: Callable[..., Monitor], monkeypatch: pytest.MonkeyPatch) -> None:
    """With a clock of the test's own: sampling takes 30 ms, and yet the samples lie on whole intervals."""
    clock = [1000.0]
    ticks: list[float] = []

    class Stopping:
        def is_set(self) -> bool:
            return len(ticks) >= 6

        def wait(self, seconds: float) -> None:
            clock[0] += max(0.0, seconds)

    def sample(count: int) -> None:
        ticks.append(round(clock[0] - 1000.0, 6))
        clock[0] += 0.03 if count != 3 else 0.25  # the third takes more than two intervals

    one = make(SystemSettings(sampling_interval=0.1))
    worker = monitor._Worker(one, "a", lambda: Counter())
    monkeypatch.setattr(monitor.time, "monotonic", lambda: clock[0])
    worker._stopping = Stopping()  # type: ignore[assignment]
    worker._sample_on_ticks(Counter(sample))
    assert ticks == [0.0, 0.1, 0.2, 0.5, 0.6, 0.7]  # what was missed is left out


def test_a_hanging_source_delays_nobody(make: Callable[..., Monitor], receiver: Receiver) -> None:
    release = threading.Event()
    one = make(stuck=Counter(lambda count: release.wait(LONG)), well=Counter())
    one.start()
    receiver.wait(lambda: len(receiver.of("well")) >= 4)
    assert receiver.of("stuck") == []
    one.stop(timeout=0.01)
    seen = len(receiver.samples)
    release.set()
    time.sleep(0.05)
    assert len(receiver.samples) == seen  # the late answer is not emitted


def test_a_hanging_source_is_named_once(
    make: Callable[..., Monitor], receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(monitor, "PATIENCE", 0.0)
    release = threading.Event()
    make(stuck=Counter(lambda count: release.wait(LONG)), well=Counter()).start()
    receiver.wait(lambda: bool(receiver.warnings) and len(receiver.of("well")) >= 8)
    release.set()
    text = "system metrics: stuck does not answer; its samples are missing until it does"
    assert receiver.warnings == [text]


def test_opening_may_hang_too(make: Callable[..., Monitor], receiver: Receiver) -> None:
    release = threading.Event()

    def never() -> Source:
        release.wait(LONG)
        raise NotHere("late")

    make(never=never, well=Counter()).start()
    receiver.wait(lambda: len(receiver.of("well")) >= 2)
    release.set()


def test_an_exception_loses_one_sample_and_is_said_once(make: Callable[..., Monitor], receiver: Receiver) -> None:
    def fail(count: int) -> None:
        if count in (2, 3, 5):
            raise RuntimeError("no sensor")

    make(a=Counter(fail)).start()
    receiver.wait(lambda: len(receiver.samples) >= 3)
    assert [sample["count"] for sample in receiver.of("a")][:3] == [1, 4, 6]
    assert receiver.warnings == ["system metrics: a: sample failed: RuntimeError: no sensor"]


def test_a_receiver_that_fails_does_not_end_the_sampling() -> None:
    calls: list[float] = []
    enough = threading.Event()
    warnings: list[str] = []

    def emit(moment: float, sample: Sample, name: str) -> None:
        calls.append(moment)
        if len(calls) >= 3:
            enough.set()
        raise OSError("disk full")

    one = Monitor(FAST, emit, warn=warnings.append, table={"a": Counter})
    one.start()
    assert enough.wait(LONG)
    one.stop()
    assert warnings == ["system metrics: a: delivery failed: OSError: disk full"]


def test_not_here_is_silent_and_a_broken_opener_is_not(make: Callable[..., Monitor], receiver: Receiver) -> None:
    def absent() -> Source:
        raise NotHere("no such device")

    def broken() -> Source:
        raise ValueError("bad driver")

    make(absent=absent, broken=broken, well=Counter()).start()
    receiver.wait(lambda: bool(receiver.warnings) and bool(receiver.samples))
    assert receiver.warnings == ["system metrics: broken cannot be opened: ValueError: bad driver"]


def test_stop_closes_the_sources(make: Callable[..., Monitor], receiver: Receiver) -> None:
    source = Counter()
    one = make(SystemSettings(sampling_interval=3600), a=source)
    assert not one.running
    one.start()
    receiver.wait(lambda: bool(receiver.samples))
    assert one.running
    one.stop(timeout=LONG)  # returns when the thread has ended, far before the hour of the next tick
    assert source.closed.is_set()
    assert not one.running
    one.stop()


def test_start_again(make: Callable[..., Monitor], receiver: Receiver) -> None:
    one = make(SystemSettings(sampling_interval=3600), a=Counter)
    for count in (1, 2):
        one.start()
        receiver.wait(lambda count=count: len(receiver.samples) == count)
        one.stop()


def test_pause_and_resume(make: Callable[..., Monitor], receiver: Receiver) -> None:
    one = make(a=Counter(), b=Counter())
    one.start()
    receiver.wait(lambda: len(receiver.of("a")) >= 1 and len(receiver.of("b")) >= 1)
    one.pause()
    time.sleep(0.15)  # a tick that was under way may still deliver
    seen = len(receiver.samples)
    time.sleep(0.3)
    assert len(receiver.samples) == seen
    one.resume()
    receiver.wait(lambda: len(receiver.samples) > seen)


def test_label_is_added_to_every_key(make: Callable[..., Monitor], receiver: Receiver) -> None:
    make(SystemSettings(sampling_interval=3600, label="rank_0"), a=Counter()).start()
    receiver.wait(lambda: bool(receiver.samples))
    assert receiver.samples[0][1] == {"count/l:rank_0": 1}


def test_values_that_are_no_numbers_are_left_out(make: Callable[..., Monitor], receiver: Receiver) -> None:
    class Odd(Counter):
        def sample(self) -> Sample:
            return {"nan": float("nan"), "inf": float("inf"), "fine": 1.5}

    make(SystemSettings(sampling_interval=3600), a=Odd()).start()
    receiver.wait(lambda: bool(receiver.samples))
    assert receiver.samples[0][1] == {"fine": 1.5}


def test_facts_come_once_from_every_source() -> None:
    facts: list[tuple[str, dict[str, Any]]] = []
    samples = threading.Semaphore(0)
    one = Monitor(
        FAST,
        lambda *ignored: samples.release(),
        facts=lambda name, values: facts.append((name, values)),
        table={"a": Counter, "b": Counter},
    )
    one.start()
    for _ in range(6):
        assert samples.acquire(timeout=LONG)
    one.stop()
    assert sorted(facts) == [("a", {"cpu_count": 7}), ("b", {"cpu_count": 7})]


@pytest.mark.parametrize("interval", [0.0, 0.05, -1.0, float("nan")])
def test_intervals_that_are_too_short(interval: float) -> None:
    with pytest.raises(ValueError, match=r"must be at least 0\.1 s"):
        Monitor(SystemSettings(sampling_interval=interval), lambda *ignored: None)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_has_a_stopped_monitor(make: Callable[..., Monitor], receiver: Receiver) -> None:
    one = make(a=Counter())
    one.start()
    receiver.wait(lambda: len(receiver.samples) >= 1)
    one._lock.acquire()  # the worst moment: an emission is under way
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            stopped = not one.running and not one._workers
            one.stop()
            child = Receiver()
            one._emit = child.emit
            one.start()
            child.wait(lambda: len(child.samples) >= 2)
            one.stop()
            code = 0 if stopped else 2
        finally:
            os._exit(code)
    one._lock.release()
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    seen = len(receiver.samples)
    receiver.wait(lambda: len(receiver.samples) > seen)  # the parent's goes on


def test_every_family_answers() -> None:
    found = dict(find_sources(SystemSettings()))
    assert list(found) == list(openers(SystemSettings()))
    host = found["host"]
    assert not isinstance(host, NotHere)
    assert "memory_percent" in host.sample()
    for source in found.values():
        if isinstance(source, NotHere):
            assert str(source)
        else:
            assert source.describe()
            source.close()


def test_a_family_that_hangs_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    release = threading.Event()
    late = Counter()

    def hang() -> Source:
        release.wait(LONG)
        return late

    def broken() -> Source:
        raise OSError("driver is upset")

    table = {"hang": hang, "broken": broken, "well": Counter}
    monkeypatch.setattr(families, "openers", lambda settings: table)
    found = dict(find_sources(SystemSettings(), limit=0.2))
    assert list(found) == ["hang", "broken", "well"]
    assert str(found["hang"]).startswith("did not answer within")
    assert str(found["broken"]) == "OSError: driver is upset"
    assert isinstance(found["well"], Counter)
    release.set()
    assert late.closed.wait(LONG)  # what comes too late is given back
