"""Google TPUs: chips on a PCI bus of files, the SDK's texts, the runtime service's messages and a real server of it."""

from __future__ import annotations

import json
import struct
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from recorder.system import tpu
from recorder.system.source import NotHere, SystemSettings
from recorder.system.tpu import CHIPS, Kind
from recorder.system.tpu_runtime import METHOD, RuntimeService, quantile, read_response
from recorder.system.tpu_source import METRICS, TpuSource, clean_label, fill_of_memory, sdk_values, service_values

SAMPLES = Path(__file__).parents[1].parent / "shared" / "samples"
BY_KEY = {metric.key: metric for metric in METRICS}
V3, V4, V7 = CHIPS[0x0027, 0x004F], CHIPS[0x005E, None], CHIPS[0x0076, None]


# ---- protocol buffers, as the runtime writes them


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def part(number: int, value: int | float | bytes | str) -> bytes:
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def entry(attribute: int | str | None, measure: bytes) -> bytes:
    if attribute is None:
        return part(3, measure)
    value = part(3 if isinstance(attribute, int) else 1, attribute)
    return part(3, part(1, part(1, "device-id") + part(2, value)) + part(2, part(1, 1_700_000_000)) + measure)


def response(*entries: bytes) -> bytes:
    return part(1, part(1, "name") + part(2, "what it is") + b"".join(entries))


def gauge(value: int | float) -> bytes:
    return part(3, part(1 if isinstance(value, float) else 2, value))


EXPONENTIAL = part(2, part(1, 4) + part(2, 2.0) + part(3, 10.0))  # bounds 10, 20, 40, 80, 160
LINEAR = part(4, part(1, 2) + part(2, 10.0) + part(3, 5.0))  # bounds 5, 15, 25
EXPLICIT = part(3, part(1, struct.pack("<3d", 1.0, 2.0, 4.0)))


def distribution(options: bytes, *counts: int, mean: float = 7.0) -> bytes:
    packed = part(7, b"".join(map(varint, counts)))
    return part(5, part(1, sum(counts)) + part(2, mean) + part(6, options) + packed)


def test_gauges_of_devices() -> None:
    data = response(entry(0, gauge(34)), entry(1, gauge(2.5)), entry(None, gauge(-3)))
    assert [(found.device, found.value) for found in read_response(data)] == [(0, 34.0), (1, 2.5), (0, -3.0)]


@pytest.mark.parametrize(
    ("options", "counts", "p50"),
    [
        (EXPONENTIAL, (0, 100, 300, 400, 150, 50), 50.0),  # the 500th of 1000: a quarter into 40 … 80
        (LINEAR, (0, 0, 10, 0), 20.0),
        (EXPLICIT, (10, 0, 0, 0), 0.5),
        (EXPLICIT, (0, 0, 0, 9), 4.0),
    ],
)
def test_distributions(options: bytes, counts: tuple[int, ...], p50: float) -> None:
    (found,) = read_response(response(entry("8MB+", distribution(options, *counts))))
    assert found.label == "8MB+"
    assert found.statistics["mean"] == 7.0
    assert found.statistics["p50"] == p50
    assert list(found.statistics) == ["mean", "p50", "p90", "p95", "p999"]


def test_a_distribution_that_has_counted_nothing() -> None:
    (found,) = read_response(response(entry("x", distribution(LINEAR, 0, 0, 0, 0))))
    assert found.statistics == {}


def test_summaries() -> None:
    quantiles = part(3, part(1, 0.5) + part(2, 4.0)) + part(3, part(1, 0.999) + part(2, 9.0))
    (found,) = read_response(response(entry("x", part(6, part(1, 4) + part(2, 10.0) + quantiles))))
    assert found.statistics == {"mean": 2.5, "p50": 4.0, "p999": 9.0}


@pytest.mark.parametrize("cut", [1, 5, 20])
def test_an_answer_that_is_cut_off(cut: int) -> None:
    data = response(entry(1, gauge(5)), entry(2, gauge(6)))
    with pytest.raises(ValueError, match="cut off"):
        read_response(data[:-cut])


def test_quantiles_at_the_edges() -> None:
    assert quantile([10.0], [4, 0], 0.5) == 5.0
    assert quantile([10.0, 20.0], [0, 4, 0], 1.0) == 20.0


# ---- values under their keys


def test_duty_cycle_of_chips_with_two_devices() -> None:
    found = read_response(response(entry(0, gauge(10.0)), entry(1, gauge(30.0))))
    assert service_values(BY_KEY["dutyCycle"], found, V3) == {
        "tpu.0.dutyCycle": 10.0,
        "tpu.1.dutyCycle": 10.0,
        "tpu.2.dutyCycle": 30.0,
        "tpu.3.dutyCycle": 30.0,
    }
    one_each = {"tpu.0.dutyCycle": 10.0, "tpu.1.dutyCycle": 30.0}
    assert service_values(BY_KEY["dutyCycle"], found, V4) == one_each
    assert service_values(BY_KEY["dutyCycle"], found, V7) == one_each
    assert sdk_values(BY_KEY["dutyCycle"], ["10.0", "30.0"], "", V3)["tpu.3.dutyCycle"] == 30.0


def test_labels_and_statistics_of_the_sdk() -> None:
    texts = ["['8MB+-ALL_REDUCE', '1.5', '2', '3', '4', '5']"]
    assert sdk_values(BY_KEY["collectiveE2ELatency"], texts, "mean, p50, p90, p99 and p999", V4) == {
        "tpu.collectiveE2ELatency.8mb_plus_all_reduce.meanUs": 1.5,
        "tpu.collectiveE2ELatency.8mb_plus_all_reduce.p50Us": 2.0,
        "tpu.collectiveE2ELatency.8mb_plus_all_reduce.p90Us": 3.0,
        "tpu.collectiveE2ELatency.8mb_plus_all_reduce.p99Us": 4.0,
        "tpu.collectiveE2ELatency.8mb_plus_all_reduce.p999Us": 5.0,
    }
    four = sdk_values(BY_KEY["hloExecTiming"], ["core, 1, 2, 3, 4"], "", V4)
    assert [key.rpartition(".")[2] for key in four] == ["p50Us", "p90Us", "p95Us", "p999Us"]
    two = sdk_values(BY_KEY["hloExecTiming"], ["core, 1, 2"], "", V4)
    assert [key.rpartition(".")[2] for key in two] == ["stat0Us", "stat1Us"]


@pytest.mark.parametrize("texts", [["1", "2", "3", "4", "5"], ["1, 2, 3, 4, 5"]])
def test_flat_statistics_in_either_form(texts: list[str]) -> None:
    values = sdk_values(BY_KEY["grpcTcpDeliveryRate"], texts, "", V4)
    assert values["tpu.grpcTcpDeliveryRate.meanMbps"] == 1.0
    assert values["tpu.grpcTcpDeliveryRate.p999Mbps"] == 5.0


def test_texts_that_are_no_numbers_are_skipped() -> None:
    values = sdk_values(BY_KEY["tensorcoreUtilization"], ["1.5", "n/a", "3"], "", V4)
    assert values == {"tpu.0.tensorcoreUtilization": 1.5, "tpu.2.tensorcoreUtilization": 3.0}
    assert sdk_values(BY_KEY["hloQueueSize"], ["tensorcore-0: 4", "7"], "", V4) == {
        "tpu.hloQueueSize.tensorcore_0": 4.0,
        "tpu.hloQueueSize.item_1": 7.0,
    }


@pytest.mark.parametrize(
    ("label", "clean"),
    [("8MB+", "8mb_plus"), ("tensorcore-0", "tensorcore_0"), ("50%", "50pct"), ("--", "unknown"), ("", "unknown")],
)
def test_labels(label: str, clean: str) -> None:
    assert clean_label(label) == clean


def test_fill_of_memory() -> None:
    sample = {"tpu.0.hbmCapacityUsage": 1.0, "tpu.0.hbmCapacityTotal": 4.0, "tpu.1.hbmCapacityUsage": 1.0}
    assert fill_of_memory(sample) == {"tpu.0.hbmMemoryUsage": 25.0}


# ---- chips and sources


def machine(root: Path, *devices: tuple[str, str, str]) -> Path:
    for place, (vendor, device, subsystem) in enumerate(devices):
        folder = root / f"sys/bus/pci/devices/0000:00:0{place}.0"
        folder.mkdir(parents=True)
        for name, text in (("vendor", vendor), ("device", device), ("subsystem_device", subsystem)):
            (folder / name).write_text(f"{text}\n")
    return root


def test_chips_on_the_bus(tmp_path: Path) -> None:
    root = machine(
        tmp_path,
        ("0x8086", "0x0063", "0x0000"),
        ("0x1ae0", "0x0027", "0x004f"),
        ("0x1ae0", "0x0027", "0x004e"),
        ("0x1ae0", "0x0063", "0x1234"),
        ("0x1ae0", "0x9999", "0x0000"),
    )
    assert [chip.name for chip in tpu.find_chips(root)] == ["v3", "v2", "v5e"]


def test_not_here_without_a_chip(tmp_path: Path) -> None:
    with pytest.raises(NotHere, match="no TPU on the PCI bus"):
        tpu.open_source(SystemSettings(), print, machine(tmp_path, ("0x8086", "0x0063", "0x0000")))


SDK = """
class Metric:
    def __init__(self, data): self._data = data
    def data(self): return self._data
    def description(self): return "mean, p50, p90, p95, p999"
VALUES = {"hbm_capacity_total": ["8", "8"], "hbm_capacity_usage": ["2", "4"], "tensorcore_utilization": ["5", "6"]}
def list_supported_metrics(): return [*VALUES, "duty_cycle_pct"]
def get_metric(name):
    if name not in VALUES: raise RuntimeError("no program holds the TPU")
    return Metric(VALUES[name])
"""


def test_through_the_sdk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "libtpu" / "sdk"
    package.mkdir(parents=True)
    (tmp_path / "libtpu" / "__init__.py").touch()
    (package / "__init__.py").touch()
    (package / "tpumonitoring.py").write_text(SDK)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("libtpu", "libtpu.sdk", "libtpu.sdk.tpumonitoring"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    root = machine(tmp_path, ("0x1ae0", "0x005e", "0"), ("0x1ae0", "0x005e", "0"))
    source = tpu.open_source(SystemSettings(), print, root)
    try:
        assert source.sample() == {
            "tpu.0.tensorcoreUtilization": 5.0,
            "tpu.1.tensorcoreUtilization": 6.0,
            "tpu.0.hbmCapacityTotal": 8.0,
            "tpu.1.hbmCapacityTotal": 8.0,
            "tpu.0.hbmCapacityUsage": 2.0,
            "tpu.1.hbmCapacityUsage": 4.0,
            "tpu.0.hbmMemoryUsage": 25.0,
            "tpu.1.hbmMemoryUsage": 50.0,
        }
        assert source.facts() == {"tpu": {"name": "v4", "hbm_gib": 32, "devices_per_chip": 1, "count": 2}}
        assert source.describe() == "2 × TPU v4"
    finally:
        source.close()
        for name in ("libtpu", "libtpu.sdk", "libtpu.sdk.tpumonitoring"):
            sys.modules.pop(name, None)


def test_through_the_runtime_service() -> None:
    grpc = pytest.importorskip("grpc", reason="grpcio (the extra `tpu`) is not installed")
    answers = {
        "tpu.runtime.hbm.memory.total.bytes": response(entry(0, gauge(8))),
        "tpu.runtime.hbm.memory.usage.bytes": response(entry(0, gauge(2))),
    }

    def answer(request: bytes, context: Any) -> bytes:
        name = request[2:].decode()
        if name not in answers:
            context.abort(grpc.StatusCode.NOT_FOUND, name)
        return answers[name]

    _, service, method = METHOD.split("/")
    handler = grpc.unary_unary_rpc_method_handler(answer, request_deserializer=bytes, response_serializer=bytes)
    server = grpc.server(ThreadPoolExecutor(1))
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(service, {method: handler})])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    source = TpuSource([Kind("v4", 32, 1)], None, RuntimeService(("127.0.0.1", port)))
    try:
        assert source.sample() == {
            "tpu.0.hbmCapacityTotal": 8.0,
            "tpu.0.hbmCapacityUsage": 2.0,
            "tpu.0.hbmMemoryUsage": 25.0,
        }
    finally:
        server.stop(None).wait()
    assert source.sample() == {}  # the program has ended, and the port with it
    source.close()


# ---- published values


def published(name: str) -> bytes:
    if not SAMPLES.is_dir():
        pytest.skip("the samples are not beside this checkout")
    return (SAMPLES / name).read_bytes()


def test_published_values_of_the_sdk() -> None:
    expected = json.loads(published("expected_head.json"))
    data = json.loads(published("tpu_sdk_data.json"))
    values: dict[str, float] = {}
    for metric in METRICS:
        for name in metric.sdk:
            values |= sdk_values(metric, data.get(name, []), "", V4)
    assert values | fill_of_memory(values) == expected["tpu_sdk_data.json (no p99 in description, 1 device/chip)"]


@pytest.mark.parametrize(
    ("name", "key"), [("total", "hbmCapacityTotal"), ("usage", "hbmCapacityUsage"), ("duty", "dutyCycle")]
)
def test_published_messages(name: str, key: str) -> None:
    expected = json.loads(published("expected_head.json"))["tpu_grpc_responses.json v4_8"]
    values = service_values(BY_KEY[key], read_response(published(f"tpu_grpc_v4_8_{name}.pb")), V4)
    assert values == {known: value for known, value in expected.items() if known.endswith(key)}


def test_the_published_distribution() -> None:
    """Its buckets are google.api's, which begin at `scale`; the SDK takes each for the next one (p50 = 100)."""
    found = read_response(published("tpu_grpc_distribution_synthetic.pb"))
    values = service_values(BY_KEY["bufferTransferLatency"], found, V4)
    assert values["tpu.bufferTransferLatency.8mb_plus.meanUs"] == 50.0
    assert values["tpu.bufferTransferLatency.8mb_plus.p50Us"] == 50.0
    assert values["tpu.bufferTransferLatency.8mb_plus.p999Us"] == 160.0
