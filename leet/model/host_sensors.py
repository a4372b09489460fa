"""The temperature of the processor and what it draws, as far as the system tells: a source for the monitor.

Keys: `cpu.avg_temp` (°C, the mean of its sensors), `cpu.powerWatts` (Intel and AMD count the energy of each package in
`/sys/class/powercap/intel-rapl:*/energy_uj`, which often only root may read).
"""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from recorder.system.source import NotHere, Sample

POWERCAP = Path("/sys/class/powercap")
_OF_CPUS = ("coretemp", "k10temp", "zenpower", "cpu_thermal", "cpu-thermal", "soc_thermal")
"""Names of sensors that measure processors."""


def open_sensors() -> Sensors:
    """Raises NotHere where nothing can be measured."""
    sensors = Sensors()
    if not (sensors.temperature() or sensors.energy()):
        raise NotHere("no sensor of the processor can be read")
    return sensors


class Sensors:
    """What measures the processor."""

    name = "sensors"

    def __init__(self) -> None:
        import psutil  # looked for where it is needed only

        self._psutil = psutil
        self._before: tuple[float, dict[str, int]] | None = None

    def temperature(self) -> float:
        """Mean of the processor's sensors in °C; 0 without any."""
        read = getattr(self._psutil, "sensors_temperatures", None)
        if read is None:
            return 0.0
        found: dict[str, Any] = {}
        with suppress(OSError, RuntimeError, ValueError):
            found = read()
        values = [sensor.current for name in _OF_CPUS for sensor in found.get(name, ()) if sensor.current]
        return sum(values) / len(values) if values else 0.0

    def energy(self) -> dict[str, int]:
        """Microjoules that each package has counted."""
        counted: dict[str, int] = {}
        for package in POWERCAP.glob("intel-rapl:[0-9]*"):
            if package.name.count(":") == 1:
                with suppress(OSError, ValueError):
                    counted[package.name] = int((package / "energy_uj").read_text())
        return counted

    def sample(self) -> Sample:
        sample: Sample = {}
        if temperature := self.temperature():
            sample["cpu.avg_temp"] = temperature
        now, counted = time.monotonic(), self.energy()
        if self._before is not None and now > self._before[0]:
            # A counter that fell has begun anew; that package is left out once.
            grown = [counted[name] - was for name, was in self._before[1].items() if counted.get(name, -1) >= was]
            if grown:
                sample["cpu.powerWatts"] = sum(grown) / 1e6 / (now - self._before[0])
        self._before = now, counted
        return sample

    def facts(self) -> dict[str, Any]:
        return {}

    def describe(self) -> str:
        return "sensors of the processor"

    def close(self) -> None:
        """Nothing is held open between samples."""
