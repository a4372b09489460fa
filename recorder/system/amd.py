"""
AMD GPUs: through `rocm-smi -a --json`, and where that is absent through what the amdgpu driver tells in sysfs.

Keys are the SDK's. What a card has no sensor for is left out, where the SDK writes 0; the temperature is the memory's,
else the junction's or the edge's; power is there without a maximum too.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recorder.system.source import NotHere, Sample, SystemSettings
from recorder.system.tool import find_tool, output_of

if TYPE_CHECKING:
    from recorder.system.families import Warn

ROOT = Path("/")
TOOL = "rocm-smi"
_VENDOR = "0x1002"

_LOAD = ("GPU use (%)",)
_ACTIVITY = ("GPU Memory Read/Write Activity (%)",)
_OVERDRIVE = ("GPU Memory OverDrive value (%)",)
_FILL = ("GPU Memory Allocated (VRAM%)",)
_BUSY = ("GPU memory use (%)",)  # ROCm up to 6.1.0, where the SDK takes it for the fill
_TEMPERATURE = tuple(f"Temperature (Sensor {sensor}) (C)" for sensor in ("memory", "junction", "edge"))
_POWER = ("Average Graphics Package Power (W)", "Current Socket Graphics Package Power (W)")
_LIMIT = ("Max Graphics Package Power (W)",)
_TOTAL, _USED = ("VRAM Total Memory (B)",), ("VRAM Total Used Memory (B)",)

_FACTS: dict[str, tuple[str, ...]] = {
    "unique_id": ("Unique ID",),
    "vbios_version": ("VBIOS version",),
    "performance_level": ("Performance Level",),
    "gpu_overdrive": ("GPU OverDrive value (%)",),
    "gpu_memory_overdrive": ("GPU Memory OverDrive value (%)",),
    "max_power": ("Max Graphics Package Power (W)",),
    "series": ("Card Series", "Card series"),
    "model": ("Card Model", "Card model"),
    "vendor": ("Card Vendor", "Card vendor"),
    "sku": ("Card SKU",),
    "sclk_range": ("Valid sclk range",),
    "mclk_range": ("Valid mclk range",),
}
"""Field of GpuAmdInfo → what rocm-smi calls it, in the spellings of its generations."""

_SYSFS_FACTS = {
    "unique_id": "unique_id",
    "vbios_version": "vbios_version",
    "performance_level": "power_dpm_force_performance_level",
    "series": "product_name",
}
"""Field of GpuAmdInfo → file of the card in sysfs."""

Card = Mapping[str, Any]
"""One card as rocm-smi tells it: a text under each name."""


def open_source(settings: SystemSettings, warn: Warn, root: Path = ROOT) -> RocmSource | SysfsSource:
    """NotHere without the amdgpu driver."""
    if not sys.platform.startswith("linux"):
        raise NotHere("AMD GPUs are read on Linux only")
    state = ""
    with suppress(OSError):
        state = (root / "sys/module/amdgpu/initstate").read_text().strip()
    if state != "live":
        raise NotHere("the amdgpu driver is not loaded")
    tool = find_tool(TOOL, str(root / "usr/bin"))
    if tool:
        with suppress(OSError, ValueError):
            return RocmSource(tool)
    return SysfsSource(root)


class RocmSource:
    """The cards that rocm-smi lists."""

    name = "amd"

    def __init__(self, tool: str) -> None:
        self._command = [tool, "-a", "--json"]
        self._first = self._cards()
        if not self._first:
            raise ValueError(f"{TOOL} lists no card")

    def _cards(self) -> dict[int, Card]:
        return read_report(output_of(self._command))

    def sample(self) -> Sample:
        """OSError or ValueError where rocm-smi fails."""
        sample: Sample = {}
        for number, card in self._cards().items():
            sample |= {f"gpu.{number}.{key}": value for key, value in card_values(card).items()}
        return sample

    def facts(self) -> dict[str, Any]:
        """gpu_count, gpu_type as the series of the first card, and gpu_amd of each."""
        told = [card_facts(number, card) for number, card in self._first.items()]
        facts: dict[str, Any] = {"gpu_count": len(self._first), "gpu_amd": told}
        if series := card_name(next(iter(self._first.values()))):
            facts["gpu_type"] = series
        return facts

    def describe(self) -> str:
        names = [card_name(card) or "AMD GPU" for card in self._first.values()]
        return ", ".join(f"{names.count(name)} × {name}" for name in dict.fromkeys(names)) + f", through {TOOL}"

    def close(self) -> None:
        """Nothing is held."""


def read_report(text: str) -> dict[int, Card]:
    """Number → card of a report, whatever warnings stand around it. ValueError where there is none."""
    import json

    start = re.search(r"^\s*\{", text, re.MULTILINE)
    if start is None:
        raise ValueError(f"{TOOL} printed no JSON")
    report, _ = json.JSONDecoder().raw_decode(text, start.end() - 1)
    cards = {}
    for name, card in report.items():
        if (found := re.fullmatch(r"card(\d+)", name)) and isinstance(card, dict):
            cards[int(found[1])] = card
    return dict(sorted(cards.items()))


def card_values(card: Card) -> Sample:
    """Suffix → value of one card of a report."""
    fill = _number(card, _FILL)
    total, used = _number(card, _TOTAL), _number(card, _USED)
    if fill is None and total and used is not None:
        fill = used / total * 100.0
    if fill is None:
        fill = _number(card, _BUSY)
    power, limit = _number(card, _POWER), _number(card, _LIMIT)
    values = {
        "gpu": _number(card, _LOAD),
        "memoryAllocated": fill,
        "memoryAllocatedBytes": used,
        "memoryReadWriteActivity": _number(card, _ACTIVITY),
        "memoryOverDrive": _number(card, _OVERDRIVE),
        "temp": _number(card, _TEMPERATURE),
        "powerWatts": power,
        "powerPercent": power / limit * 100.0 if power is not None and limit else None,
    }
    return {key: value for key, value in values.items() if value is not None}


def card_facts(number: int, card: Card) -> dict[str, str]:
    """The fields of a GpuAmdInfo, texts as the report has them; what it doesn't tell is left out."""
    facts = {"id": str(number)}
    for name, fields in _FACTS.items():
        told = (str(card.get(field, "")).strip() for field in fields)
        if text := next((text for text in told if text not in ("", "N/A")), ""):
            facts[name] = text
    return facts


def card_name(card: Card) -> str:
    """The series, as either generation of the report calls it; empty where it isn't told."""
    for field in ("Card Series", "Card series", "Device Name", "Card Model", "Card model"):
        if (name := str(card.get(field, ""))) not in ("", "N/A"):
            return name
    return ""


def _number(card: Card, fields: tuple[str, ...]) -> float | None:
    """The first of the fields that holds a number; all values are texts, and `N/A` is one of them."""
    for field in fields:
        with suppress(ValueError, TypeError):
            value = float(str(card[field]).strip().removesuffix("%")) if field in card else math.nan
            if math.isfinite(value):
                return value
    return None


class SysfsSource:
    """The cards of the amdgpu driver, numbered in the order of their DRM devices."""

    name = "amd"

    def __init__(self, root: Path) -> None:
        devices = sorted(
            (int(path.name[4:]), path / "device")
            for path in (root / "sys/class/drm").glob("card*")
            if path.name[4:].isdigit()
        )
        self._cards = [path for _, path in devices if _text(path / "vendor") == _VENDOR]
        if not self._cards:
            raise NotHere("the amdgpu driver has no card")

    def sample(self) -> Sample:
        sample: Sample = {}
        for number, card in enumerate(self._cards):
            sample |= {f"gpu.{number}.{key}": value for key, value in sysfs_values(card).items()}
        return sample

    def facts(self) -> dict[str, Any]:
        """gpu_count, gpu_type of the first card, and gpu_amd of each, as far as the driver tells."""
        told = []
        for number, card in enumerate(self._cards):
            texts = {field: _text(card / name) for field, name in _SYSFS_FACTS.items()}
            told.append({"id": str(number), "vendor": "AMD"} | {field: text for field, text in texts.items() if text})
        facts: dict[str, Any] = {"gpu_count": len(self._cards), "gpu_amd": told}
        if name := told[0].get("series"):
            facts["gpu_type"] = name
        return facts

    def describe(self) -> str:
        return f"{len(self._cards)} × {_text(self._cards[0] / 'product_name') or 'AMD GPU'}, through sysfs"

    def close(self) -> None:
        """Nothing is held."""


def sysfs_values(card: Path) -> Sample:
    """Suffix → value of `/sys/class/drm/card<n>/device`."""
    total, used = _integer(card / "mem_info_vram_total"), _integer(card / "mem_info_vram_used")
    power = limit = None
    temperatures = {}
    for sensors in sorted((card / "hwmon").glob("hwmon*")):
        power = _first(sensors, ("power1_average", "power1_input"))
        limit = _first(sensors, ("power1_cap", "power1_cap_max"))
        for path in sorted(sensors.glob("temp*_input")):
            label = _text(path.with_name(path.name.replace("_input", "_label"))) or "edge"
            if (value := _integer(path)) is not None:
                temperatures[label] = value / 1000.0
    values = {
        "gpu": _float(card / "gpu_busy_percent"),
        "memoryAllocated": used / total * 100.0 if used is not None and total else None,
        "memoryAllocatedBytes": used,
        "memoryReadWriteActivity": _float(card / "mem_busy_percent"),
        "temp": next((temperatures[name] for name in ("mem", "junction", "edge") if name in temperatures), None),
        "powerWatts": power / 1e6 if power is not None else None,
        "powerPercent": power / limit * 100.0 if power is not None and limit else None,
    }
    return {key: value for key, value in values.items() if value is not None}


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:  # the card sleeps, or the driver has no such file
        return ""


def _integer(path: Path) -> int | None:
    text = _text(path)
    return int(text) if text.lstrip("-").isdecimal() else None


def _float(path: Path) -> float | None:
    value = _integer(path)
    return None if value is None else float(value)


def _first(directory: Path, names: tuple[str, ...]) -> int | None:
    return next((value for name in names if (value := _integer(directory / name)) is not None), None)
