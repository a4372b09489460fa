"""Which run directories there are below a root, found once and watched from then on.

    root ── wandb ── offline-run-…            a directory that holds run directories is listed
         ├─ sweep/a/wandb ── run-…            others are gone through, the nearest first, within limits
         ├─ old/a ── run-….wandb           what holds a log is a run directory too, whatever it is called
         └─ data ── …

A directory is listed again only when its time of change is another one than before. Network file systems answer that
question from memory for a few seconds, and there is nothing to be done about it.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from leet.discovery import DIRECTORY_NAMES, RUN_DIRECTORY

DEEPEST = 8
"""Levels below the root that are gone through."""
MOST_DIRECTORIES = 20_000
"""Directories that are gone through."""
MOST_ENTRIES = 250_000
"""Names in one directory that are looked at."""
HOT = 256
"""Directories with runs that are looked at every time; of more than that, as many of them in turn."""
COLD = 128
"""Other directories that are looked at each time, in turn."""

_PASSED_OVER = frozenset({"node_modules", "site-packages", "__pycache__", "lost+found"})
_ENVIRONMENT = "pyvenv.cfg"
"""What is in the directory of an environment of Python."""
_SETTLED = 2.0
"""Seconds after which a time of change tells that nothing has changed since: clocks of file systems are coarse."""


@dataclass(frozen=True, slots=True)
class Listing:
    """The run directories straight below a directory."""

    path: str
    names: frozenset[str]
    """None of a directory that is gone."""


@dataclass(slots=True)
class _Directory:
    path: str
    depth: int
    stamp: int | None = None
    """Its time of change when it was listed; None where it has to be listed again in any case."""
    seen: int = -1
    """Its time of change when it was last looked at, and since when it has been that, by the monotonic clock."""
    since: float = 0.0
    identity: tuple[int, int] = (0, 0)
    runs: frozenset[str] = frozenset()
    below: frozenset[str] = frozenset()
    log: bool = False
    """There is a log straight in it."""
    held: frozenset[str] = frozenset()
    """Names of directories below of which that is so, though they are not called as run directories are."""


class Directories:
    """The directories below a root. Not for several threads."""

    def __init__(self, root: str, *, recursive: bool = True) -> None:
        self.root = root
        self.error = ""
        """Why the root cannot be listed; "" where it can."""
        self._recursive = recursive
        self._known: dict[str, _Directory] = {}
        self._identities: dict[tuple[int, int], str] = {}
        self._with_runs: dict[str, None] = {}
        self._turn: deque[str] = deque()
        self._to_list: deque[_Directory] = deque()
        self._links: deque[_Directory] = deque()
        self._real_root = ""

    @property
    def with_runs(self) -> tuple[str, ...]:
        """The directories that hold run directories."""
        return tuple(self._with_runs)

    def find(self) -> Iterator[Listing]:
        """Go through everything below the root: what holds runs, the nearest first."""
        self._real_root = os.path.realpath(self.root)
        self._add(self.root, 0)
        yield from self._list_all()

    def look(self) -> Iterator[Listing]:
        """What has changed since: directories that hold other runs than before, or are gone."""
        if self.root not in self._known:
            self._add(self.root, 0)
        for path in self._whose_turn():
            directory = self._known.get(path)
            if directory is None:
                continue
            try:
                stamp = os.stat(path).st_mtime_ns
            except OSError:
                stamp = -1
            if stamp != directory.stamp:
                self._to_list.append(directory)
        yield from self._list_all()

    def _whose_turn(self) -> list[str]:
        hot = [self.root, *self.with_runs]
        turn = dict.fromkeys(hot[:HOT])
        for _ in range(min(COLD + max(len(hot) - HOT, 0) // 4, len(self._turn))):
            path = self._turn.popleft()
            if path in self._known:
                self._turn.append(path)
                turn[path] = None
        return list(turn)

    def _add(self, path: str, depth: int, link: bool = False) -> None:
        if path in self._known or len(self._known) >= MOST_DIRECTORIES or depth > DEEPEST:
            return
        directory = self._known[path] = _Directory(path, depth)
        self._turn.append(path)
        (self._links if link else self._to_list).append(directory)

    def _list_all(self) -> Iterator[Listing]:
        """List all that is to be listed. Links come last: what has a path of its own is known by that."""
        while self._to_list or self._links:
            directory = self._to_list.popleft() if self._to_list else self._links.popleft()
            if self._known.get(directory.path) is directory:
                yield from self._list(directory)

    def _list(self, directory: _Directory) -> Iterator[Listing]:
        path, before = directory.path, directory.runs
        try:
            found = os.stat(path)
            identity = found.st_dev, found.st_ino
            other = self._identities.setdefault(identity, path)
            if other != path:
                if _is_still(other, identity):
                    self._known.pop(path)
                    return
                yield from self._forget(other)  # it has been moved here
                self._identities[identity] = path
            directory.identity = identity
            directory.stamp = found.st_mtime_ns if _is_settled(directory, found) else None
            runs, below, log = self._scan(directory)
        except OSError as error:
            yield from self._lose(directory, error)
            return
        if path == self.root:
            self.error = ""
        for name in directory.below - below:
            yield from self._forget(os.path.join(path, name))
        directory.runs, directory.below = runs, below
        if runs != before:
            yield self._listing(path, runs | directory.held)
        yield from self._hold(directory, log)

    def _hold(self, directory: _Directory, log: bool) -> Iterator[Listing]:
        """Whether there is a log straight in a directory: its parent holds a run more or less then."""
        parent = self._known.get(os.path.dirname(directory.path))
        if log == directory.log or parent is None or not directory.depth:
            return
        directory.log = log
        name = frozenset((os.path.basename(directory.path),))
        parent.held = parent.held | name if log else parent.held - name
        yield self._listing(parent.path, parent.runs | parent.held)

    def _scan(self, directory: _Directory) -> tuple[frozenset[str], frozenset[str], bool]:
        """The run directories in a directory, the names of others, which are to be listed in their turn, and whether
        there is a log.
        """
        runs, below, log = set(), [], False
        known = directory.runs
        with os.scandir(directory.path) as entries:
            for number, entry in enumerate(entries):
                name = entry.name
                if number >= MOST_ENTRIES:
                    break
                if name in known:
                    runs.add(name)
                elif RUN_DIRECTORY.match(name):
                    if _is_directory(entry) and not self._is_own_link(entry):
                        runs.add(name)
                elif name == _ENVIRONMENT and directory.depth:
                    return frozenset(), frozenset(), False
                elif name.endswith(".wandb") and name.startswith("run-"):
                    log = True
                elif self._may_lead_to_runs(name, directory) and _is_directory(entry):
                    below.append((name, entry.is_symlink()))
        for name, link in sorted(below):
            self._add(os.path.join(directory.path, name), directory.depth + 1, link)
        return frozenset(runs), frozenset(name for name, _ in below), log

    def _may_lead_to_runs(self, name: str, directory: _Directory) -> bool:
        if name in DIRECTORY_NAMES:
            return True
        if not self._recursive or name == "latest-run":
            return False
        return not name.startswith(".") and name not in _PASSED_OVER

    def _is_own_link(self, entry: os.DirEntry[str]) -> bool:
        """Whether a run directory is a link to one below the same root, which is found by its own name."""
        if not entry.is_symlink():
            return False
        real = os.path.realpath(entry.path)
        return real.startswith(self._real_root.rstrip("/") + "/")

    def _lose(self, directory: _Directory, error: OSError) -> Iterator[Listing]:
        """A directory that cannot be listed: gone, or closed to us."""
        gone = isinstance(error, FileNotFoundError | NotADirectoryError)
        directory.stamp = None
        if directory.path == self.root:
            self.error = error.strerror or str(error)
        if not gone:  # a file system that does not answer, or no permission: what was known stays
            return
        if directory.path != self.root:
            yield from self._forget(directory.path)
            return
        for name in directory.below:
            yield from self._forget(os.path.join(self.root, name))
        if directory.runs:
            yield self._listing(self.root, frozenset())
        directory.runs = directory.below = frozenset()

    def _listing(self, path: str, runs: frozenset[str]) -> Listing:
        if runs:
            self._with_runs[path] = None
        else:
            self._with_runs.pop(path, None)
        return Listing(path, runs)

    def _forget(self, path: str) -> Iterator[Listing]:
        directory = self._known.pop(path, None)
        if directory is None:
            return
        if self._identities.get(directory.identity) == path:
            del self._identities[directory.identity]
        for name in directory.below:
            yield from self._forget(os.path.join(path, name))
        if directory.runs or directory.held:
            yield self._listing(path, frozenset())
        yield from self._hold(directory, False)


def _is_still(path: str, identity: tuple[int, int]) -> bool:
    try:
        found = os.stat(path)
    except OSError:
        return False
    return (found.st_dev, found.st_ino) == identity


def _is_settled(directory: _Directory, found: os.stat_result) -> bool:
    """Whether a further change would show in the time of change. A clock may be ahead of ours."""
    if found.st_mtime_ns != directory.seen:
        directory.seen, directory.since = found.st_mtime_ns, time.monotonic()
    return time.time() - found.st_mtime >= _SETTLED or time.monotonic() - directory.since >= _SETTLED


def _is_directory(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False
