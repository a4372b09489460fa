"""What a glance at a machine is to tell: a few rows of meters, and what kind of machine it is."""

from __future__ import annotations

import math
import os
import platform
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from leet.model import units
from leet.model.live_system import LiveSystem, gpu_names, gpus_in
from leet.model.safe_text import clean
from leet.model.units import Unit, format_bytes, format_duration, format_value

MIB = 1024.0**2
GIB = 1024.0**3


@dataclass(frozen=True, slots=True)
class Vital:
    """A row: what it is of, how full or busy that is, and the figures in words."""

    label: str
    text: str
    percent: float | None = None
    """0 to 100; None where there is no whole to be a part of."""
    rank: int = 5
    """Where room is short the rows of lowest rank go first."""


def vitals(system: LiveSystem) -> list[Vital]:
    """The rows that there are values for, in the order in which they are shown."""
    values, facts = system.values, system.facts
    rows = [*_machine(facts)]
    if (busy := values.get("cpu_percent")) is not None:
        parts = [f"{busy:.0f} %"]
        if "cpu.avg_temp" in values:
            parts.append(f"{values['cpu.avg_temp']:.0f} °C")
        rows.append(Vital("CPU", "  ".join(parts), busy, 9))
    if (full := values.get("memory_percent")) is not None:
        rows.append(Vital("Memory", _used(full, _memory_total(values, facts)), full, 9))
    if (full := values.get("swap.used_percent")) is not None:
        used = values.get("swap.used", 0.0)
        rows.append(Vital("Swap", _used(full, used / full * 100 if full else 0.0), full, 6))
    rows += _gpus(values, facts)
    rows += _disks(values, facts, system.mounts)
    rows += _rates(system)
    watts = [values[f"gpu.{gpu}.powerWatts"] for gpu in gpus_in(values) if f"gpu.{gpu}.powerWatts" in values]
    whole = values.get("system.powerWatts")
    total = whole if whole is not None else sum(watts) + values.get("cpu.powerWatts", 0.0)
    if total or watts:
        rows.append(Vital("Power", format_value(total, units.WATT, 3), None, 5))
    return rows


def _machine(facts: Mapping[str, Any]) -> Iterator[Vital]:
    """Processor, cores, memory, GPUs."""
    cpu = facts.get("cpu", {})
    cores = facts.get("cpu_count_logical") or facts.get("cpu_count")
    total = facts.get("memory", {}).get("total")
    what = [clean(str(cpu.get("model") or platform.machine()))]
    what += [f"{cores} CPUs"] if cores else []
    what += [format_bytes(total)] if total else []
    if facts:
        yield Vital("", " · ".join(what), None, 3)
    names = Counter(clean(name) for name in gpu_names(facts) if name)
    if names:
        yield Vital(
            "", " · ".join(f"{count} × {name}" if count > 1 else name for name, count in names.items()), None, 2
        )


def _memory_total(values: Mapping[str, float], facts: Mapping[str, Any]) -> float:
    """Bytes that 100 % are: the machine's, or the container's."""
    free, full = values.get("proc.memory.availableMB"), values.get("memory_percent", 0.0)
    if free is not None and full < 99.9:
        return free * MIB / (1 - full / 100)
    return float(facts.get("memory", {}).get("total", 0))


def _used(percent: float, total: float) -> str:
    return f"{percent:.0f} %  {_share(total * percent / 100, total)}" if total else f"{percent:.0f} %"


def _share(used: float, total: float) -> str:
    """`14.2/31.0 GiB`"""
    whole = format_bytes(total)
    unit = whole.split()[-1]
    part = format_bytes(used)
    if part.split()[-1] == unit:
        part = part.split()[0]
    return f"{part}/{whole}"


def _gpus(values: Mapping[str, float], facts: Mapping[str, Any]) -> Iterator[Vital]:
    totals = [gpu.get("memory_total") for gpu in facts.get("gpu_nvidia", ())]
    for place, gpu in enumerate(gpus_in(values)):

        def value(name: str, gpu: str = gpu) -> float | None:
            return values.get(f"gpu.{gpu}.{name}")

        busy = value("gpu")
        parts = [f"{busy:.0f} %"] if busy is not None else []
        if (heat := value("temp")) is not None:
            parts.append(f"{heat:.0f} °C")
        if (watts := value("powerWatts")) is not None:
            parts.append(format_value(watts, units.WATT, 3))
        yield Vital(f"GPU {gpu}", "  ".join(parts), busy, 8)
        full, used = value("memoryAllocated"), value("memoryAllocatedBytes")
        total = totals[place] if place < len(totals) and totals[place] else None
        if full is not None:
            text = f"{full:.0f} %"
            if total:
                text += f"  {_share(total * full / 100 if used is None else used, float(total))}"
            elif used is not None:
                text += f"  {format_bytes(used)}"
            yield Vital("  memory", text, full, 7)


def _disks(values: Mapping[str, float], facts: Mapping[str, Any], mounts: list[str]) -> Iterator[Vital]:
    for mount in mounts:
        full = values.get(f"disk.{mount}.usagePercent")
        if full is None:
            continue
        total = float(facts.get("disk", {}).get(mount, {}).get("total", 0))
        used = values.get(f"disk.{mount}.usageGB", 0.0) * GIB
        text = f"{full:.0f} %" + (f"  {_share(used, total)}" if total else "")
        yield Vital(clean(mount), text, full, 6 if mount == "/" else 4)


def _rates(system: LiveSystem) -> Iterator[Vital]:
    store = system.store
    network, disk = store.last("Network I/O"), store.last("Disk I/O")
    if network:
        down, up = _rate(network.get("received")), _rate(network.get("sent"))
        yield Vital("Network", f"↓ {down}  ↑ {up}", None, 7)
    if disk:
        read, written = _rate(disk.get("read"), MIB), _rate(disk.get("written"), MIB)
        yield Vital("Disk", f"R {read}  W {written}", None, 6)


def _rate(value: float | None, factor: float = 1.0) -> str:
    if value is None or not math.isfinite(value):
        return "–"
    return format_value(value, Unit("B/s", "decimal-rate", factor), 3)


def host_line(now: float, clock: Callable[[float], str]) -> list[str]:
    """Name of the host, how long it is up, its load, the time: a line in pieces, the most telling first."""
    parts = [clean(platform.node() or "this machine")]
    with suppress(OSError, ValueError, IndexError), open("/proc/uptime", encoding="ascii") as file:
        parts.append("up " + format_duration(float(file.read().split()[0])))
    if len(parts) == 1:
        parts.append("up " + format_duration(max(0.0, time.time() - _booted())))
    with suppress(OSError, AttributeError):
        parts.append("load " + " ".join(f"{load:.2f}" for load in os.getloadavg()))
    parts.append(clock(now))
    return parts


def _booted() -> float:
    import psutil  # looked for where it is needed only

    return float(psutil.boot_time())
