"""
The limits that a container or a job sets on a process: cgroup version 2 and the CPUs it may run on.

Only the leaf group counts, the limits of its ancestors don't; version 1 is left alone. Every function takes the root
of the file system, so that a directory of copies can stand in for `/`.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

ROOT = Path("/")


@dataclass(frozen=True, slots=True)
class Cgroup:
    """A control group of version 2, as it was when it was found."""

    directory: Path
    memory_limit: int | None
    """`memory.max` in bytes; None: no limit."""
    cpu_quota: float | None
    """`cpu.max` in CPUs (0.5: half a CPU); None: no limit."""

    def memory_current(self) -> int | None:
        """Bytes in use now, None where that can't be read."""
        with suppress(OSError, ValueError):
            return int((self.directory / "memory.current").read_text())
        return None

    def throttling(self) -> tuple[int, int] | None:
        """Scheduler periods so far, and those in which the quota stopped the group; None where not counted."""
        table = _numbers(self.directory / "cpu.stat")
        if "nr_periods" not in table or "nr_throttled" not in table:
            return None
        return table["nr_periods"], table["nr_throttled"]

    def oom_kills(self) -> int | None:
        """Processes of the group that were killed for want of memory, so far."""
        return _numbers(self.directory / "memory.events").get("oom_kill")


def find_cgroup(pid: int, root: Path = ROOT) -> Cgroup | None:
    """The version 2 group of a process, None where there is none or it can't be read."""
    process = root / "proc" / str(pid)
    try:
        path = _group_path((process / "cgroup").read_text())
        mounts = (root / "proc" / "self" / "mountinfo").read_text()
    except OSError:
        return None
    if path is None:
        return None
    directory = _group_directory(path, mounts)
    if directory is None:
        return None
    directory = root / directory.relative_to("/")
    return Cgroup(directory, _memory_limit(directory), _cpu_quota(directory)) if directory.is_dir() else None


def allowed_cpus(pid: int, root: Path = ROOT) -> int | None:
    """How many CPUs the scheduler may put the process on (`Cpus_allowed_list`), None where that isn't said."""
    with suppress(OSError, ValueError):
        status = (root / "proc" / str(pid) / "status").read_text()
        found = re.search(r"^Cpus_allowed_list:\s*(\S+)", status, re.MULTILINE)
        return count_cpus(found[1]) if found else None
    return None


def count_cpus(cpu_list: str) -> int:
    """The number of CPUs in a list like `0-3,8,10-11`. ValueError where it isn't one."""
    total = 0
    for part in cpu_list.split(","):
        first, _, last = part.partition("-")
        total += int(last or first) - int(first) + 1
    return total


def cpu_capacity(cgroup: Cgroup | None, allowed: int | None, logical: int) -> float | None:
    """The CPUs that the process can use at most, None where nothing limits it. Fractions stay: half a CPU is 0.5."""
    limits = [float(allowed)] if allowed and allowed < logical else []
    if cgroup is not None and cgroup.cpu_quota:
        limits.append(cgroup.cpu_quota)
    return min(limits, default=None)


def _group_path(text: str) -> str | None:
    """The path of the `0::` line of `/proc/PID/cgroup`."""
    paths = [line[3:] for line in text.splitlines() if line.startswith("0::/")]
    if not paths or ".." in paths[0].split("/"):  # a group outside of the name space that this process sees
        return None
    return paths[0]


def _group_directory(path: str, mounts: str) -> Path | None:
    """Where the group lies: the first cgroup2 mount, with its own root cut off the path (bind mounts)."""
    for line in mounts.splitlines():
        mount, _, rest = line.partition(" - ")
        fields = mount.split(" ")
        if len(fields) < 5 or rest.split(" ", 1)[0] != "cgroup2":
            continue
        top, point = _unescape(fields[3]).rstrip("/"), _unescape(fields[4])
        if path == top or path.startswith(f"{top}/"):
            path = path[len(top) :]
        return Path(point, path.strip("/"))
    return None


def _unescape(field: str) -> str:
    r"""mountinfo writes blanks and backslashes in octal: `\040`."""
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), field)


def _memory_limit(directory: Path) -> int | None:
    with suppress(OSError, ValueError):
        return int((directory / "memory.max").read_text()) or None
    return None  # no file (the top group), or the word `max`


def _cpu_quota(directory: Path) -> float | None:
    with suppress(OSError, ValueError):
        quota, period = (directory / "cpu.max").read_text().split()
        if int(quota) > 0 and int(period) > 0:
            return int(quota) / int(period)
    return None


def _numbers(path: Path) -> dict[str, int]:
    """A file of `name number` lines; empty where it isn't there."""
    table = {}
    with suppress(OSError, ValueError):
        for line in path.read_text().splitlines():
            name, _, number = line.partition(" ")
            table[name] = int(number)
    return table
