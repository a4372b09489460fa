"""Files beside a remote log, fetched one by one when somebody looks at them, into the directory of its mirror."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from leet.remote.remote_file import Gone, ask_pieces, reason
from leet.remote.remote_log import RemoteLog
from leet.remote.shell import Lost

LARGEST = 64 * 1024 * 1024
"""Bytes of a file beyond which it is not fetched."""
_PIECE = 1024 * 1024


class NotFetched(Exception):  # noqa: N818 — named for what has happened
    """The file is not here; the message is a few words for people."""


class RunFiles:
    """The files of a remote run, which may have several logs. May be used from any thread."""

    def __init__(self, logs: Sequence[RemoteLog]) -> None:
        self._logs = {log.path: log for log in logs}

    def fetch(self, log: Path, path: str) -> None:
        """Have the file with this path below `files/` beside the mirror `log`. Raises NotFetched.

        The path is taken as it is: whoever asks has seen to it that it does not lead out of the run.
        """
        remote = self._logs.get(log)
        if remote is None:
            raise NotFetched("it is on another machine")
        far = str(PurePosixPath(remote.address.path).parent / "files" / path)
        near = log.parent / "files" / path
        part = near.with_name(f".{near.name[:100]}.{os.getpid()}.{threading.get_ident()}")
        try:
            remote.machine.connect()
            near.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with open(part, "wb") as file:
                have, size = 0, 1
                while have < size:
                    (piece,) = ask_pieces(remote.machine, far, (have, _PIECE))
                    size = piece.size
                    if size > LARGEST:
                        raise NotFetched(f"it is too large to be fetched, above {LARGEST // 1024**2} MiB")
                    if have < size and not piece.data:
                        raise NotFetched("it could not be read")
                    file.write(piece.data)
                    have += len(piece.data)
            os.replace(part, near)
        except Gone as error:
            raise NotFetched(reason(str(error))) from error
        except Lost as error:
            raise NotFetched(f"no connection: {error}") from error
        except OSError as error:
            raise NotFetched(f"it cannot be kept: {error.strerror or error}") from error
        finally:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
