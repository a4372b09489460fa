"""The NVIDIA source over a stand-in driver library: real ctypes calls through pynvml, each in a fresh process."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from recorder.system import nvidia, nvidia_driver
from recorder.system.source import NotHere, SystemSettings

SOURCE = Path(__file__).parent / "nvml_library" / "nvml.c"
ROOT = Path(__file__).parents[1]

PREFACE = """
import json, sys, time
from recorder.system import nvidia, nvidia_driver
from recorder.system.monitor import Monitor
from recorder.system.source import NotHere, SystemSettings
warnings = []
def show(**values): print(json.dumps(values))
"""

SAMPLE = """
source = nvidia.open_source(SystemSettings(**json.loads(sys.argv[1])), warnings.append)
samples = []
for round in range(int(sys.argv[2])):
    if round: time.sleep(0.21)
    samples.append(source.sample())
facts, text = source.facts(), source.describe()
source.close()
import pynvml
ends = [getattr(pynvml.nvmlLib, name, int)() for name in ("stand_in_held", "stand_in_started")]
show(samples=samples, facts=facts, text=text, warnings=warnings, ends=ends)
"""

DEVICE_0 = {
    "gpu.0.gpu": 50.0,
    "gpu.0.memory": 30,
    "gpu.0.memoryAllocated": 25.0,
    "gpu.0.memoryAllocatedBytes": 20 << 30,
    "gpu.0.temp": 40.0,
    "gpu.0.powerWatts": 350.0,
    "gpu.0.enforcedPowerLimitWatts": 700.0,
    "gpu.0.powerPercent": 50.0,
    "gpu.0.energyJoules": 1234.567,
    "gpu.0.smClock": 1965,
    "gpu.0.memoryClock": 2619,
    "gpu.0.correctedMemoryErrors": 3,
    "gpu.0.uncorrectedMemoryErrors": 1,
    "gpu.0.fanSpeed": 45,
}
DEVICE_1 = {
    key.replace("gpu.0", "gpu.1"): value
    for key, value in (DEVICE_0 | {"gpu.0.gpu": 51.0, "gpu.0.memory": 31, "gpu.0.temp": 41.0}).items()
}


def build(directory: Path, *flags: str) -> Path:
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("no C compiler to build the stand-in driver with")
    if not sys.platform.startswith("linux"):
        pytest.skip("the stand-in driver is found through LD_LIBRARY_PATH, which is Linux")
    command = [compiler, "-shared", "-fPIC", "-Wall", "-o", str(directory / nvidia_driver.LIBRARY), str(SOURCE), *flags]
    subprocess.run(command, check=True)
    return directory


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("nvml"))


@pytest.fixture(scope="module")
def old_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("old_nvml"), "-DOLD_DRIVER")


def run(library: Path, script: str, *arguments: str, **variables: object) -> dict[str, Any]:
    environment = os.environ | {name: str(value) for name, value in variables.items()}
    environment |= {"LD_LIBRARY_PATH": str(library), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", PREFACE + textwrap.dedent(script), *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def sample(
    library: Path, rounds: int = 1, settings: dict[str, Any] | None = None, **variables: object
) -> dict[str, Any]:
    return run(library, SAMPLE, json.dumps(settings or {}), str(rounds), **variables)


def test_two_healthy_devices(library: Path) -> None:
    result = sample(library)
    assert result["samples"] == [DEVICE_0 | DEVICE_1]
    assert result["warnings"] == []
    assert result["text"] == "1 × NVIDIA Stand-in 0, 1 × NVIDIA Stand-in 1, driver 570.86.15"
    assert result["ends"] == [0, 0]


def test_facts(library: Path) -> None:
    facts = sample(library)["facts"]
    gpu = {
        "name": "NVIDIA Stand-in 0",
        "memory_total": 80 << 30,
        "cuda_cores": 16896,
        "architecture": "Hopper",
        "uuid": "GPU-00000000-stand-in",
        "pci_bus_id": "00000000:01:00.0",
    }
    assert facts["gpu_nvidia"][0] == gpu
    assert len(facts["gpu_nvidia"]) == facts["gpu_count"] == 2
    assert facts["gpu_type"] == "NVIDIA Stand-in 0"
    assert facts["cuda_version"] == "12.8"


def test_integers_stay_integers_and_floats_floats(library: Path) -> None:
    values = sample(library)["samples"][0]
    for key in ("memory", "memoryAllocatedBytes", "smClock", "memoryClock", "fanSpeed", "correctedMemoryErrors"):
        assert isinstance(values[f"gpu.0.{key}"], int)
    for key in ("gpu", "temp", "memoryAllocated", "powerWatts"):
        assert isinstance(values[f"gpu.0.{key}"], float)


def test_an_old_driver_without_newer_symbols(old_library: Path) -> None:
    result = sample(old_library, NVML_USER=os.getpid(), settings={"pid": os.getpid()})
    values = result["samples"][0]
    assert values["gpu.0.memoryAllocatedBytes"] == 21 << 30  # version 1: with the reserve
    assert values["gpu.0.fanSpeed"] == 44
    assert values["gpu.process.0.temp"] == 40.0
    assert not any("smActive" in key for key in values)
    assert result["facts"]["cuda_version"] == "12.8"
    assert "architecture" not in result["facts"]["gpu_nvidia"][0]
    assert result["facts"]["gpu_nvidia"][0]["memory_total"] == 80 << 30


def test_what_a_device_does_not_support_is_left_out(library: Path) -> None:
    values = sample(library, NVML_REFUSE="temperature,fan,ecc,power")["samples"][0]
    missing = ("temp", "fanSpeed", "MemoryErrors", "power", "Power")
    left = {key: value for key, value in (DEVICE_0 | DEVICE_1).items() if not any(m in key for m in missing)}
    assert values == left


def test_without_a_limit_the_draw_stays(library: Path) -> None:
    values = sample(library, NVML_REFUSE="limit")["samples"][0]
    assert values["gpu.0.powerWatts"] == 350.0
    assert "gpu.0.powerPercent" not in values
    assert "gpu.0.enforcedPowerLimitWatts" not in values


def test_one_hiccup_does_not_end_a_metric(library: Path) -> None:
    samples = sample(library, rounds=3, NVML_FLAKY="temperature")["samples"]
    assert ["gpu.0.temp" in values for values in samples] == [True, False, True]


def test_performance_counters_cover_the_interval(library: Path) -> None:
    first, second, third = sample(library, rounds=3)["samples"]
    assert "gpu.0.smActive" not in first
    for values in (second, third):
        assert values["gpu.0.smActive"] == 2.5
        assert values["gpu.0.dramActive"] == 10.5
        assert values["gpu.0.pcieTxBytes"] == 20.5 * 1024**2
        assert values["gpu.0.nvlinkTxBytes"] == 61.5 * 1024**2
        assert "gpu.0.pipeFp64Active" not in values
        assert "gpu.1.smActive" not in values


def test_performance_samples_are_given_back(library: Path) -> None:
    assert sample(library, rounds=3)["ends"] == [0, 0]


def test_a_lost_device_stops_and_the_other_goes_on(library: Path) -> None:
    result = sample(library, rounds=4, NVML_LOST="1@3")
    devices = [{key.split(".")[1] for key in values} for values in result["samples"]]
    assert devices == [{"0", "1"}, {"0", "1"}, {"0"}, {"0"}]
    assert result["warnings"] == ["system metrics: GPU 1 is lost (GPU is lost); its metrics stop here"]


def test_copies_for_the_process_itself(library: Path) -> None:
    values = sample(library, NVML_USER=os.getpid(), settings={"pid": os.getpid()})["samples"][0]
    copies = {key: value for key, value in values.items() if key.startswith("gpu.process.")}
    copied = ("gpu", "memory", "memoryAllocated", "memoryAllocatedBytes", "temp", "powerWatts")
    copied += ("enforcedPowerLimitWatts", "powerPercent")
    assert copies == {f"gpu.process.0.{key}": DEVICE_0[f"gpu.0.{key}"] for key in copied}


def test_copies_for_a_descendant(library: Path) -> None:
    # the sampling process is a child of this one
    script = """
    import os
    os.environ["NVML_USER"] = str(os.getpid())
    import ctypes; ctypes.CDLL(None).setenv(b"NVML_USER", str(os.getpid()).encode(), 1)
    source = nvidia.open_source(SystemSettings(pid=os.getppid()), warnings.append)
    show(keys=list(source.sample()))
    """
    assert "gpu.process.0.gpu" in run(library, script)["keys"]


def test_no_copies_for_others(library: Path) -> None:
    values = sample(library, NVML_USER=os.getppid(), settings={"pid": os.getpid()})["samples"][0]
    assert not any(key.startswith("gpu.process.") for key in values)


def test_slices_of_a_device(library: Path) -> None:
    values = sample(library, NVML_MIG=1, NVML_USER=os.getpid(), settings={"pid": os.getpid()})["samples"][0]
    assert "gpu.0.gpu" not in values
    assert values["gpu.0.memoryAllocated"] == 25.0
    assert values["gpu.process.0.memoryAllocated"] == 25.0
    assert "gpu.process.0.gpu" not in values


def test_chosen_devices(library: Path) -> None:
    result = sample(library, settings={"gpu_device_ids": [1, 7]})
    assert result["samples"] == [DEVICE_1]
    assert result["facts"]["gpu_count"] == 2
    assert [gpu["name"] for gpu in result["facts"]["gpu_nvidia"]] == ["NVIDIA Stand-in 1"]
    assert result["text"] == "1 × NVIDIA Stand-in 1 of 2, driver 570.86.15"


def test_details_are_off_until_asked_for(library: Path) -> None:
    off = {"graphicsClock", "encoderUtilization", "pcieLinkGen", "pcieLinkWidth", "pcieLinkSpeed"}
    off |= {"maxPcieLinkGen", "maxPcieLinkWidth", "pcieTxBytes", "pcieRxBytes"}
    values = sample(library, settings={"extra": {"nvidia_detail": True}})["samples"][0]
    added = {key.removeprefix("gpu.1."): value for key, value in values.items() if key not in DEVICE_1}
    added = {key: value for key, value in added.items() if not key.startswith("gpu.")}
    assert set(added) == off
    assert added["graphicsClock"] == 1980
    assert added["encoderUtilization"] == 7
    assert added["pcieLinkSpeed"] == 32_000_000_000
    assert added["pcieTxBytes"] == 100 * 1024
    assert "gpu.0.pcieTxBytes" not in values  # GPM measures it there


NOT_HERE = """
try:
    nvidia.open_source(SystemSettings(**json.loads(sys.argv[1])), warnings.append)
except NotHere as reason:
    show(reason=str(reason))
"""


@pytest.mark.parametrize(
    ("variables", "settings", "reason"),
    [
        ({"NVML_INIT": 9}, {}, "the NVIDIA driver does not start: "),
        ({"NVML_INIT": 18}, {}, "the NVIDIA driver does not start: "),
        ({"NVML_DEVICES": 0}, {}, "the NVIDIA driver has no device"),
        ({}, {"gpu_device_ids": [4]}, "none of the chosen GPUs [4] is among the 2 that are here"),
    ],
)
def test_not_here(library: Path, variables: dict[str, int], settings: dict[str, Any], reason: str) -> None:
    assert run(library, NOT_HERE, json.dumps(settings), **variables)["reason"].startswith(reason)


def test_not_here_without_a_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvidia, "LIBRARY", "libnvidia-ml-of-nowhere.so.1")
    before = set(sys.modules)
    with pytest.raises(NotHere, match="no NVIDIA driver"):
        nvidia.open_source(SystemSettings(), lambda message: None)
    assert "pynvml" not in set(sys.modules) - before  # 7,000 lines that nobody needs there


def test_a_driver_that_hangs_delays_nobody(library: Path) -> None:
    script = """
    import collections, threading
    seen = collections.Counter()
    enough = threading.Event()
    def emit(moment, values, name):
        seen[name] += 1
        if seen["host"] >= 4: enough.set()
    from recorder.system.families import FAMILIES, openers
    settings = SystemSettings(sampling_interval=0.1)
    table = {name: opener for name, opener in openers(settings).items() if name in ("host", "nvidia")}
    monitor = Monitor(settings, emit, warn=warnings.append, table=table)
    monitor.start()
    came = enough.wait(20)
    monitor.stop()
    show(came=came, seen=seen, running=monitor.running)
    """
    result = run(library, script, NVML_HANG="temperature")
    assert result["came"]
    assert set(result["seen"]) == {"host"}
    assert not result["running"]
