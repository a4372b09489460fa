"""A vendor's program that prints a JSON object on each line for as long as it runs."""

from __future__ import annotations

import json
import os
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import subprocess

    from recorder.system.families import Warn

LONGEST_REST = 60.0
"""Seconds between two attempts to start the program, at most."""


class JsonStream:
    """
    A child process and the last JSON object that it printed.

    It is started again when it ends (after 1 s, then 2, 4, … 60). It ends with us: its output is a pipe that breaks.
    """

    def __init__(self, command: list[str], warn: Warn) -> None:
        self.newest: dict[str, Any] | None = None
        self._command = command
        self._tool = os.path.basename(command[0])
        self._warn = warn
        self._closing = threading.Event()
        self._came = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._run, name=self._tool, daemon=True)
        self._thread.start()

    def wait(self, seconds: float) -> None:
        """Wait for the first object."""
        self._came.wait(seconds)

    def close(self) -> None:
        """End the child process."""
        self._closing.set()
        process = self._process
        if process is not None:
            process.terminate()
        self._thread.join(1.0)
        if process is not None and process.poll() is None:
            process.kill()

    def _run(self) -> None:
        rest = 1.0
        while not self._closing.is_set():
            started = time.monotonic()
            try:
                self._read()
            except OSError as error:
                self._warn(f"system metrics: {self._tool} cannot be started: {error}")
            else:
                if not self._closing.is_set():
                    self._warn(f"system metrics: {self._tool} ended; it is started again")
            self.newest = None  # what it said last is no longer true
            if time.monotonic() - started > LONGEST_REST:
                rest = 1.0
            self._closing.wait(rest)
            rest = min(2 * rest, LONGEST_REST)

    def _read(self) -> None:
        import subprocess

        with subprocess.Popen(
            self._command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as process:
            self._process = process
            if self._closing.is_set():
                process.terminate()
            assert process.stdout is not None
            for line in process.stdout:
                with suppress(ValueError):
                    report = json.loads(line)
                    if isinstance(report, dict):
                        self.newest = report
                        self._came.set()
