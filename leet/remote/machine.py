"""Another machine: one connection to it, for all that is asked of it, made anew when it is lost."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from leet.remote.address import Address
from leet.remote.shell import Answer, Lost, Shell

PAUSE = 0.5
"""Seconds after a failed attempt in which nobody else tries."""


class Machine:
    """May be used from any thread."""

    def __init__(self, address: Address, shell: Shell) -> None:
        """`shell` is the first connection; later ones are made here, and never ask for anything."""
        self.address = address
        self._shell: Shell | None = shell
        self._lock = threading.Lock()
        self._closed = False
        self._failed: tuple[float, Lost] | None = None

    def ask_all(
        self, codes: Sequence[Callable[[str], str]], heard: Callable[[int], None] = lambda size: None
    ) -> list[Answer]:
        """The answers to requests; `heard` is told of every piece that comes, in bytes. Raises Lost."""
        shell = self._shell
        if shell is None:
            raise Lost("not connected")
        try:
            return shell.ask_all(codes, heard)
        except Lost:
            with self._lock:
                if self._shell is shell:
                    self._shell = None
            shell.close()
            raise

    def ask(self, code: Callable[[str], str]) -> Answer:
        """The answer to one request. Raises Lost."""
        return self.ask_all([code])[0]

    def connect(self) -> None:
        """Make a connection if there is none. Raises Lost."""
        with self._lock:
            if self._closed:
                raise Lost("closed")
            if self._shell is not None:
                return
            if self._failed is not None and time.monotonic() - self._failed[0] < PAUSE:
                raise self._failed[1]
            try:
                self._shell = Shell.connect(self.address, quiet=True)
            except Lost as error:
                self._failed = time.monotonic(), error
                raise

    def close(self) -> None:
        """End the connection for good; whoever waits for an answer gets Lost."""
        self._closed = True
        shell, self._shell = self._shell, None
        if shell is not None:
            shell.close()
