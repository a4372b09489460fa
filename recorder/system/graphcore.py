"""
Graphcore IPUs through `gcipuinfo`, which comes with the Poplar SDK: `ipu.<id>.<attribute> (<unit>)`.

Only devices that the run's process holds. The first sample of a device has every attribute that is a number, later ones
those that change.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from recorder.system.source import NotHere, Sample, SystemSettings

if TYPE_CHECKING:
    from recorder.system.families import Warn

_UNITS = (
    ("utilisation (session)", "%"),
    ("utilisation", "%"),
    ("temp", "C"),
    ("clock", "MHz"),
    ("power", "W"),
    ("speed", "GT/s"),
)
"""End of an attribute's name → the unit that ends its text."""

_CHANGING = frozenset(
    {
        "average board temp (C)",
        "average die temp (C)",
        "clock (MHz)",
        "ipu power (W)",
        "ipu utilisation (%)",
        "ipu utilisation (session) (%)",
    }
)


def open_source(settings: SystemSettings, warn: Warn) -> GraphcoreSource:
    """NotHere without the Poplar SDK's module."""
    try:
        import gcipuinfo
    except ImportError as error:
        raise NotHere("gcipuinfo, of Graphcore's Poplar SDK, is not installed") from error
    info = gcipuinfo.gcipuinfo()
    info.setUpdateMode(True)
    return GraphcoreSource(info, settings.pid or os.getpid())


class GraphcoreSource:
    """The IPUs that the process holds. `info` is gcipuinfo's object: its `getDevices()` gives texts by name."""

    name = "graphcore"

    def __init__(self, info: Any, pid: int) -> None:
        self._info = info
        self._pid = str(pid)
        self._seen: set[str] = set()

    def sample(self) -> Sample:
        sample: Sample = {}
        for device in self._info.getDevices():
            if device.get("user process id") != self._pid:
                continue
            number = device.get("id", "")
            first = number not in self._seen
            self._seen.add(number)
            for name, value in device_values(device).items():
                if first or name in _CHANGING:
                    sample[f"ipu.{number}.{name}"] = value
        return sample

    def facts(self) -> dict[str, Any]:
        """Nothing: the log has no field for IPUs."""
        return {}

    def describe(self) -> str:
        kinds = [device.get("board type", "IPU") for device in self._info.getDevices()]
        return ", ".join(f"{kinds.count(kind)} × Graphcore {kind}" for kind in dict.fromkeys(kinds)) or "no device"

    def close(self) -> None:
        """gcipuinfo has nothing to give back."""


def device_values(device: Mapping[str, str]) -> Sample:
    """Name, with its unit, → number of each attribute that is one."""
    values: Sample = {}
    for name, text in device.items():
        unit = next((unit for end, unit in _UNITS if name.endswith(end)), "")
        if unit and text.endswith(unit):
            name, text = f"{name} ({unit})", text.removesuffix(unit)
        text = text.strip()
        if re.fullmatch(r"[+-]?\d+", text):
            values[name] = int(text)
        elif re.fullmatch(r"[+-]?(\d+\.\d*|\.\d+)", text):
            values[name] = float(text)
    return values
