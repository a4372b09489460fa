"""Sensors of the processor, over a directory and readings like those of machines that have some."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from leet.model import host_sensors
from leet.model.host_sensors import Sensors, open_sensors
from leet.model.system_metrics import describe
from recorder.system.source import NotHere


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A powercap directory with two packages, one of which only root may read, and a part of the first."""
    monkeypatch.setattr(host_sensors, "POWERCAP", tmp_path)
    for name, energy in (("intel-rapl:0", "5000000"), ("intel-rapl:0:0", "7"), ("intel-rapl:1", "")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "energy_uj").write_text(energy)
    return tmp_path


def silent(sensors: Sensors) -> Sensors:
    """Without the temperatures of the machine that the test runs on."""
    sensors._psutil = SimpleNamespace(sensors_temperatures=dict)
    return sensors


def test_power_is_the_energy_between_two_samples(packages: Path) -> None:
    sensors = silent(Sensors())
    assert sensors.sample() == {}
    began = time.monotonic()
    before = sensors._before
    assert before is not None
    time.sleep(0.05)
    (packages / "intel-rapl:0" / "energy_uj").write_text("6000000")
    sample = sensors.sample()
    assert sensors._before is not None
    seconds = sensors._before[0] - before[0]
    assert began - before[0] < seconds
    assert sample == {"cpu.powerWatts": pytest.approx(1.0 / seconds)}
    assert describe("cpu.powerWatts").title == "CPU Power"


def test_a_counter_that_began_anew_is_left_out_once(packages: Path) -> None:
    sensors = silent(Sensors())
    sensors.sample()
    (packages / "intel-rapl:0" / "energy_uj").write_text("10")
    time.sleep(0.01)
    assert sensors.sample() == {}
    (packages / "intel-rapl:0" / "energy_uj").write_text("20")
    time.sleep(0.01)
    assert sensors.sample()["cpu.powerWatts"] > 0


def test_the_temperature_is_the_mean_of_the_processors_sensors(packages: Path) -> None:
    def read() -> dict[str, list[SimpleNamespace]]:
        return {
            "coretemp": [SimpleNamespace(current=50.0), SimpleNamespace(current=60.0), SimpleNamespace(current=None)],
            "nvme": [SimpleNamespace(current=20.0)],
        }

    sensors = Sensors()
    sensors._psutil = SimpleNamespace(sensors_temperatures=read)
    assert sensors.sample()["cpu.avg_temp"] == 55.0
    assert describe("cpu.avg_temp").title == "CPU Temp"


def test_without_any_there_is_no_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_sensors, "POWERCAP", tmp_path / "nothing")
    monkeypatch.setattr(Sensors, "temperature", lambda self: 0.0)
    with pytest.raises(NotHere):
        open_sensors()
