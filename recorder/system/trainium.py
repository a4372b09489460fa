"""
AWS Trainium and Inferentia through `neuron-monitor`, a child process that prints a JSON report on each line.

The newest report counts; the tool is started again when it ends.

Setting in `SystemSettings.extra`: `neuron_monitor_config_path`, a configuration to use in place of our own.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recorder.system.source import NotHere, Sample, SystemSettings
from recorder.system.tool import find_tool

if TYPE_CHECKING:
    import tempfile

    from recorder.system.families import Warn

TOOL = "neuron-monitor"
PLACE = "/opt/aws/neuron/bin"
FACTS_PATIENCE = 5.0
"""Seconds to wait for the first report, which names the hardware."""

_HOST = ("application_memory", "constants", "dma_buffers", "tensors")
_CORE = ("constants", "model_code", "model_shared_scratchpad", "runtime_memory", "tensors")

Report = Mapping[str, Any]


def open_source(settings: SystemSettings, warn: Warn) -> TrainiumSource:
    """NotHere without the tool."""
    if not sys.platform.startswith("linux"):
        raise NotHere("neuron-monitor runs on Linux only")
    tool = find_tool(TOOL, PLACE)
    if tool is None:
        raise NotHere(f"{TOOL} is not installed")
    return TrainiumSource(tool, settings, warn)


class TrainiumSource:
    """The Neuron devices of this machine, as far as the run's process uses them."""

    name = "trainium"

    def __init__(self, tool: str, settings: SystemSettings, warn: Warn) -> None:
        import json

        from recorder.system.json_stream import JsonStream

        self._pid = settings.pid or os.getpid()
        rank = os.environ.get("LOCAL_RANK", "")
        self._rank = int(rank) if rank.isdecimal() else None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        given = settings.extra.get("neuron_monitor_config_path")
        if not given:
            import tempfile

            self._folder = tempfile.TemporaryDirectory(prefix="neuron-monitor-")
            given = Path(self._folder.name, "neuron_monitor_config.json")
            given.write_text(json.dumps(configuration(settings.sampling_interval)))
        self._stream = JsonStream([tool, "-c", str(given)], warn)

    def sample(self) -> Sample:
        report = self._stream.newest
        return report_values(report, self._pid, self._rank) if report else {}

    def _first_report(self) -> Report:
        self._stream.wait(FACTS_PATIENCE)
        return self._stream.newest or {}

    def facts(self) -> dict[str, Any]:
        """trainium: name, vendor, and how many devices and cores, where a report has come that tells it."""
        return hardware_facts(self._first_report())

    def describe(self) -> str:
        told = hardware_facts(self._first_report()).get("trainium", {})
        count, cores = told.get("neuron_device_count"), told.get("neuroncore_per_device_count", "?")
        return f"{count} Neuron devices of {cores} cores" if count else f"{TOOL} runs, no report yet"

    def close(self) -> None:
        self._stream.close()
        if self._folder is not None:
            self._folder.cleanup()


def hardware_facts(report: Report) -> dict[str, Any]:
    """The environment's `trainium` of a report; empty where it names no hardware."""
    hardware = report.get("neuron_hardware_info") or {}
    counts = {
        name: hardware[name]
        for name in ("neuron_device_count", "neuroncore_per_device_count")
        if isinstance(hardware.get(name), int) and hardware[name] > 0
    }
    return {"trainium": {"name": "Trainium", "vendor": "AWS", **counts}} if counts else {}


def configuration(interval: float) -> dict[str, Any]:
    """What neuron-monitor is told to report; its period is in whole seconds, at least one."""
    runtime = ("neuroncore_counters", "memory_used", "neuron_runtime_vcpu_usage")
    system = ("vcpu_usage", "memory_info", "neuron_hw_counters")
    return {
        "period": f"{max(1, int(interval))}s",
        "neuron_runtimes": [{"tag_filter": ".*", "metrics": [{"type": kind} for kind in runtime]}],
        "system_metrics": [{"type": kind} for kind in system],
    }


def report_values(report: Report, pid: int, local_rank: int | None = None) -> Sample:
    """
    The values of a report under their keys: of the runtime whose pid is given, or, under torchrun, of the first one
    and its core number `local_rank` (zeros where the report doesn't have that core). Nothing where a report lacks the
    breakdown of memory.
    """
    runtimes = report.get("neuron_runtime_data") or []
    mine = [entry for entry in runtimes if local_rank is not None or entry.get("pid") == pid]
    try:
        values = mine[0]["report"]
        cores = values["neuroncore_counters"]["neuroncores_in_use"]
        used = values["memory_used"]["neuron_runtime_used_bytes"]
        host, by_core = used["usage_breakdown"]["host"], used["usage_breakdown"]["neuroncore_memory_usage"]
    except (IndexError, KeyError, TypeError):
        return {}
    if local_rank is not None:
        chosen = str(local_rank)
        cores, by_core = {chosen: cores.get(chosen, {})}, {chosen: by_core.get(chosen, {})}
    sample: Sample = {}
    for core, counters in cores.items():
        sample[f"trn.{core}.neuroncore_utilization"] = counters.get("neuroncore_utilization", 0)
    sample["trn.host_total_memory_usage"] = used.get("host", 0)
    sample["trn.neuron_device_total_memory_usage"] = used.get("neuron_device", 0)
    for kind in _HOST:
        sample[f"trn.host_memory_usage.{kind}"] = host.get(kind, 0)
    for core, usage in by_core.items():
        for kind in _CORE:
            sample[f"trn.{core}.neuroncore_memory_usage.{kind}"] = usage.get(kind, 0)
    return sample
