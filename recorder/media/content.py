"""What a media file holds: bytes that were made here, or a file of the script's that is copied when it is logged."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

_PIECE = 1 << 20


class Content:
    """The content of one file.

    Attributes:
        extension: with its dot, `.png` or `.table.json`.
        sha256: hexadecimal; its first 20 digits are part of the name that the file gets in a run.
        size: in bytes.
        path: where it lies; None as long as it is in memory only.
    """

    def __init__(self, data: bytes | None = None, path: Path | None = None, extension: str | None = None) -> None:
        """Takes either `data` or the `path` of a file.

        Raises OSError when the file cannot be read.
        """
        self.path = path
        self._data = data
        if data is not None:
            self.sha256, self.size = hashlib.sha256(data).hexdigest(), len(data)
        elif path is not None:
            self.sha256, self.size = _digest(path)
        else:
            raise ValueError("content is either bytes or a file")
        self.extension = extension if extension is not None else os.path.splitext(str(path or ""))[1]

    @property
    def is_made_here(self) -> bool:
        """Whether it is no file of the script's."""
        return self._data is not None or self.path is None

    def write(self, target: Path) -> None:
        """Puts it at `target`, which appears whole or not at all. Raises OSError."""
        if self.path is not None and target.exists() and self.path.samefile(target):
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        staged = target.with_name(f".{os.getpid()}-{self.sha256[:12]}.part")
        try:
            if self._data is not None:
                staged.write_bytes(self._data)
            else:
                assert self.path is not None
                shutil.copyfile(self.path, staged)
            os.replace(staged, target)
        except OSError:
            staged.unlink(missing_ok=True)
            raise

    def moved_to(self, path: Path) -> None:
        """Says that it lies there from now on; nothing is kept in memory any more."""
        self.path, self._data = path, None

    def read(self) -> bytes:
        """The bytes. Raises OSError."""
        if self._data is not None:
            return self._data
        assert self.path is not None
        return self.path.read_bytes()


def _digest(path: Path) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
            size += len(piece)
    return digest.hexdigest(), size
