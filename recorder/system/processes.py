"""What processes use, read cheaply: from `/proc` on Linux, through psutil elsewhere."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

PROC = Path("/proc")
WALK_LIMIT = 2.0
"""Seconds after which the walk through a process tree ends with what it has."""


@dataclass(frozen=True, slots=True)
class ProcessUse:
    """One process at one moment."""

    cpu_seconds: float
    """User and system time of the process since it started."""
    reaped_seconds: float
    """The same of its children that have ended and been waited for, and of theirs; 0 where not counted."""
    rss: int
    """Resident bytes."""
    threads: int
    started: float
    """Tells a process from a later one of the same number."""


def read_process(pid: int) -> ProcessUse | None:
    """What a process uses now; None when it has ended (also when only its exit status is left) or can't be read."""
    return _read_proc(pid) if _has_proc() else _read_psutil(pid)


def descendants(pid: int) -> list[int]:
    """Children, their children and so on, in no special order. Gives up after `WALK_LIMIT` seconds."""
    if not _has_proc():
        return _descendants_psutil(pid)
    end = time.monotonic() + WALK_LIMIT
    found: list[int] = []
    seen = {pid}
    waiting = [pid]
    while waiting and time.monotonic() < end:
        for child in _children(waiting.pop()):
            if child not in seen:
                seen.add(child)
                found.append(child)
                waiting.append(child)
    return found


@cache
def _has_proc() -> bool:
    """Whether the kernel lists children in `/proc` (Linux with CONFIG_PROC_CHILDREN)."""
    return Path(f"/proc/self/task/{os.getpid()}/children").exists()


@cache
def _ticks_and_page() -> tuple[float, int]:
    return float(os.sysconf("SC_CLK_TCK")), os.sysconf("SC_PAGE_SIZE")


def _read_proc(pid: int) -> ProcessUse | None:
    """`/proc/PID/stat`, whose fields follow the last `)`: the name before it may hold anything."""
    try:
        text = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    fields = text[text.rindex(b")") + 2 :].split()
    if fields[0] in (b"Z", b"X", b"x"):
        return None
    ticks, page = _ticks_and_page()
    return ProcessUse(
        cpu_seconds=(int(fields[11]) + int(fields[12])) / ticks,
        reaped_seconds=(int(fields[13]) + int(fields[14])) / ticks,
        rss=int(fields[21]) * page,
        threads=int(fields[17]),
        started=int(fields[19]) / ticks,
    )


def _children(pid: int) -> list[int]:
    """The children of every thread of a process."""
    children: list[int] = []
    with suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with suppress(OSError):
                children += map(int, Path(f"/proc/{pid}/task/{task}/children").read_bytes().split())
    return children


def _read_psutil(pid: int) -> ProcessUse | None:
    import psutil

    with suppress(psutil.Error):
        process = psutil.Process(pid)
        with process.oneshot():
            if process.status() == psutil.STATUS_ZOMBIE:
                return None
            times: Any = process.cpu_times()
            return ProcessUse(
                cpu_seconds=times.user + times.system,
                reaped_seconds=0.0,  # psutil has them on Linux only
                rss=process.memory_info().rss,
                threads=process.num_threads(),
                started=process.create_time(),
            )
    return None


def _descendants_psutil(pid: int) -> list[int]:
    import psutil

    with suppress(psutil.Error):
        return [child.pid for child in psutil.Process(pid).children(recursive=True)]
    return []
