"""What the viewer remembers of one directory: filters, grids, pinned and selected runs, widths of panes.

    $XDG_STATE_HOME/leet/<hash of the directory>.json    {"directory": …, "values": {…}}

Never in the directory itself. Whatever goes wrong here costs the memory of the view and nothing else: a damaged file
counts as none, and where nothing can be written the view works without, and says so once.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from leet.whole_file import replacing

SAVE_SECONDS = 1.0
"""After a change it is written this much later, with all that has changed until then."""
MOST_FILES = 500
"""Directories that are remembered; the ones not changed for longest go first."""
MOST_BYTES = 1 << 20


def state_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """`$XDG_STATE_HOME/leet`."""
    base = environ.get("XDG_STATE_HOME", "")
    home = Path(environ.get("HOME") or os.path.expanduser("~"))
    return (Path(base) if os.path.isabs(base) else home / ".local" / "state") / "leet"


class ViewState:
    """The memory of one directory. Values are what JSON can hold."""

    def __init__(self, directory: Path, *, folder: Path | None = None, kept: bool = True) -> None:
        """`kept=False`: starts empty and writes nothing, as for pictures."""
        self.directory = Path(os.path.realpath(directory))
        folder = state_folder() if folder is None else folder
        name = hashlib.sha256(os.fsencode(self.directory)).hexdigest()[:20]
        self.file = folder / f"{name}.json"
        self.note = ""
        """Why nothing can be kept; empty while all is well."""
        self._kept = kept
        self._values: dict[str, Any] = self._read() if kept else {}
        self._changed: set[str] = set()
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        if kept:
            atexit.register(self.save)

    @classmethod
    def of(cls, directory: Path) -> ViewState:
        """The memory of a directory, the same object for all who ask in this process."""
        key = (Path(os.path.realpath(directory)), state_folder())
        state = _open.get(key)
        if state is None:
            state = _open[key] = cls(directory, folder=key[1])
        return state

    def get(self, key: str, default: Any = None) -> Any:
        """What was last set. The caller looks at its shape: an older version may have written another."""
        return self._values.get(key, default)

    def set(self, key: str, value: Any) -> None:
        """Remember `value`; None forgets. Written by itself after `SAVE_SECONDS`, or by `save()`.

        TypeError for what JSON cannot hold. What is changed in place later is not seen: set it again.
        """
        value = json.loads(json.dumps(value))
        with self._lock:
            if self._values.get(key) == value:
                return
            if value is None:
                self._values.pop(key, None)
            else:
                self._values[key] = value
            self._changed.add(key)
            if self._kept and not self.note and self._timer is None:
                self._timer = threading.Timer(SAVE_SECONDS, self.save)
                self._timer.daemon = True
                self._timer.start()

    def save(self) -> None:
        """Write what has changed, now. What another viewer of the directory has written beside it stays."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            if not self._changed or not self._kept:
                return
            values = self._read()
            for key in self._changed:
                if key in self._values:
                    values[key] = self._values[key]
                else:
                    values.pop(key, None)
            try:
                text = json.dumps({"directory": str(self.directory), "values": values}, indent=1, sort_keys=True)
                self._write(text.encode("utf-8", errors="backslashreplace"))
            except OSError as error:
                self.note = f"the view is not remembered: {self.file.parent}: {error.strerror or error}"
                return
            self._changed.clear()
            self.note = ""

    def _read(self) -> dict[str, Any]:
        try:
            with open(self.file, "rb") as file:
                held = json.loads(file.read(MOST_BYTES))
        except (OSError, ValueError, RecursionError):
            return {}
        values = held.get("values") if isinstance(held, dict) else None
        return values if isinstance(values, dict) else {}

    def _write(self, raw: bytes) -> None:
        folder = self.file.parent
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        new = not self.file.exists()
        with replacing(self.file) as file:
            file.write(raw)
        if new:
            _drop_oldest(folder)


_open: dict[tuple[Path, Path], ViewState] = {}


def _drop_oldest(folder: Path) -> None:
    """Forget the directories that were not looked at for longest, if there are too many."""
    with contextlib.suppress(OSError):
        files = [(entry.stat().st_mtime_ns, entry.path) for entry in os.scandir(folder) if entry.name.endswith(".json")]
        for _, path in sorted(files)[: max(0, len(files) - MOST_FILES)]:
            with contextlib.suppress(OSError):
                os.unlink(path)
