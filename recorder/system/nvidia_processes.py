"""How much memory of the GPUs each process holds, through NVML: for those who show processes."""

from __future__ import annotations

import ctypes
import sys
from contextlib import suppress

from recorder.system.nvidia_driver import LIBRARY
from recorder.system.nvidia_readings import Handle, Nvml, first, slices
from recorder.system.source import NotHere


class GpuProcesses:
    """Open until `close`; used from one thread."""

    def __init__(self) -> None:
        """Raises NotHere without a driver that lists its devices."""
        if sys.platform == "darwin":
            raise NotHere("no NVIDIA driver on macOS")
        if sys.platform != "win32":
            try:
                ctypes.CDLL(LIBRARY)
            except OSError as error:
                raise NotHere(f"no NVIDIA driver ({LIBRARY} cannot be loaded)") from error
        try:
            import pynvml
        except ImportError as error:
            raise NotHere(f"nvidia-ml-py cannot be imported: {error}") from error
        self._nvml: Nvml = pynvml
        try:
            pynvml.nvmlInit()
            self._handles = [pynvml.nvmlDeviceGetHandleByIndex(i) for i in range(int(pynvml.nvmlDeviceGetCount()))]
        except pynvml.NVMLError as error:
            with suppress(pynvml.NVMLError):
                pynvml.nvmlShutdown()
            raise NotHere(f"the NVIDIA driver does not list its devices: {error}") from error

    def memory(self) -> dict[int, int]:
        """Pid → bytes on all GPUs together, 0 where the driver does not say how many."""
        held: dict[int, int] = {}
        for handle in self._handles:
            for part in (handle, *slices(self._nvml, handle)):
                # A process that both computes and draws is in both lists with all that it holds.
                here: dict[int, int] = {}
                for kind in ("Compute", "Graphics"):
                    for pid, used in self._listed(kind, part):
                        here[pid] = max(used, here.get(pid, 0))
                for pid, used in here.items():
                    held[pid] = held.get(pid, 0) + used
        return held

    def _listed(self, kind: str, part: Handle) -> list[tuple[int, int]]:
        call = f"nvmlDeviceGet{kind}RunningProcesses"
        try:
            listed = first(self._nvml, f"{call}_v3", f"{call}_v2", part)
        except self._nvml.NVMLError:  # lists are missing on many devices
            return []
        return [(int(process.pid), int(process.usedGpuMemory or 0)) for process in listed]

    def close(self) -> None:
        with suppress(self._nvml.NVMLError):
            self._nvml.nvmlShutdown()
