"""The last samples of the machine, kept in memory for the script that asks for them (`x_stats_buffer_size`)."""

from __future__ import annotations

import threading
from collections import deque
from datetime import UTC, datetime

from recorder.system.source import Sample


class SampleBuffer:
    """The newest values of each key, by the names that they have without a label."""

    def __init__(self, size: int, label: str | None) -> None:
        """`size`: how many values of a key are kept; 0 none, -1 all."""
        self._most = size if size >= 0 else None
        self._suffix = f"/l:{label}" if label else ""
        self._kept: dict[str, deque[tuple[datetime, float]]] = {}
        self._lock = threading.Lock()

    def add(self, moment: float, sample: Sample) -> None:
        """Takes the values of a sample, measured at `moment` (Unix seconds); from any thread."""
        if self._most == 0:
            return
        time = datetime.fromtimestamp(moment, UTC)
        with self._lock:
            for key, value in sample.items():
                name = key.removesuffix(self._suffix)
                if name not in self._kept:
                    self._kept[name] = deque(maxlen=self._most)
                self._kept[name].append((time, float(value)))

    def values(self) -> dict[str, list[tuple[datetime, float]]]:
        """Key → its values with their times (UTC), oldest first."""
        with self._lock:
            return {name: list(values) for name, values in self._kept.items()}
