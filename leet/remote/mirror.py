"""What has been fetched of a remote log: a local file that grows, and is found again the next time.

    $XDG_CACHE_HOME/leet/remote/<host>/<hash of host, user, port and path>/<run directory>/run-<id>.wandb
                                                                          /.source.json    what it is a copy of

The file holds the log from its beginning without a gap, so whatever reads logs reads it. It is only ever written at its
end; a log that became another one gets another file. Two viewers of one log write the same bytes at the same places.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from functools import cache
from io import FileIO
from pathlib import Path, PurePosixPath

from leet.remote.address import Address

ROOM = 4 * 1024**3
"""Bytes that all mirrors together may take; the ones not used for longest go first."""
SWITCH = "LEET_CACHE"
"""The environment variable that says `off`."""
SOURCE = ".source.json"
"""Says what a directory is a copy of; its time of change is that of the last use."""
_LONGEST_NAME = 200


def default_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Where mirrors are kept; where nothing is to be kept, a directory that goes when this process does."""
    if environ.get(SWITCH, "").lower() in ("off", "0", "no", "false"):
        return _passing_folder()
    base = environ.get("XDG_CACHE_HOME", "")
    root = Path(base) if os.path.isabs(base) else Path(environ.get("HOME") or os.path.expanduser("~")) / ".cache"
    return root / "leet" / "remote"


@cache
def _passing_folder() -> Path:
    folder = tempfile.mkdtemp(prefix="leet-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


class Mirror:
    """The local copy of one remote log."""

    def __init__(self, address: Address, folder: Path | None = None) -> None:
        """`address` is that of the log itself. Raises OSError where no file can be made."""
        name = plain_name(PurePosixPath(address.path).name)
        above = plain_name(PurePosixPath(address.path).parent.name)
        self._home = home_of(address, "log", folder or default_folder())
        begin_use(self._home, address)
        self.path = self._home / (above or "run") / name
        self.path.parent.mkdir(mode=0o700, exist_ok=True)
        self._file = self._open()

    def _open(self) -> FileIO:
        return FileIO(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "r+")

    @property
    def size(self) -> int:
        """Bytes of the log that are here, from its beginning."""
        return os.fstat(self._file.fileno()).st_size

    def read(self, offset: int, length: int) -> bytes:
        """Bytes that are here."""
        return os.pread(self._file.fileno(), length, offset)

    def write(self, offset: int, data: bytes) -> None:
        """Put bytes at the end, or again over the same bytes."""
        if offset > self.size:
            raise ValueError("a mirror has no gaps")
        rest = memoryview(data)
        while rest:
            written = os.pwrite(self._file.fileno(), rest, offset)
            offset += written
            rest = rest[written:]

    def begin_anew(self) -> None:
        """The remote log has become another one."""
        new = self.path.with_name(f".{self.path.name[:_LONGEST_NAME]}.{os.getpid()}")
        os.close(os.open(new, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600))
        os.replace(new, self.path)
        self._file.close()
        self._file = self._open()

    def date(self, modified: float) -> None:
        """Say when the remote log was last written, Unix seconds: for readers that look at the file."""
        with contextlib.suppress(OSError):
            os.utime(self._file.fileno(), (modified, modified))

    def close(self) -> None:
        self._file.close()


def home_of(address: Address, kind: str, folder: Path) -> Path:
    """The directory that holds what is kept of an address: `kind` tells a log from a list of runs."""
    digest = hashlib.sha256(os.fsencode(f"{kind}\0{address.login}\0{address.port}\0{address.path}")).hexdigest()[:24]
    return folder / plain_name(address.host) / digest


def begin_use(home: Path, address: Address) -> None:
    """Say what is kept in a directory, and that it is used now; make room for it. Raises OSError."""
    source = {"host": address.host, "user": address.user, "port": address.port, "path": address.path}
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    (home / SOURCE).write_text(json.dumps(source), encoding="utf-8")
    make_room(home.parents[1], ROOM, home)


def make_room(folder: Path, room: int, keep: Path) -> None:
    """Remove what was not used for longest until the rest takes no more than `room` bytes; never `keep`."""
    found = []
    for source in folder.glob(f"*/*/{SOURCE}"):
        with contextlib.suppress(OSError):
            # Files with holes take less than they are long.
            taken = sum(file.lstat().st_blocks * 512 for file in source.parent.rglob("*"))
            found.append((source.stat().st_mtime, taken, source.parent))
    total = sum(size for _, size, _ in found)
    for _, size, home in sorted(found):
        if total <= room:
            return
        if home != keep:
            shutil.rmtree(home, ignore_errors=True)
            total -= size


def plain_name(name: str) -> str:
    """A name for a local file: without what file systems refuse, not too long, never `.` or `..`."""
    kept = "".join(sign if sign.isprintable() and sign not in "/\\" else "_" for sign in name)
    while len(os.fsencode(kept)) > _LONGEST_NAME:
        kept = kept[1:]
    return kept.lstrip(".") or ("_" if kept else "")
