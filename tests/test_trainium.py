"""AWS Neuron devices: reports, and a program that stands in for neuron-monitor."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recorder.system import trainium
from recorder.system.json_stream import JsonStream
from recorder.system.source import NotHere, SystemSettings
from recorder.system.trainium import configuration, hardware_facts, report_values

SAMPLES = Path(__file__).parents[1].parent / "shared" / "samples"
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="neuron-monitor runs on Linux")


def runtime(pid: int, load: float = 12.5) -> dict[str, Any]:
    host = {"application_memory": 10, "constants": 0, "dma_buffers": 3, "tensors": 4}
    core = {"constants": 1, "model_code": 2, "model_shared_scratchpad": 0, "runtime_memory": 5, "tensors": 6}
    return {
        "pid": pid,
        "report": {
            "neuroncore_counters": {"neuroncores_in_use": {"3": {"neuroncore_utilization": load}}},
            "memory_used": {
                "neuron_runtime_used_bytes": {
                    "host": 17,
                    "neuron_device": 14,
                    "usage_breakdown": {"host": host, "neuroncore_memory_usage": {"3": core}},
                }
            },
        },
    }


def report(*runtimes: dict[str, Any]) -> dict[str, Any]:
    hardware = {"neuron_device_count": 1, "neuroncore_per_device_count": 2}
    return {"neuron_runtime_data": list(runtimes), "neuron_hardware_info": hardware}


VALUES = {
    "trn.3.neuroncore_utilization": 12.5,
    "trn.host_total_memory_usage": 17,
    "trn.neuron_device_total_memory_usage": 14,
    "trn.host_memory_usage.application_memory": 10,
    "trn.host_memory_usage.constants": 0,
    "trn.host_memory_usage.dma_buffers": 3,
    "trn.host_memory_usage.tensors": 4,
    "trn.3.neuroncore_memory_usage.constants": 1,
    "trn.3.neuroncore_memory_usage.model_code": 2,
    "trn.3.neuroncore_memory_usage.model_shared_scratchpad": 0,
    "trn.3.neuroncore_memory_usage.runtime_memory": 5,
    "trn.3.neuroncore_memory_usage.tensors": 6,
}


def test_the_runtime_of_the_process() -> None:
    assert report_values(report(runtime(1, 99.0), runtime(7)), 7) == VALUES


def test_the_core_of_a_local_rank() -> None:
    assert report_values(report(runtime(1), runtime(7, 99.0)), 7, local_rank=3) == VALUES
    absent = report_values(report(runtime(1)), 7, local_rank=0)
    assert absent["trn.0.neuroncore_utilization"] == absent["trn.0.neuroncore_memory_usage.tensors"] == 0
    assert absent["trn.host_total_memory_usage"] == 17
    assert not any(key.startswith("trn.3.") for key in absent)


def test_reports_that_lack_something() -> None:
    assert report_values(report(runtime(1)), 7) == {}
    assert report_values({}, 7) == {}
    assert report_values(report(), 7, local_rank=0) == {}
    without = runtime(7)
    del without["report"]["memory_used"]["neuron_runtime_used_bytes"]["usage_breakdown"]
    assert report_values(report(without), 7) == {}


@pytest.mark.parametrize(("interval", "period"), [(15.0, "15s"), (2.9, "2s"), (0.5, "1s")])
def test_period_is_in_whole_seconds(interval: float, period: str) -> None:
    assert configuration(interval)["period"] == period


def until(condition: Callable[[], Any]) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.01)


def tool(directory: Path, script: str) -> str:
    path = directory / "neuron-monitor"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


@linux
def test_reports_of_the_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = json.dumps({**report(runtime(7, 50.0)), "padding": "x" * 200_000})
    lines = [json.dumps(report(runtime(7))), "not JSON", "[1]", long]
    (tmp_path / "lines").write_text("\n".join(lines) + "\n")
    tool(tmp_path, f"cp $2 {tmp_path}/seen.json\ncat {tmp_path}/lines\nexec sleep 600")
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    monkeypatch.delenv("LOCAL_RANK", raising=False)
    source = trainium.open_source(SystemSettings(pid=7, sampling_interval=3), print)
    try:
        until(lambda: source.sample().get("trn.3.neuroncore_utilization") == 50.0)
        assert source.describe() == "1 Neuron devices of 2 cores"
        counts = {"neuron_device_count": 1, "neuroncore_per_device_count": 2}
        assert source.facts() == {"trainium": {"name": "Trainium", "vendor": "AWS", **counts}}
        assert json.loads((tmp_path / "seen.json").read_text()) == configuration(3)
        process = source._stream._process
        assert process is not None
    finally:
        source.close()
    assert process.wait(10) != 0


@linux
def test_a_tool_that_ends_is_started_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    count = tmp_path / "count"
    script = f"echo x >> {count}\nif [ $(wc -l < {count}) -ge 2 ]; then echo '{{\"a\": 1}}'; exec sleep 600; fi"
    warnings: list[str] = []
    stream = JsonStream([tool(tmp_path, script)], warnings.append)
    try:
        until(lambda: stream.newest == {"a": 1})
        assert warnings == ["system metrics: neuron-monitor ended; it is started again"]
    finally:
        stream.close()
    until(lambda: not stream._thread.is_alive())


@linux
def test_an_own_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool(tmp_path, f"echo $2 > {tmp_path}/seen; exec sleep 600")
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    source = trainium.open_source(SystemSettings(extra={"neuron_monitor_config_path": "/etc/mine.json"}), print)
    try:
        until(lambda: (tmp_path / "seen").exists() and (tmp_path / "seen").read_text() == "/etc/mine.json\n")
    finally:
        source.close()


def test_not_here_without_the_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(trainium, "PLACE", str(tmp_path))
    with pytest.raises(NotHere):
        trainium.open_source(SystemSettings(), print)


def published(name: str) -> str:
    if not SAMPLES.is_dir():
        pytest.skip("the samples are not beside this checkout")
    return (SAMPLES / name).read_text()


def test_a_report_that_names_no_hardware() -> None:
    assert hardware_facts({}) == {}
    assert hardware_facts({"neuron_hardware_info": {"neuron_device_count": 0, "error": "no device"}}) == {}


def test_published_reports() -> None:
    expected = json.loads(published("expected_head.json"))
    name = "neuron_monitor_trn1_2xlarge.jsonl"
    lines = [json.loads(line) for line in published(name).splitlines()]
    assert [report_values(line, wanted["pid"]) for line, wanted in zip(lines, expected[name], strict=True)] == [
        wanted["metrics"] for wanted in expected[name]
    ]
    assert report_values(lines[0], 0, local_rank=0) == expected[f"{name} LOCAL_RANK=0 line 1"]
    trimmed = json.loads(published("neuron_monitor_inf2_xlarge_trimmed.json"))
    assert report_values(trimmed, 2199) == {}
    assert configuration(15.0) == json.loads(published("neuron_monitor_config_default.json"))
