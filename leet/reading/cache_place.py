"""Where decoded columns are kept: one file a log, known by the log's path. It loads nothing, for what must be quick."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

from leet.settings.store import settings

SWITCH = "LEET_CACHE"
"""The environment variable that says `off`."""


def default_folder(environ: Mapping[str, str] = os.environ) -> Path | None:
    """`$XDG_CACHE_HOME/leet/columns`; None where nothing is kept."""
    if environ.get(SWITCH, "").lower() in ("off", "0", "no", "false"):
        return None
    if environ is os.environ and not settings().toggle("cache.enabled"):
        return None
    base = environ.get("XDG_CACHE_HOME", "")
    root = Path(base) if os.path.isabs(base) else Path(environ.get("HOME") or os.path.expanduser("~")) / ".cache"
    return root / "leet" / "columns"


def cache_file(log: Path, folder: Path) -> Path:
    """The file for one log, by whatever name it is reached."""
    return folder / hashlib.sha256(os.fsencode(os.path.realpath(log))).hexdigest()[:32]


def is_kept(log: Path) -> bool:
    """Whether something is kept of a log, which may yet turn out to be of no use."""
    folder = default_folder()
    return folder is not None and cache_file(log, folder).exists()
