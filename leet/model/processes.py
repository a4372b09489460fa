"""The processes of this machine: what each uses, who it belongs to, how they are sorted and arranged as a tree.

On Linux one short file of `/proc` is read for each process and sample, 20 µs; who it belongs to and its command line
are read once, until it becomes another program. Elsewhere psutil is asked, which takes several times as long.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from leet.model.filter import TextFilter
from leet.model.safe_text import clean

SortKey = Literal["cpu", "memory", "gpu", "pid"]
SORT_KEYS: tuple[SortKey, ...] = ("cpu", "memory", "gpu", "pid")

_LONGEST = 4096
"""Characters of a command line that are kept."""


@dataclass(frozen=True, slots=True)
class Process:
    """One process at one moment. Texts are safe to show."""

    pid: int
    parent: int
    user: str
    cpu: float
    """Per cent of one core since the sample before; of all its life in its first."""
    memory: int
    """Resident bytes."""
    threads: int
    started: float
    """Unix seconds."""
    command: str
    gpu: int | None = None
    """Bytes of memory on GPUs; None where it has none."""


@dataclass(frozen=True, slots=True)
class Branch:
    """A process in a tree, and what is drawn before its command."""

    process: Process
    prefix: str


@dataclass(slots=True)
class _Known:
    """What is read once, and the reading before."""

    ticks: float
    name: bytes
    user: str
    command: str


class Processes:
    """Samples all processes; used from one thread."""

    def __init__(self, proc: str = "/proc") -> None:
        self._proc = proc
        self._linux = os.path.exists(f"{proc}/self/stat")
        self._known: dict[tuple[int, float], _Known] = {}
        self._at = 0.0
        self._users: dict[int, str] = {}
        self._psutil: dict[int, Any] = {}
        if self._linux:
            self._hertz = float(os.sysconf("SC_CLK_TCK"))
            self._page = os.sysconf("SC_PAGE_SIZE")
            self._booted = _boot_time(proc)

    def sample(self, gpu: Mapping[int, int] | None = None) -> list[Process]:
        """All processes there are now; `gpu` gives the bytes that some hold on GPUs."""
        now = time.monotonic()
        found = self._sample_proc(now, gpu or {}) if self._linux else self._sample_psutil(gpu or {})
        self._at = now
        return found

    def _sample_proc(self, now: float, gpu: Mapping[int, int]) -> list[Process]:
        elapsed, uptime = now - self._at, time.time() - self._booted
        known: dict[tuple[int, float], _Known] = {}
        found: list[Process] = []
        for entry in os.listdir(self._proc):
            if not entry.isdecimal():
                continue
            try:
                with open(f"{self._proc}/{entry}/stat", "rb", buffering=0) as file:
                    text = file.read()
            except OSError:  # it has ended
                continue
            end = text.rfind(b")")
            name, fields = text[text.find(b"(") + 1 : end], text[end + 2 :].split(None, 22)
            if len(fields) < 22 or fields[0] in (b"X", b"x"):
                continue
            pid, started = int(entry), int(fields[19]) / self._hertz
            ticks = (int(fields[11]) + int(fields[12])) / self._hertz
            before = self._known.get((pid, started))
            if before is None or before.name != name:
                user, command = self._read(entry, name)
                seconds = max(uptime - started, 1.0) if before is None else elapsed
                cpu = (ticks - (0.0 if before is None else before.ticks)) / seconds * 100.0
                before = _Known(ticks, name, user, command)
            else:
                cpu = (ticks - before.ticks) / elapsed * 100.0 if elapsed > 0 else 0.0
                before.ticks = ticks
            known[pid, started] = before
            found.append(
                Process(
                    pid,
                    int(fields[1]),
                    before.user,
                    max(0.0, cpu),
                    int(fields[21]) * self._page,
                    int(fields[17]),
                    self._booted + started,
                    before.command if fields[0] != b"Z" else f"{before.command} (ended)",
                    gpu.get(pid),
                )
            )
        self._known = known
        return found

    def _read(self, pid: str, name: bytes) -> tuple[str, str]:
        """Owner and command line; a process without one is a part of the kernel, or has ended."""
        user, line = "?", b""
        with suppress(OSError):
            user = self._user(os.stat(f"{self._proc}/{pid}").st_uid)
        with suppress(OSError), open(f"{self._proc}/{pid}/cmdline", "rb", buffering=0) as file:
            line = file.read(_LONGEST)
        text = line.rstrip(b"\0").replace(b"\0", b" ").decode("utf-8", "replace")
        return user, clean(text or f"[{name.decode('utf-8', 'replace')}]")

    def _user(self, uid: int) -> str:
        if uid not in self._users:
            import pwd  # not on every system

            try:
                self._users[uid] = clean(pwd.getpwuid(uid).pw_name)
            except KeyError:
                self._users[uid] = str(uid)
        return self._users[uid]

    def _sample_psutil(self, gpu: Mapping[int, int]) -> list[Process]:
        import psutil  # looked for where it is needed only

        found: list[Process] = []
        alive: dict[int, Any] = {}
        for listed in psutil.process_iter():
            process = self._psutil.get(listed.pid, listed)
            if process != listed:  # another one has got its number
                process = listed
            with suppress(psutil.Error, OSError), process.oneshot():
                memory = getattr(_answer(process.memory_info), "rss", 0)
                line = " ".join(_answer(process.cmdline) or ()) or f"[{_answer(process.name) or '?'}]"
                found.append(
                    Process(
                        process.pid,
                        int(_answer(process.ppid) or 0),
                        clean(str(_answer(process.username) or "?")),
                        float(_answer(process.cpu_percent) or 0.0),
                        int(memory),
                        int(_answer(process.num_threads) or 0),
                        float(_answer(process.create_time) or 0.0),
                        clean(line[:_LONGEST]),
                        gpu.get(process.pid),
                    )
                )
                alive[process.pid] = process
        self._psutil = alive
        return found


def _answer(ask: Callable[[], Any]) -> Any:
    """What psutil says; None where it may not look (processes of others on macOS)."""
    import psutil

    try:
        return ask()
    except psutil.AccessDenied:
        return None


def _boot_time(proc: str) -> float:
    """Unix seconds at which the machine was started."""
    with suppress(OSError, ValueError, IndexError), open(f"{proc}/stat", encoding="ascii", errors="replace") as file:
        for line in file:
            if line.startswith("btime "):
                return float(line.split()[1])
    return time.time() - time.monotonic()


def _measure(key: SortKey) -> Callable[[Process], float]:
    if key == "cpu":
        return lambda process: process.cpu
    if key == "memory":
        return lambda process: process.memory
    if key == "gpu":
        return lambda process: -1 if process.gpu is None else process.gpu
    return lambda process: -process.pid


def arranged(
    processes: Sequence[Process], key: SortKey, wanted: TextFilter | None = None, tree: bool = False
) -> list[Branch]:
    """The processes that match, most first (pids ascend); in a tree each below its parent, which is kept for it.

    In a tree a process stands where it and all below it together belong.
    """
    passing = _matching(processes, wanted)
    if not tree:
        measure = _measure(key)
        ordered = sorted(passing, key=lambda process: (-measure(process), -process.memory, process.pid))
        return [Branch(process, "") for process in ordered]
    by_pid = {process.pid: process for process in processes}
    kept: dict[int, Process] = {}
    for process in passing:
        at: Process | None = process
        while at is not None and at.pid not in kept:
            kept[at.pid] = at
            at = by_pid.get(at.parent)
    return _grown(kept.values(), key)


def _matching(processes: Sequence[Process], wanted: TextFilter | None) -> list[Process]:
    if not wanted:
        return list(processes)
    matches = wanted.matches
    return [p for p in processes if matches(p.command) or matches(p.user) or matches(str(p.pid))]


def _grown(processes: Iterable[Process], key: SortKey) -> list[Branch]:
    by_pid = {process.pid: process for process in processes}
    children: dict[int, list[Process]] = {}
    roots: list[Process] = []
    for process in by_pid.values():
        is_root = process.parent not in by_pid or process.parent == process.pid
        (roots if is_root else children.setdefault(process.parent, [])).append(process)
    order: list[Process] = []
    reached: set[int] = set()
    # A list that was read while processes came and went may have circles, which hang on no root.
    for start in [*roots, *by_pid.values()]:
        if start.pid in reached:
            continue
        if start not in roots:
            children[start.parent].remove(start)
            roots.append(start)
        waiting = [start]
        while waiting:
            process = waiting.pop()
            reached.add(process.pid)
            order.append(process)
            waiting += children.get(process.pid, ())
    measure = _measure(key)
    weights: dict[int, float] = {}
    for process in reversed(order):
        below = [weights[child.pid] for child in children.get(process.pid, ())]
        own = max(0.0, measure(process)) if key != "pid" else measure(process)
        weights[process.pid] = own if key == "pid" else own + sum(below)
    found: list[Branch] = []
    stack = [(process, "", "") for process in _heaviest_last(roots, weights)]
    while stack:
        process, prefix, below_prefix = stack.pop()
        found.append(Branch(process, prefix))
        offspring = _heaviest_last(children.get(process.pid, []), weights)
        for place, child in enumerate(offspring):
            last = place == 0
            stack.append((child, below_prefix + ("└─ " if last else "├─ "), below_prefix + ("   " if last else "│  ")))
    return found


def _heaviest_last(processes: list[Process], weights: Mapping[int, float]) -> list[Process]:
    """The order in which they are put on a stack."""
    return sorted(processes, key=lambda process: (weights[process.pid], -process.pid))
