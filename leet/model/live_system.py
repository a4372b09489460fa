"""The machine that this program runs on, as it is now: samples of every source, kept as those of a run are.

Monitor ─► samples, facts ─► what waits for `drain` ─► SystemStore, newest values        (main loop)
threads of its sources
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from leet.model.host_sensors import open_sensors
from leet.model.mailbox import Mailbox
from leet.model.system_store import SystemStore
from leet.reading.batch import Columns, SystemBatch
from recorder.system.families import openers
from recorder.system.monitor import Monitor
from recorder.system.source import Sample, SystemSettings

LONGEST = 24 * 3600.0
"""Seconds that samples are kept."""
SPARE = 1.25
"""Samples are dropped when they cover so much more than `LONGEST`."""
OWN = ("cpu", "proc.cpu.threads", "proc.memory.rssMB", "proc.memory.percent", "memory.used_percent")
"""Keys that tell of this program itself, which nobody asks for, or what another key tells."""
_SPECIAL = ("squashfs", "iso9660", "overlay", "tmpfs", "devtmpfs", "erofs")
"""Kinds of file systems that are never full, or always."""

Tell = Callable[[float, Sample, str], None]
"""Takes the time of a sample, its values and the name of its source."""


@dataclass(frozen=True, slots=True)
class _Facts:
    source: str
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Sampled:
    moment: float
    values: Sample


class LiveSystem:
    """Samples the machine from `start` to `stop`; who calls `listen` is told when `drain` has something to do."""

    def __init__(self, interval: float, *, mounts: list[str] | None = None) -> None:
        """`interval`: seconds between two samples, at least 0.1. `mounts`: file systems to watch; None: all real ones.

        Raises ValueError when the interval is too short.
        """
        self.interval = interval
        self.mounts = real_mounts() if mounts is None else mounts
        self.store = SystemStore()
        self.values: dict[str, float] = {}
        """Newest value of every key."""
        self.facts: dict[str, Any] = {}
        """What is known of the machine: fields of the EnvironmentRecord."""
        self.warnings: list[str] = []
        self.samples = 0
        self._waiting: Mailbox[_Facts | _Sampled | str] = Mailbox()
        self.also: Tell | None = None
        """Gets every sample too, on the thread of its source."""
        settings = SystemSettings(
            sampling_interval=interval, disk_paths=self.mounts, extra={"host_detail": True, "nvidia_detail": False}
        )
        self._monitor = Monitor(
            settings,
            self._emit,
            warn=self._waiting.put,
            facts=lambda source, fields: self._waiting.put(_Facts(source, fields)),
            table={**openers(settings, self._waiting.put), "sensors": open_sensors},
        )

    def start(self) -> None:
        self._monitor.start()

    def stop(self) -> None:
        """No sample comes after this."""
        self._monitor.stop()

    def listen(self, announce: Callable[[], None]) -> None:
        """`announce` is called on one of the threads when something came since the last `drain`."""
        self._waiting.listen(announce)

    def _emit(self, moment: float, sample: Sample, source: str) -> None:
        values = {key: value for key, value in sample.items() if key not in OWN}
        cores = [value for key, value in values.items() if key.startswith("cpu.") and key.endswith(".cpu_percent")]
        if cores:
            values["cpu_percent"] = sum(cores) / len(cores)
        self._put_sample(moment, values)
        if self.also is not None:
            self.also(moment, values, source)

    def _put_sample(self, moment: float, values: Sample) -> None:
        self._waiting.put(_Sampled(moment, values))

    def drain(self) -> bool:
        """Take in what has come; whether anything did."""
        changed = False
        for item in self._waiting.take():
            changed = True
            if isinstance(item, str):
                self.warnings.append(item)
            elif isinstance(item, _Facts):
                self.facts.update(item.fields)
            else:
                self._take(item)
        return changed

    def _take(self, sampled: _Sampled) -> None:
        self.samples += 1
        self.values.update(sampled.values)
        if not sampled.values:
            return
        names = tuple(sampled.values)
        count = len(names)
        columns = Columns(
            names,
            np.arange(count + 1),
            np.zeros(count, np.int32),
            np.fromiter(sampled.values.values(), np.float64, count),
        )
        self.store.append(SystemBatch(np.array([sampled.moment]), columns))
        span = self.store.span
        if span is not None and span[1] - span[0] > SPARE * LONGEST:
            self.store.forget_before(span[1] - LONGEST)


def real_mounts() -> list[str]:
    """Where the file systems of real devices are mounted, each device once; `/` always."""
    import psutil  # looked for where it is needed only

    found: dict[str, str] = {}
    partitions: list[Any] = []
    with suppress(OSError, RuntimeError):
        partitions = psutil.disk_partitions(all=False)
    for partition in partitions:
        point = partition.mountpoint
        if partition.fstype in _SPECIAL or not os.path.isdir(point):  # a container binds single files too
            continue
        known = found.get(partition.device)
        if known is None or len(point) < len(known):
            found[partition.device] = point
    return list(dict.fromkeys(["/", *sorted(found.values())]))


def gpus_in(values: Mapping[str, float]) -> list[str]:
    """Numbers of the GPUs that there are samples of, in their order."""
    numbers = {key.split(".")[1] for key in values if key.startswith("gpu.") and key.count(".") == 2}
    return sorted(numbers, key=lambda number: (not number.isdecimal(), number.zfill(4)))


def gpu_names(facts: Mapping[str, Any]) -> Iterator[str]:
    """What the GPUs of this machine are called, as far as that is known."""
    for gpu in facts.get("gpu_nvidia", ()):
        yield str(gpu.get("name", ""))
    for gpu in facts.get("gpu_amd", ()):
        yield str(gpu.get("series") or gpu.get("model") or "AMD GPU")
    if apple := facts.get("apple"):
        yield str(apple.get("name", ""))
