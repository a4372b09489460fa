"""Files of a run: where the path of a logged value leads, and what can be told of the file without opening it whole."""

from __future__ import annotations

import os
import wave
from pathlib import Path, PurePosixPath


class NoSuchFile(Exception):  # noqa: N818 — named for what has happened
    """The file cannot be looked at; the message is one line for people. `missing`: there is no such file."""

    def __init__(self, message: str, *, missing: bool = False) -> None:
        super().__init__(message)
        self.missing = missing


def files_of(log: Path) -> Path:
    """The directory that the paths of logged values are relative to."""
    return log.parent / "files"


def find(log: Path, path: str) -> Path:
    """The file that a value of the log names.

    A path of a log is data: one that leads out of `files/`, by itself or over links, is not followed.
    Raises NoSuchFile.
    """
    if not path:
        raise NoSuchFile("the value names no file")
    parts = PurePosixPath(path.replace("\\", "/"))
    if parts.is_absolute() or ".." in parts.parts or "\0" in path:
        raise NoSuchFile(f"not opened, as it is outside of the run: {path}")
    base = files_of(log)
    found = base / parts
    try:
        real, root = os.path.realpath(found), os.path.realpath(base)
        if os.path.commonpath([real, root]) != root:
            raise NoSuchFile(f"not opened, as it leads out of the run: {path}")
        if not os.path.isfile(real):
            raise NoSuchFile(f"missing: {path}", missing=True)
    except (OSError, ValueError) as error:
        raise NoSuchFile(f"cannot be found: {path}") from error
    return found


def seconds_of_wav(file: Path) -> float | None:
    """How long a WAV file plays; None for anything else."""
    try:
        with wave.open(os.fspath(file), "rb") as sound:
            rate = sound.getframerate()
            return sound.getnframes() / rate if rate else None
    except (OSError, EOFError, wave.Error):
        return None
