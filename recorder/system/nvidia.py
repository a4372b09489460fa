"""
NVIDIA GPUs through NVML (`pynvml`, from the package nvidia-ml-py), by NVML's own index (PCI order).

What a device can tell is learned: a call that the driver or the device doesn't have is not made again, one that fails
otherwise is given up after three failures in a row. A device that falls off the bus stops, the others go on.
`gpu.process.<i>.*` repeats device-wide values for the devices that the run's process, or one of its descendants, uses.

Settings in `SystemSettings.extra`: `nvidia_detail` (False) adds what costs more than it tells: the graphics clock, the
encoder's load, the state of the PCIe link, and PCIe traffic for devices before Hopper (each takes the driver 20 ms).
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from recorder.system.gpm import Gpm
from recorder.system.nvidia_driver import LIBRARY
from recorder.system.nvidia_readings import DETAIL, READINGS, Handle, Nvml, Reading, first, memory_info, users_of
from recorder.system.processes import descendants
from recorder.system.source import NotHere, Sample, SystemSettings

if TYPE_CHECKING:
    from recorder.system.families import Warn

FAILURES = 3
"""Failures in a row after which a call that used to be possible is given up."""

_COPIED = (
    "gpu",
    "memory",
    "memoryAllocated",
    "memoryAllocatedBytes",
    "temp",
    "powerWatts",
    "enforcedPowerLimitWatts",
    "powerPercent",
)
_ARCHITECTURES = {
    2: "Kepler",
    3: "Maxwell",
    4: "Pascal",
    5: "Volta",
    6: "Turing",
    7: "Ampere",
    8: "Ada",
    9: "Hopper",
    10: "Blackwell",
    13: "Rubin",
}


def open_source(settings: SystemSettings, warn: Warn) -> NvidiaSource:
    """NotHere without the driver's library, a device, or nvidia-ml-py."""
    if sys.platform != "win32":
        try:
            ctypes.CDLL(LIBRARY)
        except OSError as error:
            raise NotHere(f"no NVIDIA driver ({LIBRARY} cannot be loaded)") from error
    try:
        import pynvml
    except ImportError as error:
        raise NotHere(f"nvidia-ml-py cannot be imported: {error}") from error
    _mend_lock_after_fork()
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        raise NotHere(f"the NVIDIA driver does not start: {error}") from error
    try:
        return NvidiaSource(pynvml, settings, warn)
    except BaseException:
        with suppress(pynvml.NVMLError):
            pynvml.nvmlShutdown()
        raise


class NvidiaSource:
    """The GPUs of this machine, or those of them that were chosen."""

    name = "nvidia"

    def __init__(self, nvml: Nvml, settings: SystemSettings, warn: Warn) -> None:
        self._nvml = nvml
        self._warn = warn
        self._pid = settings.pid or os.getpid()
        self._readings = READINGS + (DETAIL if settings.extra.get("nvidia_detail") else ())
        try:
            self._count = int(nvml.nvmlDeviceGetCount())
        except nvml.NVMLError as error:
            raise NotHere(f"the NVIDIA driver does not list its devices: {error}") from error
        if not self._count:
            raise NotHere("the NVIDIA driver has no device")
        self._devices = list(self._open(_chosen(settings.gpu_device_ids, self._count)))
        if not self._devices:
            raise NotHere("no NVIDIA device can be opened")

    def _open(self, indices: Iterable[int]) -> Iterator[Device]:
        for index in indices:
            try:
                yield Device(self._nvml, index)
            except self._nvml.NVMLError as error:
                self._warn(f"system metrics: GPU {index} cannot be opened: {error}")

    def sample(self) -> Sample:
        sample: Sample = {}
        family: set[int] | None = None
        for device in [device for device in self._devices if not device.lost]:
            values = device.read_all(self._readings)
            if values and (users := device.users()):
                family = family if family is not None else {self._pid, *descendants(self._pid)}
                if users & family:
                    copies = {f"gpu.process.{device.index}.{key}": values[key] for key in _COPIED if key in values}
                    sample.update(copies)
            sample.update({f"gpu.{device.index}.{key}": value for key, value in values.items()})
            if device.lost:
                self._warn(f"system metrics: GPU {device.index} is lost ({device.lost}); its metrics stop here")
        return sample

    def facts(self) -> dict[str, Any]:
        """gpu_type (of the first device), gpu_count (of the machine), cuda_version, gpu_nvidia (of each device)."""
        gpus = [device.facts() for device in self._devices]
        facts: dict[str, Any] = {"gpu_count": self._count, "gpu_nvidia": gpus}
        if "name" in gpus[0]:
            facts["gpu_type"] = gpus[0]["name"]
        with suppress(self._nvml.NVMLError):
            version = int(first(self._nvml, "nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion"))
            facts["cuda_version"] = f"{version // 1000}.{version % 1000 // 10}"
        return facts

    def describe(self) -> str:
        names: dict[str, int] = {}
        for device in self._devices:
            name = device.facts().get("name", "GPU")
            names[name] = names.get(name, 0) + 1
        text = ", ".join(f"{count} × {name}" for name, count in names.items())
        if len(self._devices) < self._count:
            text += f" of {self._count}"
        with suppress(self._nvml.NVMLError):
            text += f", driver {_text(self._nvml.nvmlSystemGetDriverVersion())}"
        return text

    def close(self) -> None:
        for device in self._devices:
            device.close()
        with suppress(self._nvml.NVMLError):
            self._nvml.nvmlShutdown()


class Device:
    """One GPU: its handle, and what has been learned about it."""

    def __init__(self, nvml: Nvml, index: int) -> None:
        self.index = index
        self.lost = ""
        """Why the device is gone, in the driver's words; empty while it is there."""
        self._nvml = nvml
        self._handle: Handle = nvml.nvmlDeviceGetHandleByIndex(index)
        self._off: set[str] = set()
        self._failures: dict[str, int] = {}
        self._gpm = Gpm(nvml, self._handle)
        if self._gpm.supported:  # which has the same keys, as means over the whole interval
            self._off |= {"pcieTx", "pcieRx"}
        self._permanent = {
            nvml.NVML_ERROR_NOT_SUPPORTED,
            nvml.NVML_ERROR_FUNCTION_NOT_FOUND,
            nvml.NVML_ERROR_NO_PERMISSION,
            nvml.NVML_ERROR_INVALID_ARGUMENT,
        }
        self._gone = {nvml.NVML_ERROR_GPU_IS_LOST, 28}  # 28: GPU_NOT_FOUND, which older pynvml doesn't name

    def read_all(self, readings: Iterable[tuple[str, Reading]]) -> Sample:
        """Suffix → value for everything that the device tells now."""
        values: Sample = {}
        for name, reading in readings:
            self._attempt(name, reading, values)
        self._attempt("gpm", lambda nvml, handle, values: self._gpm.read(values), values)
        return values

    def users(self) -> set[int]:
        """The pids of the processes that use the device, as the driver numbers them (a container's are others)."""
        found: Sample = {}
        self._attempt("users", users_of, found)
        return {int(pid) for pid in found}

    def _attempt(self, name: str, reading: Reading, values: Sample) -> None:
        if self.lost or name in self._off:
            return
        try:
            reading(self._nvml, self._handle, values)
            self._failures.pop(name, None)
        except self._nvml.NVMLError as error:
            code = error.value
            self._failures[name] = self._failures.get(name, 0) + 1
            if code in self._gone:
                self.lost = str(error)
            elif code in self._permanent or self._failures[name] >= FAILURES:
                self._off.add(name)

    def facts(self) -> dict[str, Any]:
        """The fields of a GpuNvidiaInfo that the driver tells."""
        nvml, handle = self._nvml, self._handle
        questions: dict[str, Callable[[], Any]] = {
            "name": lambda: _text(nvml.nvmlDeviceGetName(handle)),
            "memory_total": lambda: int(memory_info(nvml, handle).total),
            "cuda_cores": lambda: int(nvml.nvmlDeviceGetNumGpuCores(handle)),
            "architecture": lambda: _ARCHITECTURES.get(nvml.nvmlDeviceGetArchitecture(handle), ""),
            "uuid": lambda: _text(nvml.nvmlDeviceGetUUID(handle)),
            "pci_bus_id": lambda: _text(nvml.nvmlDeviceGetPciInfo(handle).busId),
        }
        facts = {}
        for field, question in questions.items():
            with suppress(nvml.NVMLError):
                if answer := question():
                    facts[field] = answer
        return facts

    def close(self) -> None:
        self._gpm.close()


def _chosen(wanted: Iterable[int] | None, count: int) -> list[int]:
    if wanted is None:
        return list(range(count))
    wanted = sorted(set(wanted))
    chosen = [index for index in wanted if 0 <= index < count]
    if not chosen:
        raise NotHere(f"none of the chosen GPUs {wanted} is among the {count} that are here")
    return chosen


def _text(value: str | bytes) -> str:
    """Older pynvml gives bytes."""
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


_mended = False


def _mend_lock_after_fork() -> None:
    """
    pynvml holds a lock while it loads the library and looks for a function. A process forked at that moment would
    wait for it for ever; give the child a new one.
    """
    global _mended
    if _mended or not hasattr(os, "register_at_fork"):
        return
    _mended = True

    def renew() -> None:
        module = sys.modules.get("pynvml")
        if module is not None and hasattr(module, "libLoadLock"):
            module.libLoadLock = threading.Lock()  # type: ignore[attr-defined]

    os.register_at_fork(after_in_child=renew)
