"""DCGM exporter: its page and Prometheus's answers, brought to the scale that NVML's keys have."""

from __future__ import annotations

import http.server
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from http_endpoint import send, server

from recorder.system.dcgm import DcgmSource, read_answer, series_values
from recorder.system.families import openers
from recorder.system.source import NotHere, SystemSettings

SAMPLES = Path(__file__).parents[1].parent / "shared" / "samples"

PAGE = """\
# TYPE DCGM_FI_DEV_GPU_UTIL gauge
DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-a",device="nvidia0",Hostname="n7"} 83
DCGM_FI_DEV_GPU_UTIL{gpu="1",UUID="GPU-b",device="nvidia1",Hostname="n7"} 9223372036854775794
# TYPE DCGM_FI_DEV_FB_USED gauge
DCGM_FI_DEV_FB_USED{gpu="0",Hostname="n7"} 1024
# TYPE DCGM_FI_PROF_SM_ACTIVE gauge
DCGM_FI_PROF_SM_ACTIVE{gpu="0",Hostname="n7"} 0.5
DCGM_FI_PROF_SM_ACTIVE{gpu="1",GPU_I_ID="7",Hostname="n7"} 0.25
DCGM_FI_PROF_SM_ACTIVE{gpu="1",GPU_I_ID="8",Hostname="n7"} 0.75
DCGM_FI_PROF_SM_ACTIVE{gpu="1",GPU_I_ID="9",Hostname="n7"} 0.125
# TYPE DCGM_FI_DEV_XID_ERRORS gauge
DCGM_FI_DEV_XID_ERRORS{gpu="0",Hostname="n7"} 13
"""


def vector(*series: tuple[dict[str, str], str]) -> bytes:
    result = [{"metric": labels, "value": [1.7e9, value]} for labels, value in series]
    return json.dumps({"status": "success", "data": {"resultType": "vector", "result": result}}).encode()


@contextmanager
def answering(answers: dict[str, bytes]) -> Iterator[tuple[str, list[str]]]:
    """A server with a page at each path and query; gives its address, and the paths that were asked."""
    asked: list[str] = []

    def answer(handler: http.server.BaseHTTPRequestHandler) -> None:
        asked.append(handler.path)
        send(handler, answers.get(handler.path, b""), 200 if handler.path in answers else 404)

    with server(answer) as url:
        yield url.removesuffix("/metrics"), asked


def test_an_exporters_page() -> None:
    with answering({"/metrics": PAGE.encode()}) as (place, _):
        source = openers(SystemSettings(extra={"dcgm_exporter": f"{place}/metrics"}))["dcgm"]()
        assert source.sample() == {
            "gpu.0.gpu/l:n7": 83.0,
            "gpu.0.memoryUsed/l:n7": 1 << 30,
            "gpu.0.smActive/l:n7": 50.0,
            "gpu.1.smActive/l:n7": 75.0,
        }
        assert source.describe() == f"{place}/metrics"


def test_queries_to_prometheus() -> None:
    temperature = ({"__name__": "DCGM_FI_DEV_GPU_TEMP", "device": "nvidia3", "hostname": "b"}, "61")
    active = ({"__name__": "DCGM_FI_PROF_DRAM_ACTIVE", "gpu": "3", "node": "a", "hostname": "b"}, "0.1")
    path = "/api/v1/query"
    answers = {
        f"{path}?query=DCGM_FI_DEV_GPU_TEMP": vector(temperature),
        f"{path}?query=x%7Ba%3D%22b%22%7D": vector(active),
    }
    with answering(answers) as (place, asked):
        source = DcgmSource(f'{place}{path}?query=DCGM_FI_DEV_GPU_TEMP&query=x{{a="b"}}', {})
        assert source.sample() == {"gpu.3.temp/l:b": 61.0, "gpu.3.dramActive/l:a": 10.0}
        assert asked == list(answers)
        assert source.describe() == f"2 queries to {place}{path}"


def test_one_query_that_fails_loses_the_sample() -> None:
    with answering({"/api/v1/query?query=a": vector()}) as (place, _), pytest.raises(OSError, match="404"):
        DcgmSource(f"{place}/api/v1/query?query=a&query=b", {}).sample()


@pytest.mark.parametrize(
    "labels",
    [
        {"__name__": "DCGM_FI_DEV_GPU_TEMP"},
        {"__name__": "DCGM_FI_DEV_GPU_TEMP", "device": "mlx5_0"},
        {"__name__": "DCGM_FI_DEV_XID_ERRORS", "gpu": "0"},
        {"gpu": "0"},
    ],
)
def test_series_without_a_device_or_a_known_name(labels: dict[str, str]) -> None:
    assert series_values([(labels, 1.0)]) == {}


def test_a_device_is_not_replaced_by_its_slices() -> None:
    labels = {"__name__": "DCGM_FI_PROF_SM_ACTIVE", "gpu": "0"}
    assert series_values([(labels | {"GPU_I_ID": "1"}, 0.9), (labels, 0.2)]) == {"gpu.0.smActive": 20.0}


@pytest.mark.parametrize(
    "answer",
    [
        {"status": "success", "data": {"resultType": "scalar", "result": [1, "2"]}},
        {"status": "error", "error": "parse error"},
        {},
    ],
)
def test_other_answers_lose_the_sample(answer: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="Prometheus answers"):
        list(read_answer(json.dumps(answer).encode()))


def test_an_address_without_a_query() -> None:
    with pytest.raises(ValueError, match="has no query"):
        DcgmSource("http://prom:9090/api/v1/query", {})


def test_not_here_without_an_address() -> None:
    with pytest.raises(NotHere, match="x_stats_dcgm_exporter is not set"):
        openers(SystemSettings())["dcgm"]()


def test_the_published_answer() -> None:
    if not SAMPLES.is_dir():
        pytest.skip("the samples are not beside this checkout")
    name = "prometheus_api_dcgm_h100.json"
    expected = json.loads((SAMPLES / "expected_head.json").read_text())[name]
    assert series_values(read_answer((SAMPLES / name).read_bytes())) == expected
