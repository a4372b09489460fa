"""Copies of files that belong to artifacts, under the MD5 of their content."""

from __future__ import annotations

import atexit
import base64
import contextlib
import hashlib
import os
import secrets
import shutil
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from recorder import notices

DIRECTORY = "artifacts"
"""Below the directory of a run."""

_PIECE = 1 << 20


class Copy(NamedTuple):
    """Where the content of a file lies, and what it is: its MD5 in base 64, and its size in bytes."""

    path: Path
    digest: str
    size: int


def base64_of(digest: bytes) -> str:
    """A digest as manifests spell it."""
    return base64.b64encode(digest).decode()


_temporary: Path | None = None


def _staging() -> Path:
    """Where copies go: into the active run, or a temporary directory that goes with the process. Raises OSError."""
    starting = sys.modules.get("recorder.starting")
    run = starting.current() if starting is not None else None
    if run is not None and run._directory is not None:
        directory: Path = run._directory / DIRECTORY
        directory.mkdir(exist_ok=True)
        return directory
    return temporary_directory()


def temporary_directory() -> Path:
    """A directory that goes with the process. Raises OSError."""
    global _temporary
    if _temporary is None or not _temporary.is_dir():
        _temporary = Path(tempfile.mkdtemp(prefix="recorder-artifacts-"))
        atexit.register(shutil.rmtree, _temporary, ignore_errors=True)
    return _temporary


def is_temporary(path: Path) -> bool:
    """Whether it goes with the process."""
    return _temporary is not None and _temporary in path.parents


def staged(source: Path) -> Copy:
    """A copy of a file. Where the disk takes none, the file itself stands for it, with a warning.

    Raises OSError when the file cannot be read.
    """
    part: Path | None = None
    try:
        directory = _staging()
        part = directory / f".{secrets.token_hex(8)}.part"
        digest, size = _copied(source, part)
        target = directory / digest.hex()
        os.replace(part, target)
        return Copy(target, base64_of(digest), size)
    except OSError as error:
        if part is not None:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
        found = digested(source)
        notices.warn_once(f"files of artifacts are not copied ({error}); they have to stay as they are until the sync")
        return found


def _copied(source: Path, target: Path) -> tuple[bytes, int]:
    digest, size = hashlib.md5(usedforsecurity=False), 0
    with source.open("rb") as read, target.open("xb") as written:
        while piece := read.read(_PIECE):
            digest.update(piece)
            size += written.write(piece)
    return digest.digest(), size


def digested(source: Path) -> Copy:
    """A file that stays where it is. Raises OSError."""
    with source.open("rb") as file:
        digest = hashlib.md5(usedforsecurity=False)
        size = 0
        while piece := file.read(_PIECE):
            digest.update(piece)
            size += len(piece)
    return Copy(source.absolute(), base64_of(digest.digest()), size)


def copy_once(source: Path, target: Path) -> None:
    """A second name for a copy, or a second copy on another disk. Raises OSError."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target)
    except FileExistsError:
        return
    except OSError:
        shutil.copyfile(source, target)
