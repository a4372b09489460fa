"""Families that are not here: the answer comes before anything heavy is loaded, and never where there is a driver."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from recorder.system import nvidia_driver
from recorder.system.families import FAMILIES

ROOT = Path(__file__).parents[1]

LOOK = """
import json, sys
from recorder.system.families import openers
from recorder.system.source import NotHere, SystemSettings
import recorder
opener = openers(SystemSettings())[sys.argv[1]]
before = set(sys.modules)
try:
    opener().close()
    answer = ""
except NotHere as reason:
    answer = str(reason)
print(json.dumps([answer, sorted(set(sys.modules) - before)]))
"""


@pytest.mark.parametrize("family", [name for name in FAMILIES if name != "host"])
def test_an_absent_family_loads_its_own_module_and_nothing_heavy(family: str) -> None:
    command = [sys.executable, "-c", LOOK, family]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    answer, loaded = json.loads(done.stdout)
    if not answer:
        pytest.skip(f"this machine has {family}")
    own = {name for name in loaded if name.startswith("recorder.system.")}
    assert len(own) <= 2, own
    assert set(loaded) - own <= {"math"}


def test_a_device_of_nvidia_is_reason_enough_to_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    monkeypatch.setattr(nvidia_driver, "_DIRECTORIES", ())
    cache = tmp_path / "ld.so.cache"
    cache.write_bytes(b"\0libc.so.6\0/lib/libc.so.6\0")
    device = tmp_path / "nvidiactl"
    assert not nvidia_driver.may_be_here((str(device),), str(cache))
    device.touch()
    assert nvidia_driver.may_be_here((str(device),), str(cache))


def test_so_is_the_library_wherever_the_loader_looks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    monkeypatch.setattr(nvidia_driver, "_DIRECTORIES", (str(tmp_path / "lib"),))
    cache = tmp_path / "ld.so.cache"
    cache.write_bytes(b"\0libc.so.6\0/lib/libc.so.6\0")
    nowhere = (str(tmp_path / "no device"),)
    assert not nvidia_driver.may_be_here(nowhere, str(cache))

    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / nvidia_driver.LIBRARY).touch()
    assert nvidia_driver.may_be_here(nowhere, str(cache))
    (tmp_path / "lib" / nvidia_driver.LIBRARY).rename(tmp_path / nvidia_driver.LIBRARY)
    assert not nvidia_driver.may_be_here(nowhere, str(cache))

    monkeypatch.setenv("LD_LIBRARY_PATH", f"/nowhere:{tmp_path}")
    assert nvidia_driver.may_be_here(nowhere, str(cache))
    monkeypatch.delenv("LD_LIBRARY_PATH")

    cache.write_bytes(b"\0libnvidia-ml.so.1\0/opt/libnvidia-ml.so.1\0")
    assert nvidia_driver.may_be_here(nowhere, str(cache))


def test_a_loader_without_a_cache_is_asked_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvidia_driver, "_DIRECTORIES", ())
    assert nvidia_driver.may_be_here((str(tmp_path / "no device"),), str(tmp_path / "no cache"))
