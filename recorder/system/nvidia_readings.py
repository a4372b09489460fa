"""What NVML is asked of a GPU, one reading for each question: the usual ones, and those in detail."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from recorder.system.source import Sample

Nvml = Any
"""The module `pynvml`, which has no types."""

Handle = Any
"""A device as NVML knows it."""


Reading = Callable[[Nvml, Handle, Sample], None]
"""Asks NVML and adds suffix → value; raises NVMLError. What is added before it raises stays."""


def _utilization(nvml: Nvml, handle: Handle, values: Sample) -> None:
    rates = nvml.nvmlDeviceGetUtilizationRates(handle)
    values["gpu"] = float(rates.gpu)
    values["memory"] = int(rates.memory)


def _memory(nvml: Nvml, handle: Handle, values: Sample) -> None:
    memory = memory_info(nvml, handle)
    if memory.total:
        values["memoryAllocated"] = memory.used / memory.total * 100.0
    values["memoryAllocatedBytes"] = int(memory.used)


def memory_info(nvml: Nvml, handle: Handle) -> Any:
    """Version 2 keeps the driver's reserve out of `used`; drivers before 510 have version 1 only."""
    try:
        return nvml.nvmlDeviceGetMemoryInfo(handle, version=nvml.nvmlMemory_v2)
    except nvml.NVMLError as error:
        if error.value not in _other_version(nvml):
            raise
    return nvml.nvmlDeviceGetMemoryInfo(handle)


def _temperature(nvml: Nvml, handle: Handle, values: Sample) -> None:
    sensor = nvml.NVML_TEMPERATURE_GPU
    values["temp"] = float(first(nvml, "nvmlDeviceGetTemperature", "nvmlDeviceGetTemperatureV", handle, sensor))


def _power(nvml: Nvml, handle: Handle, values: Sample) -> None:
    values["powerWatts"] = nvml.nvmlDeviceGetPowerUsage(handle) / 1000.0


def _power_limit(nvml: Nvml, handle: Handle, values: Sample) -> None:
    if "powerWatts" not in values:
        return
    limit = nvml.nvmlDeviceGetEnforcedPowerLimit(handle) / 1000.0
    values["enforcedPowerLimitWatts"] = limit
    if limit > 0:
        values["powerPercent"] = values["powerWatts"] / limit * 100.0


def _energy(nvml: Nvml, handle: Handle, values: Sample) -> None:
    values["energyJoules"] = nvml.nvmlDeviceGetTotalEnergyConsumption(handle) / 1000.0


def _clock(suffix: str, kind: str) -> Reading:
    def clock(nvml: Nvml, handle: Handle, values: Sample) -> None:
        values[suffix] = int(nvml.nvmlDeviceGetClockInfo(handle, getattr(nvml, kind)))

    return clock


def _errors(suffix: str, kind: str) -> Reading:
    """ECC errors of the device's memory since the driver was loaded."""

    def errors(nvml: Nvml, handle: Handle, values: Sample) -> None:
        values[suffix] = int(
            nvml.nvmlDeviceGetMemoryErrorCounter(
                handle, getattr(nvml, kind), nvml.NVML_VOLATILE_ECC, nvml.NVML_MEMORY_LOCATION_DEVICE_MEMORY
            )
        )

    return errors


def _fan(nvml: Nvml, handle: Handle, values: Sample) -> None:
    try:
        values["fanSpeed"] = int(nvml.nvmlDeviceGetFanSpeed_v2(handle, 0))
    except nvml.NVMLError as error:
        if error.value not in _other_version(nvml):
            raise
        values["fanSpeed"] = int(nvml.nvmlDeviceGetFanSpeed(handle))


def _encoder(nvml: Nvml, handle: Handle, values: Sample) -> None:
    values["encoderUtilization"] = int(nvml.nvmlDeviceGetEncoderUtilization(handle)[0])


def _link(suffix: str, call: str, factor: int = 1) -> Reading:
    def link(nvml: Nvml, handle: Handle, values: Sample) -> None:
        values[suffix] = int(getattr(nvml, call)(handle)) * factor

    return link


def _traffic(suffix: str, kind: str) -> Reading:
    """PCIe bytes per second over 20 ms, where GPM doesn't give the mean of the whole interval."""

    def traffic(nvml: Nvml, handle: Handle, values: Sample) -> None:
        values[suffix] = int(nvml.nvmlDeviceGetPcieThroughput(handle, getattr(nvml, kind))) * 1024

    return traffic


def users_of(nvml: Nvml, handle: Handle, values: Sample) -> None:
    """Adds pid → 1. The slices of a device in MIG mode have processes of their own."""
    for part in (handle, *slices(nvml, handle)):
        for kind in ("Compute", "Graphics"):
            call = f"nvmlDeviceGet{kind}RunningProcesses"
            try:
                processes = first(nvml, f"{call}_v3", f"{call}_v2", part)
            except nvml.NVMLError as error:
                if kind == "Compute":  # graphics lists are missing on purpose on many devices
                    raise
                if error.value == nvml.NVML_ERROR_GPU_IS_LOST:
                    raise
                continue
            values.update({str(process.pid): 1 for process in processes})


def slices(nvml: Nvml, handle: Handle) -> list[Handle]:
    found: list[Handle] = []
    with suppress(nvml.NVMLError):
        if nvml.nvmlDeviceGetMigMode(handle)[0]:
            for index in range(int(nvml.nvmlDeviceGetMaxMigDeviceCount(handle))):
                with suppress(nvml.NVMLError):  # numbers of slices have gaps
                    found.append(nvml.nvmlDeviceGetMigDeviceHandleByIndex(handle, index))
    return found


def first(nvml: Nvml, call: str, older: str, *arguments: Any) -> Any:
    """The first of two spellings of a call that both the driver and this pynvml have."""
    try:
        return getattr(nvml, call)(*arguments)
    except AttributeError:
        return getattr(nvml, older)(*arguments)
    except nvml.NVMLError as error:
        if error.value not in _other_version(nvml) or not hasattr(nvml, older):
            raise
    return getattr(nvml, older)(*arguments)


def _other_version(nvml: Nvml) -> tuple[int, ...]:
    """Errors that say: this driver has the call in another version. 25 and 26 are missing in older pynvml."""
    return (nvml.NVML_ERROR_FUNCTION_NOT_FOUND, 25, 26)


READINGS: tuple[tuple[str, Reading], ...] = (
    ("utilization", _utilization),
    ("memory", _memory),
    ("temperature", _temperature),
    ("power", _power),
    ("powerLimit", _power_limit),
    ("energy", _energy),
    ("smClock", _clock("smClock", "NVML_CLOCK_SM")),
    ("memoryClock", _clock("memoryClock", "NVML_CLOCK_MEM")),
    ("corrected", _errors("correctedMemoryErrors", "NVML_MEMORY_ERROR_TYPE_CORRECTED")),
    ("uncorrected", _errors("uncorrectedMemoryErrors", "NVML_MEMORY_ERROR_TYPE_UNCORRECTED")),
    ("fan", _fan),
)

DETAIL: tuple[tuple[str, Reading], ...] = (
    ("graphicsClock", _clock("graphicsClock", "NVML_CLOCK_GRAPHICS")),
    ("encoder", _encoder),
    ("linkGen", _link("pcieLinkGen", "nvmlDeviceGetCurrPcieLinkGeneration")),
    ("linkWidth", _link("pcieLinkWidth", "nvmlDeviceGetCurrPcieLinkWidth")),
    ("linkSpeed", _link("pcieLinkSpeed", "nvmlDeviceGetPcieSpeed", 10**6)),
    ("maxLinkGen", _link("maxPcieLinkGen", "nvmlDeviceGetMaxPcieLinkGeneration")),
    ("maxLinkWidth", _link("maxPcieLinkWidth", "nvmlDeviceGetMaxPcieLinkWidth")),
    ("pcieTx", _traffic("pcieTxBytes", "NVML_PCIE_UTIL_TX_BYTES")),
    ("pcieRx", _traffic("pcieRxBytes", "NVML_PCIE_UTIL_RX_BYTES")),
)
