"""OpenMetrics endpoints: the page format, numbering, filters, and a real HTTP server on the loopback."""

from __future__ import annotations

import http.server
import json
import math
import shutil
import socket
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from http_endpoint import send, server

from recorder.system import fetch as fetching
from recorder.system import openmetrics
from recorder.system.exposition import Reading, read_page
from recorder.system.families import openers
from recorder.system.fetch import fetch
from recorder.system.openmetrics import Filter, OpenMetricsSource
from recorder.system.source import NotHere, SystemSettings

SAMPLES = Path(__file__).parents[1].parent / "shared" / "samples"

PAGE = """\
# HELP engine_load How busy the engine is.
# TYPE engine_load gauge
engine_load{engine="0",room="a"} 0.5
engine_load{engine="1",room="a"} 12
# TYPE turns_total counter
turns_total 4.5e+06 1395066363000
# TYPE turns counter
turns{room="b"} 7
# TYPE size histogram
size_bucket{le="1"} 3
size_sum 4
size_count 3
# TYPE length summary
length{quantile="0.5"} 4
# TYPE odd untyped
odd 3
undeclared 9
# TYPE limit gauge
limit +Inf
# TYPE broken gauge
broken what
broken{unfinished="
"""


def source(endpoint: str = "node", url: str = "http://127.0.0.1:9/", **extra: Any) -> OpenMetricsSource:
    return OpenMetricsSource(endpoint, url, extra, lambda message: None)


def test_gauges_and_counters_of_a_page() -> None:
    assert source().read(PAGE) == {
        "openmetrics.node.engine_load.0": 0.5,
        "openmetrics.node.engine_load.1": 12.0,
        "openmetrics.node.turns_total.0": 4.5e6,
        "openmetrics.node.turns.0": 7.0,
        "openmetrics.node.limit.0": math.inf,
    }


def test_names_stay_as_they_are_on_the_page() -> None:
    page = "# TYPE energy counter\nenergy 5\n# TYPE trips counter\ntrips_total 6\ntrips_created 1.7e9\n# EOF\n"
    assert [(reading.name, reading.value) for reading in read_page(page)] == [("energy", 5.0), ("trips_total", 6.0)]


def test_labels_with_everything_in_them() -> None:
    page = '# TYPE x gauge\nx{path="/a}b,c=\\"d\\"", text="one\\ntwo\\\\" ,} 1\n'
    assert list(read_page(page)) == [Reading("x", (("path", '/a}b,c="d"'), ("text", "one\ntwo\\")), 1.0)]


def test_a_label_with_separators_that_are_no_line_breaks() -> None:
    page = '# TYPE x gauge\nx{a="\x1c\x85\u2028"} 1\r\n'
    assert list(read_page(page)) == [Reading("x", (("a", "\x1c\x85\u2028"),), 1.0)]


def test_a_label_set_keeps_its_number() -> None:
    one = source()
    one.read('# TYPE x gauge\nx{a="1",b="2"} 10\nx{a="2"} 20\n')
    later = one.read('# TYPE x gauge\nx{a="3"} 30\nx{a="2"} 21\nx{b="2",a="1"} 11\n')
    assert later == {"openmetrics.node.x.0": 11.0, "openmetrics.node.x.1": 21.0, "openmetrics.node.x.2": 30.0}


def test_refused_series_take_no_number() -> None:
    one = source(open_metrics_filters={"engine": {"engine": "1"}})
    assert one.read(PAGE) == {"openmetrics.node.engine_load.0": 12.0}


def test_too_many_series(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openmetrics, "SERIES_LIMIT", 2)
    warnings: list[str] = []
    one = OpenMetricsSource("node", "http://here/", {}, warnings.append)
    values = one.read("# TYPE x gauge\n" + "".join(f'x{{n="{number}"}} 1\n' for number in range(5)))
    assert list(values) == ["openmetrics.node.x.0", "openmetrics.node.x.1"]
    assert "more than 2 series" in warnings[0]


@pytest.mark.parametrize(
    ("wanted", "name", "labels", "kept"),
    [
        (None, "n.x", {}, True),
        ([], "n.x", {}, True),
        ({}, "n.x", {}, True),
        (["gpu", "cpu"], "node0.cpu_seconds", {}, True),
        (["^cpu"], "node0.cpu_seconds", {}, False),
        (["node[0-9].DCGM_.*"], "node1.DCGM_FI_DEV_GPU_UTIL", {}, True),
        (["node[0-9].DCGM_.*"], "head.DCGM_FI_DEV_GPU_UTIL", {}, False),
        ({"DCGM": {"pod": "^wandb-.*"}}, "n.DCGM_X", {"pod": "wandb-7"}, True),
        ({"DCGM": {"pod": "^wandb-.*"}}, "n.DCGM_X", {"pod": "my-wandb-7"}, False),
        ({"DCGM": {"pod": "wandb"}}, "n.DCGM_X", {"node": "wandb"}, False),
        ({"DCGM": {"pod": "a", "node": "b"}}, "n.DCGM_X", {"pod": "a", "node": "c"}, False),
        ({"DCGM": {"pod": "a"}, "X$": {"node": "c"}}, "n.DCGM_X", {"pod": "b", "node": "c"}, True),
        ({"DCGM": {}}, "n.DCGM_X", {"pod": "b"}, True),
        ({"DCGM": {}}, "n.other", {"pod": "b"}, False),
        ({"DCGM": {}, "other": {"pod": "c"}}, "n.other", {"pod": "b"}, False),
    ],
)
def test_filters(wanted: Any, name: str, labels: dict[str, str], kept: bool) -> None:
    assert Filter(wanted).keeps(name, tuple(sorted(labels.items()))) is kept


def test_an_expression_that_cannot_be_read() -> None:
    with pytest.raises(ValueError, match="is no regular expression"):
        Filter(["("])


def test_an_endpoint_is_asked_with_the_headers() -> None:
    seen: list[dict[str, str]] = []

    def answer(handler: http.server.BaseHTTPRequestHandler) -> None:
        seen.append(dict(handler.headers))
        send(handler, PAGE.encode())

    with server(answer) as url:
        settings = SystemSettings(
            extra={
                "open_metrics_endpoints": {"here": url, "there": url},
                "open_metrics_http_headers": {"Authorization": "Bearer x"},
                "open_metrics_filters": ["turns$"],
            }
        )
        table = openers(settings)
        assert [name for name in table if name.startswith("openmetrics")] == ["openmetrics.here", "openmetrics.there"]
        found = table["openmetrics.here"]()
        assert found.sample() == {"openmetrics.here.turns.0": 7.0}
        assert found.describe() == f"here at {url}"
    assert seen[0]["Authorization"] == "Bearer x"
    assert seen[0]["Accept"] == openmetrics.ACCEPT


def test_not_here_without_endpoints() -> None:
    with pytest.raises(NotHere, match="x_stats_open_metrics_endpoints is not set"):
        openers(SystemSettings())["openmetrics"]()


def test_an_endpoint_that_is_down() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/"
        with pytest.raises(OSError, match="refused"):
            source(url=url).sample()


@pytest.mark.parametrize("status", [404, 500, 204])
def test_other_answers_than_200(status: int) -> None:
    with server(lambda handler: send(handler, b"", status)) as url, pytest.raises(OSError, match=str(status)):
        fetch(url)


def test_a_page_that_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "SIZE_LIMIT", 1 << 20)
    body = bytes(3 << 20)
    with server(lambda handler: send(handler, body)) as url, pytest.raises(OSError, match="more than 1 MiB"):
        fetch(url)


def test_a_page_that_drips() -> None:
    stop = threading.Event()

    def answer(handler: http.server.BaseHTTPRequestHandler) -> None:
        send(handler, b"")
        for _ in range(500):
            if stop.wait(0.02):
                break
            handler.wfile.write(b"x")
            handler.wfile.flush()

    with server(answer) as url:
        with pytest.raises(TimeoutError, match="longer than"):
            fetch(url, time_limit=0.2)
        stop.set()


def test_secrets_do_not_follow_a_redirect_to_another_host() -> None:
    seen: list[tuple[str, str | None]] = []

    def answer(handler: http.server.BaseHTTPRequestHandler) -> None:
        seen.append((handler.path, handler.headers.get("X-Secret")))
        if handler.path == "/metrics":
            send(handler, b"", 302, Location="/again")
        elif handler.path == "/again":
            port = handler.server.server_address[1]
            send(handler, b"", 302, Location=f"http://localhost:{port}/elsewhere")
        else:
            send(handler, b"done")

    with server(answer) as url:
        assert fetch(url, {"X-Secret": "s"}) == b"done"
    assert seen == [("/metrics", "s"), ("/again", "s"), ("/elsewhere", None)]


def test_redirects_in_a_circle_end() -> None:
    with server(lambda handler: send(handler, b"", 302, Location="/metrics")) as url, pytest.raises(OSError):  # noqa: PT011
        fetch(url)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://host/x", "/metrics"])
def test_other_addresses_are_refused(url: str) -> None:
    with pytest.raises(OSError, match="is not an http"):
        fetch(url)


def published(name: str) -> str:
    if not SAMPLES.is_dir():
        pytest.skip("the samples are not beside this checkout")
    return (SAMPLES / name).read_text()


@pytest.mark.parametrize(
    "name", ["dcgm_exporter_t4", "dcgm_exporter_a100_mig", "dcgm_exporter_gke_2xt4", "node_exporter_subset"]
)
def test_published_pages(name: str) -> None:
    expected = json.loads(published("expected_head.json"))[f"{name}.prom endpoint=node"]["metrics"]
    assert source().read(published(f"{name}.prom")) == expected


def test_a_whole_node_exporter_page() -> None:
    expected = json.loads(published("expected_head.json"))["node_exporter_e2e_full.prom count"]
    assert len(source().read(published("node_exporter_e2e_full.prom"))) == expected["keys"]


def test_a_real_node_exporter() -> None:
    program = shutil.which("prometheus-node-exporter") or shutil.which("node_exporter")
    if program is None:
        pytest.skip("prometheus-node-exporter is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([program, f"--web.listen-address=127.0.0.1:{port}"], stderr=subprocess.DEVNULL)
    try:
        one = source(url=f"http://127.0.0.1:{port}/metrics", open_metrics_filters=["node_memory_Mem", "node_load1$"])
        for _ in range(100):
            try:
                values = one.sample()
                break
            except OSError:
                time.sleep(0.1)
        assert values["openmetrics.node.node_memory_MemTotal_bytes.0"] > 1 << 20
        assert "openmetrics.node.node_load1.0" in values
    finally:
        process.terminate()
        process.wait(10)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_this_machine_is_not_asked_through_a_proxy(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    with (
        server(lambda handler: send(handler, b"the proxy")) as proxy,
        server(lambda handler: send(handler, b"the endpoint")) as url,
    ):
        monkeypatch.setenv("http_proxy", proxy.removesuffix("/metrics"))
        assert fetch(url.replace("127.0.0.1", host)) == b"the endpoint"
        assert fetch("http://machine.invalid/metrics") == b"the proxy"
