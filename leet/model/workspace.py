"""The runs below a directory, found and watched in the background.

    scan (a thread) ─► announce ─► the main loop calls `drain` ─► WorkspaceChange, and `entries` are up to date

`announce` is called in the thread of the scan, once for any number of changes until they are drained.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from leet.discovery import logs_in, run_directories
from leet.model.run_entry import RunEntry

_PAUSE = 1.0


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

    def __init__(self, root: Path, *, recursive: bool = True) -> None:
        """`recursive`: look for several `wandb/` directories, not only in `root` and `root/wandb`."""
        self.root = root
        self.recursive = recursive
        self.error = ""
        """Why the root cannot be read, one line; "" where it can."""
        self._entries: dict[str, RunEntry] = {}
        self._directories: tuple[Path, ...] = ()
        self._found: dict[str, RunEntry] = {}
        self._announce: Callable[[], None] = lambda: None
        self._announced = False
        self._scanned = False
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"scan {root}", daemon=True)

    @property
    def entries(self) -> Mapping[str, RunEntry]:
        """Key → entry, as of the last `drain`, in no particular order."""
        return self._entries

    @property
    def directories(self) -> tuple[Path, ...]:
        """The `wandb/` directories that hold runs."""
        return self._directories

    @property
    def scanning(self) -> bool:
        """The directories have not all been listed yet."""
        return not self._scanned

    @property
    def progress(self) -> tuple[int, int]:
        """How many entries are known, and how many there are."""
        return sum(entry.known for entry in self._entries.values()), len(self._entries)

    def listen(self, announce: Callable[[], None]) -> None:
        """Call `announce` (in another thread) when there is something to drain."""
        self._announce = announce

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ask the scan to end; it announces nothing more."""
        self._stopping.set()

    def drain(self) -> WorkspaceChange:
        """Take over what the scan has found since the last call."""
        with self._lock:
            self._announced = False
            old, self._entries = self._entries, dict(self._found)
        new = self._entries
        return WorkspaceChange(
            added=tuple(key for key in new if key not in old),
            changed=tuple(key for key, entry in new.items() if key in old and old[key] is not entry),
            removed=tuple(key for key in old if key not in new),
        )

    def _run(self) -> None:
        while not self._stopping.is_set():
            found = {}
            for parent in (self.root, self.root / "wandb"):
                if not parent.is_dir():
                    continue
                for directory in run_directories(parent):
                    for log in logs_in(directory):
                        key = directory.relative_to(self.root).as_posix()
                        found[key] = self._found.get(key) or RunEntry(
                            key, log, directory, (log,), run_id=log.stem[4:], name=log.stem[4:]
                        )
            with self._lock:
                news, self._found, self._scanned = found != self._found, found, True
                announce = news and not self._announced
                self._announced |= news
            if announce:
                self._announce()
            self._stopping.wait(_PAUSE)
