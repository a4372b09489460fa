"""What every system metric is: one table from keys to charts.

Sources: the keys that the samplers of the W&B SDK write, of this and earlier generations, and those of `recorder`.
A key is looked up from the top of the table, and the order of the table is the order of the charts: first what a
person wants to see at night. A key without a row is drawn under its own name, behind the others.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

from leet.model import units
from leet.model.safe_text import clean
from leet.model.units import NUMBER, PERCENT, Unit


@dataclass(frozen=True, slots=True)
class Definition:
    """A row of the table: which keys, and how they are drawn. `{0}`, `{1}` … stand for the groups of the pattern."""

    pattern: str
    title: str
    unit: Unit = NUMBER
    series: str = ""
    """What a curve is called among the others of its chart; empty when the chart has but one."""
    counter: bool = False
    """The key counts up; what is drawn is its growth per second, and `unit` is that of the growth."""
    total: Unit = NUMBER
    """Unit of the total of a counter."""
    from_zero: bool = False
    """The counter began at 0 with the run, so that its first value counts towards the total."""
    mebibytes_below: float = 0.0
    """Smaller values are MiB and not bytes: two writers use the key, each with its own scale."""

    @property
    def percentage(self) -> bool:
        return self.unit is PERCENT


@dataclass(frozen=True, slots=True)
class SystemMetric:
    """What one key is: the curve `series` of the chart `chart`, drawn as `definition` says."""

    key: str
    chart: str
    """Identity of the chart."""
    title: str
    series: str
    definition: Definition
    rank: int
    """Place of the chart among the others."""


def _row(
    pattern: str,
    title: str,
    unit: Unit = NUMBER,
    series: str = "",
    kind: Literal["gauge", "since start", "since boot"] = "gauge",
    total: Unit = NUMBER,
    mebibytes_below: float = 0.0,
) -> Definition:
    return Definition(pattern, title, unit, series, kind != "gauge", total, kind == "since start", mebibytes_below)


_GPU = r"gpu\.([^.]+)\."
_PROCESS_GPU = r"gpu\.process\.([^.]+)\."
_TPU = r"tpu\.([^.]+)\."
_IPU = r"ipu\.([^.]+)\."
_CORE = r"trn\.([^.]+)\."
_RATE = units.BYTES_PER_SECOND
_B, _MIB, _GIB = units.BYTES, units.MEBIBYTES, units.GIBIBYTES
_MIB_RATE = Unit("B/s", "decimal-rate", 1024.0**2)
_MILLIJOULES = Unit("J", "si", 1e-3)


def _gpu(name: str, title: str, unit: Unit = NUMBER, **more: object) -> Definition:
    return _row(_GPU + name, f"GPU {title}", unit, "GPU {0}", **more)  # type: ignore[arg-type]


def _process_gpu(name: str, title: str, unit: Unit = NUMBER) -> Definition:
    return _row(_PROCESS_GPU + name, f"Process GPU {title}", unit, "GPU {0}")


def _tpu(name: str, title: str, unit: Unit = NUMBER) -> Definition:
    return _row(_TPU + name, f"TPU {title}", unit, "TPU {0}")


def _latency(name: str, title: str) -> Definition:
    """A labelled distribution of microseconds: `tpu.<name>.<label>.<statistic>Us`, the label may be missing."""
    return _row(rf"tpu\.{name}\.(.+?)(?:Us)?", f"TPU {title}", units.MICROSECONDS, "{0}")


TABLE: tuple[Definition, ...] = (
    # GPU: is it working, is it full, is it hot
    _gpu("gpu", "Utilization", PERCENT),
    _gpu("memoryAllocated", "Memory Allocated (%)", PERCENT),
    _gpu("memoryAllocatedBytes", "Memory Allocated", _B),
    # DCGM writes MiB here, the SDK's Apple sampler of 2024 bytes.
    _gpu("memoryUsed", "Memory Used", _B, mebibytes_below=1e7),
    _gpu("powerWatts", "Power", units.WATT),
    _gpu("powerPercent", "Power (%)", PERCENT),
    _gpu("temp", "Temp", units.CELSIUS),
    _gpu("memoryTemp", "Memory Temp", units.CELSIUS),
    _gpu("memory", "Memory Access", PERCENT),
    _gpu("memoryReadWriteActivity", "Memory Read/Write Activity", PERCENT),
    _gpu("smActive", "SM Active", PERCENT),
    _gpu("smOccupancy", "SM Occupancy", PERCENT),
    _gpu("pipeTensorActive", "Tensor Pipeline", PERCENT),
    _gpu("pipeTensorHmmaActive", "Tensor HMMA", PERCENT),
    _gpu("dramActive", "DRAM Active", PERCENT),
    _gpu("pipeFp64Active", "FP64 Pipeline", PERCENT),
    _gpu("pipeFp32Active", "FP32 Pipeline", PERCENT),
    _gpu("pipeFp16Active", "FP16 Pipeline", PERCENT),
    # Other accelerators
    _row(r"tpu", "TPU Utilization", PERCENT),
    _tpu("tensorcoreUtilization", "Tensorcore Utilization", PERCENT),
    _tpu("dutyCycle", "Duty Cycle", PERCENT),
    _tpu("hbmMemoryUsage", "HBM Memory Usage", PERCENT),
    _tpu("memoryUsage", "Memory Usage (%)", PERCENT),
    _tpu("hbmCapacityUsage", "HBM Capacity Usage", _B),
    _tpu("memoryUsageBytes", "Memory Usage", _B),
    _tpu("runtimeHbmUtilization", "Runtime HBM Utilization", PERCENT),
    _row(_IPU + r"ipu utilisation(?: \(%\))?", "IPU Utilisation", PERCENT, "IPU {0}"),
    _row(_IPU + r"ipu utilisation \(session\)(?: \(%\))?", "IPU Utilisation (session)", PERCENT, "IPU {0}"),
    _row(_IPU + r"ipu power(?: \(W\))?", "IPU Power", units.WATT, "IPU {0}"),
    _row(_IPU + r"average die temp(?: \(C\))?", "IPU Die Temp", units.CELSIUS, "IPU {0}"),
    _row(_IPU + r"average board temp(?: \(C\))?", "IPU Board Temp", units.CELSIUS, "IPU {0}"),
    _row(_CORE + r"neuroncore_utilization", "Neuron Core Utilization", PERCENT, "Core {0}"),
    _row(r"trn\.neuron_device_total_memory_usage", "Neuron Device Memory", _B),
    _row(r"trn\.host_total_memory_usage", "Neuron Host Memory", _B),
    # CPU
    _row(r"cpu\.([^.]+)\.cpu_percent", "CPU Core", PERCENT, "CPU {0}"),
    _row(r"cpu", "Process CPU", PERCENT),
    _row(r"cpu\.ecpu_percent", "Apple CPU", PERCENT, "E-cores"),
    _row(r"cpu\.pcpu_percent", "Apple CPU", PERCENT, "P-cores"),
    _row(r"cpu\.percent|cpu_percent", "System CPU", PERCENT),
    _row(r"proc\.cpu\.throttledPercent", "Process CPU Throttled", PERCENT),
    # Memory
    _row(r"memory_percent|memory|memory\.used_percent", "System Memory (%)", PERCENT, ""),
    _row(r"memory\.used", "System Memory", _B),
    _row(r"proc\.memory\.rssMB", "Process Memory", _MIB),
    _row(r"proc\.memory\.percent", "Process Memory (%)", PERCENT),
    _row(r"proc\.memory\.availableMB", "Memory Available", _MIB),
    _row(r"swap\.used_percent", "Swap (%)", PERCENT),
    _row(r"swap\.used", "Swap", _B),
    _row(r"proc\.memory\.oomKills", "Process OOM Kills"),
    # Network and disk
    _row(r"network\.recv", "Network I/O", _RATE, "received", "since start", _B),
    _row(r"network\.sent", "Network I/O", _RATE, "sent", "since start", _B),
    _row(r"network\.recvBps", "Network Rate", _RATE, "received"),
    _row(r"network\.sentBps", "Network Rate", _RATE, "sent"),
    _row(r"disk\.in", "Disk I/O", _MIB_RATE, "read", "since start", _MIB),
    _row(r"disk\.out", "Disk I/O", _MIB_RATE, "written", "since start", _MIB),
    _row(r"disk\.(.+)\.in", "Disk I/O by Device", _MIB_RATE, "{0} read", "since start", _MIB),
    _row(r"disk\.(.+)\.out", "Disk I/O by Device", _MIB_RATE, "{0} written", "since start", _MIB),
    _row(r"disk\.(.+)\.readBps", "Disk Rate", _RATE, "{0} read"),
    _row(r"disk\.(.+)\.writeBps", "Disk Rate", _RATE, "{0} written"),
    _row(r"disk\.(.+)\.usagePercent", "Disk Usage (%)", PERCENT, "{0}"),
    _row(r"disk", "Disk Usage (%)", PERCENT),
    _row(r"disk\.(.+)\.usageGB", "Disk Usage", _GIB, "{0}"),
    _row(r"network\.tcpRetransmits", "TCP Retransmits", Unit("/s"), "", "since start"),
    # The process on its GPUs (the same device-wide figures)
    _process_gpu("gpu", "Utilization", PERCENT),
    _process_gpu("memoryAllocated", "Memory Allocated (%)", PERCENT),
    _process_gpu("memoryAllocatedBytes", "Memory Allocated", _B),
    _process_gpu("memoryUsedBytes", "Memory Used", _B),
    _process_gpu("powerWatts", "Power", units.WATT),
    _process_gpu("powerPercent", "Power (%)", PERCENT),
    _process_gpu("temp", "Temp", units.CELSIUS),
    _process_gpu("memory", "Memory Access", PERCENT),
    _process_gpu("enforcedPowerLimitWatts", "Power Limit", units.WATT),
    # GPU: links, clocks, limits, errors
    _gpu("uncorrectedMemoryErrors|unCorrectedMemoryErrors", "Uncorrected Errors"),
    _gpu("correctedMemoryErrors", "Corrected Errors"),
    _gpu("recoveryCount", "Recovery Count"),
    _gpu("pcieTxBytes", "PCIe Tx", _RATE),
    _gpu("pcieRxBytes", "PCIe Rx", _RATE),
    _gpu("nvlinkTxBytes", "NVLink Tx", _RATE),
    _gpu("nvlinkRxBytes", "NVLink Rx", _RATE),
    _gpu("encoderUtilization", "Encoder", PERCENT),
    _gpu("decoderUtilization", "Decoder", PERCENT),
    _gpu("smClock", "SM Clock", units.MEGAHERTZ),
    _gpu("memoryClock", "Memory Clock", units.MEGAHERTZ),
    _gpu("graphicsClock", "Graphics Clock", units.MEGAHERTZ),
    _gpu("freq", "Freq", units.MEGAHERTZ),
    _gpu("fanSpeed", "Fan", PERCENT),
    _gpu("enforcedPowerLimitWatts", "Power Limit", units.WATT),
    _gpu("energyJoules", "Energy Use", units.WATT, kind="since boot", total=units.JOULE),
    _gpu("totalEnergyConsumption", "Total Energy Use", Unit("W", "watt", 1e-3), kind="since boot", total=_MILLIJOULES),
    _gpu("memoryTotal", "Memory Total", _MIB),
    _gpu("memoryFree", "Memory Free", _MIB),
    _gpu("memoryOverDrive", "Memory OverDrive", PERCENT),
    _gpu("maxOpTemp", "Max Operating Temp", units.CELSIUS),
    _gpu("memoryMaxOpTemp", "Memory Max Operating Temp", units.CELSIUS),
    _gpu("pcieLinkSpeed", "PCIe Link Speed", units.BITS_PER_SECOND),
    _gpu("pcieLinkGen", "PCIe Link Generation"),
    _gpu("pcieLinkWidth", "PCIe Link Width"),
    _gpu("maxPcieLinkGen", "PCIe Link Generation, Max"),
    _gpu("maxPcieLinkWidth", "PCIe Link Width, Max"),
    _gpu(r"dcgm_field_(\d+)", "DCGM Field {1}"),
    _gpu(r"([^.]+)", "{1}"),
    # Power, clocks and heat of the rest
    _row(r"system\.powerWatts", "System Power", units.WATT),
    _row(r"cpu\.powerWatts", "CPU Power", units.WATT),
    _row(r"ane\.power", "Neural Engine Power", units.WATT),
    _row(r"cpu\.avg_temp", "CPU Temp", units.CELSIUS),
    _row(r"cpu\.ecpu_freq", "Apple CPU Freq", units.MEGAHERTZ, "E-cores"),
    _row(r"cpu\.pcpu_freq", "Apple CPU Freq", units.MEGAHERTZ, "P-cores"),
    _row(r"proc\.cpu\.threads", "Process Threads"),
    # The rest of TPU, IPU and Trainium
    _tpu("hbmCapacityTotal", "HBM Capacity Total", _B),
    _tpu("tensorcoreIdleDuration", "Tensorcore Idle Duration", units.SECONDS),
    _tpu("iciLinkHealth", "ICI Link Health"),
    _tpu("throttleScore", "Throttle Score"),
    _latency("bufferTransferLatency", "Buffer Transfer Latency"),
    _latency("inboundBufferTransferLatency", "Inbound Buffer Transfer Latency"),
    _latency("hostToDeviceTransferLatency", "Host to Device Transfer Latency"),
    _latency("deviceToHostTransferLatency", "Device to Host Transfer Latency"),
    _latency("collectiveE2ELatency", "Collective End-to-End Latency"),
    _latency("hostComputeLatency", "Host Compute Latency"),
    _latency("hloExecTiming", "HLO Execution Timing"),
    _latency("grpcTcpMinRtt", "gRPC TCP Min RTT"),
    _row(r"tpu\.grpcTcpDeliveryRate\.(.+?)(?:Mbps)?", "TPU gRPC TCP Delivery Rate", units.MEGABITS_PER_SECOND, "{0}"),
    _row(r"tpu\.hloQueueSize\.(.+)", "TPU HLO Queue Size", NUMBER, "{0}"),
    _row(_IPU + r"clock(?: \(MHz\))?", "IPU Clock", units.MEGAHERTZ, "IPU {0}"),
    _row(_IPU + r"total board power(?: \(W\))?", "IPU Board Power", units.WATT, "IPU {0}"),
    _row(_IPU + r"(?:link )?speed(?: \(GT/s\))?", "IPU Link Speed", Unit("GT/s", "none"), "IPU {0}"),
    _row(_IPU + r"([^.]+)", "IPU {1}", NUMBER, "IPU {0}"),
    _row(r"trn\.host_(?:total_)?memory_usage\.application_memory", "Neuron Host Application Memory", _B),
    _row(r"trn\.host_(?:total_)?memory_usage\.constants", "Neuron Host Constants", _B),
    _row(r"trn\.host_(?:total_)?memory_usage\.dma_buffers", "Neuron Host DMA Buffers", _B),
    _row(r"trn\.host_(?:total_)?memory_usage\.tensors", "Neuron Host Tensors", _B),
    _row(_CORE + r"neuroncore_memory_usage\.constants", "Neuron Core Constants", _B, "Core {0}"),
    _row(_CORE + r"neuroncore_memory_usage\.model_code", "Neuron Core Model Code", _B, "Core {0}"),
    _row(_CORE + r"neuroncore_memory_usage\.model_shared_scratchpad", "Neuron Core Scratchpad", _B, "Core {0}"),
    _row(_CORE + r"neuroncore_memory_usage\.runtime_memory", "Neuron Core Runtime Memory", _B, "Core {0}"),
    _row(_CORE + r"neuroncore_memory_usage\.tensors", "Neuron Core Tensors", _B, "Core {0}"),
    # What was scraped, and what the SDK itself uses
    _row(r"openmetrics\.([^.]+)\.(.+)\.(\d+)", "{1} ({0})", NUMBER, "#{2}"),
    # Of one core, so that it may pass 100.
    _row(r"wandb\.cpu", "W&B CPU", Unit("%", "none")),
    _row(r"wandb\.memory\.rssMB", "W&B Memory", _MIB),
)

_UNKNOWN = _row(r"(.+)", "{0}")
_LABELS = re.compile(r"/l:([^/]*)")


_compiled = cache(re.compile)
"""Patterns are compiled when a key is first looked up: a hundred of them cost more than a start should."""


@cache
def describe(key: str) -> SystemMetric:
    """What a key is. Every key is something: one that no row knows is a chart of its own name."""
    bare, labels = _split(key)
    for rank, definition in enumerate(TABLE):
        match = _compiled(definition.pattern).fullmatch(bare)
        if match:
            return _metric(key, definition, match.groups(), labels, rank)
    return _metric(key, _UNKNOWN, (bare,), labels, len(TABLE))


def _split(key: str) -> tuple[str, list[str]]:
    """The key without a leading slash and without the labels of the writers (`/l:rank_0`), and those labels."""
    bare = key.removeprefix("/") or key
    bare, mark, rest = bare.partition("/l:")
    if not mark or not bare:
        return key, []
    return bare, [label for label in _LABELS.findall(mark + rest) if label]


def _metric(
    key: str, definition: Definition, groups: tuple[str | None, ...], labels: list[str], rank: int
) -> SystemMetric:
    names = [clean((group or "").replace("\\", "/")) for group in groups]
    title = definition.title.format(*names)
    series = " · ".join([s for s in [definition.series.format(*names)] if s] + [clean(label) for label in labels])
    chart = title if definition is not _UNKNOWN else f"key {title}"
    return SystemMetric(key, chart, title, series, definition, rank)
