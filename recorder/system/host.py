"""
CPU, memory, disks and network of the machine, and what the run's process uses of them.

Keys and formulas are those of the SDK 0.31; two things are its documentation's: `disk.in` and `disk.out`, the sums over
the devices. Counters (disk, network, killed processes) are counted from the moment the source was opened.

Settings in `SystemSettings.extra`: `host_detail` (False) adds the load of each CPU (`cpu.<n>.cpu_percent`) and the
machine's memory and swap (`memory.used`, `memory.used_percent`, `swap.used`, `swap.used_percent`).
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recorder.system.cgroup import Cgroup, allowed_cpus, cpu_capacity, find_cgroup
from recorder.system.disks import choose_devices, summed_devices
from recorder.system.patience import Patience
from recorder.system.processes import ProcessUse, descendants, read_process
from recorder.system.source import NotHere, Sample, SystemSettings
from recorder.system.tool import output_of

if TYPE_CHECKING:
    from recorder.system.families import Warn

MIB = 1024.0**2
GIB = 1024.0**3
DISK_PATIENCE = 1.0
"""Seconds that a watched path gets to answer: a dead network mount never does."""


def open_source(settings: SystemSettings, warn: Warn) -> HostSource:
    """The host is always here, unless psutil is not."""
    try:
        import psutil  # noqa: F401
    except ImportError as error:
        raise NotHere(f"psutil cannot be imported: {error}") from error
    return HostSource(settings, warn)


class HostSource:
    """The machine that this process runs on."""

    name = "host"

    def __init__(self, settings: SystemSettings, warn: Warn) -> None:
        import psutil

        self._psutil = psutil
        self._warn = warn
        self._pid = settings.pid or os.getpid()
        self._tree = settings.track_process_tree
        self._detail = bool(settings.extra.get("host_detail", False))
        self._physical = psutil.cpu_count(logical=False) or 0
        self._logical = psutil.cpu_count() or 1
        self._cgroup: Cgroup | None = None
        allowed = None
        if not settings.no_cgroup:
            self._cgroup = find_cgroup(self._pid)
            allowed = allowed_cpus(self._pid)
        self._capacity = cpu_capacity(self._cgroup, allowed, self._logical) or float(self._physical or 1)
        self._paths = {path: self._disk_usage(path) for path in settings.disk_paths}
        first = read_process(self._pid)
        self._started = first.started if first else None
        self._uses: dict[int, ProcessUse] = {}
        self._used_at: float | None = None
        self._sampled = False
        self._throttling = self._cgroup.throttling() if self._cgroup else None
        self._kills = (self._cgroup.oom_kills() or 0) if self._cgroup else 0
        self._begin_counting(tuple(settings.disk_paths))

    def sample(self) -> Sample:
        sample: Sample = {}
        memory_limit = self._memory(sample)
        self._process(sample, memory_limit)
        self._container(sample)
        self._disk_space(sample)
        self._disk_traffic(sample)
        self._network(sample)
        if self._detail:
            self._machine_detail(sample)
        self._sampled = True
        return sample

    def facts(self) -> dict[str, Any]:
        """cpu_count, cpu_count_logical, cpu, memory, disk: what the machine has, whatever a container may use."""
        cpu: dict[str, Any] = {"count": self._physical, "count_logical": self._logical}
        if model := cpu_model():
            cpu["model"] = model
        facts: dict[str, Any] = {
            "cpu_count": self._physical,
            "cpu_count_logical": self._logical,
            "cpu": cpu,
            "memory": {"total": self._psutil.virtual_memory().total},
        }
        disk = {path: {"total": use.total, "used": use.used} for path, use in self._disk_uses().items()}
        if disk:
            facts["disk"] = disk
        return facts

    def describe(self) -> str:
        total = self._psutil.virtual_memory().total / GIB
        text = f"{self._logical} CPUs, {total:.0f} GiB memory"
        if self._devices:
            text += f", disks {', '.join(self._devices)}"
        if self._cgroup is not None and (self._cgroup.memory_limit or self._cgroup.cpu_quota):
            text += ", limited by a cgroup"
        return text

    def close(self) -> None:
        """Nothing is held open between samples."""

    # ---- memory and CPU

    def _memory(self, sample: Sample) -> int | None:
        """The machine's memory, or the container's where it has a limit. Gives what 100 % is."""
        limit = self._cgroup.memory_limit if self._cgroup else None
        current = self._cgroup.memory_current() if self._cgroup and limit else None
        if limit is not None and current is not None:
            sample["memory_percent"] = current / limit * 100.0
            sample["proc.memory.availableMB"] = max(0, limit - current) / MIB
            return limit
        memory = self._psutil.virtual_memory()
        sample["memory_percent"] = (memory.total - memory.available) / memory.total * 100.0
        sample["proc.memory.availableMB"] = memory.available / MIB
        return limit or memory.total

    def _process(self, sample: Sample, memory: int | None) -> None:
        """The run's process, and its descendants where they are wanted; nothing once it has ended."""
        own = read_process(self._pid)
        if own is None or (self._started is not None and own.started != self._started):
            return
        uses = {self._pid: own}
        if self._tree:
            uses |= {pid: use for pid in descendants(self._pid) if (use := read_process(pid))}
        now = time.monotonic()
        if self._used_at is not None and now > self._used_at:
            busy = cpu_between(self._uses, uses, tree=self._tree)
            sample["cpu"] = 100.0 * busy / (now - self._used_at) / self._capacity
        self._uses, self._used_at = uses, now
        rss = sum(use.rss for use in uses.values())
        sample["proc.cpu.threads"] = sum(use.threads for use in uses.values())
        sample["proc.memory.rssMB"] = rss / MIB
        if memory:
            sample["proc.memory.percent"] = rss / memory * 100.0

    def _container(self, sample: Sample) -> None:
        """How often the quota stopped the container since the last sample, and what was killed in it."""
        if self._cgroup is None:
            return
        if self._cgroup.cpu_quota and (now := self._cgroup.throttling()):
            if self._throttling:
                periods, throttled = now[0] - self._throttling[0], now[1] - self._throttling[1]
                if periods > 0 <= throttled:
                    sample["proc.cpu.throttledPercent"] = throttled / periods * 100.0
            self._throttling = now
        kills = self._cgroup.oom_kills()
        if kills is not None:
            sample["proc.memory.oomKills"] = max(0, kills - self._kills)

    def _machine_detail(self, sample: Sample) -> None:
        percents = self._psutil.cpu_percent(percpu=True)  # since the last call; the first one means nothing
        if self._sampled:
            sample |= {f"cpu.{cpu}.cpu_percent": percent for cpu, percent in enumerate(percents)}
        memory, swap = self._psutil.virtual_memory(), self._psutil.swap_memory()
        sample["memory.used"] = memory.total - memory.available
        sample["memory.used_percent"] = (memory.total - memory.available) / memory.total * 100.0
        if swap.total:
            sample["swap.used"] = swap.used
            sample["swap.used_percent"] = swap.used / swap.total * 100.0

    # ---- disks and network

    def _disk_usage(self, path: str) -> Callable[[], Any]:
        def usage() -> Any:
            return self._psutil.disk_usage(path)

        return usage if path == "/" else Patience(usage, DISK_PATIENCE).get

    def _disk_uses(self) -> dict[str, Any]:
        """Path → use of its file system; paths that can't be read are left out, those that hang are named once."""
        uses = {}
        for path, usage in self._paths.items():
            try:
                uses[path] = usage()
            except TimeoutError:
                self._warn(f"system metrics: the file system of {path} does not answer")
            except OSError:
                continue
        return uses

    def _disk_space(self, sample: Sample) -> None:
        for path, use in self._disk_uses().items():
            if use.used + use.free > 0:  # what only root may fill counts for nobody
                sample[f"disk.{path}.usagePercent"] = use.used / (use.used + use.free) * 100.0
            sample[f"disk.{path}.usageGB"] = use.used / GIB

    def _begin_counting(self, paths: tuple[str, ...]) -> None:
        """Read every counter for the first time; the samples give differences to these."""
        counters = self._disk_counters()
        partitions: list[tuple[str, str]] = []
        with suppress(OSError, RuntimeError):
            listed = self._psutil.disk_partitions(all=False)
            partitions = [(partition.device, partition.mountpoint) for partition in listed]
        self._devices = choose_devices(partitions, paths, counters)
        self._summed = summed_devices(self._devices, partitions)
        self._disk_start = {name: counters[name] for name in self._devices}
        self._network_start = self._network_counters()
        self._retransmits_start = tcp_retransmits()

    def _disk_counters(self) -> Mapping[str, tuple[int, int]]:
        """Device → bytes read and written; empty where the system counts none (containers, sandboxes)."""
        with suppress(OSError, NotImplementedError, RuntimeError):
            counters = self._psutil.disk_io_counters(perdisk=True) or {}
            return {name: (count.read_bytes, count.write_bytes) for name, count in counters.items()}
        return {}

    def _disk_traffic(self, sample: Sample) -> None:
        counters = self._disk_counters() if self._devices else {}
        total_in = total_out = 0.0
        for name in self._devices:
            if name not in counters:  # unplugged since
                continue
            (read_now, written_now), (read_start, written_start) = counters[name], self._disk_start[name]
            read = max(0, read_now - read_start) / MIB
            written = max(0, written_now - written_start) / MIB
            sample[f"disk.{name}.in"], sample[f"disk.{name}.out"] = read, written
            if name in self._summed:
                total_in, total_out = total_in + read, total_out + written
        if counters:
            sample["disk.in"], sample["disk.out"] = total_in, total_out

    def _network_counters(self) -> tuple[int, int] | None:
        with suppress(OSError, NotImplementedError):
            counters = self._psutil.net_io_counters()
            return counters.bytes_sent, counters.bytes_recv
        return None

    def _network(self, sample: Sample) -> None:
        now, start = self._network_counters(), self._network_start
        if now and start:
            sample["network.sent"] = max(0, now[0] - start[0])
            sample["network.recv"] = max(0, now[1] - start[1])
        retransmits = tcp_retransmits()
        if retransmits is not None and self._retransmits_start is not None:
            sample["network.tcpRetransmits"] = max(0, retransmits - self._retransmits_start)


def cpu_between(before: Mapping[int, ProcessUse], now: Mapping[int, ProcessUse], *, tree: bool) -> float:
    """
    CPU seconds that processes used between two readings, each pid → its use.

    With a tree, the time of children that ended in between is in their parents' reaped time; what those children had
    used up to the first reading was counted then and is taken off again.
    """
    total = 0.0
    for pid, use in now.items():
        old = before.get(pid)
        if old is not None and old.started != use.started:
            old = None
        total += use.cpu_seconds - (old.cpu_seconds if old else 0.0)
        if tree:
            total += use.reaped_seconds - (old.reaped_seconds if old else 0.0)
    if tree and any(use.reaped_seconds for use in now.values()):
        gone = (use for pid, use in before.items() if pid not in now or now[pid].started != use.started)
        total -= sum(use.cpu_seconds + use.reaped_seconds for use in gone)
    return max(0.0, total)


def tcp_retransmits(path: Path = Path("/proc/net/snmp")) -> int | None:
    """TCP segments sent again since the machine started; None where the system doesn't say."""
    with suppress(OSError, ValueError):
        rows = [line.split() for line in path.read_text().splitlines() if line.startswith("Tcp:")]
        return int(dict(zip(rows[0], rows[1], strict=True))["RetransSegs"]) if len(rows) == 2 else None
    return None


def cpu_model() -> str:
    """The processor's own name, empty where it has none (many ARM servers)."""
    if sys.platform == "darwin":
        with suppress(OSError):
            return output_of(["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"]).strip()
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(errors="replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return os.environ.get("PROCESSOR_IDENTIFIER", "")  # Windows
