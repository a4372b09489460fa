"""
GPUs of one or many nodes through NVIDIA's DCGM exporter: its own page, or a Prometheus server that collects it.

Ratios become percentages and MiB become bytes, so that a key means the same here as from NVML. Samples of MIG slices
count only for a device that has no value of its own, and the largest of them is taken.

Settings in `SystemSettings.extra`: `dcgm_exporter`, a URL: `http://host:9090/api/v1/query?query=…[&query=…]` asks
Prometheus, any other is read as an exporter's page; `open_metrics_http_headers` {name: value}.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from recorder.system.exposition import read_page
from recorder.system.fetch import fetch
from recorder.system.source import Sample, SystemSettings

if TYPE_CHECKING:
    from recorder.system.families import Warn

_MIB = 1024.0**2
_BLANK = 9.2e18
"""DCGM's values for "no reading" begin here."""

FIELDS: dict[str, tuple[str, float]] = {
    "DCGM_FI_DEV_GPU_UTIL": ("gpu", 1.0),
    "DCGM_FI_DEV_MEM_COPY_UTIL": ("memory", 1.0),
    "DCGM_FI_DEV_GPU_TEMP": ("temp", 1.0),
    "DCGM_FI_DEV_MEMORY_TEMP": ("memoryTemp", 1.0),
    "DCGM_FI_DEV_GPU_MAX_OP_TEMP": ("maxOpTemp", 1.0),
    "DCGM_FI_DEV_MEM_MAX_OP_TEMP": ("memoryMaxOpTemp", 1.0),
    "DCGM_FI_DEV_POWER_USAGE": ("powerWatts", 1.0),
    "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION": ("totalEnergyConsumption", 1.0),
    "DCGM_FI_DEV_SM_CLOCK": ("smClock", 1.0),
    "DCGM_FI_DEV_MEM_CLOCK": ("memoryClock", 1.0),
    "DCGM_FI_DEV_ENC_UTIL": ("encoderUtilization", 1.0),
    "DCGM_FI_DEV_FB_USED": ("memoryUsed", _MIB),
    "DCGM_FI_DEV_FB_TOTAL": ("memoryTotal", _MIB),
    "DCGM_FI_DEV_FB_FREE": ("memoryFree", _MIB),
    "DCGM_FI_PROF_PCIE_TX_BYTES": ("pcieTxBytes", 1.0),
    "DCGM_FI_PROF_PCIE_RX_BYTES": ("pcieRxBytes", 1.0),
    "DCGM_FI_PROF_NVLINK_TX_BYTES": ("nvlinkTxBytes", 1.0),
    "DCGM_FI_PROF_NVLINK_RX_BYTES": ("nvlinkRxBytes", 1.0),
    "DCGM_FI_PROF_SM_ACTIVE": ("smActive", 100.0),
    "DCGM_FI_PROF_SM_OCCUPANCY": ("smOccupancy", 100.0),
    "DCGM_FI_PROF_DRAM_ACTIVE": ("dramActive", 100.0),
    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE": ("pipeTensorActive", 100.0),
    "DCGM_FI_PROF_PIPE_FP64_ACTIVE": ("pipeFp64Active", 100.0),
    "DCGM_FI_PROF_PIPE_FP32_ACTIVE": ("pipeFp32Active", 100.0),
    "DCGM_FI_PROF_PIPE_FP16_ACTIVE": ("pipeFp16Active", 100.0),
}
"""Field → suffix, and what brings the exporter's number to the key's unit."""

Series = tuple[Mapping[str, str], float]
"""Labels (the field's name under `__name__`) and value."""


def open_source(settings: SystemSettings, warn: Warn) -> DcgmSource:
    """Nothing is asked yet: the exporter may come up later than the run."""
    return DcgmSource(settings.extra["dcgm_exporter"], settings.extra.get("open_metrics_http_headers") or {})


class DcgmSource:
    """One exporter, or one Prometheus server with its queries."""

    name = "dcgm"

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        import urllib.parse

        self._url = url
        self._headers = dict(headers)
        parts = urllib.parse.urlsplit(url)
        self._queries: list[str] = []
        if parts.path.rstrip("/").endswith("/api/v1/query"):
            place = urllib.parse.urlunsplit(parts._replace(query="", fragment=""))
            texts = urllib.parse.parse_qs(parts.query).get("query", [])
            if not texts:
                raise ValueError(f"x_stats_dcgm_exporter: {url} has no query")
            self._queries = [f"{place}?{urllib.parse.urlencode({'query': text})}" for text in texts]

    def sample(self) -> Sample:
        """OSError where one address does not answer, ValueError where it answers something else."""
        if self._queries:
            return series_values(series for url in self._queries for series in read_answer(self._get(url)))
        page = self._get(self._url).decode(errors="replace")
        return series_values(
            ({"__name__": reading.name, **dict(reading.labels)}, reading.value) for reading in read_page(page)
        )

    def _get(self, url: str) -> bytes:
        return fetch(url, self._headers)

    def facts(self) -> dict[str, Any]:
        """Nothing: these are not necessarily this machine's devices."""
        return {}

    def describe(self) -> str:
        return f"{len(self._queries)} queries to {self._url.partition('?')[0]}" if self._queries else self._url

    def close(self) -> None:
        """No connection is kept."""


def read_answer(body: bytes) -> Iterator[Series]:
    """The series of Prometheus's answer to an instant query. ValueError where it isn't a vector."""
    answer = json.loads(body)
    data = answer.get("data") or {}
    if answer.get("status") != "success" or data.get("resultType") != "vector":
        raise ValueError(f"Prometheus answers {answer.get('error') or data.get('resultType') or 'nothing'}")
    for series in data.get("result") or []:
        yield series["metric"], float(series["value"][1])


def series_values(series: Iterable[Series]) -> Sample:
    """The values of series under `gpu.<index>.<name>`, with `/l:<node>` where the node is told."""
    sample: Sample = {}
    slices: Sample = {}
    for labels, value in series:
        index = labels.get("gpu") or labels.get("device", "").removeprefix("nvidia")
        field = FIELDS.get(labels.get("__name__", ""))
        if field is None or not index.isdecimal() or abs(value) >= _BLANK:
            continue
        suffix, factor = field
        node = labels.get("node") or labels.get("hostname") or labels.get("Hostname")
        key = f"gpu.{index}.{suffix}" + (f"/l:{node}" if node else "")
        if labels.get("GPU_I_ID"):
            slices[key] = max(value * factor, slices.get(key, value * factor))
        else:
            sample.setdefault(key, value * factor)
    return slices | sample
