"""NVML's performance monitoring (GPM, Hopper and later): means between two samples of a device's counters."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

from recorder.system.source import Sample

SHORTEST = 0.2
"""Seconds that must lie between two samples; NVML's own minimum is 0.1."""

_MIB = 1024.0**2

METRICS: dict[int, tuple[str, float]] = {
    2: ("smActive", 1.0),
    3: ("smOccupancy", 1.0),
    5: ("pipeTensorActive", 1.0),
    7: ("pipeTensorHmmaActive", 1.0),
    10: ("dramActive", 1.0),
    11: ("pipeFp64Active", 1.0),
    12: ("pipeFp32Active", 1.0),
    13: ("pipeFp16Active", 1.0),
    20: ("pcieTxBytes", _MIB),
    21: ("pcieRxBytes", _MIB),
    60: ("nvlinkRxBytes", _MIB),
    61: ("nvlinkTxBytes", _MIB),
}
"""GPM id → suffix, and what brings NVML's number to the key's unit: percentages stay, MiB/s become bytes/s."""


class Gpm:
    """
    One device's performance counters. Each reading covers the time since the one before it, so a value is the mean
    of the whole sampling interval and no call has to wait; the first reading gives nothing.
    """

    def __init__(self, nvml: Any, handle: Any) -> None:
        self._nvml = nvml
        self._handle = handle
        self._before: Any = None
        self._taken = 0.0
        try:
            self.supported = bool(nvml.nvmlGpmQueryDeviceSupport(handle).isSupportedDevice)
        except (AttributeError, nvml.NVMLError):  # an old pynvml, an old driver, an old device
            self.supported = False

    def read(self, values: Sample) -> None:
        """Add suffix → value for what the device measures; raises NVMLError."""
        if not self.supported:
            return
        moment = time.monotonic()
        if self._before is not None and moment - self._taken < SHORTEST:
            return
        nvml = self._nvml
        now = nvml.nvmlGpmSampleAlloc()
        try:
            nvml.nvmlGpmSampleGet(self._handle, now)
            if self._before is not None:
                self._compare(self._before, now, values)
        except BaseException:
            self._free(now)
            raise
        before, self._before, self._taken = self._before, now, moment
        self._free(before)

    def _compare(self, before: Any, now: Any, values: Sample) -> None:
        nvml = self._nvml
        question = nvml.c_nvmlGpmMetricsGet_t()
        question.version = nvml.NVML_GPM_METRICS_GET_VERSION
        question.numMetrics = len(METRICS)
        question.sample1, question.sample2 = before, now
        for place, number in enumerate(METRICS):
            question.metrics[place].metricId = number
        nvml.nvmlGpmMetricsGet(question)
        for place, (suffix, factor) in enumerate(METRICS.values()):
            answer = question.metrics[place]
            if answer.nvmlReturn == nvml.NVML_SUCCESS:
                values[suffix] = float(answer.value) * factor

    def _free(self, sample: Any) -> None:
        if sample is not None:
            with suppress(self._nvml.NVMLError):
                self._nvml.nvmlGpmSampleFree(sample)

    def close(self) -> None:
        """Give the samples back to NVML, before it is shut down."""
        self._free(self._before)
        self._before = None
