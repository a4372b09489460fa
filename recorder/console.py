"""What the program prints: every `write` of sys.stdout and sys.stderr, as it is, for the log.

The `write` of the two streams is wrapped for as long as anybody listens. A library that replaces `sys.stdout` by a
stream of its own which writes on to the old one (tqdm, rich, loggers, tee classes) is still heard; one that writes
past it into the same buffer (`sys.stdout = io.TextIOWrapper(sys.stdout.buffer, …)`) is wrapped when it is seen, and
so is a stream that was given another `write` past ours, as IPython does for the time of every cell. At the end a
wrapper is taken off again only where it is still the one in place.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import sys
import threading
from collections.abc import Callable
from typing import Any

from recorder.notebook import before_cells
from recorder.notices import speaking

Listener = Callable[[str, str], None]
"""Takes the name of the stream (`stdout`, `stderr`) and the text written to it."""

_inside = threading.local()


def _deaf(stream: str, text: str) -> None:
    """Stands for a listener that listens no more."""


class Capture:
    """Hands everything that is written to stdout and stderr to a listener, from `start` to `stop`."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._taps: list[_Tap] = []
        self._stopped = False
        self._end_cells: Callable[[], None] = lambda: None

    def start(self) -> None:
        """Begins to listen to the streams that are in place now."""
        for name in ("stdout", "stderr"):
            stream = getattr(sys, name)
            if stream is not None and not self._taps_into(stream):
                with contextlib.suppress(AttributeError, TypeError):  # a stream that cannot be wrapped stays unheard
                    self._taps.append(_Tap(name, stream, self._listener))
        self._end_cells = before_cells(self.look_again)

    def stop(self) -> None:
        """Stops listening and gives the streams their own `write` back."""
        self._stopped = True
        self._end_cells()
        for tap in reversed(self._taps):
            tap.remove()
        self._taps = []

    def look_again(self) -> None:
        """Listens to streams that were put in place of the first ones, and to writers, where they write past ours."""
        if self._stopped:
            return
        for place, tap in enumerate(self._taps):
            if tap.passed_by():
                tap.remove()
                with contextlib.suppress(AttributeError, TypeError):
                    self._taps[place] = _Tap(tap.name, tap.stream, self._listener)
        for name in ("stdout", "stderr"):
            stream = getattr(sys, name)
            if isinstance(stream, io.TextIOWrapper | codecs.StreamWriter) and not self._taps_into(stream):
                with contextlib.suppress(AttributeError, TypeError):
                    self._taps.append(_Tap(name, stream, self._listener))

    def _taps_into(self, stream: Any) -> bool:
        return any(tap.stream is stream for tap in self._taps)


class _Tap:
    """The wrapped `write` of one stream."""

    def __init__(self, name: str, stream: Any, listener: Listener) -> None:
        self.stream = stream
        self.name = name
        self._listener: Listener | None = listener
        self._own = "write" in getattr(stream, "__dict__", {})
        self._original = stream.write
        self._wrapper = self._write
        stream.write = self._wrapper
        self._seen: Any = self._wrapper
        """The `write` of the stream that was last known to lead here."""

    def passed_by(self) -> bool:
        """Whether the stream has another `write` now that does not lead here."""
        write = getattr(self.stream, "write", None)
        if write is None or write == self._seen:
            return False
        _inside.sought, _inside.found = self, False
        try:
            write("")
            passed = not _inside.found
        except Exception:  # a stream of somebody else's that is closed, or takes no text: nothing is printed there
            passed = False
        finally:
            _inside.sought = None
        if not passed:
            self._seen = write
        return passed

    def _write(self, text: Any) -> Any:
        if getattr(_inside, "sought", None) is self:
            _inside.found = True
            return 0
        # A wrapped stream may write on to another one, and whoever listens may print: each text is heard once.
        listener = self._listener
        writing: list[Listener] = _inside.__dict__.setdefault("writing", [])
        heard = listener is None or listener in writing
        writing.append(self._listener or _deaf)
        try:
            written = self._original(text)
        finally:
            writing.pop()
        if listener is not None and text and not heard and not getattr(_inside, "listening", False) and not speaking():
            _inside.listening = True
            try:
                listener(self.name, text if isinstance(text, str) else bytes(text).decode("utf-8", "replace"))
            finally:
                _inside.listening = False
        return written

    def remove(self) -> None:
        self._listener = None
        if getattr(self.stream, "write", None) is not self._wrapper:
            return  # somebody wrapped the wrapper: it stays in between, deaf
        if self._own:
            self.stream.write = self._original
        else:
            with contextlib.suppress(AttributeError):
                del self.stream.write
