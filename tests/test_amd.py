"""AMD GPUs: reports of both generations of rocm-smi, a program that stands in for it, and sysfs."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from recorder.system import amd
from recorder.system.amd import RocmSource, SysfsSource, card_facts, card_values, read_report
from recorder.system.source import NotHere, SystemSettings

SAMPLES = Path(__file__).parents[1].parent / "shared" / "samples"
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="amdgpu is a Linux driver")

OLD = {
    "GPU use (%)": "37",
    "GPU memory use (%)": "12",
    "GPU Memory OverDrive value (%)": "0",
    "Temperature (Sensor edge) (C)": "33.0",
    "Temperature (Sensor junction) (C)": "35.0",
    "Temperature (Sensor memory) (C)": "46.0",
    "Average Graphics Package Power (W)": "75.0",
    "Max Graphics Package Power (W)": "300.0",
    "Card series": "Instinct Old",
    "Unique ID": "0x43cc",
    "Card SKU": "N/A",
}
NEW = {
    "GPU use (%)": "99%",
    "GPU Memory Allocated (VRAM%)": "65",
    "GPU Memory Read/Write Activity (%)": "21",
    "Memory Activity": "N/A",
    "Temperature (Sensor junction) (C)": "60.0",
    "Temperature (Sensor memory) (C)": "N/A",
    "Current Socket Graphics Package Power (W)": "266.0",
    "VRAM Total Memory (B)": "2000",
    "VRAM Total Used Memory (B)": "1300",
    "Card Series": "Instinct New",
}


def report(**cards: dict[str, str]) -> str:
    return json.dumps({**cards, "system": {"Driver version": "6.14", "PID7": "python, 1, 2, 3, 4"}})


def test_a_card_of_the_old_generation() -> None:
    assert card_values(OLD) == {
        "gpu": 37.0,
        "memoryAllocated": 12.0,
        "memoryOverDrive": 0.0,
        "temp": 46.0,
        "powerWatts": 75.0,
        "powerPercent": 25.0,
    }


def test_a_card_of_the_new_generation() -> None:
    """No maximum of power and no memory sensor: the draw stays, and the junction is what is measured."""
    assert card_values(NEW) == {
        "gpu": 99.0,
        "memoryAllocated": 65.0,
        "memoryAllocatedBytes": 1300.0,
        "memoryReadWriteActivity": 21.0,
        "temp": 60.0,
        "powerWatts": 266.0,
    }


def test_fill_from_bytes_where_no_share_is_told() -> None:
    assert card_values({"VRAM Total Memory (B)": "2000", "VRAM Total Used Memory (B)": "500"}) == {
        "memoryAllocated": 25.0,
        "memoryAllocatedBytes": 500.0,
    }


def test_a_second_die_without_power() -> None:
    card = {"Average Graphics Package Power (W)": "N/A (Secondary die)", "Max Graphics Package Power (W)": "0.0"}
    assert card_values(card) == {}
    assert card_values({**card, "Average Graphics Package Power (W)": "0.0"}) == {"powerWatts": 0.0}


@pytest.mark.parametrize("value", ["N/A", "", "nan", "inf", "12 W", "0x10"])
def test_texts_that_are_no_numbers(value: str) -> None:
    assert card_values({"GPU use (%)": value}) == {}


def test_warnings_around_the_report() -> None:
    text = f"WARNING: AMD GPU device(s) is/are in a low-power state {{check}}\n\n{report(card1=NEW, card0=OLD)}\nbye\n"
    assert list(read_report(text)) == [0, 1]


@pytest.mark.parametrize("text", ["", "ERROR: no GPU", "{broken"])
def test_output_without_a_report(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  the JSON reader's own words
        read_report(text)


def machine(root: Path, script: str = "") -> Path:
    """A file system with the amdgpu driver, and with a rocm-smi that runs a script."""
    (root / "sys/module/amdgpu").mkdir(parents=True)
    (root / "sys/module/amdgpu/initstate").write_text("live\n")
    if script:
        (root / "usr/bin").mkdir(parents=True)
        tool = root / "usr/bin/rocm-smi"
        tool.write_text(f"#!/bin/sh\n{script}\n")
        tool.chmod(0o755)
    return root


def add_card(root: Path, number: int, vendor: str = "0x1002", **files: str) -> None:
    device = root / f"sys/class/drm/card{number}/device"
    sensors = device / "hwmon/hwmon3"
    sensors.mkdir(parents=True)
    (device / "vendor").write_text(f"{vendor}\n")
    for name, text in files.items():
        (sensors if name.startswith(("temp", "power")) else device).joinpath(name).write_text(f"{text}\n")


@pytest.fixture(autouse=True)
def no_real_tool(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path / 'usr/bin'}:/bin:/usr/bin")


@linux
def test_through_the_tool(tmp_path: Path) -> None:
    script = f"[ \"$*\" = '-a --json' ] || exit 9\necho a warning\ncat <<'END'\n{report(card0=OLD, card1=NEW)}\nEND"
    source = amd.open_source(SystemSettings(), print, machine(tmp_path, script))
    assert isinstance(source, RocmSource)
    values = source.sample()
    assert values["gpu.0.gpu"] == 37.0
    assert values["gpu.1.powerWatts"] == 266.0
    first = {"id": "0", "unique_id": "0x43cc", "gpu_memory_overdrive": "0", "max_power": "300.0"}
    assert source.facts() == {
        "gpu_count": 2,
        "gpu_type": "Instinct Old",
        "gpu_amd": [{**first, "series": "Instinct Old"}, {"id": "1", "series": "Instinct New"}],
    }
    assert source.describe() == "1 × Instinct Old, 1 × Instinct New, through rocm-smi"


@linux
def test_a_tool_that_fails_later_loses_the_sample(tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    script = f"[ -e {flag} ] && {{ echo broken >&2; exit 3; }}\necho '{report(card0=NEW)}'"
    source = amd.open_source(SystemSettings(), print, machine(tmp_path, script))
    flag.touch()
    with pytest.raises(OSError, match="ends with 3: broken"):
        source.sample()


@linux
@pytest.mark.parametrize("script", ["", "exit 1", "echo '{}'", "echo nothing"])
def test_sysfs_where_the_tool_does_not_serve(tmp_path: Path, script: str) -> None:
    root = machine(tmp_path, script)
    add_card(root, 0, vendor="0x1a03", gpu_busy_percent="1")  # the display of a server's management
    add_card(
        root,
        1,
        gpu_busy_percent="55",
        mem_busy_percent="7",
        mem_info_vram_total="4000",
        mem_info_vram_used="1000",
        product_name="Instinct",
        vbios_version="113-D67301",
        temp1_input="41000",
        temp1_label="edge",
        temp2_input="52500",
        temp2_label="junction",
        power1_average="60000000",
        power1_cap="240000000",
    )
    add_card(root, 10, gpu_busy_percent="3", temp1_input="30000", power1_input="5000000")
    source = amd.open_source(SystemSettings(), print, root)
    assert isinstance(source, SysfsSource)
    assert source.sample() == {
        "gpu.0.gpu": 55.0,
        "gpu.0.memoryAllocated": 25.0,
        "gpu.0.memoryAllocatedBytes": 1000,
        "gpu.0.memoryReadWriteActivity": 7.0,
        "gpu.0.temp": 52.5,
        "gpu.0.powerWatts": 60.0,
        "gpu.0.powerPercent": 25.0,
        "gpu.1.gpu": 3.0,
        "gpu.1.temp": 30.0,
        "gpu.1.powerWatts": 5.0,
    }
    assert source.facts() == {
        "gpu_count": 2,
        "gpu_type": "Instinct",
        "gpu_amd": [
            {"id": "0", "vendor": "AMD", "vbios_version": "113-D67301", "series": "Instinct"},
            {"id": "1", "vendor": "AMD"},
        ],
    }
    assert source.describe() == "2 × Instinct, through sysfs"


def test_not_here_without_the_driver(tmp_path: Path) -> None:
    with pytest.raises(NotHere):
        amd.open_source(SystemSettings(), print, tmp_path)


@linux
def test_not_here_without_a_card(tmp_path: Path) -> None:
    with pytest.raises(NotHere, match="has no card"):
        amd.open_source(SystemSettings(), print, machine(tmp_path))


@pytest.mark.parametrize(
    "name",
    [
        "rocm_smi_5x_mi210",
        "rocm_smi_5x_mi250_2cards",
        "rocm_smi_6x_mi250_1card",
        "rocm_smi_6_2_radeon780m_partial",
        "rocm_smi_6x_mi350_partial",
    ],
)
def test_published_reports(name: str) -> None:
    """The SDK's values wherever a card has the sensor; where it hasn't, the SDK says 0 and we don't."""
    if not SAMPLES.is_dir():
        pytest.skip("the samples are not beside this checkout")
    expected = json.loads((SAMPLES / "expected_head.json").read_text())[f"{name}.json"]
    cards = read_report((SAMPLES / f"{name}.json").read_text())
    ours = {f"gpu.{number}.{key}": value for number, card in cards.items() for key, value in card_values(card).items()}
    assert ours
    for key, value in expected.items():
        if value:
            assert ours[key] == value


def test_what_published_reports_tell_of_cards() -> None:
    if not SAMPLES.is_dir():
        pytest.skip("the samples are not beside this checkout")
    cards = read_report((SAMPLES / "rocm_smi_6x_mi250_1card.json").read_text())
    vendor = "Advanced Micro Devices, Inc. [AMD/ATI]"
    told = card_facts(0, cards[0])
    assert told["series"] == "AMD INSTINCT MI250 (MCM) OAM AC MBA"
    assert (told["model"], told["vendor"], told["sku"]) == ("0x740c", vendor, "D65209")
    assert told["sclk_range"] == "500Mhz - 1700Mhz"
    old = read_report((SAMPLES / "rocm_smi_5x_mi210.json").read_text())
    assert card_facts(0, old[0]).items() >= {"series": "GENERIC RM IMAGE", "model": "0x0c34", "sku": "D67301"}.items()
