"""System metrics: every known key has its chart, every other one too."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leet.model import units
from leet.model.system_metrics import TABLE, describe
from leet.model.system_store import SystemStore
from leet.reading.batch import Columns, SystemBatch

REFERENCE = Path(__file__).resolve().parents[2] / "shared" / "reference"


def samples(*rows: tuple[float, dict[str, float]]) -> SystemBatch:
    held = defaultdict(list)
    for i, (_, values) in enumerate(rows):
        for key, value in values.items():
            held[key].append((i, value))
    starts = np.cumsum([0] + [len(points) for points in held.values()])
    flat = [point for points in held.values() for point in points]
    return SystemBatch(
        np.array([t for t, _ in rows], float),
        Columns(
            tuple(held),
            starts,
            np.array([row for row, _ in flat], np.int32),
            np.array([value for _, value in flat], float),
        ),
    )


def store_of(*rows: tuple[float, dict[str, float]]) -> SystemStore:
    store = SystemStore()
    store.append(samples(*rows))
    return store


@pytest.mark.parametrize(
    ("key", "title", "series", "unit"),
    [
        ("cpu", "Process CPU", "", units.PERCENT),
        ("cpu.12.cpu_percent", "CPU Core", "CPU 12", units.PERCENT),
        ("memory_percent", "System Memory (%)", "", units.PERCENT),
        ("memory", "System Memory (%)", "", units.PERCENT),
        ("proc.memory.rssMB", "Process Memory", "", units.MEBIBYTES),
        ("proc.memory.availableMB", "Memory Available", "", units.MEBIBYTES),
        ("disk./.usagePercent", "Disk Usage (%)", "/", units.PERCENT),
        ("disk./mnt/data.v2.usageGB", "Disk Usage", "/mnt/data.v2", units.GIBIBYTES),
        (r"disk.\data.usagePercent", "Disk Usage (%)", "/data", units.PERCENT),
        ("gpu.0.gpu", "GPU Utilization", "GPU 0", units.PERCENT),
        ("gpu.10.memoryAllocatedBytes", "GPU Memory Allocated", "GPU 10", units.BYTES),
        ("gpu.process.3.memoryAllocated", "Process GPU Memory Allocated (%)", "GPU 3", units.PERCENT),
        ("gpu.0.gpu/l:rank_1", "GPU Utilization", "GPU 0 · rank_1", units.PERCENT),
        ("/cpu/l:rank_1", "Process CPU", "rank_1", units.PERCENT),
        ("cpu/l:a/l:b", "Process CPU", "a · b", units.PERCENT),
        ("gpu.1.fanSpeed", "GPU Fan", "GPU 1", units.PERCENT),
        ("gpu.1.memoryOverDrive", "GPU Memory OverDrive", "GPU 1", units.PERCENT),
        ("gpu.1.pcieLinkSpeed", "GPU PCIe Link Speed", "GPU 1", units.BITS_PER_SECOND),
        ("gpu.1.memoryTemp", "GPU Memory Temp", "GPU 1", units.CELSIUS),
        ("gpu.1.dcgm_field_155", "DCGM", "", None),
        ("gpu.1.xid", "GPU xid", "GPU 1", units.NUMBER),
        ("cpu.pcpu_freq", "Apple CPU Freq", "P-cores", units.MEGAHERTZ),
        ("ane.power", "Neural Engine Power", "", units.WATT),
        ("system.powerWatts", "System Power", "", units.WATT),
        ("tpu.0.dutyCycle", "TPU Duty Cycle", "TPU 0", units.PERCENT),
        ("tpu.bufferTransferLatency.8mb_plus.p99Us", "TPU Buffer Transfer Latency", "8mb_plus.p99", units.MICROSECONDS),
        ("tpu.grpcTcpMinRtt.meanUs", "TPU gRPC TCP Min RTT", "mean", units.MICROSECONDS),
        ("tpu.grpcTcpDeliveryRate.p50Mbps", "TPU gRPC TCP Delivery Rate", "p50", units.MEGABITS_PER_SECOND),
        ("tpu.hloQueueSize.tensorcore_0", "TPU HLO Queue Size", "tensorcore_0", units.NUMBER),
        ("ipu.0.average board temp (C)", "IPU Board Temp", "IPU 0", units.CELSIUS),
        ("ipu.0.ipu utilisation (session) (%)", "IPU Utilisation (session)", "IPU 0", units.PERCENT),
        ("ipu.1.user process id", "IPU user process id", "IPU 1", units.NUMBER),
        ("trn.5.neuroncore_utilization", "Neuron Core Utilization", "Core 5", units.PERCENT),
        ("trn.5.neuroncore_memory_usage.tensors", "Neuron Core Tensors", "Core 5", units.BYTES),
        ("trn.host_memory_usage.dma_buffers", "Neuron Host DMA Buffers", "", units.BYTES),
        ("openmetrics.node1.node_load.1m.0", "node_load.1m (node1)", "#0", units.NUMBER),
        ("wandb.memory.rssMB", "W&B Memory", "", units.MEBIBYTES),
        ("something.new", "something.new", "", units.NUMBER),
        ("new\x1b[2J/l:x\ny", "new␛[2J", "x␊y", units.NUMBER),
        ("", "", "", units.NUMBER),
        ("/l:x", "/l:x", "", units.NUMBER),
    ],
)
def test_keys(key: str, title: str, series: str, unit: units.Unit | None):
    metric = describe(key)
    assert title in metric.title
    if unit is not None:
        assert (metric.title, metric.series, metric.definition.unit) == (title, series, unit)


def test_titles_belong_to_one_chart():
    """A title stands for one unit and one kind, so that no two charts can be mistaken for each other."""
    by_title = defaultdict(set)
    for row in TABLE:
        by_title[row.title].add((row.unit, row.counter))
    assert {title: kinds for title, kinds in by_title.items() if len(kinds) > 1} == {}


@pytest.mark.skipif(not REFERENCE.is_dir(), reason="the reference of metrics is not beside this checkout")
def test_every_key_of_the_reference_has_a_row():
    text = (REFERENCE / "system-metrics.md").read_text()
    keys = set()
    for cell in re.findall(r"`([a-z]+\.[^`]*)`", text):
        key = re.sub(r"\{[a-z]+\}|<[^>]*>|(?<=\.)(?:i|N|D)(?=\.)", "0", cell)
        if re.fullmatch(r"(gpu|cpu|proc|disk|network|memory|swap|ane|system|tpu|ipu|trn)\.[\w./() %]+", key):
            keys.add(key)
    keys = {key for key in keys if not key.endswith((".", ".py")) and "{" not in key}
    assert len(keys) > 60
    unknown = sorted(key for key in keys if describe(key).rank == len(TABLE))
    no_keys = r"(cpu|memory)\.(max|current)|gpu\.(freq|idle)|system\.0|tpu\.(monitoring|runtime)\."
    assert [key for key in unknown if not re.match(no_keys, key)] == []


@given(st.text())
def test_every_key_is_something(key: str):
    metric = describe(key)
    assert metric.key == key
    assert metric.title.isprintable() or not metric.title.isascii()
    store = store_of((1.0, {key: 2.0}))
    assert len(store.charts()) == 1


def test_series_and_charts_have_an_order():
    values = {f"gpu.{i}.{name}": 1.0 for i in (10, 2, 0) for name in ("temp", "gpu", "memoryAllocated")}
    values |= {"zzz.unknown": 1.0, "cpu": 1.0, "disk./.usagePercent": 5.0, "aaa.unknown": 1.0, "memory_percent": 2.0}
    store = store_of((1.0, values))
    assert [chart.title for chart in store.charts()] == [
        "GPU Utilization",
        "GPU Memory Allocated (%)",
        "GPU Temp",
        "Process CPU",
        "System Memory (%)",
        "Disk Usage (%)",
        "aaa.unknown",
        "zzz.unknown",
    ]
    assert store.charts()[0].labels == ("GPU 0", "GPU 2", "GPU 10")
    assert [label for label, _, _ in store.traces(store.charts()[0])] == ["GPU 0", "GPU 2", "GPU 10"]
    assert store.charts()[0].y_range == (0, 100)
    assert store.charts()[0].percentage
    assert store.charts()[2].y_range is None


def test_charts_are_the_same_until_a_key_appears():
    store = store_of((1.0, {"cpu": 1.0}))
    charts = store.charts()
    version = store.version("Process CPU")
    assert store.append(samples((2.0, {"cpu": 3.0}))) == {"Process CPU"}
    assert store.charts() is charts
    assert store.version("Process CPU") > version
    store.append(samples((3.0, {"cpu/l:rank_1": 3.0})))
    assert store.charts() is not charts
    assert [chart.labels for chart in store.charts()] == [("", "rank_1")]
    assert store.last("Process CPU") == {"": 3.0, "rank_1": 3.0}
    assert store.span == (1.0, 3.0)


def test_curves_of_one_label_are_told_apart_by_key():
    store = store_of((1.0, {"memory_percent": 1.0, "memory.used_percent": 2.0}))
    assert [chart.labels for chart in store.charts()] == [("(memory.used_percent)", "(memory_percent)")]


def test_counters_become_rates_with_totals():
    mib = 1024.0**2
    store = store_of(
        (100.0, {"network.recv": 1000.0, "disk.sda.in": 0.0, "disk.sda.out": 1.0}),
        (110.0, {"network.recv": 3000.0, "disk.sda.in": 5.0, "disk.sda.out": 1.0}),
    )
    store.append(samples((120.0, {"network.recv": 3000.0, "disk.sda.in": 15.0, "disk.sda.out": 2.0})))
    network, disk = store.charts()
    assert (network.title, disk.title) == ("Network I/O", "Disk I/O by Device")
    [(label, x, y)] = store.traces(network)
    assert (label, x.tolist(), y.tolist()) == ("received", [110, 120], [200, 0])
    assert store.note(network) == "total 2.93 KiB received"
    read, written = store.traces(disk)
    assert read[0] == "sda read"
    assert (read[2] * disk.unit.factor).tolist() == [0.5 * mib, 1.0 * mib]
    assert written[2].tolist() == [0, 0.1]
    assert store.note(disk) == "total 15 MiB read, 2 MiB written"


def test_a_counter_that_was_reset_never_falls():
    store = store_of(
        *((float(t), {"network.sent": v}) for t, v in ((0, 10), (1, 50), (2, 5), (3, 25), (3, 40), (5, 60)))
    )
    [(_, x, y)] = store.traces("Network I/O")
    assert x.tolist() == [1, 2, 3, 5]
    assert y.tolist() == [40, 0, 20, 10]
    assert store.note("Network I/O") == "total 105 B sent"


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 100)), max_size=30), st.integers(1, 7))
def test_rates_do_not_depend_on_how_samples_are_cut(pairs, block: int):
    rows = [(float(t), {"network.sent": float(v)}) for t, v in pairs]
    whole, pieces = SystemStore(), SystemStore()
    whole.append(samples(*rows))
    for start in range(0, len(rows), block):
        pieces.append(samples(*rows[start : start + block]))
    for (_, ax, ay), (_, bx, by) in zip(whole.traces("Network I/O"), pieces.traces("Network I/O"), strict=True):
        assert ax.tolist() == bx.tolist()
        assert ay.tolist() == by.tolist()
        assert (ay >= 0).all()
    assert whole.note("Network I/O") == pieces.note("Network I/O")


def test_energy_is_power_with_a_total_since_the_first_sample():
    store = store_of((0.0, {"gpu.0.energyJoules": 5e6}), (10.0, {"gpu.0.energyJoules": 5e6 + 7000}))
    [chart] = store.charts()
    assert chart.unit is units.WATT
    assert store.traces(chart)[0][2].tolist() == [700]
    assert store.note(chart) == "total 7 kJ"


def test_memory_used_in_mebibytes_or_bytes():
    store = store_of((0.0, {"gpu.0.memoryUsed": 40_536.0, "gpu.1.memoryUsed": 8e9}))
    assert [y.tolist() for _, _, y in store.traces("GPU Memory Used")] == [[40_536 * 1024.0**2], [8e9]]


def test_windows_and_sources_with_clocks_of_their_own():
    store = SystemStore()
    store.append(
        samples((10.0, {"cpu": 1.0}), (9.5, {"gpu.0.gpu": 2.0}), (20.0, {"cpu": 3.0}), (19.0, {"gpu.0.gpu": 4.0}))
    )
    [(_, x, y)] = store.traces("GPU Utilization", 15.0, 25.0, 100)
    assert (x.tolist(), y.tolist()) == ([9.5, 19.0], [2.0, 4.0])
    [(_, x, _)] = store.traces("Process CPU", 30.0, 40.0, 100)
    assert x.tolist() == [20.0]
    assert store.traces("no such chart") == []
    store.clear()
    assert store.charts() == []
    assert store.span is None
