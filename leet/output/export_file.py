"""Where a table goes: a file that appears only when it is whole, or standard output, harmless on a terminal."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from leet.model.safe_text import clean
from leet.whole_file import replacing


@contextlib.contextmanager
def open_output(target: str | None) -> Iterator[BinaryIO]:
    """A file to write to: `target`, or standard output where it is None or `-`.

    A regular file is written under another name beside `target` and takes its place at the end, so whoever reads it
    sees the old one or the new one, and an export that fails leaves nothing behind. Raises OSError.
    """
    if target is None or target == "-":
        sys.stdout.flush()
        binary = sys.stdout.buffer
        yield cast(BinaryIO, _Terminal(binary) if sys.stdout.isatty() else binary)
        binary.flush()
        return
    path = Path(os.path.expanduser(target))
    if path.exists() and not path.is_file():  # a pipe or a device, which nothing may take the place of
        with open(path, "wb") as file:
            yield file
        return
    path = path.resolve()  # the file that a link points to is replaced, not the link
    with replacing(path) as file:
        os.fchmod(file.fileno(), _mode(path))
        yield file


def _mode(path: Path) -> int:
    """The permissions of the file that is replaced, or those of a new one."""
    with contextlib.suppress(OSError):
        return stat.S_IMODE(path.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


class _Terminal:
    """Standard output that is a terminal: what it would obey is shown instead."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out

    def write(self, data: bytes) -> int:
        """Write whole lines of UTF-8."""
        self._out.write(clean(data.decode(), keep_newlines=True).encode())
        return len(data)

    def writelines(self, lines: Iterator[bytes]) -> None:
        for line in lines:
            self.write(line)
