"""The host source against independent readings: /proc, psutil, and processes with known behaviour."""

from __future__ import annotations

import json
import math
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from recorder.system import host
from recorder.system.cgroup import Cgroup
from recorder.system.disks import choose_devices, summed_devices
from recorder.system.host import HostSource, cpu_between, cpu_model, tcp_retransmits
from recorder.system.patience import Patience
from recorder.system.processes import ProcessUse, descendants, read_process
from recorder.system.source import SystemSettings

ROOT = Path(__file__).parents[1]
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")


def open_host(**settings: Any) -> HostSource:
    return host.open_source(SystemSettings(**settings), lambda message: None)


@contextmanager
def child(script: str) -> Iterator[subprocess.Popen[str]]:
    """A Python process that runs a script and says a line when it is ready; it ends with its standard input."""
    process = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        assert process.stdout.readline().strip() == "ready"
        yield process
    finally:
        process.stdin.close()
        process.wait(10)
        process.stdout.close()


IDLE = "print('ready', flush=True); input()"
NESTED = """
import subprocess, sys
code = "x = bytearray(30 << 20); print('ready', flush=True); input()"
inner = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
inner.stdout.readline()
print("ready", flush=True)
try: input()
except EOFError: inner.communicate()
"""


def test_keys() -> None:
    source = open_host(disk_paths=("/", "/nowhere/at/all"))
    first, second = source.sample(), source.sample()
    always = {
        "memory_percent",
        "proc.cpu.threads",
        "proc.memory.availableMB",
        "proc.memory.rssMB",
        "proc.memory.percent",
        "disk./.usagePercent",
        "disk./.usageGB",
        "network.sent",
        "network.recv",
    }
    assert always <= set(first)
    assert "cpu" not in first  # a share of an interval needs two readings
    assert "cpu" in second
    assert not any("nowhere" in key for key in second)
    assert all(math.isfinite(value) and value >= 0 for value in second.values())


def test_memory_of_the_machine() -> None:
    values = open_host(no_cgroup=True).sample()
    memory = psutil.virtual_memory()
    used = (memory.total - memory.available) / memory.total * 100
    assert values["memory_percent"] == pytest.approx(used, abs=3)
    assert values["proc.memory.availableMB"] == pytest.approx(memory.available / 1024**2, rel=0.05)


def test_memory_of_the_process() -> None:
    ballast = bytearray(os.urandom(1 << 20)) * 64
    values = open_host(no_cgroup=True).sample()
    own = psutil.Process()
    assert values["proc.memory.rssMB"] == pytest.approx(own.memory_info().rss / 1024**2, rel=0.02)
    assert values["proc.memory.rssMB"] > len(ballast) / 1024**2
    assert values["proc.memory.percent"] == pytest.approx(own.memory_percent(), rel=0.02)
    assert values["proc.cpu.threads"] == own.num_threads()


def test_disk_space() -> None:
    values = open_host(disk_paths=(str(ROOT),)).sample()
    use = psutil.disk_usage(str(ROOT))
    assert values[f"disk.{ROOT}.usageGB"] == pytest.approx(use.used / 1024**3, rel=0.01)
    assert values[f"disk.{ROOT}.usagePercent"] == pytest.approx(use.percent, abs=0.2)


def test_network_counts_from_the_opening() -> None:
    source = open_host()
    before = source.sample()
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        accepted, _ = server.accept()
        with accepted:
            client.sendall(bytes(300_000))
            left = 300_000
            while left:
                left -= len(accepted.recv(65536))
    after = source.sample()
    assert after["network.recv"] - before["network.recv"] >= 300_000
    assert after["network.sent"] - before["network.sent"] >= 300_000


@linux
def test_disk_traffic_counts_what_is_written(tmp_path: Path) -> None:
    source = open_host()
    if not source._devices:
        pytest.skip("no block device has counters here")
    before = source.sample()
    with (tmp_path / "data").open("wb") as file:
        file.write(os.urandom(8 << 20))
        file.flush()
        os.fsync(file.fileno())
    after = source.sample()
    if not psutil.disk_io_counters(perdisk=True).keys() & {Path(p.device).name for p in psutil.disk_partitions()}:
        pytest.skip("temporary files are on a device without counters")
    assert after["disk.out"] - before["disk.out"] >= 8
    assert after["disk.out"] == pytest.approx(sum(after[f"disk.{name}.out"] for name in source._summed))


def test_cpu_of_a_busy_process() -> None:
    source = open_host()
    source.sample()
    start, used = time.monotonic(), time.process_time()
    while time.process_time() - used < 0.3:
        pass
    values = source.sample()
    busy = (time.process_time() - used) / (time.monotonic() - start) * 100 / source._capacity
    assert values["cpu"] == pytest.approx(busy, rel=0.25)


def test_cpu_of_an_idle_process() -> None:
    with child(IDLE) as process:
        source = open_host(pid=process.pid)
        source.sample()
        time.sleep(0.1)
        assert source.sample()["cpu"] == 0.0


def test_a_process_tree() -> None:
    with child(NESTED) as process:
        alone = open_host(pid=process.pid).sample()
        tree = open_host(pid=process.pid, track_process_tree=True).sample()
        assert tree["proc.cpu.threads"] == 2 * alone["proc.cpu.threads"]
        assert tree["proc.memory.rssMB"] > alone["proc.memory.rssMB"] + 30
        children = {found.pid for found in psutil.Process(process.pid).children(recursive=True)}
        assert set(descendants(process.pid)) == children


def test_a_process_that_has_ended_is_left_out() -> None:
    with child(IDLE) as process:
        source = open_host(pid=process.pid)
        assert "proc.memory.rssMB" in source.sample()
        assert process.stdin is not None
        process.stdin.close()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # ended, and its status still to be read
        values = source.sample()
    later = source.sample()
    for sample in (values, later):
        assert not any(key.startswith("proc.") and key != "proc.memory.availableMB" for key in sample)
        assert "cpu" not in sample
        assert "memory_percent" in sample


@linux
def test_reading_proc_agrees_with_psutil() -> None:
    use = read_process(os.getpid())
    own = psutil.Process()
    times = own.cpu_times()
    assert use is not None
    assert use.cpu_seconds == pytest.approx(times.user + times.system, abs=0.05)
    assert use.reaped_seconds == pytest.approx(times.children_user + times.children_system, abs=0.05)
    assert use.rss == pytest.approx(own.memory_info().rss, rel=0.02)
    assert use.threads == own.num_threads()


@linux
def test_a_name_with_brackets_and_blanks() -> None:
    script = "open('/proc/self/comm', 'w').write('a) R 1 (b'); print('ready', flush=True); input()"
    with child(script) as process:
        use = read_process(process.pid)
        assert use is not None
        assert use.threads == 1


def use(cpu: float, reaped: float = 0.0, started: float = 1.0) -> ProcessUse:
    return ProcessUse(cpu, reaped, rss=0, threads=1, started=started)


def test_cpu_between_readings() -> None:
    assert cpu_between({1: use(5)}, {1: use(7)}, tree=False) == 2
    assert cpu_between({1: use(5, 10)}, {1: use(7, 90)}, tree=False) == 2  # children are nobody's business


def test_cpu_of_a_tree_counts_every_second_once() -> None:
    before = {1: use(5), 2: use(30)}
    assert cpu_between(before, {1: use(6), 2: use(33), 3: use(2)}, tree=True) == 6  # 3 is new
    # 2 used four seconds more and ended: its 34 seconds are now in its parent's reaped time
    assert cpu_between(before, {1: use(6, 34)}, tree=True) == 5
    # a child that nobody had seen lived for half a second
    assert cpu_between({1: use(5)}, {1: use(6, 0.5)}, tree=True) == 1.5
    # a number that was given away again
    assert cpu_between({1: use(5), 2: use(30)}, {1: use(5, 31), 2: use(4, started=9)}, tree=True) == 5
    # an orphan that left the tree is not negative use
    assert cpu_between({1: use(5, 1), 2: use(30)}, {1: use(6, 1)}, tree=True) == 0


@linux
def test_cpu_of_children_that_live_shorter_than_an_interval() -> None:
    script = """
import subprocess, sys
print("ready", flush=True)
for line in sys.stdin:
    code = "import time; e = time.process_time() + 0.25\\nwhile time.process_time() < e: pass"
    subprocess.run([sys.executable, "-c", code]); print("done", flush=True)
"""
    with child(script) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        source = open_host(pid=process.pid, track_process_tree=True)
        source.sample()
        start = time.monotonic()
        process.stdin.write("go\n")
        process.stdin.flush()
        process.stdout.readline()
        elapsed = time.monotonic() - start
        cpu_seconds = source.sample()["cpu"] / 100 * source._capacity * elapsed
        assert cpu_seconds == pytest.approx(0.28, abs=0.15)


VDA = [("/dev/vda", "/")]


@pytest.mark.parametrize(
    ("partitions", "paths", "counted", "chosen"),
    [
        (VDA, ["/"], {"vda", "loop0", "zram0"}, ["vda"]),
        # the root always qualifies, since every path begins with it; a mount point counts letter for letter
        ([*VDA, ("/dev/sdb1", "/data")], ["/data/run"], {"vda", "sdb1", "sdb"}, ["sdb1", "vda"]),
        ([*VDA, ("/dev/sdb1", "/data")], ["/database"], {"vda", "sdb1"}, ["sdb1", "vda"]),
        ([*VDA, ("/dev/sdb1", "/data")], ["/"], {"vda", "sdb1"}, ["vda"]),
        # an overlay as root: everything that is mounted
        ([("/dev/nvme0n1p2", "/etc/hosts"), ("/dev/loop3", "/snap")], ["/"], {"nvme0n1p2", "loop3"}, ["nvme0n1p2"]),
        # … but not when other paths are watched
        ([("/dev/nvme0n1p2", "/etc/hosts"), ("/dev/sdb", "/d")], ["/", "/d"], {"nvme0n1p2", "sdb"}, ["sdb"]),
        # LVM: the mapped name has no counters, so everything that has
        (
            [("/dev/mapper/vg-root", "/")],
            ["/"],
            {"sda", "sda1", "dm-0", "loop0", "ram1", "zram0"},
            ["dm-0", "sda", "sda1"],
        ),
        # macOS
        ([("/dev/disk3s1s1", "/")], ["/"], {"disk0", "disk2"}, ["disk0", "disk2"]),
        # one device mounted twice is one device
        ([*VDA, ("/dev/vda", "/mnt")], ["/mnt"], {"vda"}, ["vda"]),
        (VDA, ["/"], set(), []),
    ],
)
def test_which_devices(
    partitions: list[tuple[str, str]], paths: list[str], counted: set[str], chosen: list[str]
) -> None:
    assert choose_devices(partitions, paths, counted) == chosen


def test_totals_count_every_byte_once(tmp_path: Path) -> None:
    for name in ("sda/device", "dm-0", "md0"):
        (tmp_path / name).mkdir(parents=True)
    everything = ["dm-0", "md0", "sda", "sda1"]
    assert summed_devices(everything, [("/dev/mapper/vg-root", "/")], tmp_path) == ["sda"]
    assert summed_devices(["sda1", "sdb1"], [("/dev/sda1", "/"), ("/dev/sdb1", "/d")], tmp_path) == ["sda1", "sdb1"]
    assert summed_devices(["disk0", "disk2"], [("/dev/disk3s1", "/")], tmp_path / "none") == ["disk0", "disk2"]


def test_a_container_with_limits(tmp_path: Path) -> None:
    (tmp_path / "memory.current").write_text("786432000")
    (tmp_path / "cpu.stat").write_text("nr_periods 100\nnr_throttled 10\n")
    (tmp_path / "memory.events").write_text("oom_kill 1\n")
    source = open_host()
    source._cgroup = Cgroup(tmp_path, memory_limit=1000 << 20, cpu_quota=2.0)
    source._kills = 1
    first = source.sample()
    assert first["memory_percent"] == 75.0
    assert first["proc.memory.availableMB"] == 250.0
    assert first["proc.memory.percent"] == pytest.approx(first["proc.memory.rssMB"] / 10)
    assert "proc.cpu.throttledPercent" not in first
    assert first["proc.memory.oomKills"] == 0
    (tmp_path / "cpu.stat").write_text("nr_periods 140\nnr_throttled 20\n")
    (tmp_path / "memory.events").write_text("oom_kill 3\n")
    (tmp_path / "memory.current").write_text(str(2000 << 20))
    second = source.sample()
    assert second["proc.cpu.throttledPercent"] == 25.0
    assert second["proc.memory.oomKills"] == 2
    assert second["proc.memory.availableMB"] == 0  # over the limit for a moment


def test_counters_that_were_reset_are_not_negative() -> None:
    source = open_host()
    source._network_start = (1 << 60, 1 << 60)
    source._disk_start = dict.fromkeys(source._devices, (1 << 60, 1 << 60))
    values = source.sample()
    assert values["network.sent"] == values["network.recv"] == 0
    assert all(values[f"disk.{name}.in"] == 0 for name in source._devices)


def test_a_device_that_was_unplugged_is_left_out() -> None:
    source = open_host()
    source._devices = [*source._devices, "sdz9"]
    source._disk_start = {**source._disk_start, "sdz9": (0, 0)}
    assert not any("sdz9" in key for key in source.sample())


def test_details_of_the_machine() -> None:
    source = open_host(extra={"host_detail": True})
    first = source.sample()
    time.sleep(0.05)
    second = source.sample()
    cores = [f"cpu.{number}.cpu_percent" for number in range(psutil.cpu_count() or 1)]
    assert not set(cores) & set(first)
    assert set(cores) <= set(second)
    assert second["memory.used_percent"] == pytest.approx(100 * second["memory.used"] / psutil.virtual_memory().total)


def test_facts() -> None:
    facts = open_host(disk_paths=("/", "/nowhere")).facts()
    assert facts["cpu_count_logical"] == psutil.cpu_count()
    assert facts["cpu"]["count"] == facts["cpu_count"] == psutil.cpu_count(logical=False)
    assert facts["memory"] == {"total": psutil.virtual_memory().total}
    assert set(facts["disk"]) == {"/"}
    assert facts["disk"]["/"]["total"] == psutil.disk_usage("/").total


@linux
def test_name_of_the_processor() -> None:
    lines = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    assert cpu_model() == (lines[0].split(":", 1)[1].strip() if lines else "")


def test_retransmitted_segments(tmp_path: Path) -> None:
    table = tmp_path / "snmp"
    table.write_text("Ip: Forwarding\nIp: 1\nTcp: MaxConn InSegs RetransSegs\nTcp: -1 5 42\nUdp: In\nUdp: 0\n")
    assert tcp_retransmits(table) == 42
    table.write_text("Ip: 1\n")
    assert tcp_retransmits(table) is None
    assert tcp_retransmits(tmp_path / "none") is None


def test_a_path_that_hangs_costs_its_own_values() -> None:
    release = threading.Event()
    warnings: list[str] = []
    source = HostSource(SystemSettings(disk_paths=("/", "/dead")), warnings.append)
    source._paths["/dead"] = Patience(release.wait, 0.02).get
    for _ in range(2):
        values = source.sample()
        assert "disk./.usageGB" in values
        assert not any("dead" in key for key in values)
    assert set(warnings) == {"system metrics: the file system of /dead does not answer"}
    release.set()


def test_patience_hands_on_results_and_errors() -> None:
    assert Patience(lambda: 5, 5.0).get() == 5

    def fail() -> None:
        raise FileNotFoundError("x")

    with pytest.raises(FileNotFoundError):
        Patience(fail, 5.0).get()


def test_importing_the_family_is_light() -> None:
    script = (
        "import sys, json; before = set(sys.modules); import recorder.system.monitor, recorder.system.host, "
        "recorder.system.nvidia; print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=True)
    loaded = set(json.loads(done.stdout))
    assert not loaded & {"psutil", "pynvml", "numpy", "google.protobuf", "wandb", "textual", "asyncio"}
