"""Container limits, read from a directory of copies that stands in for `/`."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from recorder.system.cgroup import Cgroup, allowed_cpus, count_cpus, cpu_capacity, find_cgroup

MOUNT = "1 0 0:1 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup rw\n"


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def machine(root: Path, group: str = "/jobs/one", mounts: str = MOUNT, **files: str) -> Path:
    """A machine on which process 7 is in a group with these files (`memory_max` for `memory.max`)."""
    system = {"/proc/7/cgroup": f"0::{group}\n", "/proc/self/mountinfo": mounts}
    directory = "/sys/fs/cgroup/jobs/one/"
    contents = {directory + name.replace("_", ".", 1): text for name, text in files.items()}
    (root / directory.strip("/")).mkdir(parents=True, exist_ok=True)
    return write(root, system | contents)


def test_limits_of_a_group(tmp_path: Path) -> None:
    root = machine(tmp_path, memory_max="8589934592\n", cpu_max="400000 100000\n", memory_current="7516192768\n")
    cgroup = find_cgroup(7, root)
    assert cgroup == Cgroup(root / "sys/fs/cgroup/jobs/one", 8 << 30, 4.0)
    assert cgroup.memory_current() == 7 << 30


def test_half_a_cpu(tmp_path: Path) -> None:
    cgroup = find_cgroup(7, machine(tmp_path, cpu_max="50000 100000\n"))
    assert cgroup is not None
    assert cpu_capacity(cgroup, 8, 8) == 0.5


@pytest.mark.parametrize("files", [{"memory_max": "max\n", "cpu_max": "max 100000\n"}, {}])
def test_no_limits(tmp_path: Path, files: dict[str, str]) -> None:
    cgroup = find_cgroup(7, machine(tmp_path, **files))
    assert cgroup is not None
    assert (cgroup.memory_limit, cgroup.cpu_quota) == (None, None)


@pytest.mark.parametrize("text", ["", "what", "-5 100000", "100000 0", "100000"])
def test_a_quota_that_makes_no_sense_is_none(tmp_path: Path, text: str) -> None:
    cgroup = find_cgroup(7, machine(tmp_path, cpu_max=text))
    assert cgroup is not None
    assert cgroup.cpu_quota is None


def test_root_of_a_bind_mount_is_cut_off(tmp_path: Path) -> None:
    mounts = "31 23 0:28 /outer /sys/fs/cgroup ro - cgroup2 cgroup rw\n"
    cgroup = find_cgroup(7, machine(tmp_path, "/outer/jobs/one", mounts, memory_max="1024"))
    assert cgroup is not None
    assert cgroup.memory_limit == 1024


def test_optional_fields_and_octal_in_mountinfo(tmp_path: Path) -> None:
    mounts = "31 23 0:28 / /sys/fs/my\\040groups rw shared:9 master:1 - cgroup2 cgroup rw\n"
    root = write(machine(tmp_path, mounts=mounts), {"/sys/fs/my groups/jobs/one/memory.max": "5"})
    cgroup = find_cgroup(7, root)
    assert cgroup is not None
    assert cgroup.memory_limit == 5


def test_version_1_beside_version_2(tmp_path: Path) -> None:
    root = machine(tmp_path, memory_max="77")
    write(root, {"/proc/7/cgroup": "4:memory:/elsewhere\n1:cpu:/\n0::/jobs/one\n"})
    cgroup = find_cgroup(7, root)
    assert cgroup is not None
    assert cgroup.memory_limit == 77


@pytest.mark.parametrize(
    ("groups", "mounts"),
    [
        ("4:memory:/elsewhere\n", MOUNT),
        ("0::/jobs/one\n", "1 0 0:1 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"),
        ("0::/jobs/gone\n", MOUNT),
        ("0::/../../outside\n", MOUNT),
        ("", ""),
    ],
)
def test_no_group(tmp_path: Path, groups: str, mounts: str) -> None:
    root = machine(tmp_path, mounts=mounts, memory_max="1")
    write(root, {"/proc/7/cgroup": groups})
    assert find_cgroup(7, root) is None


def test_no_such_process(tmp_path: Path) -> None:
    assert find_cgroup(8, machine(tmp_path)) is None
    assert allowed_cpus(8, machine(tmp_path)) is None


def test_memory_current_that_cannot_be_read(tmp_path: Path) -> None:
    cgroup = find_cgroup(7, machine(tmp_path, memory_max="1"))
    assert cgroup is not None
    assert cgroup.memory_current() is None


def test_throttling_and_kills(tmp_path: Path) -> None:
    stat = "usage_usec 5\nnr_periods 200\nnr_throttled 50\nthrottled_usec 9\n"
    root = write(
        machine(tmp_path),
        {
            "/sys/fs/cgroup/jobs/one/cpu.stat": stat,
            "/sys/fs/cgroup/jobs/one/memory.events": "low 0\noom 3\noom_kill 2\n",
        },
    )
    cgroup = find_cgroup(7, root)
    assert cgroup is not None
    assert cgroup.throttling() == (200, 50)
    assert cgroup.oom_kills() == 2


@pytest.mark.parametrize(("text", "count"), [("0-7", 8), ("3", 1), ("0-3,8,10-11", 7)])
def test_cpu_lists(tmp_path: Path, text: str, count: int) -> None:
    root = write(tmp_path, {"/proc/7/status": f"Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t{text}\n"})
    assert count_cpus(text) == allowed_cpus(7, root) == count


def test_capacity_is_the_smallest_limit() -> None:
    quota = Cgroup(Path("/"), None, 4.0)
    assert cpu_capacity(quota, 8, 8) == 4.0
    assert cpu_capacity(quota, 2, 8) == 2.0
    assert cpu_capacity(None, 2, 8) == 2.0
    assert cpu_capacity(None, 8, 8) is None
    assert cpu_capacity(None, None, 8) is None


def test_the_published_example(tmp_path: Path) -> None:
    sample = Path(__file__).parents[1].parent / "shared" / "samples" / "cgroup_v2.json"
    if not sample.exists():
        pytest.skip("the samples are not beside this checkout")
    files = json.loads(sample.read_text())
    expected = files.pop("expect")
    root = write(tmp_path, {name.replace("/proc/self/cgroup", "/proc/7/cgroup"): text for name, text in files.items()})
    write(root, {"/proc/7/status": files["/proc/self/status"]})
    cgroup = find_cgroup(7, root)
    assert cgroup is not None
    assert cpu_capacity(cgroup, allowed_cpus(7, root), 16) == expected["cpu capacity"]
    current, limit = cgroup.memory_current(), cgroup.memory_limit
    assert current is not None
    assert limit is not None
    assert current / limit * 100 == expected["memory_percent"]


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="affinity is a thing of Linux")
def test_this_process() -> None:
    assert allowed_cpus(os.getpid()) == len(os.sched_getaffinity(0))
