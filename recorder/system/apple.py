"""
Apple silicon without root: `ioreg` for the GPU's load and memory, and everything else where `macmon` is installed.

`gpu.0.memoryAllocated` is the memory that the GPU uses as a share of what it has taken from the system, as the SDK's
documentation has it. There is no `gpu.0.powerPercent`: nothing tells the most that a chip may draw.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from recorder.system.source import NotHere, Sample, SystemSettings
from recorder.system.tool import find_tool, output_of

if TYPE_CHECKING:
    from recorder.system.families import Warn
    from recorder.system.json_stream import JsonStream

IOREG = ("ioreg", "-r", "-d", "1", "-w", "0", "-c", "IOAccelerator")
MACMON = "macmon"
_PLACES = ("/usr/sbin", "/opt/homebrew/bin", "/usr/local/bin")


def open_source(settings: SystemSettings, warn: Warn) -> AppleSource:
    """NotHere on other machines than Macs with Apple silicon."""
    system = os.uname() if hasattr(os, "uname") else None
    if system is None or system.sysname != "Darwin":
        raise NotHere("not macOS")
    if system.machine != "arm64":
        raise NotHere("a Mac without Apple silicon")
    ioreg, macmon = find_tool(IOREG[0], *_PLACES), find_tool(MACMON, *_PLACES)
    stream = None
    if macmon:
        from recorder.system.json_stream import JsonStream

        period = max(500, int(settings.sampling_interval * 1000))
        stream = JsonStream([macmon, "pipe", "-i", str(period)], warn)
    elif not ioreg:
        raise NotHere("neither ioreg nor macmon is there")
    return AppleSource([ioreg, *IOREG[1:]] if ioreg else None, stream)


class AppleSource:
    """This Mac: the command that prints the accelerator's registry entry, and a running macmon, or one of them."""

    name = "apple"

    def __init__(self, ioreg: list[str] | None, macmon: JsonStream | None) -> None:
        self._ioreg = ioreg
        self._macmon = macmon
        registry = self._registry()
        self._model = _text(registry, "model")
        self._cores = _whole(registry, "gpu-core-count")

    def _registry(self) -> str:
        return output_of(self._ioreg) if self._ioreg else ""

    def sample(self) -> Sample:
        values = registry_values(self._registry())
        if self._macmon is not None and self._macmon.newest:
            values |= macmon_values(self._macmon.newest)
        return values

    def facts(self) -> dict[str, Any]:
        """gpu_type, gpu_count, and apple: the chip's name, its GPU's cores, the machine's memory, as far as told."""
        if not self._model:
            return {}
        chip: dict[str, Any] = {"name": self._model}
        if self._cores:
            chip["gpu_cores"] = self._cores
        if memory := _memory():
            chip |= {"ram_total_bytes": memory, "memory_gb": memory >> 30}
        return {"gpu_type": self._model, "gpu_count": 1, "apple": chip}

    def describe(self) -> str:
        return f"{self._model or 'Apple GPU'}, through {'macmon' if self._macmon else 'ioreg'}"

    def close(self) -> None:
        if self._macmon is not None:
            self._macmon.close()


def registry_values(text: str) -> Sample:
    """The GPU's load and memory from what ioreg prints of an IOAccelerator."""
    statistics = {name: int(value) for name, value in re.findall(r'"([^"]+)"=(\d+)', text)}
    values: Sample = {}
    if "Device Utilization %" in statistics:
        values["gpu.0.gpu"] = float(statistics["Device Utilization %"])
    used, taken = statistics.get("In use system memory"), statistics.get("Alloc system memory")
    if used is not None:
        values["gpu.0.memoryUsed"] = used
        if taken:
            values["gpu.0.memoryAllocated"] = used / taken * 100.0
    if "recoveryCount" in statistics:
        values["gpu.0.recoveryCount"] = statistics["recoveryCount"]
    return values


def macmon_values(report: Mapping[str, Any]) -> Sample:
    """One line of `macmon pipe`, of either generation (the names changed in 0.8). What is not measured is left out."""
    temperatures, memory = report.get("temp") or {}, report.get("memory") or {}
    clocks: Sample = {}
    loads: Sample = {}
    for unit, clock, load in (
        ("ecpu", "cpu.ecpu_freq", "cpu.ecpu_percent"),
        ("pcpu", "cpu.pcpu_freq", "cpu.pcpu_percent"),
        ("gpu", "gpu.0.freq", "gpu.0.gpu"),
    ):
        old = report.get(f"{unit}_usage")
        hertz, ratio = old if old else (report.get(f"{unit}_freq_mhz"), report.get(f"{unit}_scaled_ratio"))
        clocks[clock] = _number(hertz)
        loads[load] = _number(ratio) * 100.0
    positive: Sample = {
        **clocks,
        "cpu.avg_temp": _number(temperatures.get("cpu_temp_avg")),
        "gpu.0.temp": _number(temperatures.get("gpu_temp_avg")),
        "memory.used": _number(memory.get("ram_usage")),
        "memory.used_percent": _share(memory.get("ram_usage"), memory.get("ram_total")),
        "swap.used": _number(memory.get("swap_usage")),
    }
    measured: Sample = {
        **loads,
        "swap.used_percent": _share(memory.get("swap_usage"), memory.get("swap_total")),
        "cpu.powerWatts": _number(report.get("cpu_power")),
        "gpu.0.powerWatts": _number(report.get("gpu_power")),
        "ane.power": _number(report.get("ane_power")),
    }
    together = [value for name in ("sys_power", "all_power") if math.isfinite(value := _number(report.get(name)))]
    if together:
        measured["system.powerWatts"] = max(together)
    values = {key: value for key, value in positive.items() if value > 0}  # 0 stands for a sensor that isn't there
    return values | {key: value for key, value in measured.items() if math.isfinite(value)}


def _number(value: Any) -> float | int:
    return value if isinstance(value, int | float) else math.nan


def _share(part: Any, whole: Any) -> float:
    with suppress(ZeroDivisionError):
        return _number(part) / _number(whole) * 100.0
    return math.nan


def _text(registry: str, name: str) -> str:
    found = re.search(rf'"{re.escape(name)}" = "([^"]*)"', registry)
    return found[1] if found else ""


def _whole(registry: str, name: str) -> int:
    found = re.search(rf'"{re.escape(name)}" = (\d+)', registry)
    return int(found[1]) if found else 0


def _memory() -> int:
    """Bytes of the machine's memory; 0 where the system doesn't tell."""
    with suppress(AttributeError, OSError, ValueError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return 0
