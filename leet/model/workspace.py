"""The runs below a directory, found and watched in the background.

    scan (a thread) ─► announce ─► the main loop calls `drain` ─► WorkspaceChange, and `entries` are up to date

`announce` is called in the thread of the scan, once for any number of changes until they are drained.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from leet.model.facts_cache import FactsCache
from leet.model.run_entry import RunEntry
from leet.model.workspace_scan import News, Scan


@dataclass(frozen=True, slots=True)
class WorkspaceChange:
    """Keys of entries that came, became different, or went; false when nothing did."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.removed)


class Workspace:
    """All runs below `root`. `entries` change in `drain` alone, so that whoever draws sees no half of a change."""

    def __init__(self, root: Path, *, recursive: bool = True, environ: Mapping[str, str] = os.environ) -> None:
        """`recursive`: look for several `wandb/` directories, not only for runs in `root` and `root/wandb`."""
        self.root = root
        self.error = ""
        """What ended the scan though nobody stopped it, or why the root cannot be read; one line, "" for nothing."""
        self._entries: dict[str, RunEntry] = {}
        self.entries: Mapping[str, RunEntry] = MappingProxyType(self._entries)
        """Key → entry, as of the last `drain`, in no particular order."""
        self.directories: tuple[Path, ...] = ()
        """The directories that hold runs, as of the last `drain`."""
        self._ended_by = ""
        self._known = 0
        self._news: dict[str, RunEntry | None] = {}
        self._paths: tuple[str, ...] = ()
        self._announce: Callable[[], None] = lambda: None
        self._announced = False
        self._listed = False
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        text = os.fspath(root)
        self._scan = Scan(text, self._publish, self._stopping, recursive=recursive, cache=FactsCache.of(text, environ))
        self._thread = threading.Thread(target=self._run, name=f"scan {root.name}", daemon=True)

    @property
    def scanning(self) -> bool:
        """The directories have not all been listed yet, as of the last `drain`."""
        return not self._listed

    @property
    def progress(self) -> tuple[int, int]:
        """How many entries are known, and how many there are."""
        return self._known, len(self._entries)

    def listen(self, announce: Callable[[], None]) -> None:
        """Call `announce` (in the thread of the scan) when there is something to drain."""
        self._announce = announce

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ask the scan to end; it announces nothing more."""
        self._stopping.set()

    def join(self, timeout: float | None = None) -> None:
        """Wait until the scan has ended."""
        self._thread.join(timeout)

    def drain(self) -> WorkspaceChange:
        """Take over what the scan has found since the last call."""
        with self._lock:
            news, self._news, self._announced = self._news, {}, False
            self._listed = self._scan.listed
            if len(self._paths) != len(self.directories) or bool(news):
                self.directories = tuple(map(Path, self._paths))
            self.error = self._ended_by or self._scan.directories.error
        added: list[str] = []
        changed: list[str] = []
        removed: list[str] = []
        for key, entry in news.items():
            old = self._entries.get(key)
            self._known += (entry is not None and entry.known) - (old is not None and old.known)
            if entry is not None:
                self._entries[key] = entry
                (added if old is None else changed).append(key)
            elif old is not None:
                del self._entries[key]
                removed.append(key)
        return WorkspaceChange(tuple(added), tuple(changed), tuple(removed))

    def _publish(self, news: News) -> None:
        with self._lock:
            self._news.update(news)
            self._paths = self._scan.directories.with_runs
            something = bool(news) or (self._scan.listed and not self._listed)
            if self._announced or not something or self._stopping.is_set():
                return
            self._announced = True
        self._announce()

    def _run(self) -> None:
        try:
            self._scan.run()
        except Exception as error:  # the thread must not die in silence: the list would just stand still
            with self._lock:
                self._ended_by = f"watching {self.root} has stopped: {error!r}"
            self._announce()
