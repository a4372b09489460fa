"""What a source of system metrics is. One module per family makes sources; the monitor samples them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

Sample = dict[str, float | int]
"""Metric key, as W&B spells it (`gpu.0.temp`, `disk./.usageGB`), → value."""


@dataclass(frozen=True, slots=True)
class SystemSettings:
    """The settings that system metrics depend on; names are those of the SDK without the `x_stats_`."""

    sampling_interval: float = 15.0
    pid: int | None = None
    """Process whose use is measured; None: the current one."""
    track_process_tree: bool = False
    disk_paths: Sequence[str] = ("/",)
    gpu_device_ids: Sequence[int] | None = None
    no_cgroup: bool = False
    label: str | None = None
    """Appended to every key as `/l:<label>` (by the monitor)."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Settings of single families (endpoints, filters, headers, paths)."""


class NotHere(Exception):  # noqa: N818  an answer, not an error
    """This family has nothing to measure on this machine; the text says why in a few words."""


class Source(Protocol):
    """One family of metrics on this machine, opened. Used from one thread only."""

    name: str
    """The family: `host`, `nvidia`, …"""

    def sample(self) -> Sample:
        """The values now. What cannot be read is left out; an exception loses this one sample only."""

    def facts(self) -> dict[str, Any]:
        """Fields of the EnvironmentRecord that this family knows (GPU names, disk sizes, …)."""

    def describe(self) -> str:
        """What was found, in a few words: `2 × NVIDIA H200, driver 570.86`."""

    def close(self) -> None:
        """Give back what the source holds."""
