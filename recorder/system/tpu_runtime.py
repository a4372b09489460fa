"""
The metric service of the TPU runtime, gRPC on a local port: its two messages, read without generated code.

Message layout: `tpu_metric_service.proto` of AI-Hypercomputer/cloud-accelerator-diagnostics. Needs grpcio.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

ADDRESS = ("127.0.0.1", 8431)
METHOD = "/tpu.monitoring.runtime.RuntimeMetricService/GetRuntimeMetric"
TIME_LIMIT = 2.0
QUANTILES = (("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p999", 0.999))


@dataclass(slots=True)
class Measurement:
    """One entry of an answer: whom it is about, and what was measured."""

    device: int = 0
    label: str = ""
    value: float | None = None
    """A gauge or a counter."""
    statistics: dict[str, float] = field(default_factory=dict)
    """Of a distribution or a summary: `mean`, `p50`, …; empty when it has counted nothing."""


class RuntimeService:
    """A connection to the service, which is there only while a program holds the TPU."""

    def __init__(self, address: tuple[str, int] = ADDRESS) -> None:
        import grpc

        self._address = address
        no_proxy = [("grpc.enable_http_proxy", 0)]  # what serves there is on this machine, or named by its address
        self._channel = grpc.insecure_channel(f"{address[0]}:{address[1]}", options=no_proxy)
        self._call = self._channel.unary_unary(METHOD, request_serializer=bytes, response_deserializer=bytes)

    def listening(self) -> bool:
        """Whether somebody listens on the port, found out without waiting."""
        try:
            socket.create_connection(self._address, 0.2).close()
        except OSError:
            return False
        return True

    def get(self, metric: str) -> list[Measurement]:
        """What a metric measures now; grpc's RpcError where the service doesn't have it."""
        name = metric.encode()
        return read_response(self._call(b"\x0a" + bytes([len(name)]) + name, timeout=TIME_LIMIT))

    def close(self) -> None:
        self._channel.close()


def read_response(data: bytes) -> list[Measurement]:
    """A MetricResponse. ValueError where it isn't one."""
    return [_measurement(entry) for _, metric in _fields(data, 1) for _, entry in _fields(metric, 3)]


def _measurement(data: bytes) -> Measurement:
    found = Measurement()
    for number, value in _fields(data):
        if number == 1:
            _attribute(value, found)
        elif number in (3, 4):
            for kind, reading in _fields(value):
                if kind == 1:
                    found.value = _double(reading)
                elif kind == 2:
                    found.value = float(_signed(reading))
        elif number == 5:
            found.statistics = _distribution(value)
        elif number == 6:
            found.statistics = _summary(value)
    return found


def _attribute(data: bytes, found: Measurement) -> None:
    for _, value in _fields(data, 2):
        for kind, content in _fields(value):
            if kind == 1:
                found.label = content.decode(errors="replace")
            elif kind == 3:
                found.device = _signed(content)


def _distribution(data: bytes) -> dict[str, float]:
    count, mean, counts, bounds = 0, 0.0, [], []
    for number, value in _fields(data):
        if number == 1:
            count = _signed(value)
        elif number == 2:
            mean = _double(value)
        elif number == 6:
            bounds = _bounds(value)
        elif number == 7:
            counts += [value] if isinstance(value, int) else list(_varints(value))
    if count <= 0:
        return {}
    statistics = {"mean": mean}
    if bounds and counts:
        statistics |= {name: quantile(bounds, counts, share) for name, share in QUANTILES}
    return statistics


def _bounds(data: bytes) -> list[float]:
    """Upper bounds of all buckets but the last, as in google.api.Distribution: `scale · growth^i`, i = 0 …"""
    for number, options in _fields(data):
        values = dict(_fields(options))
        if number == 3:
            return [_double(item) for kind, value in _fields(options) if kind == 1 for item in _doubles(value)]
        finite = int(values.get(1, 0))
        step, start = _double(values.get(2, bytes(8))), _double(values.get(3, bytes(8)))
        if number == 2:
            return [start * step**i for i in range(finite + 1)]
        if number == 4:
            return [start + step * i for i in range(finite + 1)]
    return []


def quantile(bounds: Sequence[float], counts: Sequence[int], share: float) -> float:
    """
    The value below which a share of the counted ones lies, taken to be spread evenly in each bucket. The first bucket
    begins at 0; in the last, which has no end, it is the last bound.
    """
    wanted = share * sum(counts)
    passed = 0
    for place, count in enumerate(counts):
        if count and passed + count >= wanted:
            if place >= len(bounds):
                break
            low = bounds[place - 1] if place else 0.0
            return low + (bounds[place] - low) * (wanted - passed) / count
        passed += count
    return bounds[-1]


def _summary(data: bytes) -> dict[str, float]:
    count, total = 0, 0.0
    quantiles: dict[float, float] = {}
    for number, value in _fields(data):
        if number == 1:
            count = value
        elif number == 2:
            total = _double(value)
        elif number == 3:
            parts = {kind: _double(item) for kind, item in _fields(value)}
            quantiles[parts.get(1, 0.0)] = parts.get(2, 0.0)
    if count <= 0:
        return {}
    named = {f"p{share * 100:g}".replace(".", ""): value for share, value in sorted(quantiles.items())}
    return {"mean": total / count, **named}


# ---- the wire format of protocol buffers: numbers as they come, everything else as bytes


def _fields(data: bytes, only: int | None = None) -> Iterator[tuple[int, Any]]:
    place = 0
    while place < len(data):
        tag, place = _varint(data, place)
        number, kind = tag >> 3, tag & 7
        value: int | bytes
        if kind == 0:
            value, place = _varint(data, place)
        else:
            size = {1: 8, 5: 4}.get(kind)
            if size is None:
                if kind != 2:
                    raise ValueError(f"wire type {kind} in an answer of the TPU runtime")
                size, place = _varint(data, place)
            value, place = data[place : place + size], place + size
            if place > len(data):
                raise ValueError("an answer of the TPU runtime is cut off")
        if only is None or number == only:
            yield number, value


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while place < len(data) and shift < 70:
        byte = data[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, place
        shift += 7
    raise ValueError("an answer of the TPU runtime is cut off")


def _varints(data: bytes) -> Iterator[int]:
    place = 0
    while place < len(data):
        value, place = _varint(data, place)
        yield value


def _doubles(data: bytes) -> list[bytes]:
    return [data[place : place + 8] for place in range(0, len(data), 8)]


def _double(data: bytes) -> float:
    return float(struct.unpack("<d", data)[0])


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value
