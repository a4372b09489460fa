"""Apple silicon: what ioreg and both generations of macmon print, and programs that stand in for them."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import pytest

from recorder.system import apple
from recorder.system.apple import AppleSource, macmon_values, registry_values
from recorder.system.json_stream import JsonStream
from recorder.system.source import NotHere, SystemSettings

SAMPLES = Path(__file__).parents[1].parent / "shared" / "samples"

REGISTRY = """\
+-o AGXAcceleratorG99  <class AGXAcceleratorG99, registered>
    {
      "model" = "Apple M9"
      "gpu-core-count" = 40
      "PerformanceStatistics" = {"In use system memory (driver)"=0,"Alloc system memory"=4000,"recoveryCount"=2,\
"Device Utilization %"=31,"Tiler Utilization %"=3,"In use system memory"=1000}
    }
"""
COMMON = {
    "temp": {"cpu_temp_avg": 43.5, "gpu_temp_avg": 36.25},
    "memory": {"ram_total": 4000, "ram_usage": 3000, "swap_total": 200, "swap_usage": 50},
    "cpu_power": 1.5,
    "gpu_power": 0.5,
    "ane_power": 0.0,
    "all_power": 2.0,
    "sys_power": 6.0,
}
OLD = {**COMMON, "ecpu_usage": [1100, 0.25], "pcpu_usage": [1900, 0.125], "gpu_usage": [461, 0.5]}
NEW = {
    **COMMON,
    "ecpu_freq_mhz": 1100,
    "ecpu_scaled_ratio": 0.25,
    "ecpu_active_ratio": 0.75,
    "pcpu_freq_mhz": 1900,
    "pcpu_scaled_ratio": 0.125,
    "gpu_freq_mhz": 461,
    "gpu_scaled_ratio": 0.5,
}
VALUES = {
    "cpu.avg_temp": 43.5,
    "gpu.0.temp": 36.25,
    "memory.used": 3000,
    "memory.used_percent": 75.0,
    "swap.used": 50,
    "swap.used_percent": 25.0,
    "cpu.ecpu_freq": 1100,
    "cpu.pcpu_freq": 1900,
    "gpu.0.freq": 461,
    "cpu.ecpu_percent": 25.0,
    "cpu.pcpu_percent": 12.5,
    "gpu.0.gpu": 50.0,
    "cpu.powerWatts": 1.5,
    "gpu.0.powerWatts": 0.5,
    "ane.power": 0.0,
    "system.powerWatts": 6.0,
}


def test_the_registry() -> None:
    assert registry_values(REGISTRY) == {
        "gpu.0.gpu": 31.0,
        "gpu.0.memoryUsed": 1000,
        "gpu.0.memoryAllocated": 25.0,
        "gpu.0.recoveryCount": 2,
    }
    assert registry_values("") == {}


@pytest.mark.parametrize("report", [OLD, NEW])
def test_both_generations_of_macmon(report: dict[str, object]) -> None:
    assert macmon_values(report) == VALUES


def test_what_is_not_measured_is_left_out() -> None:
    report = {"memory": {"ram_total": 0, "ram_usage": 0, "swap_total": 0, "swap_usage": 0}, "gpu_usage": [0, 0.0]}
    assert macmon_values(report) == {"gpu.0.gpu": 0.0}
    assert macmon_values({"temp": {"cpu_temp_avg": None}}) == {}


def test_the_sum_where_the_whole_is_not_measured() -> None:
    assert macmon_values({"all_power": 3.0, "sys_power": 0.0})["system.powerWatts"] == 3.0


@pytest.mark.skipif(sys.platform == "win32", reason="runs a shell script")
def test_through_the_tools(tmp_path: Path) -> None:
    macmon = tmp_path / "macmon"
    macmon.write_text(f"#!/bin/sh\n[ \"$*\" = 'pipe -i 500' ] && echo '{json.dumps(NEW)}' && exec sleep 600\n")
    macmon.chmod(0o755)
    (tmp_path / "registry").write_text(REGISTRY)
    stream = JsonStream([str(macmon), "pipe", "-i", "500"], print)
    source = AppleSource(["cat", str(tmp_path / "registry")], stream)
    try:
        assert source.sample()["gpu.0.memoryAllocated"] == 25.0
        stream.wait(20)
        end = time.monotonic() + 20
        while source.sample().get("gpu.0.gpu") != 50.0:  # weighted by the clock, which the registry's is not
            assert time.monotonic() < end
        assert source.sample() == {**registry_values(REGISTRY), **VALUES}
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        chip = {"name": "Apple M9", "gpu_cores": 40, "ram_total_bytes": memory, "memory_gb": memory >> 30}
        assert source.facts() == {"gpu_type": "Apple M9", "gpu_count": 1, "apple": chip}
        assert source.describe() == "Apple M9, through macmon"
    finally:
        source.close()


@pytest.mark.skipif(sys.platform == "darwin", reason="this is a Mac")
def test_not_here_elsewhere() -> None:
    with pytest.raises(NotHere, match="not macOS"):
        apple.open_source(SystemSettings(), print)


@pytest.mark.skipif(sys.platform != "darwin", reason="needs a Mac")
def test_on_a_mac() -> None:
    try:
        source = apple.open_source(SystemSettings(), print)
    except NotHere as reason:
        pytest.skip(str(reason))
    assert 0 <= source.sample()["gpu.0.gpu"] <= 100
    source.close()


def test_published_output() -> None:
    if not SAMPLES.is_dir():
        pytest.skip("the samples are not beside this checkout")
    idle = registry_values((SAMPLES / "apple_ioreg_m4.txt").read_text())
    busy = registry_values((SAMPLES / "apple_ioreg_busy_g17x.txt").read_text())
    assert (idle["gpu.0.gpu"], busy["gpu.0.gpu"]) == (3.0, 99.0)
    assert idle["gpu.0.memoryUsed"] == 550649856
    old = macmon_values(json.loads((SAMPLES / "apple_macmon_pipe_0.7.json").read_text()))
    new = macmon_values(json.loads((SAMPLES / "apple_macmon_pipe_new.json").read_text()))
    assert set(old) == set(new) == set(VALUES)
    assert old["gpu.0.gpu"] == new["gpu.0.gpu"] == pytest.approx(2.1497859)
    assert (old["cpu.ecpu_freq"], new["cpu.ecpu_freq"]) == (1181, 1100)
