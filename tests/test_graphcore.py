"""Graphcore IPUs: texts of gcipuinfo's shape."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from recorder.system import graphcore
from recorder.system.graphcore import GraphcoreSource, device_values
from recorder.system.source import NotHere, SystemSettings

SAMPLES = Path(__file__).parents[1].parent / "shared" / "samples"

MODULE = """
class gcipuinfo:
    def setUpdateMode(self, on):
        self.on = on
    def getDevices(self):
        assert self.on
        return [
            {"id": "0", "user process id": "77", "clock": "1300MHz", "board type": "M2000", "link speed": "16.0 GT/s"},
            {"id": "1", "user process id": "8", "clock": "1000MHz", "board type": "M2000"},
        ]
"""


def test_units_go_from_the_value_to_the_name() -> None:
    device = {
        "average board temp": "17.8 C",
        "average die temp": "20C",
        "clock": "1330MHz",
        "ipu power": "121.5W",
        "total board power": "12.6 W",
        "ipu utilisation": "0.00%",
        "ipu utilisation (session)": "15.65%",
        "link speed": "16.0 GT/s",
        "board ipu index": "3",
    }
    assert device_values(device) == {
        "average board temp (C)": 17.8,
        "average die temp (C)": 20,
        "clock (MHz)": 1330,
        "ipu power (W)": 121.5,
        "total board power (W)": 12.6,
        "ipu utilisation (%)": 0.0,
        "ipu utilisation (session) (%)": 15.65,
        "link speed (GT/s)": 16.0,
        "board ipu index": 3,
    }


@pytest.mark.parametrize("text", ["N/A", "C2", "", "0063.0063.822391", "no errors", "1e5", "infinity", "1_000"])
def test_texts_that_are_no_numbers(text: str) -> None:
    assert device_values({"ipu power": text}) == {}


def test_through_the_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gcipuinfo.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    try:
        source = graphcore.open_source(SystemSettings(pid=77), print)
        assert isinstance(source, GraphcoreSource)
        first = {"ipu.0.id": 0, "ipu.0.user process id": 77, "ipu.0.clock (MHz)": 1300, "ipu.0.link speed (GT/s)": 16.0}
        assert source.sample() == first
        assert source.sample() == {"ipu.0.clock (MHz)": 1300}
        assert source.describe() == "2 × Graphcore M2000"
    finally:
        sys.modules.pop("gcipuinfo", None)


def test_not_here_without_the_module() -> None:
    with pytest.raises(NotHere, match="gcipuinfo"):
        graphcore.open_source(SystemSettings(), print)


def test_the_published_devices() -> None:
    if not SAMPLES.is_dir():
        pytest.skip("the samples are not beside this checkout")
    devices = json.loads((SAMPLES / "ipu_getdevices_wandb_mock.json").read_text())
    expected = json.loads((SAMPLES / "expected_head.json").read_text())["ipu_getdevices_wandb_mock.json pid=123"]

    class Info:
        def getDevices(self) -> object:  # noqa: N802  the vendor's name
            return devices

    source = GraphcoreSource(Info(), 123)
    assert source.sample() == expected["first"]
    assert source.sample() == expected["later"]
