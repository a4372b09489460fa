"""What the program prints, on its way into the log: pieces that belong together become one record.

`print("a", "b")` writes four times, a traceback many more. Pieces of one stream that follow each other within a tenth
of a second are joined, byte for byte; readers put records together in the same way, so nothing changes for them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

from recorder.notices import warn_once
from recorder.output_log import OutputLog

Append = Callable[[str, float, str], None]
"""Takes the stream (`stdout`, `stderr`), the time of the first piece in Unix seconds, and the text."""

_WINDOW = 0.08
"""Seconds that pieces of one record are apart at most."""

_LARGE = 32 * 1024
"""Characters after which a record is long enough."""


class Transcript:
    """Joins pieces into records, and renders them into a file of plain lines.

    `add` may be called from any thread; `settle` belongs to the thread that writes the log.
    """

    def __init__(self, append: Append, path: Path | None) -> None:
        """`path` is where the rendered lines go, if anywhere."""
        self._append = append
        self._lock = threading.RLock()
        self._rendering = threading.Lock()
        self._pieces: list[str] = []
        self._stream = ""
        self._since = 0.0
        self._size = 0
        self._unrendered: list[tuple[str, str]] = []
        self._file = OutputLog(path) if path is not None else None

    def add(self, stream: str, text: str) -> None:
        """Takes one piece."""
        now = time.time()
        with self._lock:
            if self._pieces and (stream != self._stream or self._size > _LARGE or not 0 <= now - self._since < _WINDOW):
                self._end_record()
            if not self._pieces:
                self._stream, self._since, self._size = stream, now, 0
            self._pieces.append(text)
            self._size += len(text)

    def _end_record(self) -> None:
        pieces, self._pieces = self._pieces, []
        if pieces:
            text = "".join(pieces)
            self._append(self._stream, self._since, text)
            if self._file is not None:
                self._unrendered.append((self._stream, text))

    def hand_on(self) -> None:
        """Makes a record of what is held."""
        with self._lock:
            self._end_record()

    def note(self, text: str) -> None:
        """Takes text that is in the log already, for the file only."""
        with self._lock:
            self._end_record()
            if self._file is not None:
                self._unrendered.append(("stdout", text))

    def settle(self) -> None:
        """Makes a record of what is held, and renders what was handed on.

        Whoever is adding may be waiting for this very thread to make room; what is held then has its turn next time.
        """
        if self._lock.acquire(timeout=0.01):
            try:
                self._end_record()
            finally:
                self._lock.release()
        self._render(last=False)

    def stop(self) -> None:
        """The same for the last time."""
        self.hand_on()
        self._render(last=True)

    def _render(self, *, last: bool) -> None:
        with self._rendering:
            rendered, self._unrendered = self._unrendered, []
            file = self._file
            if file is None:
                return
            try:
                for stream, text in rendered:
                    file.write(stream, text)
                if last:
                    self._file = None
                    file.close()
                else:
                    file.flush()
            except OSError as error:
                warn_once(f"{file.path} is incomplete: {error.strerror}; the log itself has all of it", "output.log")
