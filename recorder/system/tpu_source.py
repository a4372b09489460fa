"""
What a TPU measures: through libtpu's own SDK, and for what that doesn't give through the runtime's metric service.

Both give values only while a program holds the TPU. The first needs libtpu, the second grpcio (the extra `tpu`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from recorder.system.source import Sample
from recorder.system.tpu import Kind
from recorder.system.tpu_runtime import Measurement, RuntimeService

Shape = Literal["device", "chip", "labelled", "flat", "queue"]


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric: the key's part, its names in the SDK and at the runtime service, the shape of its values."""

    key: str
    sdk: tuple[str, ...]
    service: str
    shape: Shape
    unit: str = "Us"


_LATENCY = "microsecond.cumulative.distribution"
METRICS: tuple[Metric, ...] = (
    Metric("tensorcoreUtilization", ("tensorcore_util", "tensorcore_utilization"), "", "device"),
    Metric("tensorcoreIdleDuration", (), "tpu.runtime.tensorcore.idle_duration.seconds", "device"),
    Metric("dutyCycle", ("duty_cycle_pct",), "tpu.runtime.tensorcore.dutycycle.percent", "chip"),
    Metric("hbmCapacityTotal", ("hbm_capacity_total",), "tpu.runtime.hbm.memory.total.bytes", "device"),
    Metric("hbmCapacityUsage", ("hbm_capacity_usage",), "tpu.runtime.hbm.memory.usage.bytes", "device"),
    Metric("runtimeHbmUtilization", (), "tpu.runtime.hbm.utilization.percent", "device"),
    Metric("iciLinkHealth", ("ici_link_health",), "", "device"),
    Metric("throttleScore", ("tpu_throttle_score",), "", "device"),
    Metric(
        "bufferTransferLatency",
        ("buffer_transfer_latency",),
        f"megascale.dcn_transfer_latencies.{_LATENCY}",
        "labelled",
    ),
    Metric(
        "inboundBufferTransferLatency",
        ("inbound_buffer_transfer_latency",),
        f"megascale.dcn_inbound_transfer_latencies.{_LATENCY}",
        "labelled",
    ),
    Metric(
        "hostToDeviceTransferLatency",
        ("host_to_device_transfer_latency",),
        f"megascale.host_to_device_transfer_latencies.{_LATENCY}",
        "labelled",
    ),
    Metric(
        "deviceToHostTransferLatency",
        ("device_to_host_transfer_latency",),
        f"megascale.device_to_host_transfer_latencies.{_LATENCY}",
        "labelled",
    ),
    Metric(
        "collectiveE2ELatency",
        ("collective_e2e_latency",),
        f"megascale.collective_end_to_end_latencies.{_LATENCY}",
        "labelled",
    ),
    Metric("hostComputeLatency", ("host_compute_latency",), f"megascale.mxla_compute_latencies.{_LATENCY}", "labelled"),
    Metric(
        "hloExecTiming",
        ("hlo_execution_timing", "hlo_exec_timing"),
        "hlo.execution.timing.distribution.microseconds",
        "labelled",
    ),
    Metric(
        "grpcTcpMinRtt",
        ("tcp_min_rtt", "grpc_tcp_min_rtt", "grpc_tcp_min_round_trip_times"),
        f"megascale.grpc_tcp_min_rtt.{_LATENCY}",
        "flat",
    ),
    Metric(
        "grpcTcpDeliveryRate",
        ("tcp_delivery_rate", "grpc_tcp_delivery_rate", "grpc_tcp_delivery_rates"),
        "megascale.grpc_tcp_delivery_rate.Mbps.cumulative.distribution",
        "flat",
        "Mbps",
    ),
    Metric("hloQueueSize", ("hlo_queue_size",), "hlo.queue.size.gauge", "queue"),
)


class TpuSource:
    """This host's TPU: `sdk` is the module `libtpu.sdk.tpumonitoring`, `service` the runtime's; either may lack."""

    name = "tpu"

    def __init__(self, chips: Sequence[Kind], sdk: Any, service: RuntimeService | None) -> None:
        self._chips = chips
        self._kind = chips[0]
        self._sdk = sdk
        self._service = service

    def sample(self) -> Sample:
        sample: Sample = {}
        answered: set[str] = set()
        if self._sdk is not None:
            offered = set(self._sdk.list_supported_metrics())
            for metric in METRICS:
                name = next((name for name in metric.sdk if name in offered), None)
                if name and (values := self._ask_sdk(metric, name)):
                    answered.add(metric.key)
                    sample |= values
        if self._service is not None and self._service.listening():
            for metric in METRICS:
                if metric.service and metric.key not in answered:
                    sample |= self._ask_service(metric, self._service)
        return sample | fill_of_memory(sample)

    def _ask_sdk(self, metric: Metric, name: str) -> Sample:
        try:
            found = self._sdk.get_metric(name)
            return sdk_values(metric, found.data(), str(found.description()), self._kind)
        except RuntimeError:  # no program holds the TPU
            return {}

    def _ask_service(self, metric: Metric, service: RuntimeService) -> Sample:
        import grpc

        try:
            return service_values(metric, service.get(metric.service), self._kind)
        except grpc.RpcError:  # this runtime doesn't have the metric
            return {}

    def facts(self) -> dict[str, Any]:
        """tpu: name, memory, devices on a chip, number of chips."""
        kind = self._kind
        return {
            "tpu": {
                "name": kind.name,
                "hbm_gib": kind.hbm_gib,
                "devices_per_chip": kind.devices,
                "count": len(self._chips),
            }
        }

    def describe(self) -> str:
        return f"{len(self._chips)} × TPU {self._kind.name}"

    def close(self) -> None:
        if self._service is not None:
            self._service.close()


def sdk_values(metric: Metric, data: Iterable[str], description: str, kind: Kind) -> Sample:
    """Key → value of a metric as the SDK gives it: a list of texts, by device, by chip, or by label."""
    texts = [str(text) for text in data]
    sample: Sample = {}
    if metric.shape in ("device", "chip"):
        for place, text in enumerate(texts):
            with suppress(ValueError):
                sample |= _of_devices(metric, place, float(text), kind)
    elif metric.shape == "queue":
        for place, text in enumerate(texts):
            label, colon, number = text.rpartition(":")
            with suppress(ValueError):
                sample[f"tpu.{metric.key}.{clean_label(label) if colon else f'item_{place}'}"] = float(number)
    elif metric.shape == "labelled":
        for text in texts:
            label, *numbers = _split(text)
            sample |= _statistics(f"tpu.{metric.key}.{clean_label(label)}.", numbers, description, metric.unit)
    else:
        numbers = [number for text in texts for number in _split(text)]
        sample |= _statistics(f"tpu.{metric.key}.", numbers, description, metric.unit)
    return sample


def _split(text: str) -> list[str]:
    return [part.strip().strip("'\"") for part in text.strip().strip("[]()").split(",")]


def _statistics(prefix: str, texts: Sequence[str], description: str, unit: str) -> Sample:
    """Names for a list of statistics, by how many there are."""
    p95 = "p99" if "p99" in description.replace("p999", "") and "p95" not in description else "p95"
    names = {5: ("mean", "p50", "p90", p95, "p999"), 4: ("p50", "p90", p95, "p999")}.get(
        len(texts), tuple(f"stat{place}" for place in range(len(texts)))
    )
    sample: Sample = {}
    for name, text in zip(names, texts, strict=True):
        with suppress(ValueError):
            sample[f"{prefix}{name}{unit}"] = float(text)
    return sample


def service_values(metric: Metric, measurements: Sequence[Measurement], kind: Kind) -> Sample:
    """Key → value of a metric as the runtime service gives it."""
    sample: Sample = {}
    for place, found in enumerate(measurements):
        label = clean_label(found.label) if found.label else f"item_{place}"
        if metric.shape in ("device", "chip"):
            if found.value is not None:
                sample |= _of_devices(metric, found.device, found.value, kind)
        elif metric.shape == "queue":
            if found.value is not None:
                sample[f"tpu.{metric.key}.{label}"] = found.value
        else:
            prefix = (
                f"tpu.{metric.key}." if metric.shape == "flat" and not found.label else f"tpu.{metric.key}.{label}."
            )
            sample |= {f"{prefix}{name}{metric.unit}": value for name, value in found.statistics.items()}
    return sample


def _of_devices(metric: Metric, number: int, value: float, kind: Kind) -> Sample:
    """A value of a device, or of a chip for each of its devices."""
    if metric.shape == "chip" and kind.duty_per_chip:
        first = number * kind.devices
        return {f"tpu.{device}.{metric.key}": value for device in range(first, first + kind.devices)}
    return {f"tpu.{number}.{metric.key}": value}


def fill_of_memory(sample: Sample) -> Sample:
    """`hbmMemoryUsage` in percent for each device whose total and use are known."""
    fill: Sample = {}
    for key, used in sample.items():
        if key.endswith(".hbmCapacityUsage"):
            device = key.removesuffix(".hbmCapacityUsage")
            total = sample.get(f"{device}.hbmCapacityTotal", 0)
            if total > 0:
                fill[f"{device}.hbmMemoryUsage"] = used / total * 100.0
    return fill


def clean_label(label: str) -> str:
    """A label as part of a key: `8MB+-ALL_REDUCE` → `8mb_plus_all_reduce`."""
    text = label.lower().replace("+", "_plus_").replace("%", "pct")
    return re.sub(r"[^a-z0-9]+", "_", text).strip("_") or "unknown"
