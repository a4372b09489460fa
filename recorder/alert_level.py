"""How urgent an alert is."""

from __future__ import annotations

from enum import Enum


class AlertLevel(Enum):
    """The levels that `run.alert` knows."""

    INFO = "INFO"
    WARN = "WARN"
    ERROR = "ERROR"
